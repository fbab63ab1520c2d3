"""NetPIPE: what its program prints (formats of netpipe.c 3.7: ``%8d %lf %12.8lf`` and ``%3d: %7d bytes …``)."""

from pathlib import Path

import pytest

from dashboard.models.pingpong import hockney_of, pingpong_of
from loaders import netpipe, open_results
from tests.loaders.printed import read_text, survive_damage

FORM = netpipe.FORMAT
SIZES = (1, 2, 3, 4, 6, 8, 12, 13, 16, 1021, 1024, 1027, 65536, 1048576, 8388605)
#: Of Thunderbird in the dissertation, 6.4.1.
ALPHA, BETA = 3.65e-6, 0.0011e-6


def time(size: int) -> float:
    return ALPHA + BETA * size


def written() -> str:
    return "".join(f"{size:8d} {size * 8 / time(size) / 2**20:f} {time(size):12.8f}\n" for size in SIZES)


def screen() -> str:
    head = "0: node1\n1: node2\nNow starting the main loop\n"
    return head + "".join(
        f"{place:3d}: {size:7d} bytes {1000:6d} times -->  {size * 8 / time(size) / 2**20:8.2f} Mbps in "
        f"{time(size) * 1e6:10.2f} usec\n"
        for place, size in enumerate(SIZES)
    )


@pytest.mark.parametrize("text", [written(), screen()], ids=["file", "screen"])
def test_rows_are_a_ping_pong_in_seconds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "np.out"
    path.write_text(text)
    assert FORM.recognises(text.encode(), path)
    reading = read_text(FORM, tmp_path, text)
    assert reading.source.rows == len(SIZES)
    assert reading.time(message_size=1024) == pytest.approx(time(1024) * 1e6, abs=0.006)
    hockney, _ = hockney_of(pingpong_of(open_results([path])["pt2pt"].to_dataset()))
    assert hockney.alpha == pytest.approx(ALPHA, rel=0.01)
    assert hockney.beta == pytest.approx(BETA, rel=0.01)


def test_other_tables_of_three_numbers_are_none(tmp_path: Path) -> None:
    assert not FORM.recognises(b"1 2.5 3.5\n2 2.6 3.7\n4 2.9 4.1\n", tmp_path / "x")
    assert not FORM.recognises(b"16 3\n", tmp_path / "x")
    wrong = read_text(FORM, tmp_path, written() + "    2048 999.000000   0.00000500\n")
    assert wrong.source.reasons == {"not a row of bytes, Mbps and seconds": 1}


def test_a_time_of_few_digits_may_be_off_by_half_of_the_last(tmp_path: Path) -> None:
    seconds = 1.04e-7
    text = written() + f"{1:8d} {8 / seconds / 2**20:f} {seconds:12.8f}\n"
    assert read_text(FORM, tmp_path, text).source.rows == len(SIZES) + 1


def test_a_row_without_bytes_or_trials_is_no_data(tmp_path: Path) -> None:
    row = "  0: {:7d} bytes {:6d} times -->      5.11 Mbps in       1.49 usec\n"
    reading = read_text(FORM, tmp_path, screen() + row.format(0, 1000) + row.format(1, 0))
    assert (reading.source.rows, reading.source.reasons["no data"]) == (len(SIZES), 2)


def test_damaged_files_end_in_rows_or_in_a_load_error(tmp_path: Path) -> None:
    (tmp_path / "np.out").write_text(written())
    survive_damage(FORM, [tmp_path / "np.out"], tmp_path)
