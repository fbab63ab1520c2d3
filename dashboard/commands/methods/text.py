"""A schedule as ``colltune methods schedule`` shows it, as JSON and as text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard.domain.models import MODEL_TITLES
from dashboard.domain.units import format_count, format_time
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.programs import programs_from
from dashboard.models.simulator import simulate
from dashboard.schedules import Schedule
from dashboard.schedules.rank import COLUMNS, OPERATIONS, WAIT
from dashboard.schedules.steps import steps

_BUFFERS = ("input", "output", "scratch")


def description(made: Schedule) -> dict[str, Any]:
    """A schedule as `methods schedule --json` shows it: bytes of elements, steps in rounds of messages."""
    sent = made.messages
    size = made.call.element_size
    ranks = [
        _operations(program.rows.tolist(), rounds, size)
        for program, rounds in zip(made.programs, steps(made), strict=True)
    ]
    return {
        "collective": made.call.collective,
        "algorithm": made.algorithm.name,
        "parameters": made.parameters,
        "processes": made.call.processes,
        "root": made.call.root,
        "messages": len(sent),
        "bytes": int(sent[:, 2].sum()),
        "steps": max((each["step"] for rank in ranks for each in rank), default=0),
        "ranks": ranks,
    }


def simulated(made: Schedule, network: ParameterSet) -> dict[str, float]:
    """How long a schedule takes by each model that there are parameters of, message by message, s."""
    programs = programs_from(made)
    return {name: simulate(programs, parameters).time for name, parameters in network.parameters.items()}


def _operations(rows: list[list[int]], rounds: Sequence[int], size: int) -> list[dict[str, Any]]:
    """Operations of a rank; a wait tells the places of the messages that it waits for."""
    shown: list[dict[str, Any]] = []
    places: list[int] = []
    for values, step in zip(rows, rounds, strict=True):
        row = dict(zip(COLUMNS, values, strict=True))
        name = OPERATIONS[row["operation"]]
        if row["operation"] == WAIT:
            if row["tag"]:
                shown[-1]["for"].append(places[row["peer"]])
                shown[-1]["step"] = max(shown[-1]["step"], step)
            else:
                shown.append({"operation": name, "peer": None, "bytes": 0, "step": step, "for": [places[row["peer"]]]})
            places.append(len(shown) - 1)
            continue
        view = {"buffer": _BUFFERS[row["buffer"]], "offset": row["offset"] * size}
        peer = row["peer"] if row["peer"] >= 0 else None
        made = {"operation": name, "peer": peer, "bytes": row["length"] * size, "step": step, **view}
        if peer is None:
            made |= {"to_buffer": _BUFFERS[row["to_buffer"]], "to_offset": row["to_offset"] * size}
        else:
            made["tag"] = row["tag"]
        places.append(len(shown))
        shown.append(made)
    return shown


def schedule_lines(made: Schedule, result: Mapping[str, Any]) -> Iterator[str]:
    """The schedule for people: what each rank does, messages with peer, bytes and step."""
    call = made.call
    settings = "".join(f", {name} {value}" for name, value in made.parameters.items())
    many = format_count(call.processes, "process", "processes")
    yield f"{made.algorithm.title} on {many}{settings} ({made.algorithm.source})"
    yield ", ".join(format_count(result[name], name[:-1]) for name in ("messages", "bytes", "steps"))
    for name, seconds in result.get("time", {}).items():
        yield f"{format_time(seconds)} by {MODEL_TITLES[name]}, simulated"
    for rank, operations in enumerate(result["ranks"]):
        words = [f"[{each['step']}] {_word(each)}" for each in operations if each["operation"] != "wait"]
        yield f"rank {rank}: {'; '.join(words) or 'nothing'}"


def _word(each: Mapping[str, Any]) -> str:
    way = {"send": " to ", "receive": " from "}.get(each["operation"])
    return f"{each['operation']} {each['bytes']} B" + (f"{way}{each['peer']}" if way else "")
