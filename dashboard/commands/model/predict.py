"""``colltune model list | errata | predict | segments``: what follows from formulas and parameters alone."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.commands.output import say, show
from dashboard.commands.usage import Usage
from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_bytes, format_count
from dashboard.models import (
    ALL,
    MACHINE_TITLES,
    MACHINES,
    MODEL_NAMES,
    MODEL_TITLES,
    CollectiveModel,
    PointToPointModel,
    model_of,
    models_of,
)
from dashboard.models.errata import Erratum
from dashboard.models.errata import errata as find
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import find_parameters
from dashboard.models.segments import Segmentation

_RANGES = (5, 10)


def listing(args: argparse.Namespace) -> None:
    """List models and machines."""
    chosen = tuple(models_of(args.collective).values()) if args.collective else ALL
    result: dict[str, Any] = {
        "models": [
            {
                "collective": each.collective,
                "algorithm": each.algorithm,
                "processes": each.validity,
                "segmented": each.segmented,
                "source": each.source,
                "note": each.note,
                **({name: each.formula(name).written().latex for name in MODEL_NAMES} if args.formulas else {}),
            }
            for each in chosen
        ],
        "machines": [
            {
                "name": name,
                "title": MACHINE_TITLES[name],
                "models": list(each.models),
                "source": each.provenance["sources"][0],
            }
            for name, each in MACHINES.items()
        ],
    }
    show(args, result, lambda: _listing_lines(result, with_formulas=args.formulas))


def _listing_lines(result: Mapping[str, Any], *, with_formulas: bool) -> list[str]:
    models = result["models"]
    head = ["collective", "algorithm", "processes", "segments", "source"]
    rows = [
        [each["collective"], each["algorithm"], each["processes"], each["segmented"] or "-", each["source"]]
        for each in models
    ]
    lines = cli_text.table(head, rows)
    if with_formulas:
        for each in models:
            lines += ["", f"{each['collective']} {each['algorithm']}"]
            lines += [f"  {MODEL_TITLES[name]}: {each[name]}" for name in MODEL_NAMES]
    machines = [[each["name"], each["title"], ", ".join(each["models"])] for each in result["machines"]]
    return [*lines, "", *cli_text.table(["parameters", "machine", "models"], machines)]


def errata(args: argparse.Namespace) -> None:
    """List what is wrong in print."""
    entries = find(args.collective)
    texts = [{"printed": each.printed.latex, "corrected": each.corrected.latex} for each in entries]
    result = {"errata": [{**vars(each), **text} for each, text in zip(entries, texts, strict=True)]}

    show(args, result, lambda: _errata_lines(entries))


def _errata_lines(entries: Sequence[Erratum]) -> list[str]:
    lines: list[str] = []
    for number, each in enumerate(entries, 1):
        lines += [
            f"{number}. {each.where}",
            f"   printed: {each.printed.latex}",
            f"   correct: {each.corrected.latex}",
            f"   {each.why}",
            "",
        ]
    return lines[:-1]


def _model(args: argparse.Namespace) -> CollectiveModel:
    """The model, by its own name or by a library's."""
    from dashboard.models.aliases import algorithm_of

    return model_of(args.collective, algorithm_of(args.collective, args.algorithm) or args.algorithm)


def _message(args: argparse.Namespace) -> int:
    if args.message_size is not None:
        return int(args.message_size)
    if args.collective == "barrier":
        return 0
    raise Usage("--message-size is needed: bytes, such as 64KiB (only a barrier has none)")


def _about(args: argparse.Namespace, model: CollectiveModel, network: ParameterSet) -> dict[str, Any]:
    return {
        "collective": model.collective,
        "algorithm": model.algorithm,
        "model": args.model,
        "comm_size": args.comm_size,
        "message_size": _message(args),
        "variant": args.variant,
        "source": model.source,
        "parameters": {"name": network.name, **network.of(args.model).to_dict()},
    }


def say_network(network: ParameterSet, *models: str) -> None:
    """Say what is to be known of parameters, and which of them are converted."""
    if note := network.provenance.get("note"):
        say(f"note: {network.name}: {note}")
    for converted in filter(None, map(network.conversion, models)):
        say(f"note: {converted}")


