"""Published machines: the parameters that the dissertation prints (Tables 4.12 and 4.13, section 6.4.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.domain.errors import meant
from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES, ModelName
from dashboard.models.errors import NotApplicableError, ParameterError
from dashboard.models.p2p import Hockney, LogGP, PLogP, PointToPointModel


@dataclass(frozen=True)
class Machine:
    """One machine of the library.

    Attributes
    ----------
    name
        By which commands know it.
    title
        For people: machine and network.
    source
        Where the parameters are printed.
    hockney, loggp, plogp
        Its parameters; None where they were not printed (PLogP's are plotted only, in Figures 4.19 and 6.17).
    note
        What a user should know about them.
    """

    name: str
    title: str
    source: str
    hockney: Hockney | None = None
    loggp: LogGP | None = None
    plogp: PLogP | None = None
    note: str = ""

    @property
    def models(self) -> tuple[ModelName, ...]:
        """Models that there are parameters of."""
        return tuple(name for name in MODEL_NAMES if getattr(self, name) is not None)

    def parameters(self, model: ModelName) -> PointToPointModel:
        """Parameters of one model.

        Raises
        ------
        NotApplicableError
            When none were printed.
        """
        if model not in MODEL_NAMES:
            raise ParameterError(f"there is no model {model!r}; expected one of {', '.join(MODEL_NAMES)}")
        parameters: PointToPointModel | None = getattr(self, model)
        if parameters is None:
            there = ", ".join(MODEL_TITLES[name] for name in self.models)
            raise NotApplicableError(
                f"{self.name} has no printed {MODEL_TITLES[model]} parameters ({self.source}); there are {there}"
            )
        return parameters


TABLES = "dissertation, Tables 4.12 and 4.13"


def _machine(
    name: str, title: str, hockney: tuple[float, float], loggp: tuple[float, ...], *, gamma: float, note: str = ""
) -> Machine:
    latency, overhead, gap, gap_per_byte = loggp
    return Machine(
        name,
        title,
        TABLES,
        Hockney.of_microseconds(alpha=hockney[0], beta=hockney[1], gamma=gamma),
        LogGP.of_microseconds(latency=latency, overhead=overhead, gap=gap, gap_per_byte=gap_per_byte, gamma=gamma),
        note=note,
    )


MACHINES: Mapping[str, Machine] = {
    machine.name: machine
    for machine in (
        _machine("grig-mx", "Grig, Myrinet MX", (5.64, 0.0042), (2.1, 1.6, 2.3, 0.0044), gamma=5e-4),
        _machine(
            "grig-tcp",
            "Grig, Fast Ethernet",
            (110.65, 0.0851),
            (106.6, 19.5, 1.0, 0.0859),
            gamma=5e-4,
            note="g < o as printed: small messages are bound by the overhead, which the formulas of Chapter 4 ignore",
        ),
        _machine("boba", "Boba, Gigabit Ethernet", (47.6, 0.0151), (30.40, 8.15, 8.683, 0.0150), gamma=1.7e-3),
        _machine("frodo-mx", "Frodo, Myrinet MX", (4.23, 0.0042), (1.8, 1.3, 1.6, 0.0044), gamma=3e-3),
        _machine("frodo-tcp", "Frodo, Fast Ethernet", (80.2, 0.0854), (61.22, 8.2, 23.8, 0.0840), gamma=3e-3),
        Machine(
            "thunderbird",
            "Thunderbird, InfiniBand",
            "dissertation, section 6.4.1",
            Hockney.of_microseconds(alpha=3.65, beta=0.0011, gamma=1.75e-5),
            note="LogGP and PLogP parameters are plotted only (Figure 6.17)",
        ),
    )
}


def machine(name: str) -> Machine:
    """Look up a machine; `ParameterError` lists those there are."""
    if name in MACHINES:
        return MACHINES[name]
    near = meant(name.lower(), MACHINES)
    raise ParameterError(f"there is no machine {name!r}, known are {', '.join(MACHINES)}{near}")
