"""``colltune model``: its subcommands and their options."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import values as cli_values
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.domain.models import MODEL_NAMES
from dashboard.session.treatment import PARAMETERS

TREE = "model"
#: Commands that try models beside the tree that is asked for, once they have parameters.
WITH_MODELS = ("frontier", "report")
#: Where the family is that decides with models.
PLACE = "dashboard.models.family:FAMILY"

_COMMANDS = {
    "list": "dashboard.commands.model.predict:listing",
    "errata": "dashboard.commands.model.predict:errata",
    "predict": "dashboard.commands.model.predict:predict",
    "segments": "dashboard.commands.model.predict:segments",
    "parameters": "dashboard.commands.model.fit:parameters",
    "fit": "dashboard.commands.model.fit:fit",
    "runtime": "dashboard.commands.model.fit:runtime",
    "decide": "dashboard.commands.model.fit:decide",
    "map": "dashboard.commands.model.map:model_map",
}


def model(args: argparse.Namespace) -> None:
    """Run the subcommand of ``model`` that was called."""
    resolve_name(_COMMANDS[args.model_command])(args)


@contextmanager
def known(args: argparse.Namespace) -> Iterator[None]:
    """While a command runs, models are a way of deciding as all others, if it has parameters or asks for them."""
    trees, given = _asked(args), getattr(args, "model_parameters", None)
    if hasattr(args, "complete"):
        if args.parameters and not args.complete:
            raise Usage("--complete-with has the parameters of --complete MODEL, which is not given")
        if args.complete and not args.parameters:
            say("note: no --complete-with: the model that completes is fitted to the measurements themselves")
    if not (given or trees):
        yield
        return
    if not trees and args.command not in WITH_MODELS:
        raise Usage("--parameters are those of --tree model; of a model that completes they are --complete-with")
    from dashboard.decisions.grown.families import FAMILIES
    from dashboard.models.family import family_of
    from dashboard.models.parameter_text import find_parameters

    if given:
        asked = getattr(args, "tree_model", None)
        network = find_parameters(given, asked if asked in MODEL_NAMES else MODEL_NAMES[0])
        if "plogp" in (getattr(args, "trust", None) or "") and (converted := network.conversion()):
            say(f"note: {converted}")
    else:
        if not all(_names_parameters(tree) for tree in trees):
            say("note: no --parameters: those of the models are fitted to the measurements themselves")
        network = None
    with FAMILIES.also(family_of(network)):
        yield


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add the parameters of the models that decide."""
    text = f"{PARAMETERS.help} Default: {PARAMETERS.unlimited}"
    group = parser.add_argument_group("models", "trees of communication models")
    group.add_argument("--parameters", dest="model_parameters", metavar="SET", help=text)


def _asked(args: argparse.Namespace) -> list[str]:
    """Trees of the command that decide by models, each with its options behind a colon."""
    trees = [getattr(args, "tree", None) or "", *(getattr(args, "trees", None) or [])]
    trees += getattr(args, "families", None) or []
    return [tree for tree in trees if tree.partition(":")[0] == TREE]


def _names_parameters(tree: str) -> bool:
    """Whether the options of a tree say of which network its parameters are, as in ``model:parameters=grig-tcp``."""
    words = tree.partition(":")[2].split(",")
    return any(word.partition("=")[0].strip() == "parameters" for word in words)


def add_options(
    parser: argparse.ArgumentParser, common: Sequence[Any], hints: Sequence[Any], judging: argparse.ArgumentParser
) -> None:
    """Add the subcommands of ``model``.

    Parameters
    ----------
    parser
        Of ``model``.
    common
        Parents of every subcommand.
    hints
        Further parents of those that read results.
    judging
        A further parent of those that read results of collectives.
    """
    add = cli_arguments.Subcommands(parser, common).add
    listing = add("list", "List the models: algorithms, where they are printed, and published machines.")
    listing.add_argument("--formulas", action="store_true", help="also show their formulas, as LaTeX mathematics")
    for each in (listing, add("errata", "List what is wrong in print, what is right and why.")):
        each.add_argument("-c", "--collective", help="only this collective")
    _sizes(add("predict", "Predict the time of one algorithm."), segment=True)
    _sizes(add("segments", "Find the optimal segment size, and what is within 5 % and 10 % of it."), segment=False)
    _parameters(add("parameters", "Make parameters of a ping-pong or of a LogP-style table.", *hints))
    _fit(add("fit", "Fit parameters to measured collectives.", *hints, judging))
    _runtime(
        add("runtime", "Fit runtime functions, linear and logarithmic in the number of processes.", *hints, judging)
    )
    _decide(add("decide", "Show what deciding by models costs against measurement.", *hints, judging))
    about = "Make the decision map of models without any measurement, or that of the optimal implementation."
    _map(add("map", about))


