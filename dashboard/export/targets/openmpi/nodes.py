"""Decision functions for Open MPI across nodes: two files, who answers (HAN's rules) and how (the rules of tuned).

HAN is asked before tuned where there are several nodes. Its rules name a component for ranges of communicator and
message sizes; where they name tuned the rules of tuned act. Both are written as one text with a line between them, so
that they are read, judged and proven as the one decision that they are; `parted` gives the two files.

Format of HAN's rules: open-mpi/ompi, ``ompi/mca/coll/han/coll_han_dynamic_file.c`` of 5.0. Each level is a count and
then its entries: collectives, topological levels, configuration sizes, message sizes. The first configuration size must
be 1 and the first message size 0.
"""

from collections.abc import Sequence
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import OWN_DECISION, Method
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.bands import Band, Bands, bands_of, merged
from dashboard.export.components import (
    GONE,
    HAN,
    NUMBERS,
    SERVES,
    TUNED,
    module_settings,
    named,
    split_word,
    variant_of,
)
from dashboard.export.library_names import algorithm_names, is_own_decision
from dashboard.export.parts import per_collective
from dashboard.export.remarks import hashed
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, Weights
from dashboard.export.targets.openmpi.json_file import to_openmpi_json
from dashboard.export.targets.openmpi.plan import notes_of
from dashboard.export.targets.openmpi.rules import to_openmpi
from loaders.openmpi import COLLECTIVE_IDS, DEFAULT_VERSION, series

#: Line that parts the two files.
MARK = "#### the second file, HAN's rules ####"
#: What stands for the name of the second file until the first one has one.
HAN_FILE = "HAN_FILE"
#: Topological level of the whole communicator.
GLOBAL = 2
#: A file needs rules of one collective: that HAN answers broadcasts, as it does by itself.
_NOTHING_ELSE = (f"{COLLECTIVE_IDS.index('bcast')} # bcast", "1", str(GLOBAL), "1", "1", "1", f"0 {HAN}")


def parted(text: str) -> tuple[str, str]:
    """Rules of tuned, and HAN's; ValueError where the text is not both."""
    first, mark, second = text.partition(f"{MARK}\n")
    if not mark:
        raise ValueError("rules of one component alone")
    return first, second


def joined(tuned: str, han: str) -> str:
    """Both as one text."""
    return f"{tuned.rstrip()}\n{MARK}\n{han}"


def component_of(method: Method, collective: str) -> str:
    """Component that answers where a decision takes a method.

    Of the library's own decision across nodes that is HAN for what it serves.
    """
    if component := named(method):
        return component
    return HAN if is_own_decision(method) and collective in SERVES[HAN] else TUNED


def word_of(method: Method, collective: str) -> str:
    """What HAN's rules say for a method: a component, and of HAN which of its algorithms, such as ``han @simple``."""
    variant = variant_of(method)
    return component_of(method, collective) + (f" @{variant}" if variant else "")


def to_openmpi_nodes(
    decisions: Decisions,
    *,
    provenance: Facts = None,
    cubes: Cubes = None,
    version: str = DEFAULT_VERSION,
    most_rules: int | None = None,
    weights: Weights = None,
) -> str:
    """Write both files as one text: HAN's rules are of the collectives that HAN answers.

    Of Open MPI 6 the first is JSON, whose reader is that of tuned: it names no component. HAN reads its rules as in
    5.0. Both by their source: not tried on several nodes.

    Parameters and errors are as for `dashboard.export.targets.openmpi.rules.to_openmpi`.

    Raises
    ------
    ExportError
        Also when this version reads no names of components, or has no more one that is decided.
    """
    wanted = series(version)
    if wanted == "4.1":
        raise ExportError(
            f"HAN's rules name components only from Open MPI 5.0 on, not in {version}; write openmpi for it"
        )
    each = list(per_collective(decisions))
    for decision in each:
        if lost := {named(decision.methods[place]) for place in decision.used}.intersection(GONE.get(wanted, ())):
            raise ExportError(
                f"Open MPI {wanted} has no component {lost.pop()}, which was decided for {decision.collective}"
            )
    asked = [decision for decision in each if decision.collective in SERVES[HAN]]
    tuned = [_left_to_tuned(decision) for decision in each]
    options: dict[str, Any] = {"cubes": cubes, "most_rules": most_rules, "weights": weights, "provenance": provenance}
    # The JSON of 6 is tuned's alone; HAN reads the same text there.
    options |= {"han": HAN_FILE}
    first = to_openmpi_json(tuned, **options) if wanted == "6.0" else to_openmpi(tuned, version=version, **options)
    return joined(first, _han(asked, wanted, provenance))


def _left_to_tuned(decision: DecisionFunction) -> DecisionFunction:
    """What rules of tuned are written of: its own decision where another component answers, which then is not asked."""
    name = decision.collective
    if name not in SERVES[HAN]:
        return decision
    methods = [
        method if component_of(method, name) == TUNED and method.algorithm != TUNED else OWN_DECISION
        for method in decision.methods
    ]
    return decision.changed(methods=methods)


