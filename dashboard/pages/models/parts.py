"""What the tabs of the page *Models* share: their frame, and sliders of the sizes that are held."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer
from param.parameterized import ParameterizedABC

from dashboard.domain.models import ModelName
from dashboard.domain.units import format_bytes
from dashboard.models import MODEL_TITLES
from dashboard.models.undetermined import Predict, resting, warning
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.parts.fold import outline
from dashboard.pages.parts.views import Filling
from dashboard.pages.parts.widgets import Figure, LiveDiscreteSlider, Message, Select
from dashboard.plots import legend
from dashboard.plots.live import LiveSources

#: Seconds after which what is read rather than watched follows a slider.
REST = 0.15


class Part(Filling, ParameterizedABC):
    """A tab: widgets, what they show once it is there, and a sentence instead where there is nothing to show."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self._touched = False
        self._drawn: Any = None
        self._first: dict[str, dict[str, Any]] = {}
        self.live = LiveSources()
        #: Called when something was chosen in a menu of its own.
        self.chosen: Callable[[], None] = lambda: None
        self.bar = pn.FlexBox(align_items="center", sizing_mode="stretch_width", margin=(8, 0, 0, 0))
        self.message = pn.pane.HTML("", margin=(8, 12), visible=False)
        self.warning = Message()
        self.results = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.coming = outline()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.bar, self.message, self.coming, self.results, sizing_mode="stretch_width", margin=0)

    @abstractmethod
    def update(self) -> None:
        """Follow the choice."""

    def own(self) -> dict[str, Any]:
        """Menus, sliders and switches that only this tab has, by their names in an address."""
        return {}

    def kept(self) -> dict[str, str]:
        """What they hold, once somebody has chosen something in them."""
        return {name: _named(widget) for name, widget in self.own().items() if self._touched and widget.visible}

    def begin(self, chosen: Callable[[], None]) -> None:
        """Know from now on whom to call when something was chosen, and what its own widgets hold at first."""
        self.chosen = chosen
        for name, widget in self.own().items():
            self._first[name] = {each: getattr(widget, each) for each in ("options", "value") if hasattr(widget, each)}

    def reset(self) -> None:
        """Have its own widgets hold what they held at first, as where an address says nothing of them."""
        if not self._touched:
            return
        self._touched, self._drawn = False, None
        with self.filling():
            for name, widget in self.own().items():
                widget.param.update(**self._first.get(name, {}))

    def take(self, given: Mapping[str, str]) -> None:
        """Choose what an address says of them, one after the other: each may offer others. What there is not stays."""
        self._touched = True
        for name, text in given.items():
            if (widget := self.own().get(name)) is not None:
                _choose(widget, text)

    def commands(self) -> list[list[str]]:
        """Words of the commands that give its figures; none where there is no such, or nothing to give."""
        return []

    def tell(self, text: str) -> None:
        """Show a sentence instead of what there is to show; none shows it again."""
        self.message.param.update(object=escape(text), visible=bool(text))
        self.coming.visible, self.results.visible = False, not text

    def warn(self, predict: Mapping[ModelName, Predict]) -> None:
        """Say, by model, which times rest on what a fit did not determine."""
        network = self._choice.current()
        texts = [
            f"{MODEL_TITLES[model]}: {text}."
            for model, times in predict.items()
            if model in network.models and (text := warning(resting(network, model, times)))
        ]
        self.warning.say("\n".join(texts), "warning")

    def menu(self, label: str, width: int, description: str) -> Select:
        """A menu that `offer` fills; what it chooses updates the tab."""
        menu = Select(label=label, options=[], width=width, description=description)
        menu.param.watch(self.again, "value")
        return menu

    def offer(self, menu: Select, options: Sequence[str] | Mapping[str, Any], *preferred: Any) -> Any:
        """Fill a menu; what is chosen in it: as before if that is offered, else what is preferred, else the first."""
        values = list(options.values()) if isinstance(options, Mapping) else list(options)
        value = next((each for each in (menu.value, *preferred, *values) if each in values), None)
        with self.filling():
            menu.param.update(options=options, value=value)
        return value

    def again(self, *_: Any) -> None:
        """Update, unless it is the tab itself that sets its widgets."""
        if not self._filling:
            self._touched = True
            self.update()
            self.chosen()


