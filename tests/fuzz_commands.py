"""Damaged files for commands that read others than results: ``python -m tests.fuzz_commands --seed 1``.

Rules, decision functions, parameters, workloads, scenarios, folders of campaigns and of online tuning, a site's file.
What must hold of each: the command ends with an answer or one line that says what is wrong, within `SECONDS`.
"""

import contextlib
import copy
import io
import json
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers import site
from dashboard.benchmarks.libraries.methods import Method
from dashboard.cli import main as colltune
from dashboard.models.presets import MACHINES
from dashboard.online.errors import OnlineError
from dashboard.online.running import read_plan
from dashboard.online.scenario import FOLDER as SCENARIOS
from dashboard.online.settings import Learning
from dashboard.online.state import Folder
from dashboard.online.table import default_table
from loaders import RunWriter
from tests.fuzz import DAMAGES, Damage, Fault, parser_of, tell
from tests.online.traces import write_run

SECONDS = 10.0
#: What stands in JSON where something else was expected.
ODD: Sequence[Any] = (
    None, True, -1, 0, 10**30, 1e308, -0.5, "", "x", "\0", "9" * 5000, [], {}, [[]], [None], {"": None}, [1] * 50,
)  # fmt: skip
_RESULTS = (
    "collective,algorithm,segment_size,comm_size,message_size,time\n"
    + "".join(
        f"bcast,{name},0,{processes},{size},{1e-9 * (size * slope + start * processes)}\n"
        for name, slope, start in (("binomial", 2, 10), ("pipeline", 1, 9000), ("linear", 3, 5))
        for processes in (2, 4, 8)
        for size in (8, 1024, 65536)
    )
)  # fmt: skip
_SITE = """launch = "mpiexec --map-by ppr:{ppn}:node -n {ranks}"
ppn = 2
[environment]
OMPI_MCA_btl = "self,tcp"
[slurm]
modules = ["openmpi/5"]
"""
_WORKLOAD = "collective,comm_size,message_size,calls\nbcast,4,8,100\nbcast,8,1024,5\n"
_GRAPH = ("-c", "bcast", "--tree", "quadtree")
_PREDICT = ("model", "predict", "-c", "bcast", "--algorithm", "binomial", "--model", "hockney", "--comm-size", "4")
_PREDICT += ("--message-size", "8")


