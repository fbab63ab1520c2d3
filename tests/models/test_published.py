"""Published runtime functions: the derived numbers of the paper's coefficients to the printed digit."""

import numpy as np
import pytest

from dashboard.models import grids
from dashboard.models.errors import ModelError
from dashboard.models.grids import predict
from dashboard.models.published import MACHINES, machine

KB = 1000


def gains(name: str, collective: str, processes: int, size: float) -> list[float | None]:
    """Improvement of all grids of two dimensions, by growing first factor, in percent with one digit."""
    _, predictions = predict(machine(name, collective), collective, processes, size, 2)
    return [None if prediction.improvement is None else round(prediction.improvement, 1) for prediction in predictions]


@pytest.mark.parametrize(
    ("collective", "processes", "printed"),
    [
        ("bcast", 48, [14.0, 20.9, 24.8, -1.4, -1.4, 24.8, 20.9, 14.0]),
        ("allgather", 48, [53.0, 66.4, 70.7, 42.3, 38.3, 33.2, 26.5, 16.8]),
        ("gather", 48, [-7.6, -5.7, -4.8, -3.9, -3.4, -2.9, -2.7, -2.5]),
        ("bcast", 96, [11.9, 17.7, 21.0, -1.2, -1.2, -1.2, -1.2, 21.0, 17.7, 11.9]),
        ("allgather", 96, [52.6, 66.5, 71.3, 48.3, 45.5, 39.9, 35.2, 28.7, 22.9, 14.5]),
        ("gather", 96, [-6.6, -4.7, -3.8, -2.9, -2.4, -1.9, -1.7, -1.5, -1.4, -1.2]),
    ],
)
def test_improvements_on_clic_are_those_of_section_6(collective: str, processes: int, printed: list[float]) -> None:
    assert gains("clic-lam", collective, processes, 100 * KB) == printed


@pytest.mark.parametrize(
    ("collective", "processes", "size", "printed"),
    [
        ("bcast", 96, 500, "1.580"),
        ("bcast", 48, 500, "1.343"),
        ("gather", 96, 100, "0.893"),
        ("allgather", 96, 100, "31.22"),
        ("reduce", 96, 500, "0.3735"),
    ],
)
def test_times_on_clic_are_those_of_section_6(collective: str, processes: int, size: int, printed: str) -> None:
    digits = len(printed.partition(".")[2])
    assert f"{machine('clic-lam', collective).seconds(processes, size * KB):.{digits}f}" == printed


def test_gathers_on_the_t3e_are_those_of_section_6() -> None:
    assert gains("t3e", "gather", 48, 500 * KB) == [15.2, 30.4, 33.2, 36.0, 37.4, 38.8, 39.5, 4.8]
    assert gains("t3e", "gather", 96, 500 * KB) == [11.9, 28.7, 34.1, 41.1, 42.4, 43.6, 44.3, 5.2, 8.6, -5.7]
    for processes in (48, 96):
        assert all(gain is not None and gain < 0 for gain in gains("t3e", "gather", processes, 50 * KB))


def test_the_coefficient_that_is_not_printed_is_missing_by_name() -> None:
    with pytest.raises(ModelError, match="t_c of CLiC reduce up to 4 processes is not printed"):
        machine("clic-lam", "reduce").seconds(4, KB)
    _, predictions = predict(machine("clic-lam", "reduce"), "reduce", 48, 100 * KB, 2)
    # Only grids without a factor of up to 4 are known: 6x8 and 8x6.
    assert [str(prediction.grid) for prediction in predictions if prediction.time is not None] == ["6x8", "8x6"]
    assert all("t_c of CLiC reduce" in prediction.missing for prediction in predictions if prediction.time is None)


def test_sums_are_those_of_their_parts() -> None:
    for name in ("clic-lam", "xeon-scampi"):
        of = MACHINES[name]
        for p, b in ((8, 1e4), (32, 5e5)):
            parts = of["gather"].seconds(p, b) + of["bcast"].seconds(p, p * b)
            assert of["allgather"].seconds(p, b) == pytest.approx(parts)
            assert of["allreduce"].seconds(p, b) == pytest.approx(
                of["reduce"].seconds(p, b) + of["bcast"].seconds(p, b)
            )


def test_phases_carry_what_their_members_stand_for() -> None:
    scatter = machine("clic-lam", "scatter")
    _, predictions = predict(scatter, "scatter", 12, 100, 3)
    first = predictions[0]
    assert first.grid.factors == (2, 2, 3)
    expected = (scatter.seconds(2, 600), scatter.seconds(2, 300), scatter.seconds(3, 100))
    assert first.phases == pytest.approx(expected)
    assert first.time == pytest.approx(sum(expected))


def test_predictions_laid_out_as_measurements_gain_as_much() -> None:
    bcast = machine("clic-lam", "bcast")
    cube = grids.predicted_cube(bcast, "bcast", [48, 7], [KB, 100 * KB])
    gained = grids.gains(cube, grids.ORIGINAL).sel(message_size=100 * KB)
    two = [str(name).count("x") == 1 for name in gained["grid"].values]
    table = gained.isel(method=two).sel(comm_size=48)
    assert table.values.round(1).tolist() == gains("clic-lam", "bcast", 48, 100 * KB)
    # Seven processes have no grid.
    assert np.isnan(gained.sel(comm_size=7)).all()
    assert cube["time"].sel({"method": grids.ORIGINAL, "comm_size": 7, "message_size": KB}) == bcast.seconds(7, KB)


def test_functions_hold_for_the_machines_processes_and_10_to_500_kb() -> None:
    bcast = machine("xeon-scampi", "bcast")
    assert bcast.unfitted(32, 10 * KB) == bcast.unfitted(2, 500 * KB) == {}
    assert list(bcast.unfitted(33, 9_999)) == ["33 processes", "9,999 B"]
    assert list(bcast.unfitted(32, 500_001)) == ["500,001 B"]


def test_what_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(ModelError, match="no machine 'cray', known are clic-lam, xeon-scampi, t3e"):
        machine("cray", "bcast")
    with pytest.raises(ModelError, match="t3e has no runtime function of bcast, it has gather, scatter"):
        machine("t3e", "bcast")
    with pytest.raises(ModelError, match="alltoall is not made of phases"):
        predict(machine("t3e", "gather"), "alltoall", 4, 1)
    assert predict(machine("clic-lam", "bcast"), "bcast", 7, 1)[1] == []
