"""Benchmark files in, results out: one labelled cube per collective.

>>> from loaders import open_results
>>> results = open_results("measurements/", pattern="{collective}__{algorithm}__seg{segment_size}.sko")
>>> results["bcast"]["time"].dims
('method', 'comm_size', 'message_size')
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loaders.errors import LoadError, MissingHintError
    from loaders.formats import FORMATS
    from loaders.opening import open_results, scan
    from loaders.run_writer import RunWriter
    from loaders.storage import save_results

__all__ = [
    "FORMATS",
    "LoadError",
    "MissingHintError",
    "RunWriter",
    "apart",
    "collectives",
    "cube",
    "disk",
    "doubles",
    "facet_names",
    "facets",
    "hints",
    "intelmpi",
    "methods",
    "online",
    "open_results",
    "openmpi",
    "save_results",
    "scan",
    "sizes",
    "source",
    "suggesting",
    "ucc",
    "workload",
]

_MODULES = {
    "FORMATS": "formats",
    "LoadError": "errors",
    "MissingHintError": "errors",
    "RunWriter": "run_writer",
    "open_results": "opening",
    "save_results": "storage",
    "scan": "opening",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the ranks of a benchmark need names and sizes only, and start sooner."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
