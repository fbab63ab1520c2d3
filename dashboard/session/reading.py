"""What is said when results are read: declared once, for the command's options and the page's widgets."""

from collections.abc import Mapping

from dashboard.domain.options import Option
from loaders.facet_names import FACETS

SELECT = Option(
    name="select",
    metavar="FACET=VALUE,…",
    title="results that are meant",
    help="Where files differ in one of the facets, the results of which value are meant, such as device=host; several "
    f"by commas. Facets are {', '.join(FACETS)}; 'info' lists their values.",
    default=None,
    kind="name",
    unlimited="all, where they agree",
)
JOIN = Option(
    name="join",
    metavar="FACET,…",
    title="put together",
    help="Facets in which results are put together although they differ, such as campaign; how far apart they are is "
    "said.",
    default=None,
    kind="name",
    unlimited="none",
)
NUMBERS = Option(
    name="numbers",
    metavar="LIBRARY",
    title="whose numbers algorithms are",
    help="The library whose numbers algorithms are, where they are named by numbers: openmpi-4.1, -5.0 or -6.0, "
    "intel-2019 to intel-2021.",
    default=None,
    kind="name",
    unlimited="as the files tell",
)
SCHEDULER = Option(
    name="scheduler",
    metavar="ADDRESS",
    title="scheduler",
    help="Address of a dask.distributed scheduler, such as tcp://head:8786, whose workers compute what is too large "
    "for this machine; results are in one Zarr store or netCDF file that all of them see.",
    default=None,
    kind="name",
    unlimited="this machine",
)
OPTIONS = (NUMBERS, SELECT, JOIN, SCHEDULER)


def chosen(values: Mapping[str, str | None]) -> dict[str, str]:
    """What is chosen for each facet as the hints of the loaders.

    Parameters
    ----------
    values
        By facet: one of its values, None = results of all of them together; those that are empty are not looked at.
    """
    select = ",".join(f"{name}={value}" for name, value in values.items() if value)
    join = ",".join(name for name, value in values.items() if value is None)
    return {name: text for name, text in (("select", select), ("join", join)) if text}
