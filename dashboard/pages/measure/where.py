"""Where a campaign runs: this machine, or a cluster's Slurm."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.launchers.slurm_script import STARTS
from dashboard.measuring.asked import default_ranks
from dashboard.measuring.launching import Place
from dashboard.pages.measure.form import HALF, WIDTH
from dashboard.pages.measure.help import WHERE, describe
from dashboard.pages.parts.fields import Fields
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.widgets import IntInput, RadioButtonGroup, Select, TextInput

HERE, SLURM = "This machine", "Slurm"
_DEFAULT_PARTITION = "(default)"
_TYPED = ("start_options", "environment", "extra")


class Where(Viewer):
    """Fields that say where it runs.

    Parameters
    ----------
    changed
        Called when a field has changed.
    limited
        Whether there is a field for the time limit of the job.
    """

    def __init__(self, changed: Callable[[], None], *, limited: bool = True) -> None:
        super().__init__()
        self._limited, self._changed = limited, changed
        self._no_slurm = "Slurm was not looked for yet."
        self.kind = RadioButtonGroup(label="", options=[HERE, SLURM], value=HERE, size="small", width=WIDTH)
        half = {"width": HALF, "size": "small"}
        self.ranks = IntInput(label="Ranks", value=default_ranks(), start=2, end=100_000, **half)
        self.limit = TextInput(label="Time limit", value="", placeholder="by the estimate", **half)
        self.request: dict[str, Any] = {
            "nodes": IntInput(label="Nodes", value=2, start=1, end=10_000, **half),
            "tasks_per_node": IntInput(label="Tasks per node", value=1, start=1, end=1024, **half),
            "partition": Select(label="Partition", options=[_DEFAULT_PARTITION], value=_DEFAULT_PARTITION, **half),
            "account": TextInput(label="Account", value="", **half),
            "qos": TextInput(label="Quality of service", value="", **half),
            "constraint": TextInput(label="Constraint", value="", **half),
            "modules": TextInput(label="Modules to load", value="", placeholder="openmpi/5", **half),
            "start": Select(label="Started by", options=list(STARTS), value=STARTS[0], **half),
            "start_options": TextInput(label="Its options", value="", placeholder="--bind-to=core", **half),
            "environment": TextInput(label="Environment", value="", placeholder="NAME=value NAME=value", **half),
            "extra": TextInput(label="Further lines of sbatch", value="", placeholder="--exclusive", **half),
            "array": IntInput(label="Jobs at once", value=0, start=0, end=1000, **half),
        }
        describe({"ranks": self.ranks, "limit": self.limit, **self.request}, WHERE)
        fields = {"where": self.kind, "ranks": self.ranks, "limit": self.limit, **self.request}
        # No address says what a job would be run with, or what Slurm would be handed word by word.
        self.kept = Fields(fields, self._take, ("partition",), _TYPED)
        self.said = pn.pane.HTML("", width=WIDTH - 20, margin=(0, 10))
        self.slurm = pn.Column(*self._slurm_fields(), margin=0, visible=False)
        self._refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.kind, self.slurm, pn.Row(self.ranks, self.limit, margin=0), self.said, width=WIDTH + 20, margin=0
        )

    def _slurm_fields(self) -> list[Any]:
        request = self.request
        pairs = [("nodes", "tasks_per_node"), ("partition", "account")]
        further = [("qos", "constraint"), ("modules", "environment"), ("start", "start_options"), ("array", "extra")]
        rows = [[pn.Row(*(request[name] for name in pair), margin=0) for pair in each] for each in (pairs, further)]
        return [*rows[0], Fold("More of the job", *rows[1])]

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
        names = {_DEFAULT_PARTITION: _DEFAULT_PARTITION} | {_partition(each): each["name"] for each in partitions}
        field = self.request["partition"]
        value = field.value if field.value in names.values() else _DEFAULT_PARTITION
        field.param.update(options=names, value=value)
        self._refresh()

    @property
    def possible(self) -> bool:
        """Whether jobs can be started at the place chosen."""
        return self.here or not self._no_slurm

    @property
    def here(self) -> bool:
        """Whether that is this machine."""
        return bool(self.kind.value == HERE)

    @property
    def number_of_ranks(self) -> int:
        """Processes that would be launched."""
        if self.here:
            return int(self.ranks.value or 0)
        return int(self.request["nodes"].value or 0) * int(self.request["tasks_per_node"].value or 0)

    def place(self) -> Place:
        """Give what the fields hold; ValueError when a list of options or the environment cannot be read."""
        if self.here:
            return Place(limit=self.limit.value)
        given = {name: field.value for name, field in self.request.items()}
        if given["partition"] == _DEFAULT_PARTITION:
            given["partition"] = ""
        for name in ("extra", "modules", "start_options"):
            given[name] = tuple(_words(name, given[name]))
        given["environment"] = _assignments(_words("environment", given["environment"]))
        return Place(given, self.limit.value)

    def show(self, text: str) -> None:
        """Show what an address says of it; OptionError where that cannot be."""
        self.kept.show(text)
        self._refresh()

    def _take(self) -> None:
        self._refresh()
        self._changed()

    def _refresh(self) -> None:
        self.ranks.visible, self.slurm.visible = self.here, not self.here and not self._no_slurm
        self.limit.visible = self.possible and self._limited
        self.said.object = "" if self.possible else f"<p>{escape(self._no_slurm)}</p>"


def _partition(partition: Mapping[str, Any]) -> str:
    summary = f"{partition['name']}, {partition['nodes']} × {partition['cores']} cores"
    return summary if partition.get("up", True) else f"{summary} (down)"


def _words(name: str, text: str) -> list[str]:
    """Words of a field, quoted as a shell would have them; nothing is run by one."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{name.replace('_', ' ')} {text!r}: {error}") from error


def _assignments(words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"environment {word!r}: right would be NAME=value")
        if name in given:
            raise ValueError(f"environment {word!r}: {name} is given twice, right would be one value")
        given[name] = value
    return given
