"""A written file with all that belongs to it: read back, judged, packed."""

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.decisions.judged.penalty import PenaltySummary
from dashboard.decisions.measured.map import methods_of
from dashboard.decisions.measured.problem import Problem
from dashboard.export import TARGETS, ExportError
from dashboard.export.bundle import bundle, provenance_of, report
from dashboard.export.provenance import describe
from dashboard.export.substitute import apart, has_substitutes, with_substitutes
from dashboard.export.usage import used_in_text
from dashboard.export.writing import Order, Part, write
from tests.cubes import cube_of, named
from tests.export.trees import halves

SIZES = [1, 64, 4096, 65536]
#: Linear is best for one byte, chain for the largest message, binomial between; methods along `tests.cubes.ALGORITHMS`.
NAMES = ("linear", "binomial", "binary", "pipeline")


def cube() -> Any:
    """Four broadcast methods on 2 and 8 processes, each best at one message size."""
    time = np.full((4, 2, 4), 10.0)
    for method in range(4):
        time[method, :, method] = 1.0
    time[1, :, 2:] = 2.0
    return cube_of(time, [2, 8], SIZES)


def decided() -> DecisionFunction:
    """The best method of each message size."""
    methods = [Method(name, name) for name in NAMES]
    node: Any = Leaf(3)
    for place in (2, 1, 0):
        node = Split((Test("message_size", SIZES[place]),), (Leaf(place), node))
    return DecisionFunction("bcast", methods, node, provenance={"comm_size": [2, 8], "message_size": [1, 65536]})


@pytest.mark.parametrize("target", ["openmpi", "openmpi-nodes", "openmpi-json", "json"])
def test_what_can_be_said_reads_back_as_it_was_decided(target: str) -> None:
    written = write(Order(target, (decided(),), {"bcast": cube()}))
    (part,) = written.parts
    assert (part.otherwise, part.cells) == (0, 8)
    assert part.before == part.after
    assert part.after is not None
    assert part.after.mean == 0.0
    assert not [fault for fault in written.faults if fault.severity == "error"]
    assert part.read is not None
    chosen = part.read.predict(np.array([[2], [8]]), np.array([SIZES]))
    assert [part.read.methods[place].label for place in chosen[0]] == list(NAMES)


def test_a_saved_tree_of_several_collectives_is_judged_for_each_of_them() -> None:
    for_all = decided().changed(collective="all", categories={"collective": ("bcast", "reduce")})
    parts = write(Order("json", (for_all,), {"bcast": cube(), "reduce": cube()})).parts
    assert [(part.source.collective, part.costs) for part in parts] == [
        (name, "mean penalty as decided 0 %, as the file says it 0 %") for name in ("bcast", "reduce")
    ]


def test_a_target_that_lacks_methods_gets_the_best_of_those_it_has() -> None:
    written = write(Order("ucc", (decided(),), {"bcast": cube()}))
    (part,) = written.parts
    # UCC has of these four binomial alone (as knomial of radix 2): slower than the best by 900 % at 1 B, by 100 % at 4
    # and 64 KiB.
    assert part.after is not None
    assert part.after.mean == pytest.approx((900 + 0 + 100 + 100) / 4)
    assert part.otherwise == 6
    assert [note.split(";")[0] for note in part.notes] == ["It has no 'linear', 'binary', 'pipeline'"]
    assert "@knomial" in written.text
    assert "It has no 'linear', 'binary', 'pipeline'" in " ".join(written.text.replace("#", "").split())


@pytest.mark.parametrize(("large", "expected"), [(1.5, "knomial"), (9.0, "binomial")])
def test_what_is_written_for_ucc_is_judged_as_what_was_chosen(large: float, expected: str) -> None:
    # Its knomial has one radix a file: of 4 by itself, of 2 for the binomial tree. The better one of both stays.
    names = ["linear", "binomial", "knomial"]
    measured = named(cube_of(np.array([[[1.0, 1.0]], [[2.0, 1.4]], [[1.2, large]]]), [4], [1, 1024]), names)
    by_size = Split((Test("message_size", 1),), (Leaf(0), Leaf(0)))
    decision = DecisionFunction("bcast", [Method("linear", "linear")], by_size)
    (part,) = write(Order("ucc", (decision,), {"bcast": measured})).parts
    assert part.notes == (f"It has no 'linear'; written instead, what costs least there: {expected}.",)
    assert part.read is not None
    assert {part.read.methods[place].label for place in part.read.used} == {expected}
    times = {"knomial": (1.2, large), "binomial": (2.0, 1.4)}[expected]
    assert part.after is not None
    assert part.after.mean == pytest.approx(100 * (sum(times) / 2 - 1))


