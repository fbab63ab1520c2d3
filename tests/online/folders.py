"""A small folder of online tuning with two iterations and their evaluations, made of written traces."""

from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.online.running import check_evaluation
from dashboard.online.settings import Learning
from dashboard.online.state import Folder, append_line
from dashboard.online.table import default_table
from dashboard.online.writing import write_trace

TABLE = default_table("5.0", ("allreduce",))
SIZES = (64, 4096, 262144)
#: Seconds of the library's own decision by those of the fastest method.
DEFAULT = 2.0


def seconds(alg: int, message_size: int, nodes: int) -> float:
    """True time: the third method takes half of what the others take."""
    return (0.5 if alg == 3 else 1.0 + alg / 100) * 1e-5 * nodes * (1 + message_size / 4096)


def timings(iteration: int, *, seed: int, alg: int | None = None, factor: float = 1.0) -> pd.DataFrame:
    """Calls at all sizes on 2 and 4 nodes of 2 processes: all methods in turn, or one of them."""
    random, rows = np.random.default_rng([seed, iteration]), []
    for nodes in (2, 4):
        for size in SIZES:
            for number in range(30 * len(TABLE.methods["allreduce"])):
                chosen = number % len(TABLE.methods["allreduce"]) + 1 if alg is None else alg
                time = factor * seconds(chosen or 3, size, nodes) * np.exp(0.05 * random.standard_normal())
                rows.append(("allreduce", chosen, size, nodes, 2, time))
    return pd.DataFrame(rows, columns=["collective", "alg", "message_size", "nodes", "ppn", "time"])


def another(folder: Folder) -> None:
    """One more iteration: a run, its training, and the judging of what was learnt."""
    iteration = len(folder.progress) + 1
    write_trace(folder.traces, f"i{iteration}", timings(iteration, seed=1), folder.table)
    folder.collect(0.0)
    folder.train()
    out = folder.path / "evaluations"
    out.mkdir(exist_ok=True)
    for kind, alg, factor in (("default", 0, DEFAULT), ("tuned", 3, 1.0)):
        write_trace(out, f"e{iteration}-0-{kind}", timings(iteration, seed=2, alg=alg, factor=factor), folder.table)
    judged = {"collectives": 1.0, "calls": 1, "run": 1.0}
    record = {"iteration": iteration, "command": ["program"], "default": judged, "tuned": judged}
    append_line(folder.path / "evaluations.jsonl", record, check_evaluation)


def make(path: Path, iterations: int = 2) -> Folder:
    """Make the folder."""
    folder = Folder(path, TABLE, (4, 2), Learning(min_samples=20, rounds=10))
    folder.save()
    for _ in range(iterations):
        another(folder)
    return folder
