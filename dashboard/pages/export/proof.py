"""Proof on the page *Export*: the installed library runs with the written file, and shows whether it obeys."""

from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.proof.prove import Wish, prove
from dashboard.benchmarks.proof.report import lines_of, markdown
from dashboard.benchmarks.proof.verdict import Proof
from dashboard.decisions.grown.family import Progress
from dashboard.domain.units import format_count
from dashboard.export.rules import RulesError
from dashboard.export.writing import Written
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.widgets import Button, IntInput, Message, clamped
from dashboard.plots import exported
from dashboard.server.permission import may_launch
from loaders import disk

#: Targets that a library can be run with.
PROVABLE = ("openmpi", "mpich")
MOST_RANKS = 32
_SECONDS = 300.0
_RANKS = 4
_NOT_PROVABLE = (
    "Only rules of Open MPI (version 1) and MPICH's selection can be proven, by the library that is installed beside "
    "this dashboard."
)
#: What is said of a proof by its outcome, and how gravely.
_SAID = {
    "proven": ("The library does what the file asks.", "success"),
    "no difference": (
        "The library does what the file asks, but would do so without it: nothing shows that it uses the file.",
        "info",
    ),
    "not proven": ("Not proven: the report says where.", "warning"),
}


class ProveFile(Viewer):
    """Runs the installed library with the file that is written.

    Parameters
    ----------
    written
        Gives the file; None while there is none.
    """

    def __init__(self, written: Callable[[], Written | None]) -> None:
        super().__init__()
        self._written = written
        self.proof: Proof | None = None
        self.ranks = IntInput(
            label="Processes at most",
            value=_RANKS,
            start=2,
            end=MOST_RANKS,
            width=170,
            description="Processes that are started on this machine. Regions of larger communicators are not run, and "
            "counted as such.",
        )
        self.button = Button(label="Prove on this machine", variant="contained", on_click=self._prove)
        self.working = Background(again=self._prove)
        self.message = Message()
        self.report = pn.pane.HTML("", stylesheets=[exported.STYLE], sizing_mode="stretch_width", margin=(4, 8))
        self._of = ""

    def __panel__(self) -> pn.viewable.Viewable:
        head = pn.pane.HTML("<b>Proof on the installed library</b>", margin=(10, 10, 0, 10))
        bar = pn.FlexBox(self.ranks, self.button, align_items="center", margin=0)
        return pn.Column(head, bar, self.working, self.message, self.report, sizing_mode="stretch_width")

    def follow(self) -> None:
        """Follow the file that is written: a proof is of one file."""
        written = self._written()
        if self._of and (written is None or written.text != self._of):
            self.working.stop()
            self._of, self.proof, self.report.object = "", None, ""
            self.message.say("")
        obstacle = "" if written is None or written.order.target in PROVABLE else _NOT_PROVABLE
        self.button.disabled = written is None or bool(obstacle)
        if obstacle or not self._of:
            self.message.say(obstacle)

    def commands(self) -> list[list[str]]:
        """Words of the command that proves the file on show; none where it cannot be proven."""
        written = self._written()
        if written is None or written.order.target not in PROVABLE:
            return []
        return [["prove", written.name, "--ranks", str(clamped(self.ranks))]]

    def further(self) -> list[tuple[str, str]]:
        """What a bundle of the file is to hold beside: the report, if there is one."""
        written = self._written()
        there = self.proof is not None and written is not None and written.text == self._of
        return [("PROOF.md", markdown(self.proof))] if there else []

    def _prove(self, *_: Any) -> None:
        allowed, written = may_launch(), self._written()
        if not allowed:
            self.message.say(allowed.reason, "warning")
            return
        if written is None:
            return
        self._of, self.proof, self.report.object = written.text, None, ""
        self.message.say("")
        ranks = clamped(self.ranks)
        self.working.start("Proving", lambda progress: proven(written, ranks, progress), self._show)

    def _show(self, proof: Proof | str) -> None:
        if isinstance(proof, str):
            self._of = ""
            self.message.say(proof, "error")
            return
        self.proof = proof
        words, severity = _SAID[proof.outcome]
        if left := proof.count("not run"):
            words += f" {left:,} of {format_count(len(proof.verdicts), 'region')} were not run."
        self.message.say(words, severity)
        self.report.object = f'<pre class="use told">{escape(chr(10).join(lines_of(proof)))}</pre>'


def proven(written: Written, ranks: int, progress: Progress | None) -> Proof | str:
    """Prove a written file with the library beside this Python; gives why where that cannot be done."""
    with TemporaryDirectory(prefix="colltune-") as folder:
        path = Path(folder) / written.name
        disk.write_text(path, written.text)
        try:
            proof = prove(Wish(path, library.find().mpiexec, ranks=ranks, seconds=_SECONDS), progress)
        except (BenchError, RulesError) as error:
            return str(error)
    return replace(proof, rules=written.name)
