"""Online tuning inside a Python program: around a communicator of mpi4py, with any functions as methods.

What the preloaded library does for the library's own algorithms is done here for whatever can be called: own schedules,
grids, or the library's algorithms on communicators of their own. Draws, look-up, traces and model files are the same.
mpi4py is not imported: the communicator is the program's.
"""

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from dashboard.decisions.function.nodes import Method
from dashboard.online.draws import SAMPLED, draws, stream
from dashboard.online.errors import OnlineError
from dashboard.online.model_file import load
from dashboard.online.selection import DEFAULT, Calls, SelectionModel
from dashboard.online.settings import MODES
from dashboard.online.table import AlgTable
from dashboard.online.writing import claim, head
from loaders import disk
from loaders.online import RECORD, totals_of

#: ``function(comm, …)``: a collective call by one method; what follows the communicator is the caller's.
Called = Callable[..., Any]
DEFAULT_LABEL = "default"
_BUFFERED = (1 << 20) // RECORD.itemsize


class OnlineTuner:
    """Chooses and times the collective calls on one communicator.

    Parameters
    ----------
    comm
        Communicator of mpi4py; making the tuner is collective.
    methods
        By collective, for each method (label, such as ``ring``) the function that makes the call, and under
        ``default`` the one that is called where nothing is chosen.
    mode
        One of `dashboard.online.settings.MODES`, by default what ``COLLTUNE_ONLINE`` says, else ``off``.
    model
        Model file to look up in, by default that of ``COLLTUNE_ONLINE_MODEL``; the first process's counts.
    out
        Folder for the trace, by default that of ``COLLTUNE_ONLINE_OUT``; None: nothing is noted.
    run
        Name of the run, by default of ``COLLTUNE_ONLINE_RUN``, else made of time and process. It is mixed into the
        seed of the draws, ``COLLTUNE_ONLINE_SEED``.
    most
        Calls that are chosen and noted.
    fraction
        Share of the calls that are.

    Raises
    ------
    OnlineError
        A collective has no ``default``, or the model is of other methods.

    Examples
    --------
    >>> tuner = OnlineTuner(comm, {"allreduce": {"default": MPI.Comm.Allreduce, "own ring": ring}})  # doctest: +SKIP
    >>> tuner.call("allreduce", 8 * len(vector), vector, total)  # doctest: +SKIP
    """

    def __init__(
        self,
        comm: Any,
        methods: Mapping[str, Mapping[str, Called]],
        *,
        mode: str | None = None,
        model: Path | None = None,
        out: Path | None = None,
        run: str | None = None,
        most: int = 1000,
        fraction: float = 1.0,
    ) -> None:
        self._comm, self._most, self._fraction = comm, most, fraction
        self._defaults: dict[str, Called] = {}
        self._functions: dict[str, list[Called]] = {}
        for name, functions in methods.items():
            others = dict(functions)
            if (own := others.pop(DEFAULT_LABEL, None)) is None or not others:
                raise OnlineError(f"the methods of {name} need one called {DEFAULT_LABEL!r}, and at least one more")
            self._defaults[name], self._functions[name] = own, list(others.values())
        listed = {name: [label for label in each if label != DEFAULT_LABEL] for name, each in methods.items()}
        self.table = AlgTable("own", "1", {name: tuple(Method(x, x) for x in each) for name, each in listed.items()})
        settings = {
            "mode": mode or os.environ.get("COLLTUNE_ONLINE", "off"),
            "model": str(model or os.environ.get("COLLTUNE_ONLINE_MODEL", "")),
            "out": str(out or os.environ.get("COLLTUNE_ONLINE_OUT", "")),
            "run": run or os.environ.get("COLLTUNE_ONLINE_RUN") or f"{time.time():.6f}-{os.getpid()}",
            "seed": os.environ.get("COLLTUNE_ONLINE_SEED", "1"),
        }
        self._begin(settings)

    def _begin(self, said: dict[str, str]) -> None:
        """Agree with all processes: the first one's settings count."""
        self._told = self._comm.bcast(said, root=0)
        self._mode = self._told["mode"]
        if self._mode not in MODES:
            raise OnlineError(f"mode is {self._mode!r}, expected one of {', '.join(MODES)}")
        self._model = self._learnt(self._told["model"]) if self._mode in ("tuning", "tuned") else None
        # Before any process goes on to its first call: no call takes longer than the run.
        self._began = time.perf_counter()
        places = self._comm.allgather(platform.node())
        self._size, self._rank = len(places), self._comm.Get_rank()
        traced = self._told["out"] and self._mode != "off"
        if traced:
            run = self._told["run"] if self._rank else claim(Path(self._told["out"]), self._told["run"])
            self._told["run"] = self._comm.bcast(run, root=0)
        self._nodes = len(set(places))
        self._ppn = math.ceil(self._size / self._nodes)
        state = int(self._told["seed"])
        for letter in self._told["run"].encode():
            state = int(stream(state, letter))
        # The communicator's own id: a program may tune several.
        self._id = self._comm.bcast(time.time_ns() % (1 << 62), root=0)
        self._start = stream(state, self._id)
        self._calls = self._chosen = 0
        self._file = self._opened() if traced else None
        self._records: list[tuple[Any, ...]] = []

    def _learnt(self, name: str) -> SelectionModel | None:
        if not name:
            if self._mode == "tuned":
                raise OnlineError("mode tuned needs a model: COLLTUNE_ONLINE_MODEL names its file")
            return None
        model = load(Path(name))
        if model.table.digest != self.table.digest:
            raise OnlineError(f"{name} is of the table {model.table.digest}, this program of {self.table.digest}")
        return model

    def _opened(self) -> Any:
        run = self._told["run"]
        facts = {"rank": self._rank, "ranks": self._size, "mode": self._mode, "clock": "perf_counter"}
        file = (Path(self._told["out"]) / f"{run}.{self._rank}.trace").open("wb")
        file.write(head(run, self.table, **facts))
        file.flush()
        return file

    def call(self, collective: str, message_size: int, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a collective call by the method that its size and number say.

        Parameters
        ----------
        collective
            One of those that methods were given of.
        message_size
            Bytes by the project's convention, the same on all processes.
        *arguments, **keywords
            For the method's function, after the communicator.
        """
        number, self._calls = self._calls, self._calls + 1
        noted = self._noted(collective, number)
        alg = self._choose(collective, message_size, number, noted=noted) if self._mode != "off" else DEFAULT
        function = self._functions[collective][alg - 1] if alg else self._defaults[collective]
        start = time.perf_counter()
        answer = function(self._comm, *arguments, **keywords)
        if noted:
            end, place = time.perf_counter(), self.table.collectives.index(collective)
            sizes = (self._size, self._nodes, self._ppn)
            self._records.append((start, end, message_size, self._id, number, *sizes, place, alg))
            if len(self._records) >= _BUFFERED:
                self._flush()
        return answer

    def _noted(self, collective: str, number: int) -> bool:
        place = self.table.collectives.index(collective)
        sampled = self._fraction >= 1 or float(draws(self._start, place, number, SAMPLED)) < self._fraction
        noted = self._mode != "off" and sampled and self._chosen < self._most
        self._chosen += noted
        return noted

    def _choose(self, collective: str, message_size: int, number: int, *, noted: bool) -> int:
        calls = Calls(*(np.array([each]) for each in (message_size, self._nodes, self._ppn, self._size)))
        choice = self._model.choices.get(collective) if self._model is not None else None
        if self._mode == "tuned":
            return int(choice.tuned(calls)[0]) if choice is not None else DEFAULT
        if self._mode == "trace" or not noted:
            return DEFAULT
        draw = float(draws(self._start, self.table.collectives.index(collective), number))
        if choice is None:
            return int(draw * len(self._functions[collective])) + 1
        return int(choice.tried(calls, np.array([draw]))[0])

    def _flush(self) -> None:
        if self._file is not None:
            self._file.write(np.array(self._records, dtype=RECORD).tobytes())
            self._file.flush()
        self._records.clear()

    def close(self) -> None:
        """Write what is left; collective. Without it at most 1 MiB of records is lost."""
        self._flush()
        if self._file is None:
            return
        self._file.close()
        self._file = None
        self._comm.barrier()
        if self._rank == 0:
            totals = {"run": self._told["run"], "ranks": self._size, "seconds": time.perf_counter() - self._began}
            disk.write_text(totals_of(Path(self._told["out"]), self._told["run"]), json.dumps(totals))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._flush()
