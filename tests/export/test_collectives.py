"""A Python module that runs the collectives: its functions; that they run is shown in tests/bench."""

import ast

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.targets.collectives import to_collectives

NAMES = ("barrier", "bcast", "gather", "allreduce", "reduce")


def module() -> ast.Module:
    """One for several collectives."""
    decisions = [
        DecisionFunction(name, [Method("default", "default"), Method("binomial", "binomial")], Leaf(0))
        for name in NAMES
    ]
    return ast.parse(to_collectives(decisions))


@pytest.mark.parametrize(
    ("collective", "taken"),
    [
        ("barrier", "comm"),
        ("bcast", "comm, buffer, root=0"),
        ("gather", "comm, sent, received, root=0"),
        ("allreduce", "comm, sent, received, op"),
        ("reduce", "comm, sent, received, op, root=0"),
    ],
)
def test_a_collective_is_called_as_its_communicator_s(collective: str, taken: str) -> None:
    made = {node.name: ast.unparse(node.args) for node in module().body if isinstance(node, ast.FunctionDef)}
    assert made[collective] == taken


def test_what_it_decides_with_stands_before_what_runs_it() -> None:
    made = [node.name for node in module().body if isinstance(node, ast.FunctionDef)]
    assert made == [*(f"colltune_{name}" for name in NAMES), *NAMES]


def test_it_imports_what_it_needs() -> None:
    imported = {node.module for node in module().body if isinstance(node, ast.ImportFrom)}
    assert imported == {"mpi4py", "dashboard.schedules.collectives"}
