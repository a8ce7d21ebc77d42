"""The lines and widgets around every screen: header, tabs, keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from textual.geometry import Size

from livedeck.monitor import AttachedFeed, Feed, Playback, Snapshot
from livedeck.presentation.alarms import count_line
from livedeck.presentation.badges import ATTACHMENT_BADGES, CONNECTION_BADGES
from livedeck.presentation.connection import is_seen, skew_text
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Groups, Line, Link, Role, ShadedLine, StyleRole, justify, linked
from livedeck.text.values import age, safe
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.shell.context import Action, ActionRegistry, Identity
from livedeck.ui.shell.keymap import key_of


def header_line(snapshot: Snapshot, render_time: RenderTime, width: int, identity: Identity) -> ShadedLine:
    """Profile, host, RO or RW as a word, link and age of the data, clocks, alarms: the least needed goes first."""
    mode = ("RO", StyleRole.INFO) if identity["read_only"] else ("RW", StyleRole.STRONG)
    mode = ("PAST", StyleRole.BANNER) if identity["is_past"] else mode
    left: Groups[Role] = [
        (0, [(" livedeck", StyleRole.STRONG)]),
        (2, [(identity["profile"], StyleRole.HEAD)]),
        (4, [(identity["host"], StyleRole.DIM)]),
        (0, [mode]),
        (0, _connection(snapshot, render_time)),
        (0, _attachment(snapshot)),
        (3, _collector_host(snapshot)),
        (1, _skew(snapshot)),
        (6, _round_trip(snapshot)),
    ]
    right: Groups[Role] = [
        (0, [(f"{_machine_time(snapshot, render_time):%H:%M:%S}Z", StyleRole.STRONG)]),
        (5, _local_time(_machine_time(snapshot, render_time), identity["zone"])),
        (0, _alarm_counts(snapshot, render_time)),
    ]
    return justify(left, right, width)


def _alarm_counts(snapshot: Snapshot, render_time: RenderTime) -> ShadedLine:
    """The chips of the alarms; that there are none is said only where all is seen, and fresh."""
    counts = linked(count_line(snapshot.alarms, is_known=is_seen(snapshot, render_time)), "screen.alarms")
    return [*counts, (" ", StyleRole.TEXT)] if counts else []


def _connection(snapshot: Snapshot, render_time: RenderTime) -> Line:
    """The link to the platform, as whoever asks it tells; while the collector is silent nobody knows it, and what is
    shown is as old as that."""
    attachment = snapshot.attachment
    badge = CONNECTION_BADGES[snapshot.link.state]
    if attachment is not None and attachment.is_silent:
        badge = ATTACHMENT_BADGES[attachment.state]
    glyph, text, role = badge
    word = f"{glyph} {text}"
    if snapshot.link.as_of is None:
        return [(word, role)]
    if snapshot.link.state.is_answering and render_time.stale:
        word, role = "▒ STALE", StyleRole.STALE
    return [(word, role), (f"  {age(render_time.seconds_since(snapshot.link.as_of))} ago", StyleRole.TEXT)]


def _attachment(snapshot: Snapshot) -> Line:
    """The link to the collector, where there is one and it is not silent."""
    if snapshot.attachment is None or snapshot.attachment.is_silent:
        return []
    glyph, text, role = ATTACHMENT_BADGES[snapshot.attachment.state]
    return [(f"{glyph} {text}", role)]


def _collector_host(snapshot: Snapshot) -> Line:
    return [(f"{safe(snapshot.attachment.host, 40)}", StyleRole.DIM)] if snapshot.attachment else []


def _round_trip(snapshot: Snapshot) -> Line:
    link = snapshot.link
    if link.round_trip is None or not link.state.is_answering:
        return []
    return [(f"rtt {link.round_trip * 1000:.0f} ms", StyleRole.DIM)]


def _skew(snapshot: Snapshot) -> Line:
    """How far the platform's clock is ahead of this machine's, or the collector's, where that is worth a word
    (monitoring.md, "Connection")."""
    if text := skew_text(snapshot.attachment):
        return [(f"▲ {text}", StyleRole.WARNING)]
    skew = snapshot.link.skew - snapshot.link.clock_offset
    if abs(skew) < 1:
        return []
    return [(f"▲ clocks {skew:+.0f} s", StyleRole.CRITICAL if abs(skew) > 10 else StyleRole.WARNING)]


def _machine_time(snapshot: Snapshot, render_time: RenderTime) -> datetime:
    """What this machine's clock says, though it was set: ages go on without that."""
    return render_time.now + timedelta(seconds=snapshot.link.clock_offset)


def _local_time(time: datetime, zone: tzinfo | None) -> Line:
    local = time.astimezone(zone)
    return [(f"{local:%H:%M:%S} {local:%Z}", StyleRole.DIM)]


COMMAND, HELP, QUIT = "app.command", "app.help", "app.quit"
"""The actions of every screen whose keys never go: the first behind the tabs, the others at the end of the keys."""


def tab_line(registry: ActionRegistry, current: str, width: int) -> ShadedLine:
    """The tabs by their key, the current one on a ground of its own; underlined where there are no colours."""
    tabs = [
        (
            f" {key_of(tab.action_name, registry)} {tab.title} ",
            Link(StyleRole.TAB if tab.title == current else StyleRole.DIM, tab.action_name),
        )
        for tab in registry.tabs
    ]
    return justify([(0, tabs)], [(1, _key_and_label(registry.by_name[COMMAND], registry)), (0, _BLANK)], width, 0)


_BLANK: Line = [(" ", StyleRole.TEXT)]


