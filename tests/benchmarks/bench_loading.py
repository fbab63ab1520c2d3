"""Loading against pandas' C parser on the same bytes, and peak memory against the file's size.

Aim: at least 0.7 of pandas' speed, at most three times the file in memory (beyond the imports). A tarball of PICO with
8.6 million samples: at most 20 s, three times the raw numbers in memory, and files of twice its size.
"""

import io
import itertools
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from loaders import open_results, save_results
from tests.benchmarks.measure import in_turn, peak_memory, timed_once

_WORK = """
def setup():
    import dask.array, pyarrow, pyarrow.csv, pyarrow.compute
    from loaders import open_results
def work(path):
    import time
    from loaders import open_results
    start = time.perf_counter()
    open_results(path, algorithm="x") if path.endswith(".sko") else open_results(path)
    return {"seconds": time.perf_counter() - start}
"""


def skampi_file(path: Path, launches: int) -> bytes:
    """Write a file of 400 cells, each measured `launches` times; give its table as bytes."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(launches):
        for processes in (2, 4, 8, 16):
            for size in range(1, 701, 7):
                times = rng.random(processes) * 1000 + 10
                nodes = "".join(f" {t:9.1f}" for t in times)
                result = f"{size:8d} {times.max():9.1f} {1.5:9.1f} {8:8d}"
                lines.append(f"nodes= {processes} count= {size} {result}{nodes}\n")
    table = "".join(lines)
    path.write_text(f'# SKaMPI Version 6.0.0\n\n# begin result "MPI_Bcast-nodes-count"\n{table}# end result "x"\n')
    return table.encode()


def long_table(path: Path, rows: int) -> bytes:
    """Write a long table of raw samples as CSV; give its bytes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "collective": "bcast",
            "algorithm": rng.choice(["linear", "binomial", "pipeline"], rows),
            "segment_size": rng.choice([0, 1024, 8192], rows),
            "comm_size": rng.choice([2, 4, 8, 16, 32], rows),
            "message_size": 2 ** rng.integers(0, 20, rows),
            "repetition": np.arange(rows) % 100,
            "time": rng.random(rows) * 1e-3 + 1e-6,
        }
    )
    frame.to_csv(path, index=False)
    return path.read_bytes()


def tarball(path: Path, samples: int) -> int:
    """Write a campaign of PICO: many repetitions of small messages, few of large ones; give how many samples."""
    rng = np.random.default_rng(0)
    tests = ["timestamp,test_id,nnodes,tasks_per_node,collective_type"]
    written = 0
    with tarfile.open(path, "w:gz", compresslevel=6) as tar:
        while written < samples:
            test = len(tests) - 1
            tests.append(
                f"t,{test},{2 ** (1 + test // 4)},4,{('ALLREDUCE', 'BCAST', 'ALLGATHER', 'SCATTER')[test % 4]}"
            )
            for (count, repetitions), number in itertools.product(_REPETITIONS.items(), range(20)):
                times = (1000 + 2 * count) * (1 + rng.random()) * (1 + rng.gamma(1, 0.05, repetitions))
                text = "\n".join(["highest", *map(str, times.astype(int)), ""])
                _add(tar, f"t/{test}/{count}_algorithm{number}_int32.csv", text)
                written += repetitions
        _add(tar, "t/x_metadata.csv", "\n".join(tests))
    return written


_REPETITIONS = {8: 20000, 64: 20000, 512: 5000, 4096: 1000, 32768: 200, 262144: 100, 2097152: 50}


def _add(tar: tarfile.TarFile, name: str, text: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(text)
    tar.addfile(member, io.BytesIO(text.encode()))


def pico(folder: Path) -> None:
    path = folder / "t.tar.gz"
    samples = tarball(path, 8_600_000)
    took = timed_once(lambda: save_results(open_results(path), folder / "r.nc"))
    alone = peak_memory(_WORK, str(path))
    raw, size = 8 * samples, path.stat().st_size
    print(f"{path.name}: {samples / 1e6:.1f} million samples, {size / 1e6:.0f} MB")
    print(f"  loaded in {alone['seconds']:.1f} s (aim 20), and saved in {took:.1f} s")
    print(f"  memory {(alone['peak'] - alone['baseline']) / raw:.2f} × the raw numbers (aim 3)")
    print(f"  .nc {(folder / 'r.nc').stat().st_size / size:.2f} × the tarball (aim 2)")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pico(Path(folder))
        sko, csv = Path(folder) / "big.sko", Path(folder) / "big.csv"
        table, text = skampi_file(sko, 1500), long_table(csv, 2_000_000)
        cases = (
            (sko, lambda: open_results(sko, algorithm="x"), lambda: _pandas(table, r"\s+")),
            (csv, lambda: open_results(csv), lambda: _pandas(text, ",")),
        )
        for path, ours, peer in cases:
            size = path.stat().st_size
            mine, pandas = in_turn(ours, peer)
            memory = peak_memory(_WORK, str(path))
            share = (memory["peak"] - memory["baseline"]) / size
            speed = pandas.median / mine.median
            print(f"{path.name}: {size / 1e6:.0f} MB\n  colltune {mine}\n  pandas   {pandas}")
            print(f"  speed {speed:.2f} of pandas (aim 0.7); memory {share:.2f} × the file (aim 3)")


def _pandas(data: bytes, separator: str) -> pd.DataFrame:
    if separator == ",":
        return pd.read_csv(io.BytesIO(data))
    return pd.read_csv(io.BytesIO(data), sep=separator, header=None, names=list(range(24)))


if __name__ == "__main__":
    main()
