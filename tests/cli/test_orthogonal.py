"""``colltune orthogonal``: as contract 5 has it, on published machines and on results whose gains are known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loaders import RunWriter
from tests.cli.command import Run, assert_one_clear_line

SIZES, RANKS = (1024, 8192, 65536), (4, 8, 16)
Ask = Callable[[str], Any]


@pytest.fixture
def ask(colltune: Run) -> Ask:
    """Give the JSON that a command answers."""

    def answer_of(words: str) -> Any:
        answer = colltune(*words.split(), "--json")
        assert answer.status == 0
        return answer.json

    return answer_of


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Linear broadcasts of p·b, and grids of 16 whose phases are linear too."""
    path = tmp_path_factory.mktemp("grids") / "results.jsonl"
    point = {"collective": "bcast", "segment_size": 0, "repetitions": 5, "time_std": 0.0}
    with RunWriter(path, {"system": "made", "library": "none"}) as writer:
        for p in RANKS:
            for b in SIZES:
                time = 1e-4 + 1e-8 * p * b
                writer.append({**point, "algorithm": "default", "comm_size": p, "message_size": b, "time": time})
        for grid, phases in (("2x8", (2, 8)), ("4x4", (4, 4)), ("2x2x4", (2, 2, 4))):
            parameters = {"grid": grid, "inner": "linear", "provider": "orthogonal"}
            method = {**point, "algorithm": "orthogonal", "parameters": parameters}
            for b in SIZES:
                time = sum(1e-4 + 1e-8 * p * b for p in phases)
                writer.append({**method, "comm_size": 16, "message_size": b, "time": time})
    return path


def test_layouts_are_the_ordered_factorizations(ask: Ask) -> None:
    assert ask("orthogonal layouts 8") == {"layouts": [[2, 4], [4, 2], [2, 2, 2]]}
    assert ask("orthogonal layouts 16 --dimensions 2") == {"layouts": [[2, 8], [4, 4], [8, 2]]}
    assert ask("orthogonal layouts 13") == {"layouts": []}
    assert len(ask("orthogonal layouts 96 --dimensions 3")["layouts"]) == 30


def test_predictions_of_a_published_machine(ask: Ask) -> None:
    words = "orthogonal predict -c allgather --processes 96 --message-size 100000 --machine clic-lam --dimensions 2"
    answer = ask(words)
    assert round(answer["original"], 2) == 31.22
    gains = {tuple(each["layout"]): round(each["improvement"], 1) for each in answer["layouts"]}
    assert gains[2, 48] == 52.6
    assert gains[48, 2] == 14.5
    for each in answer["layouts"]:
        assert each["time"] == pytest.approx(sum(each["phases"]))
        assert "unfitted" not in each, "phases of what was printed are taken as its authors took them"
    assert answer["unfitted"] == {}
    small = ask(words.replace("100000", "8"))
    assert small["unfitted"] == {"8 B": "messages of 10,000 to 500,000 B"}
    many = ask(words.replace("100000", "1000000").replace("96", "1024").replace("clic-lam", "xeon-scampi"))
    assert list(many["unfitted"]) == ["1,024 processes", "1,000,000 B"]


def test_a_coefficient_that_is_not_printed_is_missing(ask: Ask) -> None:
    answer = ask("orthogonal predict -c reduce --processes 16 --message-size 1KiB --machine clic-lam")
    assert all(each["time"] is None and each["improvement"] is None for each in answer["layouts"])
    assert all("t_c of CLiC reduce up to 4 processes" in each["missing"] for each in answer["layouts"])


def test_predictions_by_results_are_those_of_the_function_in_them(results: Path, ask: Ask) -> None:
    words = f"orthogonal predict -c bcast --processes 16 --message-size 64KiB --machine {results} --dimensions 2"
    answer = ask(words)
    assert answer["original"] == pytest.approx(1e-4 + 1e-8 * 16 * 65536, rel=1e-3)
    balanced = next(each for each in answer["layouts"] if each["layout"] == [4, 4])
    assert balanced["time"] == pytest.approx(2 * (1e-4 + 1e-8 * 4 * 65536), rel=1e-3)


def test_improvements_are_those_that_were_made(results: Path, ask: Ask) -> None:
    answer = ask(f"orthogonal improve {results} -c bcast --between 8KiB-64KiB")
    rows = {tuple(each["layout"]): each for each in answer["layouts"]}
    assert set(rows) == {(2, 8), (4, 4), (2, 2, 4)}
    first = {b: 1e-4 + 1e-8 * 16 * b for b in (8192, 65536)}
    gains = [100 * (first[b] - 2 * (1e-4 + 1e-8 * 4 * b)) / first[b] for b in first]
    square = rows[4, 4]
    figures = (square["minimum"], square["average"], square["maximum"])
    assert figures == pytest.approx((min(gains), sum(gains) / 2, max(gains)))
    assert "over_two_phases" in rows[2, 2, 4]
    assert "over_two_phases" not in square


