"""PICO's tarballs: the samples of a campaign, with what its summary or its list of tests says of them.

``<timestamp>/<test>/<count>_<algorithm>_<datatype>.csv`` holds samples; ``aggregated_results_summary.csv`` or a list
of tests (``*_metadata.csv``) in the tarball says which collective a test measured on how many nodes; else the list
beside the tarball, or ``<system>_metadata.csv`` beside its folder ``<system>``, as PICO lays its results out. Where
none is there and the tarball holds a single test, hints say it. Rows of the summary that belong to samples
in the tarball are counted as skipped; others are loaded.

The tarball is read as a stream, twice, and never unpacked to disk. Links, devices and names that lead elsewhere are
passed over; members above 64 MiB and more than 4 GiB in all are refused.
"""

from __future__ import annotations

import csv
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from loaders import disk, pico_samples, pico_summary
from loaders.errors import LoadError
from loaders.names import collective_name
from loaders.pico_names import ALLOCATION, METADATA, TestFile, first_line, parse_nodes, split_file
from loaders.pico_samples import SampleText
from loaders.pico_summary import FACETS
from loaders.source import Source

MEMBER_BYTES = 64 << 20
TOTAL_BYTES = 4 << 30
#: Bytes of text that are parsed together.
_FLUSH = 2 << 20
_LIST = "_metadata.csv"
_FAULTS = (
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    ValueError,
    OverflowError,
    RecursionError,
    MemoryError,
    TypeError,
    IndexError,
    KeyError,
)


def is_tar(head: bytes) -> bool:
    """Whether unpacked bytes begin as a tarball."""
    return head[257:262] == b"ustar"


@dataclass(frozen=True)
class Test:
    """What is said of one test."""

    collective: str
    comm_size: int
    ppn: int
    facets: Mapping[str, str | None]


@dataclass
class Campaign:
    """What the first pass over a tarball finds: tests by folder and number, and the files of samples."""

    tests: dict[tuple[str, str], Test] = field(default_factory=dict)
    samples: set[tuple[str, str, str]] = field(default_factory=set)
    end: int = 0

    def test(self, folder: str, number: str) -> Test | None:
        """What is said of a test; lists of tests name only the last part of its folder, the timestamp."""
        return self.tests.get((folder, number)) or self.tests.get((PurePosixPath(folder).name, number))

    def unsaid(self) -> list[str]:
        """Tests with samples of which nothing is said."""
        return sorted({f"{folder}/{test}" for folder, test, _ in self.samples if self.test(folder, test) is None})


def read(source: Source) -> Iterator[pd.DataFrame]:
    """Read all files of samples in a tarball, and summary rows that have none."""
    campaign = _survey(source)
    unsaid = campaign.unsaid()
    if len(unsaid) > 1 and not campaign.tests:
        raise source.fail(
            f"holds the samples of {len(unsaid)} tests ({', '.join(unsaid[:8])}), but neither a summary nor a list of "
            "tests that says which collective each of them is; put PICO's *_metadata.csv beside the tarball, or unpack "
            "it and load the folders one by one with hints"
        )
    if campaign.samples:
        source.attrs["statistic"] = pico_samples.STATISTIC
    batch = _Batch(source, campaign)
    for member, text in _members(source, count=True):
        if source.progress is not None:
            source.progress(str(source.path), min(member.end, campaign.end), campaign.end)
        yield from _member(source, campaign, batch, member, text)
    yield from batch.flush()


@dataclass(frozen=True)
class _Member:
    name: str
    folder: str
    test: str
    file: str
    end: int


def _members(source: Source, *, count: bool) -> Iterator[tuple[_Member, bytes]]:
    """Text of every CSV file in the tarball; with `count`, what cannot be read is counted as skipped."""
    try:
        with source.open() as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for info in tar:
                if info.offset_data > TOTAL_BYTES:
                    raise source.fail("the tarball holds more than 4 GiB; unpack it and load the folders")
                member = _safe(source, info)
                if member is None or not member.file.endswith(".csv"):
                    continue
                if info.size > MEMBER_BYTES:
                    if count:
                        source.skip(0, member.name, "a file of more than 64 MiB in a tarball is not read")
                    continue
                content = tar.extractfile(info)
                text = b"" if content is None else content.read(MEMBER_BYTES)
                yield member, text
    except _FAULTS as error:
        if isinstance(error, LoadError):
            raise
        if count:
            source.skip(0, "", f"the rest of the tarball cannot be read: {error}"[:200])


