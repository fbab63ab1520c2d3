"""What is made of measurements before deciding: chosen once, for page, command, report, notebook and Python alike."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from dashboard.domain.errors import OptionError
from dashboard.domain.models import MODEL_NAMES
from dashboard.domain.options import Option

if TYPE_CHECKING:
    import pandas as pd

#: Of the methods that tie, trees learn those that give the fewest rules, or the fastest.
TIES = ("simplest", "fastest")
#: Level of the test of ties that is offered where one asks for a test without naming a level.
LEVEL = 0.05

PARAMETERS = Option(
    name="parameters",
    title="parameters of that model",
    flag="--complete-with",
    help="A published machine ('colltune model list' names them), parameters written out as alpha=5e-5,beta=8.5e-8 (s "
    "and s/B), or for commands a file of 'colltune model fit' or 'parameters'.",
    default=None,
    kind="name",
    unlimited="fitted to the measurements",
    metavar="SET",
)
OPTIONS = (
    Option(
        name="tolerance",
        metavar="PCT",
        title="tolerance (%)",
        help="Methods within so many percent of the best count as tied with it. Trees that learn the method of "
        "each cell (C4.5, CART, quadtrees) then take the simplest, which may be more stable (dissertation, 5.1); all "
        "others weigh times.",
        default=0.0,
        kind="float",
        low=0,
        high=1000,
    ),
    Option(
        name="statistical",
        metavar="LEVEL",
        title="level of the test",
        help="Methods that the repetitions cannot tell from the best at this level, such as 0.05, tie with it, too: "
        "Yuen's test (Biometrika 61, 1974), Welch's where there is a summary only. Many methods are allowed for (S. "
        "Holm, Scand. J. Stat. 6, 1979).",
        default=None,
        kind="float",
        low=1e-6,
        high=0.5,
        unlimited="no test",
    ),
    Option(
        name="ties",
        title="of tied methods trees learn",
        help="Of the methods tied in a cell trees learn what neighbouring sizes take as well, which gives fewer rules, "
        "or the fastest (dissertation, 5.1).",
        default=TIES[0],
        kind="choice",
        choices=TIES,
        titles=("what gives fewer rules", "the fastest"),
    ),
    Option(
        name="outliers",
        title="leave outliers out",
        flag="--without-outliers",
        help="Leave out repetitions far from their cell by Tukey's fences (Exploratory Data Analysis, 1977), and cells "
        "far from their neighbours. One bad message size made every penalty above 40 % of the dissertation's "
        "broadcast (6.2.2).",
        default=False,
        kind="flag",
    ),
    Option(
        name="keep_doubtful",
        title="decide by doubtful times, too",
        help="Times of a campaign that cannot be right (late starts, launches that disagree, times that fall with "
        "the size, scatter) decide nothing unless they are kept; 'colltune info' and the tab Noise list them.",
        default=False,
        kind="flag",
    ),
    Option(
        name="interpolate",
        title="interpolate missing times",
        help="For deciding, fill a missing time from the same method's two next message sizes, on a straight line "
        "between their logarithms. Nothing is filled in beyond what was measured, and nothing is judged by it.",
        default=False,
        kind="flag",
    ),
    Option(
        name="surfaces",
        title="learn sizes between, too",
        help="For deciding, add the sizes that programs may call between the measured ones, with the times predicted "
        "there (tab Between the sizes); nothing is judged by these. The recommended tree does so by itself.",
        default=False,
        kind="flag",
    ),
    Option(
        name="complete",
        title="complete by a model",
        metavar="MODEL",
        help="For deciding, predict missing times by this communication model (dissertation, 6.4).",
        default=None,
        kind="choice",
        choices=tuple(MODEL_NAMES),
        unlimited="nothing",
    ),
    PARAMETERS,
)

#: Not of what is made of the measurements, but of what maps show of it.
UNCERTAINTY = Option(
    name="uncertainty",
    title="show uncertainty",
    help="Fade the decision map where another method may be the fastest at the sizes that a cell stands for, by the "
    "bands of the times predicted there and the scatter of the repetitions.",
    default=False,
    kind="flag",
)


@dataclass(frozen=True)
class Workload:
    """How often an application calls each size; two of the same calls are equal."""

    #: First 16 hex digits of the SHA-256 of its rows.
    digest: str
    #: As `loaders.workload.read_workload` gives it.
    calls: pd.DataFrame = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Of its file, as it was read; ``WORKLOAD.csv`` where it comes from none."""
        return str(self.calls.attrs.get("path", "WORKLOAD.csv"))

    @classmethod
    def of(cls, calls: pd.DataFrame) -> Workload:
        """Tell calls from others by their content."""
        return cls(hashlib.sha256(calls.to_csv(index=False).encode()).hexdigest()[:16], calls)


