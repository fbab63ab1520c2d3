"""Choices of a session over the sample measurements."""

from __future__ import annotations

from typing import Any

from dashboard.session.registry import load_results
from dashboard.session.samples import sample_start
from dashboard.session.state import State


def sample_state(*name: str, **choices: Any) -> State:
    """Show the first sample campaign, or that of a name."""
    state, start = State(), sample_start(*name)
    state.show(load_results(start.paths, **start.hints))
    state.param.update(**choices)
    return state