def _safe(source: Source, info: tarfile.TarInfo) -> _Member | None:
    """The member's place, `None` (and a note) for what is no plain file within the tarball."""
    if info.isdir():
        return None
    path = PurePosixPath(info.name)
    if not info.isfile() or path.is_absolute() or ".." in path.parts or "\0" in info.name or "\\" in info.name:
        source.note(
            f"passed over in the tarball: {info.name[:100]!r} (a link, a device or a name that leads elsewhere)"
        )
        return None
    return _Member(str(path), str(path.parent.parent), path.parent.name, path.name, info.offset_data + info.size)


def _survey(source: Source) -> Campaign:
    campaign = Campaign()
    for member, text in _members(source, count=False):
        campaign.end = max(campaign.end, member.end)
        first = first_line(text)
        if pico_samples.is_header(first):
            campaign.samples.add((member.folder, member.test, member.file))
        elif pico_summary.is_header(first) or first.startswith(METADATA):
            _tests(campaign, str(PurePosixPath(member.folder) / member.test), text)
    if campaign.unsaid():
        _tests_beside(source, campaign)
    return campaign


def _tests_beside(source: Source, campaign: Campaign) -> None:
    """Take what the lists of tests beside a tarball, or beside its folder, say of the tests in it."""
    folder = source.path.absolute().parent
    beside = sorted(folder.glob(f"*{_LIST}")) or [folder.with_name(f"{folder.name}{_LIST}")]
    here = {PurePosixPath(each).name for each, _, _ in campaign.samples}
    for path in beside:
        try:
            text = disk.read_bytes(path)
        except OSError:
            continue
        listed = Campaign()
        _tests(listed, "", text, system=path.name.removesuffix(_LIST))
        mine = {place: test for place, test in listed.tests.items() if place[0] in here}
        if mine:
            source.note(f"tests named by {path.name}")
        campaign.tests = {**mine, **campaign.tests}


def _tests(campaign: Campaign, own: str, text: bytes, system: str = "") -> None:
    """Take what a summary says of the tests in its folder `own`, or a list of tests of those of each timestamp."""
    try:
        for row in csv.DictReader(text.decode("utf-8", "replace").splitlines()):
            cell = {k: v.strip() for k, v in row.items() if isinstance(k, str) and isinstance(v, str)}
            test = _test({"system": system, **cell})
            if test is not None:
                folder = own if "algo_name" in cell else cell.get("timestamp", "")
                campaign.tests.setdefault((folder, cell.get("test_id", "")), test)
    except csv.Error:
        return


def _test(cell: dict[str, str]) -> Test | None:
    collective = collective_name(cell.get("collective_type", ""))
    nodes, ppn = parse_nodes(cell.get("nnodes", "")), parse_nodes(cell.get("tasks_per_node", ""))
    if collective is None or nodes is None or ppn is None:
        return None
    return Test(collective, nodes * ppn, ppn, pico_summary.facets_of(cell))


def _member(source: Source, campaign: Campaign, batch: _Batch, member: _Member, text: bytes) -> Iterator[pd.DataFrame]:
    first = first_line(text)
    end = text.find(b"\n") + 1 or len(text)
    if pico_samples.is_header(first):
        yield from batch.add(member, text[end:], first)
    elif pico_summary.is_header(first):
        yield from _summary(source, campaign, member, text[:end], text[end:])
    elif first.startswith(METADATA):
        source.skip_many(_rows(text[end:]), "PICO's list of tests, no times")
    elif first.startswith(ALLOCATION):
        source.skip_many(_rows(text[end:]), "PICO's list of the nodes of the ranks, no times")
    else:
        source.skip_many(_rows(text), "not a table of PICO")


