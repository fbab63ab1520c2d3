"""The page *Data*, driven by its params: choosing, hints, what files gave, errors as content."""

import shutil
from pathlib import Path

import pytest

from dashboard.pages.data.chooser import FOLDER, SAMPLE, UPLOAD
from dashboard.pages.data.overview import COVERAGE, FILES, SKIPPED, SPREAD
from dashboard.pages.data.page import NOTHING, DataPage
from dashboard.pages.parts.reports import plain
from dashboard.session.samples import Start, sample_start
from dashboard.session.state import State
from loaders.facet_names import FACETS
from tests.conftest import FAST_ETHERNET
from tests.pages.data.loading import load

# Bokeh 3.9 makes the sources of tables with a keyword that pandas 3.1 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")

OSU = """
# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       6.57
2                       6.61
"""


def page_on(folder: Path, **hints: str) -> DataPage:
    return DataPage(State(), Start((folder,), hints))


def test_before_anything_is_loaded_it_says_so(page: DataPage) -> None:
    assert page.headline.object == NOTHING
    for section in (FILES, COVERAGE, SPREAD, SKIPPED):
        page.overview.section = section
        assert len(page.overview.body) == 1


def test_the_sample_data_load_whole(page: DataPage) -> None:
    load(page)
    assert page.state.error == ""
    # The ping-pong beside them is measured, but no collective.
    assert "59 methods of 5 collectives · 12,067 measured cells" in page.headline.object
    assert "no row skipped" in page.headline.object
    assert (page.overview.files["result"] == "loaded").all()
    assert len(page.overview.files) == 60


@pytest.mark.parametrize("section", [FILES, COVERAGE, SPREAD, SKIPPED])
def test_each_section_stands(page: DataPage, section: str) -> None:
    load(page)
    page.overview.section = section
    assert len(page.overview.body) >= 1
    page.overview.collective = "reduce"
    assert page.overview.summary is not None
    assert page.overview.summary.views["reduce"].methods == 18


