"""Parallel communication models: what a collective costs, by its formula, and how large its segments should be."""

from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.errors import ModelError, ParameterError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel
from dashboard.models.presets import MACHINES, machine
from dashboard.models.registry import ALL, MODELS, model_of, models_of

__all__ = [
    "ALL",
    "MACHINES",
    "MODELS",
    "MODEL_NAMES",
    "MODEL_TITLES",
    "CollectiveModel",
    "Hockney",
    "LogGP",
    "ModelError",
    "ModelName",
    "PLogP",
    "ParameterError",
    "PointToPointModel",
    "aliases",
    "applications",
    "collectives",
    "compare",
    "completing",
    "deciding",
    "errata",
    "errors",
    "family",
    "fit",
    "fitted_runtime",
    "formula",
    "grid_simulation",
    "grids",
    "machine",
    "model_of",
    "models_of",
    "observations",
    "optimal_map",
    "p2p",
    "parameter_set",
    "parameter_text",
    "pingpong",
    "placement",
    "predicting",
    "programs",
    "published",
    "runtime_functions",
    "segments",
    "simulator",
    "traced",
    "undetermined",
]
