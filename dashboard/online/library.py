"""The library that tunes online: one file of C, preloaded, for any dynamically linked MPI program, unchanged.

It stands on the runtime of the preloaded decisions (`dashboard.export.targets.preload.library`): communicators that
have a method are made at its first call. New are the draw (a counter-based generator that all processes share), the
look-up in a mapped model file, and the notes of what calls took.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from string import Template

from dashboard.benchmarks.libraries import mpicc as compiling
from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export import provenance as origin
from dashboard.export.library_names import choice_of, is_of_library
from dashboard.export.targets.c.text import comment, string
from dashboard.export.targets.preload.calls import wrapper
from dashboard.export.targets.preload.fortran import fortran
from dashboard.export.targets.preload.library import switches_of
from dashboard.export.targets.preload.own import units_on
from dashboard.export.targets.preload.source import Part, Tables, includes, runtime
from dashboard.export.usage import BUILD
from dashboard.online.errors import OnlineError
from dashboard.online.selection import Blocked
from dashboard.online.table import NEVER, AlgTable, need_of
from loaders import disk
from loaders.openmpi import series

HERE = Path(__file__).parent
LOOKUP = HERE / "lookup.c"
_MOST_COMMUNICATORS = 64
_OWN = Method("default", "default")
#: File in the folder of a tuning that programs preload.
LIBRARY = "libcolltune_online.so"
_HEADERS = ("<errno.h>", "<fcntl.h>", "<stdint.h>", "<sys/mman.h>", "<sys/stat.h>", "<unistd.h>")
_USE = """\
COLLTUNE_ONLINE=off|trace|tuning|tuned; COLLTUNE_ONLINE_OUT=FOLDER for traces, which must be there; \
COLLTUNE_ONLINE_MODEL=FILE, what was learnt (none: all methods alike); COLLTUNE_ONLINE_SEED=NUMBER; \
COLLTUNE_ONLINE_RUN=NAME of the run, by default made of time and process; COLLTUNE_ONLINE_CALLS=NUMBER of calls that \
are chosen and noted on each communicator (1000); COLLTUNE_ONLINE_FRACTION=SHARE of the calls, likewise (1); \
COLLTUNE_ONLINE_RANKS=NUMBER of processes that note their calls (all); COLLTUNE_ONLINE_COLLECTIVES=NAMES. The first \
process's environment counts. COLLTUNE_REPORT=1 prints at the end what was called."""
_WRAPPER = Template("""\
int MPI_$name($parameters)
{
    struct colltune_state *state = colltune_find($id, comm);
    struct colltune_record record;
    MPI_Comm used = comm;

    record.comm_size = 0;
    if ($there) {
        const long long bytes = $size;

        if (bytes >= 0) {
            int own = -1;

            used = colltune_online($id, state, comm, bytes, $root, $element, &own, &record);$run_own
        }
    }
    return colltune_done(colltune_note(PMPI_$name($arguments), &record), comm, used);
}""")
#: Where some of the methods are own ones.
_RUN_OWN = """
            if (own >= 0) {
                const int code = colltune_run(state, own, used, bytes, $root, $run);

                return colltune_done(colltune_note(code, &record), comm, used);
            }"""
_FORTRAN_START = """\
#ifndef COLLTUNE_NO_FORTRAN
/* Programs in Fortran begin here. */
void mpi_init_(MPI_Fint *ierror)
{
    int code = MPI_Init(NULL, NULL);

    if (ierror != NULL) {
        *ierror = code;
    }
}

void ompi_init_f(MPI_Fint *ierror)
{
    mpi_init_(ierror);
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    int code = MPI_Init_thread(NULL, NULL, *required, provided);

    if (ierror != NULL) {
        *ierror = code;
    }
}

void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    mpi_init_thread_(required, provided, ierror);
}
#endif"""


