"""``colltune translate``: rules of one library for another."""

import json
from pathlib import Path

import numpy as np
import pytest

from dashboard.domain.algorithm_names import normal
from dashboard.export.rules.lint import read_rules, read_text
from dashboard.export.targets.mpich.base import known
from dashboard.export.translation import sections_of
from tests.cli.command import Run, assert_one_clear_line


def test_the_committed_decision_file_is_repaired(colltune: Run, shared: Path, tmp_path: Path) -> None:
    broken = shared / "data" / "ompi-collectives-tuning" / "decision.file"
    made = tmp_path / "repaired.conf"
    answer = colltune("translate", broken, "--to", "openmpi", "--sizes-are-blocks", "-c", "allgather", "-o", made)
    assert answer.status == 0
    assert "105 errors; translated as it is meant" in answer.err
    read = read_rules(made)
    assert [fault for fault in read.faults if fault.severity != "note"] == []
    # Its set for 16 processes: number 1 from 0 bytes, the library's own from 64, number 3 from 4096, per process.
    decision = read.decisions["allgather"]
    algorithms = [decision.methods[k].algorithm for k in decision.predict(16, [0, 63, 64, 4095, 4096])]
    assert algorithms == ["linear", "linear", "default", "default", "recursive_doubling"]


def test_mpich_s_own_decisions_become_open_mpi_rules(colltune: Run, samples: Path) -> None:
    generic = samples / "mpich_json" / "mpich-main__mpir_generic.json"
    answer = colltune("translate", generic, "--to", "openmpi", "-c", "scatter", "-c", "barrier", "-c", "scan")
    assert answer.status == 0
    assert "left out: scan: Open MPI 5.0 has no 'smp'" in answer.err
    read = read_text(answer.out)
    assert sorted(read.decisions) == ["barrier", "scatter"]
    own = read_rules(generic).meant["scatter"]
    comm, message = np.arange(2, 64), np.array([[1], [1 << 20]])
    scatter = read.decisions["scatter"]
    assert {scatter.methods[k].algorithm for k in scatter.predict(comm, message).ravel()} == {"binomial"}
    assert {own.methods[k].algorithm for k in own.predict(comm, message).ravel()} == {"binomial"}


def test_rules_of_a_file_are_not_said_to_be_measured(colltune: Run, samples: Path) -> None:
    answer = colltune("translate", samples / "mpich_json" / "mpich-main__mpir_generic.json", "--to", "preload")
    assert_one_clear_line(answer, "was decided for MPICH", "--to preload-mpich is for it")


def test_rules_across_nodes_are_two_files_that_are_named(colltune: Run, samples: Path, tmp_path: Path) -> None:
    rules, made = samples / "rules_ompi" / "own_v1.conf", tmp_path / "z.conf"
    answer = colltune("translate", rules, "--to", "openmpi-nodes", "-o", made)
    han = tmp_path / "z-han.conf"
    assert (answer.status, [read_rules(file).format for file in (made, han)]) == (0, ["openmpi-1", "openmpi-han"])
    assert f"wrote {made} and {han}: " in answer.err
    assert f"next: colltune lint {made} --han {han}" in answer.err
    assert colltune("lint", made, "--han", han).status == 0
    # The second one is not written over what is read.
    assert_one_clear_line(colltune("translate", han, "--to", "openmpi-nodes", "-o", made), str(han), "another name")


def test_open_mpi_rules_become_source_and_version_3(colltune: Run, samples: Path) -> None:
    rules = samples / "rules_ompi" / "own_v1.conf"
    assert "int colltune_bcast(int comm_size, long long message_size)" in colltune("translate", rules, "--to", "c").out
    third = read_text(colltune("translate", rules, "--to", "openmpi-json").out)
    first = read_rules(rules)
    comm, message = np.arange(1, 9)[:, None], np.array([0, 511, 512, 10**6])
    labels = [
        [read.decisions["bcast"].methods[k].label for k in read.decisions["bcast"].predict(comm, message).ravel()]
        for read in (first, third)
    ]
    assert labels[0] == labels[1]


def test_sets_are_those_of_the_version_that_they_were_written_for(colltune: Run, tmp_path: Path) -> None:
    old = tmp_path / "old.conf"
    old.write_text("1\n7\n2\n2\n1\n0 6 0 0\n8\n1\n0 3 0 8192\n")
    usual, sixth = (
        colltune("translate", old, "--to", "openmpi-json", *series).out for series in ([], ["--for", "6.0"])
    )
    assert usual == sixth
    assert [each["comm_size_min"] for each in json.loads(sixth)["collectives"]["bcast"]] == [0, 8]


