"""The page *Online*: a folder's course or a simulation, with sliders that learn anew from what was kept."""

import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.online.course import bands
from dashboard.online.errors import OnlineError
from dashboard.online.scenario import read
from dashboard.online.state import Folder
from dashboard.pages.online.page import OnlinePage
from dashboard.pages.online.view import Pictured, Shown, read_view, recipes, write_view
from dashboard.session.recipes import as_command
from dashboard.session.registry import Origin
from dashboard.session.state import State
from tests.cli.command import Run
from tests.cubes import cube_of, synthetic_cube
from tests.online.folders import SIZES, TABLE, another, make
from tests.states import by_python, state_of

SIMULATION = "scenario:reference;iterations:2;rounds:5"
BEST = f"allreduce:{TABLE.methods['allreduce'][2].label}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return make(tmp_path_factory.mktemp("online") / "loop")


@pytest.fixture
def root(tmp_path: Path, made: Folder, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(tmp_path))
    shutil.copytree(made.path, tmp_path / "loop")
    return tmp_path


def open_page(online: str = "") -> OnlinePage:
    state = State(page="Online", online=online)
    state.navigated = True
    return OnlinePage(state)


def share(page: OnlinePage) -> Any:
    assert page.charts.course is not None
    return bands(page.charts.course, "allreduce", (SIZES[1], 4, 2))


def test_a_folder_is_shown_first_with_all_its_pictures(root: Path) -> None:
    page = open_page()
    assert page.source.value == ("folder", "loop")
    assert page.charts.body.visible
    assert all(pane.object is not None for pane in page.charts.panes.values())
    assert (page.charts.collective.value, page.charts.place.value) == ("allreduce", (4, 2))
    assert "Iterations" in page.charts.texts["table"].object
    assert not page.numbers.visible
    assert not page.message.visible
    # Another folder will be the first one some time: the link says which it is.
    assert page.state.online == "folder:loop"


def test_what_is_under_way_of_a_folder_is_shown_before_what_was_added_since(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    begun: list[str] = []
    monkeypatch.setattr(page.background, "start", lambda title, *_, **__: begun.append(title))
    monkeypatch.setattr(type(page.background), "running", property(lambda _: True))
    another(Folder.open(root / "loop"))
    page.compute()
    assert not begun
    # Other settings do not wait.
    page.shown = read_view("folder:loop;cap:0.2")[0]
    page.compute()
    assert begun == ["Learning"]


@pytest.mark.slow
def test_sliders_learn_anew_and_stand_in_the_address(root: Path) -> None:
    page = open_page()
    before = share(page)
    page.fields.widgets["cap"].value = 0.2
    page.fields.widgets["exact"].value = True
    assert before.max() > 0.2 >= share(page).max() - 1e-6
    assert page.state.online == "folder:loop;cap:0.2;exact:true"
    page.blocked.value = [BEST]
    assert share(page)[-1, 2] == 0
    # The address brings it back, and without one it is as the folder has it.
    again = open_page(page.state.online)
    assert np.array_equal(share(again), share(page))
    assert again.blocked.value == [BEST]
    again.state.online = ""
    assert np.array_equal(share(again), before)


def test_what_is_drawn_of_a_course_stands_in_the_address(root: Path) -> None:
    page = open_page()
    charts, first = page.charts, page.state.online
    begun = charts.size.value, charts.place.value, list(charts.methods.value)
    fields = {charts.size: SIZES[0], charts.place: (2, 2), charts.methods: charts.methods.options[1:3]}
    for field, value in fields.items():
        before = page.state.online
        field.value = value
        assert page.state.online != before
    # The address brings it back, and undo what it was before.
    again = open_page(page.state.online).charts
    assert [again.size.value, again.place.value, list(again.methods.value)] == list(fields.values())
    assert again.panes["bands"].object is not None
    assert again.texts["bands"].object == charts.texts["bands"].object
    page.state.online = first
    assert (charts.size.value, charts.place.value, list(charts.methods.value)) == begun


def test_the_collective_that_is_drawn_stands_in_the_address(root: Path) -> None:
    state = state_of(bcast=synthetic_cube(3, 2, 4, 1), allreduce=synthetic_cube(3, 2, 4, 2))
    state.param.update(page="Online", online="scenario:replay;iterations:1;rounds:5")
    charts = OnlinePage(state).charts
    first, last = charts.collective.options
    charts.collective.value = last
    assert OnlinePage(state).charts.collective.value == last
    # Of what there is none in this course the pictures are as they begin.
    state.online = state.online.replace(last, "no_collective")
    assert charts.collective.value == first


@pytest.mark.slow
def test_what_a_loop_adds_is_shown(root: Path) -> None:
    page = open_page()
    another(Folder.open(root / "loop"))
    page.rhythm.now()
    assert page.charts.course is not None
    assert [iteration["iteration"] for iteration in page.charts.course.iterations] == [1, 2, 3]


def test_without_a_folder_a_simulation_is_the_way_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(root / "none"))
    page = open_page(SIMULATION)
    assert page.source.value == ("scenario", "reference")
    assert page.numbers.visible
    assert not page.blocked.visible
    assert "Six methods" in page.about.object
    assert page.charts.course is not None
    assert len(page.charts.course.iterations) == 2
    assert all(pane.object is not None for pane in page.charts.panes.values())
    page.seed.value = 4
    assert page.state.online == "seed:4;iterations:2;rounds:5" or "seed:4" in page.state.online


