"""Parameters of models: who is measured, what is written, and that models can be made of it."""

import platform
from pathlib import Path

import numpy as np
import pytest

from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.ranks import parameters, surroundings
from dashboard.models.pingpong import parameters_of_table, read_logp_table
from tests.cli.command import Run


def test_the_other_process_is_on_another_node_where_there_is_one() -> None:
    assert parameters.other_of(["a", "a", "a", "b", "b"]) == 3
    assert parameters.other_of(["a", "a"]) == 1


def test_placement_tells_the_ranks_of_each_node() -> None:
    assert surroundings.rank_nodes(["a", "a", "b", "a"]) == "a 0-1 3, b 2"


@pytest.mark.parametrize(
    ("processes", "crowded"),
    [
        # Bound to one core each, or free on both.
        ([("a", {0}), ("a", {1})], False),
        ([("a", {0, 1}), ("a", {0, 1})], False),
        ([("a", {0}), ("a", {0})], True),
        ([("a", {0, 1})] * 3, True),
        ([("a", {0}), ("b", {0})], False),
    ],
)
def test_processes_are_crowded_where_a_machine_has_fewer_cores_for_them(
    processes: list[tuple[str, set[int]]], *, crowded: bool
) -> None:
    assert surroundings.crowded(processes) is crowded


def figures(size: int) -> dict[str, float]:
    """A network of 50 µs and 10 ns a byte, with overheads of 5 and 6 µs."""
    trip, gap = 50e-6 + 1e-8 * size, 10e-6 + 1e-8 * size
    times = (trip, trip, trip, gap, gap, 5e-6, 6e-6, 1e-6 + 1e-10 * size, 1e-6 + 2e-10 * size)
    names = [name for name in parameters.COLUMNS if name.endswith("_us")]
    return dict(zip(names, times, strict=True))


def test_the_table_is_the_one_that_models_are_made_of(tmp_path: Path) -> None:
    sizes = [0, 64, 1024, 65536, 1 << 20]
    path = tmp_path / "network.csv"
    path.write_text(parameters.table({size: figures(size) for size in sizes}, 100, ["what\nit is", ""]))
    table = read_logp_table(path)
    assert table["bytes"].tolist() == sizes
    np.testing.assert_allclose(table["gap"], [figures(size)["gap_us"] for size in sizes], rtol=1e-4)
    made = parameters_of_table(table).parameters
    assert made["hockney"].alpha == pytest.approx(50e-6)
    assert made["hockney"].gamma == pytest.approx(1e-10)
    assert made["hockney"].delta == pytest.approx(2e-10)


def test_of_several_rounds_the_quietest_counts_and_of_the_gap_their_middle() -> None:
    rounds = [{"os_us": time, "gap_us": gap} for time, gap in ((3.0, 2.0), (1.0, 9.0), (2.0, 1.0))]
    assert parameters.quietest(rounds) == {"os_us": 1.0, "gap_us": 2.0}


def test_a_local_operation_takes_the_time_of_one_call() -> None:
    data = np.zeros(1 << 20)
    once = parameters.local(lambda: data.fill(1.0))
    assert 1e-5 < once < 0.1


def test_the_command_measures_between_two_ranks(installation: Installation, tmp_path: Path, done: Run) -> None:
    path = tmp_path / "here.csv"
    sizes = ["--sizes", "0,8,4KiB,64KiB", "--repetitions", "20", "--rounds", "2", "--ranks", "3"]
    answer = done("bench", "parameters", "-o", path, *sizes, "--json").json
    assert answer["sizes"] == [0, 8, 4096, 65536]
    table = read_logp_table(path)
    assert (table["halfrtt_min"] <= table["halfrtt_median"]).all()
    assert all((values > 0).all() for name, values in table.items() if name != "bytes")
    # 64 KiB are reduced and copied for longer than the calls themselves take.
    assert table["reduce_local"][-1] > 2 * table["reduce_local"][0]
    said = path.read_text(encoding="utf-8")
    assert "Open MPI" in said
    assert "OMPI_MCA_btl=self," in said


@pytest.mark.usefixtures("installation")
def test_where_no_models_follow_from_a_table_none_are_offered(tmp_path: Path, done: Run) -> None:
    how = ["--repetitions", "1", "--rounds", "1"]
    out, err = done("bench", "parameters", "-o", tmp_path / "here.csv", "--sizes", "8", *how).both
    assert out.endswith(f"wrote {tmp_path / 'here.csv'}\n")
    assert "no models follow from this table" in err
    assert "next:" not in err
    assert "the median of 1 round;" in (tmp_path / "here.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["-o", "here.txt"], "must end in .csv"),
        (["-o", "/nowhere/here.csv"], "in a folder that is there"),
        (["-o", "/proc/here.csv"], "/proc/here.csv: cannot be written: "),
        (["-o", "here.csv", "--ranks", "1"], "needs 2 at least"),
        (["-o", "here.csv", "--time-limit", "0"], "seconds above 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    options: list[str], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fault in refused("bench", "parameters", *options).err


@pytest.mark.parametrize(
    ("nodes", "given", "name"),
    [
        (1, None, "shared memory"),
        (1, "self,sm", "shared memory"),
        (1, "^openib", "shared memory"),
        (1, "self,tcp", "tcp within a node"),
        (1, "self", "self within a node"),
        (4, "self,tcp", "4 nodes"),
    ],
)
def test_the_network_is_what_messages_go_over(
    nodes: int, given: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Under Slurm both are set, to nothing where the cluster has no name.
    monkeypatch.setenv("COLLTUNE_NETWORK", "")
    monkeypatch.setenv("COLLTUNE_SYSTEM", "")
    monkeypatch.delenv("OMPI_MCA_btl", raising=False)
    if given is not None:
        monkeypatch.setenv("OMPI_MCA_btl", given)
    assert surroundings.network(nodes) == name
    assert platform.node() in surroundings.system()
