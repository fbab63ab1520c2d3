"""What the user chose: no widgets, no drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
import param
import xarray as xr

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.selection import selectable
from dashboard.domain.held_out import CRITERION, HELD_OUT
from dashboard.domain.options import Option
from dashboard.domain.written import BASE, MOST_RULES, VERSION
from dashboard.export import TARGETS
from dashboard.export.library_names import rules_target
from dashboard.export.targets.mpich.base import KNOWN
from dashboard.session import address
from dashboard.session.choice import QUADTREE, RULES, Choice
from dashboard.session.registry import COMPUTED, Results, load_results, register
from dashboard.session.treatment import DEFAULTS, OPTIONS, UNCERTAINTY, Treatment, Workload
from dashboard.session.view import Grown, View
from loaders.collectives import POINT_TO_POINT
from loaders.openmpi import VERSIONS

PAGES = ("Home", "Tune", "Decisions", "Compare", "Frontier", "Models", "Export", "Measure", "Online", "Data")
#: Where a session begins that is asked for nothing else.
BEGIN = "Decisions"
#: Names of the colour schemes, as `plots.colors` knows them.
SCHEMES = ("okabe-ito", "tol", "grey")
#: Params that say which measurements are decided on, and how they are treated.
DATA = ("results_id", "collective", "together", *DEFAULTS)
#: Rules files that a session knows at once; the oldest goes.
MOST_RULES_FILES = 8
#: Params after which maps of the measurements are drawn anew.
DRAWN = (*DATA, "scheme", UNCERTAINTY.name)
_QUADTREE = FAMILIES[QUADTREE]
#: Params that say which tree is asked for.
TREE = ("family", "options", "max_depth", "limit_depth", "threshold")
#: What a view is made of.
_VIEWED = frozenset({"results", "rules", "shown", "scheme", "deferred", UNCERTAINTY.name, *TREE, *DATA})


def _treated(name: str) -> param.Parameter:
    """The param of a choice of `session.treatment`."""
    return declared(next(each for each in OPTIONS if each.name == name))


def declared(option: Option, default: Any = None) -> param.Parameter:
    """The param of an option as it is declared, with its default or another."""
    about: dict[str, Any] = {"default": option.default if default is None else default, "doc": option.help}
    if option.kind == "flag":
        return param.Boolean(**about)
    if option.kind == "choice":
        empty = [None] if option.unlimited else []
        return param.Selector(objects=[*empty, *option.choices], **about)
    if option.kind == "float":
        return param.Number(bounds=(option.low, option.high), allow_None=bool(option.unlimited), **about)
    return param.String(allow_None=bool(option.unlimited), **about)


class State(param.Parameterized):
    """The choices of one session; what follows from them is its `view`.

    Which tree is asked for is `choice`; which one is shown is `shown`. They are the same, but for the
    time that a tree takes to grow where `deferred` is set: then somebody else grows it, and calls `settle`.
    """

    results = param.Parameter(default=None, doc="Loaded results (`xarray.DataTree`), replaced as a whole; None: none.")
    results_id = param.String(default="", doc="Digest of the results; empty: none.")
    scheme = param.Selector(default=SCHEMES[0], objects=list(SCHEMES), doc="Colours of the methods.")
    uncertainty = declared(UNCERTAINTY)
    rows = param.String(default="", doc="Filter of the table's rows, as `plots.table.matching` reads it; empty: all.")
    page = param.Selector(default=BEGIN, objects=list(PAGES), doc="Page on show.")
    tab = param.Selector(default="", objects=["", *chain(*address.TABS.values())], doc="Its open tab; empty: first.")
    collective = param.Selector(
        default=None, objects=[], allow_None=True, check_on_set=True, doc="Collective decided on."
    )
    together = param.Parameter(default=(), doc="Further collectives that the same tree is to decide.")
    ppn = param.Selector(default=None, objects=[None], doc="Processes per node; None: those measured most.")
    across = param.Boolean(default=False, doc="Whether one tree decides for all numbers of processes per node.")
    family = param.Selector(default=QUADTREE, objects=list(FAMILIES), doc="How the tree is grown.")
    options = param.Dict(default={}, doc="Options of each family but the quadtree, kept when another is chosen.")
    max_depth = param.Integer(default=3, bounds=(0, 12), doc=_QUADTREE.option("max_depth").help)
    limit_depth = param.Boolean(default=True, doc="Whether `max_depth` holds; without it the threshold alone does.")
    threshold = declared(_QUADTREE.option("threshold"))
    tolerance = _treated("tolerance")
    statistical = _treated("statistical")
    ties = _treated("ties")
    outliers = _treated("outliers")
    keep_doubtful = _treated("keep_doubtful")
    interpolate = _treated("interpolate")
    surfaces = _treated("surfaces")
    complete = _treated("complete")
    parameters = _treated("parameters")
    without = param.Parameter(
        default=(), doc="Methods that nothing may choose, as `decisions.measured.selection` names them."
    )
    workload = param.String(default="", doc="Digest of the workload that weighs the sizes; empty: all count the same.")
    rules = param.Dict(default={}, doc="Rules files checked in this session: names by the key of each.")
    model_view = param.String(default="", doc="View of the page Models, as that page writes it; empty: as it begins.")
    other = param.Parameter(default=Choice("exact"), doc="`Choice` that the page Compare sets beside the tree.")
    held_out = declared(HELD_OUT, "lines")
    criterion = declared(CRITERION)
    target = param.Selector(
        default="openmpi",
        objects=list(TARGETS),
        doc="What the page Export writes; by itself rules of the library that was measured.",
    )
    version = param.Selector(default="", objects=["", *VERSIONS], doc=f"{VERSION.help} Empty: {VERSION.unlimited}.")
    base = param.Selector(default="", objects=["", *KNOWN], doc=f"{BASE.help} Empty: {BASE.unlimited}.")
    most_rules = param.Integer(default=0, bounds=(0, 1024), doc=f"{MOST_RULES.help} 0: {MOST_RULES.unlimited}.")
    exported = param.Parameter(default=(), doc="Collectives exported together; empty: the one on show.")
    campaign = param.String(default="", doc="Name of the campaign that the page Measure shows; empty: the newest.")
    campaign_asked = param.String(
        default="", doc="What a new campaign is asked for, as the page Measure writes it; empty: usual."
    )
    tuning = param.String(default="", doc="Name of the tuning that the page Tune shows; empty: the newest.")
    tuning_asked = param.String(default="", doc="What a new tuning is asked for, as that page writes it; empty: usual.")
    online = param.String(default="", doc="View of the page Online, as that page writes it; empty: as it begins.")
    recipes = param.Dict(
        default={}, doc="Command and Python, or the `View` that they give, of pages with figures of their own."
    )
    followed = param.Dict(
        default={}, doc="By page, what it shows by itself, such as the newest campaign, as an address names it."
    )
    loaded = param.Dict(default={}, doc="Results loaded in this session: names by their digests, the newest last.")
    compare = param.Selector(
        default="trees", objects=["trees", "campaigns"], doc="What the page Compare sets beside each other."
    )
    against = param.String(default="", doc="Campaign beside the one on show: its digest, or a sample; empty: none.")
    common = param.Boolean(default=True, doc="Whether two campaigns are compared over the methods that both have.")
    shown = param.Parameter(default=None, doc="`Choice` whose tree is shown; None: nothing is asked for yet.")
    pinned = param.Tuple(default=None, length=2, allow_None=True, doc="Pinned cell (comm_size, message_size in bytes).")
    error = param.String(default="", doc="Last error to show; empty: none.")
    notice = param.String(default="", doc="Remark on what was asked for, such as a bad address; empty: none.")
    busy = param.String(default="", doc="What is under way, such as loading; empty: nothing.")
    progress = param.Number(default=None, bounds=(0.0, 1.0), allow_None=True, doc="How far that is; None: unknown.")

    def __init__(self, **params: Any) -> None:
        #: Whether one page at a time is on the screen, `page`; without navigation, as in a notebook, all of them are.
        self.navigated = False
        #: Whether trees that take longer are grown by somebody else, off the event loop.
        self.deferred = False
        #: Works out off the event loop what follows from choices, then makes them; None: they are made at once.
        self.ahead: Callable[[dict[str, Any]], None] | None = None
        self._workloads: dict[str, Workload] = {}
        self._view: View | None = None
        self._stale = True
        super().__init__(**params)
        self.shown = self.choice()

    def __setattr__(self, name: str, value: Any) -> None:
        # First, for what watches the value asks for the view at once.
        if name in _VIEWED:
            self._stale = True
        super().__setattr__(name, value)

    @property
    def view(self) -> View:
        """What follows from the choices as they are now."""
        if self._view is None or self._stale:
            self._stale = False
            made = {"treatment": self.treatment(), "choice": self.choice()}
            chosen = {each.name: getattr(self, each.name) for each in fields(View) if each.name not in made}
            self._view = View(**made, **chosen, earlier=self._view)
        return self._view

    def treatment(self, **changes: Any) -> Treatment:
        """What is made of the measurements; `changes` are values of params that differ from those chosen."""
        chosen = {name: changes.get(name, getattr(self, name)) for name in DEFAULTS}
        return Treatment(**chosen | {"workload": self._workload(chosen["workload"])})

    def treat(self, treatment: Treatment) -> None:
        """Choose this treatment."""
        self.weigh(treatment.workload)
        chosen = {name: getattr(treatment, name) for name in DEFAULTS if name != "workload"}
        # The only number that a collective has is none that is chosen.
        self.param.update(**chosen | {"ppn": treatment.ppn if treatment.ppn in self.param.ppn.objects else None})

    def imagined(self, **changes: Any) -> View:
        """The view that other values of the params of `DATA` would give."""
        names = ("collective", "together")
        return self.view.changed(
            treatment=self.treatment(**changes), **{name: changes[name] for name in names if name in changes}
        )

    @classmethod
    def of(cls, shown: ResultsOrState) -> State:
        """State that a page is made over.

        Parameters
        ----------
        shown
            A state, which is given back, so that several pages may follow the same one; or results, as
            `loaders.open_results` gives them: then a new state that shows them. Their arrays are copied, for what
            pages show never changes.

        Raises
        ------
        TypeError
            It is something else.
        """
        if isinstance(shown, State):
            return shown
        if isinstance(shown, xr.DataTree):
            shown = register(shown.copy(deep=True))
        if not isinstance(shown, Results):
            message = f"a page shows results (loaders.open_results gives them) or a State, not a {type(shown).__name__}"
            raise TypeError(message)
        state = cls()
        state.show(shown)
        return state

    def load(self, paths: Sequence[str | Path], **hints: Any) -> None:
        """Load files and show their results.

        Raises
        ------
        LoadError
            As `loaders.open_results`; what was shown stays.
        """
        self.show(load_results(paths, **hints))

    def show(self, results: Results) -> None:
        """Show these results; choices that they do not allow go back to their defaults, all at once."""
        tree = results.tree
        names = list(tree.children)
        collectives = [name for name in names if name != POINT_TO_POINT] or names
        collective = self.collective
        if collective not in collectives:
            collective = max(collectives, key=lambda name: tree[name].sizes["method"], default=None)
        usual = rules_target({} if collective is None else tree[collective].attrs)
        with param.parameterized.batch_call_watchers(self):
            self.param.collective.objects = collectives
            fitting = self._fitting(tree, collective)
            if self.target == self.param.target.default:
                fitting["target"] = usual
            self.param.target.default = usual
            self.know(results)
            shown = {"results": tree, "results_id": results.digest, "collective": collective, **fitting}
            self.param.update(**shown, error="", notice="")

    def know(self, results: Results) -> None:
        """Have results among those of this session, from which campaign B is chosen."""
        others = [name for digest, name in self.loaded.items() if digest != results.digest]
        name = f"{results.title}, {results.digest[:6]}" if results.title in others else results.title
        self.loaded = {**self.loaded, results.digest: name}

    @param.depends("collective", watch=True)
    def fit(self) -> None:
        """Take back what the collective does not allow."""
        self.param.update(**self._fitting(self.results, self.collective))

    def _fitting(self, tree: xr.DataTree | None, collective: str | None) -> dict[str, Any]:
        """Values of the choices that depend on the collective, kept where it allows them."""
        cube = None if tree is None or collective is None else tree[collective].to_dataset()
        ppns = [None] if cube is None or "ppn" not in cube.dims else [None, *map(int, cube["ppn"].values)]
        self.param.ppn.objects = ppns
        pinned = self.pinned if cube is not None and self.pinned is not None and _measures(cube, self.pinned) else None
        return {
            "ppn": self.ppn if self.ppn in ppns else None,
            "across": self.across and len(ppns) > 1,
            "together": tuple(n for n in self.together if n in self.param.collective.objects and n != collective),
            "pinned": pinned,
            "exported": tuple(n for n in self.exported if n in self.param.collective.objects),
        }

    @property
    def depth(self) -> int | None:
        """Most levels of the quadtree; None without limit."""
        return self.max_depth if self.limit_depth else None

    def on_show(self, page: str) -> bool:
        """Whether this page is on the screen."""
        return self.page == page or not self.navigated

    def choice(self, name: str | None = None) -> Choice:
        """Which tree is asked for, or would be if this family were chosen."""
        name = name or self.family
        if name == QUADTREE:
            return Choice(QUADTREE, (("max_depth", self.depth), ("threshold", float(self.threshold))))
        return Choice.of(name, self.options.get(name, {}))

    def choose(self, choice: Choice) -> None:
        """Ask for this tree."""
        if choice.family == QUADTREE:
            depth = choice.options["max_depth"]
            most = self.param.max_depth.bounds[1]
            limits = {"limit_depth": False} if depth is None else {"limit_depth": True, "max_depth": min(depth, most)}
            self.param.update(family=QUADTREE, threshold=choice.options["threshold"], **limits)
        else:
            self.param.update(family=choice.family, options={**self.options, choice.family: choice.changed()})

    @param.depends(*DATA, *TREE, watch=True)
    def _follow(self) -> None:
        if self.view.ready(wanted := self.choice()):
            self.shown = None if self.deferred and self.view.refused(wanted) else wanted

    def settle(self, choice: Choice, decision: Grown, key: tuple[Any, ...]) -> None:
        """Show a tree that was grown of the measurements of this `data_key`, if it is still asked for."""
        if key != self.view.data_key:
            return
        self.view.hold(choice, decision)
        if choice == self.choice():
            self.shown = None
            self.shown = choice

    def ask(self, **choices: Any) -> None:
        """Choose, as soon as what follows from it is there: in a session somebody works it out first (`ahead`)."""
        if self.ahead is None:
            self.param.update(**choices)
        else:
            self.ahead(choices)

    def give(self, key: str, name: str) -> None:
        """Know a rules file (`dashboard.decisions.grown.given`) as something that can be chosen from now on.

        Of two of one name the later is called as browsers save it: ``mine (2).conf``.
        """
        kept = {known: title for known, title in self.rules.items() if known != key}
        path = PurePath(name)
        numbered = (path.with_stem(f"{path.stem} ({number})").name for number in range(2, len(kept) + 2))
        title = next(each for each in chain([name], numbered) if each not in kept.values())
        self.rules = dict([*kept.items(), (key, title)][-MOST_RULES_FILES:])
        self.options = {**self.options, RULES: {**self.options.get(RULES, {}), "file": key}}

    def selectable(self) -> set[str]:
        """Names that methods of any collective can be left out by."""
        cubes = [] if self.results is None else [node.to_dataset() for node in self.results.children.values()]
        return set().union(*map(selectable, cubes))

    def measures(self, cell: Sequence[int]) -> bool:
        """Whether a cell ``(comm_size, message_size)`` is among those of the collective."""
        cube = self.view.measured()
        return cube is not None and _measures(cube, cell)

    def weigh(self, workload: pd.DataFrame | Workload | None) -> None:
        """Weigh the sizes by the calls of a workload (`loaders.workload.read_workload`); None: all count the same."""
        if workload is None:
            self.workload = ""
            return
        known = workload if isinstance(workload, Workload) else Workload.of(workload)
        COMPUTED.put(("workload", known.digest), known)
        self._workloads = {known.digest: known}
        self.workload = known.digest

    def _workload(self, digest: str) -> Workload | None:
        return self._workloads.get(digest) or COMPUTED.get(("workload", digest))

    def knows_workload(self, digest: str) -> bool:
        """Whether a workload is loaded."""
        return self._workload(digest) is not None

    def to_query(self) -> dict[str, str]:
        """The view as names and values for an address; what is at its default is left out."""
        return address.to_query(self)

    def from_query(self, query: Mapping[str, Any]) -> list[str]:
        """Set the view to what an address tells; what it does not name goes to its default.

        Parameters
        ----------
        query
            As of `to_query`; further names are ignored.

        Returns
        -------
        list of str
            One sentence for each value that cannot be used. The others are used all the same.
        """
        return address.from_query(self, query)


#: What a page may be made over.
ResultsOrState = State | Results | xr.DataTree


def _measures(cube: xr.Dataset, cell: Sequence[int]) -> bool:
    return all(size in cube[name].values for name, size in zip(("comm_size", "message_size"), cell, strict=True))
