"""Walls and doors: what computes draws nothing, only what mpiexec runs knows MPI, and packages lend what they name."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

DRAWING = {"panel", "holoviews", "bokeh", "panel_material_ui", "geoviews", "datashader", "matplotlib"}
#: What takes its time to import, and what only computing needs.
HEAVY = {"numpy", "pandas", "xarray", "dask", "scipy", "sklearn", "numba", "pyarrow", "h5py", "zarr", "param"}

# From the top down; a module imports from its own row and from those below it only.
LAYERS = [
    {"dashboard.cli", "dashboard.commands"},
    {"dashboard.main", "dashboard.serve", "dashboard.app_hooks"},
    {"dashboard.app"},
    {"dashboard.pages", "dashboard.report", "dashboard.server"},
    {"dashboard.plots", "dashboard.measuring", "dashboard.tuning"},
    {"dashboard.session"},
    {"dashboard.online"},
    {"dashboard.decisions", "dashboard.models", "dashboard.export", "dashboard.benchmarks"},
    {"dashboard.schedules"},
    {"dashboard.domain"},
    {"loaders"},
]
# `decisions` knows nothing of `models` (nor of the writers), `export` of neither pages nor plots.
STRANGERS = {"dashboard.decisions": {"dashboard.models", "dashboard.export", "dashboard.benchmarks"}}
MAY_DRAW = (
    *("dashboard.pages", "dashboard.plots", "dashboard.report", "dashboard.server"),
    *("dashboard.app", "dashboard.app_hooks", "dashboard.main", "dashboard.serve"),
)
KNOWS_MPI = "dashboard.benchmarks"


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the file of every module of both packages."""
    for package in ("loaders", "dashboard"):
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def within(name: str, packages: tuple[str, ...] | set[str]) -> bool:
    """Whether the module `name` is one of `packages` or inside one."""
    return any(name == package or name.startswith(package + ".") for package in packages)


