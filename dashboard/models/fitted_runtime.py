"""Runtime functions that are fitted to results: which one holds for which sizes, and for which none was fitted."""

from collections.abc import Mapping
from dataclasses import dataclass

import xarray as xr

from dashboard.domain.units import format_bytes, format_count, format_names, format_range
from dashboard.models.errors import ModelError
from dashboard.models.published import Published, Runtime, Sum
from dashboard.models.runtime_functions import TELLING, RuntimeFunction, runtime_functions


@dataclass(frozen=True)
class Fitted:
    """Runtime functions fitted to ranges of communicator sizes; outside of them the one of the nearest range holds.

    What is nearest is measured on a logarithmic scale: communicators are measured in powers of two or nearly so, and
    the steps of algorithms grow with the logarithm.
    """

    functions: tuple[RuntimeFunction, ...]

    def at(self, comm_size: int) -> RuntimeFunction:
        """The function that holds for so many processes."""

        def distance(function: RuntimeFunction) -> float:
            low, high = function.comm_range
            return max(low / comm_size, comm_size / high, 1.0)

        return min(self.functions, key=distance)

    def unfitted(self, comm_size: int, message_size: float) -> dict[str, str]:
        """Of these sizes those that no function was fitted to, in words, with what it was fitted to; empty: none."""
        here = self.at(comm_size)
        low, high = here.message_range
        ranges = [function.comm_range for function in self.functions]
        words = {}
        if not any(least <= comm_size <= most for least, most in ranges):
            words[format_count(comm_size, "process", "processes")] = (
                " and ".join(format_range(*ends) for ends in ranges) + " processes"
            )
        elif here.comm_sizes < TELLING and comm_size not in here.comm_range:
            words[format_count(comm_size, "process", "processes")] = (
                " and ".join(map(str, here.comm_range)) + " processes alone, which tell no form between them"
            )
        if not low <= message_size <= high:
            # Without binary units: blocks of phases are seen to be multiples of the message then.
            words[f"{message_size:,.0f} B"] = f"messages of {low:,} to {high:,} B"
        return words

    def seconds(self, comm_size: int, message_size: float) -> float:
        """As `dashboard.models.published.Runtime`; `ModelError` where the fitted function is not above 0."""
        here = self.at(comm_size)
        time = float(here.predict(comm_size, message_size))
        if time <= 0:
            raise ModelError(
                f"the fitted function {here.text()} gives no time above 0 for {comm_size} processes, "
                f"{format_bytes(message_size)}"
            )
        return time


def fitted(cube: xr.Dataset, method: str) -> Fitted:
    """Runtime function of a method of results, fitted by `dashboard.models.runtime_functions`.

    Raises
    ------
    ModelError
        When there is no such method, or too little was measured of it.
    """
    return Fitted(runtime_functions(cube, [method])[0][method])


def unfitted(function: Runtime, *calls: tuple[int, float]) -> dict[str, str]:
    """Sizes of calls that no function was fitted to.

    Parameters
    ----------
    function
        Of the collective.
    calls
        Processes and bytes of each.

    Returns
    -------
    dict
        What was fitted to, in words, by the size, such as ``"8 to 16 processes"`` by ``"25 processes"``.
    """
    words: dict[str, str] = {}
    for comm_size, message_size in calls:
        if isinstance(function, Fitted | Published):
            words |= function.unfitted(comm_size, message_size)
        elif isinstance(function, Sum):
            for part, call in function.calls(comm_size, message_size):
                words |= unfitted(part, call)
    return words


def unfitted_note(sizes: Mapping[str, str]) -> str:
    """Say what times of `unfitted` sizes are; empty without any."""
    if not sizes:
        return ""
    ranges = "; ".join(dict.fromkeys(sizes.values()))
    return (
        f"nothing was fitted to {format_names(list(sizes))}, but to {ranges}: there the function of the nearest range "
        "is continued"
    )