def odd_values(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Put something else in the place of a value of JSON, or of several; other text is cut."""
    try:
        document = [json.loads(data)]
    except (ValueError, RecursionError):
        return data[: rng.randrange(len(data) + 1)]
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(list(_places(document)))
        action = rng.randrange(8)
        if action == 0 and holder is not document:
            del holder[key]
        elif action == 1 and isinstance(holder, dict):
            holder["another"] = copy.deepcopy(holder[key])
        elif action == 2 and isinstance(holder, list) and holder is not document:
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return json.dumps(document[0]).encode()


def nested(data: bytes, rng: random.Random, other: bytes) -> bytes:
    """Brackets without end, where a reader calls itself."""
    at = rng.choice([0, rng.randrange(len(data) + 1)])
    return data[:at] + rng.choice([b"[", b'{"a":', b"["]) * 100_000 + data[at:]


ALL_DAMAGES: Sequence[Damage] = (odd_values, *DAMAGES, odd_values, nested, odd_values)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything that stands in lists and objects, by what holds it and where."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(pairs):
        yield value, key
        yield from _places(each)


@dataclass(frozen=True)
class Kind:
    """Files that a command reads."""

    name: str
    #: An undamaged one; below a folder of its own where it does not stand alone.
    file: Path
    #: Called with the damaged file: what the command tells on standard error, with its exit status.
    reads: Callable[[Path], tuple[int, str]]


def _answer(words: Sequence[str]) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = colltune(words)
    return status, err.getvalue()


def _command(*words: str) -> Callable[[Path], tuple[int, str]]:
    """A command of which one word is the file, or the folder that it is in."""
    return lambda file: _answer([{"FILE": str(file), "FOLDER": str(file.parent)}.get(word, word) for word in words])


def _reader(read: Callable[[Path], Any], *errors: type[Exception]) -> Callable[[Path], tuple[int, str]]:
    def reads(file: Path) -> tuple[int, str]:
        try:
            read(file)
        except errors as error:
            return 2, f"colltune: error: {error}"
        return 0, ""

    return reads


def kinds(folder: Path) -> list[Kind]:
    """Make one undamaged file of each kind, each in a folder of its own below this one."""
    results = folder / "results.csv"
    results.write_text(_RESULTS)
    made = [*_rules(folder, str(results)), *_others(folder, str(results)), *_campaign(folder), *_online(folder)]
    for kind in made:
        status, text = kind.reads(kind.file)
        assert status == 0, (kind.name, text)
    return made


def _room(folder: Path, name: str) -> Path:
    (made := folder / name).mkdir()
    return made


def _rules(folder: Path, results: str) -> Iterator[Kind]:
    for target in ("openmpi", "openmpi-json", "mpich", "intel", "ucc", "nccl", "json"):
        file = _room(folder, target) / "rules.txt"
        status, _ = _answer(["export", results, *_GRAPH, "--to", target, "-o", str(file)])
        if status or _answer(["lint", str(file)])[0]:
            continue
        yield Kind(f"lint {target}", file, _command("lint", "FILE", "--over", results, "-c", "bcast"))
        if target not in ("nccl", "json"):
            yield Kind(f"translate {target}", file, _command("translate", "FILE", "--to", "json"))
        yield Kind(
            f"decide {target}", file, _command("decide", results, "-c", "bcast", "--tree", "rules", "--file", "FILE")
        )


def _others(folder: Path, results: str) -> Iterator[Kind]:
    room = _room(folder, "others")
    (workload := room / "workload.csv").write_text(_WORKLOAD)
    yield Kind("workload", workload, _command("decide", results, *_GRAPH, "--weights", "FILE"))
    (said := room / "colltune.toml").write_text(_SITE)
    yield Kind("site", said, _reader(site.read, BenchError))
    parameters = room / "parameters.json"
    MACHINES["grig-mx"].save(parameters)
    yield Kind("parameters", parameters, _command(*_PREDICT, "--parameters", "FILE"))
    scenario = Path(shutil.copy(SCENARIOS / "simulated.json", room))
    yield Kind("scenario", scenario, _command("online", "simulate", "--scenario", "FILE", "--iterations", "1"))


def _campaign(folder: Path) -> Iterator[Kind]:
    plan = Plan(2, {"bcast": (Method("a"), Method("b"))}, (2,), (8, 64))
    campaign = Campaign.create(_room(folder, "campaign"), plan)
    handle = {
        "order": "o",
        "host": "nowhere",
        "mark": "m",
        "prepared": 1.0,
        "command": [],
    }
    launcher = {"name": "local", "mpiexec": ["mpiexec"], "ppn": None, "folder": ""}
    write_json(campaign.state_file, {"state": "running", "launcher": launcher, "handle": handle, "attempt": 1})
    write_json(campaign.progress_file, {"points": 4, "measured": 1, "now": "bcast", "started": 1.0, "seconds": 2.0})
    point = {"collective": "bcast", "algorithm": "a", "comm_size": 2, "message_size": 8, "samples": [1e-6, 2e-6]}
    with RunWriter(campaign.results, {"system": "here"}) as run:
        run.append(point)
    for file in (campaign.plan_file, campaign.state_file, campaign.progress_file, campaign.results):
        yield Kind(f"campaign {file.name}", file, _command("bench", "status", "FOLDER"))


def _online(folder: Path) -> Iterator[Kind]:
    room = _room(folder, "online")
    table = default_table("5.0", ("allreduce",))
    tuning = Folder(room, table, (4, 4), Learning(min_samples=20, rounds=20))
    tuning.save()
    timings = [
        {"alg": number % 8 + 1, "message_size": 64, "start": 1, "call": number, "end": 1 + 1e-4 * (number % 8 + 1)}
        for number in range(240)
    ]
    write_run(tuning.traces, "one", timings, table)
    tuning.collect()
    tuning.train()
    for file in (room / "loop.json", tuning.data, room / "progress.jsonl"):
        yield Kind(f"online {file.name}", file, _command("online", "show", "FOLDER"))
    export = ("online", "export", "FOLDER", "-c", "allreduce", "--to", "json")
    yield Kind("online model", tuning.model, _command(*export))
    (plan := room / "plan.json").write_text(json.dumps({"runs": [["true"]], "iterations": 2, "each": 1, "every": 1}))
    yield Kind("online plan", plan, _reader(read_plan, OnlineError))


def fault_of(kind: Kind, path: Path) -> str:
    """What is wrong with how a damaged file is answered; empty: nothing."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            status, text = kind.reads(path)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"
    took = time.process_time() - began
    if status not in (0, 2):
        return f"status {status}: {text[-300:]}"
    return f"took {took:.1f} s" if took > SECONDS else ""


def run(
    seed: int, count: int, keep: Path | None = None, first: int = 0, damages: Sequence[Damage] = ALL_DAMAGES
) -> list[Fault]:
    """Have so many damaged files read; those at fault."""
    faults: list[Fault] = []
    with tempfile.TemporaryDirectory(prefix="colltune-fuzz-") as name:
        made = kinds(Path(name))
        contents = [kind.file.read_bytes() for kind in made]
        for number in range(first, first + count):
            rng = random.Random(f"{seed}-{number}")
            place, damage = number % len(made), damages[number // len(made) % len(damages)]
            kind, damaged = made[place], damage(contents[place], rng, rng.choice(contents))
            kind.file.write_bytes(damaged)
            if effect := fault_of(kind, kind.file):
                faults.append(Fault(number, kind.name, damage.__name__, effect))
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{seed}-{number}-{kind.file.name}").write_bytes(damaged)
            kind.file.write_bytes(contents[place])
    return faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    args = parser_of("tests.fuzz_commands", __doc__, 5_000).parse_args(arguments)
    began = time.monotonic()
    return tell(run(args.seed, args.count, args.keep, args.first), f"{args.count:,} inputs", began)


if __name__ == "__main__":
    sys.exit(main())
