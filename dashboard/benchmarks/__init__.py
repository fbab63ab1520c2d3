"""Campaigns: which methods a library offers, what is measured in which order, how it is launched and resumed.

The worker alone runs under mpiexec and imports mpi4py; everything else plans, launches and watches.
"""

__all__ = [
    "adaptive",
    "allowed",
    "applications",
    "campaigns",
    "errors",
    "launchers",
    "libraries",
    "method_check",
    "proof",
    "providers",
    "ranks",
    "safety",
    "tracing",
    "tune_check",
]
