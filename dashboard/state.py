"""What the user chose, and what follows from it: no widgets, no drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import param
import xarray as xr

from dashboard import decisions
from dashboard.registry import COMPUTED, Results, load_results

PAGES = ("Decisions", "Data")
#: Not a decision between algorithms: measured beside the collectives to know the network.
POINT_TO_POINT = "pt2pt"


class State(param.Parameterized):
    """The choices of one session.

    Methods that compute are pure: they depend on the choices alone, give None while there is nothing to
    decide on, and may be called from any thread. What they give is shared with other sessions; do not change it.
    """

    results = param.Parameter(default=None, doc="Loaded results (`xarray.DataTree`), replaced as a whole; None: none.")
    results_id = param.String(default="", doc="Digest of the results; empty: none.")
    page = param.Selector(default=PAGES[0], objects=list(PAGES), doc="Page on show.")
    collective = param.Selector(
        default=None, objects=[], allow_None=True, check_on_set=True, doc="Collective decided on."
    )
    ppn = param.Selector(default=None, objects=[None], doc="Processes per node; None: those measured most.")
    max_depth = param.Integer(default=3, bounds=(0, 12), doc="Most levels of the quadtree below its root.")
    limit_depth = param.Boolean(default=True, doc="Whether `max_depth` holds; without it the threshold alone does.")
    threshold = param.Number(default=1.0, bounds=(0.0, 1.0), doc="Accuracy threshold, a fraction; 1 = exact.")
    tolerance = param.Number(default=0.0, bounds=(0.0, 100.0), doc="Percent within which methods count as equal.")
    pinned = param.Tuple(default=None, length=2, allow_None=True, doc="Pinned cell (comm_size, message_size in bytes).")
    error = param.String(default="", doc="Last error to show; empty: none.")
    notice = param.String(default="", doc="Remark on what was asked for, such as a bad address; empty: none.")
    busy = param.String(default="", doc="What is under way, such as loading; empty: nothing.")
    progress = param.Number(default=None, bounds=(0.0, 1.0), allow_None=True, doc="How far that is; None: unknown.")

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
        with param.parameterized.batch_call_watchers(self):
            self.param.collective.objects = collectives
            fitting = self._fitting(tree, collective)
            self.param.update(results=tree, results_id=results.digest, collective=collective, error="", **fitting)

    @param.depends("collective", watch=True)
    def _fit(self) -> None:
        self.param.update(**self._fitting(self.results, self.collective))

    def _fitting(self, tree: xr.DataTree | None, collective: str | None) -> dict[str, Any]:
        """Values of the choices that depend on the collective, kept where it allows them."""
        cube = None if tree is None or collective is None else tree[collective].to_dataset()
        ppns = [None] if cube is None or "ppn" not in cube.dims else [None, *map(int, cube["ppn"].values)]
        self.param.ppn.objects = ppns
        pinned = self.pinned if cube is not None and self.pinned is not None and _measures(cube, self.pinned) else None
        return {"ppn": self.ppn if self.ppn in ppns else None, "pinned": pinned}

    @property
    def depth(self) -> int | None:
        """Most levels of the quadtree; None without limit."""
        return self.max_depth if self.limit_depth else None

    def cube(self) -> xr.Dataset | None:
        """Measurements of the collective, as `loaders` lays them out; None without any."""
        if self.results is None or self.collective not in self.results.children:
            return None
        return self._once("cube", self.results[self.collective].to_dataset)

    def decision_map(self) -> xr.Dataset | None:
        """Exact decision map (`decisions.decision_map`); None without results."""
        cube, ppn, tolerance = self.cube(), self._ppn(), float(self.tolerance)
        if cube is None:
            return None
        return self._once("map", lambda: decisions.decision_map(cube, ppn=ppn, tolerance=tolerance), ppn, tolerance)

    def decision(self) -> decisions.DecisionFunction | None:
        """The quadtree of the chosen depth and threshold; None without results."""
        dmap, depth, threshold = self.decision_map(), self.depth, float(self.threshold)
        if dmap is None:
            return None
        builder = self._once("builder", lambda: decisions.QuadtreeBuilder(dmap), self._ppn())
        return self._once("decision", lambda: builder.build(max_depth=depth, threshold=threshold), *self._tree_key())

    def penalty(self) -> xr.Dataset | None:
        """Penalty of `decision` in each cell (`decisions.penalty`, percent); None without results."""
        cube, decision, ppn, dmap = self.cube(), self.decision(), self._ppn(), self.decision_map()
        if cube is None or decision is None:
            return None
        return self._once("penalty", lambda: decisions.penalty(cube, decision, ppn=ppn, dmap=dmap), *self._tree_key())

    def statistics(self) -> dict[str, Any] | None:
        """Depth, leaves, nodes and penalty of `decision`, as the command prints them; None without results."""
        cube, decision, ppn, penalties = self.cube(), self.decision(), self._ppn(), self.penalty()
        if cube is None or decision is None:
            return None
        return self._once(
            "statistics", lambda: decisions.statistics(cube, decision, ppn=ppn, penalties=penalties), *self._tree_key()
        )

    def sweep_depth(self) -> Any:
        """Statistics over the depths at the chosen threshold (`decisions.sweep_depth`); None without results."""
        cube, ppn, threshold = self.cube(), self._ppn(), float(self.threshold)
        if cube is None:
            return None
        return self._once("depths", lambda: decisions.sweep_depth(cube, ppn=ppn, threshold=threshold), ppn, threshold)

    def sweep_threshold(self) -> Any:
        """Statistics over the thresholds at the chosen depth (`decisions.sweep_threshold`); None without results."""
        cube, ppn, depth = self.cube(), self._ppn(), self.depth
        if cube is None:
            return None
        return self._once("thresholds", lambda: decisions.sweep_threshold(cube, ppn=ppn, max_depth=depth), ppn, depth)

    def sweeps(self) -> tuple[Any, Any] | None:
        """Both sweeps, over depth and over threshold; None without results."""
        return None if self.cube() is None else (self.sweep_depth(), self.sweep_threshold())

    def _ppn(self) -> int | None:
        cube = self.cube()
        return self.ppn if cube is not None and "ppn" in cube.dims and self.ppn in cube["ppn"].values else None

    def _tree_key(self) -> tuple[Any, ...]:
        return self._ppn(), float(self.tolerance), self.depth, float(self.threshold)

    def _once(self, what: str, make: Callable[[], Any], *choices: Any) -> Any:
        return COMPUTED.once((self.results_id, self.collective, what, *choices), make)

    @staticmethod
    def linked() -> tuple[str, ...]:
        """Names of the params that `to_query` tells."""
        return tuple(_PARAMETERS.values())

    def to_query(self) -> dict[str, str]:
        """The view as names and values for an address; what is at its default is left out."""
        told = {
            "page": self.page,
            "collective": self.collective,
            "ppn": self.ppn,
            "depth": self.max_depth,
            "limit": self.limit_depth,
            "threshold": self.threshold,
            "tolerance": self.tolerance,
            "pinned": self.pinned,
        }
        defaults = {name: self.param[_PARAMETERS[name]].default for name in told}
        return {name: _WRITE.get(name, str)(value) for name, value in told.items() if value != defaults[name]}

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
        refused: list[str] = []
        with param.parameterized.batch_call_watchers(self):
            for name, parameter in _PARAMETERS.items():
                if name in query:
                    try:
                        self._set(name, str(query[name]))
                    except ValueError:
                        asked = str(query[name])[:40]
                        refused.append(f"The address asks for {name} = {asked!r}; {self._allowed(name)}.")
                elif name != "collective":
                    setattr(self, parameter, self.param[parameter].default)
        return refused

    def _set(self, name: str, text: str) -> None:
        value = _READ[name](text)
        if name == "pinned":
            cube = self.cube()
            if cube is None or not _measures(cube, value):
                raise ValueError(text)
        setattr(self, _PARAMETERS[name], value)
        if name == "collective":
            # What watches waits for the end of the batch; the values that follow must know the collective now.
            self._fit()

    def _allowed(self, name: str) -> str:
        parameter = self.param[_PARAMETERS[name]]
        if isinstance(parameter, param.Selector):
            names = [str(each) for each in parameter.objects if each is not None]
            return f"possible are {', '.join(names)}" if names else "there is no choice with these results"
        if isinstance(parameter, param.Number):
            return f"possible are {parameter.bounds[0]} to {parameter.bounds[1]}"
        if isinstance(parameter, param.Boolean):
            return "possible are true and false"
        return "these results have no such cell"


def _measures(cube: xr.Dataset, cell: Sequence[int]) -> bool:
    return all(size in cube[name].values for name, size in zip(("comm_size", "message_size"), cell, strict=True))


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


def _cell(text: str) -> tuple[int, int]:
    comm_size, message_size = text.split(",")
    return int(comm_size), int(message_size)


#: Names in an address; a value is set after those that it depends on.
_PARAMETERS = {
    "page": "page",
    "collective": "collective",
    "ppn": "ppn",
    "depth": "max_depth",
    "limit": "limit_depth",
    "threshold": "threshold",
    "tolerance": "tolerance",
    "pinned": "pinned",
}
_READ: dict[str, Callable[[str], Any]] = {
    "page": str,
    "collective": str,
    "ppn": int,
    "depth": int,
    "limit": _truth,
    "threshold": _fraction,
    "tolerance": _fraction,
    "pinned": _cell,
}
_WRITE: dict[str, Callable[[Any], str]] = {
    "limit": lambda value: str(value).lower(),
    "threshold": lambda value: f"{value:.6g}",
    "tolerance": lambda value: f"{value:.6g}",
    "pinned": lambda value: ",".join(map(str, value)),
}
