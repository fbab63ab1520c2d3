"""What rules say that were read, and their faults as one text."""

from typing import Any

from dashboard.export.rules import RulesFile


def texts(read: RulesFile) -> str:
    return "\n".join(str(fault) for fault in read.faults)


def algorithms(read: RulesFile, collective: str, comm: Any, message: Any) -> list[str]:
    decision = read.decisions[collective]
    return [decision.methods[k].algorithm for k in decision.predict(comm, message)]
