"""``colltune bench parameters``: parameters of communication models, measured between two processes."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.ranges import parse_sizes
from dashboard.benchmarks.launchers.launch import Job, complaints, finish_job, last_words, workplace
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.ranks.parameters import DEFAULT_SIZES, REPETITIONS, ROUNDS
from dashboard.benchmarks.ranks.world import said
from dashboard.commands import launching, text
from dashboard.commands.output import say, show, working, write, writing
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_bytes
from dashboard.models.errors import ModelError
from dashboard.models.pingpong import parameters_of_table, read_logp_table
from loaders import disk

_RANKS = ("-m", "mpi4py", "-m", "dashboard.benchmarks.ranks.parameters")
_LIMIT_S = 600.0
#: Lines at the end of a log in which the reason of an end is looked for.
_TAIL = 200


def run(args: argparse.Namespace) -> None:
    """Measure, and say what was found."""
    output = Path(args.output)
    if output.suffix != ".csv" or not output.resolve().parent.is_dir():
        raise Usage(f"-o {output}: the name must end in .csv, in a folder that is there")
    with writing(output), tempfile.TemporaryFile(dir=output.resolve().parent):
        # Said before anything is measured.
        pass
    ranks = args.ranks or 2
    if ranks < 2:
        raise Usage(f"--ranks {ranks}: a ping-pong needs 2 at least")
    installation = library.find()
    launcher = launching.launcher_of(args, installation)
    with workplace(launcher) as folder:
        own = installation.library.environment(here=launcher.here, graphs=False)
        table = folder / output.name
        job = _job(args, folder, table, ranks, own)
        with working() as progress:
            ended = finish_job(launcher, job, progress, "messages between two processes")
        if ended.state != "finished":
            raise Usage(f"{ended.state}: {_reason(job.log) or ended.reason}")
        write(output, disk.read_bytes(table))
    answer = _answer(output)
    args.modelled = answer["parameters"] is not None
    show(args, answer, lambda: _lines(answer))


def _job(args: argparse.Namespace, folder: Path, output: Path, ranks: int, own: Mapping[str, str]) -> Job:
    """The job; `own` are settings of colltune's own."""
    sizes = parse_sizes(args.sizes or DEFAULT_SIZES)
    program: tuple[str, ...] = (sys.executable, *_RANKS, str(output))
    program += ("--repetitions", str(args.repetitions or REPETITIONS), "--rounds", str(args.rounds or ROUNDS))
    program += ("--sizes", *map(str, sizes))
    return Job(folder, ranks, program, added(own), args.time_limit or _LIMIT_S, folder / "log.txt")


def _reason(log: Path) -> str:
    """What the ranks said last of themselves; else the line of their log that tells most, or its last words."""
    lines = disk.tail(log, _TAIL)
    return [" ".join(last_words(lines)), *complaints(log), *said(lines)][-1]


def _answer(output: Path) -> dict[str, Any]:
    """The table's own figures, and the models that follow from them."""
    table = read_logp_table(output)
    network = None
    try:
        network = parameters_of_table(table, sources=[output.name], name=output.stem)
    except ModelError as error:
        say(f"note: no models follow from this table: {error}")
    return {
        "output": str(output),
        "sizes": [int(size) for size in table["bytes"]],
        "table": {name: values.tolist() for name, values in table.items()},
        "parameters": None if network is None else network.to_dict(),
    }


def _lines(answer: dict[str, Any]) -> list[str]:
    named = {"halfrtt_median": "half trip", "gap": "gap", "os": "o_s", "or": "o_r"}
    named |= {"reduce_local": "reduce", "copy_local": "copy"}
    columns = [answer["table"][name] for name in named]
    rows = [
        [format_bytes(size), *(text.time(column[place]) for column in columns)]
        for place, size in enumerate(answer["sizes"])
    ]
    where = answer["output"]
    models = f" (model parameters {where})" if answer["parameters"] else ""
    return [*text.table(["bytes", *named.values()], rows, right=range(7)), f"wrote {where}{models}"]
