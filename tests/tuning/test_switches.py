"""The script that switches rules on and off, as shells read it."""

import shutil
from pathlib import Path

import pytest

from dashboard.export.form import form_of
from dashboard.tuning import switches
from dashboard.tuning.rules import name_of
from tests.conftest import ran

FILE = "coll_tuned_dynamic_rules_filename"
SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=name)) for name in ("bash", "dash")
]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    made = tmp_path / "my bundle"
    made.mkdir()
    (made / "rules.conf").touch()
    script = switches.environment_script(
        switches.variables("openmpi", "rules.conf", ["bcast"], nodes=1), "rules.conf", str(made)
    )
    (made / "colltune.sh").write_text(script)
    return made


def sourced(shell: str, bundle: Path, *words: str, there: Path | None = None) -> tuple[list[str], str]:
    """Variables of Open MPI's after the script was sourced with each of the words, and what it said."""
    lines = [f". '{bundle}/colltune.sh' {word}" for word in words]
    done = ran([shell, "-c", "\n".join([*lines, "env"])], cwd=there or bundle)
    return [line for line in done.stdout.splitlines() if FILE in line], done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_rules_are_found_from_anywhere(bundle: Path, shell: str, tmp_path: Path) -> None:
    for there in (bundle, tmp_path):
        assert sourced(shell, bundle, "", there=there)[0] == [f"OMPI_MCA_{FILE}={bundle}/rules.conf"]


def test_off_takes_back_what_it_set(bundle: Path) -> None:
    assert sourced("bash", bundle, "", "off") == ([], "")


@pytest.mark.parametrize("version", ["5.0.11", "6.0.0"])
def test_the_rules_that_each_open_mpi_reads_have_a_name_and_variables_that_name_them(version: str) -> None:
    target = form_of("Open MPI", version).target
    said = switches.variables(target, name_of(target), ["bcast"], nodes=1)
    assert said["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == f"{switches.HERE}/{name_of(target)}"


def test_across_nodes_what_copies_the_buffers_of_gpus_is_still_asked_before_tuned() -> None:
    here, across = (switches.variables("openmpi", "rules.conf", ["bcast"], nodes=nodes) for nodes in (1, 2))
    assert {name: value for name, value in across.items() if name not in here} == {"OMPI_MCA_coll": "^han,hcoll,ucc"}


def test_the_device_of_mpich_decides_on_where_there_are_no_rules() -> None:
    said = switches.variables("mpich", "rules.json", ["bcast"], nodes=1)
    assert said == {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": f"{switches.HERE}/rules.json",
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
    }


@pytest.mark.parametrize("shell", SHELLS[1:])
def test_a_shell_that_hands_no_words_on_is_told_how_they_are_switched_off(bundle: Path, shell: str) -> None:
    assert f"'unset OMPI_MCA_coll_tuned_use_dynamic_rules OMPI_MCA_{FILE}' switches" in sourced(shell, bundle, "")[1]


@pytest.mark.parametrize("shell", SHELLS)
def test_without_rules_nothing_is_switched_on(bundle: Path, shell: str, tmp_path: Path) -> None:
    (bundle / "rules.conf").unlink()
    values, said = sourced(shell, bundle, "", there=tmp_path)
    assert values == []
    assert said == f"colltune.sh: rules.conf is not in {bundle}; nothing is switched on\n"
