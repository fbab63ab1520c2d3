"""What is wrong with Open MPI rules that can be read: numbers, orders and sizes that do not act as they look."""

from collections.abc import Callable, Iterator, Sequence

from dashboard.domain.units import format_count
from dashboard.export.known_faults import known_fault
from dashboard.export.library_names import COMPARED, FORCED_FAN_OUT, least_fan_out, takes_segments, way_of
from dashboard.export.rules.fault import Fault
from dashboard.export.rules.rows import Item, Row, Rules
from dashboard.export.targets.c.text import INT_MAX
from loaders.openmpi import TWO_PROCESSES, algorithms, series


def check(rules: Rules, version: str, *, classic: bool) -> list[Fault]:
    """Give the faults of one collective's rules.

    Parameters
    ----------
    rules
        As they stand in the file.
    version
        Of Open MPI.
    classic
        Whether they are version 1 or 2, where ranges follow from the order.
    """
    if rules.collective not in COMPARED:
        return [
            Fault(
                rules.line,
                "warning",
                f"rules for {rules.collective}, which Open MPI's tuned component does not choose for",
                "never looked at",
            )
        ]
    faults = [fault for band in rules.sets for row in band.rows for fault in _row(rules.collective, row, version)]
    faults += _known(rules, version)
    faults += _sizes(rules)
    if classic:
        faults += _order(rules)
        faults += _small(rules, version)
    following = [band.comm_size - 1 for band in rules.sets[1:]] if classic else []
    lasts = [*following, *(band.last for band in rules.sets[len(following) :])]
    if not (classic and series(version) == "6.0"):
        faults += _two_processes(rules, lasts, version)
    faults += _by_insignificant(rules, lasts)
    return faults


def _row(collective: str, row: Row, version: str) -> Iterator[Fault]:
    known = algorithms(collective, version)
    choice = row.choice
    if choice.algorithm and choice.algorithm not in known:
        has = ", ".join(f"{number} {name}" for number, name in known.items())
        disabled = series(version) == "6.0"
        yield Fault(
            row.line,
            "error",
            f"{collective} has no algorithm {choice.algorithm} in Open MPI {series(version)}; it has {has}",
            "refused at the call; by default the program is aborted" if not disabled else "the rule never acts",
        )
        return
    if choice.segment_size and choice.algorithm and not takes_segments(collective, choice.algorithm):
        yield Fault(
            row.line,
            "note",
            f"segment size {choice.segment_size} for {known[choice.algorithm]}, which does not cut messages",
            "not looked at",
        )
    elif choice.segment_size > INT_MAX:
        text = f"segment size {choice.segment_size:,} is more than a C int holds, {INT_MAX:,}"
        yield Fault(row.line, "warning", text, "the library takes another number")
    least = least_fan_out(collective, known.get(choice.algorithm, ""))
    if choice.fan_out and choice.algorithm and not least:
        yield Fault(
            row.line,
            "note",
            f"fan-out {choice.fan_out} for {known[choice.algorithm]}, which takes none from rules",
            "not looked at",
        )
    if choice.fan_out < least > 1:
        text = f"fan-out {choice.fan_out} for {known[choice.algorithm]}, expected {least} or more"
        yield Fault(row.line, "error", text, "the call never ends")
    elif choice.fan_out < least:
        yield Fault(
            row.line,
            "warning",
            f"fan-out 0 for {known[choice.algorithm]}; when it is forced by a parameter it takes {FORCED_FAN_OUT}",
            "acts with fan-out 1, as the pipeline does",
        )


def _known(rules: Rules, version: str) -> Iterator[Fault]:
    """Algorithms that are known to give wrong results, each at its first rule."""
    firsts = {row.choice.algorithm: row for band in reversed(rules.sets) for row in reversed(band.rows)}
    for number, row in sorted(firsts.items(), key=lambda numbered_row: numbered_row[1].line or 0):
        fault = known_fault("Open MPI", version, rules.collective, number=number) if number else None
        if fault is not None:
            yield Fault(
                row.line,
                "note" if fault.only_commutative else "error",
                f"{rules.collective} {fault.name} of {fault.library} {fault.versions} is at fault where {fault.case}",
                f"{fault.effect} ('colltune check-methods -c {rules.collective} --algorithm {fault.name}' shows it)",
            )