@pytest.mark.parametrize("target", ["openmpi", "openmpi-json", "ucc"])
def test_powers_of_two_are_told_from_other_sizes_one_by_one(colltune: Run, samples: Path, target: str) -> None:
    generic = samples / "mpich_json" / "mpich-main__mpir_generic.json"
    answer = colltune("translate", generic, "--to", target, "-c", "allgather")
    assert "note: allgather: Communicators of more than 1,023 processes are decided as those of 1,023" in answer.err
    meant, written = (read.meant["allgather"] for read in (read_rules(generic), read_text(answer.out)))
    assert "power_of_two" in meant.attributes
    sizes = np.array([2, 3, 16, 17, 100, 512, 1000])[:, None], np.array([1, 1 << 10, 1 << 20])
    said = [[normal(each.methods[k].algorithm) for k in each.predict(*sizes).ravel()] for each in (meant, written)]
    # UCC has the same under names of its own.
    assert len(set(said[0])) == len(set(said[1])) == len(set(zip(*said, strict=True))) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "klingon"], "no such target"),
        (["--to", "intel"], "nothing can be translated"),
        (["--to", "c", "-c", "scan"], "no rules for scan"),
        (["--to", "mpich"], "complete files only"),
        (["--to", "c", "--section", "rome"], "sections are none"),
        (["--to", "intel", "--name", "binomal=binomial"], "did you mean binomial?"),
        (["--to", "intel", "--name", "binomial=binomal"], "for bcast intel has no 'binomal', but binomial"),
    ],
)
def test_what_cannot_be_translated_is_one_clear_line(
    colltune: Run, samples: Path, arguments: list[str], words: str
) -> None:
    rules = samples / "rules_ompi" / "own_v1.conf"
    assert_one_clear_line(colltune("translate", rules, *arguments), words)


@pytest.mark.parametrize("to", ["c", "python", "json"])
def test_what_no_algorithm_has_the_number_of_is_not_written_as_a_decision(
    colltune: Run, tmp_path: Path, to: str
) -> None:
    rules = tmp_path / "mine.rules"
    rules.write_text("1\n7\n1\n4\n2\n0 5 0 0\n1024 99 0 0\n")
    refused = colltune("translate", rules, "--to", to)
    assert refused.status == 2
    assert "has no algorithm 99; say which is meant (--name 'unknown 99=NAME')" in refused.err
    assert colltune("translate", rules, "--to", to, "--name", "unknown 99=binomial").status == 0


def test_what_was_written_for_ucc_is_translated(colltune: Run, bcast_files: list[Path], tmp_path: Path) -> None:
    rules = tmp_path / "u.conf"
    given = ("--pattern", "{collective}__{algorithm}__seg{segment_size}.sko", "--tree", "optimal", "--leaves", "4")
    colltune("export", *bcast_files, *given, "--to", "ucc", "-o", rules)
    ours, theirs = (
        read.decisions["bcast"]
        for read in (read_rules(rules), read_text(colltune("translate", rules, "--to", "openmpi").out))
    )
    sizes = np.arange(2, 17)[:, None], np.array([1, 1024, 4096, 1 << 18])
    said = [[each.methods[k].algorithm for k in each.predict(*sizes).ravel()] for each in (ours, theirs)]
    assert said[0] == said[1]
    assert set(said[0]) == {"knomial", "scatter_allgather"}


def test_names_of_another_library_are_given(colltune: Run, samples: Path) -> None:
    rules = samples / "rules_ompi" / "own_v1.conf"
    lacking = colltune("translate", rules, "--to", "intel").err
    assert "(--name binomial=NAME --name pipeline=NAME --name scatter_allgather_ring=NAME)" in lacking
    algorithms = {method.algorithm for decision in read_rules(rules).meant.values() for method in decision.methods} - {
        "default"
    }
    names = [word for name in sorted(algorithms) for word in ("--name", f"{name}=binomial")]
    answer = colltune("translate", rules, "--to", "intel", "-c", "bcast", *names)
    assert answer.status == 0
    assert "export I_MPI_ADJUST_BCAST=" in answer.out
    assert "intel does not cut messages into segments in pipeline 1KiB: written without" in answer.err


