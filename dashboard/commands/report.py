"""``colltune report``: one HTML file that anyone can open, or its pictures for a paper."""

import argparse
from pathlib import Path

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import trees as cli_trees
from dashboard.commands.load import cubes_of, load
from dashboard.commands.options.results import TARGET
from dashboard.commands.output import say, working, write
from dashboard.commands.prepared import say_ppn, treatment_of
from dashboard.commands.usage import Usage
from dashboard.session.choice import Choice
from dashboard.session.registry import register
from dashboard.session.state import State

_ENDINGS, PICTURES = (".html", ".htm", ".zip"), ".zip"


def report(args: argparse.Namespace) -> None:
    """Write the report."""
    if Path(args.output).suffix.lower() not in _ENDINGS:
        raise Usage(f"-o {args.output}: the name must end in {' or '.join(_ENDINGS)}")
    pictures = Path(args.output).suffix.lower() == PICTURES
    if pictures:
        _refuse_what_is_no_picture(args)
    state = _view(args)
    from dashboard.report import Contents, to_html, to_story

    cli_arguments.target(args.to)
    contents = Contents(
        collectives=tuple(args.collective or ()),
        frontier=args.frontier is not False,
        held_out=None if args.held_out == "none" else args.held_out,
        folds=args.folds,
        target=args.to,
        models=bool(args.models),
    )
    with working() as progress:
        if pictures:
            content = to_story(state.view, contents.collectives, progress=progress)
        else:
            content = to_html(state.view, contents, title=args.title, progress=progress).encode()
    write(args.output, content)
    about = "the pictures with their captions" if pictures else "opens in any browser, without a network"
    say(f"wrote {args.output}: {len(content) / 1e6:.1f} MB, {about}")


def _refuse_what_is_no_picture(args: argparse.Namespace) -> None:
    """Usage where what is asked for is no picture of an archive, so that nothing is left out in silence."""
    asked = {"held-out": args.held_out != "none", "models": args.models, "title": args.title, "to": args.to != TARGET}
    if given := [f"--{name}" for name, there in asked.items() if there]:
        raise Usage(f"{', '.join(given)}: a report in .html has that; {args.output} gets pictures of the tree alone")


def _view(args: argparse.Namespace) -> State:
    """What the page would show with these choices."""
    state = State()
    results = load(args)
    state.show(register(results))
    cubes = cubes_of(args, args.collective or state.view.collectives, results)
    for name in cubes:
        if name not in state.view.collectives:
            there = ", ".join(state.view.collectives) or "none"
            raise Usage(f"-c {name}: a report is on collectives that can be decided on; of these results: {there}")
    state.collective = next(iter(cubes))
    state.treat(treatment_of(args, cubes))
    if args.ppn is None:
        say_ppn({name: state.view.beside(name).needed().cubes[name] for name in cubes})
    state.uncertainty = bool(args.uncertainty)
    state.choose(Choice.of(args.tree, cli_trees.chosen(args)))
    return state
