"""PICO: aggregated summaries, the consolidated table, files of samples and tarballs of a campaign.

============================================================  ============================================
``aggregated_results_summary.csv``                            `loaders.pico_summary`
``pico_consolidated.csv`` (all campaigns of two systems)      `loaders.pico_summary`
``<count>_<algorithm>[_<segment size>]_<datatype>.csv``       `loaders.pico_samples`
``<timestamp>.tar.gz``                                        `loaders.pico_tar`
``*_metadata.csv``, ``alloc*.csv``                            no times: refused, saying what they are
============================================================  ============================================

Times are nanoseconds. Sizes are the bytes of the whole vector; for allgather, alltoall, gather, scatter and
reduce_scatter they become the block per process, rounded half up and at least 1 byte. Source:
HLC-Lab/pico @413bc5d0, ``plot/summarize_data.py`` and ``pico_core_utils.c``.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from loaders import pico_samples, pico_summary, pico_tar
from loaders.pico_names import ALLOCATION, METADATA, first_line
from loaders.source import Format, Source


def recognises(head: bytes, path: Path) -> bool:
    """Whether this is a tarball or a text with one of PICO's header lines."""
    if pico_tar.is_tar(head):
        return True
    first = first_line(head)
    return first.startswith((METADATA, ALLOCATION)) or pico_summary.is_header(first) or pico_samples.is_header(first)


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read a file of any of PICO's kinds; see `loaders.source.Format`."""
    source.attrs.update(benchmark="PICO", statistic_kind="completion")
    head = source.head()
    first = first_line(head)
    if first.startswith(METADATA) and not pico_summary.is_header(first):
        raise source.fail(
            "PICO's list of tests (collective, nodes, library of each test) holds no times; it says what tarballs "
            "beside it hold: load those, or the aggregated summary"
        )
    if first.startswith(ALLOCATION):
        raise source.fail(
            "PICO's list of the nodes that the ranks ran on holds no times; load the aggregated summary or the "
            "files of samples beside it"
        )
    if pico_tar.is_tar(head):
        tables = pico_tar.read(source)
    elif pico_summary.is_header(first):
        tables = pico_summary.read(source)
    else:
        tables = pico_samples.read(source)
    yield from tables
    if not source.rows:
        raise source.fail(
            f"no measurement found ({source.skipped} rows skipped); PICO's summaries have the columns collective_type, "
            "buffer_size, algo_name, median, nnodes, tasks_per_node, its files of samples one column 'highest'; "
            "archives of other files are unpacked first"
        )


FORMAT = Format("pico", "PICO: summary, samples or tarball", recognises, read)
