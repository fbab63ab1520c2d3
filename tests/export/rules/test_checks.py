"""Rules that can be read, but do not act as they look: what was seen on the real library."""

import pytest

from dashboard.export.rules.fault import Fault
from dashboard.export.rules.lint import read_text


def warnings(text: str) -> list[Fault]:
    return [fault for fault in read_text(text).faults if fault.severity == "warning"]


@pytest.mark.parametrize("collective", [7, 11], ids=["bcast", "reduce"])
def test_a_chain_without_a_fan_out_is_the_pipeline(collective: int) -> None:
    (fault,) = warnings(f"1\n{collective}\n1\n2\n1\n0 2 0 1024\n")
    assert fault.line == 6
    assert fault.text == "fan-out 0 for chain; when it is forced by a parameter it takes 4"
    assert warnings(f"1\n{collective}\n1\n2\n1\n0 2 4 1024\n") == []


@pytest.mark.parametrize(
    ("rules", "faulty"),
    [
        ("0 3 0 0\n1000 2 0 0", True),
        ("0 1 0 0\n1000 0 0 0", True),
        ("0 1 0 0\n1000 3 0 0", False),
        ("0 2 0 0\n1000 2 0 0", False),
    ],
    ids=["linear_nb and binomial", "linear and the library's own", "linear and linear_nb", "binomial alone"],
)
def test_scatter_with_algorithms_that_do_not_understand_each_other_is_warned_of(rules: str, *, faulty: bool) -> None:
    # Seen with 5.0.11 and four processes: a segmentation fault where only the root tells a send count.
    faults = warnings(f"1\n15\n1\n2\n2\n{rules}\n")
    assert [fault.line for fault in faults] == ([4] if faulty else [])
    assert not faulty or "as mpi4py does" in faults[0].effect
    assert warnings(f"1\n9\n1\n2\n2\n{rules}\n") == []


@pytest.mark.parametrize(("most", "faults"), [(2, 0), (3, 1)])
def test_two_processes_of_a_scatter_understand_each_other_by_any_algorithm(most: int, faults: int) -> None:
    # Either way the root sends the other one its block.
    rules = '{"msg_size_max": 999, "alg": 1}, {"alg": 2}'
    text = f'{{"collectives": {{"scatter": [{{"comm_size_min": 2, "comm_size_max": {most}, "rules": [{rules}]}}]}}}}'
    assert len(warnings(text)) == faults
    assert len(warnings(f"1\n15\n2\n2\n2\n0 1 0 0\n1000 2 0 0\n{most + 1}\n1\n0 2 0 0\n")) == faults


def test_a_segment_that_no_int_holds_is_warned_of() -> None:
    (fault,) = warnings("1\n7\n1\n2\n1\n0 6 0 2147483648\n")
    assert (fault.line, fault.text) == (6, "segment size 2,147,483,648 is more than a C int holds, 2,147,483,647")
    assert warnings("1\n7\n1\n2\n1\n0 6 0 2147483647\n") == []


def test_a_fan_out_of_an_algorithm_that_takes_none_is_a_note() -> None:
    (fault,) = read_text("1\n7\n1\n2\n1\n0 6 4 0\n").faults
    assert str(fault) == "line 6: note: fan-out 4 for binomial, which takes none from rules → not looked at"


def test_a_fault_of_the_whole_file_has_no_line() -> None:
    assert str(Fault(None, "error", "found", "dropped")) == "error: found → dropped"
