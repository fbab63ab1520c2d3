"""The folder of a tuning: what was asked, how far each stage is, and what it came to.

::

    asked.json     what was asked
    state.json     each stage: its state, digests of what it depends on and of what it gave, seconds, facts, files
    measure/       campaign (`dashboard.benchmarks.campaigns.campaign`); measure-2/ … of other plans
    decide/ export/ prove/ compare/ bundle/
                   what the stages wrote
    now.json       how far the stage at work is
    .lock          held by the process that works in it, which it names

State is written whole after each step, so that whoever comes after a kill finds what was done, and does the rest.
"""

import contextlib
import errno
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import Campaign, read_json, write_json
from dashboard.benchmarks.errors import ROOM, CampaignError, unwritable
from dashboard.benchmarks.launchers import processes
from loaders import disk

_VERSION = 1
_SHORT = 16
#: What else it holds than what was asked.
_WRITTEN = ["plan.json", "state.json", "now.json", "measure", "decide", "export", "prove", "compare"]
_WRITTEN += ["bundle", "bundle.zip", "again", "before"]
#: Seconds between two notes of how far a stage is.
_NOTED_S = 0.4


@dataclass(frozen=True)
class Result:
    """What a stage came to."""

    #: Plain data; later stages go by them, and are done again when they have changed.
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: That it wrote; done again when one of them is gone or has changed.
    files: Sequence[Path] = ()
    #: Plain data that nothing goes by, such as the load of the machine.
    noted: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Folder:
    """The folder of one tuning."""

    path: Path

    @property
    def asked_file(self) -> Path:
        """What was asked."""
        return self.path / "asked.json"

    @property
    def state_file(self) -> Path:
        """How far each stage is."""
        return self.path / "state.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder.

        Raises
        ------
        CampaignError
            Another process holds it, it holds other things, or it cannot be written, also while it is held.
        """
        self._refuse_foreign()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / ".lock").touch()
        except OSError as error:
            raise CampaignError(f"{self.path} cannot be written: {error.strerror or error}") from error
        with self._written(), disk.locked(self.path / ".lock") as lock:
            if lock is None:
                raise CampaignError(f"{self.path}: another colltune tune works in it; wait for its end")
            pid = os.getpid()
            lock.truncate(0)
            lock.write(json.dumps({"pid": pid, "started": processes.started_at(pid), "host": platform.node()}))
            lock.flush()
            try:
                yield
            finally:
                lock.truncate(0)

    @contextmanager
    def _written(self) -> Iterator[None]:
        """CampaignError that says what is kept where there is no room for anything in it, or it is read-only."""
        try:
            yield
        except (OSError, CampaignError) as error:
            refused = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(refused, OSError) or refused.errno not in (*ROOM, errno.EROFS):
                raise
            kept = "what was done" if self.state_file.exists() else ""
            raise unwritable(refused.filename or self.path, refused, kept, "the same command goes on") from error

    def _refuse_foreign(self) -> None:
        """CampaignError where a tuning would replace what another program, or a campaign, put there."""
        if self.asked_file.exists():
            return
        if there := [name for name in _WRITTEN if (self.path / name).exists()]:
            raise CampaignError(f"{self.path} holds {there[0]} that no tuning made; name another folder")

    def worker(self) -> dict[str, Any]:
        """The process that works in it: ``pid, started, host``; empty where there is none any more."""
        lock = read_json(self.path / ".lock")
        try:
            here = lock["host"] == platform.node()
            return lock if not here or processes.alive(lock["pid"], lock["started"]) else {}
        except (KeyError, TypeError):
            return {}

    def note(self, stage: str, share: float, words: str) -> None:
        """Write down how far a stage is (0 to 1), for who watches; no oftener than `_NOTED_S`."""
        file = self.path / "now.json"
        with contextlib.suppress(OSError):
            if not file.exists() or not 0 <= time.time() - file.stat().st_mtime < _NOTED_S or not words:
                write_json(file, {"stage": stage, "share": share, "words": words})

    def now(self) -> dict[str, Any]:
        """What was noted last: ``stage, share, words``."""
        return read_json(self.path / "now.json")

    def asked(self) -> dict[str, Any]:
        """What was asked before; empty when nothing was."""
        return read_json(self.asked_file)

    def keep_asked(self, record: Mapping[str, Any]) -> None:
        """Keep what is asked."""
        write_json(self.asked_file, record)

    def state(self) -> dict[str, dict[str, Any]]:
        """How far each stage is, by its name.

        Raises
        ------
        CampaignError
            The file is of another version, or the folder is no tuning's.
        """
        record = read_json(self.state_file)
        if record and "colltune_tune" not in record:
            raise CampaignError(f"{self.path} is no folder of colltune tune; name one that it made")
        if record and record.get("colltune_tune") != _VERSION:
            raise CampaignError(f"{self.state_file} is not of this version of colltune; name another folder")
        stages = record.get("stages", {})
        for known in stages.values() if isinstance(stages, dict) else [stages]:
            parts = (
                [known.get(name, {}) for name in ("facts", "noted", "files")] if isinstance(known, dict) else [known]
            )
            if not all(isinstance(part, dict) for part in parts):
                said = f"{self.state_file} is not as colltune wrote it"
                raise CampaignError(f"{said}; remove it: the same command goes on with what the folder holds")
        return dict(stages)

    def facts(self, name: str) -> dict[str, Any]:
        """What a stage came to; empty where it was not done."""
        return dict(self.state().get(name, {}).get("facts", {}))

    @property
    def results(self) -> list[Path]:
        """The run files that stage *measure* left: one, or of an array one for each job."""
        named = self.facts("measure")["results"]
        return [self.path / name for name in ([named] if isinstance(named, str) else named)]

    @property
    def lost(self) -> bool:
        """Whether run files that stage *measure* left are gone."""
        return bool(self.facts("measure")) and not (self.results and all(file.exists() for file in self.results))

    @property
    def campaign(self) -> Campaign:
        """The campaign of stage *measure*."""
        return Campaign(self.results[0].parent).root()

    def _write(self, name: str, record: Mapping[str, Any]) -> None:
        write_json(self.state_file, {"colltune_tune": _VERSION, "stages": {**self.state(), name: dict(record)}})

    def begin(self, name: str, inputs: str) -> None:
        """Write down that a stage is at work."""
        self._write(name, {"state": "running", "inputs": inputs, "began": time.time(), "files": self._files(name)})

    def finish(self, name: str, inputs: str, result: Result, seconds: float) -> None:
        """Write down what a stage came to."""
        here = self.path.resolve()
        files = {str(file.resolve().relative_to(here)): digest_of_file(file) for file in result.files}
        facts = json.loads(json.dumps(result.facts))
        self._write(
            name,
            {
                "state": "done",
                "inputs": inputs,
                "output": digest({"facts": facts, "files": files}),
                "seconds": round(seconds, 3),
                "facts": facts,
                "noted": dict(result.noted),
                "files": files,
            },
        )

    def fail(self, name: str, inputs: str, state: str, reason: str, seconds: float) -> None:
        """Write down that a stage ended without a result."""
        record = {"state": state, "inputs": inputs, "reason": reason, "seconds": round(seconds, 3)}
        self._write(name, {**record, "files": self._files(name)})

    def stands(self, name: str, inputs: str) -> bool:
        """Whether a stage was done with these inputs, and its files are as it left them."""
        known = self.state().get(name, {})
        if known.get("state") != "done" or known.get("inputs") != inputs:
            return False
        return all(digest_of_file(self.path / file) == file_digest for file, file_digest in self._files(name).items())

    def written(self, name: str) -> list[Path]:
        """Files that a stage wrote when it was done last."""
        return [self.path / file for file in self._files(name)]

    def _files(self, name: str) -> dict[str, str]:
        return dict(self.state().get(name, {}).get("files", {}))

    def output(self, name: str) -> str:
        """Digest of what a stage gave; empty where it was not done."""
        return str(self.state().get(name, {}).get("output", ""))


def digest(record: Any) -> str:
    """Of plain data, whatever the order of its names."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:_SHORT]


def digest_of_file(file: Path) -> str:
    """Of a file's content; empty where there is none."""
    try:
        return hashlib.sha256(disk.read_bytes(file, 1 << 32)).hexdigest()[:_SHORT]
    except OSError:
        return ""