@pytest.mark.slow
@pytest.mark.parametrize("view", [SIMULATION, "folder:loop;cap:0.3;bins:seen", f"folder:loop;blocked:{BEST}"])
def test_command_and_python_give_the_figures_on_show(root: Path, done: Run, view: str) -> None:
    page = open_page(view)
    assert page.charts.course is not None
    answer = done(*shlex.split(as_command(page.state))[1:]).json
    boxes = [iteration["boxes"] for iteration in page.charts.course.iterations]
    assert [iteration["boxes"] for iteration in answer.get("course", answer)["iterations"]] == boxes
    course = by_python(page.state.recipes["Online"][1])
    assert [iteration["boxes"] for iteration in course["iterations"]] == boxes


@pytest.mark.slow
def test_numbers_stay_within_their_limits(root: Path) -> None:
    page = open_page("seed:3;iterations:1;rounds:1;runs:1")
    for typed, taken in ((-1, 0), (1 << 40, (1 << 31) - 1)):
        page.seed.value = typed
        assert (page.seed.value, page.shown.seed) == (taken, taken)
    assert page.seed.helper_text == "at most 2,147,483,647"
    page.iterations.value = -2
    assert (page.iterations.value, page.shown.iterations) == (1, 1)
    assert (page.seed.helper_text, page.iterations.helper_text) == ("", "at least 1")


def test_measurements_with_hints_are_replayed_by_command_and_python() -> None:
    shown = Shown(kind="scenario", name="replay", iterations=1)
    command, python = recipes(shown, Path("kept"), Origin(("files",), {"pattern": "{algorithm}.sko"}))
    assert "--results files --pattern '{algorithm}.sko'" in command
    assert "results = open_results(['files'], pattern='{algorithm}.sko')" in python


def test_what_was_measured_by_one_method_alone_is_not_replayed() -> None:
    times = np.linspace(1e-6, 4e-6, 8).reshape(2, 1, 4)
    cubes = {"bcast": cube_of(times, [2], [1, 2, 4, 8]), "pt2pt": cube_of(times[:1], [2], [1, 2, 4, 8])}
    assert list(read("replay", cubes).truths) == ["bcast"]
    with pytest.raises(OnlineError, match="of pt2pt no two methods were measured at one size"):
        read("replay", {"pt2pt": cubes["pt2pt"]})


@pytest.mark.slow
def test_what_cannot_be_shown_is_said(root: Path) -> None:
    assert "There is no folder gone here" in open_page("folder:gone").state.notice
    page = open_page("folder:loop;iterations:999")
    assert ("iterations is 999" in page.state.notice, page.state.online) == (True, "folder:loop")
    (root / "loop" / "online.parquet").write_bytes(b"PAR1")
    page = open_page("folder:loop")
    assert page.message.visible
    assert not page.charts.body.visible
    (root / "loop" / "online.parquet").unlink()
    (root / "loop" / "online.parquet").symlink_to(root.parent)
    assert "leads out" in open_page("folder:loop").message.object
    make(root / "empty", 0)
    assert "Nothing has been learnt" in open_page("folder:empty").message.object
    # Without measurements there is nothing to replay.
    replay = open_page("scenario:replay")
    assert "results" in replay.message.object


@pytest.mark.parametrize(
    "shown",
    [
        Shown(),
        Shown("scenario", "drift", 7, 3, {"cap": 0.4, "blacklist": None}),
        Shown(
            "folder", "loop", learning={"learner": "log", "exact": True}, blocked=("bcast:chain 4", "allreduce:ring")
        ),
        Shown("folder", "loop", blocked=()),
        Shown("folder", "loop", pictured=Pictured("bcast", (4, 2), 512, ("chain 4", "ring"))),
        Shown("folder", "loop", pictured=Pictured(message_size=0, methods=())),
    ],
)
def test_a_view_is_read_as_it_was_written(shown: Shown) -> None:
    assert read_view(write_view(shown)) == (shown, "")
    read, notice = read_view(write_view(shown) + ";colour:red")
    assert (read, "colour" in notice) == (shown, True)


def test_an_outline_stands_while_a_course_is_made_and_not_once_that_was_cancelled(root: Path) -> None:
    page = open_page()
    page.charts.hide()
    page.background.bar.visible = True
    assert page.charts.coming.visible
    page.background.bar.visible = False
    assert not page.charts.coming.visible
    # What is there to look at stays while another is made.
    page.charts.body.visible = True
    page.background.bar.visible = True
    assert not page.charts.coming.visible
