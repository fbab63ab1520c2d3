"""How rules files are put to the test on each library: environment, evidence, and how a method is forced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dashboard.benchmarks.libraries.methods import DEFAULT, Library, Method, Variants
from dashboard.benchmarks.libraries.mpich import MAKE_ROOM, Mpich
from dashboard.benchmarks.libraries.openmpi import GRAPH_COUNTERS, OpenMpi
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.proof.order import Call, Evidence
from dashboard.benchmarks.ranks import counting
from dashboard.benchmarks.ranks.selection import EVERY_CALL
from dashboard.export.components import TUNED, TUNED_FIRST, named, parameters
from dashboard.export.library_names import least_fan_out
from dashboard.export.rules.mpich_parameters import is_forced
from dashboard.export.usage import MPICH_FILE

if TYPE_CHECKING:
    from dashboard.decisions import Method as Decided

#: All messages go where Linux counts them.
_THROUGH_TCP = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1"}
#: Names of the two calls that force nothing.
RULES, OWN = "the rules file", "the library's own decision"


def left_to_library(method: Decided) -> bool:
    """Whether rules say nothing but that the library is to decide by itself."""
    return method.algorithm == DEFAULT and not method.parameters.get("library_id")


@dataclass(frozen=True)
class Target(ABC):
    """A library that rules files are proven on."""

    #: What it offers.
    library: Library
    #: What is counted.
    evidence: Evidence = "sockets"
    #: Performance variables that count it.
    counters: tuple[str, ...] = ()
    #: Whether control variables act at the call, on all communicators; else on those that are made afterwards.
    set_at_call: bool = False
    #: Whether the library can be asked for its own decision in a job that holds a rules file.
    own_beside_rules: bool = False
    #: Whether a method can be forced in a job that holds a rules file; else the rules go first.
    forced_beside_rules: bool = True
    #: Whether what counts messages is preloaded (`dashboard.benchmarks.ranks.counting`).
    preloads: bool = False
    #: Whether the library says of every call which part of it answers.
    listens: bool = False

    @property
    def name(self) -> str:
        """Name and version."""
        return f"{self.library.name} {self.library.version}"

    @property
    @abstractmethod
    def how(self) -> str:
        """What kind of evidence it is, in words."""

    @abstractmethod
    def environment(self, rules: Path | None, *, here: bool = True) -> dict[str, str]:
        """Environment variables of a job with a rules file, or with none; whether all its ranks run on this machine."""

    @abstractmethod
    def plain(self, collective: str) -> tuple[Call, Call]:
        """The calls that follow the rules file, and the library's own decision."""

    @abstractmethod
    def forced(self, collective: str, method: Decided) -> Call | None:
        """The call that forces a method of the rules; None where it cannot be forced."""

    @abstractmethod
    def others(self, collective: str) -> Sequence[Call]:
        """Calls that force each algorithm that there is, with what the library takes for its parameters."""


#: Why an Open MPI counts no messages, by whether it was built to.
_LACKING = {
    True: "this Open MPI does not let its message counters be read, and there is no C compiler (cc, gcc) to build one "
    "in their place",
    False: "this Open MPI was built without the layer that counts messages (pml monitoring)",
}


