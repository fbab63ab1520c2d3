"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import pytest

from dashboard.decisions.grown import kept
from dashboard.decisions.grown.c45.kernel import kernel
from dashboard.decisions.grown.search.kernel import compiled


@pytest.mark.parametrize(("compiler", "fast"), [(kernel, False), (compiled, True)])
def test_where_nothing_can_be_kept_kernels_are_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch, compiler: Callable[..., Any], fast: bool
) -> None:
    given: list[dict[str, Any]] = []

    def njit(**options: Any) -> Callable[[Any], Any]:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        given.append(options)
        return lambda function: function

    monkeypatch.setattr(kept.numba, "njit", njit)

    assert compiler(abs) is abs
    assert ("fastmath" in given[0]) == fast
