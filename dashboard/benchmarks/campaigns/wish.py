"""What somebody wants to measure, and the plan that is made of it for the library that is there."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from dashboard.benchmarks import providers
from dashboard.benchmarks.adaptive.goal import Goal
from dashboard.benchmarks.campaigns.groups import Group, only
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import ALL_COMPONENTS, LIBRARY, Variants, is_named
from dashboard.domain.campaign import SUM
from loaders.collectives import COLLECTIVES


@dataclass(frozen=True)
class Wish:
    """What somebody wants to measure, before the library was asked what it offers; see `Plan` and `Protocol`."""

    ranks: int
    collectives: tuple[str, ...]
    comm_sizes: tuple[int, ...]
    message_sizes: tuple[int, ...]
    algorithms: tuple[str, ...] = ()
    ppns: tuple[int, ...] = ()
    variants: Variants = field(default_factory=Variants)
    protocol: Protocol = field(default_factory=Protocol)
    datatype: str = "float32"
    operation: str = SUM
    groups: tuple[Group, ...] = ()
    memory: int = 1 << 28
    graphs: bool = True
    seed: int = 1
    launches: int = 1
    apart: bool = False
    checked: bool = True
    goal: Goal | None = None
    providers: tuple[str, ...] = (LIBRARY,)


def refuse_unknown(collectives: Iterable[str]) -> None:
    """PlanError for a collective that cannot be measured."""
    if unknown := [name for name in collectives if name not in COLLECTIVES]:
        raise PlanError(f"{unknown[0]!r} cannot be measured; allowed are {', '.join(COLLECTIVES)}")


def make_plan(wish: Wish, installation: Installation) -> Plan:
    """Make the plan of a wish for the library that is there.

    Raises
    ------
    PlanError
        When a collective or an algorithm is not known, a size is out of range, or a launch for each method is wished
        for that the library cannot be given; the message says what is allowed.
    """
    library = installation.library
    refuse_unknown(wish.collectives)
    names = wish.collectives or tuple(COLLECTIVES)
    offered = {name: providers.offered(wish.providers, library, name, wish.variants) for name in names}
    if not wish.collectives:
        offered = {name: each for name, each in offered.items() if len(each) > 1} or offered
    wanted = wish.algorithms
    chosen = {
        name: tuple(method for method in each if not wanted or any(is_named(method, word) for word in wanted))
        for name, each in offered.items()
    }
    # A name that only another collective has is passed over.
    methods = {name: each for name, each in chosen.items() if each}
    known = dict.fromkeys(method.algorithm for each in offered.values() for method in each)
    every = [method for each in offered.values() for method in each]
    if lost := [word for word in wanted if not any(is_named(method, word) for method in every)]:
        raise PlanError(f"no collective asked for has an algorithm {lost[0]!r}; they have {', '.join(known)}")
    inside = {dict(method.parameters).get("inner") for method in every}
    if lost := [word for word in wish.variants.inner if wish.variants.grids and word not in inside]:
        raise PlanError(f"no collective asked for has a method {lost[0]!r} to run inside of grids")
    apart = wish.apart or library.apart
    pairs = [(name, method) for name, each in methods.items() for method in each]
    if apart and any(providers.forcing(library, *pair) is None for pair in pairs):
        raise PlanError(
            f"{library.name}: its methods are switched within one job, and cannot be forced by the environment; "
            "measure without a launch for each method"
        )
    components = {library.component(*pair) for pair in pairs} - {""}
    if {*wish.variants.components} - {ALL_COMPONENTS} and not components:
        raise PlanError(f"{library.name} has no components that answer these collectives (--components none)")
    settings = {
        name: tuple(providers.settings(library, name, method) for method in each) for name, each in methods.items()
    }
    shared = {entry.name for entry in fields(Wish)} & {entry.name for entry in fields(Plan)} - {"apart"}
    return Plan(
        **{name: getattr(wish, name) for name in shared},
        methods=methods,
        only=only(wish.groups, methods, wish.comm_sizes, wish.message_sizes),
        settings=settings if not apart and any(any(each) for each in settings.values()) else {},
        strict={} if apart else library.strict,
        graph_counters=library.graph_counters if wish.graphs else (),
        apart=apart,
        components=tuple(sorted(components)),
        library=library.name,
        library_version=library.version,
    )
