"""Names of algorithms that a target does not know: which it has, and which may be meant."""

from __future__ import annotations

import pytest

from dashboard.export import TARGETS
from dashboard.export.naming import known, near


@pytest.mark.parametrize(("version", "there"), [("4.1", False), ("5.0", True), (None, True)])
def test_the_library_s_names_are_those_of_its_version(version: str | None, *, there: bool) -> None:
    assert ("sparbit" in known(TARGETS["openmpi"], "allgather", version)) == there
    assert ("sparbit" in near(TARGETS["openmpi"], "allgather", "sparbits", version)) == there


@pytest.mark.parametrize("target", ["c", "python", "json"])
def test_a_target_that_takes_any_has_none(target: str) -> None:
    assert known(TARGETS[target], "bcast") == ()
    assert near(TARGETS[target], "bcast", "binomial") == []
