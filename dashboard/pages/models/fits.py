"""The tab of the page *Models* that tells how well parameters were fitted: intervals and residuals."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.models import MODEL_TITLES, ModelName
from dashboard.models.fit import Fit
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, side_by_side, tables
from dashboard.plots.models import fits as model_fits

_METHODS = "methods"
_NONE = (
    "These parameters were not fitted to the measurements on show by these formulas: choose 'Fit to the measurements', "
    "or a set that was."
)


class Fits(Part):
    """Confidence intervals and residuals of the parameters on show.

    Parameters
    ----------
    again
        Fits the parameters on show to methods, by their labels, and calls what it is given when they are.
    """

    def __init__(self, choice: ModelChoice, again: Callable[[list[str], Callable[[], None]], None]) -> None:
        super().__init__(choice)
        self._again = again
        self.model = self.menu(
            "Model",
            150,
            "The model whose fitted parameters are shown with their confidence intervals. Measured times "
            "are fitted by their logarithms, over all methods that have a formula. The intervals are of independent "
            "scatter: what a model gets wrong along a whole line of measurements widens them.",
        )
        self.chart = chart(model_fits.HEIGHT)
        self.intervals, self.methods = tables(2)
        self.bar.objects = [self.model]
        self.results.objects = [self.chart, side_by_side(self.intervals, self.methods, align_items="start")]

    def own(self) -> dict[str, Any]:
        """The model whose fit is shown."""
        return {"model": self.model}

    def kept(self) -> dict[str, str]:
        """The methods too that were fitted to: an address has the parameters' numbers alone."""
        fits = self._choice.fits
        return {**super().kept(), **({_METHODS: "|".join(_labels(fits))} if fits else {})}

    def take(self, given: Mapping[str, str]) -> None:
        """Fit again to the methods that an address tells, unless that was done here."""
        if self._choice.fits or _METHODS not in given:
            super().take(given)
        else:
            self._again(given[_METHODS].split("|"), partial(self._show, given))

    def _show(self, given: Mapping[str, str]) -> None:
        self.update()
        super().take(given)
        self.chosen()

    def commands(self) -> list[list[str]]:
        """The one that fits the model on show to the same methods."""
        fits = self._choice.fits
        if self.model.value not in fits:
            return []
        methods = [word for label in _labels(fits) for word in ("--method", label)]
        return [["model", "fit", *self._choice.fitting_words(), *methods, "--model", str(self.model.value)]]

    def update(self) -> None:
        """Follow the choice."""
        fits = self._choice.fits
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


def _labels(fits: Mapping[ModelName, Fit]) -> list[str]:
    """Labels of the methods that all of them were fitted to."""
    return list(dict.fromkeys(str(each) for fit in fits.values() for each in fit.residuals["method"]))
