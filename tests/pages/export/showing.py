"""What the maps of the page show, and rules for it to check."""

from typing import Any

import numpy as np

RULES = """\
1 # collectives
7 # bcast
1 # communicator sizes
0
2
0 6 0 0 # binomial
4096 3 0 8192 # pipeline
"""


def image(maps: Any, name: str) -> Any:
    (plot,) = maps.live._plots[name]
    return plot.handles["source"].data["image"][0]


def painted(maps: Any, values: np.ndarray) -> np.ndarray:
    return maps.scene.raster.paint(np.where(values < 0, 255, values))
