"""One algorithm of one collective under the three point-to-point models, and its evaluation over arrays of sizes."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.models import ModelName
from dashboard.models.errors import ModelError, NotApplicableError, SizeError
from dashboard.models.formula import Expression, Scope
from dashboard.models.formula.symbols import is_power_of_two
from dashboard.models.formula.written import Written, name, sign
from dashboard.models.p2p import PLogP, PointToPointModel

Variant = Literal["corrected", "as_published"]
Case = Literal["worst", "best"]
LARGEST = 2.0**62


@dataclass(frozen=True)
class Formula:
    """The duration of an algorithm under one model."""

    #: What is used by default; T_max where the dissertation gives two.
    expression: Expression
    #: What the dissertation's table prints, where that is wrong.
    printed: Expression | None = None
    #: Why it is wrong: the proof.
    erratum: str = ""
    #: T_min, where given.
    best: Expression | None = None

    def pick(self, variant: Variant = "corrected", case: Case = "worst") -> Expression:
        """The formula in one of its forms."""
        if variant not in ("corrected", "as_published"):
            raise ModelError(f"variant is {variant!r}; expected corrected or as_published")
        if case not in ("worst", "best"):
            raise ModelError(f"case is {case!r}; expected worst or best")
        if case == "best" and self.best is not None:
            return self.best
        return self.printed if variant == "as_published" and self.printed is not None else self.expression

    def written(self, variant: Variant = "corrected", case: Case = "worst") -> Written:
        """The formula as mathematics, ``T = …``."""
        time = name("T", "" if self.best is None else "min" if case == "best" else "max")
        return time + sign("=") + self.pick(variant, case).written


@dataclass(frozen=True)
class CollectiveModel:
    """An algorithm of a collective.

    Attributes
    ----------
    collective, algorithm
        Names, as everywhere in the project.
    title
        As the dissertation calls the algorithm.
    table
        Number of its table there.
    hockney, loggp, plogp
        Its formulas.
    segmented
        What segments cut: the ``message``, its ``half``, its ``block`` of m / P bytes, the ``first`` part of it
        (the rest is the second); empty: nothing.
    requires
        ``power_of_two`` or ``even`` numbers of processes; empty: any.
    note
        What a user should know.
    """

    collective: str
    algorithm: str
    title: str
    table: str
    hockney: Formula
    loggp: Formula
    plogp: Formula
    segmented: Literal["", "message", "half", "block", "first"] = ""
    requires: Literal["", "power_of_two", "even"] = ""
    note: str = ""

    @property
    def source(self) -> str:
        """Where the formulas are printed."""
        return f"dissertation, Table {self.table}, {self.title}"

    @property
    def validity(self) -> str:
        """Numbers of processes that it works on, for people."""
        return {"": "any", "power_of_two": "powers of two", "even": "even numbers"}[self.requires]

    @property
    def sizable(self) -> bool:
        """Whether it is cut into segments of a size that can be chosen."""
        return self.segmented not in ("", "first")

    def formula(self, model: ModelName) -> Formula:
        """Formula under one model."""
        formulas = {"hockney": self.hockney, "loggp": self.loggp, "plogp": self.plogp}
        if model not in formulas:
            raise ModelError(f"there is no model {model!r}; expected one of {', '.join(formulas)}")
        return formulas[model]

    def applies(self, comm_size: npt.ArrayLike) -> BoolArray:
        """Whether the algorithm works on these numbers of processes; on one it has nothing to do."""
        count = np.asarray(comm_size, dtype=float)
        if self.requires == "power_of_two":
            return np.asarray(is_power_of_two(count))
        if self.requires == "even":
            return np.asarray((count % 2 == 0) | (count == 1))
        return np.ones(count.shape, dtype=bool)

    def largest_segment(self, comm_size: Any, message_size: Any) -> Any:
        """Bytes of what is cut into segments, the largest segment size."""
        if self.segmented == "half":
            return message_size / 2
        return np.ceil(message_size / comm_size) if self.segmented == "block" else message_size

    def segments(self, comm_size: Any, message_size: Any, segment_size: Any) -> tuple[FloatArray, FloatArray]:
        """Segment size and number of segments as the formulas mean them.

        A segment size of 0 means no segments, as does one larger than what is cut. Halves give an even number of
        segments, and the blocks of the ring as many for each block.
        """
        largest = self.largest_segment(comm_size, message_size)
        times = {"half": 2.0, "block": comm_size}.get(self.segmented, 1.0)
        size = np.where(segment_size > 0, np.minimum(segment_size, largest), largest)
        count = np.where(size > 0, np.ceil(largest / np.where(size > 0, size, 1.0)), 1.0)
        return size, times * count

    def predict(
        self,
        parameters: PointToPointModel,
        comm_size: npt.ArrayLike,
        message_size: npt.ArrayLike = 0,
        segment_size: npt.ArrayLike = 0,
        *,
        variant: Variant = "corrected",
        case: Case = "worst",
        strict: bool = False,
    ) -> FloatArray:
        """Duration in seconds; the arrays of sizes broadcast against each other.

        Parameters
        ----------
        parameters
            Of the network; their model chooses the formula.
        comm_size, message_size, segment_size
            Processes; bytes; bytes, 0 = not segmented. Barriers have no message, and what is not segmented
            ignores the segment size.
        variant
            ``corrected``, or ``as_published`` to the letter.
        case
            ``worst`` or ``best``, where the dissertation gives T_max and T_min.
        strict
            Raise where the algorithm does not work on the number of processes, rather than giving NaN.

        Returns
        -------
        ndarray
            Of the broadcast shape; 0 for one process, which sends nothing.

        Raises
        ------
        SizeError
            When a size is no whole number or outside its range.
        NotApplicableError
            With `strict`, when the algorithm does not work on some number of processes.
        """
        count = sizes_of("communicator size", comm_size, 1)
        size = np.zeros(()) if self.collective == "barrier" else sizes_of("message size", message_size, 0)
        segment = sizes_of("segment size", segment_size, 0) if self.segmented else np.zeros(())
        shape = np.broadcast_shapes(*(np.shape(each) for each in (comm_size, message_size, segment_size)))
        works = self.applies(count)
        if strict and not works.all():
            wrong = int(count[~works].flat[0])
            raise NotApplicableError(
                f"{self.collective} {self.algorithm} works on {self.validity} of processes; found {wrong}"
            )
        chosen = self.formula(parameters.name).pick(variant, case)
        number = np.maximum(count, 2.0)
        time = np.asarray(scope_of(parameters, number, size, *self.segments(number, size, segment)).of(chosen))
        time = np.where(works, np.where(count == 1, 0.0, time), np.nan)
        return np.array(np.broadcast_to(time, shape), dtype=float)

    def smooth(self, parameters: PointToPointModel, comm_size: Any, message_size: Any, segment_size: Any) -> FloatArray:
        """Duration with a number of segments that need not be whole, as section 5.2.2 has it; from P = 2 on."""
        times = {"half": 2.0, "block": comm_size}.get(self.segmented, 1.0)
        number = times * self.largest_segment(comm_size, message_size) / segment_size
        chosen = self.formula(parameters.name).expression
        return np.asarray(scope_of(parameters, comm_size, message_size, segment_size, number).of(chosen))


def scope_of(
    parameters: PointToPointModel, comm_size: Any, message_size: Any, segment_size: Any, segments: Any
) -> Scope:
    """What the symbols of the formulas stand for."""
    values: dict[str, Any] = {"P": comm_size, "m": message_size, "m_s": segment_size, "n_s": segments}
    values |= {"half_n_s": segments / 2, "one_byte": 1.0, "no_bytes": 0.0, **parameters.values()}
    if "G" in values and (np.asarray(message_size) == 0).any():
        # A message of no bytes is LogP's: there is no byte after the first that G could count.
        values["G"] = np.where(message_size > 0, values["G"], 0.0)
    if not isinstance(parameters, PLogP):
        return Scope(values)
    functions = {
        "gap": parameters.gap_at,
        "send_overhead": parameters.send_overhead_at,
        "receive_overhead": parameters.receive_overhead_at,
    }
    return Scope(values, functions)


def sizes_of(what: str, given: npt.ArrayLike, low: int) -> FloatArray:
    """Take sizes as floating-point numbers; `SizeError` names the first that is not whole or outside its range."""
    try:
        sizes = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise SizeError(f"{what} is {given!r}; expected whole numbers") from error
    wrong = ~((sizes >= low) & (sizes <= LARGEST) & (np.floor(sizes) == sizes))
    if wrong.any():
        raise SizeError(f"{what} is {sizes[wrong].flat[0]:,.15g}; expected a whole number from {low} to 2^62")
    return sizes
