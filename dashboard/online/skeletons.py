"""Programs with the call mix of applications where these themselves cannot be built; they say what they are."""

from collections.abc import Mapping
from pathlib import Path

from dashboard.domain.errors import meant
from dashboard.online.errors import OnlineError

_SOURCE = Path(__file__).with_name("skeleton.c")
#: Percent of the calls: allreduce, bcast, allgather, alltoall (Steiner 2023, Table 5.3).
MIXES: Mapping[str, tuple[float, float, float, float]] = {
    "miniAMR": (94.5, 1.9, 3.6, 0),
    "ExaMiniMD": (98.7, 1, 0.3, 0),
    "Nekbone": (97.3, 2.7, 0, 0),
    "SWFFT": (100, 0, 0, 0),
    "miniVite": (1.7, 0, 0, 98.3),
    "Laghos": (93.6, 6.4, 0, 0),
}


def skeleton(name: str) -> str:
    """A program in C with the call mix of an application.

    Raises
    ------
    OnlineError
        There is none of that name.
    """
    if name not in MIXES:
        raise OnlineError(f"there is no skeleton {name!r}, only those of {', '.join(MIXES)}{meant(name, MIXES)}")
    mix = ", ".join(map(str, MIXES[name]))
    defined = f'#define COLLTUNE_NAME "{name}"\n#define COLLTUNE_MIX {mix}\n'
    head, first, rest = _SOURCE.read_text(encoding="ascii").partition("#include <mpi.h>\n")
    return head + defined + first + rest
