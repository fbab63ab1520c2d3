"""The options of each way of deciding on the command line, made from what the families themselves say."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.commands import values as cli_values
from dashboard.commands.model import command as cli_model
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.decisions.grown.families import Families
    from dashboard.decisions.grown.family import Family
    from dashboard.domain.options import Option

DEFAULT = "recommended"
#: Meant where its own options are given without a tree.
QUADTREE = "quadtree"
#: Made of parameters that are given with it, so that no family is there before.
MODEL = cli_model.TREE
#: Commands that make one tree, and so take its options.
WITH_TREE = ("decide", "export", "portability", "report")

_PREFIX = "tree_"
#: How options that may be given again collect what they are given.
_SEVERAL: dict[str, Any] = {"names": cli_values.Names, "words": "append"}
#: So many choices are listed in the help.
_FEW = 8


def named(argv: Sequence[str]) -> str | None:
    """The tree that the arguments name; None when they name none."""
    family_name = None
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        if word == "--tree" and following:
            family_name = following
        elif word.startswith("--tree="):
            family_name = word.partition("=")[2]
    return family_name


def meant(argv: Sequence[str]) -> str:
    """The tree that the arguments name, or else mean: options of the quadtree, and sweeps of them, are of no other."""
    own = {flag for option in _families()[QUADTREE].options for flag in option.flags} | {"--sweep"}
    words = {word.partition("=")[0] for word in argv}
    return named(argv) or (QUADTREE if own & words else DEFAULT)


def add_options(parser: argparse.ArgumentParser, tree: str | None) -> None:
    """Add the options of one tree, or for ``--help`` those of all.

    Raises
    ------
    Usage
        There is no such tree, or not yet.
    """
    families = _families()
    trees = ", ".join(families)
    group = parser.add_argument_group("decision")
    group.add_argument(
        "--tree",
        default=tree or DEFAULT,
        metavar="TREE",
        help=f"{trees} (default {DEFAULT}; {QUADTREE} where options of it are given)",
    )
    if tree is not None and tree not in families:
        raise Usage(f"--tree {tree}: there is no such choice; available: {trees}")
    several: dict[str, list[tuple[str, Option]]] = {}
    for name in families if tree is None else (tree,):
        for option in _typed(families[name]):
            several.setdefault(option.name, []).append((name, option))
    if tree is not None:
        group = parser.add_argument_group(f"{families[tree].title} ({tree})", families[tree].source.replace("%", "%%"))
    for uses in several.values():
        first = uses[0][1]
        text = _help(first) if tree else f"{', '.join(owner for owner, _ in uses)}: {first.title}"
        add_choice(group, first, text)
    if tree is None:
        parser.epilog = f"What the options of a tree do and default to: {parser.prog} --tree {DEFAULT} --help"


def _families() -> Families:
    """All trees that can be grown, models among them."""
    from dashboard.decisions.grown.families import PLACES, Families

    return Families({**PLACES, MODEL: cli_model.PLACE})


def _typed(family: Family) -> Sequence[Option]:
    """Options of a family that are typed as its own; the models' parameters are an option of the command."""
    return [option for option in family.options if (family.name, option.name) != (MODEL, "parameters")]


