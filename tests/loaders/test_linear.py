"""No reader takes more than twice as long for twice as much, whatever stands in a line."""

import contextlib
import time
from collections import deque
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from loaders import FORMATS, LoadError, open_results
from loaders.columns import split_unit
from loaders.files import detect
from loaders.source import Source
from loaders.text import LONGEST_LINE

#: Lines by which each format is known, and rows below them.
LINES = {
    "osu": (
        "# OSU MPI Broadcast Latency Test v7.4",
        "# Datatype: MPI_CHAR.",
        "# Size       Avg Latency(us)",
        "1   6.57",
    ),
    "imb": (
        "# Intel(R) MPI Benchmarks 2021.7, MPI-1 part",
        "# Date                  : Mon Jul  1",
        "# Benchmarking Bcast",
        "# ( 2 groups of 4 processes each)",
        "# #processes = 4",
        "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]",
        "1 1000 0.10 0.20 0.15",
    ),
    "mpi4py_run": (
        "# MPI Broadcast Latency Test",
        "# Size [B]  Latency [us]",
        "1 0.64",
        "1 2.5 | 1.2e-06 ± 1.0e-07 100",
        "time for 10 loops = 0.5 seconds (4 processes, 64 bytes)",
    ),
    "skampi": ("# SKaMPI Version 5.0", '# begin result "MPI_Bcast"', "nodes= 2 count= 1  1  105.4  4.0  5  105.4", ""),
    "skampi4": ("# /*@inp2p_MPI_Bcast-nodes-short.ski*/", "2 10.0 0.1 5 1 2 3", ""),
    "reprompi": (
        "#@nprocs=4",
        "#Command-Line Arguments: --params=alg:1",
        "test msize nrep runtime_sec",
        "MPI_Bcast 1 0 0.1",
    ),
    "nccl_tests": (
        "# nThread 1 nGpus 1 warmup iters: 5 iters: 20 agg iters: 1",
        "#  Rank  0 Group  0 Pid 100 on node device  0",
        "#   size   count  type  redop  root   time  algbw  busbw #wrong",
        "8  2  float  sum  -1  22.7  0.00  0.01  0",
    ),
    "ucc_perftest": (
        "+ mpirun -n 4 -x UCC_TL_UCP_TUNE=alltoall:0-inf:@bruck ucc_perftest -c alltoall",
        "Collective:             Alltoall",
        "Count        Size                Time, us           Bus Bandwidth, GB/s",
        "avg         min         max         avg         max         min",
        "3          12     4256.32     2795.05     6775.85        0.00        0.00        0.00",
        "Total time: 12.094 ms",
    ),
    "ompi_tuning": ("#Nnodes Message_size binomial pipeline", "2 1 1.0(0.1) No data"),
    "occ": ("# segment size, message size, comm size, time [us]", "0, 1, 2, 3.0"),
    "table": ("collective,algorithm,comm_size,message_size,time_us", "bcast,binomial,4,1024,12.5"),
    "run": ('{"colltune_run": 1, "attrs": {}}', '{"collective": "bcast", "algorithm": "a", "comm_size": 2}'),
}
PUMPS = (" ", "\t", "_", "a", "1", "-", "#", "(", ",", ".", "a ", "_as_", ' result "', "Test ", "1 ", "\\", "[[")
LONG = 8192
#: Seconds below which nothing can be told of growth on a machine that does other work, too.
NOTHING = 0.05


def read(path: Path) -> None:
    """Tell the format and read the rows; the cubes that are made of them look at no line."""
    source = Source(path)
    deque(detect(source, FORMATS).read(source), maxlen=0)


def seconds(path: Path, lines: tuple[str, ...], how: Callable[[Path], object] = read) -> float:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    began = time.process_time()
    with contextlib.suppress(LoadError):
        how(path)
    return time.process_time() - began


@pytest.mark.soak
@pytest.mark.parametrize("name", LINES)
def test_reading_and_telling_a_format_take_time_that_grows_with_the_line(name: str, tmp_path: Path) -> None:
    lines = LINES[name]
    path = tmp_path / "results.txt"
    for place, pump in product(range(len(lines)), PUMPS):
        line = lines[place]
        cuts = {0, len(line) // 2, *(at for at, sign in enumerate(line) if sign in ' ="(')}
        for cut in sorted(cuts)[:8]:

            def took(length: int) -> float:
                pumped = line[:cut] + pump * (length // len(pump)) + "x" + line[cut:]  # noqa: B023 - called at once
                return seconds(path, (*lines[:place], pumped, *lines[place + 1 :]))  # noqa: B023

            long = took(LONG)
            # Doubled twice: a square takes 16 times as long, a line 4 times.
            if long > NOTHING:
                short, long = took(LONG // 4), min(long, took(LONG))
                assert long <= 8 * short, f"{line[:cut]!r} + {LONG} of {pump!r}: {short} s, then {long} s"


@pytest.mark.parametrize(
    "content",
    [
        "# OSU MPI " + 2_000 * " " + "x",
        60_000 * " ",
        60_000 * " " + "x",
        "# SKaMPI Version 5\n" + 60_000 * " " + "x",
        "a" + 60_000 * "_" + "b,time\n1,2\n",
        "# MPI " + 60_000 * " " + "x",
        60_000 * "1" + "x,time\n",
        "collective,algorithm,comm_size,message_size,time\nbcast,a,4,1," + 60_000 * "1" + "x\n",
        4_000 * 'begin result "a" ' + "\n",
        "# Intel(R) MPI Benchmarks " + 3_000 * ", part " + "x",
    ],
)
def test_lines_that_took_minutes_are_read_at_once(content: str, tmp_path: Path) -> None:
    path = tmp_path / "results.txt"
    path.write_text(content, encoding="utf-8")
    began = time.process_time()
    with pytest.raises(LoadError):
        open_results(path)
    assert time.process_time() - began < 1


def test_a_line_longer_than_any_row_is_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text("\n".join([*LINES["osu"][:3], "1  6.57", "2  " + LONGEST_LINE * "7", "4  6.60"]) + "\n", "utf-8")
    source = Source(path)
    rows = sum(len(table) for table in detect(source, FORMATS).read(source))
    assert (rows, source.skipped) == (2, 1)
    assert [(skip.line, skip.reason) for skip in source.skips] == [(5, f"longer than {LONGEST_LINE:,} bytes")]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("time_us", ("time", 1e-6)),
        ("Time [us]", ("time", 1e-6)),
        ("time ( ns )", ("time", 1e-9)),
        ("time__ms", ("time", 1e-3)),
        ("runtime", ("runtime", None)),
        ("us", ("us", None)),
        ("time_of_day", ("time_of_day", None)),
        ("time [", ("time_[", None)),
    ],
)
def test_units_of_columns(name: str, split: tuple[str, float | None]) -> None:
    assert split_unit(name) == split


def test_the_name_of_a_method_takes_time_that_grows_with_it(tmp_path: Path) -> None:
    rows = "".join(f"GL_{'_as_' * 3_000}-{n} 1 0 0.1\n" for n in range(3))
    lines = ("#@nprocs=4", "test msize nrep runtime_sec", rows)
    assert seconds(tmp_path / "reprompi.txt", lines, open_results) < 1
