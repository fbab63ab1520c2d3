"""Start commands as templates: ``mpiexec --hostfile hosts -n {ranks} --map-by ppr:{ppn}:node``.

Each word is an argument; what stands in braces is replaced within its word. No shell sees any of it, so the command may
be that of any machine: ssh's, that of PBS, LSF or Flux, ``srun``, or one of a container.
"""

import math
import re
import shlex
from collections.abc import Sequence

from dashboard.benchmarks.errors import CampaignError, PlanError

_RANKS, _PROGRAM = "{ranks}", "{program}"
_KNOWN = ("ranks", "ppn", "nodes", "program")
_BRACES = re.compile(r"\{([A-Za-z_]\w*)\}")
#: A word that stands for the start command of the library that is measured, wherever that is.
MPIEXEC = "mpiexec"


def parse(text: str) -> tuple[str, ...]:
    """Words of a template.

    Parameters
    ----------
    text
        Quoted as a shell would have it.

    Raises
    ------
    PlanError
        When a quotation does not end, there is no word, or something else stands in braces than is known.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise PlanError(f"start command {text!r}: {error}") from error
    if not words:
        raise PlanError("start command: it has no word; right would be such as 'mpiexec -n {ranks}', here or slurm")
    for word in words:
        for name in _BRACES.findall(word):
            if name not in _KNOWN or (name == "program" and word != _PROGRAM):
                known = ", ".join(f"{{{each}}}" for each in _KNOWN)
                raise PlanError(f"start command: {word!r}; known are {known}, the last as a word of its own")
    return words


def filled(words: Sequence[str], ranks: int, ppn: int | None, program: Sequence[str]) -> list[str]:
    """Argument list of a job.

    Parameters
    ----------
    words
        Of the template; ``-n RANKS`` follows where none asks for the ranks, the program where none asks for it.
    ppn
        Processes on each node; None: not known.

    Raises
    ------
    CampaignError
        When it asks for the processes per node, or for nodes, and nobody said how many.
    """
    values = {"ranks": str(ranks)}
    if ppn is not None:
        values |= {"ppn": str(min(ppn, ranks)), "nodes": str(math.ceil(ranks / ppn))}

    def value(match: re.Match[str]) -> str:
        if (text := values.get(match[1])) is None:
            raise CampaignError(
                f"the start command asks for {match[0]}: say how many processes run on each node (--ppn, or ppn in "
                "the site's file)"
            )
        return text

    place = words.index(_PROGRAM) if _PROGRAM in words else len(words)
    before, after = words[:place], words[place + 1 :]
    if not any(_RANKS in word for word in words):
        before = [*before, "-n", _RANKS]
    filled_in = ([_BRACES.sub(value, word) for word in each] for each in (before, after))
    return [*next(filled_in), *program, *next(filled_in)]


def of_library(words: Sequence[str], mpiexec: str) -> tuple[str, ...]:
    """The template with the start command of a library in the place of the first word that only names it."""
    place = words.index(MPIEXEC) if MPIEXEC in words else None
    return tuple(mpiexec if number == place else word for number, word in enumerate(words))
