"""Rules files on the real libraries: taken, dropped in silence, and decided by region. At most five processes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dashboard import cli
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.proof import prove as module
from dashboard.benchmarks.proof.order import Order, Seen, line_of
from dashboard.benchmarks.proof.prove import Wish, _Runner, prove
from dashboard.benchmarks.proof.verdict import TIME_UP, Proof
from dashboard.benchmarks.safety.check import Report
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.targets.mpich.selection import to_mpich
from dashboard.export.targets.openmpi.rules import to_openmpi
from loaders import open_results
from tests.cli.command import Run

pytestmark = pytest.mark.slow

RANKS, SECONDS = 5, 120.0


@pytest.fixture(scope="module")
def open_mpi(installation: Installation) -> Path:
    return installation.mpiexec


def proof_of(text: str, mpiexec: Path, folder: Path, ranks: int = 3) -> Proof:
    """Rules as text on the real library."""
    rules = folder / "rules.conf"
    rules.write_text(text)
    return prove(Wish(rules, mpiexec, ranks=ranks, seconds=SECONDS))


def proof_of_selection(decisions: Sequence[DecisionFunction], mpich: Path, selection: str, folder: Path) -> Proof:
    """MPICH's own selection with these decisions in it, on four processes."""
    path = folder / "selection.json"
    path.write_text(to_mpich(decisions, base=selection))
    names = tuple(decision.collective for decision in decisions)
    return prove(Wish(path, mpich, mpich.parent / "python", ranks=4, seconds=SECONDS, collectives=names))


@pytest.fixture(scope="module")
def several(open_mpi: Path, tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """Segments, fan-outs, totals, a barrier and the library's own decision in one file."""
    methods = [
        Method("linear", "linear"),
        Method("pipeline 1KiB", "pipeline", 1024),
        Method("binomial", "binomial"),
        Method("chain", "chain", 0, {"fan_out": 2}),
        Method("default", "default"),
    ]
    small = Split((Test("message_size", 999),), (Leaf(0), Leaf(1)))
    large = Split((Test("message_size", 4999),), (Leaf(3), Split((Test("message_size", 9999),), (Leaf(2), Leaf(4)))))
    bcast = DecisionFunction("bcast", methods, Split((Test("comm_size", 3),), (small, large)))
    gather = [Method("ring", "ring"), Method("bruck", "bruck")]
    blocks = Split((Test("comm_size", 3),), (Leaf(0), Split((Test("total_size", 500),), (Leaf(0), Leaf(1)))))
    allgather = DecisionFunction("allgather", gather, blocks)
    barrier = DecisionFunction("barrier", [Method("double_ring", "double_ring")], Leaf(0))
    return proof_of(to_openmpi([bcast, allgather, barrier]), open_mpi, tmp_path_factory.mktemp("prove"), RANKS)


def test_every_region_does_what_the_file_asks(several: Proof) -> None:
    assert several.taken == "yes"
    assert several.holds
    assert several.count("proven", "same graph") == len(several.verdicts) == 9
    regions = [verdict.region for verdict in several.verdicts if verdict.state == "proven"]
    proven = {(region.collective, region.method.label) for region in regions}
    assert {("bcast", "pipeline 1KiB"), ("bcast", "binomial"), ("bcast", "chain fan_out=2")} <= proven
    assert {("bcast", "default"), ("allgather", "bruck"), ("barrier", "double_ring")} <= proven


@pytest.mark.usefixtures("counting")
def test_the_borders_of_totals_are_seen_at_the_very_block(several: Proof) -> None:
    below, above = (verdict for verdict in several.verdicts if "total_size" in verdict.region.bounds)
    at = [[(point["comm_size"], point["message_size"]) for point in verdict.points] for verdict in (below, above)]
    assert (4, 125) in at[0]
    assert (4, 126) in at[1]
    # A ring of four sends three messages from each process, Bruck's algorithm two.
    assert {point["messages"] for point in below.points if point["comm_size"] == 4} == {12}
    assert {point["messages"] for point in above.points if point["comm_size"] == 4} == {8}


@pytest.mark.usefixtures("counting")
def test_segments_show_in_the_number_of_messages(several: Proof) -> None:
    (pipeline,) = (verdict for verdict in several.verdicts if verdict.region.method.label == "pipeline 1KiB")
    sent = {(point["comm_size"], point["message_size"]): point["messages"] for point in pipeline.points}
    assert sent[3, 65536] == 2 * 64


def test_a_file_that_is_dropped_in_silence_is_found_out(open_mpi: Path, tmp_path: Path) -> None:
    proof = proof_of("1\n7\n1\n2\n1\n5 3 0 0\n", open_mpi, tmp_path, 4)
    assert proof.taken == "no"
    assert not proof.holds
    assert proof.verdicts[0].state == "other"
    assert "as the library decides by itself" in proof.verdicts[0].seen


def test_an_algorithm_that_the_library_refuses_has_failed(open_mpi: Path, tmp_path: Path) -> None:
    proof = proof_of("1\n3\n1\n2\n1\n0 5 0 0\n", open_mpi, tmp_path)
    assert proof.verdicts[0].state == "failed"
    assert "MPI_ERR" in proof.verdicts[0].why


def test_a_region_that_does_as_asked_is_not_proven_where_its_algorithm_gives_wrong_results(
    open_mpi: Path, sparbit: None, tmp_path: Path
) -> None:
    proof = proof_of("1\n0\n1\n2\n1\n0 7 0 0\n", open_mpi, tmp_path)
    assert [finding.method.library_id for finding in proof.unsafe] == [7]
    assert proof.unsafe[0].case.startswith("in place: ")
    assert not proof.holds
    assert proof.to_dict()["unsafe"][0]["algorithm"] == "sparbit"


@pytest.mark.soak
def test_a_measured_chain_is_exported_as_the_chain_that_was_measured(open_mpi: Path, tmp_path: Path) -> None:
    # Forced without a fan-out it takes four; a rule that says 0, as that for reduce here, is the pipeline.
    chain = Method("chain", "chain", 0, {"library_id": 2})
    text = to_openmpi(DecisionFunction("bcast", [chain], Leaf(0), provenance={"library": "Open MPI"}))
    both = text.replace("1 # collectives", "2 # collectives") + "11\n1\n2\n1\n0 2 0 0\n"
    exported, plain = proof_of(both, open_mpi, tmp_path, RANKS).verdicts
    assert exported.state in ("proven", "same graph")
    assert "pipeline" not in exported.like
    assert plain.state == "same graph"
    assert "pipeline" in plain.like


def test_the_command_says_so_by_its_exit_status(
    open_mpi: Path, samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], done: Run
) -> None:
    rules, report = tmp_path / "gather.conf", tmp_path / "report.md"
    detail = samples.parent / "ompi-collectives-tuning" / "detail.out"
    cube = open_results([detail], collective="gather")["gather"].to_dataset()
    assert set(cube["algorithm"].values) >= {"basic_linear", "binomial"}
    done("export", detail, "-c", "gather", "--to", "openmpi", "-o", rules)
    options = ["--library", "openmpi", "--ranks", "4", "--json", "-o", str(report)]
    answer = done("prove", rules, *options).json
    assert answer["holds"]
    assert {region["asked"] for region in answer["regions"] if region["state"] == "proven"} == {
        "basic_linear",
        "binomial",
    }
    assert "| gather |" in report.read_text(encoding="utf-8")
    rules.write_text("1\n7\n1\n2\n1\n5 1 0 0\n")
    assert cli.main(["prove", str(rules), "--ranks", "3"]) == 3
    out, err = capsys.readouterr()
    assert "NOT TAKE THE FILE" in out
    assert "not proven" in err


