"""What differs between files is kept apart, chosen or joined, and said."""

import json
import os
import re
from pathlib import Path

import pytest

from loaders import LoadError, MissingHintError, open_results, scan
from loaders.facets import values
from tests.files import run_file

HOST = "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   9.50\n16   10.0\n"
CUDA = HOST.replace("OSU MPI", "OSU MPI-CUDA").replace("9.50", "56.28").replace("10.0", "57.0")
TABLE = "collective,algorithm,comm_size,message_size,time_us\n"
WAY = {"algorithm": "default", "comm_size": 4}


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    """Broadcasts from memory of the host and of a graphics card, one file each."""
    (tmp_path / "osu_host.txt").write_text(HOST)
    (tmp_path / "osu_cuda.txt").write_text(CUDA)
    return tmp_path


def first(folder: Path, name: str = "bcast", **hints: object) -> float:
    return float(open_results(folder, **hints)[name]["time"].values.ravel()[0]) * 1e6


def test_host_and_graphics_card_are_chosen_or_joined_but_never_averaged_unasked(devices: Path) -> None:
    words = r"device of bcast is .*host.* up to 5\.9.* apart.*--select device="
    with pytest.raises(MissingHintError, match=words) as error:
        open_results(devices, **WAY)
    assert error.value.examples == {"select": "device=CUDA"}
    assert first(devices, **WAY, select="device=host") == pytest.approx(9.5)
    assert first(devices, **WAY, select={"device": "CUDA"}) == pytest.approx(56.28)
    joined = open_results(devices, **WAY, join="device")
    assert float(joined["bcast"]["time"].values.ravel()[0]) * 1e6 == pytest.approx(32.89)
    assert joined["bcast"].attrs["device"] == "CUDA; host"
    assert "differ by up to 5.92 times" in joined["bcast"].attrs["apart"]
    assert joined["bcast"].attrs["apart"] in json.loads(joined.attrs["notes"])


def test_a_file_that_leaves_its_network_open_is_named_beside_others_that_tell_it(tmp_path: Path) -> None:
    (tmp_path / "told.csv").write_text(f"{TABLE[:-1]},network\nbcast,ring,4,8,9.5,ib\n")
    (tmp_path / "open.csv").write_text(f"{TABLE}bcast,chain,4,8,7.5\n")
    (note,) = json.loads(open_results(tmp_path).attrs["notes"])[-1:]
    assert note == "bcast: no network is told by open.csv, which counts as 'ib' like the others"


@pytest.mark.parametrize(
    ("facet", "first_value", "second_value"),
    [("device", "host", "gpu"), ("operation", "sum", "prod"), ("datatype", "MPI_INT", "MPI_FLOAT")],
)
def test_devices_and_reductions_at_processes_per_node_of_their_own_are_said_and_kept_by_them(
    tmp_path: Path, facet: str, first_value: str, second_value: str
) -> None:
    rows = "".join(f"reduce,ring,4,8,9.5,{ppn},{first_value}\n" for ppn in (1, 2))
    path, column = tmp_path / "both.csv", {"datatype": "element_type"}.get(facet, facet)
    path.write_text(f"{TABLE[:-1]},ppn,{column}\n{rows}reduce,ring,16,8,7.5,4,{second_value}\n")
    results = open_results(path)
    said = f"reduce: {facet} is {first_value} at 1, 2 processes per node and {second_value} at 4"
    assert json.loads(results.attrs["notes"]) == [said]
    values = {"1": first_value, "2": first_value, "4": second_value}
    assert list(json.loads(results["reduce"].attrs["by_ppn"]).values()) == [values]
    assert "by_ppn" not in open_results(path, select=f"{facet}={first_value}")["reduce"].attrs