def test_the_selection_takes_grids_where_they_gain(results: Path, ask: Ask) -> None:
    answer = ask(f"orthogonal select {results} -c bcast")
    assert answer["tree"] == "intervals"
    assert answer["penalty"]["max"] == 0
    same = ask(f"decide {results} -c bcast --tree intervals")
    assert same["decision"] == answer["decision"]
    dear = ask(f"orthogonal select {results} -c bcast --price 1000")
    assert dear["leaves"] < answer["leaves"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("layouts 0", "0"),
        ("layouts 8 --dimensions 1", "at least 2"),
        ("select sample_data/fast-ethernet-16 -c bcast --significance 0.01", "decision was not measured here"),
        ("layouts 8 --placement cyclic", "--ppn says how many"),
        ("simulate -c bcast --processes 8 --message-size 1 --between grig-mx --within boba", "--ppn says how many"),
        ("predict -c bcast --processes 8 --message-size 1 --machine clic --inner linear", "a published machine"),
        ("predict -c gather --processes 256 --message-size 99999 --machine t3e", "printed for at most 128 processes"),
        ("predict -c bcast --processes 8 --message-size 1 --machine cray", "neither a file nor one of clic-lam"),
        ("predict -c bcast --processes 8 --message-size 1 --machine t3e", "t3e has no runtime function of bcast"),
        ("predict -c scan --processes 8 --message-size 1 --machine t3e", "t3e has no runtime function of scan"),
        ("simulate -c alltoall --processes 8 --message-size 1 --between grig-mx", "alltoall has no grids; those that"),
        ("improve RESULTS -c bcast --between 64KiB-1KiB", "the smaller first"),
        ("improve RESULTS -c bcast --original best", "no method 'best'"),
        ("improve RESULTS -c bcast --between 1-2", "no message size from 1 B to 2 B"),
        ("run jacobi --ranks 4 --size 16 --inner nope", "inner 'nope': there is no allgather algorithm 'nope'"),
        ("run jacobi --ranks 4 --size 16 --inner library.ring", "there is no allgather algorithm 'library.ring'"),
        ("run jacobi --ranks 4 --size 16 --inner bcast=linear", "inner of bcast: jacobi row calls allgather"),
        ("run pab --ranks 4 --size 32 --inner bruck+ring", "inner 'bruck+ring': there is no allgather algorithm"),
        ("run pab --ranks 4 --size 32 --ways 2x2 --inner ring+ring+ring", "inner names 3 methods"),
        ("improve sample_data/one-machine/results.jsonl -c bcast", "hold no grids"),
    ],
)
def test_bad_input_is_refused_with_the_reason(words: str, why: str, results: Path, colltune: Run) -> None:
    assert_one_clear_line(colltune("orthogonal", *words.replace("RESULTS", str(results)).split()), why)


def test_predictions_stand_beside_what_was_measured(results: Path, ask: Ask) -> None:
    words = f"orthogonal predict -c bcast --processes 16 --message-size 64KiB --machine {results} --inner linear"
    rows = {tuple(each["layout"]): each for each in ask(words)["layouts"]}
    for layout, row in rows.items():
        if layout in {(2, 8), (4, 4), (2, 2, 4)}:
            # The results are what their own function says, so nothing deviates but by rounding.
            assert row["measured"] == pytest.approx(sum(1e-4 + 1e-8 * p * 65536 for p in layout))
            assert abs(row["deviation"]) < 0.5
        else:
            assert row["measured"] is row["deviation"] is None
    # The library alone was measured on 4 and 8 processes, not on 2.
    leaders, rows_of_eight = rows[2, 8]["phase_deviations"]
    assert leaders is None
    assert abs(rows_of_eight) < 0.5


def test_simulated_grids_are_those_of_linear_broadcasts(ask: Ask) -> None:
    words = "orthogonal simulate -c bcast --processes 16 --message-size 1000 --inner linear --dimensions 2 "
    words += "--between alpha=1e-3,beta=1e-6"
    answer = ask(words)
    message = 1e-3 + 1e-6 * 1000
    assert answer["original"] == pytest.approx(15 * message)
    times = {tuple(each["layout"]): each["time"] for each in answer["layouts"]}
    assert times == pytest.approx({(2, 8): 8 * message, (4, 4): 6 * message, (8, 2): 8 * message})
    # 15 messages one after the other become 8 or 6.
    gains = [each["improvement"] for each in answer["layouts"]]
    assert gains == pytest.approx([100 * 7 / 15, 100 * 9 / 15, 100 * 7 / 15])
    # Four consecutive ranks on a node: the rows of 4x4 cost what a node costs.
    near = ask(f"{words} --within alpha=1e-9,beta=1e-9 --ppn 4")
    times = {tuple(each["layout"]): each["time"] for each in near["layouts"]}
    assert times[4, 4] == pytest.approx(3 * message + 3 * (1e-9 + 1e-6))
    cyclic = ask(f"{words} --within alpha=1e-9,beta=1e-9 --ppn 4 --placement cyclic")
    times = {tuple(each["layout"]): each["time"] for each in cyclic["layouts"]}
    # Columns are within nodes then, rows between them.
    assert times[4, 4] == pytest.approx(3 * message + 3 * (1e-9 + 1e-6))
    assert times[8, 2] < times[2, 8]


