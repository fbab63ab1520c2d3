"""Parquet files, read batch by batch into the same rows as tables of text."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from loaders import columns, presets
from loaders.chunk import Chunk, words_of
from loaders.columns import Plan
from loaders.errors import LoadError
from loaders.source import Source
from loaders.tablerows import Rows

MAGIC = b"PAR1"
_BATCH = 1 << 18


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Yield the rows of a Parquet file in tables; the lines of skipped rows are row numbers from 1.

    Raises
    ------
    LoadError
        The file is damaged, has no column of times or columns of types that are no numbers or texts.
    """
    try:
        with pq.ParquetFile(source.path) as file:
            yield from _batches(source, file)
    except LoadError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [repr(error)])[0]
        raise source.fail(f"cannot be read as Parquet: {reason[:200]}") from error


def _batches(source: Source, file: pq.ParquetFile) -> Iterator[pd.DataFrame]:
    names = [str(n) for n in file.schema_arrow.names]
    if len(set(names)) < len(names):
        raise source.fail(f"two columns have one name: {', '.join(names)}")
    plan = plan_of(source, names)
    rows = Rows(source, plan)
    total, done = file.metadata.num_rows, 0
    used = [n for n, field in zip(names, plan.fields, strict=True) if field.kind != "ignored"]
    # Equal values in a row take no room in the file.
    source.unpack(8 * total * len(used))
    for batch in file.iter_batches(batch_size=_BATCH, columns=used):
        data = {
            field.name: _text(batch.column(name)) if field.kind == "text" else _number(batch.column(name))
            for name, field in zip(names, plan.fields, strict=True)
            if field.kind != "ignored"
        }
        table = rows.finish(Chunk(pd.DataFrame(data), done + 1))
        done += batch.num_rows
        if source.progress is not None:
            source.progress(str(source.path), done, total)
        if len(table):
            yield table


def plan_of(source: Source, names: Sequence[str]) -> Plan:
    """Plan of the columns of a table that has only a header of names.

    Raises
    ------
    LoadError
        None of them holds times.
    """
    mapping = columns.mapping_of(source)
    plan = (None if mapping else presets.plan(source, names, None, "")) or columns.plan(source, names, mapping)
    if plan is None:
        raise source.fail(columns.no_times(names, source.path.name))
    return plan


def _text(column: pa.Array) -> pd.Categorical:
    words = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    return words_of(words.cast(pa.string()).dictionary_encode())


def _number(column: pa.Array) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
