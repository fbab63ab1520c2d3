"""What the commands in a job's log say of the tables below them."""

from pathlib import Path
from types import ModuleType

import pytest

from loaders import imb, mpi4py_run, open_results, osu
from loaders.start_line import Start, Starts, start_of
from tests.loaders.printed import read_text

TUNED = "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm"
TABLE = "# OSU MPI Allreduce Latency Test v5.7.1\n# Size       Avg Latency(us)\n4   74.85\n8   69.71\n"


@pytest.mark.parametrize(
    ("line", "processes"),
    [
        ("mpirun -n 144 -N 36 -hostfile hosts.txt -x UCX_NET_DEVICES=mlx5_2:1 /opt/omb/osu_allreduce -x 10 -i 10", 144),
        ("+ mpirun --hostfile ./hostfile.txt --allow-run-as-root -N 2 -np 2 -map-by ppr:1:node osu_allreduce", 2),
        ("$ ssh k0001 mpirun -np 4 -pernode osu/bin/osu_allreduce", 4),
        ("srun --ntasks=512 ./osu_allreduce -f", 512),
        (
            "time flux run -N4 --tasks-per-node=96 -o cpu-affinity=per-task singularity exec x.sif /opt/osu_allreduce",
            384,
        ),
        ("# srun -n64 osu_allreduce", 64),
        ("mpiexec -n 8 python demo/osu_allreduce.py", 8),
        ("mpirun_rsh -np 4 n1 n1 n2 n2 ./osu_allreduce", 4),
        ("mpirun -n 16 -N 8 -x PATH osu_xccl_allreduce -x 10 -i 10 -d cuda D D", 16),
        ("mpirun -n 4 ./osu_nccl_allreduce", 4),
        ("orterun -np 4 osu_allreduce", 4),
        ("prterun --np 4 osu_allreduce", 4),
        ("aprun -n 4 -N 2 ./osu_allreduce", 4),
        ("srun --nodes=2 --tasks-per-node=3 osu_allreduce", 6),
        ("mpiexec --n 4 osu_allreduce", 4),
        ("mpirun osu_allreduce", None),
        ("mpirun -np $n osu_allreduce", None),
        ("mpirun -np 4 nice -n 10 osu_allreduce", None),
        ("mpirun -N 36 osu_allreduce -n 7", None),
    ],
)
def test_processes_of_a_launch_are_those_of_its_options(line: str, processes: int | None) -> None:
    assert start_of(line) == Start("allreduce", processes, start_of(line).settings)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    [
        "osu_allreduce -m 4:64",
        "mpirun -np 2 hostname  # before osu_allreduce",
        "mpirun -np 2 osu_bcast : -np 2 osu_allreduce",
        "see osu_allreduce, which 'mpirun starts",
        "cp osu_allreduce mpirun",
    ],
)
def test_other_lines_start_nothing(line: str) -> None:
    assert start_of(line) is None


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (f"{TUNED} 4", {"algorithm": "4"}),
        (f"{TUNED} 5 --mca coll_tuned_allreduce_algorithm_segmentsize 8192", {"algorithm": "5", "segment_size": 8192}),
        (f"{TUNED} 0", {"algorithm": "default"}),
        (
            "-x OMPI_MCA_coll_tuned_use_dynamic_rules=1 -x OMPI_MCA_coll_tuned_allreduce_algorithm=ring",
            {"algorithm": "ring"},
        ),
        ("-mca coll_tuned_use_dynamic_rules true -mca coll_tuned_allreduce_algorithm 4", {"algorithm": "4"}),
        ("-gmca coll_tuned_use_dynamic_rules yes --gmca coll_tuned_allreduce_algorithm 4", {"algorithm": "4"}),
        ("--mca coll_tuned_use_dynamic_rules on --mca coll_tuned_allreduce_algorithm 4", {"algorithm": "4"}),
        ("--mca coll_tuned_use_dynamic_rules enabled --mca coll_tuned_allreduce_algorithm 4", {"algorithm": "4"}),
        ("--mca coll_tuned_use_dynamic_rules 0 --mca coll_tuned_allreduce_algorithm 4", {}),
        # Without dynamic rules Open MPI does not read it; and it is another collective's.
        ("--mca coll_tuned_allreduce_algorithm 4", {}),
        ("--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm 4", {}),
        # Whether MPI asks UCC is not known.
        ("-x UCC_TL_UCP_TUNE=allreduce:@ring", {}),
        ("-genv I_MPI_ADJUST_ALLREDUCE 3", {"algorithm": "3"}),
        ("-genv I_MPI_ADJUST_ALLREDUCE=3", {"algorithm": "3"}),
        ("-genv I_MPI_ADJUST_ALLREDUCE 3:0-1024", {}),
        ("-genv MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recexch", {"algorithm": "recexch"}),
        ("--export=ALL,I_MPI_ADJUST_ALLREDUCE=2", {"algorithm": "2"}),
    ],
)
def test_the_algorithm_that_a_launch_forces_is_that_of_its_collective(
    words: str, columns: dict[str, str | int]
) -> None:
    start = start_of(f"mpirun {words} -np 4 osu_allreduce")
    assert start is not None
    assert start.method_of("allreduce") == columns


