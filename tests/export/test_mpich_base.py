"""MPICH's own selection, read out of a library file."""

import json
import os
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.form import form_of
from dashboard.export.rules.lint import read_text
from dashboard.export.target import ExportError
from dashboard.export.targets.mpich import base as mpich_base
from dashboard.export.targets.mpich import selection as mpich
from dashboard.export.targets.mpich.base import embedded
from dashboard.export.writing import Order, write


@pytest.fixture(scope="module")
def generic(samples: Path) -> str:
    document = json.loads((samples / "mpich_json" / "mpich-main__mpir_generic.json").read_text())
    return json.dumps(document, separators=(",", ":"))


def library(folder: Path, *texts: str) -> Path:
    """A file that holds string constants as a library does."""
    path = folder / "libmpi.so.12"
    path.write_bytes(b"\x7fELF\0\xff" + b"".join(text.encode() + b"\0" for text in texts) + b"\1\2\3")
    return path


def test_of_several_texts_the_complete_one_is_taken(tmp_path: Path, generic: str, samples: Path) -> None:
    posix = json.dumps(
        {"collective=bcast": {"algorithm=MPIDI_POSIX_mpi_bcast_release_gather": {}}}, separators=(",", ":")
    )
    text = embedded(library(tmp_path, "collective=", '{"collective=broken', posix, generic))
    assert text == generic
    assert read_text(text).errors == 0


@pytest.mark.parametrize("texts", [(), ('{"collective=bcast":{}}',)], ids=["none", "incomplete"])
def test_a_library_without_it_gives_nothing(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert embedded(library(tmp_path, *texts)) is None
    (tmp_path / "empty.so").touch()
    assert embedded(tmp_path / "empty.so") is None


def test_without_a_base_the_installed_library_s_own_is_changed(
    tmp_path: Path, generic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    path = library(tmp_path / "lib", generic)
    monkeypatch.setattr(mpich_base.sys, "executable", str(tmp_path / "bin" / "python"))
    base = mpich_base.installed()
    assert base is not None
    assert base[0] == path
    assert form_of("MPICH", "5.0.2").base == base[1] == generic
    decision = DecisionFunction("gather", [Method("binomial", "binomial")], Leaf(0))
    assert len(json.loads(mpich.to_mpich(decision))) == 44


def test_the_selection_of_another_version_than_was_measured_is_warned_of(
    tmp_path: Path, generic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    library(tmp_path / "lib", "5.0.2", generic)
    monkeypatch.setattr(mpich_base.sys, "executable", str(tmp_path / "bin" / "python"))

    def said(version: str, base: str | None = None) -> str:
        """Notes of a file for results of a version."""
        facts = {"library": "MPICH", "library_version": version}
        decision = DecisionFunction("gather", [Method("binomial", "binomial")], Leaf(0), provenance=facts)
        return " ".join(write(Order("mpich", (decision,), {}, base=base)).parts[0].notes)

    assert "Measured was MPICH 4.0.3, whose own selection is not known" in said("4.0.3")
    assert "--base FILE" in said("4.0.3")
    for version, base in (("4.0.3", generic), ("5.0.2", None), ("", None)):
        assert "Measured was" not in said(version, base)
    # It is the one that is installed.
    library(tmp_path / "lib", "4.0.3", generic)
    assert "Measured was" not in said("4.0.3")


def test_the_selection_that_a_campaign_kept_serves_where_no_mpich_is(tmp_path: Path, generic: str) -> None:
    for name in ("bin", "lib", "campaign", "other"):
        (tmp_path / name).mkdir()
    library(tmp_path / "lib", generic)
    campaign, other = tmp_path / "campaign", tmp_path / "other"
    mpich_base.keep(campaign, tmp_path / "bin" / "mpiexec")
    assert mpich_base.kept([campaign]) == mpich_base.kept([campaign / "results.jsonl", other]) == generic
    mpich_base.keep(other, tmp_path / "campaign" / "bin" / "mpiexec")
    assert mpich_base.kept([other]) is None
    # Which of two versions is meant is not guessed.
    (other / mpich_base.KEPT).write_text("{}", encoding="utf-8")
    assert mpich_base.kept([campaign, other]) is None


def test_a_version_that_is_known_needs_no_file(tmp_path: Path, generic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(mpich_base.known("5.0.2") or "") == json.loads(generic)
    assert mpich_base.known("4.0.3") is None
    monkeypatch.setattr(mpich_base, "installed", lambda: None)
    binomial = [Method("binomial", "binomial")]
    facts = {"library": "MPICH", "library_version": "4.2.3"}
    measured = DecisionFunction("gather", binomial, Leaf(0), provenance=facts)
    assert len(json.loads(mpich.to_mpich(measured))) == 44
    # Of whom nothing is known, and a vendor's of that number, get none.
    for other in ({}, {**facts, "library": "Cray MPICH"}, {**facts, "library_version": "6.0"}):
        with pytest.raises(ExportError, match=r"--base 5\.0"):
            mpich.to_mpich([measured, DecisionFunction("scatter", binomial, Leaf(0), provenance=other)])
    # A file goes before the version that its name may be.
    monkeypatch.chdir(tmp_path)
    assert mpich_base.given("5.0") == mpich_base.known("5.0")
    (tmp_path / "5.0").write_text("own", encoding="utf-8")
    assert mpich_base.given("5.0") == "own"


@pytest.mark.skipif("COLLTUNE_MPICH" not in os.environ, reason="COLLTUNE_MPICH=…/mpiexec names one of a known version")
def test_what_is_known_is_what_the_library_holds() -> None:
    root = Path(os.environ["COLLTUNE_MPICH"]).parent.parent
    held = mpich_base.installed(root)
    assert held is not None
    assert json.loads(mpich_base.known("5.0") or "") == json.loads(held[1])
