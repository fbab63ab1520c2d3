"""``colltune methods``."""

from pathlib import Path

import pytest

from dashboard.schedules import ALL, schedule
from dashboard.schedules import verification as verifying
from tests.cli.command import Answer, Run, assert_one_clear_line


def methods(colltune: Run, words: str) -> Answer:
    """Run ``colltune methods`` with these words."""
    return colltune("methods", *words.split())


def test_methods_are_listed_with_their_parameters(colltune: Run) -> None:
    rows = methods(colltune, "list --json").json
    assert {(row["collective"], row["algorithm"]) for row in rows} == {(each.collective, each.name) for each in ALL}
    assert all(row["provider"] == ("orthogonal" if row["algorithm"] == "orthogonal" else "own") for row in rows)
    of_bcast = {row["algorithm"]: row for row in methods(colltune, "list -c bcast --json").json}
    assert of_bcast["pipeline"]["parameters"]["segment_size"][0] == 0
    assert set(of_bcast["k_chain"]["parameters"]) == {"segment_size", "fan_out"}
    text = methods(colltune, "list -c allgather --provider own").out
    assert "neighbor_exchange" in text
    assert "even P" in text


def test_a_schedule_tells_messages_bytes_and_steps(colltune: Run) -> None:
    made = methods(colltune, "schedule -c alltoall --algorithm bruck --processes 6 --bytes 10 --json").json
    assert (made["messages"], made["bytes"]) == (18, 420)
    sent = [each for rank in made["ranks"] for each in rank if each["operation"] == "send"]
    assert (len(sent), sum(each["bytes"] for each in sent)) == (18, 420)
    assert {each["step"] for each in sent} == {1, 2, 3}


@pytest.mark.parametrize(
    ("collective", "algorithm", "processes", "steps"),
    [
        ("barrier", "double_ring", 6, 12),
        ("barrier", "bruck", 12, 4),
        ("bcast", "binomial", 16, 4),
        ("bcast", "linear", 7, 6),
        ("allgather", "neighbor_exchange", 8, 4),
        ("allgather", "ring", 7, 6),
        ("alltoall", "pairwise", 9, 8),
        ("allreduce", "ring", 5, 8),
        ("scan", "binomial", 9, 4),
        # Folded ranks of the half-sharing fold: exchange, half back, two halvings, two back, result.
        ("allreduce", "rabenseifner", 6, 7),
    ],
)
def test_steps_are_those_of_the_publication(
    colltune: Run, collective: str, algorithm: str, processes: int, steps: int
) -> None:
    size = 0 if collective == "barrier" else 64
    made = methods(
        colltune, f"schedule -c {collective} --algorithm {algorithm} --processes {processes} --bytes {size} --json"
    ).json
    assert made["steps"] == steps


def test_text_of_a_schedule(colltune: Run) -> None:
    out = methods(colltune, "schedule -c gather --algorithm linear_sync --processes 3 --bytes 10 --segment-size 4").out
    assert "6 messages, 20 bytes" in out
    assert "rank 1: [1] receive 0 B from 0; [2] send 4 B to 0; [5] send 6 B to 0" in out
    of_one = methods(colltune, "schedule -c bcast --algorithm binomial --processes 2 --bytes 1").out
    assert "1 message, 1 byte, 1 step\n" in of_one


def test_what_is_to_be_known_of_parameters_is_said_beside_simulated_times(colltune: Run) -> None:
    said = methods(colltune, "schedule -c bcast --algorithm linear --processes 4 --bytes 8 --parameters grig-tcp").err
    words = "model predict -c bcast --algorithm linear --model loggp --comm-size 4 --message-size 8"
    assert said == colltune(*words.split(), "--parameters", "grig-tcp").err
    assert "g < o as printed" in said
    barrier = methods(colltune, "schedule -c barrier --algorithm flat_tree --processes 2 --bytes 8")
    assert (barrier.status, "--bytes changes nothing" in barrier.err) == (0, True)


@pytest.mark.parametrize(
    ("call", "useless"),
    [
        ("bcast --algorithm pipeline", ["--not-commutative", "--in-place"]),
        ("allgather --algorithm ring", ["--not-commutative"]),
        ("allreduce --algorithm recursive_doubling", []),
        ("barrier --algorithm bruck --root 1", ["--not-commutative", "--in-place", "--root"]),
        ("barrier --algorithm flat_tree --root 1", ["--not-commutative", "--in-place"]),
        ("barrier --algorithm binomial --root 2", ["--not-commutative", "--in-place"]),
        ("barrier --algorithm double_ring --root 3", ["--not-commutative", "--in-place", "--root"]),
        ("barrier --algorithm recursive_doubling --root 2", ["--not-commutative", "--in-place", "--root"]),
    ],
)
def test_options_that_change_nothing_of_a_collective_are_named(
    colltune: Run, monkeypatch: pytest.MonkeyPatch, call: str, useless: list[str]
) -> None:
    made: list[int] = []
    monkeypatch.setattr(
        "dashboard.commands.methods.command.schedule",
        lambda call, *of, **further: made.append(call.processes) or schedule(call, *of, **further),
    )
    answer = methods(colltune, f"schedule -c {call} --processes 4 --not-commutative --in-place")
    assert answer.status == 0
    assert [line.split(": ")[-1] for line in answer.err.splitlines()] == [f"{each} changes nothing" for each in useless]
    # The schedule of all processes, which may be many, is made once.
    assert made.count(4) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-c gossip --algorithm x", "there is no own method of a collective 'gossip'"),
        ("-c bcast --algorithm pipeline --root 4", "root is 4; expected a rank from 0 to 3"),
        ("-c bcast --algorithm pipeline --bytes 10 --element-size 4", "--bytes 10"),
        ("-c bcast --algorithm pipeline --bytes 16 --element-size 8 --segment-size 4", "a segment holds an element"),
        ("-c scan --algorithm binomial --segment-size 4", "no parameter 'segment_size'"),
        ("-c bcast --algorithm pipeline --set segment_size=8 --segment-size 4", "segment_size is given twice"),
        ("-c bcast --algorithm k_chain --set fan_out", "NAME=VALUE"),
        ("-c bcast --algorithm k_chain --set fan_out=x", "fan_out=x"),
        ("-c reduce --algorithm binary --not-commutative", "does not commute"),
        (
            "-c bcast --algorithm pipeline --bytes 1GiB --segment-size 1",
            "1,073,741,824 segments on each of 4 processes",
        ),
    ],
)
def test_bad_input_is_refused_with_the_reason(colltune: Run, words: str, message: str) -> None:
    processes = "" if "--processes" in words else " --processes 4"
    assert_one_clear_line(methods(colltune, f"schedule {words}{processes}"), message)


