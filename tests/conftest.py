"""What many tests need: data, a browser, a served dashboard; and when a test may be skipped."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import xarray as xr
from hypothesis import HealthCheck, settings
from playwright.sync_api import Error, sync_playwright

from dashboard.cli import main
from dashboard.session.state import State
from loaders import open_results, save_results
from tests.cli.command import Answer, Run
from tests.serving import Served
from tests.states import sample_state

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parent.parent
FAST_ETHERNET = ROOT / "sample_data" / "fast-ethernet-16"
FAST_ETHERNET_PATTERN = "{collective}__{algorithm}__seg{segment_size}.sko"

# Default: the same examples at every run, so that a red test is red for everyone.
# `--hypothesis-profile=thorough` searches on; run it before a release or after a parser changed.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=25, derandomize=True, database=None, **_UNTIMED)
settings.register_profile("thorough", max_examples=2000, **_UNTIMED)
settings.load_profile("default")

# Pages are thousands of objects that live as long as their test: looked through each 700 of them, as Python does left
# to itself, they cost a tenth of the run.
gc.set_threshold(50_000, 20, 20)

# Compiled code is kept, also where the environment forbids it: the tests start hundreds of the project's programs, and
# each would compile all that it imports anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: Folders whose tests start most jobs of MPI. One process runs them all: two jobs at once, whose ranks wait busily on
#: two cores, take several times as long as one after the other, and measure each other instead of what they should.
_MPI = ("cluster", "bench", "tuning")
#: Stands for the tests above all folders: servers and notebooks.
_TOP = "tests"
#: Folders of the tests that take longest, which begin first: the two processes that run the tests then end together.
_LONGEST = (*_MPI, "browser", _TOP, "safety", "pages")
#: Files of the tests that use a browser.
_IN_BROWSER = pytest.StashKey[set[Path]]()
#: Folders of the tests that measure or wait for real processes: what a busy machine upsets there is tried once more.
_REAL = {_TOP, "bench", "browser", "cluster", "measuring", "online", "pages", "safety", "tuning"}


#: The browser does nothing but what the tests ask for, and finds no machine but this one.
_QUIET = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]
#: A new page finds nothing in the storage of a server's address; what it keeps itself stays.
_NOTHING_KEPT = """if (location.protocol === 'http:' && !sessionStorage.seen) {
    localStorage.clear()
    sessionStorage.seen = true
}"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Keep the tests of one file in one process, and all that start jobs of MPI; the longest go first."""
    starting = {item.path for item in items if _folder(item) in _MPI and "mpiexec" in getattr(item, "fixturenames", ())}
    for item in items:
        group = "mpi" if item.path in starting else item.path.stem + item.path.parent.name
        item.add_marker(pytest.mark.xdist_group(group))
        if _folder(item) in _REAL:
            item.add_marker(pytest.mark.flaky(reruns=1))
    session.stash[_IN_BROWSER] = {item.path for item in items if "context" in getattr(item, "fixturenames", ())}
    longest = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: (item.path not in starting, longest.get(_folder(item), len(_LONGEST))))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the browser before a file of tests that need none: while Playwright runs, no other event loop can."""
    if item.path not in item.session.stash[_IN_BROWSER]:
        _CHROMIUM.close()


def _folder(item: pytest.Item) -> str:
    """Folder of ``tests/`` that a test is in, `_TOP` where it is in none."""
    folder, *_ = (*item.path.relative_to(ROOT / "tests").parent.parts, _TOP)
    return folder


@pytest.fixture(scope="module", autouse=True)
def heap_of_former_modules() -> None:
    """Leave out of later garbage collections what former modules have left: walking over it took a fifth of the run."""
    gc.collect()
    gc.freeze()


def need(available: object, reason: str) -> None:
    """Skip the test with `reason` if something it needs is not there; in CI fail, since CI installs it."""
    if available:
        return
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{reason} (CI=true: not skipped)", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with reference files of every format, ``../shared`` or ``$COLLTUNE_SHARED``."""
    path = Path(os.environ.get("COLLTUNE_SHARED", ROOT.parent / "shared"))
    need((path / "data").is_dir(), f"{path / 'data'}: no such folder; set COLLTUNE_SHARED to the one that holds data/")
    return path


