"""One mistake in print."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models.formula.written import Written


@dataclass(frozen=True)
class Erratum:
    """One mistake.

    Attributes
    ----------
    where
        Table, equation or section, of the dissertation where no other publication is named.
    printed, corrected
        As mathematics.
    why
        The proof.
    collective, algorithm, model
        Of a formula; empty otherwise.
    """

    where: str
    printed: Written
    corrected: Written
    why: str
    collective: str = ""
    algorithm: str = ""
    model: str = ""
