"""Algorithms of libraries that are known to give wrong results or to end the program, and the programs that show it.

Found by `dashboard.benchmarks.safety`; ``colltune check-methods`` shows each on the library that is installed. `since`
and `until` are the versions on which it was seen, or an open end where no later version without it is known.
"""

import re
from dataclasses import dataclass

from dashboard.domain.algorithm_names import normal
from dashboard.export.library_names import plain_library


@dataclass(frozen=True)
class KnownFault:
    """One algorithm of one library."""

    #: Name and first and last version, both included; an empty `until` is an open end.
    library: str
    since: str
    until: str
    #: The algorithm; `number` is the library's, None where it has none in its rules.
    collective: str
    number: int | None
    name: str
    #: When it happens, and what.
    case: str
    effect: str
    #: Whether it is right for all operations that commute, as all of MPI's own do.
    only_commutative: bool = False
    #: Name of a program in `PROGRAMS` that shows it; empty where ``colltune check-methods`` alone does.
    program: str = ""

    @property
    def versions(self) -> str:
        """The range in words."""
        if self.since == self.until:
            return self.since
        return f"{self.since} to {self.until}" if self.until else f"{self.since} and newer"

    def __str__(self) -> str:
        number = "" if self.number is None else f" ({self.number})"
        return f"{self.name}{number} of {self.library} {self.versions}: {self.case}: {self.effect}"


_OPEN_MPI, _MPICH = "Open MPI", "MPICH"
_IN_ANY_ORDER = "the operation does not commute"
_COMBINED = "operands are combined in another order than that of the ranks: wrong results"

FAULTS: tuple[KnownFault, ...] = (
    *(
        KnownFault(
            *(_OPEN_MPI, since, "", "allgather", number, name),
            "it is called in place (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL), at any number of processes",
            "wrong results: a process's own block is overwritten or never sent",
            program="allgather_in_place",
        )
        for since, number, name in (("5.0.0", 7, "sparbit"), ("6.0.0", 8, "direct-messaging"))
    ),
    KnownFault(
        *(_MPICH, "4.1.3", "5.0.2", "reduce_scatter", None, "pairwise"),
        "it is called in place with counts that differ",
        "MPICH stops the program: memory ranges overlap",
    ),
    *(
        KnownFault(
            *(_OPEN_MPI, since, "", collective, number, name, _IN_ANY_ORDER, _COMBINED),
            only_commutative=True,
            program="own_operation" if collective == "allreduce" else "",
        )
        for since, collective, number, name in (
            ("4.1.0", "allreduce", 4, "ring"),
            ("4.1.0", "allreduce", 5, "segmented_ring"),
            ("6.0.0", "allreduce", 7, "allgather_reduce"),
            ("4.1.0", "reduce", 2, "chain"),
            ("4.1.0", "reduce", 3, "pipeline"),
            ("4.1.0", "reduce", 4, "binary"),
            ("4.1.0", "reduce", 5, "binomial"),
            ("6.0.0", "reduce", 8, "knomial"),
            ("4.1.0", "reduce_scatter", 2, "recursive_halving"),
            ("4.1.0", "reduce_scatter", 3, "ring"),
        )
    ),
)


def known_fault(
    library: str, version: str, collective: str, *, number: int | None = None, name: str = ""
) -> KnownFault | None:
    """The fault of an algorithm, if one is known.

    Parameters
    ----------
    library
        As results or targets name it; case and blanks do not matter.
    version
        Such as ``5.0.11`` or ``5.0`` (then any of that series); empty: any.
    number, name
        Of the algorithm: the library's number, or its name in any of the forms that are known.
    """
    wanted = plain_library(library)
    for fault in FAULTS:
        if plain_library(fault.library) not in wanted or fault.collective != collective or not _within(version, fault):
            continue
        # An algorithm is known by its number where the library has numbers: names were translated to and fro.
        by_number = number and fault.number
        same = number == fault.number if by_number else normal(name, collective) == normal(fault.name, collective)
        if same:
            return fault
    return None


def _within(version: str, fault: KnownFault) -> bool:
    asked = _parts(version)
    if not asked:
        return True
    low, high = _parts(fault.since)[: len(asked)], _parts(fault.until)[: len(asked)]
    return asked >= low and (not high or asked <= high)


def _parts(version: str) -> tuple[int, ...]:
    match = re.search(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


#: C programs that show a fault, for the library's authors: they print ``wrong`` and end with 1 where it is there.
PROGRAMS: dict[str, str] = {
    "allgather_in_place": """\
/* MPI_Allgather in place. Open MPI:
     mpicc allgather_in_place.c && mpirun -n 4 --mca coll_tuned_use_dynamic_rules 1
       --mca coll_tuned_allgather_algorithm 7 ./a.out (8: direct-messaging of 6.0) */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all, blocks[1024];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++)
        blocks[i] = i == rank ? 100 + rank : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        wrong += blocks[i] != 100 + i;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d of %d blocks\\n", all ? "wrong" : "right", all, size * size);
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
""",
    "own_operation": """\
/* MPI_Allreduce with an operation that does not commute (created with commute = 0). Open MPI:
     mpicc own_operation.c && mpirun -n 4 --mca coll_tuned_use_dynamic_rules 1
       --mca coll_tuned_allreduce_algorithm 4 ./a.out */
#include <mpi.h>
#include <stdio.h>

/* x -> a * x + b modulo 251, one after the other: the order of the operands matters, their grouping does not. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *first = in, *second = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        int a = first[2 * i] * second[2 * i] % 251;
        int b = (second[2 * i] * first[2 * i + 1] + second[2 * i + 1]) % 251;
        second[2 * i] = a;
        second[2 * i + 1] = b;
    }
}

int main(int argc, char **argv)
{
    enum { COUNT = 1000 };
    static int mine[2 * COUNT], found[2 * COUNT];
    int rank, size, wrong = 0, all;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < COUNT; i++) {
        mine[2 * i] = 2 + (i + 3 * rank) % 7;
        mine[2 * i + 1] = 1 + (i + 5 * rank) % 11;
    }
    MPI_Allreduce(mine, found, COUNT, pair, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        int a = 1, b = 0;
        for (int r = 0; r < size; r++) {
            int next_a = 2 + (i + 3 * r) % 7, next_b = 1 + (i + 5 * r) % 11;
            a = a * next_a % 251;
            b = (next_a * b + next_b) % 251;
        }
        wrong += found[2 * i] != a || found[2 * i + 1] != b;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d of %d elements\\n", all ? "wrong" : "right", all, size * COUNT);
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return all != 0;
}
""",
}
