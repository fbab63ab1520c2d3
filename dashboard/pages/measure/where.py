"""Where a campaign runs: this machine, or a cluster's Slurm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.libraries.own_settings import default_ranks
from dashboard.domain.jobs import RANKS, SLURM, WITHHELD, assignments
from dashboard.domain.options import Option
from dashboard.measuring.launching import Place
from dashboard.pages.measure.form import HALF, WIDTH
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.options import OptionFields
from dashboard.session.choice import read_values

HERE, ON_SLURM = "This machine", "Slurm"
_DEFAULT_PARTITION = "(default)"
_LIMIT = Option(
    "limit",
    "time limit",
    "The job is ended after this time: 90 s, 30 min, 2 h, 1 d or 1:30:00. Empty: as estimated; what is missing then "
    "is measured when it is resumed.",
    "",
    "name",
)


class Where(Viewer):
    """Fields that say where it runs.

    Parameters
    ----------
    limited
        Whether there is a field for the time limit of the job.
    """

    def __init__(self, changed: Callable[[], None], *, limited: bool = True) -> None:
        super().__init__()
        self._limited, self._changed = limited, changed
        self._no_slurm = "Slurm was not looked for yet."
        self.fields = OptionFields(_options(), self._take, HALF, typed=True)
        self.widgets = self.fields.widgets
        self.said = pn.pane.HTML("", width=WIDTH - 20, margin=(0, 10))
        self.slurm = pn.Column(*self._slurm_fields(), margin=0, visible=False)
        self._refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        field = self.widgets
        here = pn.Row(field["ranks"], field["limit"], margin=0)
        return pn.Column(field["where"], self.slurm, here, self.said, width=WIDTH + 20, margin=0)

    def _slurm_fields(self) -> list[Any]:
        fields = [self.widgets[option.name] for option in SLURM]
        rows = [pn.Row(*fields[at : at + 2], margin=0) for at in range(0, len(fields), 2)]
        return [*rows[:2], Fold("More of the job", *rows[2:])]

    def offer(self, no_slurm: str, partitions: Sequence[Mapping[str, Any]]) -> None:
        """Offer a cluster's partitions.

        Parameters
        ----------
        no_slurm
            Why there is no Slurm; empty: there is.
        partitions
            As `dashboard.benchmarks.launchers.slurm.partitions` lists them.
        """
        self._no_slurm = no_slurm
        names = {_DEFAULT_PARTITION: ""} | {_partition(each): each["name"] for each in partitions}
        field = self.widgets["partition"]
        with self.fields.filling():
            # One that an address names stays until it is known whether there is such.
            field.param.update(options=names, value=field.value if field.value in names.values() else "")
        self._refresh()

    @property
    def possible(self) -> bool:
        """Whether jobs can be started at the place chosen."""
        return self.here or not self._no_slurm

    @property
    def here(self) -> bool:
        """Whether that is this machine."""
        return bool(self.widgets["where"].value == HERE)

    @property
    def number_of_ranks(self) -> int:
        """Processes that would be launched."""
        if self.here:
            return int(self.widgets["ranks"].value or 0)
        return int(self.widgets["nodes"].value or 0) * int(self.widgets["tasks_per_node"].value or 0)

    def place(self) -> Place:
        """Give what the fields hold; ValueError where one of them cannot be read."""
        given = self.fields.values()
        if self.here:
            return Place(limit=given["limit"])
        asked = {option.name: given[option.name] for option in SLURM}
        return Place({**asked, "environment": assignments(asked["environment"])}, given["limit"])

    def changed(self) -> dict[str, Any]:
        """What is not usual of it, as it stands in an address."""
        return {name: value for name, value in self.fields.changed().items() if name not in WITHHELD}

    def read(self, text: str) -> None:
        """Show what an address says of it; OptionError where that cannot be."""
        held = self.fields.typed()
        given = read_values(self.fields.options.values(), text)
        # No address says them: what stands there stays.
        self.fields.show({**{name: held[name] for name in WITHHELD}, **given})
        self._refresh()

    def _take(self) -> None:
        self._refresh()
        self._changed()

    def _refresh(self) -> None:
        self.widgets["ranks"].visible, self.slurm.visible = self.here, not self.here and not self._no_slurm
        self.widgets["limit"].visible = self.possible and self._limited
        self.said.object = "" if self.possible else f"<p>{escape(self._no_slurm)}</p>"


def _partition(partition: Mapping[str, Any]) -> str:
    summary = f"{partition['name']}, {partition['nodes']} × {partition['cores']} cores"
    return summary if partition.get("up", True) else f"{summary} (down)"


def _options() -> list[Option]:
    """Where it runs, the job's limits, and what is asked of Slurm: two nodes with a process on each to begin with."""
    first: dict[str, dict[str, Any]] = {
        "nodes": {"default": 2, "unlimited": ""},
        "tasks_per_node": {"default": 1, "unlimited": ""},
        "partition": {"choices": ("",), "titles": (_DEFAULT_PARTITION,)},
    }
    slurm = [replace(option, **first.get(option.name, {})) for option in SLURM]
    where = Option("where", "place", "This machine, or a cluster's Slurm.", HERE, "choice", choices=(HERE, ON_SLURM))
    return [where, replace(RANKS, default=default_ranks(), unlimited=""), _LIMIT, *slurm]
