"""The lines and widgets around every screen: header, tabs, banner, alarms, keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from textual.geometry import Size

from livedeck.monitor import ConnectionState, Snapshot
from livedeck.presentation.alarms import count_line
from livedeck.presentation.badges import CONNECTION_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text.segments import Line, StyleRole, join, justify, wrap_groups
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.shell.action import Action, ActionRegistry
from livedeck.ui.shell.keymap import key_of


def header(
    snapshot: Snapshot, moment: RenderTime, cells: int, *, profile: str, host: str, read_only: bool, zone: tzinfo | None
) -> Line:
    """Profile, host, RO or RW as a word, link and age of the data, clocks, alarms: the least needed goes first."""
    ro = ("RO", StyleRole.INFO) if read_only else ("RW", StyleRole.STRONG)
    left = [
        (0, [(" livedeck", StyleRole.STRONG)]),
        (2, [(profile, StyleRole.HEAD)]),
        (4, [(host, StyleRole.DIM)]),
        (0, [ro]),
        (0, _link(snapshot, moment)),
        (1, _skew(snapshot)),
        (6, _round_trip(snapshot)),
    ]
    right = [
        (0, [(f"{moment.now:%H:%M:%S}Z", StyleRole.STRONG)]),
        (5, _local(moment, zone)),
        (0, [*count_line(snapshot.alarms), (" ", StyleRole.TEXT)]),
    ]
    return justify(left, right, cells)


def _link(snapshot: Snapshot, moment: RenderTime) -> Line:
    glyph, text, ink = CONNECTION_BADGES[snapshot.link.state]
    word = f"{glyph} {text}"
    if snapshot.link.as_of is None:
        return [(word, ink)]
    if snapshot.link.state is ConnectionState.OK and moment.stale:
        word, ink = "▒ STALE", StyleRole.STALE
    return [(word, ink), (f"  {values.age(moment.seconds_since(snapshot.link.as_of))} ago", StyleRole.TEXT)]


def _round_trip(snapshot: Snapshot) -> Line:
    link = snapshot.link
    known = link.round_trip is not None and link.state is ConnectionState.OK
    return [(f"rtt {(link.round_trip or 0) * 1000:.0f} ms", StyleRole.DIM)] if known else []


def _skew(snapshot: Snapshot) -> Line:
    """How far the platform's clock is ahead of this machine's, where that is worth a word (monitoring.md)."""
    skew = snapshot.link.skew
    return [(f"▲ clocks {skew:+.0f} s", StyleRole.CRITICAL if abs(skew) > 10 else StyleRole.WARNING)] if skew else []


def _local(moment: RenderTime, zone: tzinfo | None) -> Line:
    local = moment.now.astimezone(zone)
    return [(f"{local:%H:%M:%S} {local:%Z}", StyleRole.DIM)]


def tabs(registry: ActionRegistry, current: str, cells: int) -> Line:
    """The screens by their key, the current one marked by brackets as well as by its style."""
    line: Line = []
    for tab in registry.tabs:
        title, key = tab.title, key_of(tab.action.name, registry)
        line.append((f"[{key} {title}]" if title == current else f" {key} {title} ", _tab_ink(title, current)))
    return join([(" ", StyleRole.TEXT), *line], [(f"{key_of('app.help', registry)} help ", StyleRole.DIM)], cells)


def _tab_ink(title: str, current: str) -> StyleRole:
    return StyleRole.STRONG if title == current else StyleRole.DIM


def small(snapshot: Snapshot, size: Size, least: Size) -> Line:
    """All that a terminal says that is too small for the deck: the alarms it has, and the cells it needs."""
    return [
        (" ", StyleRole.TEXT),
        *count_line(snapshot.alarms),
        (f"  livedeck needs {least.width}x{least.height}, this is {size.width}x{size.height} ", StyleRole.STRONG),
    ]


def frozen(held: RenderTime, moment: RenderTime) -> Line:
    """That the operator holds the screen still, since when; the lines around it go on."""
    words = f" ‖ FROZEN at {held.now:%H:%M:%S}Z, {values.age(moment.seconds_since(held.now))} ago"
    return [(f"{words}  polling and alarms go on ", StyleRole.BANNER)]


def keys(actions: Sequence[Action], registry: ActionRegistry, cells: int, *, read_only: bool, meant: str = "") -> Line:
    """The keys that do something here; the last ones go first where the line is short. What writes says RO.

    `meant`: the alarm that an acknowledgement goes to, named where no cursor shows it.
    """
    parts = []
    for rank, action in enumerate(actions):
        refused, named = read_only and action.writes, bool(meant) and action.name == "alarm.acknowledge"
        key = key_of(action.name, registry)
        said = f"ack {meant}" if named else f"{action.label} RO" if refused else action.label
        # what acts on something that no cursor shows is always named
        parts.append(
            (
                0 if named else rank,
                [(f" {key}", StyleRole.DIM if refused else StyleRole.STRONG), (f" {said}", StyleRole.DIM)],
            )
        )
    return wrap_groups(parts, cells, 1)


class Header(Canvas):
    """Who, where, how fresh, what time, how bad; and the tabs."""

    def __init__(
        self, *, profile: str, host: str, read_only: bool, zone: tzinfo | None, current: str, registry: ActionRegistry
    ) -> None:
        super().__init__()
        self._profile, self._host, self._read_only, self._zone = profile, host, read_only, zone
        self._current, self._registry = current, registry
        self._shown: tuple[Snapshot, RenderTime] | None = None

    def show(self, snapshot: Snapshot, moment: RenderTime) -> None:
        """Paint for this moment."""
        self._shown = snapshot, moment
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        tab_line = tabs(self._registry, self._current, width)
        if self._shown is None:
            return [[], tab_line]
        snapshot, moment = self._shown
        top = header(
            snapshot,
            moment,
            width,
            profile=self._profile,
            host=self._host,
            read_only=self._read_only,
            zone=self._zone,
        )
        return [top, tab_line]


class Footer(Canvas):
    """The keys that do something here."""

    def __init__(self, mode: str, registry: ActionRegistry, *, read_only: bool) -> None:
        super().__init__()
        self._actions, self._registry, self._read_only = registry.footer(mode), registry, read_only
        self._meant = ""

    def show(self, meant: str) -> None:
        """Name the alarm that an acknowledgement would go to; empty: the screen's cursor shows it, or there is none."""
        if meant != self._meant:
            self._meant = meant
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return [keys(self._actions, self._registry, width, read_only=self._read_only, meant=self._meant)]
