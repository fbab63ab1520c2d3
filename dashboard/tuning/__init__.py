"""Tuning from nothing to a bundle: stages kept in a folder, each done when what it depends on has changed.

It stands above the session, whose one preparation of measurements it decides by, and draws nothing itself: who may
gives it what writes the report.
"""

from dashboard.tuning.again import again
from dashboard.tuning.asked import Asked
from dashboard.tuning.beside import beside
from dashboard.tuning.folder import Folder
from dashboard.tuning.order import EXITS, STAGES, answer, lines_of, tune
from dashboard.tuning.stages import Work

__all__ = [
    "EXITS",
    "STAGES",
    "Asked",
    "Folder",
    "Work",
    "again",
    "answer",
    "beside",
    "bundled",
    "lines_of",
    "look",
    "measure",
    "tune",
]
