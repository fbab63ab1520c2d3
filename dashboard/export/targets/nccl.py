"""Decision functions as the CSV that NCCL's tuner plugin reads (``NCCL_TUNER_CONFIG_FILE``).

Source: NVIDIA/nccl, plugins/tuner/example. The first line that fits a call acts; a call that no line fits is decided by
NCCL. A line is for one number of ranks, or for all; its bytes are those of all ranks for allgather and reduce_scatter.
"""

import re
from collections.abc import Mapping, Sequence

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.export import provenance as origin
from dashboard.export.bands import LARGEST, Band, bands_of
from dashboard.export.library_names import is_own_decision
from dashboard.export.parts import per_collective
from dashboard.export.remarks import about, hashed
from dashboard.export.rules import nccl
from dashboard.export.rules.nccl import ALGORITHMS, PROTOCOLS
from dashboard.export.target import Decisions, ExportError, Facts, LeftAloneError, Target, no_segments
from dashboard.export.usage import Step
from loaders.collectives import COLLECTIVES

_NAMES: Mapping[str, str] = {ours: theirs for theirs, ours in nccl.COLLECTIVES.items()}
#: Lines of one collective, at most: each number of ranks below the last band has lines of its own.
_MOST_LINES = 4096
_ANY = -1


def to_nccl(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as a configuration of NCCL's tuner.

    Methods are NCCL's: an algorithm, with ``protocol`` and ``channels`` where they were measured.

    Raises
    ------
    ExportError
        When NCCL lacks a collective, a method or a protocol, there are too many numbers of ranks to list, or all is
        left to NCCL.
    """
    head = [
        "Configuration of NCCL's tuner: NCCL_TUNER_PLUGIN names the plugin, NCCL_TUNER_CONFIG_FILE this file.",
        "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks",
        origin.generated(provenance),
    ]
    lines = hashed(head)
    for decision in per_collective(decisions):
        if decision.collective not in _NAMES:
            raise ExportError(f"NCCL's tuner does not decide {decision.collective}; it does {', '.join(_NAMES)}")
        own, notes = _lines(decision)
        lines += ["#", *hashed(about(decision, provenance, notes)), *own]
    if all(line.startswith("#") for line in lines):
        raise LeftAloneError("everything is left to NCCL's own decision: no file is needed")
    return "\n".join(lines) + "\n"


def _lines(decision: DecisionFunction) -> tuple[list[str], tuple[str, ...]]:
    """Lines of a collective, those of single numbers of ranks first, and what they do not say; errors as `to_nccl`."""
    laid_out = bands_of(decision, "message")
    bands = laid_out.bands
    used = {method for band in bands for _, method in band.rules}
    words = [_words(decision, method, used=place in used) for place, method in enumerate(decision.methods)]
    *finite, last = bands
    blocks = COLLECTIVES[decision.collective].by_block
    everywhere = all(words[method] for band in finite for _, method in band.rules)
    left_alone = not any(words[method] for _, method in last.rules)
    # A line for all ranks would also act where NCCL is to decide, or its bytes would be those of another number.
    for_all = left_alone or (everywhere and (not blocks or len(last.rules) == 1))
    measured = decision.provenance.get("comm_size")
    most = max(2, last.start, *(measured if isinstance(measured, list | tuple) else ()))
    ends = [*(band.start for band in bands[1:]), last.start if for_all else most + 1]
    lines: list[str] = []
    for band, end in zip(bands, ends, strict=True):
        for ranks in range(max(2, band.start), end):
            lines += _of(decision.collective, band, words, ranks)
            if len(lines) > _MOST_LINES:
                raise ExportError(
                    f"{decision.collective}: more than {_MOST_LINES:,} lines, one for each number of ranks"
                )
    if for_all:
        return [*lines, *_of(decision.collective, last, words, _ANY)], laid_out.notes
    return lines, (*laid_out.notes, f"of more than {most} processes NCCL decides by itself")


def _of(collective: str, band: Band, words: Sequence[str], ranks: int) -> list[str]:
    factor = ranks if COLLECTIVES[collective].by_block and ranks != _ANY else 1
    ends = [*(start * factor - 1 for start, _ in band.rules[1:]), LARGEST]
    return [
        f"{_NAMES[collective]},{start * factor},{end},{words[method]},{_ANY},{ranks}"
        for (start, method), end in zip(band.rules, ends, strict=True)
        if words[method]
    ]


def _words(decision: DecisionFunction, method: Method, *, used: bool) -> str:
    """Algorithm, protocol and channels; empty where NCCL decides."""
    name = method.algorithm.lower()
    if not used or is_own_decision(method):
        return ""
    protocol = str(method.parameters.get("protocol") or "simple").lower()
    channels = str(method.parameters.get("channels") or _ANY)
    if name not in ALGORITHMS or protocol not in PROTOCOLS or not re.fullmatch("-?[0-9]{1,9}", channels):
        has = f"{', '.join(ALGORITHMS)} with {', '.join(PROTOCOLS)}"
        raise ExportError(f"{decision.collective}: NCCL has no {method.label!r}; it has {has}")
    return f"{name},{protocol},{int(channels)}"


_USE = (
    Step(
        "Build NCCL's tuner plugin (plugins/tuner/example of its sources), then, where programs are started:",
        "export NCCL_TUNER_PLUGIN=libnccl-tuner-example.so\nexport NCCL_TUNER_CONFIG_FILE=$PWD/{name}",
    ),
    Step("Check the file:", "colltune lint {name}"),
)
TARGET = Target(
    "nccl",
    "NCCL tuner configuration (CSV)",
    ".conf",
    to_nccl,
    use=_USE,
    own_methods=True,
    segments=no_segments,
    notes=lambda decision, _: _lines(decision)[1],
)
