"""The tabs of the page *Models* to be read: formulas, and what is wrong in print."""

from typing import Any

from dashboard.models import MODELS
from dashboard.models.compare import table as compared
from dashboard.models.errata import errata
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, html
from dashboard.pages.parts.widgets import Switch
from dashboard.plots.models import formulas as model_formulas


class Formulas(Part):
    """Formulas of the collective."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.text = html(stylesheets=[model_formulas.STYLE])
        self.results.objects = [self.text]

    def commands(self) -> list[list[str]]:
        """The one that writes the same formulas."""
        return [["model", "list", "-c", self._choice.collective, "--formulas"]]

    def update(self) -> None:
        """Follow the choice."""
        self.tell("")
        if self._drawn != self._choice.collective:
            self._drawn = self._choice.collective
            self.text.object = model_formulas.formulas(MODELS[self._drawn].values(), compared())


class Errata(Part):
    """What is wrong in print, of the collective or everywhere."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.all = Switch(
            label="Of all collectives",
            value=False,
            description="Misprints of the whole dissertation rather than those of the collective on show. Each says "
            "where it stands and what is right.",
        )
        self.text = html(stylesheets=[model_formulas.STYLE])
        self.bar.objects = [self.all]
        self.results.objects = [self.text]
        self.all.param.watch(self.again, "value")

    def own(self) -> dict[str, Any]:
        """Of which collectives."""
        return {"all": self.all}

    def commands(self) -> list[list[str]]:
        """The one that lists the same."""
        return [["model", "errata", *(["-c", self._of] if self._of else [])]]

    @property
    def _of(self) -> str | None:
        """The collective on show; None: all."""
        return None if self.all.value else self._choice.collective

    def update(self) -> None:
        """Follow the choice."""
        self.tell("")
        listing = model_formulas.errata_list(errata(self._of))
        if listing != self.text.object:
            self.text.object = listing