def test_variables_before_the_launcher_count_too() -> None:
    start = start_of("I_MPI_ADJUST_BCAST=7 mpiexec.hydra -n 4 IMB-MPI1 bcast")
    assert start is not None
    assert start.method_of("bcast") == {"algorithm": "7"}


def test_of_several_different_launches_above_a_table_none_is_taken() -> None:
    starts = Starts()
    for line in ("mpirun -np 2 osu_bcast", "mpirun -np 4 osu_bcast"):
        starts.look(line)
    assert starts.take("bcast") == Start()
    for _ in range(2):
        starts.look("mpirun -np 4 osu_bcast")
    assert starts.take("bcast").comm_size == 4
    # A launch is of one table: what comes without one is not known.
    assert starts.take("bcast") == Start()
    starts.look("mpirun -np 4 osu_bcast")
    assert starts.take("reduce") == Start()


def test_a_log_of_a_sweep_needs_no_hints(tmp_path: Path) -> None:
    launches = [(size, number) for size in (4, 8) for number in (3, 4)]
    log = tmp_path / "job.out"
    log.write_text("job 17\n" + "".join(f"+ mpirun {TUNED} {n} -np {p} osu_allreduce\n{TABLE}" for p, n in launches))
    cube = open_results([log], numbers="openmpi-5.0")["allreduce"]
    assert cube["time"].notnull().all()
    assert cube["comm_size"].values.tolist() == [4, 8]
    assert sorted(cube["algorithm"].values.tolist()) == ["recursive_doubling", "ring"]


def test_what_no_launch_says_is_hinted_beside_what_they_say(tmp_path: Path) -> None:
    log = tmp_path / "job.out"
    log.write_text(f"+ mpirun {TUNED} 4 -np 4 osu_allreduce\n{TABLE}\n{TABLE}")
    cube = open_results([log], numbers="openmpi-5.0", algorithm="default", comm_size=16)["allreduce"]
    measured = {
        (p, label)
        for p in (4, 16)
        for label in cube["method"].values
        if cube["time"].sel({"comm_size": p, "method": label}).notnull().all()
    }
    assert measured == {(4, "ring"), (16, "default")}


def test_imb_s_own_processes_stay_and_its_algorithm_is_the_launch_s(tmp_path: Path) -> None:
    text = (
        "$ mpirun -n 8 -genv I_MPI_ADJUST_BCAST 7 IMB-MPI1 -npmin 2 bcast\n"
        "#  Intel(R) MPI Benchmarks 2021.6, MPI-1 part\n"
        + "".join(
            f"#---------------\n# Benchmarking {name}\n# #processes = {size}\n#---------------\n"
            "   #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n   8   1000   4.50   18.59   11.69\n"
            for name, size in (("Bcast", 2), ("Bcast", 4), ("Reduce", 4))
        )
    )
    rows = read_text(imb.FORMAT, tmp_path, text).rows
    assert rows["comm_size"].tolist() == [2, 4, 4]
    assert rows["algorithm"].fillna("").tolist() == ["7", "7", ""]


def test_mpi4py_s_demos_are_started_likewise(tmp_path: Path) -> None:
    text = "+ mpiexec -n 6 python osu_bcast.py\n# MPI Broadcast Latency Test\n# Size [B]  Latency [us]\n8   4.50\n"
    reading = read_text(mpi4py_run.FORMAT, tmp_path, text)
    assert reading.rows["comm_size"].tolist() == [6]
    assert "comm_size of bcast: as the commands in the file say that started it" in reading.source.notes


def test_a_table_whose_title_is_garbled_takes_nothing_from_the_launch_before(tmp_path: Path) -> None:
    garbled = TABLE.replace("# OSU MPI Allreduce", "OSU Allred")
    rows = read_text(osu.FORMAT, tmp_path, f"+ mpirun -np 4 osu_allreduce\n{TABLE}{garbled}").rows
    assert rows["comm_size"].fillna(0).tolist() == [4, 4]


@pytest.mark.parametrize(
    "label", ["[1,0]<stdout>: ", "[1,0]<stdout>:", "[1,0][node7:192]<stdout>: ", "[0] ", "0: ", "  0: "]
)
@pytest.mark.parametrize("module", [osu, imb, mpi4py_run])
def test_labels_of_launchers_are_no_part_of_a_line(module: ModuleType, label: str, tmp_path: Path) -> None:
    tables = {
        osu: TABLE,
        imb: "# Intel(R) MPI Benchmarks 2021.6, MPI-1 part\n# Benchmarking Bcast\n# #processes = 2\n"
        "   #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n   8   1000   4.50   69.71   11.69\n",
        mpi4py_run: "# MPI Broadcast Latency Test\n# Size [B]  Latency [us]\n8   69.71\n",
    }
    log = "job 17\n" + "".join(f"{label}{line}\n" for line in tables[module].splitlines())
    assert module.FORMAT.recognises(log.encode(), tmp_path / "any.out")
    assert read_text(module.FORMAT, tmp_path, log).time(message_size=8) == 69.71
