"""``colltune prove``: what is wrong with how it is called, before any library is run."""

from pathlib import Path

import pytest

from tests.cli.command import Run, assert_one_clear_line


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.conf"
    path.write_text("1\n7\n1\n2\n1\n0 6 0 0\n")
    return path


def test_help_tells_the_exit_status(colltune: Run) -> None:
    answer = colltune("prove", "--help")
    assert answer.status == 0
    assert "3 something did not" in answer.out


def test_a_start_command_that_is_none_is_refused(colltune: Run, rules: Path) -> None:
    assert_one_clear_line(colltune("prove", rules, "--mpiexec", "no-such-mpiexec"), "no such program")
    fake = rules.with_name("mpiexec")
    fake.write_text("#!/bin/sh\necho 'Some Other MPI 1.0'\n")
    fake.chmod(0o755)
    assert_one_clear_line(colltune("prove", rules, "--mpiexec", fake), "Some Other MPI 1.0", "Open MPI and MPICH")


def test_limits_that_make_no_sense_are_refused(colltune: Run, rules: Path) -> None:
    # Any program will do: the limits are looked at first.
    start = ("--mpiexec", "sh")
    assert_one_clear_line(colltune("prove", rules, *start, "--ranks", 1), "at least 2 (--ranks)")
    assert_one_clear_line(colltune("prove", rules, *start, "--time-limit", 0), "seconds above 0")
    assert_one_clear_line(colltune("prove", rules, *start, "--memory", "much"))
    assert_one_clear_line(colltune("prove", rules, *start, "-o", "report.pdf"), ".txt, .md, .json")
