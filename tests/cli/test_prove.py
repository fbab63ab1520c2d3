"""``colltune prove``: what is wrong with how it is called, before any library is run."""

from pathlib import Path

import pytest

from tests.bench.campaigns import prints
from tests.bench.test_odd_output import OPEN_MPI
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


def test_where_no_job_can_be_run_its_last_words_are_said(colltune: Run, rules: Path) -> None:
    fake = rules.with_name("mpiexec")
    full = "The server failed to start: No space left on device"
    version = "[ $1 = --version ] && echo 'mpiexec (Open MPI) 5.0.11' && exit"
    fake.write_text(f"#!/bin/sh\n{version}\necho '{full}'\nexit 213\n")
    fake.chmod(0o755)
    prints(rules.with_name("ompi_info"), OPEN_MPI)
    answer = colltune("prove", rules, "--mpiexec", fake, "--ranks", 2)
    assert_one_clear_line(answer, "no job can be run with", f"exit code 213 ({full})")


def test_limits_that_make_no_sense_are_refused(colltune: Run, rules: Path) -> None:
    # Any program will do: the limits are looked at first.
    start = ("--mpiexec", "sh")
    assert_one_clear_line(colltune("prove", rules, *start, "--ranks", 1), "at least 2 (--ranks)")
    assert_one_clear_line(colltune("prove", rules, *start, "--time-limit", 0), "seconds above 0")
    assert_one_clear_line(colltune("prove", rules, *start, "--memory", "much"))
    assert_one_clear_line(colltune("prove", rules, *start, "-o", "report.pdf"), ".txt, .md, .json")
