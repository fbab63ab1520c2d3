"""The rules that ``colltune tune-check`` measures, in the form that the library at hand takes."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.libraries.library import Installation
from dashboard.commands.output import say
from dashboard.commands.prepared import as_asked_beyond
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.saved import FORMAT
from dashboard.decisions.grown.default import is_default
from dashboard.export import form
from dashboard.export.form import Form
from dashboard.export.rules import RulesFile
from dashboard.export.rules.given import notes_alone, read_beside
from dashboard.export.rules.lint import read_rules, text_of
from loaders import disk


@dataclass(frozen=True)
class Given:
    """The rules: their form and text, and what they decide by collective."""

    form: Form
    text: str
    decisions: Mapping[str, DecisionFunction]

    @property
    def decided(self) -> tuple[str, ...]:
        """Collectives that are not left to the library altogether."""
        return tuple(name for name, decision in self.decisions.items() if not is_default(decision))


def form_of(args: argparse.Namespace, installation: Installation | None) -> Form:
    """The form that the library to be measured takes; without one that of Open MPI, or of the file if it is MPICH's."""
    if installation is not None:
        library = installation.library
        return form.form_of(library.name, args.version or library.version, nodes=bool(args.han))
    mpich = _begins(Path(args.rules)).startswith('{"collective=')
    return form.form_of("MPICH" if mpich else "Open MPI", args.version or "5.0", nodes=bool(args.han))


def _begins(path: Path) -> str:
    return "".join(disk.read_text(path, errors="replace")[:4096].split()) if path.is_file() else ""


def given(args: argparse.Namespace, form: Form) -> Given:
    """What is to be checked, as rules of the library."""
    path = Path(args.rules)
    text = text_of(path)
    if path.suffix == ".json" and f'"{FORMAT}"' in text[:4096]:
        return written(as_asked_beyond(args, [DecisionFunction.load(path)]), form)
    if args.han:
        return _across_nodes(path, Path(args.han), form)
    for words in notes_alone(path):
        say(f"note: {words}")
    rules = read_rules(path, version=form.version, own=form.base)
    _refuse_faulty(rules, str(path))
    if rules.format in form.formats:
        return Given(form, text, rules.decisions)
    say(f"note: {path}: {rules.title}; measured as {form.title}")
    return written(list(rules.decisions.values()), form)


def written(decisions: Sequence[DecisionFunction], form: Form, **known: Any) -> Given:
    """Decision functions as rules, as the library reads them; further arguments as of `Form.write`."""
    text = form.write(decisions, **known)
    return Given(form, text, form.read(text).decisions)


def _across_nodes(tuned: Path, han: Path, form: Form) -> Given:
    """Rules of tuned and HAN's as the one decision that they are."""
    text, rules = read_beside(tuned, han, form.version)
    _refuse_faulty(rules, f"{tuned} with {han}", f"{tuned} --han {han}")
    return Given(form, text, rules.decisions)


def _refuse_faulty(rules: RulesFile, name: str, words: str = "") -> None:
    """Refuse rules with an error, by the first one; `words` name their files to ``lint``."""
    if rules.errors:
        fault = next(fault for fault in rules.faults if fault.severity == "error")
        raise Usage(f"{name}: {fault} (colltune lint {words or name} lists all faults)")