def _key_and_label(
    action: Action, registry: ActionRegistry, label: str = "", *, is_disabled: bool = False
) -> list[tuple[str, Role]]:
    """A key and what it does, both of which can be clicked."""
    key = Link(StyleRole.DIM if is_disabled else StyleRole.INFO, action.name)
    words = f" {label or action.label}{' RO' if is_disabled and action.writes else ''}"
    return [(key_of(action.name, registry), key), (words, Link(StyleRole.DIM, action.name))]


def too_small_line(snapshot: Snapshot, render_time: RenderTime, size: Size, minimum: Size) -> Line:
    """All that a terminal says that is too small for the deck: the alarms it has, and the cells it needs."""
    return [
        (" ", StyleRole.TEXT),
        *count_line(snapshot.alarms, is_known=is_seen(snapshot, render_time)),
        (f"  livedeck needs {minimum.width}x{minimum.height}, this is {size.width}x{size.height} ", StyleRole.STRONG),
    ]


def attachment_hint(snapshot: Snapshot, monitor: Feed, key: str) -> str:
    """What `key` does about a collector that is silent; empty where it is heard, or nothing can be done."""
    if snapshot.attachment is None or not isinstance(monitor, AttachedFeed):
        return ""
    if snapshot.attachment.is_alone:
        return f"{key} goes back"
    return f"{key} polls alone" if snapshot.attachment.is_silent and monitor.can_poll else ""


def frozen_line(frozen: RenderTime, render_time: RenderTime) -> Line:
    """That the operator holds the screen still, since when; the lines around it go on."""
    since = f" ‖ FROZEN at {frozen.now:%H:%M:%S}Z, {age(render_time.seconds_since(frozen.now))} ago"
    return [(f"{since}  polling and alarms go on ", StyleRole.BANNER)]


def past_line(past: Playback | None, recording: str, width: int) -> ShadedLine:
    """That this is not now: the moment, the pace, and the file of a recording; nothing while it is now."""
    if past is None:
        return []
    word = "RECORDING" if recording else "PAST"
    pace = f"▶ {past.speed:g}x" if past.speed else "‖ standing"
    moment: Line = [(f" ◀◀ {word}  {past.moment:%a %Y-%m-%d %H:%M:%S}Z  {pace} ", StyleRole.BANNER)]
    file: Line = [(f" {safe(recording, 40)} ", StyleRole.BANNER)] if recording else []
    return justify([(0, [*moment, *file])], [], width, 1)


def key_line(
    actions: Sequence[Action],
    registry: ActionRegistry,
    width: int,
    *,
    read_only: bool,
    alarm: str = "",
    can_answer: bool = True,
) -> ShadedLine:
    """The keys that do something here: what looks, what answers an alarm, what changes the platform. Help and quit
    stand at the end, and are never left out.

    Where the line is short whole pairs go, the last of `actions` first. What writes says RO. `alarm`: the one that is
    acknowledged where no cursor shows it; its action is never left out either, and where not `can_answer` it has no
    name: its key, dim as those of all answers then, says why.
    """
    clusters: dict[str, list[tuple[int, list[tuple[str, Role]]]]] = {}
    for rank, action in enumerate(actions, 1):
        is_named = bool(alarm and action.alarm_label and can_answer)
        label = f"{action.alarm_label} {alarm}" if is_named else ""
        is_disabled = read_only if action.writes else action.is_answer and not can_answer
        pair = _key_and_label(action, registry, label, is_disabled=is_disabled)
        cluster = clusters.setdefault(_purpose(action), [])
        begin = " " if cluster or len(clusters) == 1 else "│ "
        cluster.append((0 if is_named else rank, [(begin, StyleRole.RULE), *pair]))
    right: list[tuple[int, Sequence[tuple[str, Role]]]] = [
        (0, [(" ", StyleRole.TEXT), *_key_and_label(registry.by_name[name], registry)]) for name in (HELP, QUIT)
    ]
    return justify([pair for cluster in clusters.values() for pair in cluster], [*right, (0, [])], width - 1, 1)


def _purpose(action: Action) -> str:
    """What its key is for: those of one purpose stand together."""
    return "change" if action.writes else "answer" if action.is_answer else "look"


class Header(Canvas):
    """Who, where, how fresh, what time, how bad; and the tabs. `current`: the title of the tab in front."""

    def __init__(self, identity: Identity, registry: ActionRegistry, current: str) -> None:
        super().__init__()
        self._identity, self._registry, self._current = identity, registry, current
        self._shown: tuple[Snapshot, RenderTime] | None = None

    def show(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Paint for that instant."""
        self._shown = snapshot, render_time
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        top: ShadedLine = header_line(*self._shown, width, self._identity) if self._shown else []
        return [top, tab_line(self._registry, self._current, width)]


class Footer(Canvas):
    """The keys that do something here."""

    def __init__(self, mode: str, registry: ActionRegistry, *, read_only: bool) -> None:
        super().__init__()
        self._registry, self._read_only = registry, read_only
        self._actions: Sequence[Action] = registry.footer(mode)
        self._alarm, self._can_answer = "", True

    def show(self, actions: Sequence[Action], alarm: str, *, can_answer: bool) -> None:
        """The keys of these. `alarm`: the one that an acknowledgement would go to; empty: the screen's cursor shows it,
        or there is none. `can_answer`: whether it can be answered now."""
        if (actions, alarm, can_answer) != (self._actions, self._alarm, self._can_answer):
            self._actions, self._alarm, self._can_answer = actions, alarm, can_answer
            self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return [
            key_line(
                self._actions,
                self._registry,
                width,
                read_only=self._read_only,
                alarm=self._alarm,
                can_answer=self._can_answer,
            )
        ]
