"""The library of published machines against what is printed beside the parameters."""

import numpy as np
import pytest

from dashboard.models.errors import NotApplicableError, ParameterError
from dashboard.models.pingpong import GAP_SHARE, OVERHEAD_SHARE
from dashboard.models.presets import MACHINES, machine

# Bandwidths of Table 4.12, bytes per microsecond. Grig's over TCP is printed as 12.33, an erratum.
BANDWIDTH = {"grig-mx": 239.58, "grig-tcp": 11.75, "boba": 66.36, "frodo-mx": 235.51, "frodo-tcp": 11.71}

# Likewise Hockney's alpha, and of Table 4.13 L, o and g, in microseconds.
TIMES = {
    "grig-mx": (5.64, 2.1, 1.6, 2.3),
    "grig-tcp": (110.65, 106.6, 19.5, 1.0),
    "boba": (47.6, 30.4, 8.15, 8.683),
    "frodo-mx": (4.23, 1.8, 1.3, 1.6),
    "frodo-tcp": (80.2, 61.22, 8.2, 23.8),
}


@pytest.mark.parametrize("name", BANDWIDTH)
def test_transfer_times_are_the_printed_bandwidths(name: str) -> None:
    hockney, loggp = MACHINES[name].of("hockney"), MACHINES[name].of("loggp")
    assert 1e-6 / hockney.beta == pytest.approx(BANDWIDTH[name], rel=0.015)
    # Both were measured on one network: its time per byte differs by a few percent.
    assert loggp.gap_per_byte == pytest.approx(hockney.beta, rel=0.05)
    assert loggp.gamma == hockney.gamma


def test_times_and_sources_are_as_printed() -> None:
    for name, times in TIMES.items():
        hockney, loggp = MACHINES[name].of("hockney").to_dict(), MACHINES[name].of("loggp").to_dict()
        parameters = hockney["alpha"], loggp["latency"], loggp["overhead"], loggp["gap"]
        assert parameters == pytest.approx(np.array(times) * 1e-6)
        assert MACHINES[name].provenance["sources"] == ["dissertation, Tables 4.12 and 4.13"]
    assert "g < o as printed" in str(MACHINES["grig-tcp"].provenance["note"])
    assert "note" not in MACHINES["boba"].provenance


def test_what_a_ping_pong_cannot_show_is_the_median_of_the_machines() -> None:
    _, latency, overhead, gap = np.array(list(TIMES.values())).T
    for share, time in ((OVERHEAD_SHARE, overhead), (GAP_SHARE, gap)):
        assert share == pytest.approx(np.median(time / (latency + 2 * overhead)), abs=0.005)


def test_thunderbird_is_what_netpipe_measured() -> None:
    hockney = machine("thunderbird").of("hockney")
    assert hockney.alpha == pytest.approx(3.65e-6)
    # 7222.68 Mbps, printed as 0.0011 us/byte.
    assert hockney.beta == pytest.approx(8 / 7222.68e6, abs=5e-11)
    # Two processors of 7200 MIPS each work on integers of four bytes.
    assert hockney.gamma == pytest.approx(1 / (2 * 7200e6) / 4, rel=0.01)


def test_what_was_not_printed_is_said() -> None:
    with pytest.raises(NotApplicableError, match="thunderbird has no LogP / LogGP parameters; there are Hockney"):
        machine("thunderbird").of("loggp")
    with pytest.raises(ParameterError, match="expected one of"):
        machine("boba").of("amdahl")