def test_mpich_does_what_a_file_asks_that_was_made_of_its_own(mpich: Path, selection: str, tmp_path: Path) -> None:
    methods = [Method(name, name) for name in ("binomial", "scatter_allgather_ring")]
    bcast = DecisionFunction("bcast", methods, Split((Test("message_size", 1000),), (Leaf(1), Leaf(0))))
    methods = [Method(name, name) for name in ("bruck", "ring")]
    allgather = DecisionFunction("allgather", methods, Split((Test("total_size", 600),), (Leaf(1), Leaf(0))))
    proof = proof_of_selection([bcast, allgather], mpich, selection, tmp_path)
    assert proof.taken == "yes"
    assert proof.holds
    states = {(verdict.region.collective, verdict.region.method.label): verdict.state for verdict in proof.verdicts}
    assert states["bcast", "binomial"] == states["bcast", "scatter_ring_allgather"] == "proven"
    assert states["allgather", "ring"] == "proven"


def test_of_rules_that_decide_nothing_the_fault_is_named(open_mpi: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.conf").write_text("1 # collectives\n7 # bcast\n")
    with pytest.raises(
        BenchError, match=r"cut\.conf: line [0-9]+: error: .*\(colltune lint .*cut\.conf lists all faults\)"
    ):
        prove(Wish(tmp_path / "cut.conf", open_mpi, ranks=2))


def test_rules_of_another_library_are_refused(open_mpi: Path, samples: Path) -> None:
    path = samples / "mpich_json" / "mpich-main__mpir_generic.json"
    with pytest.raises(BenchError, match="name the start command of MPICH"):
        prove(Wish(path, open_mpi))


def test_rules_that_are_proven_without_those_of_han_beside_them_say_so(
    open_mpi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Runner, "run", lambda *_: {})
    path, han = tmp_path / "rules.conf", tmp_path / "rules-han.conf"
    path.write_text(to_openmpi([DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0))]))
    assert prove(Wish(path, open_mpi)).notes == ()
    han.touch()
    assert f"{han} lies beside it" in prove(Wish(path, open_mpi)).notes[0]


