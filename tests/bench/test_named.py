"""Planning for a library that is not installed: the tables say what the library itself says."""

from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Variants
from dashboard.benchmarks.libraries.named import installation_named, open_mpi, version_of_module
from dashboard.cli import main
from loaders.collectives import COLLECTIVES
from tests.cli.command import Run
from tests.conftest import need


def test_the_tables_offer_and_set_what_the_installed_library_does(installation: Installation) -> None:
    library = installation.library
    need(library.version.startswith("5.0"), "not Open MPI 5.0")
    table = open_mpi(library.version)
    for name in COLLECTIVES:
        offered = library.methods(name, Variants())
        assert table.methods(name, Variants()) == offered
        for method in offered:
            assert table.settings(name, method) == library.settings(name, method)


@pytest.mark.parametrize("text", ["openmpi-5.0.3", "openmpi/4.1.6-gcc12", "Open MPI 5.0", "OpenMPI-v5.0.11"])
def test_a_library_is_named_in_the_ways_of_modules_and_people(text: str) -> None:
    assert installation_named(text).library.name == "Open MPI"


@pytest.mark.parametrize("text", ["openmpi", "openmpi-3.1", "mpich-5.0.2", ""])
def test_what_no_table_is_of_is_one_clear_line(text: str) -> None:
    with pytest.raises(NoMpiError, match=r"there are tables of Open MPI 4\.1 and 5\.0"):
        installation_named(text)


def test_modules_tell_the_version() -> None:
    assert version_of_module(("gcc/12", "mpi/openmpi/5.0.3")) == "openmpi/5.0.3"
    assert version_of_module(("openmpi",)) == ""


def test_a_login_node_without_mpi_shows_what_it_would_submit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], done: Run
) -> None:
    def none() -> None:
        raise NoMpiError("no MPI: mpiexec is neither beside Python nor on the PATH")

    monkeypatch.setattr("dashboard.benchmarks.libraries.library.find", none)
    order = ["bench", "submit", str(tmp_path / "campaign"), "-c", "bcast", "--ranks", "4", "--dry-run"]
    out, err = done(*order, "--module", "openmpi/5.0.3").both
    assert "module load openmpi/5.0.3" in out
    assert "planned with the methods of Open MPI 5.0.3 by the tables" in err
    assert main([*order[:2], str(tmp_path / "other"), *order[3:]]) == 2
    assert "--library openmpi-5.0" in capsys.readouterr().err
    done(*order[:2], tmp_path / "third", *order[3:], "--library", "openmpi-4.1")


def test_a_plan_of_tuneds_algorithms_alone_is_told_to_say_nothing_of_han_across_nodes(
    tmp_path: Path, done: Run
) -> None:
    named = ("--library", "openmpi-5.0", "--dry-run")
    installed, words = installation_named("openmpi-5.0"), "a plan made with --components all measures them"
    for place, components in enumerate(((), ("all",))):
        variants = Variants(components=components)
        folder = tmp_path / str(place)
        Campaign.create(folder, make_plan(Wish(4, ("bcast",), (2, 4), (8,), variants=variants), installed))
        spread, here = (done("bench", "submit", folder, "--nodes", nodes, *named).err for nodes in ("2", "1"))
        assert (words in spread, words in here) == (not components, False)
