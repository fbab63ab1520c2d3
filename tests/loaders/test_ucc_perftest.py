"""ucc_perftest: what it printed here, of UCC 1.4.4 and 1.10.0 built from source, on 2 and 3 processes."""

import re
from pathlib import Path

import pytest

from loaders import open_results, ucc_perftest
from loaders.errors import LoadError, MissingHintError
from loaders.ucc import called
from tests.loaders.printed import damaged_readings, read_text

FORM = ucc_perftest.FORMAT
TIMES = "       Count        Size                Time, us"
FULL = "                                 avg         min         max         avg         max         min\n"
#: Lines that are no rows.
HEAD = re.compile(
    r"(?:Collective|Memory type|Datatype|Reduction|Inplace|Warmup|Iterations|Iteration mode):.*"
    r"|(?:small|large) +\d{1,9}|Count +Size +Time, us(?: +(?:Bus )?Bandwidth, GB/s)?"
    r"|avg +min +max(?: +avg +(?:min +max|max +min))?|Total time: \S+ ms"
)
#: Of 1.10.0 on three processes, with -F; what UCC_COLL_TRACE showed of the first: each sends 3 elements, one to each.
ALLTOALL = """\
           3          12     4256.32     2795.05     6775.85        0.00        0.00        0.00
           6          24     4324.67     2616.45     6744.85        0.00        0.00        0.00
"""
BARRIER = "         N/A         N/A     9574.95     7544.55    12093.95         N/A         N/A         N/A\n"
#: Of 1.4.4 on two, which end in nothing; each of the two gets 2 elements of the first.
OLD = """\
           2           8      778.30        9.25     1547.35
           4          16        1.25        1.20        1.30
"""


def head(name: str, *, reduction: str = "N/A", in_place: str = "0", memory: str = "host") -> str:
    return (
        f"Collective:             {name}\nMemory type:            {memory}\nDatatype:               float32\n"
        f"Reduction:              {reduction}\nInplace:                {in_place}\nWarmup:                 \n"
        "  small                 5\n  large                 5\nIterations:             \n"
        "  small                 20\n  large                 20\n"
    )


def new(name: str, rows: str, mode: str = "isolated", **said: str) -> str:
    """As 1.10.0 prints it with -F."""
    above = f"Iteration mode:         {mode}\n\n{TIMES}{'Bus Bandwidth, GB/s':>42}\n{FULL}"
    return head(name, **said) + above + rows + "Total time: 12.094 ms\n"


def old(name: str, rows: str = OLD, **said: str) -> str:
    """As 1.4.4 prints it without -F."""
    return f"{head(name, **said)}\n{TIMES}\n{FULL[:60]}\n{rows}"


def test_a_time_is_that_of_the_slowest_process_unless_another_is_asked_for(tmp_path: Path) -> None:
    text = new("Alltoall", ALLTOALL)
    assert FORM.recognises(text.encode(), tmp_path / "job.out")
    reading = read_text(FORM, tmp_path, text)
    assert (reading.time(total_size=24), reading.source.rows, reading.source.skipped) == (6744.85, 2, 0)
    assert reading.source.attrs["library"] == "UCC"
    assert read_text(FORM, tmp_path, text, statistic="avg").time(total_size=24) == 4324.67
    assert read_text(FORM, tmp_path, text, statistic="min").time(total_size=24) == 2616.45
    with pytest.raises(LoadError, match="possible are max, mean, min"):
        open_results(tmp_path / "results.txt", statistic="median")


@pytest.mark.parametrize(
    ("name", "collective", "sizes"),
    [
        ("Alltoall", "alltoall", [4, 8]),
        ("Alltoallv", "alltoallv", [4, 8]),
        ("Scatterv", "scatterv", [4, 8]),
        ("Reduce_scatter", "reduce_scatter_block", [4, 8]),
        ("Reduce_scatterv", "reduce_scatterv", [4, 8]),
        ("Allgatherv", "allgatherv", [12, 24]),
        ("Gather", "gather", [12, 24]),
        ("Allreduce", "allreduce", [12, 24]),
        ("Bcast", "bcast", [12, 24]),
    ],
)
def test_sizes_of_all_blocks_become_those_of_one(name: str, collective: str, sizes: list[int], tmp_path: Path) -> None:
    """From 1.5 on (`get_src_count`): what a process has for all others counts as one, a vector or a block as it is."""
    (tmp_path / "job.out").write_text(new(name, ALLTOALL))
    cube = open_results(tmp_path / "job.out", algorithm="default", comm_size=3)[collective]
    assert cube["message_size"].values.tolist() == sizes


