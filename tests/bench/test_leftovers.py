"""Shared memory of killed ranks is taken away; that of others, or in use, is not."""

import json
import mmap
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.benchmarks.launchers import leftovers
from dashboard.benchmarks.launchers.leftovers import SHARED


@pytest.fixture
def segment() -> Iterator[Path]:
    """A file as an MPI library makes one."""
    if not os.access(SHARED, os.W_OK):
        pytest.skip("no /dev/shm to write to")
    path = SHARED / f"sm_segment.test.{uuid.uuid4().hex}"
    path.write_bytes(bytes(4096))
    yield path
    path.unlink(missing_ok=True)


def test_memory_that_nobody_uses_any_more_is_removed(tmp_path: Path, segment: Path) -> None:
    leftovers.remember(tmp_path, [segment.name])
    assert leftovers.clean(tmp_path) == 1
    assert not segment.exists()
    assert leftovers.clean(tmp_path) == 0


def test_memory_in_use_stays(tmp_path: Path, segment: Path) -> None:
    with segment.open("r+b") as stream, mmap.mmap(stream.fileno(), 4096):
        assert segment.name in leftovers.mapped()
        leftovers.remember(tmp_path, [segment.name])
        assert leftovers.clean(tmp_path) == 0
    assert segment.exists()
    assert segment.name not in leftovers.mapped()


@pytest.mark.parametrize("name", ["../../tmp/x", "/etc/passwd", "..", "not-there"])
def test_nothing_outside_shared_memory_is_touched(tmp_path: Path, name: str) -> None:
    leftovers.remember(tmp_path, [name])
    assert leftovers.clean(tmp_path) == 0


def test_what_another_machine_left_is_not_looked_for_here(tmp_path: Path, segment: Path) -> None:
    leftovers.remember(tmp_path, [segment.name])
    (record,) = tmp_path.iterdir()
    record.write_text(json.dumps({**json.loads(record.read_text()), "machine": "another"}))
    assert leftovers.clean(tmp_path) == 0
    assert segment.exists()
    record.write_text("{torn")
    assert leftovers.clean(tmp_path) == 0
