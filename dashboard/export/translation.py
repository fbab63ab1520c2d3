"""Rules of one library for another target: which of a file's decisions are taken, and what is left out."""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.domain.units import format_count
from dashboard.export.rules import TRANSLATED, RulesFile
from dashboard.export.rules.rows import UNKNOWN
from dashboard.export.target import ExportError, Target

_LISTED = 4


@dataclass(frozen=True)
class Taken:
    """What is taken of a rules file, one decision function for each collective."""

    #: By collective.
    decisions: Mapping[str, DecisionFunction]
    #: Why others cannot be said, one line each.
    reasons: Sequence[str]
    #: Names of those that come after, by collective.
    further: Mapping[str, Sequence[str]]

    def left_out(self, chooses: str, *, most: int) -> list[str]:
        """What is left out, in words.

        Parameters
        ----------
        chooses
            What chooses among the sections of a ucc.conf.
        most
            So many reasons are told.
        """
        lines = list(self.reasons[:most])
        if (more := len(self.reasons) - most) > 0:
            lines.append(f"{more:,} more that cannot be said")
        for collective, names in self.further.items():
            ending = f"; {chooses} chooses" if section_of(self.decisions[collective]) else ""
            lines.append(f"{len(names):,} further decisions for {collective}: {listed(names, 1)}{ending}")
        return lines


def taken(
    rules: Mapping[str, DecisionFunction], write: Callable[[DecisionFunction], object], measured: Collection[str] = ()
) -> Taken:
    """Take the first decision for each collective that a target can say as it is.

    Parameters
    ----------
    rules
        As they are meant, by name.
    write
        Writes one of them; `ExportError` where the target cannot.
    measured
        Collectives for which a target gets substitutes: where it can say none as it is, the first is taken.

    Raises
    ------
    ExportError
        When none is taken; the message says why.
    """
    groups: dict[str, dict[str, DecisionFunction]] = {}
    for name, decision in rules.items():
        groups.setdefault(decision.collective, {})[name] = decision
    decisions: dict[str, DecisionFunction] = {}
    reasons: list[str] = []
    further: dict[str, list[str]] = {}
    for collective, group in groups.items():
        refusals = list(itertools.takewhile(bool, (_refusal(name, each, write) for name, each in group.items())))
        if len(refusals) == len(group) and collective in measured:
            refusals = []
        reasons += refusals
        names = list(group)[len(refusals) :]
        if names:
            decisions[collective] = group[names[0]]
        if names[1:]:
            further[collective] = names[1:]
    if not decisions:
        raise ExportError(f"nothing can be translated: {reasons[0]}")
    return Taken(decisions, reasons, further)


def _refusal(name: str, decision: DecisionFunction, write: Callable[[DecisionFunction], object]) -> str:
    """Why a decision cannot be written; empty where it can."""
    try:
        write(decision)
    except ExportError as error:
        return f"{name}: {str(error).removeprefix(f'{decision.collective}: ')}"
    used = (decision.methods[place].algorithm for place in decision.used)
    unknown = next((algorithm for algorithm in used if algorithm.startswith(UNKNOWN)), "")
    number, named = unknown.removeprefix(UNKNOWN), f"--name '{unknown}=NAME'"
    return f"{name}: the library has no algorithm {number}; say which is meant ({named})" if unknown else ""


def lacking(rules: RulesFile) -> str:
    """Why nothing of a rules file can be translated, in words; empty where something can."""
    if rules.meant:
        return ""
    wrong = [fault for fault in rules.faults if fault.severity == "error"]
    if wrong and not rules.listings:
        where = "" if wrong[0].line is None else f"line {wrong[0].line}: "
        more = f", and {format_count(len(wrong) - 1, 'more error')}" if wrong[1:] else ""
        return f"{where}{wrong[0].text}{more}; nothing to translate"
    why = f", since {rules.not_by_sizes}" if rules.not_by_sizes else ""
    return f"{rules.title}: nothing to translate{why}; translated are rules of {TRANSLATED}"


def base_of(target: Target, rules: RulesFile, text: str) -> str | None:
    """The complete file that a target changes, where none is given: rules of its own library are one themselves."""
    return text if "base" in target.options and rules.format == target.name and not rules.errors else None


def section_of(decision: DecisionFunction) -> str:
    """Of a ucc.conf: what teams the decision is for; else empty."""
    return str(decision.provenance.get("section", ""))


def sections_of(rules: Mapping[str, DecisionFunction]) -> list[str]:
    """The sections of a ucc.conf that have rules."""
    return list(dict.fromkeys(section for decision in rules.values() if (section := section_of(decision))))


def of_section(rules: Mapping[str, DecisionFunction], words: str) -> dict[str, DecisionFunction]:
    """Rules of the section of this name, else of those that have these words in it."""
    exact = {name: decision for name, decision in rules.items() if words and section_of(decision) == words}
    return exact or {name: decision for name, decision in rules.items() if words in section_of(decision)}


def listed(words: Sequence[str], most: int = _LISTED) -> str:
    """Some of the words, and a sign that there are more."""
    return ", ".join([*words[:most], *(["…"] if len(words) > most else [])])