def test_a_substitute_that_was_not_measured_costs_nothing_known() -> None:
    measured = named(cube_of(np.array([[[1.0, 1.0]]]), [4], [1, 1024]), ["linear"])
    decision = halves("bcast", ["linear", "binomial"], 64)
    said, notes = with_substitutes(TARGETS["ucc"], decision, measured)
    assert notes == [
        "It has no 'linear'; written instead, where nothing that it has was measured: the library's own decision."
    ]
    assert [said.methods[place].algorithm for place in said.predict(4, np.array([1, 1024]))] == ["default", "binomial"]
    assert not has_substitutes(TARGETS["ucc"], measured)
    assert has_substitutes(TARGETS["openmpi"], measured, {"version": "5.0"})


def test_what_a_target_has_is_no_substitute_where_it_runs_over_the_library() -> None:
    measured = named(cube_of(np.array([[[9.0]], [[1.0]], [[2.0]]]), [4], [64]), ["binomial", "ours", "sag_knomial"])
    algorithms, providers = ["binomial", "binomial", "sag_knomial"], ["library", "own", "library"]
    measured = measured.assign_coords(algorithm=("method", algorithms), provider=("method", providers))
    decision = DecisionFunction("bcast", [methods_of(measured)[1]], Leaf(0))
    said, notes = with_substitutes(TARGETS["ucc"], decision, measured)
    assert notes == ["It has no 'ours'; written instead, what costs least there: sag_knomial."]
    assert [said.methods[place].label for place in said.used] == ["sag_knomial"]


def test_substitutes_follow_the_workload() -> None:
    times = np.array([[[1.0, 1.0]], [[2.0, 9.0]], [[9.0, 2.0]]])
    measured = named(cube_of(times, [4], [1, 1024]), ["linear", "binomial", "sag_knomial"])
    decision = DecisionFunction("bcast", [Method("linear", "linear")], Leaf(0))
    for weights, expected in (([[9.0, 1.0]], "binomial"), ([[1.0, 9.0]], "sag_knomial")):
        said, _ = with_substitutes(TARGETS["ucc"], decision, measured, np.array(weights))
        assert said.methods[int(said.predict(4, 64))].label == expected


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json"])
def test_the_only_rule_follows_the_workload(target: str) -> None:
    for size, label in zip(SIZES, NAMES, strict=True):
        weights = np.where(np.array(SIZES) == size, 1000.0, 1.0) * np.ones((2, 1))
        order = Order(target, (decided(),), {"bcast": cube()}, {"bcast": weights}, most_rules=1)
        (part,) = write(order).parts
        assert part.read is not None
        assert [method.label for method in part.read.methods] == [label]
        assert "The best 1 rule over the measured sizes by the workload's calls is written." in part.notes
        assert part.after is not None
        penalties = Problem.of(cube(), weights=weights).summary(part.read)
        assert part.after == penalties


@pytest.mark.parametrize("target", ["preload", "preload-mpich"])
def test_a_collective_that_is_left_alone_stands_beside_the_others(target: str) -> None:
    library = "MPICH" if target == "preload-mpich" else "Open MPI"
    methods = [Method("default", "default"), Method("binomial", "binomial")]
    left, decided = (
        DecisionFunction(name, methods, Leaf(place), provenance={"library": library})
        for name, place in (("allreduce", 0), ("bcast", 1))
    )
    written = write(Order(target, (left, decided), {}))
    assert not written.left_out
    assert "int MPI_Bcast(" in written.text
    with pytest.raises(ExportError, match="nothing to preload"):
        write(Order(target, (left,), {}))


