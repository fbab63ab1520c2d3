"""A file that costs more than its tree is never written in silence."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from loaders import RunWriter
from tests.cli.command import Answer, Run, assert_one_clear_line


def test_a_file_that_says_nothing_of_what_was_decided_is_not_written(colltune: Run, tmp_path: Path) -> None:
    path, file = tmp_path / "results.csv", tmp_path / "file"
    rows = "".join(f"bcast,ours,4,{size},1\nbcast,theirs,4,{size},2\n" for size in (8, 64))
    path.write_text(f"collective,algorithm,comm_size,message_size,time_us\n{rows}", encoding="utf-8")
    answer = colltune("export", path, "--tree", "exact", "--to", "openmpi", "-o", file)
    assert_one_clear_line(
        answer, "nothing of what was decided can be said here", "openmpi has no ours; decide without these (--only"
    )
    assert not file.exists()
    path.write_text(path.read_text(encoding="utf-8").replace("ours", "6"), encoding="utf-8")
    order = ("export", path, "--tree", "exact", "--to", "openmpi")
    assert "algorithms 6 are numbers; --numbers openmpi-5.0 names them" in colltune(*order).err


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Results of which Open MPI lacks the method that wins for large messages."""
    rows = ["collective,algorithm,segment_size,comm_size,message_size,time,library"]
    times = {"binomial": (1e-5, 4e-4), "bin_tree_of_ours": (2e-5, 1e-4)}
    for algorithm, of_size in times.items():
        for processes in (2, 4, 8):
            for size, time in zip((64, 65536), of_size, strict=True):
                rows.append(f"bcast,{algorithm},0,{processes},{size},{time:g},Open MPI")
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


Export = Callable[..., tuple[Answer, Path]]


@pytest.fixture
def export(colltune: Run, foreign: Path, tmp_path: Path) -> Export:
    """Export the exact tree of the foreign results; the answer, and the file."""
    file = tmp_path / "bcast.rules"

    def exported(*words: object, to: str = "openmpi") -> tuple[Answer, Path]:
        given = ("-c", "bcast", "--tree", "exact", "--to", to, "-o", file)
        return colltune("export", foreign, *given, *words), file

    return exported


@pytest.mark.parametrize("to", ["openmpi", "mpirun"])
def test_what_the_library_lacks_is_said_in_the_terminal_and_in_the_file_and_ends_with_1(
    export: Export, to: str
) -> None:
    answer, rules = export(to=to)
    assert answer.status == 1
    # Half of the cells take four times as long: 0 % as decided, 150 % on average as the file says it.
    assert "as decided 0 %, as the file says it 150.0 %" in answer.err
    assert "as decided 0 %, as the file says it 150.0 %" in " ".join(rules.read_text(encoding="utf-8").split("\n# "))
    assert "--allow-loss 150" in answer.err


def test_a_loss_that_is_allowed_is_said_and_accepted(export: Export) -> None:
    answer, _ = export("--allow-loss", "200")
    assert answer.status == 0
    assert "150.0 %" in answer.err


def test_what_is_not_written_since_it_is_unsafe_is_said_in_the_terminal(colltune: Run, tmp_path: Path) -> None:
    results, rules = tmp_path / "results.csv", tmp_path / "rules.conf"
    rows = [f"allgather,{name},4,{size},{time}" for name, time in (("sparbit", 1), ("ring", 2)) for size in (8, 64)]
    rows += ["allgather,bruck,4,8,0.5", "allgather,bruck,4,64,4"]
    results.write_text("\n".join(["collective,algorithm,comm_size,message_size,time_us", *rows, ""]))
    answer = colltune("export", results, "--tree", "exact", "--to", "openmpi", "-o", rules)
    assert answer.status == 1
    assert "note: allgather: Not written, since it is unsafe: 'sparbit', sparbit (7) of Open MPI" in answer.err
    head = " ".join(rules.read_text(encoding="utf-8").replace("#", " ").split())
    assert "as decided 0 %, as the file says it 50.00 %" in head
    assert "Penalty without what is unsafe: mean 50 %, max 100 %; of these rules: mean 50 %, max 100 %." in head
    assert "of the decision function" not in head


def test_what_can_be_said_costs_nothing(export: Export) -> None:
    assert export(to="c")[0].status == 0


