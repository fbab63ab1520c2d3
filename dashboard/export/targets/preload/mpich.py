"""Decision functions as a library to preload under MPICH.

Its control variables act on the call, on every communicator: they are written before a decided call and put back after
it. Algorithms are told by name, which the running library's own list turns into its number.
"""

import re

import xarray as xr

from dashboard.decisions import DecisionFunction, Method
from dashboard.export import usage
from dashboard.export.library_names import is_of_library, is_own_decision
from dashboard.export.parts import per_collective
from dashboard.export.rules.mpich_names import ALGORITHMS
from dashboard.export.rules.mpich_parameters import DEVICE, INTRA, PIPELINED, RADIX, READ, SEGMENT, is_forced
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target
from dashboard.export.targets.mpich.selection import algorithm_name
from dashboard.export.targets.preload.calls import CALLS
from dashboard.export.targets.preload.own import notes, on_processes, own_units, prepared
from dashboard.export.targets.preload.source import Part, Switches, check_measured_with, head, source

_START = "mpiexec -genv LD_PRELOAD $PWD/libcolltune.so"
_USE = """\
How it works: control variables of MPICH (MPI tool interface) force an algorithm on every communicator at once. They \
are written before a decided call and put back after it, so that calls of the library's own are as without; all \
processes of a communicator vote once for each method whether they can. They are written where MPICH keeps them, \
for some 15 ns a call, if the first call finds that out (by the variables' handles, tried against the tool interface \
in both directions), else through that interface, for 50 ns. An algorithm that cannot serve so many processes gives \
way to another one, as MPICH has it (MPIR_CVAR_COLLECTIVE_FALLBACK); one that this MPICH does not name is passed on.
Threads: another thread's call would take the method as well. Where MPI_THREAD_MULTIPLE was asked for (mpi4py always \
does) nothing is decided unless COLLTUNE_ONE_THREAD=1 says that one thread alone calls collectives.
Fortran: mpif.h, 'use mpi' and 'use mpi_f08' of MPICH call the functions of C, which are taken here."""
#: Of `use mpi_f08` the end alone goes past MPI_Finalize, and with it the report would.
_END_OF_F08 = """
void mpi_finalize_f08_(MPI_Fint *ierror)
{
    int code = MPI_Finalize();

    if (ierror != NULL) {
        *ierror = code;
    }
}
"""


def to_preload_mpich(decisions: Decisions, *, provenance: Facts = None, cubes: Cubes = None) -> str:
    """Write decision functions as C99 of a library to preload under MPICH.

    Parameters are those of `dashboard.export.target.Target`: own methods are written for the numbers of processes of
    the measurements (`cubes`).

    Returns
    -------
    str
        ASCII, as of `dashboard.export.targets.preload.library.to_preload`.

    Raises
    ------
    ExportError
        When a collective cannot be intercepted, MPICH lacks a method, or it is left to it to decide everything.
    """
    check_measured_with(per_collective(decisions), "preload-mpich")
    parts = [_part(decision, (cubes or {}).get(decision.collective)) for decision in per_collective(decisions)]
    return "\n".join(source(parts, head(parts, "MPICH", _START, _USE, provenance), provenance)) + "\n" + _END_OF_F08


def _part(decision: DecisionFunction, cube: xr.Dataset | None) -> Part:
    name = decision.collective
    if name not in CALLS:
        raise ExportError(f"{name} cannot be set in a preloaded library; these can: {', '.join(CALLS)}")
    used, own = decision.simplified().used, own_units(decision, cube)
    switches = tuple(
        Switches(own=own[place]) if place in own else switches_of(decision, method) if place in used else Switches()
        for place, method in enumerate(decision.methods)
    )
    return Part(decision, switches, prepared(decision, own))


def switches_of(decision: DecisionFunction, method: Method) -> Switches:
    """Control variables with which a call takes a method; none for the library's own decision.

    Raises
    ------
    ExportError
        MPICH lacks it, or it would end the program.
    """
    name = _name(decision, method)
    # A file that was read decides between groups as well, whose calls are passed on anyway.
    if name == "" or "_inter_" in str(method.parameters.get(READ, "")):
        return Switches()
    key = (decision.collective, name or "")
    if name is None or not is_forced(*key, method.parameters) or (key in PIPELINED and not method.segment_size):
        names = sorted(set(ALGORITHMS.get(decision.collective, {}).values()))
        has = ", ".join(name for name in names if is_forced(decision.collective, name, {}))
        raise ExportError(f"{decision.collective}: MPICH has no {method.label!r} that can be forced; it has {has}")
    acting: dict[str, int | str] = {f"{decision.collective.upper()}{INTRA}": name, DEVICE: "none"}
    radix = method.parameters.get("radix", method.parameters.get("k"))
    if key in RADIX and radix is not None:
        acting[RADIX[key]] = int(radix)
    if key in SEGMENT:
        acting[SEGMENT[key]] = method.segment_size
    return Switches(acting={f"MPIR_CVAR_{variable}": value for variable, value in acting.items()})


def _name(decision: DecisionFunction, method: Method) -> str | None:
    """MPICH's name: its own where it was measured, which has more than its selection can say."""
    measured = str(decision.provenance.get("library", "")).upper().startswith("MPICH") and is_of_library(method)
    measured &= READ not in method.parameters
    if measured and not is_own_decision(method) and re.fullmatch(r"[a-z]\w*", method.algorithm):
        return method.algorithm
    return algorithm_name(decision, method)


TARGET = Target(
    "preload-mpich",
    "Library to preload (PMPI, MPICH's tool interface)",
    ".c",
    to_preload_mpich,
    ("cubes",),
    use=usage.PRELOAD_MPICH,
    own_methods=True,
    runs_own=on_processes,
    notes=notes,
    names=lambda collective, _: tuple(ALGORITHMS.get(collective, ())),
)