@cache
def nodes(file: Path) -> list[ast.AST]:
    """What of a module's syntax the tests look at: imports, calls and words."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    tree = ast.parse(text, str(file))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Constant)]


def imports(name: str, file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and full name of all that a module imports, inside functions and by name ("module:name") too."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"(loaders|dashboard)[\w.]+:\w+", str(node.value)):
            yield node.lineno, str(node.value).replace(":", ".")


def layer(name: str) -> int | None:
    """Row of `LAYERS` that a module is in; None for those that stand beside them, such as the command."""
    return next((row for row, packages in enumerate(LAYERS) if within(name, packages)), None)


BELOW_THE_WALL = [name for name, _ in modules() if not within(name, MAY_DRAW) and not name.endswith("__main__")]
NO_MPI = [name for name, _ in modules() if not within(name, (KNOWS_MPI,))]


@cache
def without_mpi() -> dict[str, list[str]]:
    """What each module outside the benchmarks brings along, those below the wall before those that may draw."""
    names = [name for name in NO_MPI if name != "dashboard.main" and not name.endswith("__main__")]
    return loaded_by(sorted(names, key=lambda name: name not in BELOW_THE_WALL))


def loaded_by(names: list[str]) -> dict[str, list[str]]:
    """Import `names` one after the other in a fresh interpreter; tell which top-level packages each brought along."""
    program = (
        "import importlib, json, sys\n"
        "seen, brought = set(), {}\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    importlib.import_module(name)\n"
        "    now = {module.partition('.')[0] for module in sys.modules}\n"
        "    brought[name], seen = sorted(now - seen), now\n"
        "print(json.dumps(brought))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(names)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_nothing_below_the_plots_brings_a_drawing_library_along() -> None:
    brought = without_mpi() | loaded_by([name for name in BELOW_THE_WALL if name not in NO_MPI])
    assert {name: met for name in BELOW_THE_WALL if (met := DRAWING & set(brought[name]))} == {}


@pytest.mark.parametrize(("words", "said"), [("--help", "decide"), ("--version", "colltune"), ("lint", "RULESFILE")])
def test_what_computes_nothing_answers_before_anything_that_draws_or_computes(words: str, said: str) -> None:
    program = f"import sys; from dashboard.cli import main; main([{words!r}]); print(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True, check=True)
    assert said in done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "dashboard.cli" in loaded
    assert (DRAWING | HEAVY) & loaded == set()


def test_the_ranks_of_a_job_start_without_what_reads_and_decides() -> None:
    workers = [name for name, file in modules() if f"-m mpi4py -m {name}" in file.read_text(encoding="utf-8")]
    assert len(workers) >= 4
    for name, brought in loaded_by([*workers, "loaders.run_writer"]).items():
        assert {"pandas", "xarray", "dask", "scipy"} & set(brought) == set(), name


def test_no_module_outside_the_benchmarks_names_mpi4py() -> None:
    named = [
        f"{file.relative_to(ROOT)}:{line} imports {target}"
        for name, file in modules()
        if name in NO_MPI
        for line, target in imports(name, file)
        if within(target, ("mpi4py",))
    ]
    assert named == []


@pytest.mark.slow
def test_no_page_and_no_plot_brings_mpi4py_along() -> None:
    assert [name for name, packages in without_mpi().items() if "mpi4py" in packages] == []


def test_no_module_imports_from_a_layer_above_its_own() -> None:
    upward = [
        f"{file.relative_to(ROOT)}:{line} imports {target}"
        for name, file in modules()
        for line, target in imports(name, file)
        if (here := layer(name)) is not None and (there := layer(target)) is not None and there < here
    ]
    assert upward == []


@pytest.mark.parametrize(("package", "strangers"), STRANGERS.items(), ids=STRANGERS)
def test_a_package_knows_nothing_of_its_strangers(package: str, strangers: set[str]) -> None:
    met = [
        f"{file.relative_to(ROOT)}:{line} imports {target}"
        for name, file in modules()
        if within(name, (package,))
        for line, target in imports(name, file)
        if within(target, strangers)
    ]
    assert met == []


def test_one_module_knows_the_template_library() -> None:
    # Importing it changes the widgets that Panel builds from params, in the whole process.
    knowing = {
        name for name, file in modules() for _, target in imports(name, file) if within(target, ("panel_material_ui",))
    }
    assert knowing == {"dashboard.pages.parts.widgets"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = dict(modules())
    arrows = {
        name: {
            target if target in known else target.rpartition(".")[0]
            for _, target in imports(name, file)
            if target in known or target.rpartition(".")[0] in known
        }
        - {name}
        for name, file in known.items()
    }
    # What neither imports anything that is left nor is imported by it stands in no circle.
    left = set(arrows)
    while free := {n for n in left if not arrows[n] & left or not any(n in arrows[other] for other in left)}:
        left -= free
    assert sorted(left) == []


@cache
def doors() -> dict[str, list[str]]:
    """What each package lends to those outside: the names, modules and packages in its `__all__`."""
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in modules() if file.stem == "__init__"}
    return {
        name: [
            word
            for node in tree.body
            if isinstance(node, ast.Assign) and "__all__" in ast.unparse(node)
            for word in ast.literal_eval(node.value)
        ]  # type: ignore[attr-defined]
        for name, tree in trees.items()
    }


def room(name: str) -> str:
    """First package on the way to a module: `loaders`, or one at the first level of `dashboard`."""
    return ".".join(name.split(".")[: 1 if within(name, ("loaders",)) else 2])


def borrowed() -> Iterator[tuple[str, str, str]]:
    """Yield where a module or notebook takes something of another package, and each step there: package, name in it."""
    for name, file in [*modules(), *(("notebook", file) for file in (ROOT / "notebooks").glob("*.ipynb"))]:
        for line, target in imports(name, file):
            if within(target, ("loaders", "dashboard")) and room(target) in doors() and room(target) != room(name):
                package = room(target)
                for step in target[len(package) + 1 :].split("."):
                    if package not in doors():
                        break
                    yield f"{file.relative_to(ROOT)}:{line}", package, step
                    package += f".{step}"


def test_packages_are_entered_by_their_doors_alone() -> None:
    assert [
        f"{place} takes {step} of {package}"
        for place, package, step in borrowed()
        if step and step not in doors()[package]
    ] == []


def test_a_door_lends_no_module_that_nobody_outside_needs() -> None:
    known, taken = dict(modules()), {(package, step) for _, package, step in borrowed()}
    lent = {(package, step) for package in doors() for step in doors()[package] if f"{package}.{step}" in known}
    assert lent - taken == set()


#: Words that say nothing of what a variable holds.
SAY_NOTHING = {"found", "told", "one", "whole", "some"}


def test_variables_and_functions_are_named_after_what_they_hold() -> None:
    named = [
        f"{file.relative_to(ROOT)}:{node.lineno} {word}"  # type: ignore[attr-defined]
        for name, file in modules()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for word in [getattr(node, "arg", None) or getattr(node, "name", None) or getattr(node, "id", "")]
        if isinstance(node, ast.arg | ast.FunctionDef | ast.Name) and word.strip("_") in SAY_NOTHING
    ]
    assert named == []


def test_the_tests_of_a_file_run_in_one_process(request: pytest.FixtureRequest) -> None:
    # Torn apart, each process starts every server, campaign and cluster of its own: the run takes twice as long.
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert "@" in request.node.nodeid


#: Modules that open files to write: a closed standard error, locks, a stream that grows, what stands aside already.
OPENS = {"dashboard.cli", "dashboard.benchmarks.campaigns.control", "dashboard.online.tuner"}
OPENS |= {"loaders.storage", "dashboard.measuring.tunings"}


def written(name: str, file: Path) -> Iterator[str]:
    """Yield the places at which a module writes a file by another way than `loaders.disk`, which writes aside first."""
    for node in nodes(file):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        of = (
            node.func.value.id if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) else ""
        )
        words = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        opened = called == "open" and name not in OPENS and any(set(word) <= set("wxbt+") for word in words)
        if (
            opened
            or called == "make_archive"
            or (called in ("write_text", "write_bytes") and of not in ("disk", "saved"))
        ):
            yield f"{file.relative_to(ROOT)}:{node.lineno}"


def test_a_full_disk_destroys_nothing_since_all_is_written_aside_and_renamed() -> None:
    assert not [place for name, file in modules() if name != "loaders.disk" for place in written(name, file)]
