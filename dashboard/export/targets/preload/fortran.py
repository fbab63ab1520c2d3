"""The same calls from Fortran: ``mpif.h``, ``use mpi`` and ``use mpi_f08`` of Open MPI.

Its Fortran bindings call the library beneath the profiling interface: a program's calls never pass ``MPI_Bcast``.
Those of ``mpif.h`` and ``use mpi`` are ``mpi_bcast_``; those of ``use mpi_f08`` end in ``ompi_bcast_f``. Both are taken
here and handed to the call in C, with handles and special addresses turned into those of C.
"""

from collections.abc import Iterable, Sequence
from string import Template

from dashboard.export.targets.preload.calls import CALLS, Call

_HEAD = """\
#ifndef COLLTUNE_NO_FORTRAN
/* Calls from Fortran, as gfortran and most other compilers name them; -DCOLLTUNE_NO_FORTRAN leaves them out. */
typedef char colltune_fortran_integers_are_int[sizeof(MPI_Fint) == sizeof(int) ? 1 : -1];

/* Where MPI_IN_PLACE and MPI_BOTTOM of Fortran are; nowhere in programs of C alone. */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void *colltune_address(void *buffer)
{
    if (buffer == (void *)&mpi_fortran_in_place_ && buffer != NULL) {
        return MPI_IN_PLACE;
    }
    return buffer == (void *)&mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}"""
_WRAPPER = Template("""
static void colltune_f_$lower($parameters)
{
    int code = MPI_$name($arguments);

    if (ierror != NULL) {
        *ierror = code;
    }
}

void mpi_${lower}_($parameters)
{
    colltune_f_$lower($names);
}

void ompi_${lower}_f($parameters)
{
    colltune_f_$lower($names);
}""")
_FINALIZE = Call("Finalize", (), "")


def fortran(collectives: Iterable[str]) -> list[str]:
    """Lines that define the calls of some collectives, and the end of MPI, for programs in Fortran."""
    lines = _HEAD.splitlines()
    for call in (*(CALLS[name] for name in collectives), _FINALIZE):
        lines += _definition(call, () if call is _FINALIZE else ("MPI_Comm comm",))
    return [*lines, "#endif"]


def _definition(call: Call, last: Sequence[str]) -> list[str]:
    declared, passed, names = [], [], []
    for parameter in (*call.parameters, *last):
        kind, _, name = parameter.replace("[]", "").rpartition(" ")
        pointer, name = name.startswith("*"), name.lstrip("*")
        names.append(name)
        declared.append(f"void *{name}" if pointer else f"MPI_Fint *{name}")
        passed.append(_passed(kind, name, pointer=pointer, array=parameter.endswith("[]")))
    names.append("ierror")
    parts = {
        "name": call.name,
        "lower": call.name.lower(),
        "parameters": ", ".join([*declared, "MPI_Fint *ierror"]),
        "arguments": ", ".join(passed),
        "names": ", ".join(names),
    }
    return _WRAPPER.substitute(parts).splitlines()


def _passed(kind: str, name: str, *, pointer: bool, array: bool) -> str:
    """An argument as C takes it."""
    if pointer:
        return f"colltune_address({name})"
    if array:
        return name
    convert = {"MPI_Datatype": "PMPI_Type_f2c", "MPI_Op": "PMPI_Op_f2c", "MPI_Comm": "PMPI_Comm_f2c"}.get(kind)
    return f"{convert}(*{name})" if convert else f"*{name}"