def _named(widget: Any) -> str:
    """What a menu, slider or switch holds, as text: of a menu what it shows."""
    options = getattr(widget, "options", None)
    if isinstance(options, Mapping):
        return next((str(title) for title, value in options.items() if value == widget.value), "")
    return str(widget.value)


def _choose(widget: Any, text: str) -> None:
    """Have it hold what `_named` gave; nothing where it cannot."""
    options = getattr(widget, "options", None)
    if options is not None:
        known = options if isinstance(options, Mapping) else {str(each): each for each in options}
        if text in known:
            widget.value = known[text]
    elif isinstance(widget.value, bool):
        widget.value = text == "True"
    elif text.isdecimal() and widget.start <= int(text) <= widget.end:
        widget.value = int(text)


def html(**options: Any) -> pn.pane.HTML:
    """Room for tables."""
    return pn.pane.HTML(
        "", **{"sizing_mode": "stretch_width", "margin": (4, 8), "stylesheets": [legend.STYLE], **options}
    )


def paragraph(text: str) -> str:
    """A sentence below a table; none where there is nothing to say."""
    return f"<p>{escape(text)}</p>" if text else ""


def tables(count: int) -> list[pn.pane.HTML]:
    """Rooms for tables that stand side by side where the page is wide."""
    return [html(min_width=330, styles={"flex": "1 1 380px"}) for _ in range(count)]


def side_by_side(*objects: Any, **options: Any) -> pn.FlexBox:
    """Put what a tab shows beside each other where the page is wide, else below each other."""
    return pn.FlexBox(*objects, **{"sizing_mode": "stretch_width", **options})


def heading() -> pn.pane.HTML:
    """Room for what a chart holds, written above it."""
    return pn.pane.HTML("", margin=(4, 12, 0, 12))


def chart(height: int, **options: Any) -> pn.pane.HoloViews:
    """Room for a chart."""
    return Figure(None, sizing_mode="stretch_width", height=height, **options)


class Held(Viewer):
    """Sliders of the sizes that a chart holds."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__()
        self._choice = choice
        self._known: Any = None
        self.sliders = {
            "comm_size": self._slider("comm_size", "Processes", "Size of the communicator"),
            "message_size": self._slider("message_size", "Message size", "Message size"),
        }

    def _slider(self, name: str, label: str, what: str) -> LiveDiscreteSlider:
        slider = LiveDiscreteSlider(
            label=label,
            options=self._sizes(name),
            value=getattr(self._choice, name),
            width=230,
            description=f"{what}, fixed while the chart runs over the other sizes. Offered are the measured "
            "ones, or powers of two where nothing was measured.",
        )

        def put(event: Any) -> None:
            if event.new is not None:
                self._choice.param.update(**{name: int(event.new)})

        slider.param.watch(put, "value")
        return slider

    def _sizes(self, name: str) -> dict[str, int]:
        sizes = {*self._choice.sizes(name), getattr(self._choice, name)}
        written = format_bytes if name == "message_size" else "{:,}".format
        return {written(each): each for each in sorted(sizes)}

    def refresh(self, *hidden: str) -> None:
        """Offer the sizes that there are now."""
        known = hidden, self._choice.data(), self._choice.comm_size, self._choice.message_size
        if known == self._known:
            return
        self._known = known
        for name, slider in self.sliders.items():
            slider.param.update(
                options=self._sizes(name), value=getattr(self._choice, name), visible=name not in hidden
            )

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Row(*self.sliders.values(), margin=0, styles={"flex-wrap": "wrap", "max-width": "100%"})