def test_names_that_the_target_lacks_are_said_with_near_ones_which_can_be_given(export: Export) -> None:
    said = export()[0].err
    assert "openmpi has no 'bin_tree_of_ours'; if it is what openmpi calls" in said
    assert "--name bin_tree_of_ours=binary_tree" in said
    answer, rules = export("--name", "bin_tree_of_ours=binary_tree")
    assert answer.status == 0
    assert "binary_tree: bin_tree_of_ours" in rules.read_text(encoding="utf-8")
    wrong, _ = export("--name", "bin_tree=binary_tree")
    assert (wrong.status, "did you mean bin_tree_of_ours" in wrong.err) == (2, True)


def test_names_go_by_the_version_that_the_file_is_written_for(colltune: Run, tmp_path: Path) -> None:
    results = tmp_path / "results.csv"
    rows = [f"allgather,{name},4,8,{time},Open MPI,4.1.6" for name, time in (("sparbit", 1), ("ring", 2))]
    header = "collective,algorithm,comm_size,message_size,time_us,library,library_version"
    results.write_text("\n".join([header, *rows, ""]))
    order = ("export", results, "--tree", "exact", "--to", "openmpi", "-o", tmp_path / "rules.conf")
    assert "allgather: openmpi has nothing like sparbit" in colltune(*order).err
    assert "nothing like" not in colltune(*order, "--for", "5.0").err


def test_what_no_reader_reads_is_judged_as_it_was_handed_to_its_writer(
    colltune: Run, foreign: Path, tmp_path: Path
) -> None:
    rows = foreign.read_text(encoding="utf-8").replace("binomial", "ring").replace("bin_tree_of_ours", "binary")
    foreign.write_text(rows, encoding="utf-8")
    order = ("export", foreign, "--tree", "exact", "--to", "nccl", "-o", tmp_path / "nccl.conf")
    answer = colltune(*order)
    assert answer.status == 1
    head = " ".join((tmp_path / "nccl.conf").read_text(encoding="utf-8").split("\n# "))
    for text in (answer.err, head):
        assert "as decided 0 %, as the file says it 150.0 %" in text
    assert colltune(*order, "--allow-loss", "150").status == 0


def test_a_tree_grown_over_what_the_target_has_loses_nothing_of_itself(export: Export) -> None:
    answer, rules = export("--only", "target")
    assert answer.status == 0
    assert "methods left out: bin_tree_of_ours" in answer.err
    assert "binomial" in rules.read_text(encoding="utf-8")


def test_a_tree_over_what_the_target_has_needs_a_name_that_is_sure(export: Export) -> None:
    refused, _ = export("--only", "target", to="intel")
    assert_one_clear_line(refused, "intel has none of the methods of bcast under a name that is sure; --name THEIRS=")


@pytest.mark.parametrize("to", ["ucc", "openmpi", "openmpi-json"])
def test_nothing_is_written_where_all_is_left_to_the_library(colltune: Run, tmp_path: Path, to: str) -> None:
    path = tmp_path / "results.csv"
    head = "collective,algorithm,comm_size,message_size,time\n"
    path.write_text(f"{head}allreduce,default,4,64,1e-5\nallreduce,ring,4,64,2e-5\n", encoding="utf-8")
    answer = colltune("export", path, "--tree", "exact", "--to", to, "-o", tmp_path / "file")
    assert answer.status == 2
    assert "left to" in answer.err
    assert not (tmp_path / "file").exists()


def test_ucc_is_told_only_what_is_not_left_to_it(colltune: Run, tmp_path: Path) -> None:
    rows = "".join(
        f"{name},{algorithm},4,64,{time}\n"
        for name, own in (("allreduce", 1e-5), ("bcast", 3e-5))
        for algorithm, time in (("default", own), ("knomial", 2e-5))
    )
    path, file = tmp_path / "results.csv", tmp_path / "ucc.sh"
    path.write_text(f"collective,algorithm,comm_size,message_size,time\n{rows}", encoding="utf-8")
    assert colltune("export", path, "-c", "allreduce,bcast", "--tree", "exact", "--to", "ucc", "-o", file).status == 0
    assert 'UCC_TL_UCP_TUNE="bcast:0-inf:[1-inf]:@knomial"' in file.read_text(encoding="utf-8")
    assert colltune("lint", file).status == 0