def test_of_what_was_measured_once_no_spread_is_told(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("collective,algorithm,comm_size,message_size,time\nbcast,linear,2,8,1e-5\n")
    page = page_on(tmp_path)
    load(page)
    page.overview.section = SPREAD
    (shown, *_) = page.overview.body
    (row,) = shown.value.to_dict("records")
    numbers = [name for name, value in row.items() if not isinstance(value, str)]
    assert len(numbers) == 3
    assert {shown.formatters[name].nan_format for name in numbers} == {"–"}
    assert row["repetitions"] == "–"
    assert all(row.values())


def test_pages_of_two_sessions_do_not_meet() -> None:
    first, second = DataPage(State(), sample_start()), DataPage(State(), sample_start())
    load(first)
    first.chooser.kind = UPLOAD
    assert second.headline.object == NOTHING
    assert second.chooser.kind == SAMPLE
    assert second.overview.param.collective.objects == []


def test_the_files_of_the_folder_given_can_be_ticked(tmp_path: Path) -> None:
    for name in ("bcast__linear__seg0.sko", "bcast__binomial__seg0.sko", "README.md"):
        shutil.copy(FAST_ETHERNET / name, tmp_path)
    page = page_on(tmp_path)
    assert page.chooser.kind == FOLDER
    assert page.hints.names == ["README.md", "bcast__binomial__seg0.sko", "bcast__linear__seg0.sko"]
    assert page.chooser.table is not None
    page.chooser.table.selection = [2]
    assert page.hints.names == ["bcast__linear__seg0.sko"]
    load(page)
    assert page.overview.files["file"].tolist() == ["bcast__linear__seg0.sko"]


def test_a_folder_as_a_whole_loads_beside_files_that_are_no_results(tmp_path: Path) -> None:
    for name in ("bcast__linear__seg0.sko", "README.md"):
        shutil.copy(FAST_ETHERNET / name, tmp_path)
    page = page_on(tmp_path)
    load(page)
    assert page.overview.files.set_index("file")["result"].to_dict() == {
        "README.md": "refused",
        "bcast__linear__seg0.sko": "loaded",
    }
    assert "1 file refused" in page.headline.object
    _, below = page.overview.body
    assert below.object.startswith(r"**README\.md**: ")
    assert "linear" not in below.object


def test_a_file_that_needs_hints_asks_for_them_and_loads_with_them(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(OSU)
    page = page_on(tmp_path)
    load(page)
    assert page.state.results is None
    assert page.error.visible
    assert page.overview.files["result"].tolist() == ["needs hints"]
    assert [name for name, box in page.hints.fields.items() if box.error_state] == ["algorithm", "comm_size"]
    page.hints.fields["algorithm"].value = "binomial"
    page.hints.fields["comm_size"].value = "16"
    load(page)
    assert not page.error.visible
    assert not any(box.error_state for box in page.hints.fields.values())
    assert page.state.results["bcast"]["time"].sel(comm_size=16, message_size=2).item() == pytest.approx(6.61e-6)


def test_a_pattern_answers_for_each_file(tmp_path: Path) -> None:
    for processes in (4, 8):
        (tmp_path / f"ring_{processes}.txt").write_text(OSU)
    page = page_on(tmp_path)
    page.hints.pattern.value = "{algorithm}_{comm_size}.txt"
    assert "2 of 2 file names match" in page.hints.preview.object
    load(page)
    assert page.state.results["bcast"]["comm_size"].values.tolist() == [4, 8]


def test_the_preview_of_a_pattern_quotes_names_without_markup(tmp_path: Path) -> None:
    (tmp_path / "<img src=x>.txt").write_text(OSU)
    page = page_on(tmp_path)
    page.hints.pattern.value = "{algorithm}.sko"
    assert "<img" not in page.hints.preview.object
    assert "does not match" in page.hints.preview.object


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("comm_size", "many", "comm_size"), ("segment_size", "-1", "segment_size"), ("pattern", "{who}", "who")],
)
def test_a_wrong_hint_is_explained(tmp_path: Path, name: str, value: str, message: str) -> None:
    (tmp_path / "run.txt").write_text(OSU)
    page = page_on(tmp_path)
    box = page.hints.pattern if name == "pattern" else page.hints.fields[name]
    box.value = value
    load(page)
    assert message in page.state.error
    assert page.state.results is None


def test_no_field_for_what_files_do_not_say_is_called_as_a_menu_of_what_they_say(page: DataPage) -> None:
    menus = {name.capitalize() for name in FACETS}
    assert menus.isdisjoint(box.label for box in page.hints.fields.values())


def test_without_a_folder_the_page_tells_how_to_give_one(page: DataPage) -> None:
    page.chooser.kind = FOLDER
    assert "colltune serve --data" in page.chooser.body[0].object


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    page = page_on(tmp_path / "nowhere")
    assert "nowhere" in page.chooser.body[0].object


def test_loading_says_how_far_it_is(page: DataPage) -> None:
    seen = []
    page.state.param.watch(lambda event: seen.append(event.new), "busy")
    load(page)
    assert seen[0].startswith("Loading")
    assert seen[-1] == ""
    assert not page.progress.visible


