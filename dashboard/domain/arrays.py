"""Arrays by what is in them, as hints name them."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
