"""Names of the communication models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

ModelName = Literal["hockney", "loggp", "plogp"]
MODEL_NAMES: tuple[ModelName, ...] = ("hockney", "loggp", "plogp")
MODEL_TITLES: Mapping[ModelName, str] = {"hockney": "Hockney", "loggp": "LogP / LogGP", "plogp": "PLogP"}