def test_what_files_differ_in_is_chosen_from_its_values(tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text(OSU)
    (tmp_path / "cuda.txt").write_text(OSU.replace("OSU MPI", "OSU MPI-CUDA").replace("6.57", "56.57"))
    page = page_on(tmp_path, algorithm="linear", comm_size="4")
    load(page)
    assert "device of bcast is" in page.state.error
    widget = page.hints.facets.widgets["device"]
    assert list(widget.options) == ["not chosen", "CUDA", "host", "all of them together"]
    widget.value = "host"
    load(page)
    assert page.state.error == ""
    cube = page.state.results["bcast"]
    assert cube["time"].values.ravel()[0] == pytest.approx(6.57e-6)
    assert cube.attrs["selected"] == "device=host"
    # What was chosen stays chosen.
    assert page.hints.facets.widgets["device"].value == "host"
    load(page)
    assert page.state.error == ""
    # Put together, they are said to be far apart.
    together = page.hints.facets.widgets["device"]
    together.value = together.options["all of them together"]
    load(page)
    apart = page.state.results["bcast"].attrs["apart"]
    assert "differ by up to 8.61 times" in apart
    assert plain(apart) in page.headline.object
    shown = page.hints.facets.widgets["device"]
    assert (shown.value is not None, shown.value) == (True, shown.options["all of them together"])


def test_a_facet_that_was_said_at_the_start_is_chosen(tmp_path: Path) -> None:
    page = page_on(tmp_path, select="device=cuda,campaign=spring")
    assert page.hints.values() == {"select": "device=cuda,campaign=spring"}
    page.hints.facets.offer({"device": ["CUDA", "host"], "system": ["grig"]})
    assert page.hints.facets.widgets["device"].value == "CUDA"
    assert page.hints.values() == {"select": "device=CUDA,campaign=spring"}


def test_files_of_one_folder_that_are_far_apart_are_chosen_by_name(tmp_path: Path) -> None:
    (tmp_path / "rome.txt").write_text(OSU)
    (tmp_path / "skylake.txt").write_text(OSU.replace("6.57", "26.57").replace("6.61", "26.61"))
    page = page_on(tmp_path, algorithm="linear", comm_size="4")
    load(page)
    widget = page.hints.facets.widgets["campaign"]
    assert list(widget.options) == ["not chosen", "rome.txt", "skylake.txt", "all of them together"]
    widget.value = "rome.txt"
    load(page)
    assert page.state.results["bcast"]["time"].values.ravel()[0] == pytest.approx(6.57e-6)


def test_a_pattern_that_fits_the_names_is_told(tmp_path: Path) -> None:
    for name in ("ring", "chain"):
        (tmp_path / f"bcast_{name}_8.txt").write_text(OSU)
    page = page_on(tmp_path)
    load(page)
    assert page.hints.pattern.helper_text == "fits these names: bcast_{algorithm}_{comm_size}.txt"
    page.hints.pattern.value = "bcast_{algorithm}_{comm_size}.txt"
    load(page)
    assert page.state.results["bcast"]["algorithm"].values.tolist() == ["chain", "ring"]


def test_a_file_that_has_gone_since_it_was_listed_is_named(tmp_path: Path) -> None:
    for name in ("bcast__linear__seg0.sko", "bcast__binomial__seg0.sko"):
        shutil.copy(FAST_ETHERNET / name, tmp_path)
    page = page_on(tmp_path)
    (tmp_path / "bcast__linear__seg0.sko").unlink()
    load(page)
    assert page.overview.files["file"].tolist() == ["bcast__binomial__seg0.sko"]
    assert page.error.object == plain("bcast__linear__seg0.sko is not there any more")
    assert page.error.visible


def test_files_of_which_nothing_was_chosen_are_not_counted_as_loaded(tmp_path: Path) -> None:
    head = "collective,algorithm,segment_size,comm_size,message_size,system,time\n"
    for system, factor in (("alpha", 1), ("beta", 9)):
        rows = [f"bcast,linear,0,4,{size},{system},{factor * time}e-6\n" for size, time in ((8, 2), (64, 3))]
        (tmp_path / f"{system}.csv").write_text(head + "".join(rows))
    page = page_on(tmp_path)
    load(page)
    # Nothing is loaded: the systems are far apart.
    assert page.state.results is None
    assert page.overview.files["result"].tolist() == ["usable", "usable"]
    page.hints.facets.widgets["system"].value = "alpha"
    load(page)
    assert page.overview.files["result"].tolist() == ["loaded", "left out"]
    assert page.overview.files["rows"].tolist() == [2, 0]
    assert page.overview.files["remarks"][1] == "none of its 2 rows is of what was chosen"
    assert "from 1 file · no row skipped · 1 file left out" in page.headline.object