def test_a_file_says_where_its_decision_holds_as_far_as_it_can(colltune: Run, tmp_path: Path) -> None:
    title = "# OSU MPI{} Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   {}\n16   60.0\n"
    (tmp_path / "host.txt").write_text(title.format("", 9.5), encoding="utf-8")
    (tmp_path / "cuda.txt").write_text(title.format("-CUDA", 56.28), encoding="utf-8")
    hints = ("--algorithm", "knomial", "--comm-size", "4", "--select", "device=CUDA", "--tree", "exact")
    ucc = colltune("export", tmp_path, *hints, "--to", "ucc")
    assert "bcast:0-inf:cuda:[1-inf]:@knomial" in ucc.out
    assert "cannot say so" not in ucc.err
    rules = colltune("export", tmp_path, *hints, "--to", "openmpi")
    words = "easured with buffers on the device CUDA. The file cannot say so"
    assert words in rules.err
    assert f"# M{words}" in rules.out
    assert "# Selected: device=CUDA." in rules.out
    source = colltune("export", tmp_path, *hints, "--to", "c")
    assert words in source.err
    assert f"* M{words}" in source.out
    assert "cannot say so" not in colltune("export", tmp_path, *hints, "--to", "json").err
    shown = colltune("map", tmp_path, *hints[:6])
    assert "(CUDA, device=CUDA)" in shown.out
    assert "--select device=CUDA" in shown.err


BOUNDS = "ecided for 2 processes per node (as asked) of 1, 2; measured on the system rome. The file cannot say so"
EVERY = ["openmpi", "openmpi-json", "openmpi-nodes", "ucc", "preload", "mpirun", "c", "c-table", "python"]


@pytest.mark.parametrize("target", EVERY)
def test_every_target_says_what_it_cannot_say_of_where_a_decision_holds(
    colltune: Run, tmp_path: Path, target: str
) -> None:
    rows = "".join(
        f"bcast,{algorithm},{system},{4 * ppn},{ppn},8,{time * ppn}\n"
        for algorithm, time in (("binomial", 1), ("knomial", 2))
        for system in ("rome", "milan")
        for ppn in (1, 2)
    )
    path = tmp_path / "results.csv"
    path.write_text(f"collective,algorithm,system,comm_size,ppn,message_size,time_us\n{rows}", encoding="utf-8")
    chosen = ("--select", "system=rome", "--ppn", "2", "--tree", "exact")
    answer = colltune("export", path, *chosen, "--to", target, "-o", tmp_path / "file")
    assert answer.status == 0
    for text in (answer.err, re.sub(r"[\n#*\s]+", " ", (tmp_path / "file").read_text(encoding="utf-8"))):
        assert BOUNDS in text


def test_a_name_that_the_target_lacks_too_is_refused_with_near_ones(export: Export) -> None:
    refused, _ = export("--name", "bin_tree_of_ours=binry_tree")
    assert_one_clear_line(refused, "for bcast openmpi has no 'binry_tree', but binary_tree, split_binary_tree")
    assert "binary_tree: --name bin_tree_of_ours=" in export()[0].err


def test_intel_takes_the_names_that_are_given_and_a_tree_over_these_alone(export: Export) -> None:
    refused, script = export("--name", "binomial=bin", to="intel")
    assert_one_clear_line(refused, "--name binomial=bin", "for bcast intel has no 'bin', but ring, binomial")
    answer, _ = export("--name", "binomial=binomial", "--only", "target", to="intel")
    assert answer.status == 0, answer.err
    # Binomial is the first algorithm in Intel's reference.
    assert script.read_text(encoding="utf-8").endswith('export I_MPI_ADJUST_BCAST="1"\n')
    both, _ = export("--name", "binomial=binomial", "--name", "bin_tree_of_ours=shumilin", to="intel")
    assert both.status == 0, both.err
    value = script.read_text(encoding="utf-8").split('"')[1]
    assert {rule.partition(":")[0] for rule in value.split(";")} == {"1", "7"}


def test_intel_s_settings_are_judged_and_translated_by_the_names_that_they_were_written_with(
    colltune: Run, export: Export, foreign: Path, tmp_path: Path
) -> None:
    answer, script = export("--name", "bin_tree_of_ours=shumilin", to="intel")
    assert "as the file says it 50.00 %" in answer.err
    judged = colltune("lint", script, "--over", foreign)
    assert "penalty as the library acts: mean 50 %, max 100 % (6 cells)" in judged.out
    rules = colltune("decide", foreign, "--tree", "rules", "--file", script, "--json").json
    assert rules["penalty"]["mean"] == pytest.approx(50)
    assert rules["methods"] == ["bin_tree_of_ours"]
    file = tmp_path / "bcast.conf"
    named = ("--name", "bin_tree_of_ours=binary_tree")
    assert colltune("translate", script, "--to", "openmpi", *named, "-o", file).status == 0
    assert "binary_tree" in file.read_text(encoding="utf-8")


