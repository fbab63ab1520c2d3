"""MPICH's selection: the library's own complete file, with some collectives replaced."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.function.nodes import LEFT_ALONE
from dashboard.decisions.grown.default import is_default
from dashboard.export import TARGETS
from dashboard.export.form import Form
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.mpich_names import ALGORITHMS
from dashboard.export.target import ExportError
from dashboard.export.targets.mpich import base
from dashboard.export.targets.mpich.selection import to_mpich
from dashboard.export.writing import Order, write
from tests.conftest import need, ran
from tests.export.trees import random_decision, random_sizes

NAMES = {
    "bcast": ["binomial", "scatter_allgather", "scatter_allgather_ring"],
    "alltoall": ["bruck", "pairwise", "linear"],
    "reduce_scatter": ["recursive_halving", "pairwise"],
    "allreduce": ["recursive_doubling", "ring"],
    "allgather": ["bruck", "ring"],
}


@pytest.fixture(scope="module")
def generic(samples: Path) -> str:
    return (samples / "mpich_json" / "mpich-main__mpir_generic.json").read_text()


def decision_for(collective: str, seed: int) -> DecisionFunction:
    methods = [Method(name, name) for name in NAMES[collective]]
    drawn = random_decision("barrier", seed, depth=5)
    codes = [place % len(methods) for place in range(len(drawn.methods))]

    def moved(node: Leaf | Split) -> Leaf | Split:
        if isinstance(node, Leaf):
            return Leaf(codes[node.method])
        return Split(node.tests, tuple(moved(child) for child in node.children))

    return DecisionFunction(collective, methods, moved(drawn.root), provenance=drawn.provenance)


@pytest.mark.parametrize("collective", NAMES)
def test_written_files_are_complete_and_decide_the_same_on_100000_points(collective: str, generic: str) -> None:
    decision = decision_for(collective, seed=len(collective))
    read = read_text(to_mpich(decision, base=generic))
    assert [fault for fault in read.faults if fault.severity == "error"] == []
    assert len(read.decisions) == 44
    function = read.decisions[collective]
    comm, message = random_sizes(5, 100_000)
    names = [read_name(method.algorithm) for method in function.methods]
    wanted = [read_name(written(collective, method.algorithm)) for method in decision.methods]
    ours = [wanted[k] for k in decision.predict(comm, message)]
    assert [names[k] for k in function.predict(comm, message)] == ours


def written(collective: str, name: str) -> str:
    same = {"bruck": "brucks", "scatter_allgather_ring": "scatter_ring_allgather", "linear": "scattered"}
    return same.get(name, "scatter_recursive_doubling_allgather" if name == "scatter_allgather" else name)


def read_name(name: str) -> str:
    return name.removeprefix("intra_")


def test_only_the_chosen_collective_changes(generic: str) -> None:
    before = json.loads(generic)
    after = json.loads(to_mpich(decision_for("bcast", 1), base=generic))
    assert list(before) == list(after)
    assert [key for key in before if before[key] != after[key]] == ["collective=bcast"]
    assert after["collective=bcast"]["comm_type=inter"] == before["collective=bcast"]["comm_type=inter"]


def test_what_is_left_to_the_library_below_message_sizes_is_what_it_takes_by_itself(generic: str) -> None:
    # Below a message size MPICH takes 'comm_size<8' for 8 processes, too.
    decision = DecisionFunction(
        "bcast", [LEFT_ALONE, Method("binomial", "binomial")], Split((Test("message_size", 64),), (Leaf(1), Leaf(0)))
    )
    text = to_mpich(decision, base=generic)
    intra = json.loads(text)["collective=bcast"]["comm_type=intra"]
    own = json.loads(generic)["collective=bcast"]["comm_type=intra"]
    assert list(own) == ["comm_size<8", "comm_size=pow2", "comm_size=any"]
    left = intra["comm_size=any"]["avg_msg_size=any"]
    assert list(left) == ["comm_size<=7", "comm_size=pow2", "comm_size=any"]
    assert left["comm_size<=7"] == own["comm_size<8"]
    read = Form("mpich", base=generic).read(text).decisions["bcast"]
    assert [read.methods[place].label for place in read.predict([8, 8], [64, 65])] == ["binomial", LEFT_ALONE.label]
    before = "'comm_size<8' below a message size holds for 8 processes, too; write 'comm_size<=7'"
    assert not any(before in str(fault) for each in (text, generic) for fault in read_text(each).faults)
    assert any(before in str(fault) for fault in read_text(text.replace("comm_size<=7", "comm_size<8")).faults)


def test_operations_that_do_not_commute_keep_the_library_s_own_decision(generic: str) -> None:
    own = json.loads(generic)["collective=reduce"]["comm_type=intra"]
    decision = DecisionFunction("reduce", [Method("rabenseifner", "rabenseifner")], Leaf(0))
    intra = json.loads(to_mpich(decision, base=generic))["collective=reduce"]["comm_type=intra"]
    assert intra["is_commutative=no"] == intra["is_commutative=yes"]["is_op_built_in=no"] == own
    sized = intra["is_commutative=yes"]["is_op_built_in=yes"]["comm_size=any"]["avg_msg_size=any"]
    assert sized["count<pow2"] == own
    assert sized["count=any"] == {"algorithm=MPIR_Reduce_intra_reduce_scatter_gather": {}}


@pytest.mark.parametrize("collective", ["reduce_scatter", "reduce_scatter_block"])
def test_of_a_reduce_scatter_no_key_asks_whether_the_operation_is_built_in(collective: str, generic: str) -> None:
    # is_op_built_in of csel.c: an assertion fails for all but reduce and allreduce (4.1.3 to 5.0.2).
    own = json.loads(generic)[f"collective={collective}"]["comm_type=intra"]
    text = to_mpich(DecisionFunction(collective, [Method("pairwise", "pairwise")], Leaf(0)), base=generic)
    intra = json.loads(text)[f"collective={collective}"]["comm_type=intra"]
    leaf = {f"algorithm=MPIR_{collective.capitalize()}_intra_pairwise": {}}
    assert intra == {
        "is_commutative=yes": {"comm_size=any": {"total_msg_size=any": leaf}},
        "is_commutative=no": own,
    }
    assert not read_text(text).errors


def test_recursive_doubling_of_allgather_is_kept_to_powers_of_two(generic: str) -> None:
    decision = DecisionFunction("allgather", [Method("recursive_doubling", "recursive_doubling")], Leaf(0))
    read = read_text(to_mpich(decision, base=generic)).decisions["allgather"]
    chosen = [read.methods[k].algorithm for k in read.predict([4, 6], [8, 8])]
    assert chosen == ["recursive_doubling", "brucks"]


@pytest.mark.parametrize("collective", ["bcast", "barrier", "reduce", "allreduce"])
def test_what_is_wrong_on_communicators_of_a_single_node_is_kept_to_others(collective: str, generic: str) -> None:
    text = to_mpich(DecisionFunction(collective, [Method("smp", "smp")], Leaf(0)), base=generic)
    own = json.loads(generic.replace("comm_size<8", "comm_size<=7"))[f"collective={collective}"]["comm_type=intra"]
    intra = json.loads(text)[f"collective={collective}"]["comm_type=intra"]
    sized = intra.get("is_commutative=yes", {}).get("is_op_built_in=yes", intra)["comm_size=any"]
    kept = sized if collective == "barrier" else sized["avg_msg_size=any"]
    assert kept == {
        "comm_hierarchy=parent": {f"algorithm=MPIR_{collective.capitalize()}_intra_smp": {}},
        "comm_hierarchy=any": own,
    }
    assert not read_text(text).errors
    read = Form("mpich", base=generic).read(text).decisions[collective]
    assert {read.methods[place].algorithm for place in read.used} == {"smp"}


@pytest.mark.parametrize("collective", ["bcast", "reduce_scatter_block", "barrier"])
def test_nonblocking_algorithms_that_are_waited_for_are_written_and_read_back(collective: str, generic: str) -> None:
    text = to_mpich(DecisionFunction(collective, [Method("nb", "nb")], Leaf(0)), base=generic)
    assert f'"algorithm=MPIR_{collective.capitalize()}_allcomm_nb": {{}}' in text
    read = read_text(text)
    assert not read.errors
    assert "nb" in {method.algorithm for method in read.decisions[collective].methods}


@pytest.mark.parametrize(
    ("collective", "algorithm", "guarded"),
    [
        ("allreduce", "reduce_scatter_allgather", True),
        ("reduce", "reduce_scatter_gather", True),
        ("allreduce", "k_reduce_scatter_allgather", False),
    ],
)
def test_only_what_needs_an_element_for_each_process_is_kept_from_fewer(
    collective: str, algorithm: str, guarded: bool, generic: str
) -> None:
    text = to_mpich(DecisionFunction(collective, [Method(algorithm, algorithm)], Leaf(0)), base=generic)
    intra = json.loads(text)[f"collective={collective}"]["comm_type=intra"]
    sized = intra["is_commutative=yes"]["is_op_built_in=yes"]["comm_size=any"]["avg_msg_size=any"]
    assert ("count<pow2" in sized) == guarded
    assert not [fault for fault in read_text(text).faults if "fewer elements" in str(fault)]


@pytest.mark.parametrize(
    ("collective", "algorithm", "said"),
    [
        ("bcast", "tree", "tree_type=kary"),
        ("allreduce", "tree", "chunk_size=0"),
        ("allreduce", "recexch", "single_phase_recv=0"),
        ("allreduce", "recursive_multiplying", "k=4"),
        ("allreduce", "k_reduce_scatter_allgather", "single_phase_recv=0"),
        ("allgather", "k_brucks", "k=4"),
        ("allgather", "recexch_halving", "single_phase_recv=0"),
        ("alltoall", "k_brucks", "k=4"),
        ("barrier", "recexch", "single_phase_recv=0"),
    ],
)
def test_algorithms_with_a_radix_are_written_with_all_that_they_take(
    collective: str, algorithm: str, said: str, generic: str
) -> None:
    method = Method(f"{algorithm} radix=4", algorithm, 0, {"radix": 4})
    text = to_mpich(DecisionFunction(collective, [method], Leaf(0)), base=generic)
    at = text.index(f"MPIR_{collective.capitalize()}_intra_{algorithm}")
    leaf = text[at : at + 800]
    assert '"k=4": {}' in leaf
    assert f'"{said}": {{}}' in leaf
    assert [fault for fault in read_text(text).faults if fault.severity == "error"] == []


@pytest.mark.parametrize(
    ("collective", "algorithm"), [("bcast", "pipelined_tree"), ("allreduce", "tree")], ids=["bcast", "allreduce"]
)
def test_trees_that_cut_messages_are_written_and_read_back_with_their_segments(
    collective: str, algorithm: str, generic: str
) -> None:
    # csel_container.c of 4.1.3 to 5.0.2, each of which broadcasts rightly by it.
    methods = [Method(f"{algorithm} {size}", algorithm, size, {"radix": 3}) for size in (1024, 8192)]
    decision = DecisionFunction(collective, methods, Split((Test("message_size", 65536),), (Leaf(0), Leaf(1))))
    read = read_text(to_mpich(decision, base=generic))
    assert not read.errors
    taken = read.decisions[collective]
    cut = [taken.methods[place] for place in taken.predict([8, 8], [65536, 65537])]
    assert [(each.label, each.segment_size) for each in cut] == [
        (f"{algorithm} 1KiB k=3", 1024),
        (f"{algorithm} 8KiB k=3", 8192),
    ]
    assert {f"{each.parameters['chunk_size']}" for each in cut} == {"1024", "8192"}
    # A broadcast without segments is the tree.
    with pytest.raises(ExportError, match="MPICH has no 'pipelined'"):
        to_mpich(DecisionFunction("bcast", [Method("pipelined", "pipelined_tree")], Leaf(0)), base=generic)


def test_the_file_to_start_from_is_needed_and_must_be_complete(generic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever this machine has.
    monkeypatch.setattr(base, "installed", lambda: None)
    decision = decision_for("bcast", 1)
    with pytest.raises(ExportError, match="complete files only"):
        to_mpich(decision)
    part = json.dumps({"collective=bcast": json.loads(generic)["collective=bcast"]})
    with pytest.raises(ExportError, match="must be complete"):
        to_mpich(decision, base=part)
    with pytest.raises(ExportError, match="not MPICH's"):
        to_mpich(decision, base="1\n7\n0\n")


def test_a_collective_whose_selection_takes_no_sizes_is_refused(generic: str) -> None:
    with pytest.raises(ExportError, match="takes no sizes for scan; it does for allgather, allreduce, alltoall, "):
        to_mpich(DecisionFunction("scan", [Method("smp", "smp")], Leaf(0)), base=generic)


def test_lacking_methods_are_named(generic: str) -> None:
    methods = [Method("pipeline 8KiB", "pipeline", 8192), Method("binomial", "binomial")]
    decision = DecisionFunction("bcast", methods, Split((Test("message_size", 9),), (Leaf(1), Leaf(0))))
    with pytest.raises(ExportError, match="MPICH has no 'pipeline 8KiB'; it has binomial, nb, pipelined_tree, scatter"):
        to_mpich(decision, base=generic)


def test_read_back_over_the_library_s_own_file_it_is_left_alone_where_nothing_was_written(generic: str) -> None:
    methods = [LEFT_ALONE, Method("tree", "tree", 0, {"radix": 4})]
    decision = DecisionFunction("bcast", methods, Split((Test("message_size", 1024),), (Leaf(1), Leaf(0))))
    form = Form("mpich", base=generic)
    text = form.write([decision])
    read = form.read(text).decisions
    assert [name for name, each in read.items() if not is_default(each)] == ["bcast"]
    taken = [read["bcast"].methods[read["bcast"].predict_one(8, size)] for size in (64, 1024, 1025)]
    assert [method.algorithm for method in taken] == ["tree", "tree", "default"]
    assert taken[0].parameters["k"] == "4"
    # Written once more, it keeps all that the file says of the algorithm, without what is left alone.
    assert json.loads(form.write(list(read.values()))) == json.loads(text)
    alone = DecisionFunction("bcast", [LEFT_ALONE], Leaf(0))
    assert form.write([alone], note="a note that JSON cannot take") == generic


@pytest.mark.parametrize("name", ["mpir_generic", "ch4_generic", "ch4_posix_generic"])
def test_rules_that_stand_in_the_file_already_leave_all_of_it(samples: Path, name: str) -> None:
    own = (samples / "mpich_json" / f"mpich-main__{name}.json").read_text()
    rules = list(read_text(own).decisions.values())
    assert json.loads(TARGETS["mpich"].write(rules[:1], None, base=own)) == json.loads(own)
    # Also what takes no sizes, and calls that are not plain, such as those of a hierarchy of nodes.
    assert json.loads(to_mpich(rules, base=own)) == json.loads(own)
    safe = [each for each in rules if each.collective != "reduce_scatter"]
    assert not any(part.notes for part in write(Order("mpich", tuple(safe), {}, base=own)).parts)


def test_compositions_stand_in_the_file_of_the_device_alone(generic: str, samples: Path) -> None:
    own = (samples / "mpich_json" / "mpich-main__ch4_generic.json").read_text()
    bcast = read_text(own).decisions["bcast"]
    with pytest.raises(ExportError, match="bcast: the file to start from has no compositions"):
        to_mpich(bcast, base=generic)
    with pytest.raises(ExportError, match="has no algorithms"):
        to_mpich(decision_for("bcast", 1), base=own)
    changed = bcast.changed(root=Split((Test("comm_size", 4),), (Leaf(0), Leaf(0))))
    read = read_text(to_mpich(changed, base=own))
    assert '"algorithm=' not in to_mpich(changed, base=own)
    assert (read.errors, read.decisions["bcast"].methods[0].label) == (0, bcast.methods[0].label)


@pytest.fixture
def run_python(mpiexec: str) -> Callable[[str, str, Path], str]:
    """Run lines of Python with MPI on three ranks of MPICH under the selection of a text; what they print."""
    beside = Path(mpiexec).parent / "python"
    python = str(beside) if beside.exists() else sys.executable
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    if "HYDRA" not in version.stdout:
        pytest.skip(f"{mpiexec} is not MPICH's")
    probe = subprocess.run([python, "-c", "import mpi4py"], capture_output=True, check=False)
    need(not probe.returncode, f"no mpi4py for {python}")

    def run(lines: str, selection: str, folder: Path) -> str:
        path = folder / "selection.json"
        path.write_text(selection)
        job = [mpiexec, "-n", "3", python, "-c", f"from mpi4py import MPI; c = MPI.COMM_WORLD; {lines}; print('done')"]
        env = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path), "MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
        # Lines of ranks that end at once may run into each other.
        return "".join(ran(job, timeout=120, env={**os.environ, **env}).stdout.split())

    return run


def test_the_installed_mpich_takes_the_file(
    generic: str, tmp_path: Path, run_python: Callable[[str, str, Path], str]
) -> None:
    text = to_mpich([decision_for(name, 3) for name in NAMES], base=generic)
    calls = "[c.Bcast(bytearray(n)) or c.Allgather(bytearray(n), bytearray(3 * n)) for n in (1, 9999)]"
    calls += "; [c.Alltoall(bytearray(3 * n), bytearray(3 * n)) for n in (1, 9999)]"
    assert run_python(calls, text, tmp_path) == "done" * 3


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        (collective, algorithm)
        for collective in ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block")
        for algorithm in ALGORITHMS[collective]
    ],
)
def test_the_installed_mpich_reduces_rightly_by_the_file(
    collective: str, algorithm: str, generic: str, tmp_path: Path, run_python: Callable[[str, str, Path], str]
) -> None:
    text = to_mpich(DecisionFunction(collective, [Method(algorithm, algorithm)], Leaf(0)), base=generic)
    call = f"c.{collective.capitalize()}(bytearray([1]) * 3, b, op=MPI.BOR)"
    length = 3 if collective in ("reduce", "allreduce") else 1
    check = f"assert c.rank and {collective == 'reduce'} or b == bytearray([1]) * {length}"
    assert run_python(f"b = bytearray({length}); {call}; {check}", text, tmp_path) == "done" * 3
