"""The deck: its screens, its global keys, and the one road by which snapshots reach them."""

from __future__ import annotations

import asyncio
from datetime import tzinfo
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import structlog
from rich.text import Text
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.signal import Signal
from textual.theme import Theme

from livedeck.monitor import Clock, EventState, Monitor, Snapshot
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.screens.base import TALL
from livedeck.ui.screens.events import EventsScreen
from livedeck.ui.screens.help import HelpScreen

log = structlog.get_logger()

NIGHT = Theme(
    name="night",
    primary="#7fb2d9",
    background="#0e1216",
    surface="#0e1216",
    panel="#171d23",
    foreground="#d5dce2",
    dark=True,
)


def _qos() -> Screen[None]:
    """The QoS screen, imported when it is wanted: plotext costs as much as all else that a first paint needs."""
    from livedeck.ui.screens.qos import QosScreen

    return QosScreen()


class Identity(TypedDict):
    """What the header says of the deck itself."""

    profile: str
    host: str
    read_only: bool
    zone: tzinfo | None


class Deck(App[int]):
    """Shows what a monitor says. It is given everything and constructs nothing.

    `zone`: of the local clock in the header, None for the machine's. `log_file`: named when the deck has to give up.
    """

    CSS_PATH = "app.tcss"
    TITLE = "livedeck"
    ENABLE_COMMAND_PALETTE = False
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (TALL, "-tall")]  # noqa: RUF012  as Textual has it
    MODES: ClassVar[dict[str, Any]] = {"events": EventsScreen, "qos": _qos}
    DEFAULT_MODE = "events"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "switch_mode('events')", "Events"),
        Binding("3", "switch_mode('qos')", "QoS"),
        Binding("question_mark", "help", "help"),
        Binding("r", "ask", "ask now"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", "quit", priority=True),
        Binding("ctrl+z", "suspend_process", "suspend"),
    ]

    def __init__(
        self,
        monitor: Monitor,
        clock: Clock,
        *,
        profile: str,
        host: str,
        read_only: bool,
        zone: tzinfo | None = None,
        log_file: Path | None = None,
    ) -> None:
        super().__init__()
        self.identity: Identity = {"profile": profile, "host": host, "read_only": read_only, "zone": zone}
        self.snapshot: Snapshot | None = None
        self.fault = ""
        self.news: Signal[None] = Signal(self, "news")
        self._monitor, self._clock, self._log_file = monitor, clock, log_file
        self._chosen: str | None = None
        self._attended: str | None = None

    def on_mount(self) -> None:
        self.register_theme(NIGHT)
        self.theme = NIGHT.name
        self.run_worker(self._watch(), name="monitor", exit_on_error=False)
        self.set_interval(1.0, self._tick)
        self.call_after_refresh(self._import_the_rest)
        self.app_resume_signal.subscribe(self, self._repaint_all)

    async def _watch(self) -> None:
        """Publish each snapshot. Should the monitor ever end, the screen says so: frozen is not fine."""
        try:
            async for snapshot in self._monitor.snapshots():
                self.snapshot = snapshot
                self.news.publish(None)
        except Exception as error:
            log.exception("the monitor stopped")
            self.fault = f"{type(error).__name__}; see {self._log_file or 'the log'}"
            self.news.publish(None)

    async def _import_the_rest(self) -> None:
        """With the first picture up, fetch in a thread what the next one will need."""
        await asyncio.to_thread(import_module, "livedeck.ui.screens.qos")

    def _repaint_all(self, _: App[int]) -> None:
        """Back from a suspension: the terminal has forgotten every line."""
        for widget in self.screen.walk_children():
            widget.refresh()
        self.screen.refresh(layout=True)

    def _tick(self) -> None:
        self.news.publish(None)

    def moment(self) -> Moment | None:
        """The instant to paint for; None before the first snapshot."""
        if self.snapshot is None:
            return None
        return Moment.of(self.snapshot, self._clock.now(), watched=not self.fault)

    def chosen(self) -> EventState | None:
        """The selected event, by its id; the worst one until the operator chooses. None where it is gone."""
        if self.snapshot is None:
            return None
        if self._chosen is None:
            return next(iter(self.snapshot.events), None)
        return self.snapshot.find(self._chosen)

    def choose(self, event_id: str | None) -> None:
        """Select an event for every screen; None follows the worst one again."""
        self._chosen = event_id
        self.news.publish(None)

    def attend(self, event_id: str | None) -> None:
        """Have that event's quality asked for most often; None: no event's more than the others'."""
        if event_id != self._attended:
            self._attended = event_id
            self._monitor.focus(event_id)

    def action_ask(self) -> None:
        """Ask the platform now, not at the next round."""
        self._monitor.poke()

    def action_help(self) -> None:
        """Show the keys and the signs."""
        self.push_screen(HelpScreen())

    async def action_quit(self) -> None:
        """Leave; the terminal is left as it was found."""
        self.exit(0)

    def _fatal_error(self) -> None:
        """A crash says where to read about it. It shows no local variables: they may hold a key or a token."""
        log.error("the deck ended with an error", exc_info=self._exception)
        where = f"; the log is {self._log_file}" if self._log_file else ""
        self._exit_renderables.append(Text(f"livedeck ended with {type(self._exception).__name__}{where}"))
        self._close_messages_no_wait()