def test_a_collective_that_cannot_be_said_is_left_out_with_the_reason() -> None:
    other = DecisionFunction("neighbor_alltoall", [Method("linear", "linear")], Leaf(0))
    written = write(Order("openmpi", (decided(), other), {"bcast": cube()}))
    assert written.collectives == ["bcast"]
    assert "takes no rules for neighbor_alltoall" in written.left_out["neighbor_alltoall"]
    with pytest.raises(ExportError, match="takes no rules for neighbor_alltoall"):
        write(Order("openmpi", (other,), {}))


def test_mpich_without_its_own_file_is_one_clear_error() -> None:
    with pytest.raises(ExportError, match="MPICH reads complete files only"):
        write(Order("mpich", (decided(),), {"bcast": cube()}))


def test_mpich_compares_what_it_compares_itself(samples: Path) -> None:
    # Open MPI compares the total of an alltoall, MPICH the block: the file says all of it, whatever the communicator.
    base = (samples / "mpich_json" / "mpich-main__mpir_generic.json").read_text()
    decision = halves("alltoall", ["brucks", "pairwise"], 64).changed(provenance={"comm_size": [2, 8]})
    (part,) = write(Order("mpich", (decision,), {}, base=base)).parts
    assert part.notes == ()
    assert part.read is not None
    chosen = [part.read.methods[place].algorithm for place in part.read.predict(1000, np.array([64, 65]))]
    assert chosen == ["brucks", "pairwise"]


def test_mpich_keeps_the_rest_of_its_file(samples: Path) -> None:
    base = (samples / "mpich_json" / "mpich-main__mpir_generic.json").read_text()
    written = write(Order("mpich", (decided(),), {"bcast": cube()}, base=base))
    (part,) = written.parts
    assert not written.faults
    assert part.read is not None
    assert {part.read.methods[place].label for place in part.read.predict(8, np.array(SIZES))} == {"binomial"}
    before, after = json.loads(base), json.loads(written.text)
    assert {name for name in before if before[name] != after[name]} == {"collective=bcast"}


def test_the_bundle_holds_everything_and_is_the_same_each_time() -> None:
    order = Order("openmpi", (decided(),), {"bcast": cube()}, provenance={"date": "2026-11-21"})
    written = write(order)
    packed = bundle(written)
    assert packed == bundle(write(order))
    archive = zipfile.ZipFile(io.BytesIO(packed))
    assert archive.namelist() == [
        "colltune_bcast.conf",
        "HOW_TO_USE.txt",
        "REPORT.txt",
        "provenance.json",
        "decisions.json",
    ]
    assert archive.read("colltune_bcast.conf").decode() == written.text
    assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    (saved,) = json.loads(archive.read("decisions.json"))
    assert DecisionFunction.from_dict(saved) == decided()
    facts = json.loads(archive.read("provenance.json"))
    assert facts["collectives"]["bcast"]["penalty_of_the_file"]["mean"] == 0.0
    assert facts["version"] == "5.0"
    assert "coll_tuned_dynamic_rules_filename" in archive.read("HOW_TO_USE.txt").decode()


def test_the_report_tells_what_was_lost() -> None:
    text = report(write(Order("ucc", (decided(),), {"bcast": cube()})))
    assert "Penalty as decided: mean 0 %" in text
    assert "Penalty as the file says it: mean 275 %" in text
    assert "It has no 'linear'" in text
    assert "decides 2 of 8 measured cells as decided" in text
    assert text.startswith("colltune_bcast.sh: UCC tune string\n")
    assert "Check of the written file:\n  nothing found\n" in text
    faulty = report(write(Order("openmpi", (halves("allreduce", ["ring", "linear"], 64),), {})))
    assert faulty.startswith("colltune_allreduce.conf: Open MPI rules (version 1, for 4.x and 5.x), for Open MPI 5.0\n")
    assert "nothing found" not in faulty


def test_heads_tell_files_and_measured_sizes_of_their_collective() -> None:
    facts = {"comm_size": [2, 8], "message_size": [8, 4096], "cells": 6}
    decision = DecisionFunction("bcast", [Method("linear", "linear")], Leaf(0), provenance=facts)
    lines = describe(decision, {"sources": {"bcast": ["a", "b"], "reduce": 5}})
    assert "Data: 2 sources, 6 measured cells, 2 to 8 processes, 8 to 4096 bytes." in lines
    of_one = describe(
        DecisionFunction(
            "bcast", [Method("linear", "linear")], Leaf(0), provenance=facts | {"comm_size": [4, 4], "cells": 1}
        ),
        {},
    )
    assert "Data: 1 measured cell, 4 processes, 8 to 4096 bytes." in of_one


