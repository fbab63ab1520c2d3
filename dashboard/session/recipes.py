"""A view said in three ways: as a command, as Python, and as a link; each gives the figures that the page shows."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.selection import selectable
from dashboard.domain.errors import OptionError
from dashboard.domain.held_out import CRITERION, HELD_OUT
from dashboard.domain.written import OF_TARGETS, VERSION
from dashboard.export import TARGETS
from dashboard.session.address import DATA
from dashboard.session.campaigns import measured_in, of_both
from dashboard.session.choice import RULES, Choice
from dashboard.session.registry import SOMEWHERE, Origin, origin_of
from dashboard.session.samples import SAMPLES, sample_start
from dashboard.session.treatment import UNCERTAINTY, Treatment, Workload

if TYPE_CHECKING:
    from dashboard.session.state import State
    from dashboard.session.view import View


#: Remarks in a shell and in Python.
_EMPTY = "# No results are loaded yet: there is nothing to decide."
_UNCHOSEN = "# Campaign B is not chosen yet: there is nothing to compare with."


def treatment_words(treatment: Treatment) -> list[str]:
    """A treatment as the commands take it; what is at its default is left out."""
    words = treatment.words()
    for name in treatment.without:
        words += ["--without", name]
    if treatment.across or treatment.ppn is not None:
        words += ["--ppn", "all" if treatment.across else str(treatment.ppn)]
    if treatment.workload is not None:
        words += ["--weights", treatment.workload.name]
    return words


def tree_words(choice: Choice) -> list[str]:
    """A tree as ``decide``, ``export`` and ``report`` take it."""
    words = ["--tree", choice.family]
    for name, value in choice.changed().items():
        words += FAMILIES[choice.family].option(name).typed(value)
    return words


def _by_name(view: View, choice: Choice) -> Choice:
    """A choice with its rules file as it is called where it was checked, not as it is known here."""
    key = choice.options.get("file", "")
    return Choice.of(choice.family, {**choice.options, "file": view.rules[key]}) if key in view.rules else choice


def _grown_words(view: View, treatment: Treatment) -> list[str]:
    """The tree and a treatment as they are typed together."""
    return [*tree_words(_by_name(view, view.choice)), *treatment_words(treatment)]


def compact(choice: Choice) -> str:
    """A tree as ``compare`` takes it: ``cart:max_leaves=8``."""
    known = FAMILIES[choice.family]
    options = [f"{name}={known.option(name).written(value)}" for name, value in choice.changed().items()]
    return f"{choice.family}:{','.join(options)}" if options else choice.family


def as_command(state: State) -> str:
    """The command that gives the figures of the page on show."""
    if (recipe := _own(state)) is not None:
        return recipe[0]
    # Each of several needs what the one before it wrote.
    return " &&\n".join(typed(_commands(state)))


def _commands(state: State) -> list[list[str]]:
    view, page = state.view, state.page
    if page in ("Data", "Home"):
        return [["info", *origin_of(state.results_id).words()]]
    if page == "Compare" and state.compare == "campaigns":
        return _beside(state)
    names = [str(name) for name in (view.collective, *view.together)]
    if page == "Export":
        return [of_file(state, list(state.exported) or names)]
    measured = _measured(names, state.results_id, joint=bool(view.together))
    treated = treatment_words(_named(view, names))
    if page == "Compare":
        trees = [compact(_by_name(view, choice)) for choice in (view.choice, state.other)]
        return [["compare", *measured, "--trees", *trees, *treated]]
    if page == "Frontier":
        criterion = CRITERION.typed(state.criterion) if state.criterion != CRITERION.default else []
        further = [word for file in _judged_rules(view) for word in ("--with-rules", file)]
        for name, settings in view.models_tried().items():
            further += ["--with-trees", *(compact(Choice.of(name, options)) for options in settings)]
        return [["frontier", *measured, *further, *HELD_OUT.typed(state.held_out), *criterion, *treated]]
    return [_decide(view, state.results_id)]


def _judged_rules(view: View) -> list[str]:
    """Names of the rules files that stand on the frontier: those that say something of the collective."""
    return [name for key, name in view.rules.items() if not view.refused(Choice.of(RULES, {"file": key}))]


def of_file(state: State, collectives: Sequence[str], loss: float = 0.0) -> list[str]:
    """The command that writes the file of the page Export.

    Parameters
    ----------
    collectives
        Those in it.
    loss
        Points that it costs more than was decided.
    """
    view = state.view
    names = [str(name) for name in (view.collective, *view.together)] if view.together else collectives
    measured = _measured(names, state.results_id, joint=bool(view.together))
    words = [*_grown_words(view, _named(view, names)), "--to", state.target]
    accepted = ["--allow-loss", str(math.ceil(loss))] if 0 < loss < math.inf else []
    return ["export", *measured, *words, *_target_words(state), *accepted]


def of_check(state: State, file: str, version: str | None, *, judged: bool) -> list[str]:
    """The command that checks a rules file.

    Parameters
    ----------
    version
        Of Open MPI that reads it; None of other files.
    judged
        Whether it is judged by the measurements on show, if there are any.
    """
    words = ["lint", file, *(VERSION.typed(version) if version else [])]
    if state.results is None or not judged:
        return words
    view = state.view
    treated = judged_words(view, view.collectives, view.treatment.workload)
    return [*words, "--over", *origin_of(state.results_id).words(), *treated]


def of_substituting(state: State, file: str, collectives: Sequence[str], words: Sequence[str]) -> list[str]:
    """The command that writes a rules file for another target with what costs least for what that has not."""
    measured = _measured(collectives, state.results_id, joint=False)
    rules = ["--tree", RULES, "--file", file, *judged_words(state.view, collectives)]
    return ["export", *measured, *rules, *words]


def judged_words(view: View, collectives: Sequence[str], workload: Workload | None = None) -> list[str]:
    """What judges that which is there already, by measurements as they are, at one number of processes per node."""
    known = _named(view, collectives)
    judging = {name: getattr(known, name) for name in ("outliers", "keep_doubtful", "without", "ppn")}
    return treatment_words(Treatment(**judging, workload=workload))


def of_report(state: State, collectives: Sequence[str], output: str, further: Sequence[str]) -> list[str]:
    """The command that writes a report on a view.

    Parameters
    ----------
    collectives
        Those in it; none: all.
    further
        What else is asked of it, as it is typed.
    """
    view = state.view
    measured = _measured(collectives, state.results_id, joint=False)
    grown = _grown_words(view, _named(view, collectives or view.collectives))
    sure = UNCERTAINTY.typed(state.uncertainty) if state.uncertainty else []
    return ["report", *measured, *grown, *sure, *further, "-o", output]


def said(commands: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Commands as they are typed, and the Python that does the same."""
    return "\n".join(typed(commands)), _called(commands)


