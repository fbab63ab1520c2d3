"""What is asked of a written file or report beside its decisions: declared once, for commands, pages and addresses."""

from dashboard.domain.options import Option
from loaders.openmpi import VERSIONS, series

VERSION = Option(
    name="version",
    title="Open MPI",
    help=f"Version of Open MPI that reads the file: {', '.join(VERSIONS[:-1])} or {VERSIONS[-1]}. What rules mean "
    "depends on it, for numbers of algorithms differ.",
    default=None,
    kind="name",
    unlimited="the one measured, else 5.0",
    flag="--for",
    metavar="V",
    check=series,
)
BASE = Option(
    name="base",
    title="MPICH",
    help="MPICH's own complete selection, into which the rules are put: a file (maint/tuning/coll/mpir/generic.json of "
    "its source), or a version such as 5.0.",
    default=None,
    kind="name",
    unlimited="that of the results, else of the MPICH installed here",
    metavar="FILE",
)
MOST_RULES = Option(
    name="most_rules",
    title="most rules",
    help="Of each collective; if there would be more, the best ones by the measurements are kept.",
    default=None,
    kind="int",
    low=1,
    unlimited="no limit",
    flag="--max-rules",
)
#: What a target may be asked for, as `dashboard.export.target.Target.options` names it.
OF_TARGETS = (VERSION, BASE, MOST_RULES)

SECTION = Option(
    name="section",
    title="section",
    help="Of a ucc.conf, which has sections for several teams: those with these words, such as team_size=28. The other "
    "file can hold one for each collective.",
    default="",
    kind="name",
    metavar="WORDS",
)
BLOCKS = Option(
    name="sizes_are_blocks",
    title="its sizes are blocks per process",
    help="The file gives bytes per process where the library compares the total: convert them. A check over "
    "measurements shows the penalty for both readings.",
    default=False,
    kind="flag",
)

FRONTIER = Option(
    name="frontier",
    title="compare all ways of deciding",
    help="Leaves against penalty for every family of trees, with a recommendation; the longest part of the work.",
    default=True,
    kind="flag",
)
MODELS = Option(
    name="models",
    title="communication models",
    help="Fit Hockney, LogGP and PLogP to the measurements of each collective, and judge deciding by them "
    "(dissertation, 5.2 and 6.2). The fits take some seconds each.",
    default=False,
    kind="flag",
)
