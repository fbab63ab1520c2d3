"""The collective selection of MPICH."""
