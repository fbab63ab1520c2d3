"""PICO: real summaries and files of samples; what one of them says is held against the others."""

import csv
import ctypes
import json
import random
from pathlib import Path

import pytest

from loaders import MissingHintError, open_results, scan
from loaders.pico import FORMAT
from loaders.pico_names import parse_nodes, split_algorithm, split_file
from tests.loaders.printed import BLOCKS, damaged_readings, read, read_text


@pytest.fixture(scope="module")
def folder(samples: Path) -> Path:
    return samples / "pico"


@pytest.fixture(scope="module")
def consolidated(shared: Path) -> Path:
    return shared / "data" / "pico" / "pico_consolidated.csv"


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def rows_of(folder: Path, collective: str) -> list[dict[str, str]]:
    return [row for row in lines_of(next(folder.glob("mare_nostrum*"))) if row["collective_type"] == collective][:5]


def changed(rows: list[dict[str, str]], by: float = 1, **words: str) -> list[dict[str, str]]:
    """Rows with other words and as many times the time."""
    return [{**row, **words, "median": str(float(row["median"]) * by)} for row in rows]


def summary_of(folder: Path, *parts: list[dict[str, str]]) -> Path:
    path = folder / "summary.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, parts[0][0])
        writer.writeheader()
        for rows in parts:
            writer.writerows(rows)
    return path


def known_as(algorithm: str) -> str:
    """What the library's own decision is called here: PICO's plots take both names for it."""
    return "default" if algorithm in ("default_ompi", "default-default") else algorithm


def test_names_split_as_in_the_consolidated_table(consolidated: Path) -> None:
    rows = lines_of(consolidated)
    assert len(rows) == 5704
    untold = 0
    for row in rows:
        algorithm = split_algorithm(row["algorithm_raw"])
        assert algorithm.name == known_as(row["algorithm"])
        assert algorithm.name.endswith(f"-p{row['ports']}") or not row["ports"]
        # The raw name of PICO's own segmented algorithms has lost the segment size, which the file's name had.
        if row["algorithm_raw"].endswith("_segmented_over"):
            untold += 1
            in_file = split_algorithm(f"{row['algorithm_raw']}_{row['segsize_bytes']}")
            assert (in_file.name, in_file.segment_size) == (row["algorithm"], int(row["segsize_bytes"]))
        else:
            assert algorithm.segment_size == int(row["segsize_bytes"])
    assert untold == sum(r["algorithm"] == "bine_bdw_remap_segmented_over" for r in rows)


def test_names_of_files_give_count_segment_and_datatype() -> None:
    named = split_file("2097152_bine_bdw_remap_segmented_over_16384_int32.csv")
    assert named is not None
    assert (named.algorithm.name, named.algorithm.segment_size) == ("bine_bdw_remap_segmented_over", 16384)
    assert named.total_size == 2097152 * 4
    assert split_file("alloc_64.csv") is None
    assert {split_algorithm(f"default_{library}").name for library in ("mpich", "cray_mpich")} == {"default"}


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "int", "float", "double", "char", "unsigned_char"])
def test_elements_are_as_long_as_those_of_c(name: str) -> None:
    element = getattr(ctypes, f"c_{name}".replace("unsigned_char", "ubyte"))
    named = split_file(f"8_ring_ompi_{name}.csv")
    assert named is not None
    assert (named.algorithm.name, named.total_size) == ("ring_ompi", 8 * ctypes.sizeof(element))


def test_nodes_may_be_the_shape_of_a_torus() -> None:
    assert [parse_nodes(t) for t in ("8x8x8", "64", " 32x256", "8x", "0", "ring")] == [512, 64, 8192, None, None, None]