def test_intel_s_settings_have_no_segments(export: Export, foreign: Path) -> None:
    # The segmented one is the fastest of large messages, but by itself the slowest.
    rows = foreign.read_text(encoding="utf-8").replace("bin_tree_of_ours,0", "binomial,1024")
    foreign.write_text(rows, encoding="utf-8")
    answer, script = export("--name", "binomial=binomial", to="intel")
    assert (
        "intel does not cut messages into segments in binomial 1KiB: they are replaced where they are chosen"
        in answer.err
    )
    assert "It has no 'binomial 1KiB'; written instead, what costs least there: binomial" in answer.err
    assert script.read_text(encoding="utf-8").endswith('export I_MPI_ADJUST_BCAST="1"\n')
    only, _ = export("--name", "binomial=binomial", "--only", "target", to="intel")
    assert only.status == 0, only.err
    assert "methods left out: binomial 1KiB" in only.err


def test_only_target_does_not_decide_for_methods_that_it_has_not_beside_better_ones(
    colltune: Run, tmp_path: Path
) -> None:
    # UCC's binomial is its k-nomial algorithm of radix 2, and a job has one radix.
    times = {"binomial": (1, 8, 6), "knomial": (2, 2, 7), "sag_knomial": (9, 9, 3)}
    rows = [f"bcast,{name},8,{8 << 4 * n},{time}" for name, each in times.items() for n, time in enumerate(each)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(["collective,algorithm,comm_size,message_size,time_us", *rows]), encoding="utf-8")
    words = ["export", path, "--tree", "exact", "--to", "ucc", "-o", tmp_path / "ucc.sh"]
    assert colltune(*words).status == 1
    answer = colltune(*words, "--only", "target")
    assert answer.status == 0
    assert "note: bcast: ucc has binomial, but not beside others that are better together" in answer.err
    assert "instead" not in answer.err


def test_what_one_collective_lacks_stays_with_another_that_has_it(colltune: Run, tmp_path: Path) -> None:
    rows = [
        f"{name},{algorithm},4,{size},{time}"
        for name, other in (("allgather", "bruck"), ("allreduce", "recursive_doubling"))
        for algorithm, time in (("ring", 1e-6), (other, 5e-6))
        for size in (64, 1024)
    ]
    results, file = tmp_path / "results.csv", tmp_path / "ucc.conf"
    results.write_text("\n".join(["collective,algorithm,comm_size,message_size,time_s", *rows, ""]))
    answer = colltune("export", results, "-c", "allgather,allreduce", "--to", "ucc", "--only", "target", "-o", file)
    assert "allreduce: ring is left out as if it had not been measured" in answer.err
    said = next(line for line in file.read_text().splitlines() if "allgather:" in line and line[0] != "#")
    assert set(re.findall(r"(allgather|allreduce):[^#]*@(\w+)", said)) == {
        ("allgather", "ring"),
        ("allreduce", "knomial"),
    }


def test_what_files_for_mpich_are_written_without_though_it_has_it_is_said_to_be_forced_otherwise(
    colltune: Run, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    with RunWriter(run, {"library": "MPICH", "library_version": "5.0.2"}) as writer:
        for collective, algorithm, segment, seconds in (
            *(("alltoall", "bruck", 0, 2e-6), ("alltoall", "pairwise_sendrecv_replace", 0, 1e-6)),
            *(("bcast", "pipelined_tree", 1024, 2e-6), ("bcast", "pipelined_tree", 8192, 1e-6)),
            *(("reduce_scatter", "recursive_doubling", 0, 1e-6), ("reduce_scatter", "recursive_halving", 0, 2e-6)),
        ):
            sizes = {"segment_size": segment, "comm_size": 4, "message_size": 65536, "samples": [seconds]}
            writer.append({"collective": collective, "algorithm": algorithm, **sizes})
    order = ("export", run, "--tree", "exact", "--to", "mpich")
    said = colltune(*order, "-c", "alltoall", "-o", tmp_path / "alltoall.json").err
    without = "alltoall: files for MPICH are written without pairwise_sendrecv_replace, which --to preload-mpich forces"
    assert without in said
    assert "nothing like" not in said
    assert colltune(*order, "-c", "reduce_scatter", "-o", tmp_path / "scattered.json").status == 0
    assert "MPIR_Reduce_scatter_intra_recursive_doubling" in (tmp_path / "scattered.json").read_text()
    forced = colltune("export", run, "-c", "alltoall", "--tree", "exact", "--to", "preload-mpich")
    assert '"pairwise_sendrecv_replace"' in forced.out
    # What it does cut into segments is written and read back with their size.
    pipelined = colltune(*order, "-c", "bcast", "-o", tmp_path / "bcast.json")
    assert "replaced" not in pipelined.err
    judged = colltune("lint", tmp_path / "bcast.json", "--over", run)
    assert "penalty as the library acts: mean 0 %" in judged.out