def test_up_to_1_4_every_size_is_a_block_or_a_vector(tmp_path: Path) -> None:
    hints = {"algorithm": "ring", "comm_size": 2}
    path = tmp_path / "old.out"
    path.write_text(old("Allgather"))
    assert open_results(path, **hints)["allgather"]["message_size"].values.tolist() == [8, 16]
    path.write_text(old("Reduce_scatter", reduction="sum"))
    with pytest.raises(LoadError, match=r"no 'Total time' of 1.5 ends the table; --library-version tells"):
        open_results(path, **hints)
    for version, sizes in {"1.4.4": [8, 16], "1.8.0": [4, 8]}.items():
        cube = open_results(path, **hints, library_version=version)["reduce_scatter_block"]
        assert cube["message_size"].values.tolist() == sizes
    # Three processes have no two elements among them.
    cube = open_results(path, algorithm="ring", comm_size=3)["reduce_scatter_block"]
    assert cube["message_size"].values.tolist() == [8, 16]


def test_a_barrier_has_no_size(tmp_path: Path) -> None:
    assert read_text(FORM, tmp_path, new("Barrier", BARRIER)).time(collective="barrier", message_size=0) == 12093.95


@pytest.mark.parametrize(
    ("of_all", "radix"), [({}, "3"), ({"UCC_TL_UCP_KN_RADIX": "0"}, "3"), ({"UCC_TL_UCP_KN_RADIX": "8"}, "8")]
)
def test_the_radix_of_all_stands_before_that_of_one_collective(of_all: dict[str, str], radix: str) -> None:
    assert called("reduce", "knomial", {"UCC_TL_UCP_REDUCE_KN_RADIX": "3", **of_all}) == ("knomial", radix)


@pytest.mark.parametrize(
    ("variables", "columns"),
    [
        ("-x UCC_TL_UCP_TUNE=allreduce:0-inf:@sra_knomial", {"algorithm": "sra_knomial"}),
        ("-x UCC_TL_UCP_TUNE='bcast:@2#allreduce:inf:@1'", {"algorithm": "sra_knomial"}),
        ("-x UCC_TL_UCP_TUNE=bcast,allreduce:@1", {"algorithm": "sra_knomial"}),
        ("-x UCC_TL_UCP_TUNE=@1", {}),
        ("-x UCC_TL_UCP_TUNE=allreduce:0-4k:@1", {}),
        ("-x UCC_TL_UCP_TUNE='allreduce:0-4k:@1#allreduce:4k-inf:@0'", {}),
        ("-x UCC_TL_UCP_TUNE=allreduce:0:@1", {}),
        ("-x UCC_TL_UCP_TUNE=allreduce:@99", {}),
        ("-x UCC_TL_UCP_TUNE=bcast:@1", {}),
        ("-x UCC_TL_UCP_TUNE=@0:allreduce -x UCC_TL_UCP_ALLREDUCE_KN_RADIX=2", {"algorithm": "recursive_doubling"}),
        (
            "-x UCC_TL_UCP_TUNE=allreduce:@0 -x UCC_TL_UCP_ALLREDUCE_KN_RADIX=8",
            {"algorithm": "knomial", "radix": "8"},
        ),
    ],
)
def test_the_command_above_a_table_tells_processes_and_algorithm(
    variables: str, columns: dict[str, str], tmp_path: Path
) -> None:
    rows = ALLTOALL.replace("           3          12", "           4          16")
    text = f"+ mpirun -np 4 {variables} /opt/ucc/bin/ucc_perftest -c allreduce\n" + new("Allreduce", rows)
    reading = read_text(FORM, tmp_path, text)
    assert reading.rows["comm_size"].tolist() == [4, 4]
    told = reading.rows.filter(["algorithm", "radix"])
    assert told.to_dict("records") == [columns] * 2


def test_a_log_of_a_sweep_needs_no_hints(tmp_path: Path) -> None:
    (tmp_path / "job.out").write_text(
        "".join(
            f"+ UCC_TL_UCP_TUNE=alltoall:@{name} srun -n {processes} ucc_perftest -c alltoall -F\n"
            + new("Alltoall", ALLTOALL)
            for name in ("pairwise", "bruck")
            for processes in (3, 1)
        )
    )
    cube = open_results(tmp_path / "job.out")["alltoall"]
    assert cube["time"].notnull().sum() == 8
    assert set(cube["algorithm"].values.tolist()) == {"pairwise", "bruck"}


def test_persistent_collectives_are_told_by_the_command(tmp_path: Path) -> None:
    text = "".join(
        f"+ mpirun -np 3 ucc_perftest {options}\n" + new("Allreduce", ALLTOALL) for options in ("-Fp", "-F", "-c p")
    )
    names = read_text(FORM, tmp_path, text).rows["collective"].tolist()
    assert names == 2 * ["allreduce_persistent"] + 4 * ["allreduce"]


