"""What the library's own word on who answered says of each region, where its rules choose between its components."""

from collections.abc import Mapping
from dataclasses import replace

from dashboard.benchmarks.proof.order import NOT_STEADY, Key, Seen
from dashboard.benchmarks.proof.target import RULES
from dashboard.benchmarks.proof.verdict import TIME_UP, Taken, Verdict, at
from dashboard.export.components import HAN, SERVES, TUNED

_NOT_ASKED = "HAN is asked where several nodes hold equally many processes, two at least, and these do not"


def by_word(verdict: Verdict, wanted: str, results: Mapping[Key, Seen], unreached: str = TIME_UP) -> Verdict:
    """Judge a region anew by who answered.

    Parameters
    ----------
    verdict
        By the messages that were sent, which tell one algorithm of tuned from another.
    wanted
        Component that the rules ask for.
    unreached
        Why others were not made.
    """
    region = verdict.region
    called = [(cell, results[cell, RULES]) for cell in region.cells if (cell, RULES) in results]
    if region.why_not or not called:
        known = wanted == TUNED or region.why_not or verdict.state == "failed"
        return verdict if known else replace(verdict, why=unreached)
    # A component that goes by who comes first need not send the same twice.
    steady = () if wanted == TUNED else (NOT_STEADY,)
    if wrong := next(((cell, seen) for cell, seen in called if seen.error and seen.error not in steady), None):
        return replace(verdict, state="failed", why=f"{at(wrong[0])}: {wrong[1].error}")
    asked = [(cell, seen) for cell, seen in called if _asked(region.collective, seen)]
    for cell, seen in asked:
        if seen.lacking or seen.who != wanted:
            text = seen.lacking or (f"{seen.who} answers" if seen.who else "HAN does not say who answers")
            return replace(verdict, state="other", seen=text, like=(), why=f"at {at(cell)}")
    if wanted == TUNED:
        return verdict
    if not asked:
        return replace(verdict, state="not run", why=_NOT_ASKED)
    cells = [cell for cell, _ in asked]
    points = tuple({"comm_size": cell.comm_size, "message_size": cell.message_size, "seen": wanted} for cell in cells)
    lost = len(region.cells) - len(asked)
    why = f"{lost} of {len(region.cells)} sizes were not reached, or HAN is not asked there" if lost else ""
    return replace(verdict, state="proven", seen=wanted, why=why, points=points)


def taken_by_word(results: Mapping[Key, Seen], otherwise: Taken) -> Taken:
    """Tell whether the library took HAN's rules; what the messages say where HAN was not asked."""
    asked = [seen for (cell, call), seen in results.items() if call == RULES and _asked(cell.collective, seen)]
    if not asked:
        return otherwise
    return "yes" if any(seen.who for seen in asked) else "no"


def _asked(collective: str, seen: Seen) -> bool:
    """Whether HAN is to be asked.

    Where nodes hold different numbers of ranks, or one each, it takes itself out of a communicator at the first call
    that it would make by itself, and all is answered by those below it from then on.
    """
    spread = collective in SERVES[HAN] and len(seen.placed) > 1
    return spread and ((len(set(seen.placed)) == 1 and seen.placed[0] > 1) or bool(seen.who))
