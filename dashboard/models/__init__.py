"""Parallel communication models: what a collective costs, by its formula, and how large its segments should be."""

from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.errors import ModelError, NotApplicableError, ParameterError, SizeError, UnitError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel
from dashboard.models.presets import MACHINES, Machine, machine
from dashboard.models.registry import ALL, MODELS, model_of, models_of

__all__ = [
    "ALL",
    "MACHINES",
    "MODELS",
    "MODEL_NAMES",
    "MODEL_TITLES",
    "CollectiveModel",
    "Formula",
    "Hockney",
    "LogGP",
    "Machine",
    "ModelError",
    "ModelName",
    "NotApplicableError",
    "PLogP",
    "ParameterError",
    "PointToPointModel",
    "SizeError",
    "UnitError",
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
]
