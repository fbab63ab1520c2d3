"""Benchmark files in, results out: one labelled cube per collective.

>>> from loaders import open_results
>>> results = open_results("measurements/", pattern="{collective}__{algorithm}__seg{segment_size}.sko")
>>> results["bcast"]["time"].dims
('method', 'comm_size', 'message_size')
"""

from loaders.errors import LoadError, MissingHintError
from loaders.formats import FORMATS
from loaders.opening import open_results, scan
from loaders.run import RunWriter
from loaders.storage import save_results

__all__ = ["FORMATS", "LoadError", "MissingHintError", "RunWriter", "open_results", "save_results", "scan"]
