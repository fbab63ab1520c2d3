"""A tuning across nodes: HAN and other components are methods, and its rules stand beside those of tuned."""

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.export import form
from dashboard.export.targets.mpich import base
from dashboard.tuning import again, answer, beside, look, tune
from tests.tuning.machine import (
    INSTALLATION,
    MPICH,
    SEVERAL_NODES,
    Machine,
    across_nodes,
    better,
    rules_at,
    summary,
    work_in,
)

_SLOWER = 2.0


def seconds(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
    """HAN is the library's own decision, as it is across nodes; basic is the best of long broadcasts.

    In between HAN's other algorithm is better than the one that it takes.
    """
    if algorithm == "simple":
        factor = 0.5 if 512 < message_size <= 65536 else 3.0
        return factor * better(collective, "default", comm_size, message_size)
    if algorithm == "basic":
        factor = 0.3 if collective == "bcast" and message_size > 65536 else 20.0
        return factor * better(collective, "default", comm_size, message_size)
    if algorithm == "with rules" and collective == "bcast":
        return _SLOWER * better(collective, "default", comm_size, message_size)
    return better(collective, "default" if algorithm in ("han", "with rules") else algorithm, comm_size, message_size)


@pytest.mark.slow
def test_both_files_are_written_proven_compared_and_switched_on(tmp_path: Path, machine: Machine) -> None:
    machine.times = seconds
    # Long enough to compare at all sizes.
    work = across_nodes(tmp_path / "t", seconds=240.0)
    result = answer(work.folder, tune(work))
    plan = Campaign(tmp_path / "t" / "measure").plan()
    assert {"tuned", "basic", "adapt"} <= {method.algorithm for method in plan.methods["bcast"]}
    # Neither what it does by itself, which is measured as the default, nor segments, of which its rules cannot speak.
    assert [method.label for method in plan.methods["bcast"] if method.algorithm == "han"] == ["han variant=simple"]
    assert result["outcome"] == "proven"
    assert {(rule["collective"], rule["method"]) for rule in result["compared"] if rule["kept"]} >= {("bcast", "basic")}
    bundle = tmp_path / "t" / "bundle"
    rules = rules_at(bundle / "rules.conf", bundle / "rules-han.conf")
    assert not rules.errors
    for name, large, small in (("bcast", "basic", "han"), ("allreduce", "ring", "recursive_doubling")):
        decision = rules.decisions[name]
        chosen = [decision.methods[decision.predict_one(6, size)].algorithm for size in (262144, 64, 1 << 30)]
        # What lies beyond is HAN's, as without rules.
        assert chosen == [large, small, "han"]
    bcast = rules.decisions["bcast"]
    assert bcast.methods[bcast.predict_one(6, 4096)].label == "han variant=simple"
    assert "han @simple" in (bundle / "rules-han.conf").read_text()
    script = (bundle / "colltune.sh").read_text()
    assert 'OMPI_MCA_coll_han_dynamic_rules_filename="$colltune_here/rules-han.conf"' in script
    # Raised priority would take from HAN what the rules do not name; adapt is not named.
    assert "priority" not in script
    assert not any(tune(across_nodes(tmp_path / "t"))[name] for name in ("measure", "export", "compare", "bundle"))
    (row, *_) = beside(work.folder, work.folder)
    assert row["own"] < 0.5 < row["default"]


@pytest.mark.slow
def test_where_han_is_slower_beside_the_rules_they_are_not_kept(tmp_path: Path, machine: Machine) -> None:
    machine.times, machine.harms = seconds, True
    work = across_nodes(tmp_path)
    result = answer(work.folder, tune(work))
    assert result["gain"].keys() == {"allreduce"}
    # A start command says nothing of how many they are; its hosts need not be those of an allocation.
    assert (summary(tmp_path)["nodes"], summary(tmp_path)["harmed"]) == (2, ["bcast"])
    assert "bcast: slower where HAN decides" in (tmp_path / "bundle" / "README.md").read_text()
    # Rules that were cut name HAN's file as it lies beside them.
    head = (tmp_path / "bundle" / "rules.conf").read_text()
    assert "--mca coll_han_dynamic_rules_filename rules-han.conf\n" in head


@pytest.mark.slow
def test_with_one_process_on_each_node_han_makes_no_calls_that_the_rules_could_slow_down(
    tmp_path: Path, machine: Machine
) -> None:
    machine.times, machine.harms = seconds, True
    work = across_nodes(tmp_path)
    result = answer(work.folder, tune(replace(work, launcher=replace(SEVERAL_NODES, ppn=1))))
    assert result["gain"].keys() == {"bcast", "allreduce"}
    assert summary(tmp_path)["harmed"] == []


def test_nodes_that_nothing_tells_of_are_not_said_as_a_fact(tmp_path: Path) -> None:
    for ppn, words in ((None, "6 ranks on what is taken to be 2 nodes: the start command"), (3, "6 ranks on 2 nodes;")):
        work = replace(across_nodes(tmp_path), launcher=replace(SEVERAL_NODES, ppn=ppn))
        assert words in look.look(work).noted["said"]


def test_that_something_of_the_site_s_is_asked_before_all_rules_is_said_at_once(tmp_path: Path) -> None:
    work = across_nodes(tmp_path)
    library = work.installation.library
    assert isinstance(library, OpenMpi)
    variables = {**library.variables, "coll_hcoll_enable": 1, "coll_hcoll_priority": 90}
    installation = replace(work.installation, library=replace(library, variables=variables))
    for each, there in ((work, False), (replace(work, installation=installation), True)):
        assert ("this Open MPI asks hcoll first" in look.look(each).noted["said"]) == there


def test_a_budget_that_does_not_last_for_all_methods_at_one_size_is_said_to_be_too_short(tmp_path: Path) -> None:
    work = across_nodes(tmp_path)
    for seconds, short in ((0.01, True), (60.0, False)):
        said = look.look(replace(work, asked=replace(work.asked, seconds=seconds))).noted["said"]
        assert ("too short: all methods at one size" in said) == short


def test_rules_of_han_are_only_where_it_answers_and_components_only_where_they_last(tmp_path: Path) -> None:
    asked, library = across_nodes(tmp_path).asked, across_nodes(tmp_path).installation.library
    assert asked.across(library, nodes=2)
    assert not asked.across(library, nodes=1)
    assert not replace(asked, collectives=("alltoall",)).across(library, nodes=2)
    assert asked.components(library, nodes=3) == ("basic", "tuned", "adapt", "han @simple", "han @reproducible")
    # One process on each of six nodes: HAN hands all calls on as soon as it has answered one by itself.
    assert asked.components(library, nodes=6) == ()


@pytest.mark.soak
def test_a_month_later_both_files_are_checked_and_what_does_not_hold_is_measured_anew(
    tmp_path: Path, machine: Machine
) -> None:
    machine.times = seconds
    tune(across_nodes(tmp_path, seconds=90.0))

    def later(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        worse = 10.0 if (collective, algorithm) == ("bcast", "basic") else 1.0
        return worse * seconds(collective, algorithm, comm_size, message_size)

    machine.times = later
    checked = again(across_nodes(tmp_path, seconds=90.0))
    assert checked["anew"] == ["bcast"]
    assert checked["checked"]["allreduce"]["holds"]
    rules = rules_at(tmp_path / "bundle" / "rules.conf", tmp_path / "bundle" / "rules-han.conf")
    assert "basic" not in {method.algorithm for method in rules.decisions["bcast"].methods}
    assert "ring" in {method.algorithm for method in rules.decisions["allreduce"].methods}


@pytest.mark.slow
@pytest.mark.parametrize(("ppn", "harmed"), [(3, ["bcast"]), (1, [])])
def test_what_mpich_decides_outside_of_rules_must_not_be_slower_beside_them(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, ppn: int, harmed: list[str]
) -> None:
    def times(collective: str, algorithm: str, comm_size: int, message_size: int) -> float:
        """Long broadcasts are faster by rules; those that are left to it are slower, without its device."""
        factor = 0.3 if algorithm == "scatter_ring_allgather" and message_size > 65536 else 1.0
        if algorithm == "with rules":
            factor, algorithm = _SLOWER if collective == "bcast" else 1.0, "default"
        return factor * better(collective, "default" if factor < 1 else algorithm, comm_size, message_size)

    machine.times, machine.harms = times, True
    machine.header = {"library": MPICH.name, "library_version": MPICH.version}
    monkeypatch.setattr(form, "installed", lambda: (tmp_path, base.known(MPICH.version)))
    several = replace(SEVERAL_NODES, ppn=ppn)
    work = replace(work_in(tmp_path), installation=replace(INSTALLATION, library=MPICH), launcher=several)
    tune(work)
    assert summary(tmp_path)["harmed"] == harmed
    said = "bcast: slower where no rule decides, since its device" in (tmp_path / "bundle" / "README.md").read_text()
    assert said == bool(harmed)
    # Of all that stands in an MPICH's file only what rules decide is checked.
    assert set(again(work)["checked"]) == {"bcast", "allreduce"} - {*harmed}
