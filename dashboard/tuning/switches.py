"""What switches rules on and off: environment script, modulefiles for Lmod and Tcl, MCA parameter file."""

import shlex
from collections.abc import Iterable, Mapping

from dashboard.export.components import TUNED_FIRST, parameters
from dashboard.export.usage import han_name, mpich_parameters

#: Stands for the folder that the bundle is installed in.
HERE = "@HERE@"


def variables(target: str, name: str, collectives: Iterable[str], *, nodes: int, adapt: bool = False) -> dict[str, str]:
    """Environment variables under which a library heeds a rules file; empty of a target that has none.

    Parameters
    ----------
    target
        ``openmpi``, ``openmpi-json``, ``openmpi-nodes`` or ``mpich``.
    name
        Of the file, in the folder `HERE`.
    collectives
        That it has rules for.
    nodes
        That it was compared on: on several, Open MPI's tuned component must be asked before others, as it was then.
    adapt
        Whether HAN's rules name adapt.
    """
    file = f"{HERE}/{name}"
    if target == "mpich":
        return mpich_parameters(file, collectives)
    if target == "openmpi-nodes":
        pair = parameters(file, f"{HERE}/{han_name(name)}", adapt=adapt)
        return {f"OMPI_MCA_{each}": value for each, value in pair.items()}
    if target not in ("openmpi", "openmpi-json"):
        return {}
    said = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": file}
    return said if nodes == 1 else {**said, "OMPI_MCA_coll": TUNED_FIRST}


def environment_script(said: Mapping[str, str], name: str, here: str) -> str:
    """Script to be sourced; with the word ``off`` it takes back what it set.

    Bash, zsh and ksh say where a file lies that they source, and hand words on to it. Others do neither: there it takes
    the rules from `here`, or says that it found none, and says how they are switched off.

    Parameters
    ----------
    said
        As `variables` gives them.
    name
        Of the rules file.
    here
        Folder of the rules, as they are written.
    """
    off = f"unset {' '.join(said)}"
    lines = [
        "# Source it: '. colltune.sh' switches the rules on, '. colltune.sh off' switches them off.",
        'if [ "${1:-}" = off ]; then',
        f"    {off}",
        "else",
        '    colltune_here=$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)',
        f'    [ -f "$colltune_here/{name}" ] || colltune_here={shlex.quote(here)}',
        f'    if [ -f "$colltune_here/{name}" ]; then',
        *(f'        export {variable}="{value.replace(HERE, "$colltune_here")}"' for variable, value in said.items()),
        '        [ -n "${BASH_VERSION:-}${ZSH_VERSION:-}${KSH_VERSION:-}" ] ||',
        f"            echo \"colltune.sh: the rules are on; in this shell '{off}' switches them off\" >&2",
        "    else",
        f'        echo "colltune.sh: {name} is not in $colltune_here; nothing is switched on" >&2',
        "    fi",
        "    unset colltune_here",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def lmod(said: Mapping[str, str], words: str) -> str:
    """Modulefile for Lmod, which finds the rules beside itself."""
    lines = [
        f"whatis([[{words}]])",
        "local here = myFileName():match('(.*)/')",
        *(f"setenv({name!r}, {_lua(value)})" for name, value in said.items()),
    ]
    return "\n".join(lines) + "\n"


def tcl(said: Mapping[str, str], words: str) -> str:
    """Modulefile for Tcl modules, which finds the rules beside itself."""
    lines = [
        "#%Module1.0",
        f"module-whatis {{{words}}}",
        "set here [file dirname $ModulesCurrentModulefile]",
        *(f'setenv {name} "{value.replace(HERE, "$here")}"' for name, value in said.items()),
    ]
    return "\n".join(lines) + "\n"


def mca_parameters(said: Mapping[str, str], here: str) -> str:
    """File of MCA parameters, as lines of ``openmpi-mca-params.conf``; empty of another library than Open MPI.

    Parameters
    ----------
    here
        Folder of the rules: such a file knows no variables.
    """
    prefix = "OMPI_MCA_"
    own = {name.removeprefix(prefix): value for name, value in said.items() if name.startswith(prefix)}
    lines = [f"{name} = {value.replace(HERE, here)}" for name, value in own.items()]
    head = f"# The rules lie in {here}; change the line that names them when they are moved."
    return "\n".join([head, *lines, ""]) if own else ""


def _lua(value: str) -> str:
    return f"here .. {value.removeprefix(HERE)!r}" if value.startswith(HERE) else repr(value)
