"""Choices of a session over measurements."""

from typing import Any

import xarray as xr

from dashboard.session.registry import load_results, register
from dashboard.session.samples import sample_start
from dashboard.session.state import State


def state_of(**cubes: xr.Dataset) -> State:
    """Show cubes, each by the name of its collective."""
    state = State()
    named = {name: cube.assign_attrs(collective=name) for name, cube in cubes.items()}
    state.show(register(xr.DataTree.from_dict(named)))
    return state


def sample_state(*name: str, **choices: Any) -> State:
    """Show the first sample campaign, or that of a name."""
    state, start = State(), sample_start(*name)
    state.show(load_results(start.paths, **start.hints))
    state.param.update(**choices)
    return state


def by_python(lines: str, **names: Any) -> Any:
    """What a page's Python gives: its last line is an expression, and may know `names`."""
    *before, last = lines.splitlines()
    exec("\n".join(before), names)  # noqa: S102 - it is what is tested
    return eval(last, names)  # noqa: S307 - likewise
