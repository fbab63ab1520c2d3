"""``colltune translate``: rules of one library for another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dashboard.export.rules.lint import read_rules, read_text
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "klingon"], "no such target"),
        (["--to", "intel"], "nothing can be translated"),
        (["--to", "c", "-c", "scan"], "no rules for scan"),
        (["--to", "mpich"], "complete files only"),
    ],
)
def test_what_cannot_be_translated_is_one_clear_line(
    colltune: Run, samples: Path, arguments: list[str], words: str
) -> None:
    rules = samples / "rules_ompi" / "own_v1.conf"
    assert_one_clear_line(colltune("translate", rules, *arguments), words)
