"""Collectives over grids: ``colltune orthogonal``."""
