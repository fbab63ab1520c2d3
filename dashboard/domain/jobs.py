"""Where ranks run: declared once for the commands and the pages that start jobs."""

from dashboard.domain.options import Option

#: Start commands within a job of Slurm.
STARTS = ("mpiexec", "mpirun", "srun")

RANKS = Option(
    "ranks",
    "ranks",
    "Processes to start; communicators are subsets of them. Where there are more than cores, times say little about "
    "a larger machine.",
    default=None,
    kind="int",
    low=2,
    high=100_000,
    unlimited="those of the allocation, else one for each core",
)
#: What is asked of Slurm, by the fields of `dashboard.benchmarks.launchers.slurm.Request`.
SLURM: tuple[Option, ...] = (
    Option(
        "nodes",
        "nodes",
        "Nodes that the job asks Slurm for.",
        default=None,
        kind="int",
        low=1,
        high=10_000,
        unlimited="as many as the ranks need",
        flag="--nodes -N",
    ),
    Option(
        "tasks_per_node",
        "tasks per node",
        "Most ranks on each node.",
        default=None,
        kind="int",
        low=1,
        high=1024,
        unlimited="as Slurm places them",
    ),
    Option("partition", "partition", "Slurm's queue; empty: the site's default.", "", "name", metavar="NAME"),
    Option("account", "account", "Account to charge; empty: the site's default.", "", "name", metavar="NAME"),
    Option(
        "qos",
        "quality of service",
        "Slurm's quality of service; empty: the site's default.",
        "",
        "name",
        metavar="NAME",
    ),
    Option(
        "constraint",
        "constraint",
        "Features that nodes must have; one kind of node gives comparable times.",
        "",
        "name",
        metavar="NAME",
    ),
    Option(
        "modules",
        "modules to load",
        "Modules that the job loads before anything else, such as openmpi/5; they must bring the MPI that is measured",
        (),
        "words",
        flag="--module",
        metavar="NAME",
    ),
    Option(
        "environment",
        "environment",
        "Variables of the job, such as UCX_TLS=rc or OMPI_MCA_btl=self,tcp; they are kept with the results",
        (),
        "words",
        flag="--env",
        metavar="NAME=VALUE",
    ),
    Option(
        "start",
        "started by",
        "What launches the ranks within the job; srun and mpiexec place them by rules of their own.",
        STARTS[0],
        "choice",
        choices=STARTS,
    ),
    Option(
        "start_options",
        "its options",
        "An option of what launches the ranks, such as --bind-to=core or --mpi=pmix; binding makes times repeatable",
        (),
        "words",
        flag="--start-option",
        metavar="OPTION",
    ),
    Option(
        "array",
        "jobs at once",
        "Run each communicator size as a job of an array, this many at once.",
        0,
        "int",
        low=0,
        high=1000,
    ),
    Option(
        "extra",
        "further lines of sbatch",
        "A further line of sbatch, such as --exclusive: nodes of one's own give quieter times",
        (),
        "words",
        flag="--sbatch",
        metavar="LINE",
    ),
)
#: Those that no address says: what a job would be run with, or what Slurm would be handed word by word.
WITHHELD = ("environment", "start_options", "extra")


def assignments(words: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Variables by name, of words such as ``UCX_TLS=rc``.

    Raises
    ------
    ValueError
        A word assigns nothing, or a variable is given twice.
    """
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"environment {word!r}: right would be NAME=value")
        if name in given:
            raise ValueError(f"environment {word!r}: {name} is given twice, right would be one value")
        given[name] = value
    return given
