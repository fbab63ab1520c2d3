"""The options of commands that show results, and decide by them."""

import argparse

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import treatment as cli_treatment
from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.domain.held_out import CRITERION
from dashboard.domain.written import FRONTIER, MODELS, OF_TARGETS
from dashboard.session.treatment import UNCERTAINTY

#: Where a dashboard that was started without further words answers.
DASHBOARD = "http://localhost:5006/dashboard"
#: What a report writes rules as.
TARGET = "openmpi"


def collectives(parser: argparse.ArgumentParser, combined: str = "") -> None:
    """Add which collectives are decided on, and how: with `combined`, that says what one tree for several is."""
    cli_arguments.collectives(parser, "the collective")
    cli_arguments.ppn(parser, every=True)
    if combined:
        parser.add_argument("--combined", action="store_true", help=combined)


def map_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``map``, but for those of measurements and of trees."""
    cli_trees.add_option(parser, UNCERTAINTY)
    cli_treatment.add_options(parser, "tolerance", "statistical", *cli_treatment.JUDGED_BY)
    parser.add_argument(
        "--ties",
        choices=("mark", "simplest"),
        default="mark",
        help="draw cells with ties as such (default), or take there what gives the fewest rules",
    )


def decide_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``decide``, but for those of measurements and of trees."""
    collectives(parser, combined="one tree for several collectives, which it tests")
    what = "show how size and penalty change: of a quadtree with this limit, of C4.5 with the settings of Table 6.7"
    parser.add_argument("--sweep", choices=("depth", "threshold", "settings"), help=what)
    parser.add_argument(
        "--link",
        nargs="?",
        const=DASHBOARD,
        metavar="URL",
        help=f"print last the address at which the page shows the same (of a dashboard at URL, default {DASHBOARD})",
    )
    drawing = argparse.BooleanOptionalAction
    parser.add_argument("--draw", action=drawing, default=None, help="draw the tree as text (default: up to 64 leaves)")
    cli_arguments.json(parser)


def export_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``export``, but for those of measurements and of trees."""
    collectives(parser, combined="one tree for several collectives, which it tests")
    parser.add_argument(
        "--to", required=True, metavar="TARGET", help="such as c, openmpi or mpich; any other name lists them"
    )
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="file to write; - is standard output (default)"
    )
    group = parser.add_argument_group("rules files", "for targets that are rules of a library")
    for option in OF_TARGETS:
        cli_trees.add_option(group, option)
    group.add_argument(
        "--allow-loss",
        type=cli_values.percent,
        default=0.0,
        metavar="PCT",
        help="points by which the file's mean penalty may exceed that of the tree; beyond that the file is written "
        "all the same, but the exit status is 1 (default 0)",
    )
    cli_arguments.beyond(group)
    cli_arguments.name(group, "the results")
    cli_arguments.only(group)
    cli_arguments.beside_c(parser)


def frontier_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``frontier``, but for those of measurements and of trees."""
    collectives(parser, combined="trees for several collectives, which they test")
    parser.add_argument(
        "--family",
        dest="families",
        action="extend",
        nargs="+",
        metavar="TREE",
        help="ways of deciding to try (default: all that suit the data)",
    )
    cli_trees.add_option(parser, CRITERION)
    parser.add_argument(
        "--within",
        type=cli_values.percent,
        metavar="POINTS",
        help="recommend the smallest tree within so many points of the best (default: within one standard error)",
    )
    rules = "rules files of libraries, or saved decisions: judge them too, as they are and improved"
    trees = "trees with settings of their own, as 'compare' takes them: judge them too"
    for dest, flag, metavar, text in (
        ("rules_files", "--with-rules", "FILE", rules),
        ("trees", "--with-trees", "TREE:OPTION=VALUE,…", trees),
    ):
        parser.add_argument(flag, dest=dest, action="extend", nargs="+", default=[], metavar=metavar, help=text)
    parser.add_argument("--timed", action="store_true", help="measure how long one decision takes")
    parser.add_argument("--all", action="store_true", help="list also the trees that others beat in size and penalty")
    cli_arguments.json(parser)


def compare_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``compare``, but for those of measurements and of trees."""
    collectives(parser, combined="trees for several collectives, which they test")
    parser.add_argument(
        "--trees",
        action="extend",
        nargs="+",
        required=True,
        metavar="TREE:OPTION=VALUE,…",
        help='such as "quadtree:max_depth=3" "c45:min_cases=4" "rules:file=FILE" "default"; two are also compared cell '
        "by cell",
    )
    cli_arguments.json(parser)


def portability_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``portability``, all but the hints, those of measurements and of trees."""
    parser.add_argument(
        "--against",
        nargs="+",
        required=True,
        metavar="PATH",
        help="results of the other campaign, such as those of another machine or version of the library; hints are "
        "for both, so convert files with other names first",
    )
    parser.set_defaults(combined=False)
    parser.add_argument(
        "--all-methods",
        action="store_true",
        help="decide between all methods of each campaign (default: those that both have)",
    )


def report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``report``, all but the hints, those of measurements, of trees and of what is held out."""
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="name ending in .html; in .zip: the pictures alone, as SVG, PDF and PNG, with captions",
    )
    cli_arguments.collectives(parser, "report on this collective")
    cli_arguments.ppn(parser, every=True)
    parser.add_argument("--title", default="", help="title of the report (default: from the measurements)")
    parser.add_argument(
        "--to", default=TARGET, metavar="TARGET", help=f"what the rules are written as (default {TARGET})"
    )
    for option in (FRONTIER, UNCERTAINTY, MODELS):
        cli_trees.add_option(parser, option)