def test_a_file_of_two_systems_is_not_to_be_loaded_apart_from_itself(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text(f"{TABLE[:-1]},system\nbcast,ring,4,8,9.5,frodo\nbcast,ring,4,8,7.5,grig\n")
    with pytest.raises(MissingHintError, match=r"--select system=frodo .*, or join them") as error:
        open_results(path)
    assert "apart" not in str(error.value).partition("--select")[2]


def test_many_values_of_files_are_counted(tmp_path: Path) -> None:
    for name in "abcdef":
        (tmp_path / f"{name}.csv").write_text(f"{TABLE[:-1]},campaign\nbcast,ring,4,8,9.5,{name}\n")
    assert open_results(tmp_path)["bcast"].attrs["campaign"] == "a; b; c; d and 2 more"


def test_facets_are_listed_with_their_values(devices: Path) -> None:
    assert values(scan(devices, **WAY)) == {"device": ["CUDA", "host"]}


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("device=rocm", "there are no such results; device: 'CUDA', 'host'"),
        ("machine=x", "there is no facet 'machine'; possible are system, network"),
        ("device", "write FACET=VALUE"),
        ("network=ib", "network: none is told"),
        ("campaign=may", "campaign: 'osu_cuda.txt', 'osu_host.txt'"),
    ],
)
def test_what_cannot_be_selected_is_said_with_what_can(devices: Path, select: str, words: str) -> None:
    with pytest.raises(LoadError, match=words):
        open_results(devices, **WAY, select=select)


def test_two_versions_are_kept_apart_where_they_measured_other_sizes_too(tmp_path: Path) -> None:
    for version, size in (("4.1", 8), ("5.0", 16)):
        (tmp_path / f"v{version}.csv").write_text(TABLE + f"bcast,binomial,{size},8,1.5\n")
    pattern = "v{library_version}.csv"
    with pytest.raises(MissingHintError, match=r"version of bcast is '4\.1' \(1 file\) and '5\.0' \(1 file\); choose"):
        open_results(tmp_path, pattern=pattern)
    chosen = open_results(tmp_path, pattern=pattern, select="version=5.0")["bcast"]
    assert chosen["comm_size"].values.tolist() == [16]
    assert open_results(tmp_path, pattern=pattern, select="library_version=5.0")["bcast"].identical(chosen)
    assert chosen.attrs["library_version"] == "5.0"


def test_what_the_rows_of_one_file_tell_is_kept_apart_too(tmp_path: Path) -> None:
    head = "collective,algorithm,mpi_lib,mpi_version,nodes,ppn,message_size,time_us\n"
    rows = "bcast,6,Open MPI,4.1.4,2,2,8,1.0\nbcast,6,Open MPI,5.0.3,4,2,8,9.0\n"
    (tmp_path / "both.csv").write_text(head + rows)
    (report,) = scan(tmp_path)
    assert values([report]) == {"library": ["Open MPI"], "version": ["4.1.4", "5.0.3"]}
    with pytest.raises(MissingHintError, match=r"version of bcast is '4\.1\.4' \(1 file\) and '5\.0\.3' \(1 file\)"):
        open_results(tmp_path)
    newer = open_results(tmp_path, select="version=5.0.3")["bcast"]
    assert (newer["comm_size"].values.tolist(), newer["method"].values.tolist()) == ([8], ["binomial"])
    assert (newer.attrs["library_version"], newer.attrs["selected"]) == ("5.0.3", "version=5.0.3")
    assert open_results(tmp_path, library_version="5.0.3")["bcast"]["time"].item() == pytest.approx(9e-6)
    assert open_results(tmp_path, join="version")["bcast"].attrs["joined"] == "version"


def test_a_column_of_nodes_tells_the_processes_per_node(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "collective,algorithm,nnodes,np,size,time_us\n" + "".join(f"bcast,ring,{n},8,8,{n}\n" for n in (1, 2, 3, 8))
    )
    results = open_results(tmp_path / "a.csv")
    assert dict(zip(*(results["bcast"][n].values.ravel().round(9).tolist() for n in ("ppn", "time")), strict=True)) == {
        1: 8e-6,
        4: 2e-6,
        8: 1e-6,
    }
    assert json.loads(results.attrs["sources"])[0]["skipped"] == 1