def source(table: AlgTable, blocked: Sequence[Blocked] = ()) -> str:
    """The library as C99, for the Open MPI of the table.

    What is blocked at all sizes is not tried either, as long as nothing was learnt.

    Raises
    ------
    OnlineError
        The library has not one of the methods.
    """
    parts = [_part(name, methods, table.version) for name, methods in table.methods.items()]
    tables = Tables()
    for part in parts:
        tables.add(part)
    names = list(table.methods)
    lines = [*comment(_head(table, names), hanging=""), "", "#define _POSIX_C_SOURCE 200809L"]
    lines += [*includes(_HEADERS), "", "#define COLLTUNE_ONLINE 1", f"#define COLLTUNE_MOST {_MOST_COMMUNICATORS}"]
    lines += [
        f"#define COLLTUNE_TABLE {string(table.digest)}",
        f"#define COLLTUNE_VERSION {string(table.version)}",
        f"#define COLLTUNE_SERIES {string(series(table.version))}",
        "",
        *tables.lines(parts),
        *_numbers(table, tables, blocked),
        "",
        *runtime(tables),
        "",
        LOOKUP.read_text(encoding="ascii").rstrip(),
        "",
        (HERE / "runtime.c").read_text(encoding="ascii").rstrip(),
    ]
    for part in parts:
        template = Template(_WRAPPER.template.replace("$run_own", _RUN_OWN if part.runs_own else ""))
        lines += ["", *wrapper(part.decision.collective, "", template)]
    lines += ["", *fortran(names), "", *_FORTRAN_START.splitlines()]
    return "\n".join(lines) + "\n"


def _part(name: str, methods: tuple[Method, ...], version: str) -> Part:
    listed = (_OWN, *methods)
    try:
        theirs = {place: method for place, method in enumerate(listed) if is_of_library(method)}
        choices = {place: choice_of(method, name, version) for place, method in theirs.items()}
        own = {
            place: (units_on(method, name, int(method.parameters["processes"])),)
            for place, method in enumerate(listed)
            if place not in theirs
        }
    except (LookupError, ValueError) as error:
        raise OnlineError(f"the table of methods: {error}") from None
    if own and name == "reduce_scatter":
        raise OnlineError(
            "own methods of reduce_scatter are not tuned: they need equal counts; reduce_scatter_block is"
        )
    return Part(DecisionFunction(name, listed, Leaf(0)), switches_of(name, listed, choices, version, own))


def _head(table: AlgTable, names: list[str]) -> list[str]:
    what = f"tunes {', '.join(names)} of any dynamically linked MPI program while it runs"
    return [
        f"A library that {what}; for Open MPI {table.version}.",
        origin.generated(),
        "",
        "Build, with the mpicc of the program's MPI, and use:",
        f"    {BUILD.format(library=LIBRARY, source='THIS_FILE')}",
        f"    mpirun -x LD_PRELOAD=$PWD/{LIBRARY} ./program     (every process must have it)",
        *_USE.splitlines(),
    ]


def _numbers(table: AlgTable, tables: Tables, blocked: Sequence[Blocked]) -> list[str]:
    """How many methods each collective has, what they need, and the methods as traces tell them."""
    counts = [len(methods) for methods in table.methods.values()]
    everywhere = [each for each in blocked if each.everywhere]
    needs = [
        NEVER
        if any(each.collective == name and each.names(method.label) for each in everywhere)
        else need_of(name, method)
        for name, methods in table.methods.items()
        for method in methods
    ]
    firsts = [sum(counts[:place]) for place in range(len(counts))]
    text = json.dumps({"table": table.digest, "methods": table.listed})[1:]

    def array(name: str, values: list[int]) -> str:
        return f"static const int colltune_{name}[] = {{ {', '.join(map(str, values))} }};"

    return [
        array("counts", counts),
        array("firsts", tables.firsts),
        array("first_need", firsts),
        *(array("needs", needs).replace("{ ", "{\n    ").replace(" }", "\n}").splitlines()),
        "static const char *const colltune_methods_json[] = {",
        *(f"    {string(text[at : at + 80])}," for at in range(0, len(text), 80)),
        "};",
    ]


def build(table: AlgTable, mpicc: Path, folder: Path, blocked: Sequence[Blocked] = ()) -> Path:
    """Write the source into a folder and compile it there; see `source`.

    Returns
    -------
    Path
        The library.

    Raises
    ------
    BenchError
        It cannot be compiled; the message has the compiler's first words.
    """
    file = folder / "colltune_online.c"
    disk.write_text(file, source(table, blocked))
    return compiling.build(mpicc, file, folder / LIBRARY)
