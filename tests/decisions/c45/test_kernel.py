"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import pytest

from dashboard.decisions.grown.c45 import kernel as kernels


def test_where_nothing_can_be_kept_kernels_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[dict[str, Any]] = []

    def njit(**options: Any) -> Callable[[Any], Any]:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        compiled.append(options)
        return lambda function: function

    monkeypatch.setattr(kernels.numba, "njit", njit)

    assert kernels.kernel(abs) is abs
    assert "fastmath" not in compiled[0]
