"""The attributes a decision function may test: given with the call, or derived from what is given.

All attributes are whole numbers, so that a test ``attribute <= cut`` means the same in Python and in generated integer
code. Yes/no attributes are 1 for yes and 0 for no. An attribute of named values (such as ``collective`` in a tree for
several collectives) is the position of the name in the decision function's ``categories``.

Derived ("composite") attributes are those of the dissertation: total message size, even and power-of-two
communicator size (6.3.3), data per node (5.4.2); and the number of nodes. They are defined for all whole
numbers, nonsense included, so that every generated program can be held to them: products stop at the ends
of 64 bits instead of wrapping round, and fewer than one process per node counts as one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.domain.arrays import IntArray
from dashboard.domain.errors import DecisionError
from dashboard.domain.options import Option

COMM_SIZE = "comm_size"
MESSAGE_SIZE = "message_size"
SIZES = (COMM_SIZE, MESSAGE_SIZE)
#: What people call them, in the singular.
SIZE_TITLES = {COMM_SIZE: "communicator size", MESSAGE_SIZE: "message size"}
PPN = "ppn"
COLLECTIVE = "collective"

_TOP = 2**63 - 1
_BOTTOM = -(2**63)


@dataclass(frozen=True)
class Attribute:
    """One attribute of a collective call."""

    #: As in tests and in saved decision functions.
    name: str
    #: What it is, with its unit.
    title: str
    #: The smallest and largest value it can take.
    minimum: int = _BOTTOM + 1
    maximum: int = _TOP
    #: The attributes that it is computed from, none of which is derived itself; empty when it is given.
    base: tuple[str, ...] = ()
    #: Computes it from one value of each of `base`; None when it is given.
    single: Callable[..., int] | None = None
    #: The same for int64 arrays.
    many: Callable[..., IntArray] | None = None
    #: Whether it only rises, or only falls, with each of `base` while the others stay.
    monotone: bool = False
    #: The same as C99 expression of variables named as `base`; ``product(int, long long)`` multiplies without overflow.
    #: Not to be evaluated where a base is outside of its C type.
    c: str = ""
    #: The same as Python expression, with ``product`` likewise.
    python: str = ""
    #: Whether its C type is ``long long``, else ``int``.
    wide: bool = False


def product(factor: int, other: int) -> int:
    """Multiply; beyond int64 the result is the largest (smallest) int64."""
    return min(max(factor * other, _BOTTOM), _TOP)


def products(factors: IntArray, other: IntArray) -> IntArray:
    """Multiply arrays as `product` does."""
    with np.errstate(over="ignore"):  # single numbers warn, arrays do not
        wrapped = np.multiply(factors, other)
    estimate = factors.astype(np.float64) * other.astype(np.float64)
    # What wrapped round is off by a multiple of 2**64, what did not only by the estimate's rounding.
    lost = np.abs(estimate - wrapped) > 2.0**62
    return np.asarray(np.where(lost, np.where(estimate > 0, _TOP, _BOTTOM), wrapped), dtype=np.int64)


def _powers_of_two(comm_size: IntArray) -> IntArray:
    return np.asarray((comm_size > 0) & (comm_size & (comm_size - 1) == 0), dtype=np.int64)


ATTRIBUTES: dict[str, Attribute] = {
    attribute.name: attribute
    for attribute in (
        Attribute(COMM_SIZE, "communicator size (processes)"),
        Attribute(MESSAGE_SIZE, "message size (bytes)", wide=True),
        Attribute(
            "total_size",
            "communicator size times message size (bytes)",
            base=SIZES,
            single=product,
            many=products,
            monotone=True,
            c="product(comm_size, message_size)",
            python="product(comm_size, message_size)",
            wide=True,
        ),
        Attribute(
            "even",
            "communicator size is even (0, 1)",
            minimum=0,
            maximum=1,
            base=(COMM_SIZE,),
            single=lambda p: 1 - p % 2,
            many=lambda p: 1 - p % 2,
            c="comm_size % 2 == 0",
            python="1 - comm_size % 2",
        ),
        Attribute(
            "power_of_two",
            "communicator size is a power of two (0, 1)",
            minimum=0,
            maximum=1,
            base=(COMM_SIZE,),
            single=lambda p: int(p > 0 and p & (p - 1) == 0),
            many=_powers_of_two,
            c="comm_size > 0 && (comm_size & (comm_size - 1)) == 0",
            python="int(comm_size > 0 and comm_size & (comm_size - 1) == 0)",
        ),
        Attribute(PPN, "processes per node"),
        Attribute(
            "nodes",
            "nodes: communicator size by processes per node, rounded up",
            base=(COMM_SIZE, PPN),
            single=lambda p, n: -(-p // max(n, 1)),
            many=lambda p, n: p // np.maximum(n, 1) + (p % np.maximum(n, 1) > 0),
            monotone=True,
            c="ppn < 1 ? comm_size : comm_size / ppn + (comm_size % ppn > 0)",
            python="-(-comm_size // max(ppn, 1))",
        ),
        Attribute(
            "data_per_node",
            "message size times processes per node (bytes)",
            base=(MESSAGE_SIZE, PPN),
            single=lambda m, n: product(max(n, 1), m),
            many=lambda m, n: products(np.maximum(n, 1), m),
            monotone=True,
            c="product(ppn < 1 ? 1 : ppn, message_size)",
            python="product(max(ppn, 1), message_size)",
            wide=True,
        ),
        Attribute(COLLECTIVE, "the collective, as position in the decision function's categories", minimum=0),
    )
}


#: The option of every family of trees that may test other attributes than the sizes.
TESTED = Option(
    "attributes",
    "attributes",
    "Attributes that tests may ask for.",
    None,
    "names",
    choices=tuple(ATTRIBUTES),
    unlimited="the two sizes, and ppn and collective where there are several",
)


def attribute(name: str) -> Attribute:
    """Look up an attribute; `DecisionError` lists the known ones if there is none of this name."""
    try:
        return ATTRIBUTES[name]
    except KeyError:
        raise DecisionError(f"no attribute {name!r}; known are {', '.join(ATTRIBUTES)}") from None


def required(names: Sequence[str]) -> tuple[str, ...]:
    """What a call must tell beside the two sizes, so that the attributes `names` can be computed."""
    given = {base for name in names for base in attribute(name).base or (name,)}
    return tuple(name for name in ATTRIBUTES if name in given and name not in SIZES)


def compute(name: str, known: Mapping[str, IntArray]) -> IntArray:
    """Give an attribute from what is known: as it is, or derived from others.

    Parameters
    ----------
    known
        int64 arrays by attribute, of shapes that broadcast together.

    Raises
    ------
    DecisionError
        When it, or what it derives from, is not known.
    """
    if name in known:
        return known[name]
    wanted = attribute(name)
    lacking = [base for base in wanted.base or (name,) if base not in known]
    if lacking or wanted.many is None:
        raise DecisionError(f"{' and '.join(lacking)} must be known for attribute {name} ({wanted.title})")
    return wanted.many(*np.broadcast_arrays(*(known[base] for base in wanted.base)))


def compute_one(name: str, known: Mapping[str, int]) -> int:
    """Give an attribute of one call, of which it or what it derives from is known; as `compute` does."""
    if name in known or (single := attribute(name).single) is None:
        return known[name]
    return single(*(known[base] for base in attribute(name).base))


def integers(values: Any, name: str) -> IntArray:
    """Turn `values` into int64, or raise `DecisionError` when they are not whole numbers."""
    array = np.asarray(values)
    if array.dtype.kind in "biu":
        if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
            raise DecisionError(f"{name} must be below 2**63")
        return np.asarray(array, dtype=np.int64)
    if array.dtype.kind == "f":
        rounded = np.rint(array)
        if (rounded == array).all() and (np.abs(rounded) < 2.0**63).all():
            return np.asarray(rounded, dtype=np.int64)
    raise DecisionError(f"{name} must be whole numbers below 2**63, not {array.dtype} such as {array.ravel()[:1]}")
