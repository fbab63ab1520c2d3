"""Point-to-point models: message times, Table 4.1, interpolation, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dashboard.models.errors import ModelError, ParameterError
from dashboard.models.p2p import CLASSES, Hockney, LogGP, PLogP, of_dict
from tests.models.networks import HOCKNEY, LOGGP, NETWORKS, PLOGP

micro = st.floats(0.1, 1000)
per_byte = st.floats(1e-5, 0.5)


def test_message_times_are_equations_4_1_to_4_4() -> None:
    assert float(HOCKNEY.message_time(1000)) == pytest.approx(47.6e-6 + 15.1e-6)
    assert float(LOGGP.message_time(1001)) == pytest.approx(30.4e-6 + 16.3e-6 + 15e-6)
    assert float(PLOGP.message_time(1000)) == pytest.approx(30.4e-6 + 30e-6)
    assert float(LOGGP.message_time(0)) == pytest.approx(30.4e-6 + 16.3e-6)


def test_between_two_measured_sizes_there_is_a_line_and_beyond_the_last_it_goes_on() -> None:
    assert float(PLOGP.gap_at(5500)) * 1e6 == pytest.approx((30 + 160) / 2)
    slope = (151_000 - 1520) / (10_000_000 - 100_000)
    assert float(PLOGP.gap_at(30_000_000)) * 1e6 == pytest.approx(151_000 + slope * 20_000_000, rel=1e-9)
    assert float(PLogP(1e-6, (8, 16), (2e-6, 3e-6), (1e-6, 1e-6), (1e-6, 1e-6)).gap_at(0)) == 2e-6


def test_a_gap_that_falls_at_the_end_does_not_become_negative() -> None:
    odd = PLogP(1e-6, (1, 1000), (9e-6, 8e-6), (1e-6, 1e-6), (1e-6, 1e-6))
    assert float(odd.gap_at(1e9)) == pytest.approx(8e-6)
    assert odd.gap_per_byte == 0


def test_log_gp_of_p_log_p_is_table_4_1() -> None:
    loggp = PLOGP.to_loggp()
    assert loggp.latency * 1e6 == pytest.approx(30.4 + 9.1 - 4.1 - 5.1)
    assert loggp.overhead * 1e6 == pytest.approx((4.1 + 5.1) / 2)
    assert loggp.gap * 1e6 == pytest.approx(9.1)
    assert loggp.gap_per_byte * 1e6 == pytest.approx((151_000 - 1520) / (10_000_000 - 100_000))
    assert (loggp.gamma, loggp.delta) == (PLOGP.gamma, PLOGP.delta)


@given(latency=micro, overhead=micro, more=st.floats(0, 100), slope=per_byte, size=st.integers(1, 1 << 24))
def test_conversions_keep_the_message_time(
    latency: float, overhead: float, more: float, slope: float, size: int
) -> None:
    # Not where PLogP's latency, L + 2 o - g, or Hockney's alpha, L + 2 o - G, would not be positive.
    assume(latency + 2 * overhead > slope)
    gap = min(overhead + more, latency + 1.9 * overhead)
    network = LogGP.of_microseconds(latency=latency, overhead=overhead, gap=gap, gap_per_byte=slope)
    expected = pytest.approx(float(network.message_time(size)), rel=1e-9)
    assert float(network.to_plogp().message_time(size)) == expected
    assert float(network.to_hockney().message_time(size)) == expected
    back = network.to_plogp().to_loggp()
    assert back.values() == pytest.approx(network.values(), rel=1e-6)


def test_overheads_of_a_conversion_are_cut_only_where_the_gap_is_shorter() -> None:
    network = LogGP.of_microseconds(latency=30, overhead=19.5, gap=1, gap_per_byte=0.0859)
    lines = network.to_plogp()
    sizes = np.array([0, 1, 100, 216, 1024, 1 << 20, 1 << 24])
    cut = np.minimum(19.5e-6, lines.gap_at(sizes))
    for overhead in (lines.send_overhead_at(sizes), lines.receive_overhead_at(sizes)):
        assert overhead == pytest.approx(cut)
    assert cut[-3:] == pytest.approx(19.5e-6)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=lambda network: network.name)
def test_parameters_come_back_from_json(network: Hockney | LogGP | PLogP) -> None:
    assert of_dict(json.loads(json.dumps(network.to_dict()))) == network


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("wrong", [0.0, -1e-6, float("nan"), float("inf")])
def test_parameters_must_be_positive_numbers(name: str, wrong: float) -> None:
    with pytest.raises(ParameterError, match=rf"{name} is .* more than 0"):
        Hockney(**{"alpha": 1e-6, "beta": 1e-9, name: wrong})


def test_parameters_in_microseconds_are_noticed() -> None:
    for absurd in ({"alpha": 5.64, "beta": 1e-9}, {"alpha": 5.64e-6, "beta": 0.0042}):
        with pytest.raises(ParameterError, match="were microseconds meant"):
            Hockney(**absurd)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"sizes": (1, 1)}, "ascending"),
        ({"sizes": (1,)}, "two or more"),
        ({"sizes": (-1, 5)}, "ascending from 0"),
        ({"gap": (1e-6,)}, "one for each size"),
        ({"gap": (1e-6, 0.0)}, "gap at 9 B"),
        ({"sizes": (1, 1 << 20), "gap": (1e-6, 0.0)}, "gap at 1 MiB"),
        ({"send_overhead": (3e-6, 1e-6)}, "send_overhead at 1 B is more than the gap"),
    ],
)
def test_measurements_that_make_no_sense_are_refused(changed: dict[str, tuple[float, ...]], named: str) -> None:
    good = {"sizes": (1, 9), "gap": (2e-6, 2e-6), "send_overhead": (1e-6, 1e-6), "receive_overhead": (1e-6, 1e-6)}
    with pytest.raises(ParameterError, match=named):
        PLogP(1e-6, **{**good, **changed})


def test_json_that_is_no_model_is_refused() -> None:
    with pytest.raises(ParameterError, match="expected one of hockney, loggp, plogp"):
        of_dict({"alpha": 1e-6})
    with pytest.raises(ParameterError, match="hockney has no parameter latency"):
        of_dict({"model": "hockney", "alpha": 1e-6, "beta": 1e-9, "latency": 1.0})
    with pytest.raises(ParameterError, match="hockney needs alpha, beta; found alpha"):
        of_dict({"model": "hockney", "alpha": 1e-6})
    with pytest.raises(ParameterError, match="expected a number"):
        of_dict({"model": "hockney", "alpha": "fast", "beta": 1e-9})


def test_every_parameter_tells_symbol_and_unit() -> None:
    symbols = {name: {r.symbol: r.unit for r in each.ranges().values()} for name, each in CLASSES.items()}
    work = {"gamma": "s/B", "delta": "s/B"}
    assert symbols == {
        "hockney": {"alpha": "s", "beta": "s/B", **work},
        "loggp": {"L": "s", "o": "s", "g": "s", "G": "s/B", **work},
        "plogp": {"L": "s", **work},
    }


def test_errors_are_value_errors() -> None:
    assert issubclass(ParameterError, ModelError)
    assert issubclass(ModelError, ValueError)


def test_networks_that_cannot_be_converted_say_why() -> None:
    with pytest.raises(ParameterError, match="no time per byte"):
        LogGP(1e-6, 1e-6, 1e-6).to_hockney()
    slow = PLogP(1e-6, (1, 9), (5e-6, 5e-6), (4e-6, 4e-6), (4e-6, 4e-6))
    with pytest.raises(ParameterError, match="overheads at 1 B are longer"):
        slow.to_loggp()
