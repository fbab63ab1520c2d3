"""What the page *Decisions* opens with: the tree on show in figures."""

import panel as pn

from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.views import Section
from dashboard.plots.tiles import STYLE, Tile, tiles_html
from dashboard.report.answer import answer
from dashboard.session.state import State


class Answer(Section):
    """Tiles: rules, mean and worst penalty, against the library's default, how sure the best method is."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        # To merge the rules of a large tree takes longer than its maps.
        self._made = Rested(self._show, 0.0, lambda: answer(state.view))
        self.html = pn.pane.HTML("", stylesheets=[STYLE], sizing_mode="stretch_width", margin=(6, 4))

    def __panel__(self) -> pn.viewable.Viewable:
        return self.html

    def update(self) -> None:
        """Follow the state; while its tree is still grown the former figures stay, dimmed."""
        self._made.ask()

    def _show(self, tiles: list[Tile]) -> None:
        if tiles:
            self.html.object = tiles_html(tiles)
        self.html.styles = {"opacity": "1" if tiles else "0.6"}