@pytest.mark.parametrize("target", list(TARGETS))
def test_every_target_says_how_it_is_used(target: str) -> None:
    steps = TARGETS[target].steps(f"colltune_bcast{TARGETS[target].extension}", ["bcast"])
    assert len(steps) > 1
    assert all(step.words for step in steps)
    assert any(step.command for step in steps)
    assert "colltune_bcast" in used_in_text(steps)
    assert ("libcolltune_bcast.so" in used_in_text(steps)) == target.startswith("preload")


def test_what_is_left_to_an_mpich_costs_what_it_was_measured_to_take_by_itself() -> None:
    # Its own file takes binomial on 2 and 8 processes up to 12 KiB, which was measured, too, and is slower.
    time = np.full((3, 2, 2), 10.0)
    time[0, :, 0] = time[1, :, 1] = 1.0
    measured = named(cube_of(time, [2, 8], [64, 4096]), ["tree", "default", "binomial"])
    methods = [Method("tree", "tree"), Method("default", "default"), Method("binomial", "binomial")]
    facts = {"library": "MPICH", "library_version": "5.0.2"}
    kinds = [Leaf(place) for place in range(3)]
    tree = Split((Test("message_size", 64),), (kinds[0], kinds[1]))
    decisions = [DecisionFunction("bcast", methods, tree, provenance=facts)]
    left = DecisionFunction("reduce", methods[1:], kinds[0], provenance=facts)
    alone = named(cube_of(time[1:], [2, 8], [64, 4096]), ["default", "binomial"])
    written = write(Order("mpich", (*decisions, left), {"bcast": measured, "reduce": alone}))
    assert [part.loss for part in written.parts] == [0, 0]
    assert written.collectives == ["bcast", "reduce"]
    # Only for that the device is switched off.
    assert written.ruled == ["bcast"]


def test_provenance_is_strict_json() -> None:
    empty = cube_of(np.full((4, 1, 1), np.nan), [2], [1])
    empty["time"][0, 0, 0] = 1.0
    written = write(Order("openmpi", (decided(),), {"bcast": empty}))
    json.loads(json.dumps(provenance_of(written), allow_nan=False))


def test_the_device_of_mpich_goes_on_to_decide_what_the_file_has_no_rules_for() -> None:
    assert TARGETS["mpich"].steps("mine.json", ["bcast", "reduce_scatter"])[0].command.splitlines() == [
        "export MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=$PWD/mine.json",
        "export MPIR_CVAR_DEVICE_COLLECTIVES=percoll",
        "export MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0",
        "export MPIR_CVAR_REDUCE_SCATTER_DEVICE_COLLECTIVE=0",
    ]


@pytest.mark.parametrize("target", ["c", "c-table", "python", "python-collectives"])
@pytest.mark.parametrize(("collectives", "called"), [(["reduce", "scan"], "reduce"), ([], "bcast")])
def test_the_steps_call_the_first_of_its_collectives(target: str, collectives: list[str], called: str) -> None:
    steps = TARGETS[target].steps("mine.py", collectives)
    assert re.search(rf"(colltune_|mine\.){called}\(", used_in_text(steps))


def test_what_makes_ucc_say_what_it_takes_is_a_command() -> None:
    # With info, and with UCC_COLL_TRACE, it names no algorithm (seen with 1.8.0 and 1.10.0).
    command = TARGETS["ucc"].steps("mine.sh", ["bcast"])[-1].command
    assert command.startswith("mpirun -x UCC_LOG_LEVEL=debug ")


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json"])
def test_substitutes_of_open_mpi_are_among_the_notes(target: str) -> None:
    measured = named(cube_of(np.array([[[1.0]], [[2.0]]]), [4], [64]), ["hypercube", "binomial"])
    decision = DecisionFunction("bcast", [Method("hypercube", "hypercube")], Leaf(0))
    (note,) = write(Order(target, (decision,), {"bcast": measured})).parts[0].notes
    assert "has no 'hypercube'; written instead, what costs least there: binomial" in note