def who_answers(decision: DecisionFunction) -> tuple[Bands, list[str]]:
    """Words of HAN's rules by communicator and message size, as bands whose methods are places in the list."""
    names = [word_of(method, decision.collective) for method in decision.methods]
    order = sorted(set(names))
    bands = bands_of(decision, "message").with_methods([order.index(name) for name in names])
    first, *others = bands.bands
    return merged(Bands("message", (Band(1, first.rules), *others), bands.notes)), order


def _han(decisions: Sequence[DecisionFunction], version: str, provenance: Facts) -> str:
    lines = hashed(
        [
            f"HAN's rules for Open MPI {version}: which component answers, by communicator and message size.",
            "Use: mpirun --mca coll_han_use_dynamic_file_rules 1 --mca coll_han_dynamic_rules_filename THIS_FILE ...",
            "together with the rules of tuned that were written with this file; where it says tuned, they act.",
            "Where it says adapt, that acts with --mca coll_adapt_priority 11 alone.",
            "HAN's own calls inside of nodes and between them follow the rules of tuned, at their sizes.",
            origin.generated(provenance),
        ]
    )
    lines += hashed(
        [f"{decision.collective}: {note}" for decision in decisions for note in _unsaid_of_han(decision, version)]
    )
    lines.append(f"{len(decisions) or 1} # collectives")
    if not decisions:
        lines += _NOTHING_ELSE
    for decision in decisions:
        bands, names = who_answers(decision)
        lines += [f"{COLLECTIVE_IDS.index(decision.collective)} # {decision.collective}", "1 # topological level"]
        lines += [f"{GLOBAL} # the whole communicator", f"{len(bands.bands)} # communicator sizes"]
        for band in bands.bands:
            lines += [f"{band.start} # processes and more", f"{len(band.rules)} # message sizes"]
            words = [(size, names[place]) for size, place in band.rules]
            lines += [f"{size} {word} # number {NUMBERS[split_word(word)[0]]}" for size, word in words]
    return "\n".join(lines) + "\n"


def _of_han(decision: DecisionFunction) -> set[Method]:
    """Methods that are decided somewhere and that HAN answers with."""
    methods = (decision.methods[place] for place in decision.used)
    return {method for method in methods if component_of(method, decision.collective) == HAN}


def _unsaid_of_han(decision: DecisionFunction, version: str) -> list[str]:
    """What HAN's rules for a version do not say as it was decided, in words."""
    if decision.collective not in SERVES[HAN]:
        return []
    notes = [f"{note[0].upper()}{note[1:]}." for note in who_answers(decision)[0].notes]
    return [*notes, *_segments(decision), *_modules(decision, series(version))]


def _segments(decision: DecisionFunction) -> list[str]:
    """What rules cannot say of HAN, and what says it for a whole job where that is one size."""
    sizes = {method.segment_size for method in _of_han(decision)}
    if not any(sizes):
        return []
    parameter = f"coll_han_{decision.collective}_segsize"
    text = "HAN's segment size is none of its rules"
    if len(sizes) == 1:
        return [f"{text}; --mca {parameter} {sizes.pop()} says it for all calls, as it was decided."]
    return [f"{text}: where {', '.join(map(str, sorted(sizes - {0})))} was decided, {parameter} is taken."]


def _modules(decision: DecisionFunction, version: str) -> list[str]:
    """Likewise of the components that HAN takes within nodes and between them."""
    for name in {method.parameters.get("low") for method in _of_han(decision)}.intersection(GONE.get(version, ())):
        what = f"Open MPI {version} has no {name} for HAN within nodes: where low={name} was decided"
        return [f"{what}, HAN takes what it likes, and no parameter is named."]
    said = [module_settings(decision.collective, method.parameters) for method in _of_han(decision)]
    if not any(said):
        return []
    words = sorted({" ".join(f"--mca {name} {number}" for name, number in each.items()) for each in said if each})
    text = "The components that HAN takes within nodes and between them are none of its rules"
    if len(said) == 1:
        return [f"{text}; {words[0]} says it for all calls, as it was decided."]
    return [f"{text}: where {', or '.join(words)} was decided, what the job sets for all calls is taken."]


TARGET = Target(
    "openmpi-nodes",
    "Open MPI rules across nodes (two files: tuned's and HAN's, for 5.0 and 6)",
    ".conf",
    to_openmpi_nodes,
    ("cubes", "version", "most_rules", "weights"),
    use=usage.OPEN_MPI_NODES,
    readable=True,
    names=algorithm_names,
    notes=lambda decision, asked: (
        *notes_of(_left_to_tuned(decision), asked),
        *_unsaid_of_han(decision, asked["version"]),
    ),
)
