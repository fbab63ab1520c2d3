"""Runtime functions against the published ones, which synthetic measurements are made of."""

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from scipy.optimize import curve_fit

from dashboard.domain.arrays import FloatArray
from dashboard.models.errors import ModelError
from dashboard.models.runtime_functions import fit_ranges, runtime_functions

# Orthogonal-structures report, Table 2 (CLiC, LAM-MPI), µs per byte: linear up to 4 processes, logarithmic above; the
# text gives τ = 0.0383 and t_c = 0.474 for the latter.
LINEAR = (-0.085e-6, 0.092e-6)
LOGARITHMIC = (0.0383e-6, 0.474e-6)
# Table 3, MPI_Gather on the CLiC: τ1 = 0.009 s, τ2 = -0.0825 µs, t_c = 0.0929 µs.
GATHER = (0.009, -0.0825e-6, 0.0929e-6)
P, B = (
    each.ravel() for each in np.meshgrid([2, 3, 4, 6, 8, 12, 16, 24, 32], np.linspace(10e3, 500e3, 12), indexing="ij")
)


def broadcast(noise: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(5)
    linear = (LINEAR[0] + LINEAR[1] * P) * B
    logarithmic = (LOGARITHMIC[0] + LOGARITHMIC[1] * np.log2(P)) * B
    return np.where(P <= 4, linear, logarithmic) * np.exp(noise * random.standard_normal(P.size))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_change_of_algorithm_of_lam_mpi_is_found(noise: float) -> None:
    small, large = fit_ranges(P, B, broadcast(noise))
    assert (small.comm_range, large.comm_range) == ((2, 4), (6, 32))
    assert (small.form, large.form) == ("linear", "logarithmic")
    accuracy = 0.05 if noise else 1e-6
    assert (small.base, small.growth) == pytest.approx(LINEAR, rel=accuracy)
    assert large.growth == pytest.approx(LOGARITHMIC[1], rel=accuracy)
    assert small.message_range == (10_000, 500_000)
    # A third coefficient must be worth it.
    assert small.startup is large.startup is None
    for function, truth in ((small, LINEAR[1]), (large, LOGARITHMIC[1])):
        low, high = function.intervals["growth"]
        assert low <= truth * (1 + 1e-6)
        assert high >= truth * (1 - 1e-6)


def test_gather_with_its_startup() -> None:
    time = GATHER[0] + (GATHER[1] + GATHER[2] * P) * B
    (function,) = fit_ranges(P, B, time)
    assert (function.startup, function.base, function.growth) == pytest.approx(GATHER, rel=1e-6)
    expected = GATHER[0] + (GATHER[1] + GATHER[2] * 10) * np.array([1e5, 2e5])
    assert function.predict(10, [1e5, 2e5]) == pytest.approx(expected)
    assert function.text() == "t = 0.009 + (-8.25e-08 + 9.29e-08 p) b"


def test_reduction_steps_with_the_levels_of_the_tree() -> None:
    # Table 1, MPI_Reduce: (τ + t_c ⌊log2(p - 1)⌋) b.
    time = (0.141e-6 + 0.101e-6 * np.floor(np.log2(P - 1))) * B
    (function,) = fit_ranges(P, B, time)
    assert function.form == "floor_logarithmic"
    assert (function.base, function.growth) == pytest.approx((0.141e-6, 0.101e-6), rel=1e-6)


def test_intervals_of_few_times_are_those_of_students_distribution() -> None:
    p, b = np.array([2, 2, 4, 4, 8, 8]), np.array([1e4, 1e5] * 3)

    def time(_: object, base: float, growth: float) -> FloatArray:
        return np.asarray((base + growth * np.log2(p)) * b)

    measured = time(None, 0.1e-6, 0.5e-6) * np.exp(1e-3 * np.random.default_rng(2).standard_normal(6))
    (function,) = fit_ranges(p, b, measured)
    best, covariance = curve_fit(time, None, measured, [1e-7, 5e-7], sigma=measured)
    half = scipy.stats.t(6 - 2).ppf(0.975) * np.sqrt(np.diag(covariance))
    for name, middle, wide in zip(("base", "growth"), best, half, strict=True):
        assert function.intervals[name] == pytest.approx([middle - wide, middle + wide], abs=1e-3 * wide)


def test_outliers_do_not_lead_astray() -> None:
    time = (0.1e-6 + 0.5e-6 * np.log2(P)) * B
    time[::17] *= 5
    (function,) = fit_ranges(P, B, time)
    assert function.form == "logarithmic"
    assert function.growth == pytest.approx(0.5e-6, rel=0.05)
    assert function.error < 5


def test_a_method_of_the_sample_data_grows_as_it_must(fast_ethernet_bcast: xr.Dataset) -> None:
    functions, _ = runtime_functions(fast_ethernet_bcast, ["linear", "binomial"], message_range=(10_000, 500_000))
    (linear,) = functions["linear"]
    # The root sends p - 1 messages over a wire of 11.7 MB/s: 0.085 µs for each byte and process.
    assert (linear.form, linear.growth) == ("linear", pytest.approx(0.085e-6, rel=0.02))
    assert linear.base == pytest.approx(-linear.growth, rel=0.05)
    assert all(function.form != "linear" for function in functions["binomial"])


@pytest.mark.parametrize(
    ("comm", "size", "time", "words"),
    [
        ([2, 4], [1, 2], [1.0, 1.0], "too few"),
        ([2, 4, 8, 16], [8, 8, 8, 8], [1.0] * 4, "1 message size: too few"),
        ([4, 4, 4, 4], [1, 2, 4, 8], [1.0] * 4, "1 communicator size and"),
        ([2, 4, 8, 16], [1, 2, 4, 8], [1.0, 1.0, 0.0, 1.0], "a time is 0 s"),
    ],
)
def test_too_little_to_fit_to(comm: list[int], size: list[int], time: list[float], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        fit_ranges(*map(np.array, (comm, size, time)))


def test_methods_without_a_function_are_named_with_the_reason(fast_ethernet_bcast: xr.Dataset) -> None:
    linear = fast_ethernet_bcast["method"] == "linear"
    sparse = fast_ethernet_bcast.where(~linear | (fast_ethernet_bcast["comm_size"] == 16))
    functions, left_out = runtime_functions(sparse, ["linear", "binomial"])
    assert list(functions) == ["binomial"]
    assert "1 communicator size and" in left_out["linear"]


def test_unknown_names(fast_ethernet_bcast: xr.Dataset) -> None:
    with pytest.raises(ModelError, match="no method 'x'"):
        runtime_functions(fast_ethernet_bcast, ["x"])
    with pytest.raises(ModelError, match="too few"):
        runtime_functions(fast_ethernet_bcast, message_range=(1e9, 2e9))