def test_rows_far_apart_that_nothing_tells_apart_are_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{TABLE}bcast,ring,4,8,10\nbcast,ring,4,8,90\nbcast,ring,4,16,7\n")
    apart = open_results(tmp_path)["bcast"].attrs["apart"]
    assert "differ by up to 9 times" in apart
    assert "files of their own" in apart


FOUR = "".join(f"bcast,ring,{ranks},{size},{ranks}.{size}\n" for ranks in (2, 4) for size in (8, 16))
FIVE = f"{FOUR}bcast,ring,8,8,8.5\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.csv": FOUR, "b.csv": FOUR}, "all times of {}/b.csv are those of {}/a.csv to the last digit"),
        ({"a.csv": FOUR, "all.csv": FIVE}, "all times of {}/a.csv are those of {}/all.csv to the last digit"),
        ({"a.csv": FIVE + FOUR}, "4 rows of a.csv repeat others to the last digit"),
    ],
)
def test_what_is_there_twice_is_no_second_measurement(files: dict[str, str], said: str, tmp_path: Path) -> None:
    for name, rows in files.items():
        (tmp_path / name).write_text(TABLE + rows)
    cube = open_results(tmp_path)["bcast"]
    assert said.format(tmp_path, tmp_path) in cube.attrs["apart"]
    assert "repetitions" not in cube or not (cube["repetitions"] > 1).any()
    assert "time_std" not in cube or cube["time_std"].isnull().all()


def test_times_that_are_the_same_by_chance_are_repetitions(tmp_path: Path) -> None:
    other = FOUR.replace("2.8\n", "2.9\n")
    (tmp_path / "a.csv").write_text(TABLE + FOUR)
    for rows in (other, FOUR[: FOUR.rindex("bcast")]):
        (tmp_path / "b.csv").write_text(TABLE + rows)
        cube = open_results(tmp_path)["bcast"]
        assert "to the last digit" not in cube.attrs.get("apart", "")
        assert (cube["repetitions"] == 2).sum() >= 3
    (tmp_path / "b.csv").write_text(TABLE + FIVE + FIVE.replace("8.5", "8.6"))
    assert "repeat others" not in open_results(tmp_path / "b.csv")["bcast"].attrs.get("apart", "")


def test_rows_that_differ_by_a_column_that_is_not_used_are_said_to(tmp_path: Path) -> None:
    head = TABLE.replace("\n", ",compiler\n")
    (tmp_path / "a.csv").write_text(f"{head}bcast,ring,4,8,10,gcc\nbcast,ring,4,8,90,icc\nbcast,ring,4,16,7,gcc\n")
    apart = open_results(tmp_path)["bcast"].attrs["apart"]
    assert "a.csv that measured the same differ by up to 9 times in 1 of 1 cells" in apart
    assert "--column system=compiler" in apart
    with pytest.raises(MissingHintError, match=r"system of bcast is 'gcc' .* and 'icc'"):
        open_results(tmp_path, columns={"compiler": "system"})


