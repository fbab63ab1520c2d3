"""What UCC calls the algorithms of its tl/ucp, by number, and what they are with a radix of 2.

Source: ``ucc_info -A`` of UCC 1.8.0 and 1.10.0 (8263de4), which print the same. Releases from 1.4 on have fewer, in the
same places.
"""

import re
from collections.abc import Mapping, Sequence

NAME = "UCC"
#: What a part of a tune string may say beside collective and algorithm without leaving anything out.
_ALL = re.compile(r"0-inf|\[[01]-inf\]|inf|[1-9]\d*")
_NAMES = re.compile(r"(?!inf$)[a-z_,]+")
#: Characters of a line of a ucc.conf: with what is beyond, a line of its own, no program starts (seen with 1.10.0).
LONGEST_LINE = 8191
#: Characters of a tune string: with a longer variable Linux starts no program (``MAX_ARG_STRLEN``).
LONGEST = 2**17 - len("UCC_TL_UCP_TUNE=") - 1
#: Algorithms by their numbers, from 0. For all other collectives it takes none, even where there is a single one.
ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"),
    "allgatherv": ("ring", "knomial"),
    "allreduce": ("knomial", "sra_knomial", "sliding_window", "dbt", "ring"),
    "alltoall": ("pairwise", "bruck", "onesided"),
    "alltoallv": ("pairwise", "hybrid", "onesided"),
    "bcast": ("knomial", "sag_knomial", "dbt"),
    "reduce": ("knomial", "dbt", "srg"),
    "reduce_scatter": ("ring", "knomial"),
    "reduce_scatter_block": ("ring", "knomial"),
    "reduce_scatterv": ("ring",),
}
#: Variable that stands before those of single collectives, unless 0; but not before these, which take radixes by size.
_OF_ALL = "UCC_TL_UCP_KN_RADIX"
_OF_SIZES = tuple(
    f"UCC_TL_UCP_{name}_KN_RADIX" for name in ("ALLREDUCE", "ALLREDUCE_SRA", "ALLGATHER", "BCAST_SAG", "REDUCE_SRG")
)
#: What others call its k-nomial algorithms of radix 2. By themselves they have one of 4, or one that suits the team.
OF_RADIX_2: Mapping[str, Mapping[str, str]] = {
    "allgather": {"knomial": "recursive_doubling"},
    "allreduce": {"knomial": "recursive_doubling", "sra_knomial": "rabenseifner"},
    "bcast": {"knomial": "binomial", "sag_knomial": "scatter_allgather"},
    "reduce": {"knomial": "binomial", "srg": "rabenseifner"},
    "reduce_scatter": {"knomial": "recursive_halving"},
    "reduce_scatter_block": {"knomial": "recursive_halving"},
}


def takes_radix(variable: str, value: str) -> bool:
    """Whether tl/ucp can work with a value of one of its variables of radixes (seen with 1.10.0)."""
    if variable in _OF_SIZES and (value == "auto" or ":" in value):
        return True
    number = int(value) if re.fullmatch("[0-9]{1,9}", value) else -1
    return number > 1 or (variable, number) == (_OF_ALL, 0)


def radix_variable(collective: str, algorithm: str) -> str:
    """Variable with the radix of an algorithm, such as ``UCC_TL_UCP_BCAST_SAG_KN_RADIX``; empty: it has none."""
    if algorithm not in OF_RADIX_2.get(collective, {}):
        return ""
    name = f"UCC_TL_UCP_{own_name(collective)}_{algorithm.removesuffix('knomial')}_KN_RADIX"
    return name.upper().replace("__", "_")


def called(collective: str, algorithm: str, settings: Mapping[str, str]) -> tuple[str, str]:
    """Name of an algorithm, by UCC's number or name, and its radix where one is set that is not in the name."""
    name = ALGORITHMS[collective][int(algorithm)] if algorithm.isdigit() else algorithm
    variable = radix_variable(collective, name)
    radix = settings.get(variable, "")
    if variable and variable not in _OF_SIZES and (of_all := settings.get(_OF_ALL, "0")) != "0":
        radix = of_all
    if radix == "2":
        return OF_RADIX_2[collective][name], ""
    return name, "" if radix == "auto" else radix


def forced(collective: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Columns of the algorithm that variables force at all sizes; none where they force none, or not at all of them.

    The collective is UCC's own; of a string that UCC refuses none is taken.
    """
    parts = [part.split(":") for part in settings.get("UCC_TL_UCP_TUNE", "").lower().split("#")]
    mine = [words for words in parts if _speaks(words, collective)]
    said = sorted(word for word in mine[0] if not _ALL.fullmatch(word)) if len(mine) == 1 else []
    algorithm = said[0][1:] if len(said) == 2 and said[0].startswith("@") else ""
    names = ALGORITHMS.get(collective, ())
    if algorithm not in (*names, *map(str, range(len(names)))):
        return {}
    name, radix = called(collective, algorithm, settings)
    return {"algorithm": name} | ({"radix": radix} if radix else {})


def _speaks(words: Sequence[str], collective: str) -> bool:
    """Whether a part of a tune string is for a collective, as one that names none is."""
    named = [word.split(",") for word in words if _NAMES.fullmatch(word)]
    return not named or any(collective in names for names in named)


def own_name(collective: str) -> str:
    """What UCC calls a collective: MPI's reduce_scatter with counts is its reduce_scatterv, of one algorithm."""
    return collective.removesuffix("_block")
