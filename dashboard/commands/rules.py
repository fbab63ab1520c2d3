"""Rules files that commands are given as decisions: ``--tree rules --file``, ``rules:file=``, ``--with-rules``."""

import argparse
from collections.abc import Iterator
from typing import Any

from dashboard.commands import trees as cli_trees

TREE = "rules"


def keep(args: argparse.Namespace) -> None:
    """Read the rules files that the arguments name, so that the family ``rules`` finds them.

    Raises
    ------
    Usage
        One cannot be read, or is none.
    """
    paths = list(dict.fromkeys(_named(args)))
    if not paths:
        return
    from dashboard.export.rules.given import keep_file

    for path in paths:
        keep_file(path)


def settings(args: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """What a frontier is to try beside its own: trees, and each rules file also with the best method in each region."""
    tried: dict[str, list[dict[str, Any]]] = {}
    files = [(TREE, {"file": path, **more}) for path in args.rules_files for more in ({}, {"improve": True})]
    for name, options in [*files, *map(cli_trees.read, args.trees)]:
        tried.setdefault(name, []).append(options)
    return tried


def _named(args: argparse.Namespace) -> Iterator[str]:
    if getattr(args, "tree", None) == TREE and getattr(args, "tree_file", None):
        yield args.tree_file
    yield from getattr(args, "rules_files", None) or []
    for text in getattr(args, "trees", None) or []:
        name, _, options = text.partition(":")
        if name == TREE:
            from dashboard.decisions.grown.families import family

            words = (word.partition("=") for word in cli_trees.option_words(options, family(TREE)))
            yield from (value.strip() for option, _, value in words if option.strip() == "file")
