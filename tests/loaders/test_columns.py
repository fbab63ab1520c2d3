"""Columns of tables: what they are called, the units that they name, and what they mean where no other means it."""

from pathlib import Path

import pytest

from loaders import open_results
from loaders.errors import LoadError, MissingHintError
from loaders.table import FORMAT
from tests.loaders.printed import read_text

LONG = "collective,algorithm,segment_size,comm_size,message_size,time\n"
UNITS = {
    1.0: ["time_s", "latency (sec)", "time (seconds)"],
    1e-3: ["time_ms", "time_msec", "mean time (ms)"],
    1e-6: ["time_us", "time_usec", "Time [us]", "t[usec]", "AvgLatency(us)", "time [\u00b5s]", "time [\u03bcs]"],
    1e-9: ["time_ns", "time_nsec", "time (ns)"],
}


@pytest.mark.parametrize(("name", "scale"), [(name, scale) for scale, names in UNITS.items() for name in names])
def test_the_column_names_the_unit_of_the_times(name: str, scale: float, tmp_path: Path) -> None:
    text = f"collective,algorithm,comm_size,message_size,{name},time_std\nbcast,linear,4,8,12.5,0.5\n"
    (row,) = read_text(FORMAT, tmp_path, text).rows.itertuples()
    assert (row.time, row.time_std) == pytest.approx((12.5 * scale, 0.5 * scale))


def test_a_column_t_without_a_unit_is_not_of_times(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("collective,algorithm,comm_size,message_size,t\nbcast,linear,4,8,12.5\n")
    with pytest.raises(LoadError, match=r"no column of times among .*'t'"):
        open_results(tmp_path / "t.csv")


def test_columns_are_mapped_and_units_come_with_our_name(tmp_path: Path) -> None:
    text = "op;alg no;P;bytes;lat;k\nBCAST;3;64;1024;17.5;4\n"
    columns = {"op": "collective", "alg no": "algorithm", "P": "comm_size", "bytes": "message_size", "lat": "time_us"}
    reading = read_text(FORMAT, tmp_path, text, columns={**columns, "k": "fanout"})
    (row,) = reading.rows.itertuples()
    assert (row.collective, row.algorithm, row.comm_size, row.message_size, row.fanout) == ("bcast", "3", 64, 1024, 4)
    assert row.time == pytest.approx(17.5e-6)
    assert "'k'" in read_text(FORMAT, tmp_path, text, columns=columns).source.notes[0]


@pytest.mark.parametrize(
    ("theirs", "ours", "seconds"),
    [
        ("latency_us", "time", 12.5e-6),
        ("t[usec]", "time", 12.5e-6),
        ("best (ms)", "time", 12.5e-3),
        ("t[usec]", "time_ms", 12.5e-3),
        ("t", "time", 12.5),
    ],
)
def test_a_column_that_is_mapped_to_times_keeps_the_unit_it_names(
    theirs: str, ours: str, seconds: float, tmp_path: Path
) -> None:
    text = f"collective,algorithm,comm_size,message_size,{theirs}\nbcast,ring,4,8,12.5\n"
    (row,) = read_text(FORMAT, tmp_path, text, columns={theirs: ours}).rows.itertuples()
    assert row.time == pytest.approx(seconds)


def test_the_micro_sign_of_a_spreadsheet_is_that_of_microseconds(tmp_path: Path) -> None:
    text = "collective,algorithm,comm_size,message_size,time [µs]\nbcast,ring,4,8,9.5\n"
    for encoding in ("utf-8", "latin-1"):
        assert read_text(FORMAT, tmp_path, text.encode(encoding)).time(message_size=8) == 9.5


def test_a_column_cannot_become_a_parameter_of_a_name_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("collective,algorithm,m,comm_size,message_size,time\nbcast,a,x,2,8,1e-5\n")
    with pytest.raises(LoadError, match=r"'method'.*something else"):
        open_results(tmp_path / "t.csv", columns={"m": "method"})


def test_a_name_that_is_too_long_is_told_from_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"collective,algorithm,comm_size,message_size,time\nbcast,{'x' * 201},2,8,1e-5\n")
    with pytest.raises(LoadError, match="no algorithm of 1 to 200 printable characters"):
        open_results(tmp_path / "t.csv")


