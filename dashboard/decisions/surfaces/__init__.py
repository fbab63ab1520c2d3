"""Times between the measured sizes, how sure they are, and the trees that are grown over them."""

from dashboard.decisions.surfaces.folding import folding_of
from dashboard.decisions.surfaces.surface import PREDICTORS, Surfaces

__all__ = ["PREDICTORS", "Surfaces", "along", "dense", "family", "folding_of", "order", "sureness"]
