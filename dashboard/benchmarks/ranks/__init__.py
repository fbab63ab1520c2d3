"""What runs under mpiexec: measuring, verifying, and what a measurement was made in."""

__all__ = ["parameters", "world"]
