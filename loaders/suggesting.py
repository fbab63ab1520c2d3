"""A pattern that fits the names of files: what a folder's own names say of what its files do not say.

Names of collectives and of algorithms that libraries have are known, numbers by the letters beside them. What else
differs from name to name is taken for the campaign, so that it is never averaged unseen. It is a suggestion: whoever
measured knows better.
"""

import itertools
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from loaders import intelmpi, openmpi
from loaders.collectives import COLLECTIVES
from loaders.errors import LoadError
from loaders.hints import compile_pattern
from loaders.names import SPELLED, collective_name

_COUNTS = {
    "comm_size": ("np", "p", "nprocs", "nproc", "procs", "processes", "ranks", "tasks", "ntasks", "mpi"),
    "nodes": ("nodes", "nnodes", "node"),
    "ppn": ("ppn", "tpn", "rpn"),
    "segment_size": ("seg", "segsize", "segment"),
    "algorithm": ("alg", "algo", "algorithm"),
}
_MEANING = {word: name for name, words in _COUNTS.items() for word in words}
_LETTERS = "|".join(sorted([*_MEANING, "n"], key=len, reverse=True))
_SIZE = r"[0-9]+(?:[kmg](?:i?b)?)?"
#: A number with letters that say what it counts, before or after it.
_COUNT = re.compile(
    rf"(?i)(?:(?P<before>{_LETTERS})[=_-]?(?P<first>{_SIZE})|(?P<last>{_SIZE})[_-]?(?P<after>{_LETTERS}))"
)
_DEVICE = re.compile(r"(?i)host|cpu|cuda|gpu|rocm|openacc|managed")
_LIBRARY = re.compile(
    r"(?i)(?:open-?mpi|ompi|mpich|mvapich2?|intel-?mpi|impi|hpc-?x)[-_ ]?v?[0-9]+(?:\.[0-9]+)*[a-z0-9]*"
)
_ALGORITHMS = sorted(
    {"default", "tuned", "linear", "flat_tree", "binomial", "binary", "ring", "bruck", "pairwise", "rabenseifner"}
    | {
        name
        for each in (openmpi.algorithms(c, v) for c in COLLECTIVES for v in openmpi.VERSIONS)
        for name in each.values()
    }
    | {name for names in intelmpi.ALGORITHMS.values() for name in names},
    key=len,
    reverse=True,
)
_ALGORITHM = re.compile(rf"(?i)(?:{'|'.join(map(re.escape, _ALGORITHMS))})")
_COLLECTIVE = re.compile(rf"(?i){SPELLED}")
#: A collective that no other letters stand beside, in a name of any form.
_WORD = re.compile(rf"(?i)(?<![a-z]){SPELLED}(?![a-z])")
#: What needs nothing between it and a collective before it: a number, and a capital after a small letter.
_JOINED = re.compile(r"[0-9]|(?<=[a-z])[A-Z]")
#: Folders above a file whose names may tell its collective.
_FOLDERS = 2
#: Between the parts of a name.
_BETWEEN = re.compile(r"[/_.=+,()\s-]+")
#: Digits that a day, or a time, has at least.
_DAY = 5
#: Bytes.
_SEGMENTS = frozenset(2**power for power in range(9, 25))


def pattern_of(reports: Sequence[Mapping[str, Any]]) -> str | None:
    """Suggest a pattern for files that do not say everything.

    Parameters
    ----------
    reports
        Of files, as `loaders.scan` makes them.

    Returns
    -------
    str or None
        None where the names say nothing of what is needed, or where it is not clear which part is what.
    """
    lacking = [report for report in reports if report.get("needs")]
    needs = set().union(*(report["needs"] for report in lacking))
    if len(lacking) < 2:
        return None
    paths = [Path(str(report["path"])).absolute() for report in lacking]
    above = os.path.commonpath([path.parent for path in paths])
    names = [PurePath(os.path.relpath(path, above)).as_posix().removesuffix(".gz") for path in paths]
    packed = {path.suffix == ".gz" for path in paths}
    device = not any((report.get("attrs") or {}).get("device") for report in reports)
    rows = [_parts(name) for name in names]
    usual, _ = Counter(tuple(betweens) for _, betweens in rows).most_common(1)[0]
    alike = [parts for parts, betweens in rows if tuple(betweens) == usual]
    meanings = _meanings(alike, needs, device=device)
    if meanings is None or not needs & set(meanings):
        return None
    words = [_written(meaning, word) for meaning, (word, _) in zip(meanings, alike[0], strict=True)]
    pattern = "".join(word + between for word, between in zip(words, [*usual, ""], strict=True))
    try:
        form = compile_pattern(pattern)
    except LoadError:
        # Names may hold braces, or two parts that mean the same.
        return None
    fits = 2 * sum(form.search(name) is not None for name in names) > len(names)
    end = "" if packed == {False} else ".gz" if packed == {True} else "*"
    return pattern + end if fits else None


def collective_of(paths: Sequence[str]) -> str | None:
    """The collective that the names of all files tell, else those of their folders; None where they tell several."""
    for place in range(_FOLDERS + 1):
        parts = [PurePath(path).parts[::-1][place : place + 1] for path in paths]
        words = [[collective_name(match[0]) for match in _WORD.finditer("".join(part))] for part in parts]
        if any(words):
            return words[0][0] if all(words) and len(set(itertools.chain(*words))) == 1 else None
    return None


_NAMES = ("collective", *_COUNTS, "device", "campaign", "_")