@pytest.fixture(scope="session")
def samples(shared: Path) -> Path:
    """Folder with one subfolder of real benchmark files for each format."""
    return shared / "data" / "samples"


@pytest.fixture(scope="session")
def fast_ethernet_files() -> list[Path]:
    """Files of the sample data, one for each method, in file-name order (repeated launches left out)."""
    return sorted(FAST_ETHERNET.glob("*.sko"))


@pytest.fixture(scope="session")
def fast_ethernet(fast_ethernet_files: list[Path]) -> xr.DataTree:
    """Give the results of the sample data: methods in file-name order, five collectives and pt2pt.

    Shared by the whole run: take a copy before changing it.
    """
    return open_results(fast_ethernet_files, pattern=FAST_ETHERNET_PATTERN)


@pytest.fixture(scope="session")
def fast_ethernet_bcast(fast_ethernet: xr.DataTree) -> xr.Dataset:
    """Broadcast cube of the sample data: 25 methods, 11 communicator sizes, 19 message sizes."""
    return fast_ethernet["bcast"].to_dataset()


@pytest.fixture
def state() -> State:
    """Choices of a session that looks at the first sample campaign."""
    return sample_state()


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A folder on a disk of 256 KiB of its own; skipped where disks cannot be mounted, which only root can."""
    # Outside pytest's folders: a disk that a killed run leaves there would end later runs, which cannot remove it.
    folder = Path(tempfile.mkdtemp(prefix="colltune-disk-"))
    words = ["mount", "-t", "tmpfs", "-o", "size=256k", "colltune-test", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        folder.rmdir()
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=True)
        folder.rmdir()


@pytest.fixture(scope="session")
def gcc() -> str:
    """C compiler, ``$CC`` or gcc."""
    path = shutil.which(os.environ.get("CC", "gcc"))
    need(path, "no C compiler: gcc is not on the PATH, and CC names none")
    return str(path)


def until(what: Callable[[], Any], explanation: Callable[[], Any] = str, seconds: float = 100.0) -> Any:
    """Wait until something holds; what it gave."""
    end = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < end, f"waited in vain: {explanation()}"
        time.sleep(0.02)
    return value


def ran(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, which must end well; what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


@pytest.fixture(scope="session")
def mpiexec() -> str:
    """Start command of the MPI: of this venv if it holds one, else of the machine."""
    beside = Path(sys.executable).parent / "mpiexec"
    path = str(beside) if beside.exists() else shutil.which("mpiexec")
    need(path, "no MPI: mpiexec is neither in the venv nor on the PATH")
    return str(path)


@pytest.fixture
def colltune(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    def run(*arguments: object) -> Answer:
        status = main([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return run


def _to(status: int, colltune: Run) -> Run:
    def run(*arguments: object) -> Answer:
        answer = colltune(*arguments)
        assert answer.status == status, answer.err
        return answer

    return run


@pytest.fixture
def done(colltune: Run) -> Run:
    """Run it to its success."""
    return _to(0, colltune)


@pytest.fixture
def refused(colltune: Run) -> Run:
    """Run what it refuses."""
    return _to(2, colltune)


def find_chromium() -> str | None:
    """Path of Chromium: ``$COLLTUNE_CHROMIUM``, or the first one on the PATH; first the one without a window."""
    named = os.environ.get("COLLTUNE_CHROMIUM")
    browsers = ["chromium", "/usr/bin/chromium", "chromium-browser", "google-chrome", "chrome"]
    names = [named] if named else ["chromium-headless-shell", *browsers]
    return next((path for name in names if (path := shutil.which(name))), None)


class Chromium:
    """Chromium, driven by Playwright, and the context whose pages share what it has fetched and compiled."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._context: BrowserContext | None = None

    @property
    def context(self) -> BrowserContext:
        """The context; starts the browser where it does not run, or does not any more."""
        if self._context is not None and not (self._context.browser and self._context.browser.is_connected()):
            self.close()
        if self._context is None:
            driver = self._open.enter_context(sync_playwright())
            browser = driver.chromium.launch(executable_path=find_chromium(), args=_QUIET)
            self._open.callback(browser.close)
            self._context = browser.new_context(accept_downloads=True, viewport={"width": 1600, "height": 1200})
            # Two files of tests share the machine, and some pages compute for half a minute.
            self._context.set_default_timeout(180_000)
        return self._context

    def close(self) -> None:
        """End the browser; the next test that needs one starts it anew."""
        self._context = None
        with contextlib.suppress(Error):
            self._open.close()