@pytest.mark.parametrize(("time", "doubted"), [("47989", True), ("0.5", False)])
def test_times_too_long_for_seconds_are_doubted(tmp_path: Path, time: str, *, doubted: bool) -> None:
    (tmp_path / "t.csv").write_text(f"collective,algorithm,comm_size,message_size,time\nbcast,a,2,8,{time}\n")
    notes = str(open_results(tmp_path / "t.csv").attrs.get("notes", ""))
    assert ("--column time_us=COLUMN" in notes) == doubted


@pytest.mark.parametrize("name", ["Allocation", "Mapping", "mapby", "map by"])
def test_a_column_of_how_processes_were_placed_keeps_them_apart(name: str, tmp_path: Path) -> None:
    """As sweeps over ``mpirun --map-by`` are tabulated: each mapping has all methods at all sizes."""
    (tmp_path / "sweep.csv").write_text(
        f"algorithm_name,{name},Processes,size_bytes,Latency(us)\n"
        "chain,core,4,8,1.5\nchain,node,4,8,9.5\nlinear,core,4,8,2.5\nlinear,node,4,8,7.5\n"
    )
    with pytest.raises(MissingHintError, match=r"placement of bcast is 'core' .* and 'node'"):
        open_results(tmp_path / "sweep.csv", collective="bcast")
    cube = open_results(tmp_path / "sweep.csv", collective="bcast", select="placement=node")["bcast"]
    assert cube["time"].values.ravel() == pytest.approx([9.5e-6, 7.5e-6])
    assert cube.attrs["placement"] == "node"


@pytest.mark.parametrize(
    ("processes", "size"),
    [
        ("Processors", "Size(bytes)"),
        ("num_processes", "message_size_bytes"),
        ("Number of processes", "Message Size (Bytes)"),
        ("MPI ranks", "Size [B]"),
        ("ntasks", "msg_size(b)"),
    ],
)
def test_columns_say_that_they_are_numbers_and_in_bytes(processes: str, size: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"Algorithm,{processes},{size},Avg_Latency(us)\nchain,16,2048,7.5\n")
    cube = open_results(tmp_path / "t.csv", collective="bcast")["bcast"]
    assert (cube["comm_size"].item(), cube["message_size"].item()) == (16, 2048)


@pytest.mark.parametrize("size", ["Size (KB)", "elements", "algorithm_bytes", "num_size"])
def test_sizes_that_are_not_said_to_be_bytes_are_asked_for(size: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"algorithm,processes,{size},time_us\nchain,16,2,7.5\n")
    with pytest.raises(MissingHintError, match="does not say message_size"):
        open_results(tmp_path / "t.csv", collective="bcast")


@pytest.mark.parametrize("size", ["Size (KB)", "size_mb", "msg[GiB]", "Message size in kilobytes"])
def test_a_column_of_kilobytes_cannot_be_mapped_to_sizes(size: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"collective,algorithm,processes,{size},time_us\nbcast,chain,16,2,7.5\n")
    with pytest.raises(LoadError, match=r"is not in bytes.* write them in bytes"):
        open_results(tmp_path / "t.csv", columns={size: "message_size"})


@pytest.mark.parametrize("name", ["datatype", "data_type", "dtype"])
def test_rows_of_several_datatypes_are_not_averaged(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"algorithm,nprocs,bytes,{name},time_us\nring,4,8,int,2\nring,4,8,double,6\n")
    with pytest.raises(MissingHintError, match=r"datatype of allreduce is 'int' .* and 'double'"):
        open_results(tmp_path / "t.csv", collective="allreduce")


def test_cores_are_the_processes_where_no_other_column_tells_them(tmp_path: Path) -> None:
    rows = "\nring,{},1000,8,1.5\nring,{},1000,8,2.5\n"
    (tmp_path / "cores.csv").write_text("algorithm,cores,iterations,size,latency_us" + rows.format(2, 4))
    cube = open_results(tmp_path / "cores.csv", collective="bcast")["bcast"]
    assert cube["comm_size"].values.tolist() == [2, 4]
    assert cube["repetitions"].values.ravel().tolist() == [1000, 1000]
    (tmp_path / "hybrid.csv").write_text(
        "algorithm,cores,iterations,size,latency_us,processes\nring,8,10,8,1.5,2\nring,16,10,8,2.5,4\n"
    )
    hybrid = open_results(tmp_path / "hybrid.csv", collective="bcast")["bcast"]
    assert hybrid["comm_size"].values.tolist() == [2, 4]
