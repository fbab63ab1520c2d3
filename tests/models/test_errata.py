"""The errata: the known suspects are there, and the proofs hold in numbers."""

import numpy as np
import pytest

from dashboard.domain.models import MODEL_NAMES
from dashboard.models.errata import errata
from dashboard.models.p2p import LogGP, PLogP
from dashboard.models.registry import ALL, model_of
from tests.models.networks import HOCKNEY, LOGGP, NETWORKS, PLOGP


def test_every_erratum_says_where_what_and_why() -> None:
    for each in errata():
        assert each.where
        assert each.printed != each.corrected
        assert len(each.why) > 40
        # Of a formula it is told of which.
        if each.collective:
            assert model_of(each.collective, each.algorithm).formula(each.model)  # type: ignore[arg-type]
    places = [each.where for each in errata()]
    assert len(set(places)) == len(places)


def test_the_known_suspects_are_among_them() -> None:
    places = "\n".join(each.where for each in errata())
    for suspect in (
        "Table 5.1, bcast binary, Hockney",
        "Table 4.8, Rabenseifner, Hockney",
        "Table 4.5, Linear with sync., LogP / LogGP",
        "Table 4.6, Neighbor exchange, PLogP",
        "Table 6.1, LogP / LogGP",
    ):
        assert suspect in places


def test_equation_5_11_is_shown_as_printed_and_with_its_root() -> None:
    (each,) = (each for each in errata() if "5.11" in each.where)
    inner = r"\left(\left\lceil \log_2\left(P + 1\right) \right\rceil - 1\right)"
    root = rf"\sqrt{{m^2 \cdot b_g^2 + 8 \cdot m \cdot b_g \cdot {inner}}}"
    printed = rf"\frac{{{root} - m \cdot b_g}}{{4 \cdot {inner}}}"
    assert each.printed.latex == printed
    assert each.corrected.latex == printed.replace(r"{4 ", r"{4 \cdot b_g ").replace(r"rceil - 1", r"rceil - 2")


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_with_two_processes_one_way_collectives_are_one_message(name: str) -> None:
    network = NETWORKS[name]  # type: ignore[index]
    message = float(network.message_time(5000))
    for collective, algorithms in {
        "bcast": ("linear", "pipeline", "binomial"),
        "scatter": ("linear", "binomial"),
        "gather": ("linear", "binomial"),
        "allgather": ("recursive_doubling", "ring", "neighbor_exchange"),
        "alltoall": ("linear",),
    }.items():
        for algorithm in algorithms:
            assert float(model_of(collective, algorithm).predict(network, 2, 5000)) == pytest.approx(message)
    bruck = float(model_of("allgather", "bruck").predict(network, 2, 5000))
    assert bruck == pytest.approx(message + 2 * network.delta * 5000)


def test_rings_of_equal_messages_agree_across_tables() -> None:
    # The chain of a reduction is that of a scan, and with nothing to compute that of a broadcast.
    for network in NETWORKS.values():
        for segment in (0, 100, 8192):
            reduce = model_of("reduce", "pipeline").predict(network, [3, 8, 33], 81_920, segment)
            scan = model_of("scan", "linear_segmented").predict(network, [3, 8, 33], 81_920, segment)
            assert reduce == pytest.approx(scan)


def test_rabenseifner_reduce_and_allreduce_send_the_same_under_hockney() -> None:
    reduce, allreduce = (
        model_of(each, "rabenseifner").predict(HOCKNEY, [2, 8, 64], 1 << 20) for each in ("reduce", "allreduce")
    )
    assert reduce == pytest.approx(allreduce)
    # The whole vector goes out twice at most: 2 beta m.
    assert (reduce < 12 * HOCKNEY.alpha + (2 * HOCKNEY.beta + HOCKNEY.gamma) * (1 << 20)).all()


def test_gather_with_synchronization_does_not_jump() -> None:
    sizes = np.arange(2000, 40_000, 10)
    for network in (LOGGP, PLOGP):
        times = model_of("gather", "linear_sync").predict(network, 16, sizes, 1000)
        printed = model_of("gather", "linear_sync").predict(network, 16, sizes, 1000, variant="as_published")
        assert (np.diff(times) >= 0).all()
        assert np.abs(np.diff(printed)).max() > 10 * np.diff(times).max()


def test_what_is_printed_stays_to_be_had() -> None:
    slow = LogGP.of_microseconds(latency=30, overhead=2, gap=30, gap_per_byte=0.015)
    busy = PLogP.of_microseconds(latency=9, sizes=(1, 1000), gap=(3, 9), send_overhead=(2, 8), receive_overhead=(2, 8))
    sizes = {"message_size": [100, 2500, 300_000], "segment_size": 100}
    for each in ALL:
        for name, others in (("hockney", (HOCKNEY,)), ("loggp", (LOGGP, slow)), ("plogp", (PLOGP, busy))):
            if each.formula(name).printed is not None:
                counts = [[2], [5], [6], [8], [64]]
                right = [each.predict(network, counts, **sizes) for network in others]
                printed = [each.predict(network, counts, **sizes, variant="as_published") for network in others]
                assert not np.array_equal(right, printed, equal_nan=True), each
