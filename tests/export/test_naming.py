"""Names of algorithms that a target does not know: which it has, and which may be meant."""

import math

import numpy as np
import pytest

from dashboard.decisions import Method
from dashboard.export import TARGETS
from dashboard.export.library_names import measured_series, rules_target
from dashboard.export.naming import known, lacking, near


@pytest.mark.parametrize(("version", "there"), [("4.1", False), ("5.0", True), (None, True)])
def test_the_library_s_names_are_those_of_its_version(version: str | None, *, there: bool) -> None:
    assert ("sparbit" in known(TARGETS["openmpi"], "allgather", version)) == there
    assert ("sparbit" in near(TARGETS["openmpi"], "allgather", "sparbits", version)) == there


@pytest.mark.parametrize(
    ("measured", "version"),
    [
        ([("Open MPI", "4.1.4")], "4.1"),
        ([("OMPI", "4.1.5"), ("OpenMPI", "4.1.2")], "4.1"),
        ([("Open MPI", "5.0.11")], "5.0"),
        ([("Open MPI", "6.0.0a1")], "6.0"),
        ([("Open MPI", "4.1.4"), ("Open MPI", "5.0.11")], ""),
        ([("Open MPI", "5.0.11"), ("MPICH", "4.1.2")], ""),
        ([("", "4.1.4")], ""),
        ([("Open MPI", "")], ""),
    ],
)
def test_rules_are_for_the_open_mpi_that_was_measured(measured: list[tuple[str, str]], version: str) -> None:
    assert measured_series({"library": name, "library_version": number} for name, number in measured) == version


def test_the_target_that_is_offered_is_what_the_measured_library_reads() -> None:
    measured = {("Open MPI", "6.0.0a1"): "openmpi-json", ("Open MPI", "5.0.11"): "openmpi", ("MPICH", "5.0.2"): "mpich"}
    measured["UCC", ""] = "ucc"
    for (library, version), target in {**measured, ("", ""): "openmpi"}.items():
        assert rules_target({"library": library, "library_version": version}) == target


def test_a_number_is_the_target_s_where_its_library_was_measured() -> None:
    method = Method("the third", "third", 0, {"library_id": 3})
    assert lacking(TARGETS["intel"], "bcast", [method], {"library": "Intel MPI"}) == []
    assert lacking(TARGETS["intel"], "bcast", [method], {"library": "Open MPI"}) == [method]


@pytest.mark.parametrize("target", ["c", "python", "json"])
def test_a_target_that_takes_any_has_none(target: str) -> None:
    assert known(TARGETS[target], "bcast") == ()
    assert near(TARGETS[target], "bcast", "binomial") == []
    # Attributes that netCDF holds and JSON does not.
    facts = {"noise": math.nan, "limits": np.array([1.0, 2.0])}
    assert lacking(TARGETS[target], "bcast", [Method("mine", "mine")], facts) == []
