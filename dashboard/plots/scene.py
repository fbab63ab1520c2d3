"""What the maps of one collective share, and the layers that they are drawn of."""

from dataclasses import dataclass
from typing import Any

import holoviews as hv
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dashboard.decisions import DecisionFunction
from dashboard.plots import decision_map as drawn
from dashboard.plots import penalty, ties
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.leaves import leaf_segments
from dashboard.plots.raster import Raster

#: The maps of a tree by name, in the order in which they are shown.
TITLES = {"exact": "Exact decision map", "tree": "Decision of the tree", "penalty": "Penalty of the tree"}


@dataclass(frozen=True, eq=False)
class MapScene:
    """What the maps of one collective share: it changes with the data, not with the tree.

    Attributes
    ----------
    cube
        Measurements of one number of processes per node.
    axes, raster, key
        As the plots need them.
    """

    cube: xr.Dataset
    dmap: xr.Dataset
    axes: Axes
    raster: Raster
    key: MethodKey
    collective: str

    @property
    def given(self) -> dict[str, Any]:
        """What trees may need beside the sizes."""
        ppn = self.dmap.attrs.get("ppn")
        return {"collective": self.collective} | ({} if ppn is None else {"ppn": int(ppn)})

    def segments(self, tree: DecisionFunction | None, most: int) -> NDArray[np.float64]:
        """Lines between the regions of a tree, as `leaf_segments` gives them.

        Parameters
        ----------
        tree
            The decision function; None: no lines.
        most
            Leaves that it may have: lines between more would cover the colours.
        """
        if tree is None or tree.leaves > most:
            return np.empty((0, 4))
        return leaf_segments(tree, self.axes, self.given)

    def method_layers(
        self,
        name: str,
        methods: NDArray[np.integer[Any]],
        segments: NDArray[np.float64],
        *,
        tied: NDArray[np.bool_] | None = None,
        estimated: NDArray[np.bool_] | None = None,
        untrusted: NDArray[np.bool_] | None = None,
        sureness: NDArray[np.float64] | None = None,
    ) -> dict[str, hv.Element]:
        """Layers of a map of methods, as `dashboard.plots.maps.stacked` takes them.

        Parameters
        ----------
        name
            Of the image, and what the other layers' names begin with.
        methods
            Method indices, shape (comm_size, message_size); -1 stays blank.
        segments
            As `segments` gives them.
        tied, estimated, untrusted
            Cells to be hatched, shape (comm_size, message_size); None: no such layer.
        sureness
            Probability that each cell's method is the fastest, by which it is faded, of the same shape; None: none is.
        """
        layers: dict[str, hv.Element] = {
            f"{name} ground": drawn.unmeasured_ground(self.axes),
            name: drawn.method_image(methods, self.raster, self.key),
        }
        if sureness is not None:
            layers |= {f"{name} {part}": layer for part, layer in ties.veils(sureness, self.axes).items()}
        if tied is not None:
            layers[f"{name} ties"] = ties.tie_hatch(tied, self.axes)
        if estimated is not None:
            layers[f"{name} estimates"] = ties.tie_hatch(estimated, self.axes, "dot")
        if untrusted is not None:
            layers[f"{name} untrusted"] = ties.untrusted_hatch(untrusted, self.axes)
        layers[f"{name} regions"] = drawn.region_outline(segments)
        if drawn.has_letters(self.axes):
            layers[f"{name} text"] = drawn.cell_texts(drawn.letter_columns(methods, self.axes, self.key, segments))
        return layers

    def penalty_layers(self, penalties: xr.Dataset) -> dict[str, hv.Element]:
        """Layers of the penalty map, as `method_layers`; dotted where the chosen method was not measured.

        Parameters
        ----------
        penalties
            As `dashboard.decisions.judged.penalty` gives them.
        """
        percent = penalties["penalty"].values
        layers: dict[str, hv.Element] = {
            "penalty ground": drawn.unmeasured_ground(self.axes, ties.tie_boxes(np.isnan(percent), self.axes)),
            "penalty": penalty.penalty_image(percent, self.raster),
            "penalty counted": ties.tie_hatch(penalties["unmeasured"].values, self.axes, "dot"),
        }
        if drawn.has_letters(self.axes):
            layers["penalty text"] = drawn.cell_texts(penalty.figure_columns(percent, self.axes))
        return layers
