"""Parameters from point-to-point measurements."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from dashboard.models.errors import ModelError
from dashboard.models.pingpong import (
    GAP_SHARE,
    PingPong,
    hockney_of,
    parameters_of_pingpong,
    parameters_of_table,
    pingpong_of,
    read_logp_table,
)
from loaders import open_results
from tests.conftest import FAST_ETHERNET

SIZES = np.array([0.0, 8.0, 1024.0, 65536.0, 1048576.0])
TABLE = FAST_ETHERNET / "pointtopoint.csv"


def test_a_straight_line_is_found_but_for_the_latency_of_the_largest_message() -> None:
    line, residuals = hockney_of(PingPong(SIZES, 50e-6 + 8e-9 * SIZES))
    assert line.alpha == pytest.approx(50e-6)
    # The largest message is not infinitely large: its latency is left in, 50 µs of 8.4 ms.
    assert line.beta == pytest.approx(8e-9 + 50e-6 / 1048576, rel=1e-9)
    assert np.abs(residuals).max() < 0.006


def test_a_ping_pong_gives_all_three_models_and_says_what_is_assumed() -> None:
    measured = PingPong(SIZES, 50e-6 + 8e-9 * SIZES, ("here",))
    network = parameters_of_pingpong(measured)
    loggp, plogp = network.of("loggp"), network.of("plogp")
    # What a ping-pong does measure holds, however it was divided.
    assert loggp.latency + 2 * loggp.overhead == pytest.approx(50e-6)
    assert loggp.gap_per_byte == network.of("hockney").beta
    assert loggp.gap == pytest.approx(GAP_SHARE * 50e-6)
    assert plogp.message_time(SIZES) == pytest.approx(measured.time)
    assert network.provenance["sources"] == ["here"]
    assert any("Table 4.13" in note for note in network.provenance["assumed"])
    assert [note[:5] for note in network.provenance["assumed"][-2:]] == ["γ = 0", "δ = 0"]
    timed = parameters_of_pingpong(measured, gamma=2e-10).provenance["assumed"]
    assert not any(note.startswith("γ = 0") for note in timed)


@pytest.mark.parametrize(
    ("size", "time", "words"),
    [
        ([1.0], [1e-5], "found 1 B only"),
        ([], [], "found none"),
        ([1.0, 2.0], [1e-5, 0.0], "the time at 2 B is 0 s"),
        ([1.0, 2.0], [1e-5, np.nan], "the time at 2 B is nan s"),
        ([1.0, 2.0, 2.0], [1e-5, 2e-5, 2e-5], "2 B stands behind 2 B; the sizes of a ping-pong must ascend, each once"),
    ],
)
def test_what_is_no_ping_pong(size: list[float], time: list[float], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        PingPong(np.array(size), np.array(time))


def test_the_ping_pong_of_the_sample_data(fast_ethernet: xr.DataTree) -> None:
    measured = pingpong_of(fast_ethernet["pt2pt"].to_dataset())
    hockney, _ = hockney_of(measured)
    # Fast Ethernet carries 12.5 MB/s less its headers; the README names 11.7 MB/s and 104 to 130 µs.
    assert 100e-6 < hockney.alpha < 135e-6
    assert 10.5e6 < 1 / hockney.beta < 11.8e6
    with pytest.raises(ModelError, match="no ping-pong"):
        pingpong_of(fast_ethernet["bcast"].to_dataset())


def test_a_ping_pong_of_imb(samples: Path) -> None:
    (path,) = (samples / "imb").glob("*roce-gcc9-openmpi4-ucx*PingPong*.out")
    network = parameters_of_pingpong(pingpong_of(open_results(path)["pt2pt"].to_dataset()))
    hockney = network.to_dict()["parameters"]["hockney"]
    text = [line.split() for line in path.read_text().splitlines()]
    rows = [row for row in text if len(row) == 4 and row[0].isdigit()]
    # Columns: bytes, repetitions, t[usec] (half a round trip), Mbytes/sec of 10^6 bytes.
    assert hockney["alpha"] == pytest.approx(min(float(row[2]) for row in rows) / 1e6)
    assert 1e-6 / hockney["beta"] == pytest.approx(max(float(row[3]) for row in rows), rel=0.01)


def test_the_table_of_the_sample_data() -> None:
    table = read_logp_table(TABLE)
    network = parameters_of_table(table, sources=[TABLE.name])
    plogp, loggp, hockney = (network.of(name) for name in ("plogp", "loggp", "hockney"))
    # The file's own comment: L = half round trip(0 B) - g(0 B) = 114.2 us.
    assert plogp.latency == pytest.approx(114.2e-6, abs=0.05e-6)
    assert plogp.gap_at(8192) == pytest.approx(699.50e-6)
    assert hockney.to_dict()["alpha"] == pytest.approx(104.25e-6)
    assert 1 / hockney.to_dict()["beta"] == pytest.approx(1048576 / 89.69989e-3, rel=1e-9)
    # Table 4.1 with the columns at 1 B: o = (o_s + o_r) / 2, where o_s = 13.70 is cut down to g = 9.01.
    assert loggp.overhead == pytest.approx((9.01e-6 + 2.03e-6) / 2)
    assert loggp.gap_per_byte == pytest.approx((89545.04 - 45035.72) / 524288 * 1e-6, rel=1e-6)
    assert 0 < plogp.gamma < 1e-10
    assert any("o_s cut down to the gap at 6 of 28 sizes" in note for note in network.provenance["assumed"])


def test_what_was_timed_locally_is_gamma_and_delta(tmp_path: Path) -> None:
    head = "bytes,halfrtt_median_us,gap_us,os_us,or_us,reduce_local_us,copy_local_us\n"
    rows = [
        f"{size},{100 + size},{10 + size},3,3,{5 + 2e-4 * size},{1 + 1e-4 * size}\n" for size in (0, 8, 1024, 65536)
    ]
    (tmp_path / "table.csv").write_text(head + "".join(rows))
    network = parameters_of_table(read_logp_table(tmp_path / "table.csv"))
    for model in network.models:
        assert network.of(model).gamma == pytest.approx(2e-10)
        assert network.of(model).delta == pytest.approx(1e-10)
    assert network.provenance["assumed"] == []


def test_a_table_as_a_spreadsheet_saves_it_may_have_a_mark_before_it_and_any_order(tmp_path: Path) -> None:
    lines = TABLE.read_text().splitlines(keepends=True)
    rows = [line for line in lines if line[0].isdigit()]
    shuffled = "".join(line for line in lines if line[0].isalpha()) + "".join(rows[1::2] + rows[::2])
    (tmp_path / "table.csv").write_text(shuffled, encoding="utf-8-sig")
    expected = read_logp_table(TABLE)
    for name, column in read_logp_table(tmp_path / "table.csv").items():
        assert column.tolist() == expected[name].tolist()


def test_one_large_size_tells_no_slope(tmp_path: Path) -> None:
    # Of two sizes one alone is in the larger half, and through one point goes any line.
    head = "bytes,halfrtt_median_us,gap_us,os_us,or_us,reduce_local_us\n"
    (tmp_path / "table.csv").write_text(f"{head}0,112,10,3,3,5\n8,113,11,3,3,6\n")
    network = parameters_of_table(read_logp_table(tmp_path / "table.csv"))
    assert {network.of(model).gamma for model in network.models} == {0.0}
    assert any(note.startswith("γ = 0") and "does not grow" in note for note in network.provenance["assumed"])


def test_overheads_that_leave_no_latency_leave_loggp_out(tmp_path: Path) -> None:
    head = "bytes,halfrtt_median_us,gap_us,os_us,or_us\n"
    (tmp_path / "table.csv").write_text(f"{head}0,12,10,9,9\n8,13,11,9,9\n")
    network = parameters_of_table(read_logp_table(tmp_path / "table.csv"))
    assert network.models == ("hockney", "plogp")
    assert any("LogP / LogGP left out: Table 4.1 gives a latency of" in note for note in network.provenance["assumed"])


def test_wrong_tables(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    head = "bytes,halfrtt_median_us,gap_us,os_us,or_us\n"
    path.write_text("# nothing\nbytes,gap_us\n1,2\n")
    with pytest.raises(ModelError, match=r"no column halfrtt_median_us, os_us, or_us; it has bytes, gap_us$"):
        read_logp_table(path)
    for wrong in ("x", "nan"):
        path.write_text(f"# c\n{head}0,100,9,3,3\n8,{wrong},9,3,3\n")
        with pytest.raises(ModelError, match=rf"table\.csv:4: halfrtt_median_us is '{wrong}'"):
            read_logp_table(path)
    path.write_text(f"{head}0,100,9,3,3\n")
    with pytest.raises(ModelError, match="found 0 B only"):
        parameters_of_table(read_logp_table(path))
    path.write_text(f"{head}0,5,9,3,3\n8,6,9,3,3\n")
    with pytest.raises(ModelError, match="no latency is left"):
        parameters_of_table(read_logp_table(path))
    path.write_text(f"{head}0,100,-9,3,3\n8,6,9,3,3\n")
    with pytest.raises(ModelError, match=r"the time at 0 B is -9e-06 s"):
        parameters_of_table(read_logp_table(path))


def test_what_the_logp_benchmark_saved_gives_its_own_parameters(tmp_path: Path) -> None:
    # As logp_mpi.c writes it: "%9ld %7d" and seven times " %9.7f"; L is its own.
    file = tmp_path / "logp.out"
    rows = [(0, 8e-6, 9e-6, 2e-5), (1024, 9e-6, 1e-5, 4.04e-5), (65536, 1e-4, 1.2e-4, 1.3307e-3)]
    lines = [
        f"{0:9d} {size:7d} {send:9.7f} {send:9.7f} {0:9.7f} {receive:9.7f} {receive:9.7f} {0:9.7f} {gap:9.7f}\n"
        for size, send, receive, gap in rows
    ]
    head = "# LogP network performance data: logp_test.Send.Recv\n# Latency = 0.0000300\n# time      bytes os …\n"
    file.write_text(head + "".join(lines))
    plogp = parameters_of_table(read_logp_table(file)).of("plogp")
    assert plogp.latency == pytest.approx(30e-6)
    assert plogp.sizes == (0, 1024, 65536)
    assert plogp.gap == pytest.approx([row[3] for row in rows])
    assert (plogp.send_overhead[2], plogp.receive_overhead[0]) == (pytest.approx(1e-4), pytest.approx(9e-6))
    file.write_text(head + lines[0] + lines[1].replace("1024", "1k"))
    with pytest.raises(ModelError, match=r"logp\.out:5: found '1k'; expected a number"):
        read_logp_table(file)
    file.write_text(head.replace("Latency", "Late") + lines[0])
    with pytest.raises(ModelError, match="no line '# Latency"):
        read_logp_table(file)
