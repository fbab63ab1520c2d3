"""What the dashboard opens at its start: the data it was given, or the sample data that come with it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

#: Environment variable with the files and folders to open, separated as in PATH.
DATA_VARIABLE = "COLLTUNE_DATA"
SAMPLE_HINTS = {"pattern": "{collective}__{algorithm}__seg{segment_size}.sko"}


@dataclass(frozen=True)
class Sample:
    """A campaign that comes with the dashboard."""

    #: For people; the README in its folder tells all.
    title: str
    about: str
    #: Which of its folder's files are its results, as `Path.glob` has it.
    files: str
    #: What these do not say, as for `loaders.open_results`.
    hints: Mapping[str, Any] = field(default_factory=dict)


#: By the names of their folders; the first one is opened where nothing else is asked for.
SAMPLES = {
    "fast-ethernet-16": Sample(
        "Fast Ethernet, 16 nodes",
        "Five collectives on 2 to 16 nodes of an emulated Fast Ethernet cluster, measured with SKaMPI.",
        "*.sko",
        SAMPLE_HINTS,
    ),
    "fast-ethernet-own": Sample(
        "Fast Ethernet, our own benchmark",
        "The broadcast on 8 and 16 emulated nodes of a like network, by colltune's own benchmark under Slurm.",
        "results.jsonl",
    ),
    "fast-ethernet-tuned": Sample(
        "Fast Ethernet, tuned",
        "Five collectives on 4, 8 and 16 emulated nodes of a like network, measured in full by our own benchmark. "
        "Beside them stand the folder of a tuning and the campaign that judges it.",
        "results.jsonl",
    ),
    "fast-ethernet-4x2-tuned": Sample(
        "Fast Ethernet, 4 nodes with 2 processes each, tuned",
        "The same on 2, 4 and 8 processes of 4 such nodes, with Open MPI's component HAN and its variants.",
        "results.jsonl",
    ),
    "fast-ethernet-grids": Sample(
        "Fast Ethernet, grids",
        "Broadcast, allgather and reduction over grids of 4, 8 and 16 emulated nodes, beside what runs inside: page "
        "Models, tab Grids.",
        "results.jsonl",
    ),
    "one-machine": Sample(
        "One machine, 2 to 16 processes",
        "Five collectives in the memory of one machine with two cores, measured with colltune's own benchmark: every "
        "repetition is kept. More processes than cores: worth a look for what the noise is.",
        "results.jsonl",
    ),
    "sixteen-cores": Sample(
        "16 cores of one machine",
        "Five collectives on 2 to 16 processes with a core each, three launches, measured with our own "
        "benchmark; beside them the rules that a short tuning made there.",
        "*.jsonl.gz",
    ),
    "one-machine-occ": Sample(
        "One machine, OCC's way",
        "Broadcast and allreduce of 2 to 8 processes on that machine, timed as OCC did, in its tabular form.",
        "*.occ",
    ),
}
_FIRST = next(iter(SAMPLES))


@dataclass(frozen=True)
class Start:
    """Files and folders to open."""

    #: What was given. The Data page reads nothing outside of it, uploads aside.
    paths: tuple[Path, ...]
    #: What their files do not say, as for `loaders.open_results`; ``format`` may be among them.
    hints: Mapping[str, Any] = field(default_factory=dict)
    #: Whether these are the sample data.
    sample: bool = False


def sample_data(name: str = _FIRST) -> Path:
    """Folder of a sample campaign: installed with the package, or of the checkout.

    Raises
    ------
    FileNotFoundError
        It is in neither place.
    """
    package = Path(str(resources.files("dashboard")))
    for folder in (package / "_sample_data", package.parent / "sample_data"):
        if (folder / name).is_dir():
            return folder / name
    raise FileNotFoundError(f"{name} is neither in {package / '_sample_data'} nor in {package.parent / 'sample_data'}")


def is_sample(path: str | os.PathLike[str]) -> bool:
    """Whether a file is among those that come with the dashboard."""
    try:
        return sample_data().parent.resolve() in Path(path).resolve().parents
    except FileNotFoundError:
        return False


def sample_of(paths: Sequence[str | os.PathLike[str]]) -> str:
    """Name of the sample campaign whose files these are, all of them; empty: of none."""
    name = Path(paths[0]).parent.name if paths else ""
    return name if name in SAMPLES and {*map(Path, paths)} == {*sample_start(name).paths} else ""


def sample_start(name: str = _FIRST) -> Start:
    """The files of a sample campaign, in the order of their names.

    Raises
    ------
    FileNotFoundError
        As `sample_data`.
    """
    sample = SAMPLES[name]
    return Start(tuple(sorted(sample_data(name).glob(sample.files))), sample.hints, sample=True)


def start_with(paths: Sequence[str | os.PathLike[str]] = (), hints: Mapping[str, Any] | None = None) -> Start:
    """Choose what to open: the paths given, else those in `DATA_VARIABLE`, else the sample data.

    Parameters
    ----------
    hints
        As for `loaders.open_results`.
    """
    named = os.environ.get(DATA_VARIABLE, "")
    chosen = [Path(path) for path in paths] or [Path(part) for part in named.split(os.pathsep) if part]
    if not chosen:
        return sample_start()
    return Start(tuple(path.expanduser().absolute() for path in chosen), dict(hints or {}))
