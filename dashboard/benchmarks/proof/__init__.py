"""Whether the installed MPI library does what a rules file asks: run it, and look at who sends how much to whom."""

__all__ = ["prove", "regions", "report", "verdict"]
