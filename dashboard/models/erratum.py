"""One mistake in print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Erratum:
    """One mistake.

    Attributes
    ----------
    where
        Table, equation or section, of the dissertation where no other publication is named.
    printed, corrected
        LaTeX mathematics; words are set as text in it.
    why
        The proof.
    collective, algorithm, model
        Of a formula; empty otherwise.
    """

    where: str
    printed: str
    corrected: str
    why: str
    collective: str = ""
    algorithm: str = ""
    model: str = ""
