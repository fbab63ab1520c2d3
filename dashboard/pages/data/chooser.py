"""Where results come from: the sample data, the folders given at the start, or uploads."""

from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
import param
from panel.viewable import Viewer

from dashboard.domain.units import format_count, format_room
from dashboard.pages.data.dropping import Dropper
from dashboard.pages.data.files import Listed, Uploads, is_inside, list_files
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.reports import plain, shown_name
from dashboard.pages.parts.tables import table
from dashboard.pages.parts.widgets import RadioButtonGroup, Select
from dashboard.session.samples import SAMPLES, Start, sample_start

SAMPLE, FOLDER, UPLOAD = "Sample data", "Folder", "Upload"
#: Refused files that are told of.
MOST_REFUSALS = 10


class FileChooser(Viewer):
    """Lets the user choose files.

    Parameters
    ----------
    start
        What the dashboard was started with; no file outside of it can be chosen, uploads and sample data aside.
    """

    kind = param.Selector(default=SAMPLE, objects=[SAMPLE, FOLDER, UPLOAD], doc="Where the files come from.")
    changed = param.Event(doc="Other files are chosen.")
    refusal = param.String(default="", doc="Why files were not taken; empty: nothing was refused.")

    def __init__(self, start: Start) -> None:
        self.start = start
        self.uploads = Uploads()
        self.listed: list[Listed] = []
        self._top_level: list[int] = []
        self._count = 0
        super().__init__(kind=SAMPLE if start.sample else FOLDER)
        self.switch = RadioButtonGroup(
            label="Source of the files", options=[SAMPLE, FOLDER, UPLOAD], value=self.kind, sizing_mode="stretch_width"
        )
        self.switch.link(self, value="kind", bidirectional=True)
        titles = {sample.title: name for name, sample in SAMPLES.items()}
        self.campaign = Select(
            label="Campaign",
            options=titles,
            sizing_mode="stretch_width",
            description="One of the measurements that come with the dashboard. The README beside each says how it was "
            "measured, and how far to trust it.",
        )
        self.campaign.param.watch(self._show, "value")
        self.table: pn.widgets.Tabulator | None = None
        # Hundreds of files may come at once: what follows from them does so when they have.
        self._come = Rested(self._tell_uploads, 0.2)
        self.dropper = Dropper(self.uploads, self._taken, sizing_mode="stretch_width", margin=(5, 10))
        self._refused: dict[str, str] = {}
        self.body = pn.Column(sizing_mode="stretch_width", margin=0)
        self._show()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.switch, self.body, sizing_mode="stretch_width", margin=0)

    @property
    def paths(self) -> list[Path]:
        """Chosen files."""
        if self.kind == SAMPLE:
            return list(self.sample.paths)
        if self.kind == UPLOAD:
            return self.uploads.paths
        if self._ticked and self._ticked == self._top_level:
            # Of a folder as a whole, files that are no results are reported and do no harm.
            return [path for path in self.start.paths if path.exists()]
        # A file may have become a link since it was listed.
        roots = [path.resolve() for path in self.start.paths]
        return [path for path in (self.listed[index].path for index in self._ticked) if is_inside(path, roots)]

    @property
    def sample(self) -> Start:
        """The sample campaign that is chosen."""
        return sample_start(self.campaign.value)

    @property
    def names(self) -> list[str]:
        """Names of the chosen files, as the user knows them."""
        if self.kind == FOLDER:
            return [self.listed[index].name for index in self._ticked]
        return [shown_name(str(path), self.folders) for path in self.paths]

    @property
    def folders(self) -> list[Path]:
        """Folders that file names are shown relative to."""
        uploads = [] if self.uploads.folder is None else [self.uploads.folder]
        given = [path for path in self.start.paths if path.is_dir()]
        # Of several folders, names alone would not tell apart what they hold.
        return [*uploads, *(given if len(given) < 2 else (path.parent for path in given))]

    def look_again(self) -> None:
        """Say which of the chosen files have gone since they were listed."""
        if self.kind == FOLDER:
            gone = [each.name for each in (self.listed[index] for index in self._ticked) if not each.path.exists()]
            self.refusal = "\n".join(f"{name} is not there any more" for name in gone[:MOST_REFUSALS])

    def settle(self) -> None:
        """From now on a file that is dropped takes the place of the one of its name: it is a later state of it."""
        self.dropper.loads += 1

    def close(self) -> None:
        """Remove the uploads."""
        self.uploads.close()

    @param.depends("kind", watch=True)
    def _show(self, *_: Any) -> None:
        make = {SAMPLE: self._sample, FOLDER: self._folder, UPLOAD: self._upload}[self.kind]
        self.dropper.visible = self.kind == UPLOAD
        # It stays where it is: drawn anew it would know nothing of the files that have come.
        self.body.objects = [*make(), self.dropper]
        self._refused.clear()
        self.refusal = ""
        self._tell()

    def _sample(self) -> list[Any]:
        about = SAMPLES[self.campaign.value].about
        summary = (
            f"{about} {format_count(len(self.paths), 'file')}; the README beside says how far to trust the figures."
        )
        return [self.campaign, _text(summary)]

    def _folder(self) -> list[Any]:
        if self.start.sample:
            return [
                _text(
                    "No folder was given at the start. Start with `colltune serve --data FOLDER`, or with "
                    "`panel serve dashboard --args FOLDER`, to choose from its files here; or upload them."
                )
            ]
        missing = [path for path in self.start.paths if not path.exists()]
        if self.table is None:
            self._list()
        remarks = [f"There is no {plain(str(path))}." for path in missing]
        if self._count > len(self.listed):
            remarks.append(
                f"The first {len(self.listed):,} of {self._count:,} files are listed; "
                "start with a folder further down to see the others."
            )
        if not self.listed:
            return [_text(" ".join([*remarks, "There are no files to choose from."]))]
        return [*([_text(" ".join(remarks))] if remarks else []), self.table]

    def _list(self) -> None:
        self.listed, self._count = list_files([path for path in self.start.paths if path.exists()])
        # As at the start: the files of the folders themselves, not those further down.
        self._top_level = [index for index, each in enumerate(self.listed) if len(Path(each.name).parts) == 1]
        self._top_level = self._top_level or list(range(len(self.listed)))
        self.table = table(
            pd.DataFrame(
                {"file": [each.name for each in self.listed], "size": [format_room(each.size) for each in self.listed]}
            ),
            selection=list(self._top_level),
            selectable="checkbox",
            height=min(320, 100 + 37 * len(self.listed)),
            layout="fit_columns",
            header_filters={"file": {"type": "input", "func": "like", "placeholder": "filter by name"}},
            widths={"size": 95},
            configuration={"rowHeight": 32},
        )
        self.table.param.watch(self._tell, "selection")

    @property
    def _ticked(self) -> list[int]:
        return [] if self.table is None else sorted(at for at in self.table.selection if at < len(self.listed))

    def _upload(self) -> list[Any]:
        most = self.uploads
        return [
            _text(
                f"Benchmark files, netCDF or tables: {most.most_files} files, {most.most_bytes / 1e6:,.0f} MB at most. "
                "They stay on the machine that runs the dashboard, and are removed soon after this page is closed. "
                "A file with the name of an earlier one replaces it. What was read from them stays on the server for "
                "all who have the link, until results loaded later take its place or the server ends."
            )
        ]

    def _taken(self, name: str, why: str | None) -> None:
        self._refused.pop(name, None)
        if why is not None:
            self._refused[name] = why
        self._come.ask()

    def _tell_uploads(self, *_: Any) -> None:
        self.refusal = "\n".join(list(self._refused.values())[-MOST_REFUSALS:])
        self.dropper.kept = len(self.uploads.paths)
        self._tell()

    def _tell(self, *events: param.parameterized.Event) -> None:
        self.param.trigger("changed")


def _text(markdown: str) -> pn.pane.Markdown:
    return pn.pane.Markdown(markdown, sizing_mode="stretch_width", margin=(0, 10))