@dataclass(frozen=True)
class OnOpenMpi(Target):
    """Open MPI: its monitoring layer counts every message; methods are forced beside the rules in one job."""

    library: OpenMpi
    evidence: Evidence = "messages"
    counters: tuple[str, ...] = GRAPH_COUNTERS
    own_beside_rules: bool = True

    @property
    def how(self) -> str:
        """What kind of evidence it is."""
        if self.evidence == "sockets":
            return (
                f"by bytes alone: {_LACKING[self.library.monitors]}; so all messages go through TCP and the bytes that "
                "each process sends to each other are read from Linux, and compared with those of the method forced in "
                "a second job without the file, which it heeds first (HAN switched off). Methods that send the same "
                "bytes in other messages are not told apart"
            )
        graphs = "message graphs: messages and bytes from each process to each other, counted "
        if self.preloads:
            return (
                f"{graphs}by a preloaded function in the place of that of the library's monitoring layer, which hides "
                "its counters, compared with those of the method forced in a second job without the file, which it "
                "heeds first (HAN switched off)"
            )
        return (
            f"{graphs}by the library's monitoring layer, compared with those of the method forced in the same job "
            "(HAN switched off)"
        )

    def environment(self, rules: Path | None, *, here: bool = True) -> dict[str, str]:
        """See `Target`."""
        said = added(self.library.environment(here=here, graphs=self.evidence == "messages"))
        said |= {"OMPI_MCA_coll": TUNED_FIRST, "OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
        if self.evidence == "sockets":
            said |= _THROUGH_TCP
        return said | ({"OMPI_MCA_coll_tuned_dynamic_rules_filename": str(rules)} if rules else {})

    def plain(self, collective: str) -> tuple[Call, Call]:
        """See `Target`."""
        own = self.library.settings(collective, Method(DEFAULT, library_id=0))
        # The same priority, so that the component that reads rules is asked in both.
        first = {"coll_tuned_priority": 100}
        rules = {**own, "coll_tuned_use_dynamic_rules": 1}
        return Call(RULES, {**rules, **first}), Call(OWN, {**own, **first})

    def forced(self, collective: str, method: Decided) -> Call | None:
        """See `Target`."""
        number = int(method.parameters.get("library_id", 0))
        if number not in self.library.algorithms.get(collective, {}):
            return None
        # A rule without fan-out means 0 to the library, a forced algorithm the variable's own value.
        takes = least_fan_out(collective, method.algorithm)
        parameters = (("fan_out", int(method.parameters.get("fan_out", 0))),) if takes else ()
        library_method = Method(method.algorithm, method.segment_size, parameters, number)
        return Call(method.label, self.library.settings(collective, library_method))

    def others(self, collective: str) -> Sequence[Call]:
        """See `Target`."""
        known = self.library.algorithms.get(collective, {})
        methods = [Method(name, 0, (), number) for number, name in known.items()]
        return [Call(method.algorithm, self.library.settings(collective, method)) for method in methods]


@dataclass(frozen=True)
class AcrossNodes(OnOpenMpi):
    """Open MPI with HAN's rules beside those of tuned: HAN says of every call to whom its rules give it.

    Messages are not counted, since ranks of 5.0.11 crash when HAN has answered meanwhile; and HAN heeds its rules on
    all communicators of a job, or on none.
    """

    #: HAN's rules.
    han: Path = Path()
    evidence: Evidence = "sockets"
    counters: tuple[str, ...] = ()
    own_beside_rules: bool = False
    forced_beside_rules: bool = False
    listens: bool = True

    @property
    def how(self) -> str:
        """What kind of evidence it is."""
        return (
            "by the library's own word and by effect: HAN says of every call to which component its rules give it; all "
            "messages go through TCP, and where tuned answers the bytes that each process sends to each other are read "
            "from Linux, and compared with those of the algorithm forced in a second job without the files"
        )

    def environment(self, rules: Path | None, *, here: bool = True) -> dict[str, str]:
        """See `Target`."""
        said = {**added(self.library.environment(here=here, graphs=False)), **_THROUGH_TCP}
        if rules is None:
            return said
        variables = parameters(str(rules), str(self.han))
        return {**said, **EVERY_CALL, **{f"OMPI_MCA_{name}": value for name, value in variables.items()}}

    def plain(self, collective: str) -> tuple[Call, Call]:
        """See `Target`; HAN is asked first in both."""
        own = self.library.settings(collective, Method(DEFAULT, library_id=0))
        return Call(RULES, {**own, "coll_tuned_use_dynamic_rules": 1}), Call(OWN, own)

    def forced(self, collective: str, method: Decided) -> Call | None:
        """See `Target`; also tuned's own decision, by the number 0."""
        if named(method) == TUNED:
            _, own = super().plain(collective)
            return replace(own, name=method.label)
        return super().forced(collective, method)


def open_mpi(library: OpenMpi, han: Path | None = None) -> OnOpenMpi:
    """An Open MPI with the evidence that it gives: 4.1 hides its counters, and heeds rules before what is forced.

    Parameters
    ----------
    han
        HAN's rules that belong to the rules of tuned, if any.
    """
    if han is not None:
        return AcrossNodes(library, han=han)
    if counting.hidden(library):
        with TemporaryDirectory(prefix="colltune-") as aside:
            counts = library.monitors and counting.compiled(Path(aside)) is not None
        own = OnOpenMpi(library, preloads=True) if counts else OnOpenMpi(library, "sockets", ())
        return replace(own, own_beside_rules=False, forced_beside_rules=False)
    return OnOpenMpi(library)


#: No algorithms of their own: the non-blocking collective and a wait, and what needs a library for GPUs.
_UNLIKE = ("nb", "ccl")
#: Each algorithm once, with the parameters that it has by itself.
_PLAIN = Variants(segment_sizes=(0,), radixes=(2,))
#: Set for the whole job, see `OnMpich.environment`.
_ALWAYS = ("MPIR_CVAR_DEVICE_COLLECTIVES", "MPIR_CVAR_COLLECTIVE_FALLBACK")


@dataclass(frozen=True)
class OnMpich(Target):
    """MPICH, which counts nothing itself: all messages go through TCP, where Linux counts them."""

    library: Mpich
    set_at_call: bool = True

    @property
    def how(self) -> str:
        """What kind of evidence it is."""
        return (
            "by effect: this MPICH counts no messages, so its shared memory is switched off (MPIR_CVAR_NOLOCAL) and "
            "the bytes that each process sends to each other through TCP are read from Linux, and compared with those "
            "of the algorithm forced in the same job; the library's own decision is seen in a second job without the "
            "file. Every process counts as a node of its own, so branches for node hierarchies are not reached"
        )

    def environment(self, rules: Path | None, *, here: bool = True) -> dict[str, str]:
        """See `Target`."""
        said = {
            "MPIR_CVAR_NOLOCAL": "1",
            "MPIR_CVAR_CH4_NETMOD": "ofi",
            "FI_PROVIDER": "tcp",
            "UCX_TLS": "tcp,self",
            "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
            **MAKE_ROOM,
            # A forced algorithm that cannot run here says so instead of running another one.
            "MPIR_CVAR_COLLECTIVE_FALLBACK": "error",
        }
        return said | ({MPICH_FILE: str(rules)} if rules else {})

    def plain(self, collective: str) -> tuple[Call, Call]:
        """See `Target`."""
        own = self._settings(collective, Method(DEFAULT, library_id=0))
        return Call(RULES, own), Call(OWN, own)

    def forced(self, collective: str, method: Decided) -> Call | None:
        """See `Target`."""
        # Forced, an algorithm has the values of its variables, which are those that are written with it.
        numbers = {name: number for number, name in self.library.algorithms.get(collective, {}).items()}
        if method.algorithm not in numbers or not is_forced(collective, method.algorithm, method.parameters):
            return None
        radix = (("radix", int(method.parameters["k"])),) if "k" in method.parameters else ()
        forced = Method(method.algorithm, method.segment_size, radix, numbers[method.algorithm])
        return Call(method.label, self._settings(collective, forced))

    def others(self, collective: str) -> Sequence[Call]:
        """See `Target`."""
        methods = self.library.methods(collective, _PLAIN)
        kept = [method for method in methods if method.algorithm not in (DEFAULT, *_UNLIKE)]
        return [Call(method.algorithm, self._settings(collective, method)) for method in kept]

    def _settings(self, collective: str, method: Method) -> dict[str, int]:
        settings = self.library.settings(collective, method)
        return {name: value for name, value in settings.items() if name not in _ALWAYS}
