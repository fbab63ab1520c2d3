"""What the maps of one collective share, and the layers that they are drawn of."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dashboard.decisions import DecisionFunction
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.plots import decision_map as drawn
from dashboard.plots import penalty, ties
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.leaves import leaf_segments
from dashboard.plots.live import Layer
from dashboard.plots.raster import Raster

#: The maps of a tree by name, in the order in which they are shown.
TITLES = {"exact": "Exact decision map", "tree": "Decision of the tree", "penalty": "Penalty of the tree"}


@dataclass(frozen=True, eq=False)
class MapScene:
    """What the maps of one collective share: it changes with the data, not with the tree."""

    #: Measurements of one number of processes per node.
    cube: xr.Dataset
    #: Its decision map, or anything of its sizes where no more than these are asked for.
    dmap: xr.Dataset
    key: MethodKey
    collective: str

    @cached_property
    def axes(self) -> Axes:
        """Axes of all its maps."""
        return Axes.of(self.dmap)

    @cached_property
    def raster(self) -> Raster:
        """Pixels of all its maps."""
        return Raster.of(self.axes)

    @property
    def given(self) -> dict[str, Any]:
        """What trees may need beside the sizes."""
        ppn = self.dmap.attrs.get("ppn")
        return {"collective": self.collective} | ({} if ppn is None else {"ppn": int(ppn)})

    def segments(self, tree: DecisionFunction | None, most: int) -> FloatArray:
        """Lines between the regions of a tree, as `leaf_segments` gives them.

        Parameters
        ----------
        tree
            The decision function; None: no lines.
        most
            Leaves that it may have: lines between more would cover the colours.
        """
        if tree is None or tree.leaves > most:
            return drawn.NO_LINES
        return leaf_segments(tree, self.axes, self.given)

    def method_layers(
        self,
        name: str,
        methods: NDArray[np.integer[Any]],
        segments: FloatArray = drawn.NO_LINES,
        *,
        raster: Raster | None = None,
        tied: BoolArray | None = None,
        estimated: BoolArray | None = None,
        untrusted: BoolArray | None = None,
        sureness: FloatArray | None = None,
    ) -> dict[str, Layer]:
        """Layers of a map of methods, as `dashboard.plots.maps.stacked` takes them.

        Parameters
        ----------
        name
            Of the image, and what the other layers' names begin with.
        methods
            Method indices, shape (comm_size, message_size); -1 stays blank.
        segments
            As `segments` gives them: no letter lies below one.
        raster
            Its pixels, if they are not all.
        tied, estimated, untrusted
            Cells to be hatched, shape (comm_size, message_size); None: no such layer.
        sureness
            Probability that each cell's method is the fastest, by which it is faded, of the same shape; None: none is.
        """
        layers = {
            f"{name} ground": drawn.unmeasured_ground(self.axes),
            name: drawn.code_image(methods, raster or self.raster, self.key.colors),
        }
        if sureness is not None:
            layers |= {f"{name} {part}": layer for part, layer in ties.veils(sureness, self.axes).items()}
        if tied is not None:
            layers[f"{name} ties"] = ties.tie_hatch(tied, self.axes)
        if estimated is not None:
            layers[f"{name} estimates"] = ties.tie_hatch(estimated, self.axes, "dot")
        if untrusted is not None:
            # So wide and light that the codes on them are read.
            layers[f"{name} untrusted"] = ties.tie_hatch(untrusted, self.axes, "diagonal_cross", scale=16, alpha=0.3)
        layers[f"{name} regions"] = drawn.region_outline(segments)
        if drawn.has_letters(self.axes):
            layers[f"{name} text"] = drawn.cell_texts(
                drawn.codes_in_runs(methods, self.axes, self.key, segments), self.axes
            )
        return layers

    def penalty_layers(self, penalties: xr.Dataset, raster: Raster | None = None) -> dict[str, Layer]:
        """Layers of the penalty map, as `method_layers`; dotted where the chosen method was not measured.

        Parameters
        ----------
        penalties
            As `dashboard.decisions.judged.penalty` gives them.
        raster
            As for `method_layers`.
        """
        percent = penalties["penalty"].values
        layers = {
            "penalty ground": drawn.unmeasured_ground(self.axes, ties.tie_boxes(np.isnan(percent), self.axes)),
            "penalty": penalty.penalty_image(percent, raster or self.raster),
            "penalty counted": ties.tie_hatch(penalties["unmeasured"].values, self.axes, "dot"),
        }
        if drawn.has_letters(self.axes):
            layers["penalty text"] = drawn.cell_texts(penalty.figures(percent, self.axes), self.axes)
        return layers
