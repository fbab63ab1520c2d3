"""How jobs are started, watched over and ended: on this machine, by a template, on Slurm."""