def test_verify_without_mpi(colltune: Run) -> None:
    answer = methods(colltune, "verify --without-mpi -c barrier -c gatherv --processes 1-3,6 --json")
    assert answer.status == 0
    assert answer.json["failed"] == []
    assert answer.json["cases"] > 100
    answer = methods(colltune, "verify --without-mpi --algorithm bruck --processes 5")
    assert "0 wrong" in answer.out
    assert "fallback" not in answer.out
    assert_one_clear_line(methods(colltune, "verify --without-mpi --algorithm magic"), "no method has")
    assert_one_clear_line(methods(colltune, "verify --without-mpi --processes 0-3"), "allowed are 1 to 64")
    assert_one_clear_line(methods(colltune, "verify --without-mpi -c gossip"), "-c gossip")


def test_verify_tells_what_ran_in_the_place_of_an_algorithm(colltune: Run) -> None:
    words = "verify --without-mpi -c bcast --algorithm bine --processes 3"
    answer = methods(colltune, f"{words} --json")
    (fallback,) = answer.json["fallbacks"]
    assert fallback == {"collective": "bcast", "algorithm": "bine", "ran": "binomial", "cases": answer.json["cases"]}
    # Of the algorithm itself nothing is known then.
    assert (answer.status, "nothing was verified" in answer.err) == (3, True)
    answer = methods(colltune, f"{words},4")
    assert (answer.status, "of bcast bine ran its fallback binomial" in answer.out) == (0, True)


def test_verify_ends_with_another_status_when_a_case_is_wrong(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # An expectation that nothing can meet: what is judged are real buffers.
    right = verifying.after
    monkeypatch.setattr(verifying, "after", lambda call, turn: [each + 1 for each in right(call, turn)])
    answer = methods(colltune, "verify --without-mpi -c scan --algorithm linear --processes 2 --json")
    assert answer.status == 3
    assert 0 < len(answer.json["failed"]) < answer.json["cases"], "calls of no elements are right"
    assert "rank 0: element 0" in answer.json["failed"][0]["reason"]


def test_the_command_draws(colltune: Run, tmp_path: Path) -> None:
    words = ["methods", "draw", "-c", "allgather", "--algorithm", "bruck", "--processes", "4"]
    assert colltune(*words).out.splitlines() == [
        "step 1: 0 → 3, 1 → 0, 2 → 1, 3 → 2",
        "step 2: 0 → 2, 1 → 3, 2 → 0, 3 → 1",
    ]
    assert colltune(*words, "--movement").out.splitlines()[5:10] == [
        "after step 1", "   0 11..", "   1 .11.", "   2 ..11", "   3 1..1"
    ]  # fmt: skip
    assert colltune(*words, "--json").json["edges"][0] == {"from": 0, "to": 3, "step": 1}
    picture = tmp_path / "bruck.svg"
    answer = colltune(*words, "--movement", "-o", picture)
    assert (answer.status, answer.out) == (0, "")
    assert "after step 2" in picture.read_text()
    assert colltune(*words[:-1], "1").out == "one process sends nothing\n"
    assert colltune("methods", "schedule", *words[2:-1], "1").out.startswith("allgather bruck on 1 process (")
    ring = [*words[:5], "ring", *words[6:]]
    assert colltune(*ring).out.splitlines() == [f"step {step}: 0 → 1, 1 → 2, 2 → 3, 3 → 0" for step in (1, 2, 3)]
    assert len(colltune(*ring, "--json").json["edges"]) == 12
    colltune(*ring, "-o", picture)
    assert "first step at each arrow; 12 messages in all" in picture.read_text()
    assert_one_clear_line(colltune(*words, "-o", tmp_path / "bruck.png"), "must end in .svg")
    assert_one_clear_line(colltune(*words[:3], "gather_all", *words[4:]), "method of a collective 'gather_all'")
    assert_one_clear_line(colltune(*words, "-o", tmp_path / "nowhere" / "a.svg"), "cannot be written")
