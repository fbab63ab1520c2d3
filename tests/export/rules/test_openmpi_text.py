"""The classic text as Open MPI reads it: what it drops, shifts and takes otherwise than it looks."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.libraries.methods import Variants
from dashboard.benchmarks.libraries.named import open_mpi
from dashboard.export.library_names import Choice
from dashboard.export.rules import RulesError, RulesFile
from dashboard.export.rules.lint import read_rules, read_text
from dashboard.export.rules.scan import End, Scanner
from tests.export.rules.acting import texts
from tests.export.trees import choices

GOOD = """1 # collectives
7 # bcast
2
2
2
0 6 0 0
512 3 0 1024
4
1
0 9 0 0
"""


def chosen(read: RulesFile, comm_size: int, message_size: int, collective: str = "bcast") -> Choice:
    (choice,) = choices(read.decisions[collective], [comm_size], [message_size])
    return choice


def numbers(text: str) -> list[int]:
    scanner, values = Scanner(text, versioned=False), []
    while True:
        try:
            values.append(scanner.next().value)
        except End:
            return values


def test_a_good_file_has_no_fault_and_acts_as_it_says() -> None:
    read = read_text(GOOD)
    assert read.faults == ()
    assert chosen(read, 2, 511) == Choice(6)
    assert chosen(read, 3, 512) == Choice(3, 0, 1024)
    assert chosen(read, 4, 0) == Choice(9)
    assert chosen(read, 1000, 10**9) == Choice(9)


def test_a_chain_of_rules_is_called_as_one_that_was_measured() -> None:
    (read,) = read_text("1\n7\n1\n1\n1\n0 2 4 1024\n").decisions.values()
    measured = {method.label for method in open_mpi("5.0").methods("bcast", Variants((1024,)))}
    assert {method.label for method in read.methods} <= measured


@pytest.mark.parametrize("version", ["4.1", "5.0", "6.0"])
def test_what_is_written_is_counted_and_said_once(version: str) -> None:
    bcast = "1\n7\n1\n2\n1\n0 6 0 0\n"
    assert read_text(bcast, version=version).count("bcast") == 1
    assert read_text(GOOD, version=version).count("bcast") == 3
    (fault,) = [fault for fault in read_text(bcast.replace("0 6", "1024 6"), version=version).faults if fault.line == 6]
    assert str(fault).startswith("line 6: error: bcast from 2 processes: the first rule is for size 1024")
    assert "such as '0 0 0 0'" in fault.text
    assert "bcast from 1 process: the first" in texts(read_text("1\n7\n1\n1\n1\n8 6 0 0\n", version=version))
    # Without usual lines only the library tells.
    assert read_text("1 7 1 2 1 1024 6 0 0", version=version).errors == 1


def test_the_committed_decision_file_is_diagnosed(shared: Path) -> None:
    path = shared / "data" / "ompi-collectives-tuning" / "decision.file"
    read = read_rules(path)
    assert sum(" declared and " in fault.text and "1 too many" in fault.text for fault in read.faults) == 72
    assert sum("the first rule is for size" in fault.text for fault in read.faults) == 22
    assert not read.decisions
    assert len(read.meant) == 12
    refusal = next(fault for fault in read.faults if "read as a collective's number" in fault.text)
    # Set 4 of allgather, whose ten declared rules take the next set's head: '8 / 9' and what follows are shifted.
    assert (refusal.line, refusal.severity) == (24, "error")
    for collective in ("allgather", "alltoall", "gather", "scatter"):
        scaled = [
            fault for fault in read.faults if fault.text.startswith(f"{collective} from ") and "total" in fault.text
        ]
        assert scaled
        assert "multiply the sizes by the number of processes" in scaled[0].effect


def test_counts_that_do_not_fit_are_named_by_line() -> None:
    read = read_text(GOOD.replace("2\n0 6 0 0", "3\n0 6 0 0"))
    assert (read.faults[0].line, read.faults[0].severity) == (5, "error")
    assert "3 rules declared and 2 following, 1 too many" in read.faults[0].text
    # '4 1 0 9' is the third rule then, and '0 0' a set of no rules, which hides the first: it acts, but not as meant.
    assert chosen(read, 8, 600) == Choice(0)
    assert choices(read.meant["bcast"], [2, 8], [600, 600]) == [Choice(3, 0, 1024), Choice(9)]
    few = read_text(GOOD.replace("2\n0 6 0 0", "1\n0 6 0 0"))
    assert "from 2 processes: 1 rule declared and 2 following, 1 too few" in texts(few)
    chain = read_text(GOOD.replace("2\n0 6 0 0", "3\n0 2 8 1024"))
    assert choices(chain.meant["bcast"], [2], [8]) == [Choice(2, 8, 1024)]


def test_a_first_rule_of_another_size_costs_the_whole_file() -> None:
    read = read_text(GOOD.replace("0 9 0 0", "64 9 0 0"))
    assert read.decisions == {}
    assert "expected size 0" in texts(read)
    assert "silently ignores the whole file" in texts(read)
    assert list(read.meant) == ["bcast"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "1\n", "1\n7\n", GOOD[:-8], "-1\n", "23\n", "1\n22\n1\n"])
def test_files_that_end_or_count_wrong_are_dropped(text: str) -> None:
    read = read_text(text)
    assert read.errors
    assert read.decisions == {}


def test_smaller_communicators_take_the_first_set() -> None:
    read = read_text("1\n7\n1\n16\n1\n0 6 0 0\n")
    assert chosen(read, 2, 100) == Choice(6)
    assert "smaller communicators take the rules of 16" in texts(read)


def test_sizes_that_do_not_ascend_hide_what_is_above_them() -> None:
    # 4.x goes on while the set's size is not above the communicator's: 8 is never the last one that fits.
    read = read_text("1\n7\n3\n2\n1\n0 1 0 0\n8\n1\n0 2 0 0\n4\n1\n0 3 0 0\n")
    assert [chosen(read, size, 0).algorithm for size in (2, 4, 7, 8, 9)] == [1, 1, 1, 3, 3]
    assert "the set of line 7 never acts" in texts(read)
    rows = read_text("1\n7\n1\n2\n3\n0 1 0 0\n800 2 0 0\n400 3 0 0\n")
    assert [chosen(rows, 2, size).algorithm for size in (0, 400, 799, 800)] == [1, 1, 1, 3]


def test_numbers_that_this_version_does_not_know_fail_at_the_call() -> None:
    text = "1\n0\n1\n2\n1\n0 7 0 0\n"
    assert "no algorithm 7" not in texts(read_text(text, version="5.0"))
    assert "allgather has no algorithm 7 in Open MPI 4.1" in texts(read_text(text, version="4.1"))
    assert "aborted" in texts(read_text(text, version="4.1"))


def test_the_algorithm_for_two_processes_in_a_wider_set_fails() -> None:
    assert "two_proc in a set that acts for up to 7 processes" in texts(
        read_text("1\n0\n2\n2\n1\n0 6 0 0\n8\n1\n0 4 0 0\n")
    )
    assert read_text("1\n0\n2\n2\n1\n0 6 0 0\n3\n1\n0 4 0 0\n").faults == ()


def test_totals_are_compared_with_the_communicator_times_the_block() -> None:
    read = read_text("1\n3\n1\n2\n2\n0 1 0 0\n1024 2 0 0\n")
    assert [chosen(read, 8, size, "alltoall").algorithm for size in (127, 128)] == [1, 2]
    block = read_text("1\n3\n1\n64\n2\n0 1 0 0\n32 2 0 0\n")
    assert "less than one byte for each process" in texts(block)


def test_rules_for_what_the_library_does_not_choose_are_never_looked_at() -> None:
    read = read_text("1\n10\n1\n2\n1\n0 1 0 0\n")
    assert "gatherv" in texts(read)
    assert read.decisions == {}


def test_a_barrier_has_no_sizes() -> None:
    read = read_text("1\n6\n1\n2\n2\n0 1 0 0\n64 4 0 0\n")
    assert chosen(read, 8, 0, "barrier") == chosen(read, 8, 10**6, "barrier") == Choice(1)
    assert "compares 0, whatever the call" in texts(read)


def test_version_2_is_understood_from_5_0_7_on_and_only_at_the_very_top() -> None:
    text = "rule-file-version-2\n# more\n1\n3\n1\n2\n2\n0 4 0 0 8\n512 2 0 0\n"
    read = read_text(text)
    assert read.format == "openmpi-2"
    assert chosen(read, 2, 0, "alltoall") == Choice(4, requests=8)
    assert chosen(read, 2, 256, "alltoall") == Choice(2)
    assert "5.0.7" in texts(read)
    assert read_text(text, version="4.1").decisions == {}
    late = read_text("# first\n" + text)
    assert late.decisions == {}
    assert "the version must be the very first thing" in texts(late)


def test_a_fifth_number_in_version_1_shifts_all_behind_it() -> None:
    assert read_text(GOOD.replace("0 6 0 0", "0 6 0 0 4")).decisions == {}


def test_version_6_shifts_communicator_sizes_by_one_set() -> None:
    text = "1\n7\n3\n0\n1\n0 1 0 0\n8\n1\n0 2 0 0\n64\n1\n0 3 0 0\n"
    read = read_text(text, version="6.0")
    # By its source: set 1 to 8-1 … is what set 2 was meant for, and the last has the rest.
    assert [chosen(read, size, 0).algorithm for size in (1, 7, 8, 63, 64)] == [2, 2, 3, 3, 3]
    assert "shifted by one" in texts(read)
    assert [chosen(read_text(text), size, 0).algorithm for size in (1, 7, 8, 63, 64)] == [1, 1, 2, 2, 3]


def test_a_collective_that_comes_twice_counts_the_second_time() -> None:
    twice = "2" + GOOD[1:] + "7\n1\n0\n1\n0 1 0 0\n"
    read = read_text(twice)
    assert chosen(read, 8, 0) == Choice(1)
    assert "comes a second time" in texts(read)


def test_numbers_are_read_as_fscanf_reads_them() -> None:
    assert numbers("010 0x10 -5 a7b # 12\n 3") == [8, 16, -5, 7, 3]
    assert numbers("0x1F -0XA") == [31, -10]
    assert numbers("08 +9 - 4 0xg 99999999999999999999") == [0, 8, 9, 4, 0, 2**63 - 1]
    assert "octal" in texts(read_text(GOOD.replace("\n2\n2\n2\n", "\n2\n2\n02\n")))
    (fault,) = read_text(GOOD.replace("# bcast", "bcast")).faults
    assert "neither number nor comment" in fault.text


def test_what_follows_the_declared_collectives_is_never_read() -> None:
    end = GOOD.count("\n") + 1
    (fault,) = read_text(GOOD + "9\n1\n2\n1\n0 1 0 0\n").faults
    assert (fault.line, fault.effect) == (end, "never read")


def test_free_layout_is_read_as_well() -> None:
    read = read_text(" ".join(line.split("#")[0] for line in GOOD.split("\n")))
    assert chosen(read, 3, 600) == Choice(3, 0, 1024)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="cannot be read"):
        read_rules(tmp_path / "none")
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    with pytest.raises(RulesError, match="not a text file"):
        read_rules(binary)


@given(st.text(alphabet="0123456789 \n#-+xa", max_size=200))
def test_no_text_of_numbers_crashes_the_reader(text: str) -> None:
    for version in ("4.1", "5.0", "6.0"):
        try:
            read = read_text(text, version=version)
        except RulesError:
            continue
        for decision in read.meant.values():
            decision.predict([1, 2, 1000], [0, 1, 10**9])


@given(st.lists(st.integers(-2, 9), max_size=40), st.sampled_from("\n "))
def test_no_row_of_small_numbers_crashes_the_reader(values: list[int], between: str) -> None:
    read = read_text((between.join(map(str, values)) or "0") + "\n")
    assert all(fault.text and fault.effect for fault in read.faults)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_samples_never_crash_the_linter(samples: Path, seed: int) -> None:
    rng = random.Random(seed)
    files = [
        *sorted(samples.glob("rules_ompi/own_*")),
        samples / "ucc" / "ucc.conf",
        samples / "nccl_tuner" / "nccl_tuner.conf",
        samples / "mpich_json" / "mpich-main__ch4_posix_generic.json",
        samples / "rules_ompi" / "ompi-collectives-tuning__decision.file",
    ]
    for path in files:
        original = path.read_text()
        for _ in range(12 if len(original) > 2000 else 40):
            text = mutated(original, rng)
            try:
                read = read_text(text, version=rng.choice(["4.1", "5.0", "6.0"]))
            except RulesError:
                continue
            for decision in read.meant.values():
                decision.predict(4, 1024)


_BITS = ("\n", "-1", "999999999999", "{", "}", '"', "inf", "\x7f", ",", "[", "é")


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 6)):
        place, kind = rng.randrange(len(text) + 1), rng.randrange(5)
        end = min(len(text), place + rng.randint(1, 30))
        if kind == 0:
            text = text[:place] + text[end:]
        elif kind == 1:
            text = text[:place] + rng.choice(_BITS) + text[place:]
        elif kind == 2:
            text = text[:place] + text[place:end] * 3 + text[end:]
        elif kind == 3 and text:
            text = text[:place] + chr(rng.randrange(1, 300)) + text[place + 1 :]
        else:
            text = text[: max(1, place)]
    return text
