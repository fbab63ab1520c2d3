"""Which methods an installed Open MPI offers, and how it is told to take one.

Names, numbers and which variables exist are read from the library's own ``ompi_info``; that an algorithm cuts
messages into segments or has a fan-out stands only in the source of its ``coll/tuned`` component.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.benchmarks.errors import NoMpiError, PlanError
from dashboard.benchmarks.libraries.methods import ALL_COMPONENTS, DEFAULT, Library, Method, Variants
from dashboard.export.components import (
    HAN,
    HAN_MODULES,
    HAN_VARIANTS,
    OF_SITES,
    OWN_VARIANTS,
    SERVES,
    TUNED,
    VARIANT,
    han_settings,
    module_settings,
    split_word,
)
from dashboard.export.library_names import least_fan_out, takes_segments
from loaders.openmpi import distinct, fan_out_variable

NAME = "Open MPI"
_ASK = ("--param", "coll", "all", "--level", "9", "--parsable")
_ENUMERATOR = re.compile(
    r"mca:coll:tuned:param:coll_tuned_(?P<collective>\w+)_algorithm:enumerator:value:(?P<number>\d+):(?P<name>\S+)"
)
_VARIABLE = re.compile(rf"mca:coll:(?:{'|'.join((TUNED, HAN, *OF_SITES))}):param:(?P<name>\w+):value:(?P<value>.*)")
_COMPONENT = re.compile(r'mca:coll:(?P<name>\w+):version:"?component:')
#: Which components environment and files of the site let be selected.
_SELECTION = re.compile(r"^mca:coll:base:param:coll:value:(?P<not>\^?)(?P<names>.*)", re.MULTILINE)
_VERSION = re.compile(r'mca:coll:tuned:version:"?component:(?P<version>[^"\s]+)"?')
_MONITORING = "mca:pml:monitoring:version:"
_DYNAMIC = "coll_tuned_use_dynamic_rules"
_PRIORITY = "coll_tuned_priority"
#: Above every other component of collectives, so that a forced algorithm is not passed over across nodes.
_HIGHEST = 100
_SECONDS = 60
#: Where Linux lists adapters of fast networks. With one, programs have UCX or libfabric within a node, too; else shared
#: memory of Open MPI's own, which starts more quickly where it need not look for others.
FABRICS = ("/sys/class/infiniband", "/sys/class/cxi")
_FIRST_MODULES = {level: names[0] for level, names in HAN_MODULES.items()}
#: Performance variables that tell messages and bytes sent to each peer, and what has them counted. In 5.0.11 calls
#: between two groups then end with a segmentation fault.
GRAPH_COUNTERS = ("pml_monitoring_messages_count", "pml_monitoring_messages_size")
COUNTING = "OMPI_MCA_pml_monitoring_enable"


@dataclass(frozen=True)
class OpenMpi(Library):
    """An installed Open MPI."""

    #: Such as ``5.0.11``.
    version: str
    #: Name of each algorithm by number (0, the library's own choice, left out), by collective.
    algorithms: Mapping[str, Mapping[int, str]]
    #: Whole-number control variables of ``coll/tuned``, ``coll/han`` and those of sites with their values.
    variables: Mapping[str, int]
    name: str = NAME
    apart: bool = False
    #: That were built with it and answer blocking collectives, unless environment or site leave them out.
    components: tuple[str, ...] = ()
    #: Whether the layer that counts messages was built with it, as wheels of 4.1 are without.
    monitors: bool = True
    #: Of that layer, which `environment` switches on. An algorithm that cannot work becomes another one in silence,
    #: whatever is set: the message graph shows it.
    graph_counters: tuple[str, ...] = GRAPH_COUNTERS

    @property
    def unheeded(self) -> str:
        """What this installation asks before tuned and HAN, so that no rules act, in words; empty: nothing."""
        first = (
            name
            for name in OF_SITES
            if self.variables.get(f"coll_{name}_enable")
            and self.variables.get(f"coll_{name}_priority", 0) > self.variables[_PRIORITY]
        )
        names = ",".join(first)
        return names and (
            f"this Open MPI asks {names} first, whatever rules say (OMPI_MCA_coll=^{names} in the environment of "
            "colltune and of programs leaves it out)"
        )

    def methods(self, collective: str, variants: Variants) -> list[Method]:
        """All methods of a collective, the library's own decision first."""
        methods = [Method(DEFAULT, library_id=0)]
        for number, name in self.algorithms.get(collective, {}).items():
            sizes = variants.segment_sizes if takes_segments(collective, number) else (0,)
            for parameters in self._parameters(collective, name, variants):
                methods += [Method(name, size, parameters, number) for size in sizes]
        for component, variant in self._components(collective, variants):
            if variant:
                methods += [
                    method for method in self._han_variants(collective) if (VARIANT, variant) in method.parameters
                ]
            else:
                methods += [Method(component), *(self._of_han(collective, variants) if component == HAN else ())]
        return methods

    def _han_variants(self, collective: str) -> Iterator[Method]:
        """HAN with each of its algorithms but the one that it takes by itself."""
        if f"coll_han_use_{collective}_algorithm" in self.variables:
            yield from (Method(HAN, 0, ((VARIANT, name),)) for name in HAN_VARIANTS.get(collective, ())[1:])

    def _of_han(self, collective: str, variants: Variants) -> Iterator[Method]:
        """HAN with its algorithms, and with segment sizes, where it can."""
        yield from self._han_variants(collective)
        own = self.variables.get(f"coll_han_{collective}_segsize")
        if own is not None:
            yield from (Method(HAN, size) for size in variants.segment_sizes if size not in (0, own))
        if variants.launched and self.variables.keys() >= module_settings(collective, _FIRST_MODULES).keys():
            (_, low), (_, up) = HAN_MODULES["low"], HAN_MODULES["up"]
            # Where there is no sm, as in 6.0, HAN's number for it is another component.
            for levels in ({"low": low}, {"up": up}, {"low": low, "up": up}):
                if "low" not in levels or low in self.components:
                    yield Method(HAN, 0, tuple(levels.items()))

    def _components(self, collective: str, variants: Variants) -> list[tuple[str, str]]:
        """Components that are asked for and serve a collective, each with the one algorithm of its own that is."""
        words = self.components if ALL_COMPONENTS in variants.components else variants.components
        wanted = [split_word(word) for word in words]
        known = {(name, "") for name in self.components}
        if HAN in self.components:
            known |= {(HAN, variant) for variant in OWN_VARIANTS}
        if lost := [word for word, pair in zip(words, wanted, strict=True) if pair not in known]:
            names = ", ".join(self.components) or "none that it tells of"
            raise PlanError(f"this Open MPI has no component {lost[0]!r} for blocking collectives; it has {names}, all")
        named = collective in SERVES[HAN] or not variants.ruled
        return [(name, variant) for name, variant in wanted if named and collective in SERVES[name]]

    def component(self, collective: str, method: Method) -> str:
        """Component that is to answer a method's calls; empty: the one that the library finds first."""
        return method.algorithm if method.library_id is None and method.algorithm in self.components else ""

    def _parameters(self, collective: str, name: str, variants: Variants) -> Iterator[tuple[tuple[str, int], ...]]:
        known = _parameter_variables(collective)
        if (least := least_fan_out(collective, name)) and known["fan_out"] in self.variables:
            yield from ((("fan_out", fan_out),) for fan_out in variants.fan_outs if fan_out >= least)
        elif name == "knomial" and known["radix"] in self.variables:
            yield from ((("radix", radix),) for radix in variants.radixes)
        else:
            yield ()

    def settings(self, collective: str, method: Method) -> dict[str, int]:
        """Control variables that make new communicators take the method, in the order to write them.

        All variables of the collective are named, with the library's own values where the method says nothing, so
        that nothing of the method before stays.
        """
        base = f"coll_tuned_{collective}_algorithm"
        own = {name: value for name, value in self.variables.items() if name == base or name.startswith(base + "_")}
        own = {name: value for name, value in own.items() if not name.endswith("_count")}
        if method.algorithm == DEFAULT or self.component(collective, method):
            variant = str(dict(method.parameters).get(VARIANT, ""))
            of_han = han_settings(collective, variant, method.segment_size) if method.algorithm == HAN else {}
            return {_DYNAMIC: 0, _PRIORITY: self.variables[_PRIORITY], **own, **of_han}
        said = {base: method.library_id or 0, f"{base}_segmentsize": method.segment_size}
        said |= {_parameter_variables(collective)[name]: int(value) for name, value in method.parameters}
        return {_DYNAMIC: 1, _PRIORITY: _HIGHEST, **own, **{k: v for k, v in said.items() if k in self.variables}}

    def forcing(self, collective: str, method: Method) -> dict[str, str]:
        """The same variables, as they are set for ranks that begin."""
        said = self.settings(collective, method)
        if component := self.component(collective, method):
            said[f"coll_{component}_priority"] = _HIGHEST
        if component == HAN:
            said |= module_settings(collective, dict(method.parameters))
        return {f"OMPI_MCA_{name}": str(value) for name, value in said.items()}

    def environment(self, *, here: bool, graphs: bool) -> dict[str, str]:
        """Environment variables for ``mpiexec``: more ranks than cores, root, quick start, message graphs."""
        said = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if here:
            # 4.1 knows it under the second name. Across nodes it would put all ranks on the first one.
            said["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
            said["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        if self.version.startswith("4."):
            # It reads rules only where they were switched on at its start.
            said[f"OMPI_MCA_{_DYNAMIC}"] = "1"
        if here and not any(any(Path(adapters).glob("*")) for adapters in FABRICS):
            said |= {"OMPI_MCA_btl": "self,sm" if not self.version.startswith("4.") else "self,vader"}
            said |= {"OMPI_MCA_pml": "^ucx,cm"}
        if graphs:
            said[COUNTING] = "1"
        return said


def _parameter_variables(collective: str) -> dict[str, str]:
    """Control variables of a method's parameters."""
    return {"fan_out": fan_out_variable(collective), "radix": f"coll_tuned_{collective}_algorithm_knomial_radix"}


def parse(text: str) -> OpenMpi:
    """Read what ``ompi_info --param coll tuned --level 9 --parsable`` printed.

    Raises
    ------
    NoMpiError
        When it names no algorithm, as a build without ``coll/tuned``.
    """
    algorithms: dict[str, dict[int, str]] = {}
    variables: dict[str, int] = {}
    version, components = "", []
    for line in text.splitlines():
        if match := _ENUMERATOR.match(line):
            if int(match["number"]):
                algorithms.setdefault(match["collective"], {})[int(match["number"])] = distinct(match["name"])
        elif match := _VARIABLE.match(line):
            value = _integer(match["value"].strip())
            if value is not None:
                variables[match["name"]] = value
        elif match := _COMPONENT.match(line):
            components.append(match["name"])
            if release := _VERSION.match(line):
                version = release["version"]
    if not algorithms or _PRIORITY not in variables:
        raise NoMpiError(
            "this Open MPI names no algorithms of coll/tuned (ompi_info --param coll tuned --level 9 --parsable); "
            "install one that holds that component"
        )
    known = tuple(name for name in SERVES if name in components and _is_selectable(name, text))
    lost = tuple(f"coll_{name}_" for name in OF_SITES if not _is_selectable(name, text))
    variables = {name: value for name, value in variables.items() if not name.startswith(lost)}
    return OpenMpi(version, algorithms, variables, components=known)


def _is_selectable(component: str, text: str) -> bool:
    selection = _SELECTION.search(text)
    if selection is None or not selection["names"].strip():
        return True
    return (component in selection["names"].strip().split(",")) != bool(selection["not"])


def _integer(value: str) -> int | None:
    """Number that a variable is set to; what is not forced is printed as ``ignore``, ``default`` or ``self``."""
    if value in ("ignore", "false", "default", "self"):
        return 0
    if value == "true":
        return 1
    return int(value) if re.fullmatch(r"-?\d{1,9}", value) else None


def read(ompi_info: Path) -> OpenMpi:
    """Ask an installed ``ompi_info``.

    Raises
    ------
    NoMpiError
        When it cannot be run or knows no algorithms.
    """
    library = parse(_said(ompi_info, *_ASK))
    if not library.version.startswith("4."):
        return library
    return replace(library, monitors=_MONITORING in _said(ompi_info, "--parsable"))


def _said(ompi_info: Path, *options: str) -> str:
    try:
        command = [str(ompi_info), *options]
        done = subprocess.run(command, capture_output=True, errors="replace", timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoMpiError(f"{ompi_info} cannot be run: {error}") from error
    if done.returncode:
        raise NoMpiError(f"{ompi_info} {' '.join(options)} gave {done.returncode}: {done.stderr.strip()[:200]}")
    return done.stdout
