"""Rules files as given decisions (`dashboard.decisions.grown.given`): to compare, to improve, to export."""

from collections.abc import Sequence
from pathlib import Path

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.given import GIVEN, Given
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import DecisionFormatError, OptionError
from dashboard.export.rules.fault import RulesError, RulesFile
from dashboard.export.rules.lint import read_file, read_rules, read_text, text_of
from dashboard.export.rules.over import as_measured, fitted
from dashboard.export.targets.openmpi.nodes import joined
from dashboard.export.usage import han_name
from loaders import disk
from loaders.openmpi import DEFAULT_VERSION


def keep(key: str, name: str, text: str, version: str = DEFAULT_VERSION) -> RulesFile | None:
    """Keep the text of a rules file, or of a saved decision function, as one that can be decided with.

    Parameters
    ----------
    key
        What the family ``rules`` is to find it by.
    name
        For people.
    version
        Of the Open MPI that reads it at first.

    Returns
    -------
    RulesFile or None
        As it was read; None for a saved decision function.

    Raises
    ------
    RulesError
        When it is neither.
    """
    read: dict[str, RulesFile] = {}
    saved = saved_decisions(text)
    if not saved:
        read[version] = read_file(text, version=version)

    def decide(problem: Problem, version: str) -> DecisionFunction:
        if saved:
            return _checked(saved, problem, name)
        if version not in read:
            read[version] = read_file(text, version=version)
        cube = problem.single("a rules file").cube
        return fitted(of_collective(as_measured(read[version], cube), problem.collective, name), cube, version)

    GIVEN.put(key, Given(name, decide, len(text)))
    return read.get(version)


def keep_file(path: str) -> None:
    """Keep a file by its path, as `keep`; `RulesError` also where it cannot be read."""
    text = text_of(path)
    try:
        keep(path, Path(path).name, text)
    except RulesError as error:
        raise RulesError(f"{path}: {error}") from None


def read_beside(tuned: Path, han: Path, version: str = DEFAULT_VERSION) -> tuple[str, RulesFile]:
    """Read the two files of Open MPI across nodes as one.

    Parameters
    ----------
    tuned, han
        Rules of tuned, and HAN's.
    version
        Of the Open MPI that reads them.

    Returns
    -------
    str, RulesFile
        Their text together, and what it decides.

    Raises
    ------
    RulesError
        When one cannot be read, or is another kind of file.
    """
    texts = []
    for path, kinds in ((tuned, ("openmpi-1", "openmpi-2", "openmpi-3")), (han, ("openmpi-han",))):
        rules = read_rules(path, version=version)
        if rules.format not in kinds:
            raise RulesError(f"{path}: {rules.title}; wanted are rules of {'HAN' if path == han else 'tuned'}")
        texts.append(disk.read_text(path, errors="surrogateescape"))
    text = joined(*texts)
    return text, read_text(text, version=version)


def han_beside(tuned: Path) -> Path | None:
    """HAN's rules that lie beside a file under the name that exports and bundles give them; None: there are none."""
    han = tuned.with_name(han_name(tuned.name))
    return han if han.is_file() else None


def notes_alone(tuned: Path) -> list[str]:
    """What there is to say of a file that is taken without HAN's rules."""
    han = han_beside(tuned)
    return [f"{han} lies beside it: on several nodes both are one decision (--han {han})"] if han else []


def of_collective(rules: RulesFile, collective: str, name: str = "the rules file") -> DecisionFunction:
    """What the library does with the rules of a collective, where it refuses them what was meant.

    Raises
    ------
    OptionError
        When there are none; the message says of what there are.
    """
    for known in (rules.decisions, rules.meant):
        for decision in known.values():
            if decision.collective == collective:
                return decision
    if collective in rules.listings:
        raise OptionError(f"{name}: {listed(rules)}")
    names = dict.fromkeys([*(decision.collective for decision in rules.meant.values()), *rules.listings])
    there = ", ".join(names) or "no collective at all"
    raise OptionError(f"{name} has no rules for {collective}; it has them for {there}")


def listed(rules: RulesFile) -> str:
    """Why rules that are only listed decide nothing, in words."""
    return f"rules of {rules.title} are listed, not decided with: {rules.not_by_sizes}"


def saved_decisions(text: str) -> list[DecisionFunction]:
    """The decision functions that were saved as this text, one or a list of them; none where it is something else."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")) or '"root"' not in text:
        return []
    try:
        return DecisionFunction.all_of_json(text)
    except DecisionFormatError as error:
        if '"methods"' in text:
            raise RulesError(f"a saved decision function, but {error}") from None
        return []


def _checked(decisions: Sequence[DecisionFunction], problem: Problem, name: str) -> DecisionFunction:
    """Of saved decision functions the one of a problem's collective, or what one of several says of it."""
    of_each = {each: each.categories.get("collective", (each.collective,)) for each in decisions}
    for decision, names in of_each.items():
        if problem.collective == decision.collective:
            return decision
        if problem.collective in names:
            return decision.restricted(collective=problem.collective)
    there = ", ".join(name for names in of_each.values() for name in names)
    raise OptionError(f"{name} decides {there}, not {problem.collective}")
