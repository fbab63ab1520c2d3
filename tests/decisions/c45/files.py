"""C4.5's own files, ``.names`` and ``.data``, and the reference trees beside them."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.decisions.grown.c45.table import Nodes, TrainingTable
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of


@dataclass(frozen=True, eq=False)
class DataSet:
    """A training table with the names of its attributes, of their values (none: continuous) and of its classes."""

    table: TrainingTable
    attributes: dict[str, list[str]]
    classes: list[str]


def listed(text: str) -> list[str]:
    return [item.strip() for item in text.strip().rstrip(".").split(",")]


@cache
def read_data_set(stem: Path) -> DataSet:
    """Read ``stem.names`` and ``stem.data``."""
    first, *others = [line for line in stem.with_suffix(".names").read_text().splitlines() if line.strip()]
    attributes = {name.strip(): listed(values) for name, values in (line.split(":") for line in others)}
    attributes = {name: [] if values == ["continuous"] else values for name, values in attributes.items()}
    classes = listed(first)
    rows = [listed(line) for line in stem.with_suffix(".data").read_text().splitlines() if line.strip()]
    columns = list(zip(*rows, strict=True))
    values = [
        [np.nan if text == "?" else (known.index(text) if known else float(text)) for text in column]
        for known, column in zip(attributes.values(), columns[:-1], strict=True)
    ]
    return DataSet(
        TrainingTable.of(
            np.array(values, dtype=np.float32),
            np.array([len(known) for known in attributes.values()], dtype=np.int32),
            np.array([classes.index(text) for text in columns[-1]], dtype=np.int32),
            len(classes),
        ),
        attributes,
        classes,
    )


def problem_at(folder: Path) -> Problem:
    """The times (µs) of ``NAME.costs.csv`` at the sizes of ``NAME.csv``."""
    cells, times = (pd.read_csv(folder / f"{folder.name}{end}.csv") for end in ("", ".costs"))
    comm, message = (np.unique(cells[name]) for name in ("comm_size", "msg_size"))
    cube = np.full((times.shape[1], comm.size, message.size), np.nan)
    cube[:, np.searchsorted(comm, cells["comm_size"]), np.searchsorted(message, cells["msg_size"])] = times.T * 1e-6
    return Problem.of(cube_of(cube, comm, message))


@dataclass(frozen=True)
class Reference:
    """What Release 8 made of a data set."""

    data: DataSet
    output: dict[str, Any]

    @property
    def min_cases(self) -> int:
        return int(self.output["settings"]["m"])

    @property
    def confidence(self) -> float:
        return float(self.output["settings"]["c"])

    @property
    def gain_ratio(self) -> bool:
        return "-g" not in self.output["settings"]["extra"]

    @property
    def group_values(self) -> bool:
        return "-s" in self.output["settings"]["extra"]


def read_reference(path: Path) -> Reference:
    output = json.loads(path.read_text())
    return Reference(read_data_set(path.parent / output["dataset"]), output)


def as_reference(nodes: Nodes, data: DataSet, node: int = 0) -> dict[str, Any]:
    """Write a tree as the reference files do."""
    tree: dict[str, Any] = {
        "cls": data.classes[nodes.label[node]],
        "n": float(nodes.cases[node]),
        "err": float(nodes.errors[node]),
        "dist": nodes.counts[node].astype(float).tolist(),
    }
    if not nodes.width[node]:
        return tree
    tree["att"], values = list(data.attributes.items())[nodes.attribute[node]]
    if not values:
        tree |= {"kind": "thresh", "cut": float(nodes.cut[node])}
    elif nodes.groups.shape[1] and len(values) > 2:
        groups = nodes.groups[node].tolist()
        subsets = [[v for v, own in zip(values, groups, strict=False) if own == g] for g in range(nodes.width[node])]
        tree |= {"kind": "subset", "subsets": subsets}
    else:
        tree |= {"kind": "discr", "values": values}
    branches = range(nodes.first[node], nodes.first[node] + nodes.width[node])
    return {**tree, "br": [as_reference(nodes, data, branch) for branch in branches]}
