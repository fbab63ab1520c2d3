"""The calls of MPI that a preloaded library intercepts, as C: signature, the call beneath, and the bytes to decide by.

Message sizes are those of the project: the vector for bcast, reduce, allreduce and scan, the block per process for the
others. They are taken from arguments that count on the process that reads them: with ``MPI_IN_PLACE`` the send
arguments of allgather, alltoall and of gather's root say nothing, nor do the receive arguments of scatter's root.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True)
class Call:
    """One collective."""

    #: In MPI.
    name: str
    #: All in C but the communicator, which is the last one; ``COUNT`` stands for the type of counts.
    parameters: tuple[str, ...]
    #: C expression of the message size; ``state`` is what is known of the communicator. Negative: not to be decided.
    size: str
    #: Whether there is an operation, ``op``.
    reduces: bool = False


_SEND = ("const void *sendbuf", "COUNT sendcount", "MPI_Datatype sendtype")
_EXCHANGE = (*_SEND, "void *recvbuf", "COUNT recvcount", "MPI_Datatype recvtype")
_BUFFERS = ("const void *sendbuf", "void *recvbuf")
_REDUCE = (*_BUFFERS, "COUNT count", "MPI_Datatype datatype", "MPI_Op op")
_VECTOR, _SENT, _RECEIVED = (
    f"colltune_bytes({count}, {datatype})"
    for count, datatype in (("count", "datatype"), ("sendcount", "sendtype"), ("recvcount", "recvtype"))
)
_ROOT = "int root"

#: By collective.
CALLS: Mapping[str, Call] = {
    "barrier": Call("Barrier", (), "0"),
    "bcast": Call("Bcast", ("void *buffer", "COUNT count", "MPI_Datatype datatype", _ROOT), _VECTOR),
    "reduce": Call("Reduce", (*_REDUCE, _ROOT), _VECTOR, reduces=True),
    "allreduce": Call("Allreduce", _REDUCE, _VECTOR, reduces=True),
    "scan": Call("Scan", _REDUCE, _VECTOR, reduces=True),
    "exscan": Call("Exscan", _REDUCE, _VECTOR, reduces=True),
    "allgather": Call("Allgather", _EXCHANGE, _RECEIVED),
    "alltoall": Call("Alltoall", _EXCHANGE, _RECEIVED),
    "gather": Call("Gather", (*_EXCHANGE, _ROOT), f"state->rank == root ? {_RECEIVED} : {_SENT}"),
    "scatter": Call("Scatter", (*_EXCHANGE, _ROOT), f"state->rank == root ? {_SENT} : {_RECEIVED}"),
    "reduce_scatter": Call(
        "Reduce_scatter",
        (*_BUFFERS, "const COUNT recvcounts[]", "MPI_Datatype datatype", "MPI_Op op"),
        "colltune_block(state->size, recvcounts, datatype)",
        reduces=True,
    ),
    "reduce_scatter_block": Call(
        "Reduce_scatter_block",
        (*_BUFFERS, "COUNT recvcount", "MPI_Datatype datatype", "MPI_Op op"),
        "colltune_bytes(recvcount, datatype)",
        reduces=True,
    ),
}

_WRAPPER = Template("""\
int MPI_$name($parameters)
{
    struct colltune_state *state = colltune_find($id, comm);
    MPI_Comm used = comm;

    if ($there) {
        const long long bytes = $size;

        if (bytes >= 0) {
$take
        }
    }
    return colltune_done(PMPI_$name($arguments), comm, used);
}""")
_CHOSEN = "            used = colltune_choose($id, state, comm, ${id}_FIRST + $decide);"
#: Where some of the methods are own ones.
_CHOSEN_OR_OWN = """\
            const int method = ${id}_FIRST + $decide, own = colltune_methods[method].own;
            const int unfit = $unfit;

            if (unfit) {
                colltune_count(&colltune_passed[$id][unfit]);
            } else {
                used = colltune_choose($id, state, comm, method);
                if (own && used != comm) {
                    return colltune_done(colltune_run(state, method, used, bytes, $root, $run), comm, used);
                }
            }"""
_BLOCK = Template("""\
/* Bytes of a block, by the mean of all counts; each process is told all of them. */
static long long colltune_block$suffix(int size, const $count recvcounts[], MPI_Datatype datatype)
{
    long long total = 0;
    int rank;

    for (rank = 0; rank < size; rank++) {
        if (recvcounts[rank] < 0 || recvcounts[rank] > LLONG_MAX - total) {
            return -1;
        }
        total += recvcounts[rank];
    }
    total = colltune_bytes(total, datatype);
    return total < 0 ? -1 : total / size;
}
""")
_EQUAL = Template("""\
static int colltune_equal$suffix(int size, const $count recvcounts[])
{
    int rank;

    for (rank = 1; rank < size && recvcounts[rank] == recvcounts[0]; rank++) {
    }
    return rank == size;
}
""")


def wrapper(collective: str, decide: str, template: Template = _WRAPPER, *, own: bool = False) -> list[str]:
    """Lines that define the calls of a collective: the usual one, and where MPI has it that of large counts.

    Parameters
    ----------
    collective
        One of `CALLS`.
    decide
        C expression of the method's number, of ``state->size`` and ``bytes``.
    template
        Of the call.
    own
        Whether some of the methods are own ones, which `own.c` runs.
    """
    call = CALLS[collective]
    template = Template(template.template.replace("$take", _CHOSEN_OR_OWN if own else _CHOSEN))
    usual = _definition(collective, decide, ("int", ""), template)
    if not any("COUNT" in parameter for parameter in call.parameters):
        return usual
    return [
        *usual,
        "",
        "#if MPI_VERSION >= 4",
        *_definition(collective, decide, ("MPI_Count", "_c"), template),
        "#endif",
    ]


def _definition(collective: str, decide: str, kind: tuple[str, str], template: Template) -> list[str]:
    count, suffix = kind
    call = CALLS[collective]
    number = f"COLLTUNE_{collective.upper()}"
    parts = {
        "name": f"{call.name}{suffix}",
        "parameters": ", ".join([*call.parameters, "MPI_Comm comm"]).replace("COUNT", count),
        "arguments": ", ".join(
            [*(parameter.split()[-1].lstrip("*").removesuffix("[]") for parameter in call.parameters), "used"]
        ),
        "id": number,
        "there": f"state != NULL && colltune_commutes({number}, op)" if call.reduces else "state != NULL",
        "size": call.size.replace("colltune_block(", f"colltune_block{suffix}("),
        "decide": decide,
        **_run_by(call, suffix),
    }
    text = template.substitute(parts)
    before = [(_BLOCK, "colltune_block"), (_EQUAL, "colltune_equal")]
    needed = [helper.substitute(suffix=suffix, count=count) for helper, name in before if f"{name}{suffix}(" in text]
    return "\n".join([*needed, text]).splitlines()


def _run_by(call: Call, suffix: str) -> dict[str, str]:
    """What an own method is told of a call: root, type and operation, and both buffers with their types."""
    names = [parameter.split()[-1].lstrip("*").removesuffix("[]") for parameter in call.parameters]

    def first(*wanted: str) -> str:
        return next((name for name in wanted if name in names), wanted[-1])

    element = "datatype" if call.reduces else "MPI_BYTE"
    given = (
        *(element, first("op", "MPI_OP_NULL"), first("sendbuf", "NULL"), first("sendtype", "datatype", "MPI_BYTE")),
        *(first("recvbuf", "buffer", "NULL"), first("recvtype", "datatype", "MPI_BYTE")),
    )
    root = first("root", "0")
    unfit = f"colltune_unfit(state, method, bytes, {root}, {element})"
    if "recvcounts" in names:
        unfit = f"!own || colltune_equal{suffix}(state->size, recvcounts) ? {unfit} : COLLTUNE_UNFIT"
    return {"root": root, "element": element, "run": ", ".join(given), "unfit": unfit}
