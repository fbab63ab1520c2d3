"""The tab of the page *Models* that tells how well parameters were fitted: intervals and residuals."""

from __future__ import annotations

import panel as pn
from panel.io import hold

from dashboard.models import MODEL_TITLES
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, html
from dashboard.pages.parts.widgets import Select
from dashboard.plots.models import fits as model_fits

_NONE = "These parameters were not fitted here: choose 'Fit to the measurements', or a set that was fitted."


class Fits(Part):
    """Confidence intervals and residuals of the parameters on show.

    Parameters
    ----------
    choice
        Of the page.
    """

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.model = Select(
            label="Model",
            options=[],
            width=150,
            description="The model whose fitted parameters are shown with their confidence intervals. Measured times "
            "are fitted by their logarithms, over all methods that have a formula.",
        )
        self.chart = chart(model_fits.HEIGHT)
        wide = {"min_width": 330, "styles": {"flex": "1 1 380px"}}
        self.intervals, self.methods = (html(**wide) for _ in range(2))
        self.bar.objects = [self.model]
        tables = pn.FlexBox(self.intervals, self.methods, sizing_mode="stretch_width", align_items="start")
        self.found.objects = [self.chart, tables]
        self.model.param.watch(self.again, "value")

    def update(self) -> None:
        """Follow the choice."""
        fits = self._choice.fits.get(self._choice.name_of_set, {})
        models = {MODEL_TITLES[name]: name for name in fits}
        with self.filling():
            value = self.model.value if self.model.value in fits else next(iter(fits), None)
            self.model.param.update(options=models, value=value)
        self.bar.visible = bool(fits)
        self.tell("" if fits else _NONE)
        if value is None:
            return
        found = fits[value]
        if found is not self._drawn:
            self._drawn = found
            with hold(pn.state.curdoc):
                self.chart.object = model_fits.residual_chart(found)
                self.intervals.object = model_fits.interval_table(found)
                self.methods.object = model_fits.method_table(found)
