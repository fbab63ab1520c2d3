"""Rules in the form that the library at hand reads: which one that is, and what stands at their head."""

import json

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export import ExportError
from dashboard.export.form import Form, form_of
from dashboard.export.library_names import Choice
from loaders.openmpi import DEFAULT_VERSION
from tests.export.trees import choices

BINOMIAL = DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0))


@pytest.mark.parametrize(("version", "series"), [("4.1.6", "4.1"), ("5.0.11", "5.0"), ("3.1.2", DEFAULT_VERSION)])
def test_rules_are_of_the_series_that_is_installed(version: str, series: str) -> None:
    assert form_of("Open MPI", version) == Form("openmpi", series)
    assert form_of("Open MPI", version, nodes=True) == Form("openmpi-nodes", series)


@pytest.mark.parametrize("nodes", [False, True])
def test_of_open_mpi_6_they_are_the_json_whose_first_comment_is_the_note(*, nodes: bool) -> None:
    form = form_of("Open MPI", "6.0.0a1", nodes=nodes)
    assert form.target == ("openmpi-nodes" if nodes else "openmpi-json")
    text = form.write([BINOMIAL], note="of yesterday")
    document, _ = json.JSONDecoder().raw_decode(text)
    assert document["comment"][:1] == ["of yesterday"]
    read = form.read(text)
    assert (read.errors, choices(read.decisions["bcast"], [8], [8], "6.0")) == (0, [Choice(6)])
    assert nodes or read.format in form.formats


def test_of_mpich_they_are_its_selection() -> None:
    assert form_of("MPICH", "5.0.2").target == "mpich"


def test_a_library_without_rules_files_is_refused() -> None:
    with pytest.raises(ExportError, match="Intel MPI reads no rules files; Open MPI and MPICH do"):
        form_of("Intel MPI", "2021")


def test_a_note_is_the_first_comment() -> None:
    text = Form("openmpi").write([BINOMIAL], note="of yesterday")
    assert text.startswith("# of yesterday\n# Rules for")


def test_rules_made_of_version_2_are_of_version_2_whose_name_comes_before_the_note() -> None:
    text = Form("openmpi").write([BINOMIAL], note="of yesterday", like="rule-file-version-2\n1\n")
    assert text.startswith("rule-file-version-2\n# of yesterday\n# Rules for")
