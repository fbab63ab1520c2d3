"""How each library is told: by names and numbers that it prints itself."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries import mpich, named, openmpi
from dashboard.benchmarks.proof import safety, target
from dashboard.benchmarks.proof.prove import Wish, prove
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.target import AcrossNodes, OnMpich, OnOpenMpi, left_to_library
from dashboard.benchmarks.safety.order import Order
from dashboard.decisions import Method
from tests.bench.test_mpich import MPIVARS

ON_MPICH = OnMpich(mpich.parse(MPIVARS, "5.0.2"))


def test_mpich_is_told_by_the_order_in_which_it_lists_its_algorithms() -> None:
    named = {"k": "4", "library_name": "MPIR_Barrier_intra_k_dissemination"}
    call = ON_MPICH.forced("barrier", Method("k_dissemination k=4", "k_dissemination", 0, named))
    assert call is not None
    assert call.settings == {"MPIR_CVAR_BARRIER_INTRA_ALGORITHM": 3, "MPIR_CVAR_BARRIER_DISSEM_KVAL": 4}
    pipelined = {"tree_type": "kary", "chunk_size": "1024", "library_name": "MPIR_Bcast_intra_pipelined_tree"}
    call = ON_MPICH.forced("bcast", Method("pipelined_tree 1KiB", "pipelined_tree", 1024, pipelined))
    assert call is not None
    assert call.settings["MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE"] == 1024
    rules, _ = ON_MPICH.plain("barrier")
    assert rules.settings == {"MPIR_CVAR_BARRIER_INTRA_ALGORITHM": 0, "MPIR_CVAR_BARRIER_DISSEM_KVAL": 2}


def test_what_mpich_cannot_be_forced_to_is_said() -> None:
    assert ON_MPICH.forced("bcast", Method("ring", "ring", 0, {})) is None
    read = {"tree_type": "knomial_1", "library_name": "MPIR_Bcast_intra_tree"}
    assert ON_MPICH.forced("bcast", Method("tree tree_type=knomial_1", "tree", 0, read)) is None
    # A non-blocking call with a wait is no algorithm of its own.
    assert [call.name for call in ON_MPICH.others("bcast")] == ["binomial", "scatter_ring_allgather", "tree"]


def test_what_would_end_or_hang_the_job_is_not_forced_to_prove_rules_either() -> None:
    allreduce = replace(ON_MPICH.library, algorithms={"allreduce": {1: "smp", 2: "recursive_doubling"}})
    forced = [OnMpich(allreduce).forced("allreduce", Method(name, name)) for name in ("smp", "recursive_doubling")]
    assert [call and call.name for call in forced] == [None, "recursive_doubling"]


def test_what_is_called_default_is_left_to_the_library_only_without_a_number() -> None:
    assert left_to_library(Method("default", "default", 0, {"library_id": 0}))
    # Open MPI has an algorithm of this name for allgatherv.
    assert not left_to_library(Method("default", "default", 0, {"library_id": 1}))


@pytest.fixture(scope="module")
def open_mpi(samples: Path) -> OnOpenMpi:
    path = samples / "rules_ompi" / "local__ompi_info_coll_tuned_5.0.11.txt"
    return OnOpenMpi(openmpi.parse(path.read_text(encoding="utf-8")))


def test_rules_and_own_decision_differ_in_one_variable_only(open_mpi: OnOpenMpi) -> None:
    rules, own = open_mpi.plain("bcast")
    different = {name for name in rules.settings if rules.settings[name] != own.settings[name]}
    assert different == {"coll_tuned_use_dynamic_rules"}
    assert rules.settings["coll_tuned_bcast_algorithm"] == 0


def test_a_rule_s_chain_without_a_fan_out_is_not_the_forced_one_without(open_mpi: OnOpenMpi) -> None:
    chain = open_mpi.forced("bcast", Method("chain", "chain", 0, {"library_id": 2, "fan_out": 0}))
    (plain,) = [call for call in open_mpi.others("bcast") if call.name == "chain"]
    assert chain is not None
    assert chain.settings["coll_tuned_bcast_algorithm_chain_fanout"] == 0
    assert plain.settings["coll_tuned_bcast_algorithm_chain_fanout"] == 4
    binomial = open_mpi.forced("bcast", Method("binomial 1KiB", "binomial", 1024, {"library_id": 6}))
    assert binomial is not None
    assert binomial.settings["coll_tuned_bcast_algorithm_segmentsize"] == 1024
    assert open_mpi.forced("bcast", Method("unknown 99", "unknown 99", 0, {"library_id": 99})) is None


def test_each_method_that_rules_force_is_called_in_every_way(
    open_mpi: OnOpenMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[Order] = []
    libraries: list[object] = []
    monkeypatch.setattr(
        safety, "check", lambda there, order, **_: (orders.append(order), libraries.append(there.library))
    )
    numbers = {"default": 0, "binomial": 6, "pipeline": 3, "adapt": 99}
    methods = [Method(name, name, 0, {"library_id": number}) for name, number in numbers.items()]
    regions = [Region("bcast", {}, method, ()) for method in (*methods, methods[1])]
    here = Path("mpiexec"), Path("python"), LocalLauncher()
    safety.checked(open_mpi, *here, regions, 4, 1.0)
    safety.checked(open_mpi, *here, regions, 64, 1.0)
    across = AcrossNodes(open_mpi.library)
    safety.checked(across, *here, [Region("bcast", {}, Method("adapt", "adapt"), ())], 4, 1.0)
    assert [order.comm_sizes for order in orders] == [(2, 3, 4), (2, 3, 4, 5, 9), (2, 3, 4)]
    forced = [[(each.method.algorithm, each.component) for each in order.methods["bcast"]] for order in orders]
    assert forced == [[("binomial", ""), ("pipeline", "")]] * 2 + [[("adapt", "adapt")]]
    assert [each.settings["coll_tuned_bcast_algorithm"] for each in orders[0].methods["bcast"]] == [6, 3]
    assert [each.method.library_id for each in orders[0].methods["bcast"]] == [6, 3]
    safety.checked(ON_MPICH, *here, [Region("bcast", {}, Method("binomial", "binomial"), ())], 4, 1.0)
    assert [order.set_at_call for order in orders] == [False, False, False, True]
    assert libraries == [open_mpi.library] * 3 + [ON_MPICH.library]
    assert safety.checked(open_mpi, *here, regions[:1], 4, 1.0) is None


def test_open_mpi_4_1_is_counted_by_a_preloaded_function_and_forced_apart_from_the_rules() -> None:
    # Its tool interface lacks pml_monitoring_messages_count, and rules go before a forced algorithm (seen with 4.1.4).
    old, new = (target.open_mpi(named.open_mpi(version)) for version in ("4.1.4", "5.0.11"))
    assert (old.evidence, old.preloads, old.forced_beside_rules, old.own_beside_rules) == (
        "messages",
        True,
        False,
        False,
    )
    assert (new.evidence, new.preloads, new.forced_beside_rules) == ("messages", False, True)
    said = old.environment(Path("/rules"))
    assert said["OMPI_MCA_pml_monitoring_enable"] == "1"
    assert "in the place of" in old.how


def test_without_a_c_compiler_open_mpi_4_1_is_proven_by_bytes_alone_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(target.counting, "compiled", lambda _folder: None)
    old = target.open_mpi(named.open_mpi("4.1.4"))
    assert (old.evidence, old.counters, old.preloads) == ("sockets", (), False)
    said = old.environment(Path("/rules"))
    assert said["OMPI_MCA_btl"] == "self,tcp"
    assert "OMPI_MCA_pml_monitoring_enable" not in said
    assert old.how.startswith("by bytes alone")
    assert "are not told apart" in old.how


def test_an_open_mpi_4_1_that_counts_no_messages_is_proven_by_bytes_alone(gcc: str) -> None:
    counting = named.open_mpi("4.1.8")
    assert target.open_mpi(counting).preloads
    without = target.open_mpi(replace(counting, monitors=False))
    assert (without.evidence, without.counters, without.preloads) == ("sockets", (), False)
    assert "without the layer that counts messages" in without.how


def test_open_mpi_4_1_runs_what_a_file_asks_for(tmp_path: Path) -> None:
    mpiexec, python = (os.environ.get(f"COLLTUNE_OPENMPI4{name}", "") for name in ("", "_PYTHON"))
    if not (mpiexec and python):
        pytest.skip(
            "COLLTUNE_OPENMPI4=…/mpiexec and COLLTUNE_OPENMPI4_PYTHON=…/python name an Open MPI 4.1 with mpi4py"
        )
    rules = tmp_path / "rules.conf"
    rules.write_text("1\n7\n1\n2\n2\n0 6 0 0\n4096 3 0 1024\n")
    proof = prove(Wish(rules, Path(mpiexec), Path(python), ranks=4, seconds=100))
    assert proof.taken == "yes"
    assert [verdict.state for verdict in proof.verdicts][1] == "proven"
    assert proof.holds
    rules.write_text("1\n7\n1\n2\n1\n5 6 0 0\n")
    assert prove(Wish(rules, Path(mpiexec), Path(python), ranks=3, seconds=100)).taken == "no"