def _order(rules: Rules) -> Iterator[Fault]:
    """Sizes that do not ascend: what is above in the file then never acts."""
    for band, highest in _not_above(rules.sets, lambda band: band.comm_size):
        yield Fault(
            band.line,
            "warning",
            f"{rules.collective}: communicator size {band.comm_size} after {highest.comm_size}; they must ascend",
            f"acts from {highest.comm_size} processes; the set of line {highest.line} never acts",
        )
    for band in rules.sets:
        for row, top in _not_above(band.rows, lambda row: row.size):
            yield Fault(
                row.line,
                "warning",
                f"{rules.collective}: size {row.size} after {top.size}; they must ascend",
                f"acts from size {top.size}; the rule of line {top.line} never acts",
            )
        if not band.rows:
            yield Fault(
                band.line,
                "note",
                f"{rules.collective} from {format_count(band.comm_size, 'process', 'processes')} has no rule",
                "the library decides by itself",
            )


def _not_above(items: Sequence[Item], size: Callable[[Item], int]) -> Iterator[tuple[Item, Item]]:
    """Items that do not lie above all before them, each with the highest of these."""
    highest: Item | None = None
    for item in items:
        if highest is not None and size(item) <= size(highest):
            yield item, highest
        else:
            highest = item


def _small(rules: Rules, version: str) -> Iterator[Fault]:
    if series(version) == "6.0" or not rules.sets:
        return
    first = rules.sets[0]
    acting = any(row.choice.algorithm for row in first.rows)
    if first.comm_size > 2 and acting:
        yield Fault(
            first.line,
            "warning",
            f"{rules.collective}: no set below {first.comm_size} processes",
            f"smaller communicators take the rules of {first.comm_size}; a first set '0 / 1 / 0 0 0 0' would leave "
            "them to the library",
        )


def _sizes(rules: Rules) -> Iterator[Fault]:
    """Sizes that cannot be what the library compares them with."""
    compared = COMPARED[rules.collective]
    for band in rules.sets:
        sized = [row for row in band.rows if row.size > 0]
        if compared == "nothing" and sized:
            if rules.collective in ("scan", "exscan"):
                why, acts = "the size of one element times the processes", "never acts for usual data"
            else:
                why, acts = "0, whatever the call", "never acts"
            yield Fault(
                sized[0].line,
                "warning",
                f"{rules.collective}: rules from size {sized[0].size} up, but the library compares {why}",
                acts,
            )
        below = [row for row in sized if row.size < band.comm_size]
        if compared == "total" and below and band.comm_size > 1:
            sizes = ", ".join(str(row.size) for row in below)
            yield Fault(
                below[0].line,
                "warning",
                f"{rules.collective} from {band.comm_size} processes: sizes {sizes} are less than one byte for each "
                "process; the library compares the total (block per process × processes), these look like blocks",
                f"a rule meant for blocks of m bytes acts from m/{band.comm_size} bytes on; multiply the sizes by the "
                "number of processes",
            )


def _two_processes(rules: Rules, lasts: Sequence[int], version: str) -> Iterator[Fault]:
    """The algorithm for two processes where more get it."""
    known = algorithms(rules.collective, version)
    for band, last in zip(rules.sets, lasts, strict=True):
        for row in band.rows:
            if known.get(row.choice.algorithm) == TWO_PROCESSES and last > 2:
                upto = "any number of" if last >= INT_MAX else f"up to {last}"
                yield Fault(
                    row.line,
                    "error",
                    f"{rules.collective}: {TWO_PROCESSES} in a set that acts for {upto} processes",
                    "fails at the call with more than two processes; begin a set at 3",
                )


def _by_insignificant(rules: Rules, lasts: Sequence[int]) -> Iterator[Fault]:
    """Scatter with algorithms that do not understand each other in one set.

    Who tells no send count takes the rule for size 0 (`dashboard.export.library_names.way_of`; seen with 5.0.11).
    """
    if rules.collective != "scatter":
        return
    for band, last in zip(rules.sets, lasts, strict=True):
        ways = {way_of(rules.collective, row.choice.algorithm) for row in band.rows}
        if len(ways) > 1 and last > 2:
            yield Fault(
                band.line,
                "warning",
                f"scatter from {band.comm_size} processes: rules of one set whose algorithms send on different ways",
                "a process that is not the root and tells no send count, as mpi4py does, takes the rule for size 0 and "
                "the root perhaps another one: wrong results or a crash; safe are linear and linear_nb alone, or one "
                "algorithm for all sizes",
            )
