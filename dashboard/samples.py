"""What the dashboard opens at its start: the data it was given, or the sample data that come with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

#: Environment variable with the files and folders to open, separated as in PATH.
DATA_VARIABLE = "COLLTUNE_DATA"
SAMPLE_HINTS = {"pattern": "{collective}__{algorithm}__seg{segment_size}.sko"}
_SAMPLE = "fast-ethernet-16"


@dataclass(frozen=True)
class Start:
    """Files and folders to open.

    Attributes
    ----------
    paths
        What was given. The Data page reads nothing outside of it, uploads aside.
    hints
        What their files do not say, as for `loaders.open_results`; ``format`` may be among them.
    sample
        Whether these are the sample data.
    """

    paths: tuple[Path, ...]
    hints: Mapping[str, Any] = field(default_factory=dict)
    sample: bool = False


def sample_data() -> Path:
    """Folder of the sample data: installed with the package, or of the checkout.

    Raises
    ------
    FileNotFoundError
        It is in neither place.
    """
    package = Path(str(resources.files("dashboard")))
    for folder in (package / "_sample_data", package.parent / "sample_data"):
        if (folder / _SAMPLE).is_dir():
            return folder / _SAMPLE
    raise FileNotFoundError(f"the sample data are neither in {package / '_sample_data'} nor in {package.parent}")


def sample_start() -> Start:
    """One file for each method of the sample data, in the order of their names."""
    return Start(tuple(sorted(sample_data().glob("*.sko"))), SAMPLE_HINTS, sample=True)


def start_with(
    paths: Sequence[str | os.PathLike[str]] = (),
    hints: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Start:
    """Choose what to open: the paths given, else those in `DATA_VARIABLE`, else the sample data.

    Parameters
    ----------
    paths
        Files and folders.
    hints
        As for `loaders.open_results`.
    environment
        To look into instead of `os.environ`.
    """
    named = (os.environ if environment is None else environment).get(DATA_VARIABLE, "")
    chosen = [Path(path) for path in paths] or [Path(part) for part in named.split(os.pathsep) if part]
    if not chosen:
        return sample_start()
    return Start(tuple(path.expanduser().absolute() for path in chosen), dict(hints or {}))
