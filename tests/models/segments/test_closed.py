"""Closed forms of the optimal segment size: Table 6.1, Tables 5.1 to 5.4, and minima found without them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.models.errors import ModelError, ParameterError
from dashboard.models.formula import BYTES
from dashboard.models.p2p import LogGP
from dashboard.models.presets import MACHINES, machine
from dashboard.models.registry import model_of
from dashboard.models.segments import CLOSED, Segments, closed_form, exponential_gap_segment, optimal_segment
from tests.models.networks import HOCKNEY, LOGGP

KB, MB = 1024, 1 << 20
TABLE_6_1 = [
    ("grig-mx", "hockney", 768 * KB, 10308, 0.005),
    ("grig-mx", "hockney", 2 * MB, 16834, 0.005),
    ("grig-tcp", "hockney", 768 * KB, 10116, 0.005),
    ("grig-tcp", "hockney", 2 * MB, 16519, 0.005),
    ("grig-mx", "loggp", 768 * KB, 7461, 0.015),
    ("grig-mx", "loggp", 2 * MB, 12185, 0.015),
    ("grig-tcp", "loggp", 768 * KB, 3094, 0.015),
    ("grig-tcp", "loggp", 2 * MB, 5053, 0.015),
]
IDS = [f"{each.collective}-{each.algorithm}-{each.model}" for each in CLOSED]


@pytest.mark.parametrize(("name", "model", "size", "printed", "tolerance"), TABLE_6_1)
@pytest.mark.parametrize("variant", ["corrected", "as_published"])
def test_table_6_1(name: str, model: str, size: int, printed: float, tolerance: float, variant: str) -> None:
    parameters = machine(name).of(model)
    segment = optimal_segment("bcast", "split_binary", parameters, 64, size, variant=variant)  # type: ignore[arg-type]
    assert float(segment) == pytest.approx(printed, rel=tolerance)


def excess(each: Segments, name: str, processes: int, size: int, variant: str = "corrected") -> float:
    """Share by which a closed form's segment size takes longer than the best of very many."""
    parameters, model = MACHINES[name].of(each.model), model_of(each.collective, each.algorithm)
    segment = float(optimal_segment(each.collective, each.algorithm, parameters, processes, size, variant=variant))
    largest = float(model.largest_segment(float(processes), float(size)))
    sizes = np.array([segment or largest, *np.geomspace(1, largest, 2001)])
    duration, *others = model.smooth(parameters, float(processes), float(size), sizes)
    return float(duration / min(others) - 1)


@pytest.mark.parametrize("each", CLOSED, ids=IDS)
@pytest.mark.parametrize("name", ["grig-mx", "boba", "frodo-mx", "frodo-tcp"])
def test_no_other_segment_size_is_better(each: Segments, name: str) -> None:
    for case in itertools.product((2, 3, 4, 7, 24, 64), (1000, 100_000, 8 << 20)):
        assert excess(each, name, *case) <= 1e-9, case


@pytest.mark.parametrize(
    "each", [each for each in CLOSED if each.printed is not None], ids=lambda e: f"{e.table}-{e.model}-{e.algorithm}"
)
def test_what_was_corrected_was_worse_somewhere(each: Segments) -> None:
    cases = itertools.product(("grig-mx", "boba", "frodo-tcp"), (4, 24, 64), (3000, 100_000, 1 << 20))
    assert max(excess(each, *case, variant="as_published") for case in cases) > 1e-4


@pytest.mark.parametrize("each", CLOSED, ids=IDS)
def test_closed_forms_are_bytes(each: Segments) -> None:
    for form in (*each.candidates, *(each.printed or ())):
        assert form.unit() == BYTES
    assert all(text.startswith("m_s = ") for text in [piece.latex for piece in each.written()])


def test_the_printed_binary_broadcast_is_too_large_by_the_square_root_of_two() -> None:
    # Known suspect: Table 5.1, binary, Hockney.
    right = optimal_segment("bcast", "binary", HOCKNEY, 64, MB)
    printed = optimal_segment("bcast", "binary", HOCKNEY, 64, MB, variant="as_published")
    assert float(printed / right) == pytest.approx(math.sqrt(2))
    assert float(right) == pytest.approx(math.sqrt(MB * 47.6 / (5 * 0.0151)))


def test_linear_and_binomial_trees_are_not_cut() -> None:
    # Theorem 5.6 and Table 5.1.
    for network in (HOCKNEY, LOGGP):
        for collective, algorithm in (("bcast", "linear"), ("bcast", "binomial"), ("reduce", "binomial")):
            assert optimal_segment(collective, algorithm, network, [4, 64], MB).tolist() == [0, 0]


def test_where_denominators_are_zero_nothing_is_cut() -> None:
    # A pipeline of two, a binary tree of three: theorem 5.2 holds from P = 4 on.
    assert float(optimal_segment("bcast", "pipeline", HOCKNEY, 2, MB)) == 0
    assert optimal_segment("bcast", "split_binary", LOGGP, [1, 2, 3], MB).tolist() == [0, 0, 0]
    assert optimal_segment("bcast", "split_binary", LOGGP, 8, [0, 1, 2]).tolist() == [0, 0, 0]


def test_a_gap_smaller_than_its_byte_is_never_cut() -> None:
    odd = LogGP(1e-6, 1e-9, 1e-9, 1e-6)
    assert float(optimal_segment("bcast", "pipeline", odd, 16, MB)) == 0


@given(rate=st.floats(1e-7, 1e-2), processes=st.integers(2, 500), size=st.integers(1, 1 << 24))
def test_equation_5_11_solves_its_quadratic(rate: float, processes: int, size: int) -> None:
    best = float(exponential_gap_segment(rate, processes, size))
    inner = math.ceil(math.log2(processes + 1)) - 2
    assert 2 * inner * rate * best**2 + size * rate * best == pytest.approx(size, rel=1e-9)
    # The duration with g = exp(b m) grows to both sides.
    terms = [(inner + size / (2 * at)) * math.exp(rate * (at - best)) for at in (0.9 * best, best, 1.1 * best)]
    assert terms[1] <= min(terms[0], terms[2])
    printed = float(exponential_gap_segment(rate, processes, size, as_published=True))
    written = (-size * rate + math.sqrt((size * rate) ** 2 + 8 * size * rate * (inner + 1))) / (4 * (inner + 1))
    assert printed == pytest.approx(written, rel=1e-4)


def test_what_cannot_be_cut_is_said() -> None:
    with pytest.raises(ModelError, match="not cut into segments"):
        optimal_segment("allgather", "ring", HOCKNEY, 8, MB)
    with pytest.raises(ModelError, match="no closed form for bcast linear under plogp"):
        closed_form("bcast", "linear", "plogp")
    with pytest.raises(ParameterError, match="more than 0"):
        exponential_gap_segment(0, 8, MB)
