"""MPICH's own complete selection, as it is compiled into the library, or as it is known of a version.

Builds since 4.0 hold their three selection files as text (``src/mpi/coll/src`` and ``src/mpid/ch4`` turn the JSON
files of ``maint/tuning/coll`` into string constants). The one of all algorithms is what ``MPIR_CVAR_COLL_SELECTION_
TUNING_JSON_FILE`` replaces, so that a file made of it fits the very library it was found in.
"""

import json
import mmap
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dashboard.decisions import DecisionFunction
from dashboard.export.rules.mpich import GENERIC
from loaders import disk

_BEGIN = b'{"collective='
_LONGEST = 1 << 20
#: Beside results of a campaign: the selection of the MPICH that was measured.
KEPT = "mpich_selection.json"
#: Series of MPICH whose libraries hold the same selection, and where it stands here.
KNOWN = ("4.1", "4.2", "4.3", "5.0")
_KNOWN_FILE = Path(__file__).with_name("selections") / f"{KNOWN[0]}-{KNOWN[-1]}.json"
_NAMES = ("libmpi.so*", "libmpich.so*", "libmpi.dylib", "libmpich.dylib")
#: Beside these programs of an MPICH its library is looked for.
_PROGRAMS = ("mpichversion", "mpivars")


def embedded(library: Path) -> str | None:
    """Read the selection of all algorithms out of a library file; None where there is none.

    Parameters
    ----------
    library
        Such as ``lib/libmpi.so``.
    """
    with library.open("rb") as file:
        if not library.stat().st_size:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            return next((text for text in _texts(memory) if _complete(text)), None)


def _texts(memory: mmap.mmap) -> Iterator[str]:
    """All string constants that begin like a selection."""
    place = memory.find(_BEGIN)
    while place >= 0:
        end = memory.find(b"\0", place, place + _LONGEST)
        if end >= 0:
            yield memory[place:end].decode("ascii", "replace")
        place = memory.find(_BEGIN, place + len(_BEGIN) if end < 0 else end)


def _complete(text: str) -> bool:
    """Whether a text is the selection that names algorithms for every collective."""
    try:
        document = json.loads(text)
    except ValueError:
        return False
    return all(f"collective={name}" in document for name in GENERIC)


def installed(root: Path | None = None) -> tuple[Path, str] | None:
    """Find the MPICH of a folder, else of this Python, else of the PATH, and give its library file and its selection.

    Parameters
    ----------
    root
        That holds ``bin`` and ``lib`` of an MPICH; nothing else is looked at then.
    """
    for library in _libraries(root):
        if text := embedded(library):
            return library, text
    return None


def keep(folder: Path, mpiexec: Path) -> None:
    """Write the selection of the MPICH that a program of it starts beside a campaign's results, where it is found."""
    if (held := installed(mpiexec.absolute().parent.parent)) is not None:
        disk.write_text(folder / KEPT, held[1])


def kept(paths: Sequence[str | os.PathLike[str]]) -> str | None:
    """The selection that stands beside results; None where none can be read, or several differ."""
    folders = [path if path.is_dir() else path.parent for path in map(Path, paths)]
    try:
        texts = {disk.read_text(folder / KEPT) for folder in folders if (folder / KEPT).is_file()}
    except (OSError, UnicodeDecodeError):
        return None
    return texts.pop() if len(texts) == 1 else None


def known(version: str) -> str | None:
    """The selection of a version of MPICH (not of a vendor's), such as ``5.0.2``; None where it is not known."""
    return disk.read_text(_KNOWN_FILE) if ".".join(version.split(".")[:2]) in KNOWN else None


def given(name: str) -> str:
    """Read a selection that is asked for by the name of its file or by a version that is known; `OSError` otherwise."""
    path = Path(name)
    text = None if path.exists() else known(name)
    return disk.read_text(path) if text is None else text


def standing(decisions: Sequence[DecisionFunction]) -> str | None:
    """The selection that decisions are put into: of the version that was measured, else of the MPICH installed here."""
    text = known(_measured(decisions))
    if text is None and (held := installed()) is not None:
        text = held[1]
    return text


def borrowed(decisions: Sequence[DecisionFunction]) -> str:
    """Warn where `standing` is of another version than was measured; empty where it is not, or nobody can tell."""
    measured = _measured(decisions)
    if not measured or known(measured) is not None or (held := installed()) is None:
        return ""
    if f"{measured}\0".encode() in held[0].read_bytes():
        return ""
    return (
        f"measured was MPICH {measured}, whose own selection is not known: the rules stand in that of {held[0]}, of "
        "another version, and MPICH ends programs whose file names what it lacks; --base FILE names its own "
        "(maint/tuning in its source)"
    )


def _measured(decisions: Sequence[DecisionFunction]) -> str:
    """The version of MPICH that all were measured with; empty where there is none."""
    versions = {
        str(each.provenance.get("library_version", "")) if each.provenance.get("library") == "MPICH" else ""
        for each in decisions
    }
    return versions.pop() if len(versions) == 1 else ""


def _libraries(root: Path | None) -> Iterator[Path]:
    roots = [root or Path(sys.executable).parent.parent]
    if root is None:
        roots += [Path(program).resolve().parent.parent for name in _PROGRAMS if (program := shutil.which(name))]
    for place in dict.fromkeys(roots):
        for folder in (place / "lib", place / "lib64"):
            for pattern in _NAMES:
                yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())
