"""nccl-tests: what all_reduce_perf and its like print, with and without the name of the test."""

from pathlib import Path

import pytest

from loaders import nccl_tests, open_results
from loaders.errors import LoadError, MissingHintError
from tests.loaders.printed import read_text, survive_damage

FORM = nccl_tests.FORMAT
RUN = "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
RANKS = "#\n# Using devices\n" + "".join(
    f"#  Rank {rank:2d} Pid 1{rank} on node{rank // 2} device {rank % 2:2d} [0x07] A100\n" for rank in range(4)
)
HEADER = (
    "#\n#                                        out-of-place                in-place\n"
    "#   size   count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong\n"
    "#    (B)  (elements)                  (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)\n"
)


def row(size: int, time: float, *, wrong: str = "0") -> str:
    return f"  {size}  {size // 4}  float  sum  -1  {time}  0.00  0.01  {wrong}  {time / 2}  0.00  0.01  N/A\n"


def printed(test: str, *rows: str, title: str = "# Collective test starting: {}_perf\n") -> str:
    return title.format(test) + RUN + RANKS + HEADER + "".join(rows) + "# Avg bus bandwidth    : 1.5\n#\n"


def test_times_are_out_of_place_in_microseconds_and_ranks_are_counted(tmp_path: Path) -> None:
    text = printed("all_reduce", row(8, 21.5), row(16, 22.75))
    assert FORM.recognises(text.encode(), tmp_path / "job.out")
    reading = read_text(FORM, tmp_path, text)
    assert reading.time(collective="allreduce", message_size=16, comm_size=4, repetitions=20) == 22.75
    attrs = reading.source.attrs
    assert (reading.source.rows, attrs["library"], attrs["device"]) == (2, "NCCL", "CUDA")


def test_a_rank_whose_line_is_garbled_is_counted_too(tmp_path: Path) -> None:
    text = printed("all_reduce", row(8, 21.5)).replace("#  Rank  0", "Rank  0")
    assert read_text(FORM, tmp_path, text).time(comm_size=4) == 21.5


@pytest.mark.parametrize("label", ["[1,0]<stdout>:", "0: ", "[0] "])
def test_lines_that_the_launcher_labels_are_read(label: str, tmp_path: Path) -> None:
    """As jobs of Kubernetes' operator for MPI print all of theirs."""
    text = "".join(label + line for line in printed("all_reduce", row(8, 21.5)).splitlines(keepends=True))
    (tmp_path / "job.out").write_text(text)
    assert FORM.recognises(text.encode(), tmp_path / "job.out")
    assert read_text(FORM, tmp_path, text).time(collective="allreduce", comm_size=4) == 21.5


def test_ranks_below_a_table_are_of_another_run(tmp_path: Path) -> None:
    """rccl-tests that aggregate (``-N``) print no line of how they run."""
    few = "".join(RANKS.splitlines(keepends=True)[:4])
    text = printed("all_reduce", row(8, 21.5)) + few + HEADER + row(8, 9.5)
    reading = read_text(FORM, tmp_path, text)
    assert (reading.time(comm_size=4), reading.time(comm_size=2)) == (21.5, 9.5)
    assert reading.rows["repetitions"].isna().tolist() == [False, True]


def test_sizes_of_all_ranks_become_the_block_of_each(tmp_path: Path) -> None:
    """A rank has 1 KiB of a 4 KiB alltoall of four; a bcast's size is its vector."""
    (tmp_path / "job.out").write_text(printed("alltoall", row(4096, 30.0)) + printed("broadcast", row(4096, 12.0)))
    cubes = open_results(tmp_path / "job.out", algorithm="default")
    assert {name: node["message_size"].item() for name, node in cubes.children.items()} == {
        "alltoall": 1024,
        "bcast": 4096,
    }


def test_a_test_that_is_not_named_is_hinted(tmp_path: Path) -> None:
    (tmp_path / "old.out").write_text(printed("", row(4096, 30.0), title=""))
    with pytest.raises(MissingHintError, match="collective"):
        open_results(tmp_path / "old.out", algorithm="ring")
    cube = open_results(tmp_path / "old.out", algorithm="ring", collective="reduce_scatter")["reduce_scatter"]
    assert (cube["message_size"].item(), cube["time"].item()) == (1024, pytest.approx(30e-6))