def _sizes(parser: argparse.ArgumentParser, *, segment: bool) -> None:
    parser.add_argument("-c", "--collective", required=True, help="such as bcast")
    parser.add_argument("--algorithm", required=True, metavar="NAME", help="such as pipeline")
    parser.add_argument("--model", required=True, choices=MODEL_NAMES, help="point-to-point model")
    parser.add_argument("--comm-size", required=True, type=cli_values.count, metavar="P", help="number of processes")
    size = {"metavar": "BYTES", "type": cli_values.size}
    message: Callable[..., Any] = parser.add_argument
    message("--message-size", default=None, help="such as 65536 or 64KiB; barriers have none", **size)
    if segment:
        message("--segment-size", default=0, help="such as 8192 or 8KiB; 0 = no segments (default)", **size)
        case: dict[str, Any] = {"dest": "case", "action": "store_const", "const": "best", "default": "worst"}
        parser.add_argument("--best-case", help="T_min, where there are T_min and T_max", **case)
    _network(parser, "formula")


def _measured(parser: argparse.ArgumentParser, about: str) -> None:
    """Add results of collectives, and which of them are meant."""
    cli_arguments.results(parser, about="results of collectives")
    cli_arguments.collectives(parser, about)
    cli_arguments.ppn(parser)


def _saved(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE.json", help="save the parameters as a file for --parameters")
    parser.add_argument("--name", help="name of the parameters, such as that of the machine")


def _parameters(parser: argparse.ArgumentParser) -> None:
    about = "results with a ping-pong (IMB, OSU, SKaMPI), or one table .csv of half round trips, gaps, overheads"
    cli_arguments.results(parser, about=about)
    parser.add_argument(
        "--gamma", type=cli_values.percent, default=0.0, metavar="S_PER_B", help="time to compute a byte, s (default 0)"
    )
    _saved(parser)


def _fit(parser: argparse.ArgumentParser) -> None:
    _measured(parser, "fit to these only")
    _formulas(parser)
    parser.add_argument("--method", dest="methods", action="append", metavar="LABEL", help="fit to these methods only")
    parser.add_argument(
        "--model",
        dest="models",
        action="append",
        choices=MODEL_NAMES,
        help="fit this model only; may be given several times",
    )
    parser.add_argument(
        "--parameters", metavar="SET", help="start from these; PLogP takes its overheads from them and keeps them"
    )
    parser.add_argument(
        "--level", type=cli_values.level, default=0.95, help="level of the confidence intervals (default 0.95)"
    )
    _saved(parser)


def _runtime(parser: argparse.ArgumentParser) -> None:
    _measured(parser, "of these only")
    parser.add_argument("--method", dest="methods", action="append", metavar="LABEL", help="only these methods")
    parser.add_argument(
        "--from", dest="low", type=cli_values.size, default=1, metavar="BYTES", help="smallest message size"
    )
    parser.add_argument("--to", dest="high", type=cli_values.size, metavar="BYTES", help="largest message size")


def _decide(parser: argparse.ArgumentParser) -> None:
    _measured(parser, "of these only")
    _network(parser)
    _trust(parser)


def _map(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--collective", required=True, help="such as bcast")
    sizes: dict[str, Any] = {"nargs": "+", "required": True}
    message: Callable[..., Any] = parser.add_argument
    message("--comm-size", dest="comm_sizes", type=cli_values.count, metavar="P", help="numbers of processes", **sizes)
    message(
        "--message-size", dest="message_sizes", type=cli_values.size, metavar="BYTES", help="such as 1KiB 1MiB", **sizes
    )
    parser.add_argument(
        "--model", default="vote", choices=(*MODEL_NAMES, "vote", "weight"), help="model that chooses (default vote)"
    )
    parser.add_argument(
        "--methods", metavar="A,B,…", help="choose from these: binomial,'pipeline 8KiB' (default: all algorithms)"
    )
    message(
        "--segment-size",
        dest="segment_sizes",
        type=cli_values.size,
        nargs="+",
        default=[0],
        metavar="BYTES",
        help="with each of these segment sizes; 0 = none",
    )
    parser.add_argument(
        "--optimal",
        action="store_true",
        help="each algorithm with its optimal segment size (dissertation, Figure 6.2); needs one --model",
    )
    message(
        "--multiple", type=cli_values.size, default=1, metavar="BYTES", help="of which those are multiples (default 1)"
    )
    parser.add_argument("-o", "--output", metavar="FILE.json", help="save the decision function")
    _network(parser)
    _trust(parser)


def _network(parser: argparse.ArgumentParser, what: str = "formulas") -> None:
    parser.add_argument("--parameters", required=True, metavar="SET", help=PARAMETERS.help)
    _formulas(parser, what)


def _formulas(parser: argparse.ArgumentParser, what: str = "formulas") -> None:
    variant: dict[str, Any] = {"dest": "variant", "action": "store_const", "default": "corrected"}
    about = f"the {what} as published, errata included"
    parser.add_argument("--as-published", const="as_published", help=about, **variant)


def _trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust", metavar="MODEL=W,…", help="weights of the votes (default hockney=1,loggp=1.1,plogp=1.2)"
    )
