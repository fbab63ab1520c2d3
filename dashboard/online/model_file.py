"""The model file: what was learnt, laid out so that the preloaded library maps it and looks up at once.

Little-endian. 64 bytes: ``CTONLIN1``, collectives and bytes of the JSON at the end (uint32), bytes in all (uint64),
digest of the table (16 characters), version of the library (24). For each collective 64 bytes: name (24), methods and
bins on the three axes (int32), offsets (uint64, multiples of 8) of the borders (float64), of the best methods (int32,
by bin) and of the prefix sums (float32, by bin and method), which the needs of the methods (int32) follow.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.online.bins import AXES, Bins
from dashboard.online.errors import OnlineError
from dashboard.online.selection import Choice, SelectionModel
from dashboard.online.table import AlgTable
from loaders import disk

MAGIC = b"CTONLIN1"
_HEAD = struct.Struct("<8sIIQ16s24s")
_ENTRY = struct.Struct("<24s4i3Q")
_MOST_BYTES = 256 << 20


def to_bytes(model: SelectionModel) -> bytes:
    """The whole file."""
    body = bytearray(_HEAD.size + _ENTRY.size * len(model.choices))
    entries = []
    for name, choice in model.choices.items():
        offsets = []
        for part in (np.concatenate(choice.bins.borders), choice.best, choice.sums):
            body.extend(b"\0" * (-len(body) % 8))
            offsets.append(len(body))
            body.extend(np.ascontiguousarray(part).tobytes())
        body.extend(np.ascontiguousarray(choice.needs, dtype=np.int32).tobytes())
        entries.append(_ENTRY.pack(name.encode(), len(choice.needs), *choice.bins.shape, *offsets))
    points = {
        name: {axis: each.tolist() for axis, each in zip(AXES, choice.bins.points, strict=True)}
        for name, choice in model.choices.items()
    }
    text = json.dumps({"told": dict(model.provenance), "table": model.table.to_dict(), "points": points}).encode()
    body.extend(text)
    version, digest = model.table.version.encode()[:23], model.table.digest.encode()
    body[: _HEAD.size] = _HEAD.pack(MAGIC, len(entries), len(text), len(body), digest, version)
    body[_HEAD.size : _HEAD.size + _ENTRY.size * len(entries)] = b"".join(entries)
    return bytes(body)


def save(model: SelectionModel, path: Path) -> None:
    """Write it in the place of the former one, whole: programs that start meanwhile read one or the other."""
    disk.write_bytes(path, to_bytes(model))


def load(path: Path) -> SelectionModel:
    """Read what `save` wrote; without predicted times.

    Raises
    ------
    OnlineError
        It cannot be read or is damaged.
    """
    try:
        content = disk.read_bytes(path, _MOST_BYTES)
    except OSError as error:
        reason = error.strerror or error
        raise OnlineError(f"{path}: the model cannot be read: {reason}; 'colltune online train' makes it") from None
    try:
        return of_bytes(content)
    except (struct.error, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise OnlineError(f"{path}: the model is damaged: {error}") from None


def of_bytes(content: bytes) -> SelectionModel:
    """Rebuild from `to_bytes`; `ValueError` and its like for what is damaged."""
    magic, count, text, size, digest, _ = _HEAD.unpack_from(content)
    if magic != MAGIC or size != len(content):
        raise OnlineError(f"it begins with {magic!r} and has {len(content):,} bytes of {size:,}")
    header = disk.json_of(content[len(content) - text :])
    table = AlgTable.from_dict(header["table"])
    if table.digest.encode() != digest:
        raise OnlineError(f"its table has the digest {table.digest}, its head says {digest.decode(errors='replace')}")
    choices = {}
    for number in range(count):
        raw, methods, *shape_and_offsets = _ENTRY.unpack_from(content, _HEAD.size + number * _ENTRY.size)
        name = raw.rstrip(b"\0").decode()
        if methods != len(table.methods[name]):
            raise ValueError(f"it has {methods} methods of {name}, its table {len(table.methods[name])}")
        choices[name] = _choice(content, methods, shape_and_offsets, header["points"][name])
    return SelectionModel(table, choices, header["told"])


def _choice(content: bytes, methods: int, numbers: list[int], points: Mapping[str, Any]) -> Choice:
    shape, (borders, best, sums) = numbers[:3], numbers[3:]
    count = int(np.prod(shape))

    def part(kind: str, length: int, offset: int) -> npt.NDArray[Any]:
        return np.frombuffer(content, kind, length, offset)

    axes = tuple(np.split(part("<f8", sum(shape), borders), np.cumsum(shape)[:-1]))
    if len(chosen := part("<i4", count, best)) and not 0 <= chosen.min() <= chosen.max() <= methods:
        raise ValueError(f"it chooses methods {chosen.min()} to {chosen.max()} of {methods}")
    return Choice(
        Bins(axes, tuple(np.asarray(points[name], dtype=np.float64) for name in AXES)),
        part("<f4", count * methods, sums).reshape(count, methods),
        chosen,
        part("<i4", methods, sums + 4 * count * methods),
    )