def _summary(source: Source, campaign: Campaign, member: _Member, header: bytes, text: bytes) -> Iterator[pd.DataFrame]:
    """Load the summary rows whose samples are not in the tarball, count the others as skipped."""
    names = pico_summary.cells(header.decode("utf-8", "replace"))
    folder = str(PurePosixPath(member.folder) / member.test)
    kept: list[bytes] = []
    double = 0
    for raw in text.split(b"\n"):
        cell = dict(zip(names, raw.decode("utf-8", "replace").strip().split(","), strict=False))
        file = "{}_{}_{}.csv".format(*(cell.get(n, "") for n in ("array_dim", "algo_name", "datatype")))
        if (folder, cell.get("test_id", ""), file) in campaign.samples:
            double += 1
            kept.append(b"")
        else:
            kept.append(raw)
    source.skip_many(double, "summary of samples that are in the same tarball")
    if not any(kept):
        return
    table = pico_summary.SummaryReader(source, header.decode("utf-8", "replace")).parse(b"\n".join(kept), 2)
    if table is not None and len(table):
        yield table


class _Batch:
    """Samples of many files, handed on in large tables."""

    def __init__(self, source: Source, campaign: Campaign) -> None:
        self._source = source
        self._campaign = campaign
        self._files: list[tuple[TestFile, Test | None]] = []
        self._texts: list[SampleText] = []
        self._size = 0

    def add(self, member: _Member, text: bytes, header: str) -> Iterator[pd.DataFrame]:
        """Take the rows of one file."""
        named = split_file(member.file)
        test = self._campaign.test(member.folder, member.test)
        if named is None:
            self._source.skip_many(_rows(text), "the file's name is not <count>_<algorithm>_<datatype>.csv")
            return
        if test is None and self._campaign.tests:
            self._source.skip_many(_rows(text), "nothing in the tarball says which collective this test is")
            return
        self._files.append((named, test))
        self._texts.append(SampleText(header, text, f"{member.name}: "))
        self._size += len(text)
        if self._size >= _FLUSH:
            yield from self.flush()

    def flush(self) -> Iterator[pd.DataFrame]:
        """Yield what was taken so far as one table."""
        samples = pico_samples.read_many(self._source, self._texts)
        files, self._files, self._texts, self._size = self._files, [], [], 0
        counts = [len(each.time) for each in samples]
        if not sum(counts):
            return
        data: dict[str, Any] = {
            "time": np.concatenate([each.time for each in samples]),
            "repetition": np.concatenate([each.repetition for each in samples]),
            "algorithm": _texts([named.algorithm.name for named, _ in files], counts),
            "segment_size": np.repeat([named.algorithm.segment_size for named, _ in files], counts),
        }
        data |= self._identity(files, counts)
        yield pd.DataFrame(data)

    def _identity(self, files: list[tuple[TestFile, Test | None]], counts: list[int]) -> dict[str, Any]:
        sizes = {"vector_size": np.repeat(np.array([named.total_size for named, _ in files], dtype=np.int64), counts)}
        tests = [test for _, test in files if test is not None]
        if not tests:
            return sizes
        pico_summary.say_converted(self._source, (test.collective for test in tests))
        data: dict[str, Any] = {
            **sizes,
            "collective": _texts([test.collective for test in tests], counts),
            "comm_size": np.repeat(np.array([test.comm_size for test in tests], dtype=np.int64), counts),
            "ppn": np.repeat([test.ppn for test in tests], counts),
        }
        words_of = {name: [test.facets.get(name) for test in tests] for name in FACETS}
        words_of["element_type"] = [named.datatype for named, _ in files]
        data |= {name: _texts(words, counts) for name, words in words_of.items() if any(words)}
        return data


def _texts(values: list[Any], counts: list[int]) -> pd.Categorical:
    words = pd.Categorical(values)
    return pd.Categorical.from_codes(np.repeat(words.codes, counts), categories=words.categories)


def _rows(text: bytes) -> int:
    return sum(1 for line in text.split(b"\n") if line.strip())