def test_predictions_beyond_what_was_fitted_are_noted(ask: Ask, colltune: Run) -> None:
    machine = "sample_data/fast-ethernet-grids/results.jsonl"
    words = f"orthogonal predict -c allgather --processes 25 --message-size 100000 --machine {machine}"
    answer = ask(words)
    assert list(answer["unfitted"]) == ["25 processes"]
    assert [list(each["unfitted"]) for each in answer["layouts"]] == [["5 processes", "500,000 B"]]
    text = colltune(*words.split())
    assert "(not fitted to: 25 processes)" in text.out
    assert "nothing was fitted to 25 processes, 5 processes, 500,000 B, but to 2 to 4 and 8 to 16" in text.err
    inside = words.replace("--processes 25", "--processes 16").replace("-c allgather", "-c bcast")
    assert ask(inside)["unfitted"] == {}
    assert "fitted" not in colltune(*inside.split()).err


def test_what_runs_in_a_phase_in_the_place_of_another_is_told(ask: Ask, colltune: Run) -> None:
    words = "orthogonal simulate -c allgather --processes 6 --message-size 1000 --between alpha=1e-5,beta=1e-9 --inner "
    inside = {tuple(each["layout"]): each["inside"] for each in ask(words + "neighbor_exchange")["layouts"]}
    assert inside == {(2, 3): ["neighbor_exchange", "ring"], (3, 2): ["ring", "neighbor_exchange"]}
    assert "neighbor_exchange, ring" in colltune(*f"{words}neighbor_exchange".split()).out
    assert "runs in its phases" not in colltune(*f"{words}ring".split()).out


def test_grids_that_follow_the_machine_are_named(ask: Ask) -> None:
    answer = ask("orthogonal layouts 16 --dimensions 2 --ppn 4")
    assert answer["layouts"] == [[2, 8], [4, 4], [8, 2]]
    assert answer["follows_machine"] == [False, True, False]
    # Of the 28 pairs of a row of eight 12 share one of its two nodes.
    assert answer["within_nodes"] == [[0.0, pytest.approx(12 / 28)], [0.0, 1.0], [pytest.approx(4 / 28), 1.0]]


def test_a_prime_number_of_processes_is_said_to_have_no_grid(colltune: Run) -> None:
    answer = colltune("orthogonal", "layouts", 13)
    assert (answer.status, answer.out) == (0, "")
    assert "there is no grid of 13 processes with more than one process" in answer.err
    for words in ("layouts 16", "simulate -c bcast --processes 16 --message-size 1 --between alpha=1e-5,beta=1e-9"):
        answer = colltune("orthogonal", *words.split(), "--dimensions", 9)
        assert "there is no grid of 9 dimensions of 16 processes" in answer.out + answer.err


@pytest.mark.parametrize("collective", ["bcast", "scatter", "gather", "reduce", "allreduce", "allgather"])
def test_each_collective_has_an_algorithm_inside_where_none_is_named(ask: Ask, colltune: Run, collective: str) -> None:
    words = f"orthogonal simulate -c {collective} --processes 6 --message-size 1000 --between alpha=1e-5,beta=1e-9"
    answer = ask(words)
    assert answer["layouts"][0]["inside"][0] == answer["inner"]
    assert f", {answer['inner']} inside\n" in colltune(*words.split()).out


@pytest.mark.parametrize("machine", ["clic-lam", "xeon-scampi"])
def test_what_takes_no_time_has_no_improvement(colltune: Run, machine: str) -> None:
    words = ["orthogonal", "predict", "-c", "bcast", "--processes", 6, "--message-size", 0, "--machine", machine]
    rows = colltune(*words, "--json").json["layouts"]
    assert {row["improvement"] for row in rows if not row["time"]} <= {None}
    assert "nan" not in colltune(*words).out


def test_grids_that_run_inside_of_nothing_measured_are_said(colltune: Run) -> None:
    machine = "sample_data/fast-ethernet-grids/results.jsonl"
    words = ["orthogonal", "predict", "-c", "bcast", "--processes", 16, "--message-size", 4096, "--machine", machine]
    assert "no grid of these results runs inside of foo; --inner library" in colltune(*words, "--inner", "foo").err
    assert "no grid of" not in colltune(*words).err
