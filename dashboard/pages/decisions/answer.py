"""What the page *Decisions* opens with: the tree on show in figures."""

import panel as pn

from dashboard.pages.parts.views import Made
from dashboard.plots.tiles import STYLE, Tile, tiles_html
from dashboard.report.answer import answer
from dashboard.session.state import State


class Answer(Made):
    """Tiles: rules, mean and worst penalty, against the library's default, how sure the best method is."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.html = pn.pane.HTML("", stylesheets=[STYLE], sizing_mode="stretch_width", margin=(6, 4))

    def __panel__(self) -> pn.viewable.Viewable:
        return self.html

    def _make(self) -> list[Tile]:
        # To merge the rules of a large tree takes longer than its maps.
        return answer(self._state.view)

    def _show(self, tiles: list[Tile]) -> None:
        # While the tree is still grown the former figures stay, dimmed.
        if tiles:
            self.html.object = tiles_html(tiles)
        self.html.styles = {"opacity": "1" if tiles else "0.6"}