@pytest.mark.parametrize(("system", "rows"), [("fugaku", 1033), ("mare_nostrum", 303)])
def test_summaries_load_whole(folder: Path, system: str, rows: int) -> None:
    path = folder / f"{system}_aggregated_results_summary.csv"
    reading = read(FORMAT, path)
    assert FORMAT.recognises(path.read_bytes()[:65536], path)
    assert (reading.source.rows, reading.source.skipped) == (len(lines_of(path)), 0) == (rows, 0)
    for line, row in zip(lines_of(path), reading.rows.itertuples(), strict=True):
        ranks = (parse_nodes(line["nnodes"]) or 0) * int(line["tasks_per_node"])
        total = int(line["buffer_size"])
        assert row.message_size == (total // ranks if line["collective_type"] in BLOCKS else total)
        assert row.time == pytest.approx(float(line["median"]) * 1e-9, rel=1e-12)
        assert (row.comm_size, row.collective) == (ranks, line["collective_type"].lower())
        assert (row.time_std, row.repetitions) == pytest.approx((float(line["std"]) * 1e-9, int(line["n_iter"])))
    assert reading.source.attrs["benchmark"] == "PICO"
    assert set(reading.rows["library"]) == {"fugaku": {"FJMPI"}, "mare_nostrum": {"OMPI"}}[system]
    assert set(reading.rows["library_version"]) == {line["mpi_lib_version"] for line in lines_of(path)}


def test_spot_values_of_a_summary(folder: Path) -> None:
    path = folder / "fugaku_aggregated_results_summary.csv"
    where = {"collective": "allreduce", "algorithm": "RING-B_CONT-UTOFU-p6", "message_size": 536870912}
    assert read(FORMAT, path).time(**where) == pytest.approx(77326.2695)
    assert read(FORMAT, path, statistic="max").time(**where) == pytest.approx(94179.639)
    for name in ("min", "mean", "median", "max"):
        times = [float(line[name]) * 1e-9 for line in lines_of(path)]
        assert read(FORMAT, path, statistic=name).rows["time"].tolist() == pytest.approx(times)
    where = {"collective": "alltoall", "algorithm": "default-blacc6d", "message_size": 32}
    assert read(FORMAT, path).time(**where) == pytest.approx(198.414)


def test_the_consolidated_table_loads_whole_for_either_system(consolidated: Path) -> None:
    reading = read(FORMAT, consolidated)
    lines = lines_of(consolidated)
    assert (reading.source.rows, reading.source.skipped) == (len(lines), 0)
    rows = reading.rows
    assert rows["time_std"].tolist() == pytest.approx([float(line["stddev_ns"]) * 1e-9 for line in lines])
    assert rows["repetitions"].tolist() == [int(line["n_iter"]) for line in lines]
    assert rows["campaign"][0] == "2025-03-26 19:49:06"
    assert rows["campaign"].nunique() == len({line["timestamp"] for line in lines})
    for system in ("fugaku", "mare_nostrum"):
        cubes = open_results(consolidated, system=system)
        mine = [line for line in lines if line["system"] == system]
        cells = sum(int(cubes[c]["time"].count()) for c in cubes.children)
        assert cells == len(mine)
        (file,) = scan(consolidated, system=system)
        assert (file["rows"], file["rows"] + file["skipped"]) == (len(mine), len(lines))
        for line in random.Random(1).sample(mine, 200):
            cube = cubes[line["collective"].lower()].to_dataset()
            if line["collective"] in BLOCKS:
                size = max(1, (2 * int(line["bytes"]) + int(line["ranks"])) // (2 * int(line["ranks"])))
            else:
                size = int(line["bytes"])
            segmented = cube["segment_size"] == int(line["segsize_bytes"])
            methods = cube["method"].values[(cube["algorithm"] == known_as(line["algorithm"])) & segmented]
            cell = cube["time"].sel({"comm_size": int(line["ranks"]), "message_size": size, "method": methods[0]})
            if "ppn" in cell.dims:
                cell = cell.sel(ppn=int(line["tasks_per_node"]))
            assert cell.item() == pytest.approx(float(line["median_ns"]) * 1e-9, rel=1e-12)


def test_fugaku_allreduce_has_75_methods_up_to_8192_processes(consolidated: Path) -> None:
    cube = open_results(consolidated, system="fugaku")["allreduce"]
    assert (cube.sizes["method"], int(cube["comm_size"].max())) == (75, 8192)
    assert cube.attrs["library"] == "FJMPI"


def test_buffers_of_a_gpu_are_apart_from_those_of_the_host(consolidated: Path) -> None:
    both = open_results(consolidated, system="mare_nostrum")["allreduce"]
    # They ran with four processes per node where the others had one, which keeps them apart.
    assert both["ppn"].values.tolist() == [1, 4]
    assert both.attrs["device"] == "host; gpu"
    mine = [r for r in lines_of(consolidated) if r["gpu"] == "yes"]
    cube = open_results(consolidated, system="mare_nostrum", select="device=gpu")["allreduce"]
    assert set(cube["algorithm"].values) == {known_as(r["algorithm"]) for r in mine if r["collective"] == "ALLREDUCE"}
    assert int(cube["time"].count()) == int(both["time"].sel(ppn=4).count())


@pytest.mark.parametrize(
    ("column", "words", "facet", "chosen"),
    [
        ("MPI_Op", ("MPI_SUM", "MPI_MAX"), "operation", "operation=sum"),
        ("datatype", ("int32", "double"), "datatype", "datatype=int32"),
        ("gpu_awareness", ("no", "yes"), "device", "device=host"),
    ],
)
def test_rows_that_differ_in_what_the_summary_tells_are_not_averaged(
    folder: Path, tmp_path: Path, column: str, words: tuple[str, str], facet: str, chosen: str
) -> None:
    rows = rows_of(folder, "REDUCE")
    path = summary_of(tmp_path, *(changed(rows, by, **{column: word}) for word, by in zip(words, (1, 7), strict=True)))
    with pytest.raises(MissingHintError, match=f"{facet} of reduce .*up to 7 times apart in 5 cells"):
        open_results(path)
    time = open_results(path, select=chosen)["reduce"]["time"].values
    assert sorted(time[time > 0]) == pytest.approx(sorted(float(r["median"]) * 1e-9 for r in rows))


def test_what_reductions_differ_in_chooses_among_them_alone(folder: Path, tmp_path: Path) -> None:
    reductions, broadcasts = (rows_of(folder, name) for name in ("REDUCE", "BCAST"))
    sums, others = (changed(reductions, by, MPI_Op=name) for by, name in ((1, "MPI_SUM"), (7, "MPI_MAX")))
    typed = changed(broadcasts, datatype="float", MPI_Op="")
    path = summary_of(tmp_path, sums, others, typed)
    for chosen in ("operation=max", "operation=sum,datatype=int32"):
        assert list(open_results(path, select=chosen).children) == ["reduce", "bcast"]
    with pytest.raises(MissingHintError, match="operation of reduce"):
        open_results(path)
    asked = open_results(path, collectives=["bcast"])
    assert list(asked.children) == ["bcast"]
    assert "left out: operation of reduce is 'sum'" in asked.attrs["notes"]


def test_a_collective_that_has_none_of_what_is_chosen_is_said_to_be_left_out(folder: Path, tmp_path: Path) -> None:
    reductions, broadcasts = (rows_of(folder, name) for name in ("REDUCE", "BCAST"))
    path = summary_of(tmp_path, changed(reductions, gpu_awareness="yes"), changed(broadcasts, gpu_awareness="no"))
    chosen = open_results(path, select="device=host")
    assert list(chosen.children) == ["bcast"]
    assert json.loads(chosen.attrs["notes"]) == ["left out: reduce has no results of device=host (device: 'gpu')"]


def test_a_block_that_does_not_divide_is_rounded_half_up_to_at_least_one_byte(folder: Path, tmp_path: Path) -> None:
    text = (folder / "mare_nostrum_aggregated_results_summary.csv").read_text().split("\n")
    row = text[1].split(",")
    made = []
    for total, nodes in ((250, 60), (270, 60), (4, 60), (0, 60)):
        row[2], row[10], row[12] = str(total), str(nodes), "1"
        made.append(",".join(row))
    reading = read_text(FORMAT, tmp_path, "\n".join([text[0], *made]))
    assert list(reading.rows["message_size"]) == [4, 5, 1, 0]
    assert list(reading.rows["repetitions"]) == [1] * 4
    assert any("half up" in note for note in reading.source.notes)


def test_samples_lose_their_warm_up_as_in_picos_own_summary(folder: Path) -> None:
    path = folder / "512_binomial_ompi_int32.csv"
    reading = read(FORMAT, path, collective="bcast")
    assert (reading.source.rows, reading.source.skipped) == (16000, 4000)
    ((reason, count),) = reading.source.reasons.items()
    assert (reason[:13], count) == ("warm-up: firs", 4000)
    # The summary of the same campaign says 22256.5 ns; with the warm-up it would be 22362.0.
    assert reading.rows["time"].median() == pytest.approx(22256.5e-9)
    assert reading.rows["repetition"].iloc[0] == 4000
    (row,) = [
        r
        for r in lines_of(folder / "mare_nostrum_aggregated_results_summary.csv")
        if (r["algo_name"], r["array_dim"], r["collective_type"]) == ("binomial_ompi", "512", "BCAST")
    ]
    assert float(row["median"]) == 22256.5


def test_libbine_samples_have_no_warm_up_but_a_last_line(folder: Path) -> None:
    reading = read(FORMAT, folder / "32768_BINE-BINOMIAL_TREE-UTOFU-0-1_int32.csv", collective="bcast", comm_size=8)
    assert (reading.source.rows, reading.source.skipped) == (100, 1)
    assert (reading.source.skips[0].line, reading.source.skips[0].text) == (102, "Average runtime: 0.000082")
    assert reading.rows["time"].iloc[0] == pytest.approx(83770e-9)
    assert set(reading.rows["message_size"]) == {131072}


def test_samples_need_hints_for_what_their_name_does_not_say(folder: Path) -> None:
    path = folder / "262144_scatter_allgather_over_int32.csv"
    with pytest.raises(MissingHintError, match=r"collective.*comm_size"):
        open_results(path)
    assert open_results(path, collective="bcast", comm_size=64)["bcast"]["message_size"].item() == 1 << 20
    assert open_results(path, collective="gather", comm_size=64)["gather"]["message_size"].item() == 1 << 14


def test_ranks_beside_the_maximum_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "16_ring_ompi_int32.csv"
    path.write_text("\ufeffhighest,rank0,rank1\n" + "30,10,30\n" * 10 + "40,40\n")
    assert FORMAT.recognises(path.read_bytes(), path)
    reading = read(FORMAT, path, collective="bcast")
    assert (reading.source.rows, reading.source.skipped) == (8, 3)
    assert list(reading.rows["time"]) == pytest.approx([30e-9] * 8)


def test_lists_without_times_are_refused_saying_what_they_are(folder: Path, shared: Path) -> None:
    metadata = shared / "data" / "pico" / "raw" / "fugaku_metadata.csv"
    allocation = folder / "leonardo_alloc.csv"
    for path, what in ((metadata, "list of tests"), (allocation, "list of the nodes")):
        assert FORMAT.recognises(path.read_bytes()[:65536], path)
        assert what in read(FORMAT, path).error


@pytest.mark.slow
def test_damaged_summaries_and_samples_end_in_rows_or_a_load_error(folder: Path, tmp_path: Path) -> None:
    summary = b"\n".join((folder / "fugaku_aggregated_results_summary.csv").read_bytes().split(b"\n")[:60])
    libbine = (folder / "32768_BINE-BINOMIAL_TREE-UTOFU-0-1_int32.csv").read_bytes()
    for data, reading in damaged_readings(FORMAT, [summary, libbine], tmp_path, 8, collective="bcast"):
        if not reading.error:
            lines = [s.strip() for s in data.decode("utf-8", "replace").split("\n")]
            header = lines[0] if lines[0].startswith("collective_type") else "highest"
            present = sum(bool(s) and not s.startswith("#") and s != header for s in lines)
            assert reading.source.rows + reading.source.skipped == present, data
            assert (reading.rows["time"] > 0).all()