def test_times_without_a_unit_are_said_to_be_read_as_seconds(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("collective,algorithm,NP,Size,Avg_Latency\nbcast,ring,4,8,9.5\n")
    results = open_results(tmp_path)
    assert results["bcast"]["time"].item() == 9.5
    assert "--column time_us=Avg_Latency if they are microseconds" in results.attrs["notes"]
    assert "microseconds" not in open_results(tmp_path, columns={"Avg_Latency": "time_us"}).attrs["notes"]


@pytest.mark.parametrize(("times", "doubted"), [((1.0, 61.0, 70.0), True), ((59.0, 59.5, 70.0), False)])
def test_times_half_of_which_take_more_than_a_minute_are_doubted(
    tmp_path: Path, times: tuple[float, ...], *, doubted: bool
) -> None:
    rows = "".join(f"bcast,ring,4,{size},{time}\n" for size, time in enumerate(times))
    (tmp_path / "a.csv").write_text(TABLE.replace("time_us", "time") + rows)
    assert ("half of the times are above 61 s" in open_results(tmp_path).attrs["notes"]) == doubted


def test_reductions_by_an_operation_that_does_not_commute_are_not_averaged_with_sums(tmp_path: Path) -> None:
    for name, attrs, time in (("sum", {}, 1e-6), ("first", {"operation": "first"}, 9e-6)):
        point = {"collective": "reduce", "algorithm": "linear", "comm_size": 4, "message_size": 8, "samples": [time]}
        run_file(tmp_path / f"{name}.jsonl", point, system="x", **attrs)
    with pytest.raises(MissingHintError, match=r"operation of reduce is 'first' .* and 'sum' .*--select operation="):
        open_results(tmp_path)
    assert first(tmp_path, "reduce", select="operation=sum") == pytest.approx(1.0)


def test_of_many_values_the_first_four_are_named(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"d{number}.csv").write_text(TABLE + "bcast,binomial,4,8,1.5\n")
    with pytest.raises(MissingHintError, match=r"'3' \(1 file\) and 2 more"):
        open_results(tmp_path, pattern="d{device}.csv")


def test_a_file_that_could_not_be_read_has_no_facets() -> None:
    files = [{"path": "a", "attrs": {"device": "host"}}, {"path": "b", "attrs": {"device": "CUDA"}, "error": "damaged"}]
    assert values(files) == {"device": ["host"]}


def test_campaigns_that_differ_are_kept_apart_and_repeated_ones_are_pooled(tmp_path: Path) -> None:
    for campaign, time in (("spring", 1.0), ("autumn", 18.0), ("again", 1.1)):
        (tmp_path / campaign).mkdir()
        (tmp_path / campaign / "r.csv").write_text(TABLE + f"bcast,linear,4,8,{time}\nbcast,other {campaign},4,8,5\n")
    two = [tmp_path / "spring", tmp_path / "autumn"]
    with pytest.raises(MissingHintError, match=r"campaign of bcast .* up to 18 times apart in 1 cells"):
        open_results(two)
    alone = open_results(two, select="campaign=autumn")["bcast"]
    assert alone["method"].values.tolist() == ["linear", "other autumn"]
    assert alone["time"].isel(method=0).item() == pytest.approx(18e-6)
    with pytest.raises(MissingHintError, match="campaign of bcast"):
        open_results([tmp_path / "spring", os.path.relpath(tmp_path / "autumn")])
    pooled = open_results([tmp_path / "spring", tmp_path / "again"])["bcast"]
    assert pooled["time"].isel(method=0).item() == pytest.approx(1.05e-6)
    assert "apart" not in pooled.attrs


def test_many_copies_are_told_in_a_single_remark(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.csv").write_text(TABLE + "".join(f"bcast,ring,4,{size},1.5\n" for size in (1, 2, 4, 8)))
    said = open_results(tmp_path)["bcast"].attrs["apart"]
    assert said.count("counted once") == 1
    assert said.count("are those of") == 4
    assert " and 3 more to the last digit" in said


def test_what_differs_less_than_that_is_pooled_and_the_means_are_told(tmp_path: Path) -> None:
    for version, time in (("4.1", 1.0), ("5.0", 1.3)):
        (tmp_path / version).mkdir()
        (tmp_path / version / "r.csv").write_text(TABLE + f"bcast,linear,4,8,{time}\nbcast,binomial,4,8,5\n")
    pooled = open_results(tmp_path)["bcast"]
    assert pooled["time"].values.ravel() == pytest.approx([1.15e-6, 5e-6])
    assert pooled.attrs["apart"].startswith("bcast: files that differ in campaign (4.1 and 5.0) measured 2 cells each,")
    assert "up to 1.3 times apart" in pooled.attrs["apart"]
    assert "--select campaign=4.1" in pooled.attrs["apart"]
    joined = open_results(tmp_path, pattern="{library_version}/r.csv", join="version")["bcast"]
    assert "differ in version (4.1 and 5.0)" in joined.attrs["apart"]
    assert "apart" not in open_results(tmp_path, select="campaign=4.1")["bcast"].attrs


def test_a_column_of_operations_beside_collectives_tells_reductions_apart(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    rows = "reduce,ring,4,8,9.5,MPI_SUM\nreduce,ring,4,8,20,MPI_PROD\nbcast,ring,4,8,3,null\n"
    path.write_text(f"{TABLE[:-1]},operation\n{rows}")
    with pytest.raises(MissingHintError, match=r"operation of reduce is 'sum' .* and 'prod'"):
        open_results(path)
    assert first(path, "reduce", select="operation=prod") == pytest.approx(20)
    assert first(path, select="operation=prod") == pytest.approx(3)
    for name, word in (("MPI_SUM", "MPI_INT"), ("MPI_PROD", "MPI_FLOAT"), ("null", "MPI_CHAR")):
        rows = rows.replace(name, word)
    path.write_text(f"{TABLE[:-1]},element_type\n{rows}")
    assert first(path, "reduce", select="datatype=MPI_FLOAT") == pytest.approx(20)
    # The type of a broadcast's elements does not choose among its results where all have the same.
    assert first(path, select="datatype=MPI_FLOAT") == pytest.approx(3)
    path.write_text(TABLE.replace("collective", "operation") + "reduce,ring,4,8,9.5\n")
    assert first(path, "reduce") == pytest.approx(9.5)


@pytest.mark.parametrize(
    ("cells", "ratio", "spread", "asked"),
    [
        (2, 4.9, 0, False),
        (3, 1.6, 0, True),
        (3, 1.4, 0, False),
        (1, 5.1, 0, True),
        (20, 2, 2.6, False),
        (20, 2, 2.4, True),
    ],
)
def test_campaigns_are_repetitions_unless_more_than_a_tenth_or_some_by_five_times_is_apart(
    tmp_path: Path, cells: int, ratio: float, spread: float, *, asked: bool
) -> None:
    """Of 20 cells; a cell is apart from 1.5 times on, if that is more than four times the spread within a file."""
    for campaign, factor in (("spring", 1.0), ("autumn", ratio)):
        (tmp_path / campaign).mkdir()
        rows = (f"bcast,linear,4,{m},{10 * (factor if m < cells else 1)},{spread},9\n" for m in range(20))
        (tmp_path / campaign / "r.csv").write_text(f"{TABLE[:-1]},time_std,repetitions\n{''.join(rows)}")
    folders = [tmp_path / "spring", tmp_path / "autumn"]
    if asked:
        with pytest.raises(
            MissingHintError, match=f"campaign of bcast is 'spring' .* up to {ratio:g} times apart in 20 cells"
        ):
            open_results(folders)
    else:
        assert first(tmp_path, recursive=True) == pytest.approx(5 * (1 + ratio))


def test_files_of_one_folder_that_differ_far_are_not_averaged_unasked(tmp_path: Path) -> None:
    for node, time in (("skylake", 1.0), ("milan", 2.5)):
        (tmp_path / f"{node}.csv").write_text(TABLE + f"bcast,linear,4,8,{time}\n")
    with pytest.raises(MissingHintError, match=r"'milan.csv' \(1 file\) and 'skylake.csv' .* up to 2\.5 times apart"):
        open_results(tmp_path)
    assert first(tmp_path, select="campaign=milan.csv") == pytest.approx(2.5)
    chosen = open_results(tmp_path, select="campaign=milan.csv")["bcast"]
    assert (chosen.attrs["selected"], "joined" in chosen.attrs) == ("campaign=milan.csv", False)
    joined = open_results(tmp_path, join="campaign")["bcast"]
    assert "differ by up to 2.5 times" in joined.attrs["apart"]
    assert "milan.csv, skylake.csv" in joined.attrs["apart"]
    assert joined.attrs["joined"] == "campaign"
    apart = open_results(tmp_path, pattern="{placement}.csv", select="placement=milan")["bcast"]
    assert apart["time"].item() == pytest.approx(2.5e-6)


@pytest.mark.parametrize(("inner", "outer"), [("later", "spring"), ("spring", ".")])
def test_a_campaign_has_the_name_of_its_folder_unless_another_in_it_has(tmp_path: Path, inner: str, outer: str) -> None:
    (tmp_path / "spring" / inner).mkdir(parents=True)
    for folder, time in (("spring", 1.0), (f"spring/{inner}", 18.0)):
        (tmp_path / folder / "r.csv").write_text(TABLE + f"bcast,linear,4,8,{time}\n")
    with pytest.raises(MissingHintError, match=rf"campaign of bcast is '{re.escape(outer)}' .* and '{inner}'"):
        open_results(tmp_path / "spring", recursive=True)
    assert first(tmp_path / "spring", recursive=True, select=f"campaign={outer}") == pytest.approx(1.0)
    assert first(tmp_path / "spring", recursive=True, select=f"campaign={inner}") == pytest.approx(18.0)


def test_nodes_in_the_path_give_the_processes_per_node(tmp_path: Path) -> None:
    (tmp_path / "n2.csv").write_text(TABLE + "bcast,linear,8,8,1\nbcast,linear,9,8,1\nbcast,ring,8,8,1\n")
    results = open_results(tmp_path / "n2.csv", pattern="n{nodes}.csv")
    assert results["bcast"].attrs["ppn"] == 4
    assert results["bcast"]["method"].values.tolist() == ["linear", "ring"]
    assert json.loads(results.attrs["sources"])[0]["skipped"] == 1


def test_a_collective_that_nobody_knows_is_refused_with_near_names(tmp_path: Path) -> None:
    (tmp_path / "bcas_linear.csv").write_text("algorithm,comm_size,message_size,time_us\nlinear,4,8,1\n")
    with pytest.raises(LoadError, match=r"no collective is called 'bcas'.*did you mean bcast"):
        open_results(tmp_path, pattern="{collective}_{_}.csv")


def test_usual_names_of_columns_are_known_and_a_file_that_lacks_a_hint_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("collective,algorithm,NP,Size,Latency(us)\nbcast,linear,4,8,2.5\n")
    (tmp_path / "lacks.csv").write_text("collective,comm_size,message_size,time_us\nbcast,4,8,1\n")
    results = open_results(tmp_path)
    assert results["bcast"]["time"].item() == pytest.approx(2.5e-6)
    assert any("does not say algorithm" in (each["error"] or "") for each in json.loads(results.attrs["sources"]))


def test_ping_pongs_of_different_libraries_are_not_pooled(tmp_path: Path) -> None:
    title = "# OSU MPI Latency Test v7.4\n# Size       Latency(us)\n"
    for library, time in (("openmpi", 1.5), ("mpich", 1.6)):
        (tmp_path / f"{library}.txt").write_text(f"{title}8   {time}\n16   {time + 0.1}\n")
    with pytest.raises(MissingHintError, match=r"library of pt2pt is 'mpich' .* and 'openmpi'"):
        open_results(tmp_path, pattern="{library}.txt")
    chosen = open_results(tmp_path, pattern="{library}.txt", select="library=mpich")["pt2pt"]
    assert chosen["time"].values.ravel()[0] == pytest.approx(1.6e-6)


def test_ping_pongs_that_differ_are_left_out_beside_collectives_unless_one_is_chosen(tmp_path: Path) -> None:
    for number, time in enumerate((1.5, 4.5)):
        (tmp_path / f"pair{number}.txt").write_text(
            f"# OSU MPI Latency Test v7.4\n# Size       Latency(us)\n8   {time}\n"
        )
    with pytest.raises(MissingHintError, match=r"campaign of pt2pt .* up to 3 times apart"):
        open_results(tmp_path)
    (tmp_path / "host.txt").write_text(HOST)
    results = open_results(tmp_path, **WAY)
    assert list(results.children) == ["bcast"]
    assert any("left out" in note and "pair0.txt" in note for note in json.loads(results.attrs["notes"]))
    assert open_results(tmp_path, **WAY, join="campaign")["pt2pt"]["time"].item() == pytest.approx(3e-6)
