"""What a campaign measures and how: declared once for ``bench``, ``tune-check`` and the page *Measure*."""

from collections.abc import Mapping

from dashboard.domain import adaptive
from dashboard.domain.jobs import RANKS
from dashboard.domain.options import Option
from loaders.collectives import COLLECTIVES

#: Bytes of an element, by its type.
DATATYPES: Mapping[str, int] = {"uint8": 1, "int32": 4, "float32": 4, "float64": 8}
#: Operations of reductions: a sum, or that of the lowest rank, which does not commute.
SUM, FIRST = "sum", "first"
#: Providers of methods by name, and all of them.
LIBRARY, OWN, ORTHOGONAL, ALL = "library", "own", "orthogonal", "all"
#: Those over the library, each a module of `dashboard.benchmarks.providers`; the library itself is asked directly.
PROVIDERS = (OWN, ORTHOGONAL)
#: What a grid of sizes is called, and how one is written.
GRID = "GRID"
GRIDS = "2-16 (all), 1-1MiB:x4 (times 4), 2-64:+2 (steps), 8-1MiB:9 (log-spaced) or a list of these"


def _grid(name: str, title: str, text: str, default: str | None = None, unlimited: str = "") -> Option:
    return Option(name, title, text, default, "name", unlimited=unlimited, metavar=GRID)


