"""Methods of the real library, called in every way: the one that is known to be wrong is found, others are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed
from dashboard.benchmarks.safety.cases import cases
from dashboard.benchmarks.safety.check import Report, check, methods_of, order_of
from dashboard.cli import main
from dashboard.export.known_faults import FAULTS, PROGRAMS, known_fault
from tests.bench.campaigns import campaign_of, points, run
from tests.cli.command import Run
from tests.conftest import need

pytestmark = pytest.mark.slow

RANKS = range(2, 5)


@pytest.fixture(scope="module")
def report(installation: Installation, sparbit: None) -> Report:
    collectives = ("allgather", "allreduce", "barrier", "scatter", "scan")
    return check(installation, order_of(installation.library, methods_of(installation.library, collectives), RANKS))


def test_sparbit_is_found_in_place_at_all_sizes_and_nothing_else_must_go(report: Report) -> None:
    (only,) = [finding for finding in report.faulty if finding.excluded]
    assert (only.collective, only.method.algorithm, only.method.library_id) == ("allgather", "sparbit", 7)
    assert only.comm_sizes == tuple(RANKS)
    assert all(kind.startswith("in place") for kind in only.kinds)
    assert not any(kind.startswith("in place, with types") for kind in only.kinds)
    assert not report.safe
    assert not report.missing
    assert not report.once


def test_the_tool_interface_leaves_the_program_its_threads(
    installation: Installation, mpirun_environment: dict[str, str]
) -> None:
    # Open MPI takes the level that the tool interface is asked for as that of all of MPI.
    text = (
        "from mpi4py import MPI\nfrom dashboard.benchmarks.ranks.mpit import ToolInterface\n"
        "tools = ToolInterface()\nprint(MPI.Query_thread() == MPI.THREAD_MULTIPLE)\ntools.close()"
    )
    start = [installation.mpiexec, "-n", "1", sys.executable, "-c", text]
    done = subprocess.run(start, env=mpirun_environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "True\n", done.stderr


def test_rings_are_found_to_need_operations_that_commute(report: Report) -> None:
    limited = {finding.method.algorithm for finding in report.faulty if finding.only_commutative}
    library, version = report.library.rsplit(maxsplit=1)
    known = {fault.name for fault in FAULTS if known_fault(library, version, "allreduce", number=fault.number) is fault}
    assert limited == known == {"ring", "segmented_ring"}


def test_what_the_library_refuses_for_more_than_two_processes_is_no_fault(report: Report) -> None:
    refused = {(entry["collective"], entry["label"]): entry["comm_sizes"] for entry in report.not_for}
    assert refused[("allgather", "two_proc")] == [3, 4]


def test_a_component_goes_through_the_same_cases_where_it_answers_and_nowhere_else(installation: Installation) -> None:
    chosen = methods_of(installation.library, ("bcast",), ("han", "adapt", "basic"))
    report = check(installation, order_of(installation.library, chosen, (4, 5)))
    assert report.safe
    # On one node HAN leaves it to others: what they do right says nothing of it.
    why = "not answered by han: on this communicator tuned answers bcast"
    refused = {entry["label"]: (entry["comm_sizes"], entry["why"]) for entry in report.not_for}
    of_han = [method.label for method in chosen["bcast"] if method.algorithm == "han"]
    assert refused == dict.fromkeys(of_han, ([4, 5], why))
    # Between groups neither adapt nor basic answers a broadcast, but inter, whatever is preferred.
    asked = [case for size in (4, 5) for case in cases("bcast", size) if case.made != "between"]
    assert report.cases == 2 * len(asked) + 2 * len(refused)


def test_a_campaign_does_not_time_what_is_unsafe_and_says_why(
    tmp_path: Path, installation: Installation, sparbit: None
) -> None:
    asked = {"collectives": ("allgather",), "algorithms": ("sparbit", "ring")}
    campaign = campaign_of(tmp_path / "campaign", installation, checked=True, **asked)
    now = run(campaign, installation)
    assert (now["state"], "message graphs" in now["note"]) == ("finished", False)
    (point,) = [point for point in points(campaign) if point["algorithm"] == "sparbit"]
    assert point["error"].startswith("unsafe: in place")
    assert "samples" not in point
    # While the check runs messages are not counted, which the timed ranks do all the same.
    assert all("graph" in point for point in points(campaign) if point["algorithm"] == "ring")
    header = json.loads(campaign.results.read_text().splitlines()[0])["attrs"]
    assert [finding["algorithm"] for finding in json.loads(header["unsafe_methods"])] == ["sparbit"]


def test_the_command_ends_with_3_where_a_method_must_not_be_chosen(
    installation: Installation, sparbit: None, capsys: pytest.CaptureFixture[str], done: Run
) -> None:
    order = ["check-methods", "-c", "allgather", "--ranks", "3", "--json", "--algorithm"]
    assert main([*order, "sparbit"]) == 3
    assert json.loads(capsys.readouterr().out)["faulty"][0]["label"] == "sparbit"
    assert done(*order, "ring").json["safe"] is True
    assert main([*order, "nix"]) == 2
    assert main(["check-methods", "--ranks", "1"]) == 2


@pytest.mark.parametrize(("name", "forced"), [("allgather_in_place", "allgather 7"), ("own_operation", "allreduce 4")])
def test_the_program_shows_the_fault(
    name: str, forced: str, tmp_path: Path, installation: Installation, mpirun_environment: dict[str, str]
) -> None:
    compiler = installation.mpiexec.parent / "mpicc"
    need(compiler.exists(), "no mpicc beside mpiexec")
    source, program = tmp_path / f"{name}.c", tmp_path / name
    source.write_text(PROGRAMS[name])
    subprocess.run([compiler, source, "-o", program], check=True)
    collective, number = forced.split()
    if name == "allgather_in_place" and installation.library.version.startswith("4."):
        pytest.skip("its fault came with 5.0")

    def ran(*options: str) -> str:
        start = [installation.mpiexec, "-n", "4", *options, program]
        done = subprocess.run(start, env=mpirun_environment, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout.partition(":")[0]

    dynamic = ("--mca", "coll_tuned_use_dynamic_rules", "1")
    assert ran(*dynamic, "--mca", f"coll_tuned_{collective}_algorithm", number) == "wrong"
    assert ran() == "right"


def test_a_library_that_cannot_be_switched_is_one_clear_line() -> None:
    fixed = Fixed("Some MPI", "1", "why")
    with pytest.raises(PlanError, match="methods of Some MPI cannot be switched"):
        order_of(fixed, methods_of(fixed), (2,))


def test_mpich_s_pairwise_stops_the_program_in_place_and_the_check_goes_on(mpich: Path) -> None:
    installation = Installation(mpich, library.library_of(mpich))
    known = ("4.1.3", "4.2.3", "4.3.2", "5.0.2")
    need(installation.library.version in known, f"the fault is that of MPICH {', '.join(known)}")
    order = order_of(installation.library, methods_of(installation.library, ("reduce_scatter",)), (2, 3))
    report = check(installation, order, python=mpich.parent / "python")
    (fault,) = report.faulty
    assert (fault.method.algorithm, fault.dead, fault.excluded) == ("pairwise", True, True)
    assert "counts that differ" in fault.case
    assert not report.missing