def typed(commands: Sequence[Sequence[str]]) -> list[str]:
    """Commands as they are typed."""
    return [shlex.join(["colltune", *words]) for words in commands]


def _called(commands: Sequence[Sequence[str]]) -> str:
    """Lines of Python that do what commands do."""
    return "\n".join(["from dashboard import cli", "", *(f"cli.main({list(words)!r})" for words in commands)])


def _decide(view: View, results_id: str) -> list[str]:
    names = [str(name) for name in (view.collective, *view.together)]
    measured = _measured(names, results_id, joint=bool(view.together))
    return ["decide", *measured, *_grown_words(view, _named(view, names))]


def _beside(state: State) -> list[list[str]]:
    """The commands of two campaigns; where the files of one need other hints, both are saved first."""
    view, saved = _of_both(state), []
    first, second = origin_of(state.results_id), _against(state)
    if first.hints != second.hints:
        saved = [["convert", *each.words(), "-o", f"{side}.nc"] for side, each in (("A", first), ("B", second))]
        first, second = Origin(("A.nc",)), Origin(("B.nc",))
    words = ["portability", *first.words(), "--against", *(second.shortened() or [SOMEWHERE])]
    words += ["-c", str(view.collective), *([] if state.common else ["--all-methods"])]
    return [*saved, [*words, *_grown_words(view, view.treatment)]]


def _of_both(state: State) -> View:
    """The view whose treatment both campaigns have; the one on show while there is no other."""
    try:
        return of_both(state.view, measured_in(state.against, str(state.collective)))[0]
    except OptionError:
        return state.view


def _against(state: State) -> Origin:
    """Where the campaign came from that stands beside the one on show."""
    if state.against in SAMPLES:
        start = sample_start(state.against)
        return Origin(tuple(map(str, start.paths)), start.hints)
    return origin_of(state.against)


def _own(state: State) -> tuple[str, str] | None:
    """The command and the Python of a page that says them itself, or whose own view they give; None of others."""
    if state.page == "Compare" and state.compare == "campaigns" and not state.against:
        return _UNCHOSEN, _UNCHOSEN
    if (recipe := state.recipes.get(state.page)) is None:
        return (_EMPTY, _EMPTY) if state.results is None else None
    return recipe if isinstance(recipe, tuple) else _deciding(recipe, state.results_id)


def _deciding(view: View, results_id: str) -> tuple[str, str]:
    """The command and the Python that decide as a view does, over these results."""
    return shlex.join(["colltune", *_decide(view, results_id)]), _python(view, results_id)


def _measured(names: Sequence[str], results_id: str, *, joint: bool) -> list[str]:
    collectives = [word for name in names for word in ("-c", name)]
    return [*origin_of(results_id).words(), *collectives, *(["--combined"] if joint else [])]


