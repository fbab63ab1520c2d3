"""Read any rules file: tell its format by its content, and what is wrong with it."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from dashboard.export.provenance import is_generated
from dashboard.export.rules import intel, mpich, nccl, openmpi_han, openmpi_json, openmpi_text, ucc
from dashboard.export.rules.fault import Fault, RulesError, RulesFile, in_order
from dashboard.export.rules.json_lines import At, parse
from dashboard.export.targets.mpich.base import KNOWN, known
from dashboard.export.targets.openmpi.nodes import MARK
from loaders import disk
from loaders.openmpi import DEFAULT_VERSION, series

_KNOWN = (
    "Open MPI (versions 1, 2 and 3, HAN's), MPICH (JSON), Intel (I_MPI_ADJUST_*), UCC (UCC_*_TUNE) and NCCL (tuner CSV)"
)
_INTEL = re.compile(r"^\s*(?:export\s+|set\s+|-genv\s+)?I_MPI_ADJUST_\w", re.MULTILINE)
_UCC = re.compile(r"^\ufeff?\s*(?:export\s+)?UCC_\w+\s*[=:]", re.MULTILINE)
_OMPI_INFO = re.compile(r"^mca:\w+:", re.MULTILINE)
_HEADER = re.compile(r"\ufeff?[ \t]*(?:\w+[ \t]*,[ \t]*)*collective[ \t]*,")
_WORD = re.compile(r"[^\s#]\S*")
_HEAD = 4096
#: Tells rules of Open MPI among those in JSON.
_COLLECTIVES = '"collectives"'
_NUMBERS = re.compile(r"\(algorithm numbers of (\d+\.\d+)\)")


def text_of(path: str | Path) -> str:
    """The text of a rules file, whatever its bytes; `RulesError` where it cannot be read."""
    try:
        return disk.read_bytes(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RulesError(f"{path}: cannot be read: {error.strerror or error}") from None


def written_for(text: str) -> str:
    """Version of Open MPI whose numbers rules are written in, as their head says; else the usual one."""
    match = _NUMBERS.search(text[:_HEAD])
    return match[1] if match else DEFAULT_VERSION


def read_rules(path: str | Path, *, version: str | None = None, own: str = "") -> RulesFile:
    """Read a rules file; parameters and errors as for `read_text`, RulesError also when it cannot be read."""
    text = text_of(path)
    try:
        return read_file(text, version=version, own=own)
    except RulesError as error:
        raise RulesError(f"{path}: {error}") from None


def read_file(text: str, *, version: str | None = None, own: str = "") -> RulesFile:
    """Read what stands in one file, as `read_text`: where that is two files, no library takes it."""
    rules = read_text(text, version=version, own=own)
    if MARK not in (lines := text.splitlines()) or rules.format != "openmpi-nodes":
        return rules
    what = "here begins the second file, HAN's rules, which must be a file of its own (--han names it)"
    effect = "no library reads both from one: HAN drops it all, and tuned takes what stands before"
    fault = Fault(lines.index(MARK) + 1, "error", what, effect)
    return replace(rules, decisions={}, faults=in_order([*rules.faults, fault]))


def read_text(text: str, *, version: str | None = None, own: str = "") -> RulesFile:
    """Read the text of a rules file.

    Parameters
    ----------
    version
        Of the Open MPI that reads its classic rules; without it that which they are `written_for`.
    own
        Text of the file that an MPICH itself holds: what stands there unchanged is left to the library.

    Raises
    ------
    RulesError
        When it is no rules file that is known; the message says what it seems to be.
    """
    wanted = version or written_for(text)
    try:
        series(wanted)
    except ValueError as error:
        raise RulesError(str(error)) from None
    return replace(_read(text, wanted, own), generated=is_generated(text), text=text)


def _read(text: str, version: str, own: str) -> RulesFile:
    if "\0" in text:
        raise RulesError(f"not a text file; known are rules of {_KNOWN}")
    if text.lstrip("\ufeff \t\r\n").startswith("{") and f"{MARK}\n" not in text:
        return _json(text, own)
    if _OMPI_INFO.search(text):
        raise RulesError("this is what ompi_info prints of the library's parameters, no rules")
    for pattern, reader in ((_INTEL, intel.read), (_UCC, ucc.read)):
        if pattern.search(text):
            return reader(text)
    if nccl.is_measurements(text):
        raise RulesError("these are measurements for NCCL's optimize_config.py, no rules")
    if _HEADER.match(text):
        raise RulesError("no rules file: results (colltune info reads them)")
    if nccl.recognises(text):
        return nccl.read(text)
    if (rules := _open_mpi(text, version)) is not None:
        return rules
    raise RulesError(f"no rules file that is known; known are rules of {_KNOWN}")


def _open_mpi(text: str, version: str) -> RulesFile | None:
    """Rules of tuned, HAN's or both; None where it is none of these."""
    if f"{MARK}\n" in text:
        return openmpi_han.read_both(text, version)
    if openmpi_han.recognises(text):
        return openmpi_han.read(text)
    return openmpi_text.read(text, version) if _classic(text) else None


def _classic(text: str) -> bool:
    """Whether the first word that is no comment is a number, or the line with the version of the format."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        return True  # an empty rules file is one that the library drops in silence
    for line in text.split("\n"):
        word = _WORD.match(line.lstrip())
        if word:
            return bool(re.match(r"[+-]?[0-9]", word[0])) or word[0].startswith("rule-file-version-")
    return True


def _json(text: str, own: str) -> RulesFile:
    try:
        document = parse(text.lstrip("\ufeff"), lenient=_COLLECTIVES in text)
    except RulesError as error:
        return _broken(text, error)
    keys = [pair.key for pair in document.pairs]
    reader = _reader(keys, own)
    if reader is None:
        if "$defs" in keys or "properties" in keys:
            raise RulesError("this is a JSON schema, no rules")
        if "root" in keys and "methods" in keys:
            raise RulesError("this is a saved decision function, no rules of a library")
        raise RulesError(
            f"JSON without 'collectives' (Open MPI) or 'collective=…' (MPICH); known are rules of {_KNOWN}"
        )
    return reader(document)


def _reader(keys: list[str], own: str) -> Callable[[At], RulesFile] | None:
    if "collectives" in keys or "rule_file_version" in keys:
        return openmpi_json.read
    if not any(key.startswith("collective=") for key in keys):
        return None
    return partial(mpich.read, native=_selection(own or known(KNOWN[-1]) or ""), left=bool(own))


@lru_cache(maxsize=4)
def _selection(text: str) -> mpich.Tree:
    return mpich.tree_of(parse(text))


def _broken(text: str, error: RulesError) -> RulesFile:
    """A fault where it is plain whose JSON this was to be."""
    match = re.match(r"line (\d+): (.*)", str(error), re.DOTALL)
    line, what = (int(match[1]), match[2]) if match else (None, str(error))
    if _COLLECTIVES in text:
        effect = "Open MPI 6 then reads the file as classic text, and silently ignores it"
        return RulesFile("openmpi-3", "Open MPI rules, version 3 (JSON)", {}, {}, (Fault(line, "error", what, effect),))
    if '"collective=' in text:
        effect = "MPICH aborts every program at start"
        return RulesFile("mpich", "MPICH collective selection", {}, {}, (Fault(line, "error", what, effect),))
    raise error