def test_rules_of_version_3_are_refused_where_the_library_does_not_read_them(open_mpi: Path, samples: Path) -> None:
    with pytest.raises(BenchError, match=r"rules of version 3 need Open MPI 6, and .* is of Open MPI [45]"):
        prove(Wish(samples / "rules_ompi" / "own_v3.json", open_mpi))


def test_mpich_runs_the_algorithms_with_a_radix_that_a_file_asks_for(
    mpich: Path, selection: str, tmp_path: Path
) -> None:
    trees = [Method(f"{name} {radix}", name, 0, {"radix": radix}) for name, radix in (("tree", 2), ("recexch", 4))]
    allreduce = DecisionFunction("allreduce", trees, Split((Test("message_size", 1000),), (Leaf(1), Leaf(0))))
    bcast = DecisionFunction("bcast", [Method("tree", "tree", 0, {"radix": 4})], Leaf(0))
    proof = proof_of_selection([allreduce, bcast], mpich, selection, tmp_path)
    assert proof.count("proven", "same graph") == len(proof.verdicts) == 3
    assert proof.holds


def test_a_call_that_was_being_made_when_the_time_was_up_is_not_to_blame(
    open_mpi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(runner: Any, _folder: Path, order: Order, results: Path, *_: Any) -> str:
        cells = list(order.calls)
        lines = [line_of(cells[0], call.name, seen) for call in order.calls[cells[0]] for seen in (None, Seen())]
        results.write_text("".join([*lines, line_of(cells[1], order.calls[cells[1]][0].name, None)]))
        runner._until = 0.0
        return "ended at its time limit of 90 s"

    monkeypatch.setattr(_Runner, "_job", cut_short)
    path = tmp_path / "rules.conf"
    path.write_text(to_openmpi([DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0))]))
    limits: list[float] = []
    late = Report("", (2,), {}, 0, (), missing=1)
    monkeypatch.setattr(module, "checked", lambda *given, **_: limits.append(given[6]) or late)
    proof = prove(Wish(path, open_mpi, ranks=2, seconds=SECONDS))
    (verdict,) = proof.verdicts
    assert proof.notes == ("1 method not called in every way that programs may: the time was up",)
    assert verdict.state != "failed"
    # 4.1 forces methods in a job of its own, which no time is left for.
    assert verdict.why == TIME_UP or "sizes were not reached" in verdict.why
    assert limits[0] >= SECONDS / 4 - 1


def test_what_is_not_called_any_more_after_many_calls_that_ended_their_job_says_so(
    open_mpi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken_down(_runner: Any, _folder: Path, order: Order, results: Path, *_: Any) -> str:
        cell, calls = next(iter(order.calls.items()))
        results.write_text(line_of(cell, calls[0].name, None))
        return "exit code 139"

    monkeypatch.setattr(_Runner, "_job", taken_down)
    monkeypatch.setattr(module, "checked", lambda *_, **__: None)
    cuts, tree = (*range(100, 2000, 100),), Leaf(0)
    methods = [Method("binomial", "binomial"), Method("linear", "linear")]
    for number, cut in enumerate(reversed(cuts)):
        tree = Split((Test("message_size", cut),), (Leaf(number % 2), tree))
    path = tmp_path / "rules.conf"
    path.write_text(to_openmpi([DecisionFunction("bcast", methods, tree)]))
    verdicts = prove(Wish(path, open_mpi, ranks=2, seconds=SECONDS)).verdicts
    assert {verdict.why for verdict in verdicts if verdict.state == "not run"} == {
        "given up before: 12 jobs had ended early"
    }


def test_a_file_with_which_calls_were_made_does_not_stop_programs_at_their_start(
    open_mpi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_only(_runner: Any, _folder: Path, order: Order, results: Path, rules: Path | None, *_: Any) -> str:
        if results.stem == "0":
            cells = list(order.calls.items())
            made = [line_of(cell, calls[0].name, seen) for cell, calls in cells[:1] for seen in (None, Seen())]
            results.write_text("".join([*made, line_of(cells[1][0], cells[1][1][0].name, None)]))
        return "the machine is too busy" if rules else ""

    monkeypatch.setattr(_Runner, "_job", first_only)
    monkeypatch.setattr(module, "checked", lambda *_, **__: None)
    path = tmp_path / "rules.conf"
    path.write_text(to_openmpi([DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0))]))
    (verdict,) = prove(Wish(path, open_mpi, ranks=2, seconds=SECONDS)).verdicts
    assert "at its start" not in verdict.why
