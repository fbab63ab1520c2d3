"""Published machines: the parameters that the dissertation prints (Tables 4.12 and 4.13, section 6.4.1).

PLogP's are plotted only (Figures 4.19 and 6.17).
"""

from collections.abc import Mapping

from dashboard.domain.errors import meant
from dashboard.domain.models import ModelName
from dashboard.models.errors import ParameterError
from dashboard.models.p2p import Hockney, LogGP, PointToPointModel
from dashboard.models.parameter_set import ParameterSet

#: Machine and network of each, for people.
MACHINE_TITLES: Mapping[str, str] = {
    "grig-mx": "Grig, Myrinet MX",
    "grig-tcp": "Grig, Fast Ethernet",
    "boba": "Boba, Gigabit Ethernet",
    "frodo-mx": "Frodo, Myrinet MX",
    "frodo-tcp": "Frodo, Fast Ethernet",
    "thunderbird": "Thunderbird, InfiniBand",
}


def _provenance(source: str, note: str) -> dict[str, object]:
    return {"how": "published", "sources": [f"dissertation, {source}"], **({"note": note} if note else {})}


def _machine(
    name: str, hockney: tuple[float, float], loggp: tuple[float, ...], *, gamma: float, note: str = ""
) -> ParameterSet:
    latency, overhead, gap, gap_per_byte = loggp
    parameters: dict[ModelName, PointToPointModel] = {
        "hockney": Hockney.of_microseconds(alpha=hockney[0], beta=hockney[1], gamma=gamma),
        "loggp": LogGP.of_microseconds(
            latency=latency, overhead=overhead, gap=gap, gap_per_byte=gap_per_byte, gamma=gamma
        ),
    }
    return ParameterSet(name, parameters, _provenance("Tables 4.12 and 4.13", note))


MACHINES: Mapping[str, ParameterSet] = {
    known.name: known
    for known in (
        _machine("grig-mx", (5.64, 0.0042), (2.1, 1.6, 2.3, 0.0044), gamma=5e-4),
        _machine(
            "grig-tcp",
            (110.65, 0.0851),
            (106.6, 19.5, 1.0, 0.0859),
            gamma=5e-4,
            note="g < o as printed: small messages are bound by the overhead, which the formulas of Chapter 4 ignore",
        ),
        _machine("boba", (47.6, 0.0151), (30.40, 8.15, 8.683, 0.0150), gamma=1.7e-3),
        _machine("frodo-mx", (4.23, 0.0042), (1.8, 1.3, 1.6, 0.0044), gamma=3e-3),
        _machine("frodo-tcp", (80.2, 0.0854), (61.22, 8.2, 23.8, 0.0840), gamma=3e-3),
        ParameterSet(
            "thunderbird",
            {"hockney": Hockney.of_microseconds(alpha=3.65, beta=0.0011, gamma=1.75e-5)},
            _provenance("section 6.4.1", "LogGP and PLogP parameters are plotted only (Figure 6.17)"),
        ),
    )
}


def machine(name: str) -> ParameterSet:
    """Look up a machine; `ParameterError` lists those there are."""
    if name in MACHINES:
        return MACHINES[name]
    near = meant(name.lower(), MACHINES)
    raise ParameterError(f"there is no machine {name!r}, known are {', '.join(MACHINES)}{near}")