def test_sizes_at_which_nothing_was_measured_do_not_hide_what_costs_least() -> None:
    """Blocks of the totals at two communicator sizes make a grid of which each line holds half."""
    gap = np.nan
    times = np.array([[[1.0, gap], [gap, 1.0]], [[3.0, gap], [gap, 3.0]], [[2.0, gap], [gap, 2.0]]])
    measured = named(cube_of(times, [32, 60], [32, 64], collective="allgather"), ["bine", "default", "ring"])
    decision = DecisionFunction("allgather", [Method("bine", "bine")], Leaf(0))
    (part,) = write(Order("openmpi", (decision,), {"allgather": measured})).parts
    assert "has no 'bine'; written instead, what costs least there: ring." in " ".join(part.notes)
    assert part.loss == pytest.approx(100)


def test_what_the_library_lacks_is_replaced_in_each_leaf_by_what_costs_least_there() -> None:
    """One substitute for all of them would cost 90 %."""
    names = ["mine", "linear", "ring", "bruck"]
    times = np.array([[[1.0, 1.0]], [[1.05, 3.0]], [[3.0, 1.05]], [[1.9, 1.9]]])
    measured = named(cube_of(times, [8], [64, 65536], collective="allgather"), names)
    root = Split((Test("message_size", 64),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("allgather", [Method(name, name) for name in ("mine", "mine")], root)
    (part,) = write(Order("openmpi", (decision,), {"allgather": measured})).parts
    assert "has no 'mine'; written instead, what costs least there: linear, ring." in " ".join(part.notes)
    assert part.loss == pytest.approx(5)


def test_radices_of_different_algorithms_stand_beside_each_other() -> None:
    measured = named(cube_of([[[1.0, 2.0]], [[2.0, 1.0]]], [4], [1, 1024]), ["binomial", "sag_knomial"])
    assert apart(TARGETS["ucc"], measured, methods_of(measured)) == []


def test_of_radixes_that_exclude_each_other_those_stay_that_cost_least_in_the_mean() -> None:
    """Of 4 twice as long for two short messages, though 10 s less for the long one."""
    times = np.array([[[2.0, 2.0, 100.0]], [[1.0, 1.0, 110.0]]])
    measured = cube_of(times, [4], [1, 1024, 4096])
    measured = measured.assign_coords(method=["radix 4", "radix 2"], algorithm=("method", ["knomial", "knomial"]))
    measured = measured.assign_coords(radix=("method", [4, 2]))
    (left,) = apart(TARGETS["ucc"], measured, methods_of(measured))
    assert left.label == "radix 4"


def test_of_each_algorithm_the_radix_stays_that_is_best_beside_those_of_others() -> None:
    """By itself ``sra_knomial`` is the better one of radix 8, which ``knomial`` of radix 4 makes needless."""
    methods = {"knomial": (2, 4), "sra_knomial": (4, 8)}
    times = np.array([[[3.0, 3.0]], [[1.0, 3.0]], [[4.0, 1.5]], [[1.2, 2.0]]])
    labels = [f"{name} radix {radix}" for name, both in methods.items() for radix in both]
    measured = cube_of(times, [4], [1, 1024], collective="allreduce")
    algorithms = [name for name, both in methods.items() for _ in both]
    measured = measured.assign_coords(method=labels, algorithm=("method", algorithms))
    measured = measured.assign_coords(radix=("method", [radix for both in methods.values() for radix in both]))
    left = apart(TARGETS["ucc"], measured, methods_of(measured))
    assert [method.label for method in left] == ["knomial radix 2", "sra_knomial radix 8"]


def test_cells_that_were_not_measured_as_the_file_says_are_all_of_them() -> None:
    before, after = (PenaltySummary(0.0, 9.0, mean, 0.0, unmeasured, 20) for mean, unmeasured in ((1.0, 3), (2.0, 4)))
    part = Part(DecisionFunction("bcast", [Method("a", "a")], Leaf(0)), None, (), before, after)
    assert (
        part.costs
        == "mean penalty as decided 1.00 %, as the file says it 2.00 %, 4 cells not measured as the file says"
    )
    assert "not measured" not in replace(part, after=after._replace(unmeasured=3)).costs