def test_memory_operation_and_place_are_not_averaged(tmp_path: Path) -> None:
    path = tmp_path / "job.out"
    path.write_text(new("Allreduce", ALLTOALL, memory="cuda", reduction="avg", in_place="1"))
    cube = open_results(path, algorithm="ring", comm_size=3)["allreduce"]
    told = {name: cube.attrs[name] for name in ("device", "operation", "element_type", "campaign")}
    assert told == {"device": "CUDA", "operation": "avg", "element_type": "float32", "campaign": "in place"}
    faster = ALLTOALL.replace("6775.85", "775.85").replace("6744.85", "744.85")
    path.write_text(new("Allreduce", ALLTOALL) + new("Allreduce", faster, "streaming"))
    with pytest.raises(MissingHintError, match=r"campaign of allreduce .* 'streaming'"):
        open_results(path, algorithm="ring", comm_size=3)
    path.write_text("".join(new("Bcast", ALLTOALL, memory=memory) for memory in ("host", "cuda-managed")))
    cube = open_results(path, algorithm="dbt", comm_size=3, select="device=CUDA-MANAGED")["bcast"]
    assert cube["time"].notnull().sum() == 2


def test_in_place_a_reduce_scatter_prints_another_size_than_it_measures(tmp_path: Path) -> None:
    """Of 16 elements that 1.10.0 prints on two processes, UCC_COLL_TRACE shows 8 in all; 1.4.4 prints a block."""
    reading = read_text(FORM, tmp_path, new("Reduce_scatter", ALLTOALL, in_place="1"))
    assert dict(reading.source.reasons) == {"in place, where ucc_perftest prints another size than it measures": 2}
    text = old("Reduce_scatter", in_place="1", reduction="sum")
    reading = read_text(FORM, tmp_path, text, library_version="1.4", comm_size=2)
    assert reading.time(message_size=16) == 1.3


def test_rows_that_are_no_times_are_counted_with_their_reasons(tmp_path: Path) -> None:
    noise = "[1796075885.723691] [vm:8628 :0] ucc_coll.c:343 UCC_COLL DEBUG coll_init: Barrier\n"
    broken = ALLTOALL.replace("2616.45", "26I6.45") + ALLTOALL.replace("6775.85", "0.00")
    text = new("Allreduce", noise + broken) + new("Memcpy", ALLTOALL) + new("Reduce DT strided", BARRIER)
    source = read_text(FORM, tmp_path, text).source
    assert (source.rows, source.skips[1].line) == (2, text.split("\n").index(broken.split("\n")[1]) + 1)
    assert dict(source.reasons) == {
        "not a row of the table": 2,
        "the time is not positive": 1,
        "Memcpy is not a collective": 2,
        "Reduce DT strided is not a collective": 1,
    }


def test_a_table_whose_title_is_garbled_is_not_of_the_collective_before(tmp_path: Path) -> None:
    garbled = new("Bcast", ALLTOALL).replace("Collective:", "Collect")
    reading = read_text(FORM, tmp_path, new("Allreduce", ALLTOALL) + garbled)
    assert reading.rows["collective"].tolist() == 2 * ["allreduce"]
    assert reading.source.reasons["below no title"] == 2


def test_a_table_without_any_head_leaves_the_one_before_as_it_is(tmp_path: Path) -> None:
    text = new("Alltoall", ALLTOALL)
    table = text[text.index(TIMES) :]
    for before in (text, text.replace("Total time", "Total")):
        reading = read_text(FORM, tmp_path, before + table)
        assert reading.rows["total_size"].tolist() == [12, 24]
        assert reading.source.reasons["below no title"] == 2


def test_a_killed_run_keeps_its_whole_rows(tmp_path: Path) -> None:
    text = new("Alltoall", ALLTOALL)
    reading = read_text(FORM, tmp_path, text[: text.index("4324.67") + 5])
    assert (reading.time(total_size=12), reading.source.reasons["cut off"]) == (6775.85, 1)


@pytest.mark.parametrize("label", ["[1,0]<stdout>:", "0: ", "[0] "])
def test_lines_that_the_launcher_labels_are_read(label: str, tmp_path: Path) -> None:
    text = "".join(label + line for line in new("Allreduce", ALLTOALL).splitlines(keepends=True))
    assert FORM.recognises(text.encode(), tmp_path / "job.out")
    assert read_text(FORM, tmp_path, text).time(collective="allreduce", message_size=12) == 6775.85


def test_damaged_files_end_in_rows_or_a_load_error(tmp_path: Path) -> None:
    """Every line that is none of a head is counted once, loaded or skipped."""
    texts = [new("Alltoall", 9 * ALLTOALL) + new("Barrier", BARRIER), 2 * old("Reduce_scatter", 9 * OLD)]
    for data, reading in damaged_readings(FORM, [text.encode() for text in texts], tmp_path, "ucc", comm_size=3):
        lines = [line for line in data.decode("utf-8", "replace").split("\n") if line.strip()]
        others = sum(HEAD.fullmatch(line.strip()) is not None or line.lstrip().startswith("#") for line in lines)
        assert reading.source.rows + reading.source.skipped == len(lines) - others
        assert reading.error or (reading.rows["time"] > 0).all()
