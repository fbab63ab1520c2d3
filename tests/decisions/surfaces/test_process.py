"""Smooth surfaces: as a Gaussian process of the same covariance gives them, nearer to the truth where times scatter."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern

from dashboard.decisions.surfaces import PREDICTORS, Surfaces, process
from dashboard.decisions.surfaces.process import Process

COMM = np.array([2, 4, 6, 8, 16, 32])
MESSAGE = np.array([1, 8, 64, 512, 4096, 32768, 262144])
WANTED = np.array([3, 24]), np.array([32, 2048, 2**20])
SMOOTH = next(predictor for predictor in PREDICTORS if predictor.smooth)


def covariance(cells: np.ndarray, others: np.ndarray, length: float) -> np.ndarray:
    """Of two sets of cells ``(cell, size)``, in doublings."""
    line = ConstantKernel(process.CENTRE**-2) * DotProduct(process.CENTRE)
    kernel = Matern(length, nu=1.5) + line
    along = [kernel(*(each[:, [place]] - process.CENTRE for each in (cells, others))) for place in (0, 1)]
    return np.asarray(along[0] * along[1])


def doublings(comm_sizes: np.ndarray, message_sizes: np.ndarray) -> np.ndarray:
    rows, columns = np.meshgrid(np.log2(comm_sizes), np.log2(message_sizes), indexing="ij")
    return np.stack([rows.ravel(), columns.ravel()], axis=1)


def test_expected_times_are_those_of_a_gaussian_process(monkeypatch: pytest.MonkeyPatch) -> None:
    length, noise = 4.0, 0.1
    monkeypatch.setattr(process, "LENGTHS", (length,))
    monkeypatch.setattr(process, "NOISES", (noise,))
    monkeypatch.setattr(process, "ALIKE_KINDS", (1.0,))
    logs = np.random.default_rng(2).normal(size=(3, COMM.size, MESSAGE.size))
    cells, wanted = doublings(COMM, MESSAGE), doublings(*WANTED)
    with_noise = covariance(cells, cells, length) + noise * np.eye(len(cells))
    for expected, measured in zip(Process(logs, COMM, MESSAGE).at(*WANTED), logs, strict=True):
        weights = np.linalg.solve(with_noise, (measured - measured.mean()).ravel())
        assert expected.ravel() == pytest.approx(covariance(wanted, cells, length) @ weights + measured.mean())


def test_the_likelihood_tells_scatter_from_a_course(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST", 1)
    rng = np.random.default_rng(3)
    course = rng.normal(size=(12, COMM.size, MESSAGE.size)).cumsum(axis=1).cumsum(axis=2)
    noises = []
    for logs in (course, rng.normal(size=course.shape)):
        (_, likely), *_ = process._likely(logs, COMM, MESSAGE)
        noises.append(float(likely.values.min()))
    assert noises[0] < 0.1
    assert noises[1] > 0.9


def test_times_at_powers_of_two_say_little_of_others_where_these_differ() -> None:
    sizes = np.arange(2, 18)
    folds = np.where(sizes & (sizes - 1), 1.0, 0.0)
    ring = np.zeros(sizes.size)
    logs = np.stack([folds, ring])[:, :, None] + np.zeros(MESSAGE.size)
    left = np.isin(sizes, [7, 8, 11])
    at = Process(logs[:, ~left], sizes[~left], MESSAGE).at(sizes[left], MESSAGE)
    assert at[0, :, 3] == pytest.approx([1.0, 0.0, 1.0], abs=0.1)
    assert at[1] == pytest.approx(0.0, abs=0.1)


def test_where_times_scatter_smooth_surfaces_are_nearer_to_the_truth_and_say_how_near_the_measured_are() -> None:
    rng = np.random.default_rng(4)
    wanted = np.arange(3, 32), 2 ** np.arange(18)
    truth = [
        np.stack([np.logaddexp(np.log(latency * rows)[:, None], np.log(columns)) for latency in (2.0**10, 2.0**12)])
        for rows, columns in (wanted, (COMM, MESSAGE))
    ]
    measured = truth[1] + 0.3 * rng.normal(size=truth[1].shape)
    smooth, plain = (Surfaces(np.exp(measured), COMM, MESSAGE, each) for each in (SMOOTH, PREDICTORS[0]))
    off = [np.abs(surfaces.at(*wanted).log_time - truth[0]).mean() for surfaces in (smooth, plain)]
    assert off[0] < 0.8 * off[1]
    at = smooth.at(COMM, MESSAGE)
    assert (np.abs(at.log_time - measured) <= at.half_width).all()
    assert np.abs(at.log_time - measured).max() > 0.1
