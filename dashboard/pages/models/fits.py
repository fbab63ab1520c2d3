"""The tab of the page *Models* that tells how well parameters were fitted: intervals and residuals."""

from __future__ import annotations

from typing import Any

import panel as pn
from panel.io import hold

from dashboard.models import MODEL_TITLES
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, side_by_side, tables
from dashboard.plots.models import fits as model_fits

_NONE = "These parameters were not fitted here: choose 'Fit to the measurements', or a set that was fitted."


class Fits(Part):
    """Confidence intervals and residuals of the parameters on show."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.model = self.menu(
            "Model",
            150,
            "The model whose fitted parameters are shown with their confidence intervals. Measured times "
            "are fitted by their logarithms, over all methods that have a formula.",
        )
        self.chart = chart(model_fits.HEIGHT)
        self.intervals, self.methods = tables(2)
        self.bar.objects = [self.model]
        self.results.objects = [self.chart, side_by_side(self.intervals, self.methods, align_items="start")]

    def own(self) -> dict[str, Any]:
        """The model whose fit is shown."""
        return {"model": self.model}

    def commands(self) -> list[list[str]]:
        """The one that fits the model on show to the same methods."""
        choice = self._choice
        fit = choice.fits.get(choice.name_of_set, {}).get(self.model.value)
        if fit is None:
            return []
        labels = dict.fromkeys(map(str, fit.residuals["method"]))
        methods = [word for label in labels for word in ("--method", label)]
        return [["model", "fit", *choice.measured_words(), *methods, "--model", str(self.model.value)]]

    def update(self) -> None:
        """Follow the choice."""
        fits = self._choice.fits.get(self._choice.name_of_set, {})
        value = self.offer(self.model, {MODEL_TITLES[name]: name for name in fits})
        self.bar.visible = bool(fits)
        self.tell("" if fits else _NONE)
        if value is None:
            return
        fit, scheme = fits[value], self._choice.scheme
        drawn, colored = self._drawn or (None, "")
        if fit is not drawn or scheme != colored:
            self._drawn = fit, scheme
            with hold(pn.state.curdoc):
                self.chart.object = model_fits.residual_chart(fit, scheme)
                self.intervals.object = model_fits.interval_table(fit)
                self.methods.object = model_fits.method_table(fit, scheme)