_CHROMIUM = Chromium()


@pytest.fixture(scope="session", autouse=True)
def end_of_chromium() -> Iterator[None]:
    """Leave no browser behind."""
    yield
    _CHROMIUM.close()


@pytest.fixture
def context() -> BrowserContext:
    """The browser's context that the pages of all tests share."""
    need(find_chromium(), "no browser: chromium is not on the PATH, and COLLTUNE_CHROMIUM names none")
    return _CHROMIUM.context


@pytest.fixture
def chromium(context: BrowserContext) -> Browser:
    """Headless Chromium."""
    assert context.browser is not None
    return context.browser


@dataclass
class WatchedPage:
    """A browser page with what it asked for outside this machine and what went wrong in it."""

    page: Page
    foreign: list[str]
    errors: list[str]


def _leaves_the_machine(address: str) -> bool:
    url = urlsplit(address)
    return url.scheme not in {"data", "blob"} and url.hostname not in {"localhost", "127.0.0.1"}


@pytest.fixture
def watched_page(context: BrowserContext) -> Iterator[WatchedPage]:
    """Open an empty page in which nothing was kept, and write down each request that would leave the machine."""
    watched = WatchedPage(context.new_page(), [], [])
    watched.page.add_init_script(_NOTHING_KEPT)
    # Looked at, not stopped on the way, which would have all scripts fetched anew for each page: `_QUIET` stops them.
    watched.page.on("request", lambda asked: _leaves_the_machine(asked.url) and watched.foreign.append(asked.url))
    watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
    yield watched
    watched.page.close()
    context.clear_permissions()


@pytest.fixture(scope="session")
def serve_dashboard() -> Iterator[Callable[..., Served]]:
    """Give ``serve_dashboard(*arguments)``, which runs ``panel serve dashboard`` from the checkout on a free port.

    Sessions share nothing, so tests that ask for the same in the same environment share the server.
    """
    running: dict[Any, Served] = {}
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> Served:
            wanted = arguments, tuple(sorted(each for each in os.environ.items() if each[0].startswith("COLLTUNE_")))
            if wanted not in running:
                server = [sys.executable, "-m", "panel", "serve", "dashboard", "--address", "127.0.0.1", "--port", "0"]
                running[wanted] = stack.enter_context(Served([*server, *arguments], ROOT))
            return running[wanted]

        yield start


@pytest.fixture(scope="session")
def small_dashboard(
    serve_dashboard: Callable[..., Served], fast_ethernet: xr.DataTree, tmp_path_factory: pytest.TempPathFactory
) -> Served:
    """Serve a third of the sample data's sizes, for tests that look at all pages: none has to compute for long."""
    path = tmp_path_factory.mktemp("small") / "small.nc"
    cubes = {
        f"/{name}": node.to_dataset().isel(comm_size=slice(None, None, 2), message_size=slice(None, None, 3))
        for name, node in fast_ethernet.children.items()
    }
    return serve_dashboard("--args", str(save_results(xr.DataTree.from_dict(cubes), path)))
