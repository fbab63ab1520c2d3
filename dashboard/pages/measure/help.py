"""Help beside the fields of the page *Measure*, by the names of the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_GRID = (
    "LOW-HIGH:xF multiplies by F, :+S steps by S, :N takes N log-spaced; commas join: 2-16, 1-1MiB:x4, 2-64:+2, 8,64"
)
#: What is measured and how.
WHAT = {
    "collectives": "Operations to measure, each with all sizes. For bcast, reduce, allreduce and scan a size is the "
    "vector's, for the others that of each process's block (dissertation, chapter 4).",
    "algorithms": "The library's own names; none chosen: all that it has, and its own decision. Each is forced for its "
    "measurements by the library's parameters.",
    "providers": "The library's own algorithms, forced; and own ones, run over it as schedules, so that those that it "
    "lacks or cannot switch are measured too. None chosen: the library's.",
    "message_sizes": f"Bytes. {_GRID}",
    "comm_sizes": f"Processes; {{ranks}} stands for all that are launched. {_GRID}",
    "protocol": "Every repetition starts at a common time and lasts until the last process is done (SKaMPI 5), or a "
    "loop with a barrier is timed, less the barrier (OCC; dissertation, chapter 6). Times of both are not comparable.",
    "repetitions": "How often a point is measured at least and at most, such as 9-60. Between both it ends once the "
    "standard error beside is reached, as SKaMPI does.",
    "relative_error": "Standard error of the mean, without the lowest and highest quarter, at which a point is exact "
    "enough, in percent of the mean. Less takes longer: half of it four times as many repetitions.",
    "segment_sizes": f"Bytes, 0 = none; only for algorithms that cut messages. {_GRID}",
    "fan_outs": f"Numbers of chains in which a message is passed on; only for algorithms with chains. {_GRID}",
    "radixes": f"Numbers of children, and one, in k-nomial trees; 2 is the binomial tree. {_GRID}",
    "components": "Parts of Open MPI that answer calls by themselves (han, tuned, adapt, basic, sm), as methods beside "
    "the algorithms. Across nodes HAN answers first; an export for several nodes then says which part does.",
    "ppns": f"Of each communicator; empty: as the launcher places them. {_GRID}",
    "rounds": "The methods of a cell take turns so often, at least. What slows the machine for a while then hits all "
    "of them, not one.",
    "launches": "Everything is measured so often, each time by ranks started anew. Launches differ by more than "
    "repetitions do (Hunold and Carpen-Amarie, IEEE TPDS 27, 2016).",
    "iterations": "Operations in one timed loop of the OCC-like protocol. More of them hide the clock's resolution, "
    "but overlap with one another (dissertation, chapter 6).",
    "point_seconds": "Longest time for the repetitions of one point, in seconds. It may end with fewer repetitions "
    "than the least, which the results tell.",
    "memory": "Cells whose buffers would be larger are left out, and counted. Sizes as 256MiB, of one process.",
    "buffers": "Kept: the same memory each time, which then lies in the caches. Rotated: more than they hold, as in an "
    "application that computes in between.",
    "roots": "Root of rooted collectives: the first process always, or another one in each repetition. Applications "
    "mostly use the first.",
    "counts": "Blocks of allgatherv and alltoallv: all equal, or in proportion to the rank + 1. The message size is "
    "their mean.",
    "operation": "A sum, or an operation that does not commute (the operand of the lowest rank stays), which some "
    "algorithms cannot serve.",
    "datatype": "Elements of reductions, which add them up; with several, each has points of its own. Sizes that hold "
    "no whole number of them are left out, and counted.",
    "graphs": "Keep which process sent how many bytes to which, by one untimed call of each method. It shows that the "
    "algorithm asked for has really run.",
}
#: Where it runs.
WHERE = {
    "ranks": "Processes that are launched; communicators are cut from them. More than there are cores share these, and "
    "times then say little about a larger machine.",
    "limit": "Of the job, which is ended then: 90 s, 30 min, 2 h, 1 d or 1:30:00. Empty: the estimate's, and what is "
    "missing is measured when it is resumed.",
    "nodes": "Nodes that the job asks Slurm for (--nodes). Ranks are nodes times tasks per node.",
    "tasks_per_node": "Processes on each node (--ntasks-per-node). The settings may take fewer of them.",
    "partition": "Slurm's queue (--partition). Listed are those that the cluster names.",
    "account": "Whom the job is booked on (--account). Empty: the site's default.",
    "qos": "Slurm's quality of service (--qos). Empty: the site's default.",
    "constraint": "Features that nodes must have (--constraint). One kind of node gives comparable times.",
    "modules": "Loaded in the job before anything else, with blanks between. They must bring the MPI that is measured.",
    "start": "What launches the ranks within the job. srun and mpiexec place them by rules of their own.",
    "start_options": "Further options of it, each -o, --option or --option=value. Binding processes to cores makes "
    "times repeatable.",
    "environment": "Variables of the job, as NAME=value with blanks between. They are kept with the results.",
    "extra": "Further options of sbatch, such as --exclusive, with blanks between. Nodes of one's own give quieter "
    "times.",
    "array": "One job of an array for each communicator size, so many at once. 0: one job for all.",
}


def describe(fields: Mapping[str, Any], help_of: Mapping[str, str]) -> None:
    """Put its help beside each field.

    Raises
    ------
    KeyError
        A field has none.
    """
    for name, field in fields.items():
        field.description = help_of[name]