def test_the_command_above_a_table_names_its_test(tmp_path: Path) -> None:
    def log(command: str, time: float) -> str:
        return f"{command}\n" + printed("", row(4096, time), title="")

    text = log("+ mpirun -np 4 build/all_reduce_perf -b 8", 21.5) + log("$ ./reduce_perf -g 4", 9.5)
    reading = read_text(FORM, tmp_path, text + log("no command", 3.5))
    assert (reading.time(collective="allreduce"), reading.time(collective="reduce")) == (21.5, 9.5)
    assert reading.rows["collective"].isna().sum() == 1
    several = read_text(FORM, tmp_path, log("cp a_perf b; all_reduce_perf; reduce_perf -b 8", 21.5))
    assert "collective" not in several.rows
    assert (
        read_text(FORM, tmp_path, "alltoall_perf\n" + printed("reduce", row(8, 2.5))).time(collective="reduce") == 2.5
    )


@pytest.mark.parametrize(("hint", "time"), [("allreduce", 21.5), ("alltoall", 9.5)])
def test_a_hint_is_not_of_tests_that_cannot_be_meant(hint: str, time: float, tmp_path: Path) -> None:
    """A log of several tests that are not named: what reduces says with what."""
    text = printed("", row(4096, 21.5), title="") + printed("", row(4096, 9.5).replace("sum", "none"), title="")
    reading = read_text(FORM, tmp_path, text, collective=hint)
    assert reading.time(collective=hint) == time
    assert [*reading.source.reasons] == [f"not of {hint}: redop {'none' if hint == 'allreduce' else 'sum'}"]
    without = text.replace(" redop", "").replace(" sum", "").replace(" none", "")
    assert len(read_text(FORM, tmp_path, without, collective=hint).rows) == 2


def test_operations_of_a_reduction_are_not_averaged(tmp_path: Path) -> None:
    both = row(8, 20.0) + row(8, 60.0).replace("sum", "prod")
    (tmp_path / "job.out").write_text(printed("all_reduce", both) + printed("broadcast", row(8, 5.0)))
    hints = {"algorithm": "ring"}
    with pytest.raises(MissingHintError, match=r"operation of allreduce is 'sum' .* and 'prod'"):
        open_results(tmp_path / "job.out", **hints)
    cubes = open_results(tmp_path / "job.out", **hints, select="operation=prod")
    assert cubes["allreduce"]["time"].item() == pytest.approx(60e-6)


def test_rows_that_are_no_times_are_counted_with_their_reasons(tmp_path: Path) -> None:
    rows = (row(0, 0.5), row(8, 21.5, wrong="3"), row(16, 22.0), "NCCL WARN timeout\n")
    source = read_text(FORM, tmp_path, printed("reduce", *rows) + printed("sendrecv", row(8, 5.0))).source
    assert source.rows == 1
    assert dict(source.reasons) == {
        "size 0: no data": 1,
        "validation failed": 1,
        "not a row of the table": 1,
        "sendrecv is not a collective": 1,
    }


def test_rows_that_the_library_logs_into_are_told_with_the_remedy(tmp_path: Path) -> None:
    log = "node0:13:75 [0] NCCL INFO AllReduce: 8 Bytes -> Algo NVLS proto SIMPLE\n"
    (tmp_path / "job.out").write_text(printed("all_reduce", row(8, 21.5).replace("-1", f"-1{log}")))
    with pytest.raises(LoadError, match="1 × NCCL's log, which NCCL_DEBUG_FILE=FILE keeps out"):
        open_results(tmp_path / "job.out", algorithm="ring")


def test_rccl_tests_are_of_rccl(tmp_path: Path) -> None:
    text = printed("all_reduce", row(8, 21.5)).replace("# Using", "rccl-tests: Version develop\n# Using")
    attrs = read_text(FORM, tmp_path, text).source.attrs
    assert (attrs["library"], attrs["device"], attrs["benchmark"]) == ("RCCL", "ROCM", "rccl-tests")


def test_damaged_files_end_in_rows_or_a_load_error(tmp_path: Path) -> None:
    (tmp_path / "job.out").write_text(printed("all_reduce", *(row(2**n, 20.0 + n) for n in range(3, 20))))
    survive_damage(FORM, [tmp_path / "job.out"], tmp_path)
