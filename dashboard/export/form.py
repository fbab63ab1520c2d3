"""Rules in the form that the library at hand reads: written from decision functions, and read back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.decisions import DecisionFunction
from dashboard.decisions.grown.default import is_default
from dashboard.export import TARGETS
from dashboard.export.rules import RulesFile
from dashboard.export.rules.lint import read_text
from dashboard.export.target import ExportError
from dashboard.export.targets.mpich.base import installed
from loaders.openmpi import DEFAULT_VERSION, series

#: Target of rules by the name of the library that reads them.
READ_BY: Mapping[str, str] = {"Open MPI": "openmpi", "MPICH": "mpich"}
_TUNED, _JSON, _NODES, _MPICH = "openmpi", "openmpi-json", "openmpi-nodes", "mpich"
#: Formats of the files that a library takes as they are, by target.
_FORMATS = {_MPICH: ("mpich",), _JSON: ("openmpi-3",)}
_COMMENT = '"comment": ['
_VERSION_2 = "rule-file-version-2"


@dataclass(frozen=True)
class Form:
    """A kind of rules."""

    #: In `dashboard.export.TARGETS`.
    target: str
    #: Series of the Open MPI that reads them.
    version: str = DEFAULT_VERSION
    #: Text of the complete file that an MPICH itself holds; empty of another library.
    base: str = ""

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of the files that the library takes as they are."""
        return _FORMATS.get(self.target, ("openmpi-1", "openmpi-2"))

    @property
    def title(self) -> str:
        """For people."""
        return "MPICH's collective selection" if self.target == _MPICH else f"rules for Open MPI {self.version}"

    def read(self, text: str) -> RulesFile:
        """Read rules; what the library's own file says is left to the library."""
        return read_text(text, version=self.version, own=self.base)

    def write(
        self,
        decisions: Sequence[DecisionFunction],
        *,
        provenance: Mapping[str, Any] | None = None,
        note: str = "",
        like: str = "",
    ) -> str:
        """Write decision functions.

        Parameters
        ----------
        decisions, provenance
            As for `dashboard.export.target.Target.write`.
        note
            A line for the head, where such a file may have one.
        like
            Rules that they are made of: the same version of the format is taken.

        Raises
        ------
        ExportError
            When they cannot be said so.
        """
        target = TARGETS[self.target]
        known = {"base": self.base or None, "version": self.version}
        options: dict[str, Any] = {name: value for name, value in known.items() if name in target.options}
        if self.target == _TUNED and like.startswith(_VERSION_2):
            options |= {"file_version": 2}
        # What is left to an MPICH stands in its own file anyway.
        kept = [decision for decision in decisions if self.target != _MPICH or not is_default(decision)]
        return self._noted(target.write(kept, provenance, **options) if kept else self.base, note)

    def _noted(self, text: str, note: str) -> str:
        if not note or self.target == _MPICH:
            return text
        if text.startswith("{"):
            return text.replace(_COMMENT, f"{_COMMENT}\n  {json.dumps(note)},", 1)
        head, _, rest = text.partition("\n")
        return "\n".join([head, f"# {note}", rest] if head.startswith("rule") else [f"# {note}", text])


def form_of(library: str, version: str, *, nodes: bool = False) -> Form:
    """The form of rules that a library reads.

    Parameters
    ----------
    library, version
        Such as ``Open MPI`` and ``5.0.11``; of MPICH it is the one of this Python.
    nodes
        Whether HAN's rules belong to it, as across nodes.

    Raises
    ------
    ExportError
        When it reads none; the message says which libraries do.
    """
    target = READ_BY.get(library)
    if target is None:
        raise ExportError(f"{library} reads no rules files; {' and '.join(READ_BY)} do")
    if nodes and target == _MPICH:
        raise ExportError("MPICH has no HAN, whose rules Open MPI 5.0 takes beside those of tuned")
    if target == _MPICH:
        held = installed()
        return Form(target, base=held[1] if held else "")
    try:
        known = series(version)
    except ValueError:
        known = DEFAULT_VERSION
    return Form(_NODES if nodes else _JSON if known == "6.0" else target, known)