#: What is measured.
WHAT: tuple[Option, ...] = (
    RANKS,
    Option(
        "collectives",
        "collectives",
        "Operations to measure, each with all sizes. For bcast, reduce, allreduce and scan a size is that of the "
        "vector, for the others that of each process's block (dissertation, chapter 4).",
        default=None,
        kind="names",
        choices=tuple(COLLECTIVES),
        unlimited="all that can be measured",
        flag="-c --collective",
    ),
    Option(
        "providers",
        "methods of",
        "Whose methods to measure: the library's own algorithms, forced; own ones, run over the library as "
        "schedules, also those that it lacks or cannot switch to; orthogonal grids of processes (Kühnemann et al.).",
        default=(LIBRARY,),
        kind="names",
        choices=(LIBRARY, *PROVIDERS, ALL),
        unlimited="the library's",
        flag="--provider",
    ),
    Option(
        "algorithms",
        "algorithms",
        "Measure only these; 'default' is the library's own decision; with parameters: k_ary:fan_out=4, "
        "linear:provider=own.",
        default=None,
        kind="names",
        unlimited="all",
    ),
    _grid("message_sizes", "message sizes", "Bytes.", "4-1MiB:x4"),
    _grid(
        "comm_sizes",
        "communicator sizes",
        "Processes; {ranks} stands for all that are started.",
        unlimited="powers of two up to the ranks",
    ),
    _grid(
        "ppn", "processes per node", "Processes per node of each communicator.", unlimited="as the launcher places them"
    ),
    _grid("segment_sizes", "segment sizes", "Bytes, 0 = none, of algorithms that cut messages.", "0,1KiB,8KiB,64KiB"),
    _grid("fan_outs", "fan-outs", "Numbers of children of trees, and of chains that a message is passed on in.", "4"),
    _grid("radixes", "radixes", "Of k-nomial trees: numbers of children, and one; 2 is the binomial tree.", "4"),
    _grid("max_requests", "messages at once", "Messages at once of own linear_sync.", unlimited="all of interest"),
    _grid(
        "first_segments",
        "first segments",
        "Bytes of the first message of the own synchronised gather.",
        unlimited="those of interest",
    ),
    Option(
        "components",
        "parts of the library",
        "Parts of Open MPI that answer calls by themselves, as methods beside the algorithms: han ('han @simple': "
        "that algorithm of its own alone), tuned, adapt, basic, sm, all or none. Across nodes HAN answers first.",
        default=None,
        kind="name",
        choices=("all", "none"),
        unlimited="all where ranks are on several nodes, else none",
        metavar="NAME[,NAME…]",
    ),
    Option(
        "grids",
        "grids",
        "Grids of orthogonal methods: all, 2 or 3 (dimensions), or such as 4x8,8x4.",
        default=None,
        kind="name",
        unlimited="2",
        metavar="WHICH",
    ),
    Option(
        "inner",
        "inside of grids",
        "Methods in each phase of a grid: own algorithms, library (its own calls), or library.NAME (forced).",
        default=None,
        kind="names",
        unlimited="the collective's own choice",
    ),
    Option(
        "groups",
        "algorithms by size",
        "Message sizes that only some algorithms are measured at, such as 64KiB-1MiB=pipeline,chain",
        (),
        "words",
        flag="--group",
        metavar="LOW-HIGH=NAME[,NAME…]",
    ),
    Option(
        "datatype",
        "elements of reductions",
        "Datatypes of reductions, each measured by itself. Sizes that are no multiple of a datatype's are left out, "
        "and counted.",
        ("float32",),
        "names",
        choices=tuple(DATATYPES),
        unlimited="float32",
    ),
    Option(
        "operation",
        "operation of reductions",
        "Operation of reductions: a sum, or the operand of the lowest rank, which does not commute, so that some "
        "algorithms cannot serve it.",
        SUM,
        "choice",
        choices=(SUM, FIRST),
        titles=("a sum", "the first operand"),
    ),
    Option(
        "memory",
        "most bytes of buffers",
        "Most memory for the buffers of one process; cells that need more are left out, and counted.",
        "256MiB",
        "name",
        metavar="SIZE",
    ),
    Option(
        "launches",
        "launches of the ranks",
        "How often everything is measured, each time by ranks started anew: launches differ by more than "
        "repetitions do (Hunold and Carpen-Amarie, IEEE TPDS 27, 2016).",
        1,
        "int",
        low=1,
        high=100,
    ),
    Option(
        "launch_per_method",
        "a launch for each method",
        "Start ranks for each method, which their environment forces, as where the library cannot switch.",
        default=False,
        kind="flag",
    ),
    Option("seed", "seed", "Seed of the order in which methods take turns.", 1, "int", low=1),
    Option(
        "graphs",
        "record who sends to whom",
        "Record which process sends how much to which, by one untimed call of each method; it shows that the "
        "algorithm asked for has really run.",
        default=True,
        kind="flag",
    ),
    Option(
        "unchecked",
        "without safety check",
        "Do not call the methods in every way first, as after 'colltune check-methods'.",
        default=False,
        kind="flag",
    ),
    *adaptive.OPTIONS,
)
#: How it is measured, as `dashboard.benchmarks.campaigns.protocol.Protocol` has it.
HOW: tuple[Option, ...] = (
    Option(
        "protocol",
        "protocol",
        "Every repetition starts at a common time and lasts until the last process is done (SKaMPI 5), or a loop with "
        "a barrier is timed, less the barrier (OCC; dissertation, chapter 6). Times of both are not comparable.",
        "skampi",
        "choice",
        choices=("skampi", "occ"),
        titles=("SKaMPI-like: common start, latest end", "OCC-like: loop with barrier, less the barrier"),
    ),
    Option(
        "repetitions",
        "repetitions, least-most",
        "Least and most repetitions of each point; between both it ends once the standard error is reached, as "
        "SKaMPI does.",
        "9-60",
        "name",
        metavar="MIN-MAX",
    ),
    Option(
        "relative_error",
        "until relative standard error",
        "Repeat until the standard error of the mean, without the lowest and highest quarter, is this share of it. "
        "Half of that takes four times as many repetitions.",
        0.05,
        "float",
        low=0.0001,
        high=0.9999,
        log=True,
    ),
    Option(
        "rounds",
        "turns of the methods",
        "How often the methods of a cell take turns, at least: what slows the machine for a while then affects them "
        "all.",
        3,
        "int",
        low=1,
        high=1000,
    ),
    Option(
        "iterations",
        "operations in a loop of occ",
        "Calls in one timed loop of occ: more hide the clock's resolution, but overlap with one another "
        "(dissertation, chapter 6).",
        10,
        "int",
        low=1,
        high=10_000,
    ),
    Option(
        "point_seconds",
        "longest time of a point [s]",
        "Most seconds for the repetitions of one point; it may end with fewer than the least, which the results say.",
        5.0,
        "float",
        low=0.001,
        high=86_400.0,
        log=True,
    ),
    Option(
        "buffers",
        "buffers",
        "The same memory each time (reuse), which then lies in the caches, or more than they hold (rotate), as in an "
        "application that computes in between.",
        "reuse",
        "choice",
        choices=("reuse", "rotate"),
        titles=("kept in the caches", "rotated beyond them"),
    ),
    Option(
        "roots",
        "root",
        "Root of rooted collectives: the first process, or every one in turn; applications mostly use the first.",
        "first",
        "choice",
        choices=("first", "rotate"),
        titles=("the first process", "every process in turn"),
    ),
    Option(
        "counts",
        "blocks of …v collectives",
        "Blocks of allgatherv, alltoallv and the like: all equal, or in proportion to the rank + 1 (skewed); the "
        "message size is their mean.",
        "equal",
        "choice",
        choices=("equal", "skewed"),
        titles=("all equal", "in proportion to the rank"),
    ),
)
OPTIONS = (*WHAT, *HOW)
#: As one looks for them by name.
BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}