@dataclass(frozen=True)
class Treatment:
    """All that is chosen between measurements and trees; comparable and hashable.

    Attributes
    ----------
    tolerance, statistical, ties, outliers, keep_doubtful, interpolate, surfaces, complete, parameters
        As `OPTIONS` says, where their defaults are.
    without
        Methods that nothing may choose, as `decisions.measured.selection.selectable` names them.
    ppn
        Processes per node that are decided for, and that maps show; None: those with most measured cells.
    across
        Whether one tree decides for all numbers of processes per node.
    workload
        Weighs every mean; None: all cells count the same.
    """

    tolerance: float = 0.0
    statistical: float | None = None
    ties: str = TIES[0]
    outliers: bool = False
    keep_doubtful: bool = False
    interpolate: bool = False
    surfaces: bool = False
    complete: str | None = None
    parameters: str | None = None
    without: tuple[str, ...] = ()
    ppn: int | None = None
    across: bool = False
    workload: Workload | None = None

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> Treatment:
        """Take the values by name, checked; what is not named has its default.

        Raises
        ------
        OptionError
            A value is not allowed, or there is no such choice.
        """
        options = {option.name: option for option in OPTIONS}
        unknown = set(chosen) - {each.name for each in fields(cls)}
        if unknown:
            raise OptionError(f"a treatment has no {', '.join(sorted(unknown))}; it has {', '.join(DEFAULTS)}")
        return cls(
            **{
                name: options[name].checked(value) if name in options else tuple(value) if name == "without" else value
                for name, value in chosen.items()
            }
        )

    def changed(self) -> dict[str, Any]:
        """What is not at its default, by name."""
        return {name: value for name in DEFAULTS if (value := getattr(self, name)) != DEFAULTS[name]}

    def words(self) -> list[str]:
        """Those of `OPTIONS` that are not at their defaults, as the commands take them."""
        # Parameters of a model that completes nothing are refused.
        used = self if self.complete is not None else replace(self, parameters=None)
        changed = used.changed()
        return [word for option in OPTIONS if option.name in changed for word in option.typed(changed[option.name])]

    def words_of_trees(self, *, by_labels: bool, predicts: bool = False) -> list[str]:
        """Those of them by which trees come out otherwise: of ties only where trees learn labels that settle them.

        Of sizes between only where trees do not predict these by themselves (`predicts`).
        """
        used = replace(self, surfaces=self.surfaces and not predicts)
        untied = replace(used, tolerance=0.0, statistical=None, ties=DEFAULTS["ties"])
        return (used if by_labels and self.resolves_ties else untied).words()

    @property
    def fills(self) -> bool:
        """Whether trees learn times that were not measured."""
        return self.interpolate or self.surfaces or self.complete is not None

    @property
    def resolves_ties(self) -> bool:
        """Whether trees may learn another than the fastest method."""
        return self.ties != "fastest" and (self.tolerance > 0 or self.statistical is not None)


#: Every choice with its default.
DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Treatment)}
