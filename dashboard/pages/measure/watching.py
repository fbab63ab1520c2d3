"""What the pages *Measure* and *Tune* share: looking at the folder of the campaigns while they are on show."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from param.parameterized import ParameterizedABC

from dashboard.benchmarks.campaigns.follow import Following, Sight
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.domain.errors import OptionError
from dashboard.measuring.kept import campaigns_root
from dashboard.measuring.launching import Surroundings, look_around
from dashboard.pages.measure.doing import Doing
from dashboard.pages.measure.form import WIDTH
from dashboard.pages.measure.loss import ExpectedLoss
from dashboard.pages.measure.map import FillingMap, Measured
from dashboard.pages.measure.rhythm import Rhythm
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.loading import load
from dashboard.pages.parts.views import Page, once_loaded
from dashboard.pages.parts.widgets import Button, Message
from dashboard.server.permission import may_launch
from dashboard.session.state import ResultsOrState

#: Seconds between two looks: the map follows at most twice a second.
EVERY = 0.5


@dataclass(frozen=True)
class Question:
    """What a look is for: the name of the one on show, and which of its maps."""

    name: str
    collective: str | None
    ppn: int | None

    def within(self, plan: Plan) -> tuple[str, int | None]:
        """Collective and processes per node on show, where a plan has them; else its first ones."""
        collective = self.collective if self.collective in plan.methods else next(iter(plan.methods))
        return str(collective), self.ppn if self.ppn in plan.ppns else next(iter(plan.ppns), None)


class Watching(Page, ParameterizedABC):
    """A page that looks again and again, beside the session, at one campaign and at all there are.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too: its param `CHOSEN` names the one on show.
    """

    #: Name of the page; what it looks at; params of the state: the one on show, and what is asked for; what those may
    #: do who may not start any.
    PAGE: ClassVar[str]
    WATCHED: ClassVar[str]
    CHOSEN: ClassVar[str]
    ASKED: ClassVar[str]
    MAY_LOOK: ClassVar[str]

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        self.root = campaigns_root()
        self.following: Following | None = None
        self.doing = Doing(self.root, may_launch, self._began, self._done)
        self.map = FillingMap(self._look_again, self.state)
        self.loss = ExpectedLoss()
        self.rhythm = Rhythm(self._question, self._look, self._show, EVERY, self._failed)
        self.around: Surroundings | None = None
        self.again = Button(label="Look again", variant="outlined", size="small", on_click=self._search_again)
        self.again.visible = False
        self.standing = Message(WIDTH)
        self._anew = False
        self._written = ""
        self._search = Rested(self._take_surroundings, 0.0, lambda: look_around(again=self._anew))
        self._fault = ""

    def _watch(self) -> None:
        """Look for as long as the page is on show; called once it is made."""
        self._read(getattr(self.state, self.ASKED))
        self.state.param.watch(self._follow_address, self.ASKED)
        self.state.param.watch(self._follow, "page")
        self.state.param.watch(self._look_again, self.CHOSEN)
        once_loaded(self._open)

    def _open(self) -> None:
        self._search.ask()
        self._follow()

    def _search_again(self, *_: Any) -> None:
        self._anew = True
        self.again.disabled = True
        self._search.ask()

    def _take_surroundings(self, around: Surroundings) -> None:
        """Take what there is to measure with; where there is nothing, it can be looked for again."""
        self.around = around
        self.again.param.update(disabled=False, visible=bool(around.no_mpi))
        self._offer(around)
        reason, severity = around.no_mpi, "error"
        if not reason and not self.doing.allowed:
            reason, severity = f"{self.MAY_LOOK} {self.doing.allowed.reason}", "warning"
        self.standing.say(reason, severity)
        self._changed()

    @abstractmethod
    def _offer(self, around: Surroundings) -> None:
        """Have the form offer what there is to measure with."""

    @abstractmethod
    def _changed(self) -> None:
        """Work out what the form asks for now."""

    @abstractmethod
    def _fill(self, text: str) -> None:
        """Have the form ask for what an address asks for; OptionError where it cannot."""

    def _read(self, text: str) -> None:
        try:
            self._fill(text)
        except OptionError as error:
            page = f"The address asks the page {self.PAGE}"
            self.state.notice = f"{page} for something else than it can be asked: {error}."

    def _follow_address(self, event: Any) -> None:
        # Undone, or another address: not what the form itself has just written.
        if event.new != self._written:
            self._read(event.new)
            self._changed()

    def _write(self, asked: str) -> None:
        """Have the address say what the form asks for."""
        self._written = asked
        setattr(self.state, self.ASKED, asked)

    def _follow(self, *_: Any) -> None:
        if self.state.on_show(self.PAGE):
            self.rhythm.start()
        else:
            self.rhythm.stop()

    def _choose(self, name: str) -> None:
        setattr(self.state, self.CHOSEN, name)

    def _look_again(self, *_: Any) -> None:
        self.rhythm.now()

    def _question(self) -> Question:
        """What a look needs to know; called on the session's thread."""
        return Question(getattr(self.state, self.CHOSEN), self.map.collective.value, self.map.ppn.value)

    @abstractmethod
    def _look(self, asked: Question) -> Any:
        """Look, on another thread; nothing that is on the page is touched."""

    @abstractmethod
    def _show(self, asked: Question, seen: Any) -> None:
        """Show what was seen."""

    def _measured(self, asked: Question, name: str, following: Following, sight: Sight) -> Measured:
        """What the map shows; called on another thread."""
        return Measured.of(following, (name, *asked.within(following.plan)), sight, self.map.measured)

    def _offer_recipe(self, command: str, python: Sequence[str], name: str) -> None:
        """Keep what *As command* and *As Python* say, and for the link the name of what is on show; empty: nothing."""
        recipe, followed = (command, "\n".join(python)), {self.CHOSEN: name} if name else {}
        if (self.state.recipes.get(self.PAGE), self.state.followed.get(self.PAGE)) != (recipe, followed):
            self.state.param.update(
                recipes={**self.state.recipes, self.PAGE: recipe}, followed={**self.state.followed, self.PAGE: followed}
            )

    @abstractmethod
    def _enable(self) -> None:
        """Let buttons be pressed, or not."""

    def _failed(self, error: Exception) -> None:
        text = f"Reading the {self.WATCHED} failed ({type(error).__name__}: {error}); the page keeps trying."
        self._tell_fault(text.replace(f"{self.root}/", ""))

    def _tell_fault(self, fault: str) -> None:
        """Say why nothing new is shown, once; empty: nothing is wrong any more."""
        if fault != self._fault:
            self._fault = fault
            self.doing.say(fault, "warning")

    def _began(self) -> None:
        self._enable()

    async def open(self, *_: Any) -> None:
        """Show what was measured so far on the other pages."""
        following, collective = self.following, self.map.collective.value
        if following is None:
            return
        await load(self.state, following.campaign.result_files(), {})
        if self.state.error:
            self.doing.say(self.state.error, "error")
            return
        if collective in self.state.param.collective.objects:
            self.state.collective = collective
        self.state.page = "Decisions"

    def _done(self) -> None:
        self._enable()
        self.rhythm.now()
