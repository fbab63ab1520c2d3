"""All ways of deciding, by name. Another one is a module that ends in ``FAMILY = Family(…)`` and a line here.

Families of other packages, such as the communication models, are made known by whoever knows both.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module

from dashboard.decisions.grown.family import Family
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError, meant

#: Where each family is: its module (in this package, or in full), or module:name where that is not ``FAMILY``.
PLACES = {
    "quadtree": "quadtree_family",
    "exact": "quadtree_family:EXACT",
    "octree": "octree",
    "c45": "c45",
    "cart": "cart",
    "optimal": "optimal",
    "intervals": "intervals",
    "search": "search",
    "recommended": "dashboard.decisions.surfaces.family",
    "default": "default",
    "rules": "given",
}
#: Those that are not grown, but there already: what the library does by itself, and rules files.
GIVEN = ("default", "rules")


class Families(Mapping[str, Family]):
    """Families by name; a family's module is imported when it is asked for.

    Parameters
    ----------
    places
        Where each family is, as `PLACES`.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._loaded: dict[str, Family] = {}

    def __getitem__(self, name: str) -> Family:
        if name not in self._loaded:
            module, _, attribute = self._places[name].partition(":")
            where = module if "." in module else f"{__package__}.{module}"
            self._loaded[name] = getattr(import_module(where), attribute or "FAMILY")
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def register(self, name: str, place: str) -> None:
        """Know a family of another package from now on.

        Parameters
        ----------
        place
            Its module, in full, or module:name.
        """
        self._places.setdefault(name, place)

    @contextmanager
    def also(self, family: Family) -> Iterator[None]:
        """Know a family for a while, such as one that is made of parameters only known then.

        One that is registered under its name is set aside meanwhile.
        """
        if family.name in PLACES:
            raise OptionError(f"there is a family {family.name} already")
        place, loaded = self._places.get(family.name), self._loaded.get(family.name)
        self._places[family.name], self._loaded[family.name] = "", family
        try:
            yield
        finally:
            del self._places[family.name], self._loaded[family.name]
            if place is not None:
                self._places[family.name] = place
            if loaded is not None:
                self._loaded[family.name] = loaded


FAMILIES = Families(PLACES)


def family(name: str) -> Family:
    """Look up a family; `OptionError` lists those there are."""
    if name in FAMILIES:
        return FAMILIES[name]
    raise OptionError(f"there is no tree {name!r}, known are {', '.join(FAMILIES)}{meant(name, FAMILIES)}")


def check_tables(grown: Family, problem: Problem) -> None:
    """Raise `OptionError` where trees of a family cannot tell a problem's tables apart; it names those that can."""
    differing = set(problem.differing)
    if grown.name in GIVEN or differing <= set(grown.tells):
        return
    able = [name for name, each in FAMILIES.items() if differing <= set(each.tells)]
    raise OptionError(f"{problem.refusal(grown.name)}, or a tree that tests these: {', '.join(able)}")