def left(pattern: str, needs: Collection[str]) -> list[str]:
    """What a pattern does not say of what is needed; nodes and processes per node tell the processes."""
    names = {name for name in needs if f"{{{name}}}" in pattern}
    names |= {"comm_size"} if "{nodes}" in pattern and "{ppn}" in pattern else set()
    return [name for name in needs if name not in names]


def _written(meaning: str, word: str) -> str:
    """A part of the pattern; a number keeps the letters beside it."""
    if meaning in _COUNTS and (word.isdigit() or _COUNT.fullmatch(word)):
        return re.sub(rf"(?i){_SIZE}", f"{{{meaning}}}", word, count=1)
    return f"{{{meaning}}}" if meaning in _NAMES else word


def _parts(name: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Parts of a name, each with what it means (empty where that is not known), and what stands between them."""
    parts, betweens, at = [], [], 0
    while at <= len(name):
        end, meaning = _part(name, at)
        parts.append((name[at:end], meaning))
        between = _BETWEEN.match(name, end)
        if between is None and end == len(name):
            break
        betweens.append(between[0] if between else "")
        at = between.end() if between else end
    return parts, betweens


def _part(name: str, at: int) -> tuple[int, str]:
    """Where the part that begins here ends, and what it means."""
    for meaning, form in (
        ("collective", _COLLECTIVE),
        ("algorithm", _ALGORITHM),
        ("count", _COUNT),
        ("device", _DEVICE),
        ("campaign", _LIBRARY),
    ):
        match = form.match(name, at)
        if match is None:
            continue
        joined = meaning == "collective" and _JOINED.match(name, match.end())
        if joined or match.end() == len(name) or _BETWEEN.match(name, match.end()):
            letters = (match["before"] or match["after"]).lower() if meaning == "count" else ""
            return match.end(), _MEANING.get(letters, letters) or meaning
    between = _BETWEEN.search(name, at)
    return between.start() if between else len(name), ""


def _meanings(rows: Sequence[Sequence[tuple[str, str]]], needs: Collection[str], *, device: bool) -> list[str] | None:
    """What each part of the names means, else the text that all have there; None where it is not clear."""
    columns = list(zip(*rows, strict=True))
    known = [_column(column, needs, device=device) for column in columns]
    differ = [place for place, column in enumerate(columns) if len({word for word, _ in column}) > 1]
    unknown = [place for place in differ if not known[place]]
    numbers = [n for n, column in enumerate(columns) if not known[n] and all(map(_is_count, column))]
    numbers = [place for place in numbers if place in differ] or numbers
    segments = {place for place in unknown if all(_is_segment(word) for word, _ in columns[place])}
    numbers = [place for place in numbers if place not in segments] or numbers
    if "n" in known:
        place = known.index("n")
        untold = "comm_size" if "comm_size" in needs else "_" * (place in differ)
        known[place] = "nodes" if "ppn" in known or "comm_size" in known else untold
    if "comm_size" in needs and not {"comm_size", "nodes"} & set(known):
        numbers = [place for place in numbers if not _counts_runs(columns[place])]
        if len(numbers) > 1:
            return None
        for place in numbers:
            known[place] = "comm_size"
        unknown = [place for place in unknown if place not in numbers]
    named = [place for place in unknown if not all(word.isdigit() and len(word) >= _DAY for word, _ in columns[place])]
    if "algorithm" in needs and "algorithm" not in known and named:
        known[named[0]] = "algorithm"
        unknown.remove(named[0])
    sizes = [place for place in unknown if place in segments]
    if "segment_size" not in known and len(sizes) == 1:
        known[sizes[0]] = "segment_size"
        unknown.remove(sizes[0])
    for place in unknown:
        known[place] = "_" if "campaign" in known or "/" in columns[place][0][0] else "campaign"
    return [meaning or column[0][0] for meaning, column in zip(known, columns, strict=True)]


def _is_count(part: tuple[str, str]) -> bool:
    """Whether a part is a number that is no day."""
    return part[0].isascii() and part[0].isdigit() and len(part[0]) < _DAY


def _counts_runs(column: Sequence[tuple[str, str]]) -> bool:
    """Whether numbers are of runs, not of processes: from 0 on, or 1, 2, 3 and so on."""
    numbers = {int(word) for word, _ in column}
    return min(numbers) == 0 or (len(numbers) > 2 and numbers == set(range(1, len(numbers) + 1)))


def _is_segment(word: str) -> bool:
    """Whether a word is a size with a unit, or a number that segments have and nobody counts campaigns by."""
    number = int(word) if word.isascii() and word.isdigit() else -1
    return number in {0, *_SEGMENTS} or (number < 0 and re.fullmatch(rf"(?i){_SIZE}", word) is not None)


def _column(column: Sequence[tuple[str, str]], needs: Collection[str], *, device: bool) -> str:
    """What a part means in most names; what is known already, and may be said otherwise, is passed over."""
    meanings = Counter(meaning for _, meaning in column if meaning)
    if not meanings or 2 * meanings.total() <= len(column):
        return ""
    meaning = meanings.most_common(1)[0][0]
    differ = len({word for word, _ in column}) > 1
    if meaning == "collective" and not all(collective_name(word) for word, _ in column):
        return ""
    if (meaning in ("collective", "algorithm", "comm_size") and meaning not in needs) or (
        meaning == "device" and not device
    ):
        return "_" if differ else ""
    return meaning if differ or meaning not in ("device", "campaign") else ""
