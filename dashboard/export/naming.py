"""Names of methods that a target does not know: which they are, what they may mean, and what the user says they do."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import OWN_DECISION, Leaf, Method, default_of
from dashboard.export.library_names import NAMED, is_of_library
from dashboard.export.target import ExportError, LeftAloneError, Target

_NEAR = 3
#: Letters of a word that means something by itself.
_WORD = 4


def known(target: Target, collective: str, version: str | None = None) -> tuple[str, ...]:
    """Names of the algorithms that a target has; empty where it takes any, or none of these."""
    return tuple(target.names(collective, version)) if target.names else ()


def near(target: Target, collective: str, algorithm: str, version: str | None = None) -> list[str]:
    """The target's names that an algorithm may mean: those that are spelled much the same, or share a word with it."""
    names = known(target, collective, version)
    alike = difflib.get_close_matches(algorithm.lower(), names, _NEAR, 0.5)
    words = {word for word in algorithm.lower().split("_") if len(word) >= _WORD} - {"tree"}
    return list(dict.fromkeys([*alike, *(name for name in names if words & set(name.split("_")))]))[:_NEAR]


def lacking(
    target: Target,
    collective: str,
    methods: Iterable[Method],
    facts: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    *,
    segments: bool = True,
) -> list[Method]:
    """Methods that a target cannot say.

    Parameters
    ----------
    collective, methods
        What was measured, or what rules decide.
    facts
        Of the measurements or rules: ``library``.
    options
        Of the target: ``version``, ``base``.
    segments
        Whether methods that it has without their segments alone count, too.
    """
    target_options = {name: value for name, value in (options or {}).items() if name in target.options}
    takes_any = target.names is None and not target.own_methods
    if takes_any or not said(target, collective, OWN_DECISION, facts, target_options):
        # Else it says nothing at all of the collective, or lacks what it starts from; both it tells by itself.
        return []
    named = (method for method in methods if default_of([method]) is None)
    wanted = ((method, method if segments else replace(method, segment_size=0)) for method in named)
    return [method for method, asked in wanted if not said(target, collective, asked, facts, target_options)]


def said(target: Target, collective: str, method: Method, facts: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether the target writes a file in which this method is all that is decided, or needs none for it."""
    if method.segment_size and not target.segments(collective, method):
        return False
    if target.runs_own and not is_of_library(method):
        method = target.runs_own(method)
    try:
        target.write([DecisionFunction(collective, [method], Leaf(0), provenance=facts)], None, **options)
    except LeftAloneError:
        return True
    except ExportError:
        return False
    return True


def renamed(cube: xr.Dataset, names: Mapping[str, str]) -> xr.Dataset:
    """The cube with other names for its algorithms, marked as `NAMED`; the methods keep their labels."""
    if not set(names) & set(map(str, cube["algorithm"].values)):
        return cube
    words = [names.get(str(name), str(name)) for name in cube["algorithm"].values]
    given = np.array([int(str(name) in names) for name in cube["algorithm"].values])
    return cube.assign_coords({"algorithm": ("method", np.array(words)), NAMED: ("method", given)})


def renamed_rules(decision: DecisionFunction, names: Mapping[str, str]) -> DecisionFunction:
    """The same for the methods of rules."""
    methods = [
        replace(each, algorithm=names[each.algorithm], parameters={**each.parameters, NAMED: 1})
        if each.algorithm in names
        else each
        for each in decision.methods
    ]
    return decision.changed(methods=methods)