def test_the_names_that_are_lacking_are_all_asked_for(colltune: Run, tmp_path: Path) -> None:
    rules = tmp_path / "intel.sh"
    rules.write_text('I_MPI_ADJUST_BCAST="1:0-1024;2:1025-65536;3"\n')
    asked = " ".join(f"--name 'algorithm {number}=NAME'" for number in (1, 2, 3))
    answer = colltune("translate", rules, "--to", "openmpi")
    assert_one_clear_line(answer, asked, "colltune export RESULTS --tree rules --file FILE")
    names = [word for number in (1, 2, 3) for word in ("--name", f"algorithm {number}=binomial")]
    assert colltune("translate", rules, "--to", "openmpi", *names).status == 0


def test_numbers_and_sections_of_ucc_s_own_file_are_read(colltune: Run, samples: Path) -> None:
    rules = samples / "ucc" / "ucc.conf"
    answer = colltune("translate", rules, "--to", "ucc", "--section", "rome team_size=4 ")
    assert (answer.status, answer.err) == (0, "")
    assert "@knomial#allreduce:16384-inf:[1-inf]:@sra_knomial" in answer.out
    assert 'UCC_TL_UCP_ALLREDUCE_SRA_KN_RADIX="4"' in answer.out
    first = colltune("translate", rules, "--to", "c")
    assert "23 further decisions for allreduce: allreduce [vendor=intel model=broadwell team_size=2 " in first.err
    assert "--section chooses" in first.err
    assert_one_clear_line(colltune("translate", rules, "--to", "c", "--section", "rame"), "sections are [vendor=intel ")


def test_what_is_checked_but_not_translated_is_said(colltune: Run, samples: Path) -> None:
    answer = colltune("translate", samples / "nccl_tuner" / "nccl_tuner.conf", "--to", "c")
    assert_one_clear_line(
        answer,
        "NCCL tuner configuration",
        "nothing to translate, since 8 of its 9 rules go by nodes",
        "translated are rules of Open MPI, MPICH, Intel MPI or UCC",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"collectives": {"bcast": [\n{"comm_size_min": 2,,},]}}', "line 2: not JSON: ,"),
        ("allreduce,0,65536,tree,simple,2,-1,-1\n", "since rules of its kind may go by nodes, pipeline operations"),
    ],
)
def test_why_nothing_is_translated_is_said_once(colltune: Run, tmp_path: Path, text: str, words: str) -> None:
    rules = tmp_path / "rules"
    rules.write_text(text)
    answer = colltune("translate", rules, "--to", "c")
    assert_one_clear_line(answer, f"{rules}: ", words, "nothing to translate")
    assert "note:" not in answer.err


def test_mpich_s_own_complete_file_is_what_it_is_written_into(colltune: Run, samples: Path) -> None:
    own = samples / "mpich_json" / "mpich-main__ch4_generic.json"
    answer = colltune("translate", own, "--to", "mpich")
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out) == json.loads(own.read_text())


def test_what_is_given_another_name_is_written_by_that_one(colltune: Run, samples: Path) -> None:
    own = samples / "mpich_json" / "mpich-main__mpir_generic.json"
    other = "scatter_recursive_doubling_allgather"
    answer = colltune("translate", own, "--to", "mpich", "-c", "bcast", "--name", f"binomial={other}")
    read = read_text(answer.out)
    assert (answer.status, read.errors) == (0, 0)
    bcast = read.decisions["bcast"]
    taken = [bcast.methods[bcast.predict_one(16, size)].algorithm for size in (64, 1 << 20)]
    assert taken == [other, "scatter_ring_allgather"]


def test_a_section_by_its_whole_name_is_that_one_alone(colltune: Run, samples: Path) -> None:
    rules = samples / "ucc" / "ucc.conf"
    name = next(name for name in sections_of(read_rules(rules).meant) if name.endswith("nnodes=1"))
    answer = colltune("translate", rules, "--to", "ucc", "--section", name)
    assert (answer.status, answer.err) == (0, "")


@pytest.mark.parametrize("target", ["mpirun", "preload-mpich"])
@pytest.mark.parametrize(
    ("name", "k"), [("tree", "4; true #"), ("tree", "x"), ("tree", "9" * 10), ("tree; true #", "4")]
)
def test_what_a_file_of_mpich_names_wrongly_is_no_command(
    colltune: Run, tmp_path: Path, target: str, name: str, k: str
) -> None:
    document = json.loads(known("5.0") or "")
    tree = {f"algorithm=MPIR_Bcast_intra_{name}": {"tree_type=kary": {}, f"k={k}": {}, "is_non_blocking=1": {}}}
    document["collective=bcast"]["comm_type=intra"] = tree
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(document), encoding="utf-8")
    refused = colltune("translate", rules, "-c", "bcast", "--to", target)
    assert (refused.status, refused.out) == (2, "")
    assert f"k={k}" in refused.err
