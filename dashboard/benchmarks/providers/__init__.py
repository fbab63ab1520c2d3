"""Who offers methods to a campaign, by name: the library itself, and what runs over it."""

from collections.abc import Callable, Sequence
from importlib import import_module

from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import LIBRARY, Library, Method, Variants, is_named
from dashboard.benchmarks.providers import orthogonal
from dashboard.benchmarks.providers.grid_comms import forced_of
from dashboard.domain.campaign import PROVIDERS
from dashboard.schedules.orthogonal import worded

__all__ = ["NAMES", "forcing", "offered", "orthogonal", "settings"]


#: What a provider offers of a collective, in the order of the cube.
Offer = Callable[[str, Variants], list[Method]]
NAMES = (LIBRARY, *PROVIDERS)


def offered(providers: Sequence[str], library: Library, collective: str, variants: Variants) -> list[Method]:
    """Methods of a collective, one provider after the other.

    Parameters
    ----------
    providers
        Some of `NAMES`.

    Raises
    ------
    PlanError
        When there is no such provider; the message lists them.
    """
    if lost := [name for name in providers if name not in NAMES]:
        raise PlanError(f"there is no provider of methods {lost[0]!r}; allowed are {', '.join(NAMES)}, all")
    given = library.methods(collective, variants) if LIBRARY in providers else []
    for name in (name for name in PROVIDERS if name in providers):
        offer: Offer = import_module(f"{__name__}.{name}").methods
        given += offer(collective, variants)
    return [method for method in given if not forced_of(method) or _forced(library, collective, method)]


def _forced(library: Library, collective: str, method: Method) -> Method | None:
    """The method of the library that is forced inside of a grid; None where the collective has no such."""
    word = forced_of(method)
    size = worded(word)[1].get("segment_size", 0)
    offered = library.methods(collective, Variants(segment_sizes=(int(size),))) if word else []
    return next((each for each in offered if is_named(each, word)), None)


def settings(library: Library, collective: str, method: Method) -> dict[str, int]:
    """Control variables that make new communicators take a method; of what runs over the library, what it forces."""
    chosen = method if method.provider == LIBRARY else _forced(library, collective, method)
    return {} if chosen is None else library.settings(collective, chosen)


def forcing(library: Library, collective: str, method: Method) -> dict[str, str] | None:
    """Variables of the environment that force a method; none needed for what runs over the library."""
    if forced_of(method):
        # On the communicators of a grid alone it can be forced while the library runs only.
        return None
    return library.forcing(collective, method) if method.provider == LIBRARY else {}