def chosen(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the tree, or of what else took `add_choice`, that were given, None among them, by their names."""
    return {name.removeprefix(_PREFIX): value for name, value in vars(args).items() if name.startswith(_PREFIX)}


def refuse(tree: str, unknown: Sequence[str]) -> None:
    """Usage for options that belong to other trees, naming those of this one."""
    families = _families()
    given = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    for word in given:
        others = [
            name for name, family in families.items() if any(word in _all_flags(option) for option in _typed(family))
        ]
        if others:
            options = _typed(families[tree]) if tree in families else ()
            own = ", ".join("/".join(option.flags) for option in options) or "no options"
            raise Usage(f"{word} is an option of --tree {' and '.join(others)}; --tree {tree} takes {own}")


def read(text: str) -> tuple[str, dict[str, Any]]:
    """A tree and its options, such as ``cart:max_leaves=13,min_cases=2``.

    Raises
    ------
    Usage, OptionError
        There is no such tree, a word has no value, the family no such option, or the value does not fit.
    """
    from dashboard.decisions.grown.families import family

    tree, _, words = text.partition(":")
    grown, options = family(tree), {}
    for word in option_words(words, grown):
        name, equals, value = word.partition("=")
        if not equals:
            raise Usage(f"{word!r} is not of the form option=value, such as leaves=13")
        option = grown.option(name.strip().replace("-", "_"))
        try:
            options[option.name] = _reader(option)(value.strip())
        except argparse.ArgumentTypeError as error:
            raise Usage(f"{name}: {error}") from None
    return tree, options


def option_words(words: str, family: Family) -> list[str]:
    """Each ``option=value``; what follows the comma after free text is of it, unless it names another option."""
    kinds = {option.name: option.kind for option in family.options}
    parts: list[str] = []
    last = ""
    for word in filter(None, words.split(",")):
        name = word.partition("=")[0].strip().replace("-", "_")
        if kinds.get(last) == "name" and name not in kinds:
            parts[-1] += f",{word}"
        else:
            parts.append(word)
            last = name
    return parts


def words_of(options: Mapping[str, Any], family: Family) -> str:
    """The options that differ from their defaults, as `read` takes them: ``max_depth=3,threshold=0.9``."""
    from dashboard.decisions.function.attributes import SIZES

    words = []
    for option in family.options:
        value = options.get(option.name, option.default)
        plain = tuple(value) if isinstance(value, list) else value
        usual = (option.default, SIZES) if option.kind == "names" else (option.default,)
        if plain not in usual:
            words.append(f"{option.name}={option.written(plain)}")
    return ",".join(words)


def _all_flags(option: Option) -> list[str]:
    flags = list(option.flags)
    return [*flags, "--no-" + flags[-1].removeprefix("--")] if option.kind == "flag" else flags


def _help(option: Option) -> str:
    text = option.help.rstrip(".")
    if option.kind == "words":
        return f"{text}; as {option.flags[0]}={option.valued}, and again for more"
    if option.kind == "flag":
        return f"{text} (default {'yes' if option.default else 'no'})"
    default = option.unlimited if option.default is None else option.default
    if default == "":
        return text
    default = ",".join(default) if isinstance(default, tuple) else default
    choices = f"{', '.join(option.choices)}; " if 0 < len(option.choices) <= _FEW else ""
    return f"{text} ({choices}default {f'{default:g}' if isinstance(default, float) else default})"


def add_option(group: Any, option: Option, dest: str = "") -> None:
    """Add an option as it is declared, under its own name or another; where it is not given, its value is None."""
    _add(group, option, _help(option), dest=dest or option.name, default=None)


def add_choice(group: Any, option: Option, text: str = "") -> None:
    """Add an option that `chosen` reads, with its own help or another text."""
    _add(group, option, text or _help(option), dest=_PREFIX + option.name, default=argparse.SUPPRESS)


def _add(group: Any, option: Option, text: str, **known: Any) -> None:
    flags = option.flags
    known |= {"help": text.replace("%", "%%")}
    if option.kind == "flag":
        group.add_argument(*flags, action=argparse.BooleanOptionalAction, **known)
        return
    known |= {"metavar": option.valued, "type": str if option.kind == "words" else _reader(option)}
    if option.kind in _SEVERAL:
        known["action"] = _SEVERAL[option.kind]
    group.add_argument(*flags, **known)


def _reader(option: Option) -> Callable[[str], Any]:
    """What turns the text of a value into the value; argparse's error for what does not fit."""

    def read_value(text: str) -> Any:
        """Read one value."""
        from dashboard.domain.errors import OptionError

        try:
            return option.checked(_value(option, text))
        except OptionError as error:
            # The option's name stands before it already.
            said = str(error).partition(", expected ")[2].replace("or None for", "or none for")
            if not said:
                raise argparse.ArgumentTypeError(str(error).removeprefix(f"{option.name}: ")) from None
            raise argparse.ArgumentTypeError(f"{text!r} given, expected {said}") from None

    return read_value


def _value(option: Option, text: str) -> Any:
    if text.lower() == "none" and option.unlimited and "none" not in option.choices:
        return None
    if option.kind == "flag":
        return {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}.get(
            text.lower(), text
        )
    if option.kind == "names":
        return text.replace("+", ",")
    if option.kind not in ("int", "float"):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