def say_undetermined(
    network: ParameterSet, model: str, predicted: Callable[[PointToPointModel], FloatArray]
) -> list[str]:
    """Say what parameters are converted, and warn of times that rest on what a fit did not determine; names of that."""
    from dashboard.models.undetermined import resting, warning

    say_network(network, model)
    rests = resting(network, model, predicted)
    if rests:
        say(f"warning: {warning(rests)}")
    return list(rests)


def predict(args: argparse.Namespace) -> None:
    """Predict one time."""
    model, message = _model(args), _message(args)
    network = find_parameters(args.parameters, args.model)
    about = _about(args, model, network)
    sizes = args.comm_size, message, args.segment_size

    def predicted(parameters: PointToPointModel) -> FloatArray:
        return model.predict(parameters, *sizes, variant=args.variant, case=args.case, strict=True)

    time = predicted(network.of(args.model))
    if args.segment_size and not model.segmented:
        say(f"note: {model.collective} {model.algorithm} has no segments: --segment-size changes nothing")
    if args.message_size and args.collective == "barrier":
        say("note: a barrier has no message: --message-size changes nothing")
    segment = args.segment_size if model.segmented else 0
    formula = model.formula(args.model).written(args.variant, args.case).latex
    if r"\gamma" in formula and not network.of(args.model).gamma:
        say("note: gamma, the time to compute on a byte, is 0 in these parameters: reducing costs nothing")
    result = {"time": float(time), **about, "segment_size": segment, "formula": formula}
    result["undetermined"] = say_undetermined(network, args.model, predicted)

    def lines() -> list[str]:
        cut = f" in segments of {format_bytes(segment)}" if segment else ""
        size = "" if args.collective == "barrier" else f" of {format_bytes(message)}{cut}"
        what = f"{model.collective} {model.algorithm}{size} on {format_count(args.comm_size, 'process', 'processes')}"
        return [f"{cli_text.time(float(time))}  {what}", f"{args.model}, {network.name}: {formula}", model.source]

    show(args, result, lines)


def segments(args: argparse.Namespace) -> None:
    """Find the optimal segment size."""
    model, message = _model(args), _message(args)
    network = find_parameters(args.parameters, args.model)
    about, parameters = _about(args, model, network), network.of(args.model)
    names = (model.collective, model.algorithm)
    sizes = args.comm_size, message
    best = Segmentation.of(*names, parameters, *sizes, args.variant)
    if args.comm_size < 2 or message < 1:
        raise Usage("segments need two processes or more, and a message of 1 B or more")
    if not model.applies(args.comm_size):
        raise Usage(f"{' '.join(names)} works on {model.validity} of processes; found {args.comm_size}")

    def predicted(network: PointToPointModel) -> FloatArray:
        return model.predict(network, *sizes, best.optimum, variant=args.variant)

    result = {
        "segment_size": best.optimum if best.pays else 0.0,
        "time": best.time,
        "time_without": best.whole_time,
        "formula_segment_size": best.formula,
        "formula_time": best.formula_time,
        "curve_best": best.curve.best,
        **{f"within_{percent}": list(best.within(percent)) for percent in _RANGES},
        **about,
        "undetermined": say_undetermined(network, args.model, predicted),
        "curve": {"segment_size": best.curve.segment_size.tolist(), "time": best.curve.time.tolist()},
    }
    what = f"{' '.join(names)} of {format_bytes(message)} on {args.comm_size} processes"
    show(args, result, lambda: [f"{what} ({args.model}, {network.name})", *_segment_lines(best)])


def _segment_lines(best: Segmentation) -> list[str]:
    unsegmented = cli_text.time(best.whole_time)
    lines = [
        f"optimal segment size {format_bytes(best.optimum)}: {cli_text.time(best.time)}, without segments {unsegmented}"
        if best.pays
        else f"segments do not pay: {unsegmented} without"
    ]
    if best.formula:
        by_formula = cli_text.time(best.formula_time)
        lines.append(
            f"by the formula, whose segments need not be whole: {format_bytes(round(best.formula))}, "
            f"{by_formula} with whole ones"
        )
    for percent in _RANGES:
        ends = " to ".join(format_bytes(round(each)) for each in best.within(percent))
        gaps = ", with gaps, since segments are whole" if best.gaps(percent) else ""
        lines.append(f"at most {percent} % above the least time: from {ends}{gaps}")
    return lines
