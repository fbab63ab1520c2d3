"""Plants faults in modules, one after the other, and lists those that no test notices.

    pip install mutmut
    python -m tests.mutations FOLDER loaders/skampi.py loaders/pooling.py --tests tests/loaders --sample 30

By hand, not a part of every run. mutmut (3.8) plants them in a copy of the last commit in FOLDER, which goes on where
it was, and runs of `--tests` those that call the changed function. Left out are faults in texts and in what is raised;
of the others `--sample` of each module are drawn, the same ones at every run. What survives is shown as a change of
lines: it is the same for every user (say so), or a test is missing. ``nothing calls it`` is said of the tests given.
Slow tests are among them with ``PYTEST_ADDOPTS="-m 'not soak'"``. Not for modules that end processes, as those of
``launchers``: a fault in which ones are meant could end all that the user has.
"""

import argparse
import difflib
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PLANTED = re.compile(r"( *)def (\S+__mutmut_)(orig|\d+)\(")
#: Changes that are no fault in a figure: texts, refusals, what is said on the way.
_SAID = re.compile(r"XX|raise |Error\(|noqa|skip\(|progress")
_ENDS = {0: "survived", 1: "killed", 3: "killed", 33: "nothing calls it", None: "not run"}


def main() -> None:
    """Plant, run, and show what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the copy lies")
    parser.add_argument("modules", nargs="+", help="files, such as loaders/skampi.py")
    parser.add_argument("--tests", nargs="+", required=True, help="files and folders of tests")
    parser.add_argument("--sample", type=int, default=30, help="faults of each module at most (default 30)")
    parser.add_argument("--processes", type=int, default=2, help="tested at a time (default 2)")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    if not (folder / "mutants").exists():
        copy(folder, given.modules, given.tests)
        # A name that fits none: the faults are planted, and the tests are run once to see what they call.
        mutmut(folder, 1, ["none"])
    changes = {name: change for path in given.modules for name, change in sampled(folder, path, given.sample)}
    mutmut(folder, given.processes, list(changes))
    show(folder, changes)


def copy(folder: Path, modules: list[str], tests: list[str]) -> None:
    """Lay the last commit out in `folder`, with what mutmut is to do there."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    settings = {
        "source_paths": ["loaders", "dashboard"],
        "only_mutate": modules,
        # Forked from a process that has run the tests, a fault would wait for threads that are not there.
        "process_isolation": "forkserver",
        "also_copy": ["sample_data", "tests", "README.md"],
        "pytest_add_cli_args": ["-n", "0", "-q", "-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": tests,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n".join(["", "[tool.mutmut]", *lines, ""]))


def mutmut(folder: Path, processes: int, names: list[str]) -> None:
    """Run the tests over the faults of these names; what it says goes into a file."""
    # What Numba compiled of the modules as they are must not be taken for what it makes of the faults.
    places = {"COLLTUNE_SHARED": str(ROOT.parent / "shared"), "NUMBA_CACHE_DIR": str(folder / "numba")}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(processes), *names]
    with (folder / "mutmut.log").open("ab") as log:
        subprocess.run(command, cwd=folder, env=places | os.environ, stdout=log, stderr=log, check=False)


def sampled(folder: Path, path: str, most: int) -> list[tuple[str, list[str]]]:
    """Faults of a module, drawn from all that may change a figure: name, lines before and after."""
    bodies = dict(functions((folder / "mutants" / path).read_text(encoding="utf-8").splitlines()))
    module = path.removesuffix(".py").replace("/", ".")
    planted: list[tuple[str, list[str]]] = []
    for name, body in bodies.items():
        stem, number = name.rsplit("_", 1)
        before = bodies.get(f"{stem}_orig")
        if number == "orig" or before is None:
            continue
        change = [line for line in difflib.ndiff(before, body) if line[0] in "-+"]
        sides = ["".join(line[2:] for line in change if line[0] == side).lower() for side in "-+"]
        if not _SAID.search("".join(change)) and sides[0] != sides[1]:
            planted.append((f"{module}.{name}", change))
    return random.Random(path).sample(planted, min(most, len(planted)))


def functions(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Name and body of each function that mutmut wrote."""
    name, depth, body = "", 0, list[str]()
    for line in [*lines, "end"]:
        indent = len(line) - len(line.lstrip())
        if name and line.strip() and indent <= depth and not line.lstrip().startswith(")"):
            yield name, body
            name = ""
        if match := _PLANTED.match(line):
            name, depth, body = match[2] + match[3], len(match[1]), []
        elif name:
            body.append(line)


def show(folder: Path, changes: dict[str, list[str]]) -> None:
    """Print how many of each module ended how, and what survived."""
    ended: dict[str, str] = {}
    for path in (folder / "mutants").rglob("*.meta"):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        ended |= {name: _ENDS.get(codes[name], "timed out or crashed") for name in changes.keys() & codes.keys()}
    for (module, how), number in sorted(Counter((name.rsplit(".", 1)[0], how) for name, how in ended.items()).items()):
        print(f"{module}: {number} {how}")
    for name in sorted(name for name, how in ended.items() if how in ("survived", "nothing calls it")):
        print(f"\n{name}: {ended[name]}", *changes[name], sep="\n")


if __name__ == "__main__":
    main()