def _named(view: View, names: Sequence[str]) -> Treatment:
    """The treatment without methods left out that these collectives do not have."""
    cubes = [cube for name in names if (cube := view.measured(name)) is not None]
    known = {name for cube in cubes for name in selectable(cube)}
    return replace(view.treatment, without=tuple(name for name in view.treatment.without if name in known))


def _target_words(state: State) -> list[str]:
    """What is asked of the target, as far as it takes it."""
    asked = [option for option in OF_TARGETS if option.name in TARGETS[state.target].options]
    return [word for option in asked if (value := getattr(state, option.name)) for word in option.typed(value)]


def as_python(state: State) -> str:
    """Lines of Python that give the figures of the view."""
    if (recipe := _own(state)) is not None:
        return recipe[1]
    view, results_id = state.view, state.results_id
    if state.page == "Frontier":
        held_out = None if state.held_out == "none" else state.held_out
        asked = f"held_out={held_out!r}, criterion={state.criterion!r}, prepare=prepared.learn"
        rules = [{"file": file, **more} for file in _judged_rules(view) for more in ({}, {"improve": True})]
        if further := {**({RULES: rules} if rules else {}), **view.models_tried()}:
            asked += f", further={further!r}"
        lines = [f"tried = frontier(prepared.problem, {asked})", "tried.table"]
        return _python(view, results_id, lines, "from dashboard.decisions.judged.frontier import frontier")
    if state.page in ("Export", "Data", "Home"):
        # What they show is a file, or a list of files: their command says it.
        return _called(_commands(state))
    if state.page != "Compare":
        return _python(view, results_id)
    if state.compare == "trees":
        lines = [
            _decided("first", _by_name(view, view.choice)),
            _decided("second", _by_name(view, state.other)),
            'compare(prepared.problem, {"A": first.decision, "B": second.decision})',
        ]
        return _python(view, results_id, lines, "from dashboard.decisions.judged.compare import compare")
    choice = f'Choice.of("{view.choice.family}", {_by_name(view, view.choice).changed()!r})'
    lines = [
        f"results = {opened(_against(state))}",
        f"other = {_prepared(_of_both(state))}",
        f"prepared.against(other, {choice}{'' if state.common else ', common=False'}).table",
    ]
    return _python(_of_both(state), results_id, lines, "from dashboard.session.choice import Choice")


def _python(view: View, results_id: str, lines: Sequence[str] = (), imported: str = "") -> str:
    """Lines that prepare what a view does, and then these; default: those that decide as it does."""
    imports = ["from dashboard.session.prepared import prepare", "from loaders import open_results"]
    if view.treatment.workload is not None:
        imports += ["from dashboard.session.treatment import Workload", "from loaders.workload import read_workload"]
    lines = lines or [_decided("decided", _by_name(view, view.choice)), "decided.statistics"]
    files = [name for name in dict.fromkeys(view.rules.values()) if any(repr(name) in line for line in lines)]
    if files:
        imports.append("from dashboard.export.rules.given import keep_file")
    return "\n".join(
        [
            *sorted([*imports, *([imported] if imported else [])]),
            "",
            f"results = {opened(origin_of(results_id))}",
            f"prepared = {_prepared(view)}",
            *(f"keep_file({name!r})" for name in files),
            *lines,
        ]
    )


def opened(origin: Origin) -> str:
    """The Python that loads results from where they came."""
    hints = "".join(f", {name}={value!r}" for name, value in origin.hints.items() if value is not None)
    return f"open_results({list(origin.shortened()) or [SOMEWHERE]!r}{hints})"


def _prepared(view: View) -> str:
    """The call that prepares what `results` has of a view's collectives."""
    changed = {name: value for name, value in view.treatment.changed().items() if name != "workload"}
    chosen = [f"{name}={value!r}" for name, value in changed.items()]
    if view.treatment.workload is not None:
        chosen.append(f"workload=Workload.of(read_workload({view.treatment.workload.name!r}))")
    names = [name for name in (view.collective, *view.together) if name is not None]
    cubes = [f'results["{name}"].to_dataset()' for name in names]
    joint = ", ".join(f'"{name}": {cube}' for name, cube in zip(names, cubes, strict=True))
    return f"prepare({', '.join([cubes[0] if len(cubes) == 1 else f'{{{joint}}}', *chosen])})"


def _decided(name: str, choice: Choice) -> str:
    options = "".join(f", {option}={value!r}" for option, value in choice.changed().items())
    return f'{name} = prepared.decide("{choice.family}"{options})'


def as_link(state: State, base: str) -> str:
    """The address at which a dashboard with these results shows the view."""
    followed = state.followed.get(state.page, {})
    return f"{base}?{urlencode({**followed, **state.to_query(), DATA: state.results_id})}"
