"""Rules files of MPI libraries: read as the libraries read them, and what is wrong with them."""

from dashboard.export.rules.fault import TRANSLATED, Fault, RulesError, RulesFile

__all__ = ["TRANSLATED", "Fault", "RulesError", "RulesFile", "given", "lint", "mpich_parameters", "over"]
