"""Lines and widgets of the frame around every screen: header, tabs, keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from types import MappingProxyType

from textual.geometry import Size

from livedeck.monitor import AttachedFeed, Feed, Playback, Snapshot
from livedeck.presentation.alarms import count_line
from livedeck.presentation.badges import ATTACHMENT_BADGES, CONNECTION_BADGES, SILENCE_GLYPH
from livedeck.presentation.connection import behind_text, calm_word, skew_text
from livedeck.presentation.remembered import Remembered
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.silences import count_text
from livedeck.text.segments import Groups, Line, Link, Role, ShadedLine, StyleRole, justify, linked
from livedeck.text.values import age, safe
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.shell.context import Action, ActionRegistry, Identity
from livedeck.ui.shell.keymap import key_of


def header_line(snapshot: Snapshot, render_time: RenderTime, width: int, identity: Identity) -> ShadedLine:
    """Return the header: profile, host, RO or RW, link, age of the data, clocks, alarms.

    A narrow header omits the least important parts.
    """
    mode = ("RO", StyleRole.INFO) if identity["read_only"] else ("RW", StyleRole.STRONG)
    mode = ("PAST", StyleRole.BANNER) if identity["is_past"] else mode
    left: Groups[Role] = [
        (0, [(" livedeck", StyleRole.STRONG)]),
        (2, [(identity["profile"], StyleRole.HEAD)]),
        (4, [(identity["host"], StyleRole.DIM)]),
        (0, [mode]),
        (0, _rehearsal(identity)),
        (0, _connection(snapshot, render_time)),
        (0, _attachment(snapshot)),
        (3, _collector_host(snapshot)),
        (1, _skew(snapshot)),
        (1, _behind(snapshot)),
        (6, _round_trip(snapshot)),
    ]
    right: Groups[Role] = [
        (0, [(f"{_machine_time(snapshot, render_time):%H:%M:%S}Z", StyleRole.STRONG)]),
        (5, _local_time(_machine_time(snapshot, render_time), identity["zone"])),
        (1, _silences(snapshot, render_time)),
        (0, _alarm_counts(snapshot, render_time)),
    ]
    return justify(left, right, width)


def _alarm_counts(snapshot: Snapshot, render_time: RenderTime) -> ShadedLine:
    """Return chips with the numbers of alarms. Without alarms, returns the word of `calm_word`."""
    counts = linked(count_line(snapshot.alarms, calm_word(snapshot, render_time)), "screen.alarms")
    return [*counts, (" ", StyleRole.TEXT)] if counts else []


def _silences(snapshot: Snapshot, render_time: RenderTime) -> ShadedLine:
    """Return the number of running silences as a link to their list; empty without one."""
    text = count_text(snapshot.silences, render_time.now)
    return [(f"{SILENCE_GLYPH} {text}", Link(StyleRole.WARNING, "screen.alarms"))] if text else []


def _connection(snapshot: Snapshot, render_time: RenderTime) -> Line:
    """Return the state of the connection to the platform, and the age of the data.

    While the collector is silent, the platform's state is unknown, so the connection to the collector is shown instead.
    """
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
    """Return the state of the connection to the collector; empty without a collector, or while it is silent."""
    if snapshot.attachment is None or snapshot.attachment.is_silent:
        return []
    glyph, text, role = ATTACHMENT_BADGES[snapshot.attachment.state]
    return [(f"{glyph} {text}", role)]


def _collector_host(snapshot: Snapshot) -> Line:
    return [(f"{safe(snapshot.attachment.host, 40)}", StyleRole.DIM)] if snapshot.attachment else []


def _rehearsal(identity: Identity) -> Line:
    """Return the speed of the rehearsal; empty while the deck does not follow one."""
    pace = identity["pace"]()
    return [(f" REHEARSAL {pace} ", StyleRole.BANNER)] if pace else []


def _round_trip(snapshot: Snapshot) -> Line:
    link = snapshot.link
    if link.round_trip is None or not link.state.is_answering:
        return []
    return [(f"rtt {link.round_trip * 1000:.0f} ms", StyleRole.DIM)]


def _skew(snapshot: Snapshot) -> Line:
    """Return the skew, or the difference from the collector's clock; empty if negligible.

    See monitoring.md, "Connection".
    """
    if text := skew_text(snapshot.attachment):
        return [(f"▲ {text}", StyleRole.WARNING)]
    skew = snapshot.link.skew - snapshot.link.clock_offset
    if abs(skew) < 1:
        return []
    return [(f"▲ clocks {skew:+.0f} s", StyleRole.CRITICAL if abs(skew) > 10 else StyleRole.WARNING)]


def _behind(snapshot: Snapshot) -> Line:
    """Return the delay of the process that polls; empty below 1 s."""
    text = behind_text(snapshot.link)
    return [(f"▲ {text}", StyleRole.WARNING)] if text else []


def _machine_time(snapshot: Snapshot, render_time: RenderTime) -> datetime:
    """Return the time that this machine's clock shows, even if the clock was set. Ages ignore such changes."""
    return render_time.now + timedelta(seconds=snapshot.link.clock_offset)


def _local_time(time: datetime, zone: tzinfo | None) -> Line:
    local = time.astimezone(zone)
    return [(f"{local:%H:%M:%S} {local:%Z}", StyleRole.DIM)]


COMMAND, HELP, QUIT = "app.command", "app.help", "app.quit"
"""Actions whose keys are shown on every screen. COMMAND is at the end of the tabs, the others are in the footer."""


def tab_line(registry: ActionRegistry, current: str, width: int, *, is_probing: bool = False) -> ShadedLine:
    """Return the tabs with their keys. The current tab has a background, or an underline in a theme without colours.

    `is_probing`: a probe runs, so show the tab of the Viewers screen.
    """
    tabs = [
        (
            f" {key_of(tab.action_name, registry)} {tab.title} ",
            Link(StyleRole.TAB if tab.title == current else StyleRole.DIM, tab.action_name),
        )
        for tab in registry.tabs
        if is_probing or not tab.is_of_probe or tab.title == current
    ]
    return justify([(0, tabs)], [(1, _key_and_label(registry.by_name[COMMAND], registry)), (0, _BLANK)], width, 0)


_BLANK: Line = [(" ", StyleRole.TEXT)]


def _key_and_label(
    action: Action, registry: ActionRegistry, label: str = "", *, is_disabled: bool = False
) -> list[tuple[str, Role]]:
    """Return an action's key and label, both as links that run the action."""
    key = Link(StyleRole.DIM if is_disabled else StyleRole.INFO, action.name)
    words = f" {label or action.label}{' RO' if is_disabled and action.writes else ''}"
    return [(key_of(action.name, registry), key), (words, Link(StyleRole.DIM, action.name))]


def too_small_line(snapshot: Snapshot, render_time: RenderTime, size: Size, minimum: Size) -> Line:
    """Return the only line of a terminal that is too small: the alarms, and the size that the deck needs."""
    return [
        (" ", StyleRole.TEXT),
        *count_line(snapshot.alarms, calm_word(snapshot, render_time)),
        (f"  livedeck needs {minimum.width}x{minimum.height}, this is {size.width}x{size.height} ", StyleRole.STRONG),
    ]


def attachment_hint(snapshot: Snapshot, monitor: Feed, key: str) -> str:
    """Return what `key` does about a silent collector: `F2 polls alone` or `F2 goes back`; empty if it does nothing."""
    if snapshot.attachment is None or not isinstance(monitor, AttachedFeed):
        return ""
    if snapshot.attachment.is_alone:
        return f"{key} goes back"
    return f"{key} polls alone" if snapshot.attachment.is_silent and monitor.can_poll else ""


def frozen_line(frozen: RenderTime, render_time: RenderTime) -> Line:
    """Return the line that says since when the display is frozen, and that polling continues."""
    since = f" ‖ FROZEN at {frozen.now:%H:%M:%S}Z, {age(render_time.seconds_since(frozen.now))} ago"
    return [(f"{since}  polling and alarms continue ", StyleRole.BANNER)]


def past_line(past: Playback | None, recording: str, width: int) -> ShadedLine:
    """Return the line about the shown past: moment, speed and recording file. Empty while the present is shown."""
    if past is None:
        return []
    word = "RECORDING" if recording else "PAST"
    pace = f"▶ {past.speed:g}x" if past.speed else "‖ paused"
    moment: Line = [(f" ◀◀ {word}  {past.moment:%a %Y-%m-%d %H:%M:%S}Z  {pace} ", StyleRole.BANNER)]
    file: Line = [(f" {safe(recording, 40)} ", StyleRole.BANNER)] if recording else []
    return justify([(0, [*moment, *file])], [], width, 1)


def key_line(
    actions: Sequence[Action],
    registry: ActionRegistry,
    width: int,
    *,
    read_only: bool,
    labels: Mapping[str, str] = MappingProxyType({}),
    can_act: bool = True,
) -> ShadedLine:
    """Return the footer: keys that show data, keys for alarms, keys that change the platform, then help and quit.

    A narrow footer omits keys with their labels, the last of `actions` first; help and quit stay. Disabled keys that
    write have the label RO. `labels`: labels of actions in place of their own, the most important first; these keys are
    omitted last. `can_act`: if False, keys for alarms are dim.
    """
    clusters: dict[str, list[tuple[int, list[tuple[str, Role]]]]] = {}
    for rank, action in enumerate(actions, 1):
        label = labels.get(action.name, "")
        is_disabled = read_only if action.writes else action.is_alarm_action and not can_act
        pair = _key_and_label(action, registry, label, is_disabled=is_disabled)
        cluster = clusters.setdefault(_purpose(action), [])
        begin = " " if cluster or len(clusters) == 1 else "│ "
        cluster.append(([*labels].index(action.name) if label else rank, [(begin, StyleRole.RULE), *pair]))
    right: list[tuple[int, Sequence[tuple[str, Role]]]] = [
        (0, [(" ", StyleRole.TEXT), *_key_and_label(registry.by_name[name], registry)]) for name in (HELP, QUIT)
    ]
    return justify([pair for cluster in clusters.values() for pair in cluster], [*right, (0, [])], width - 1, 1)


def _purpose(action: Action) -> str:
    """Return the group of an action's key. Keys of a group are side by side."""
    return "change" if action.writes else "alarm" if action.is_alarm_action else "look"


class Header(Canvas):
    """Header line and tabs. `current`: title of the current tab."""

    def __init__(self, identity: Identity, registry: ActionRegistry, current: str) -> None:
        super().__init__()
        self._identity, self._registry, self._current = identity, registry, current
        self._shown: tuple[Snapshot, RenderTime] | None = None
        self._is_probing: Remembered[bool] = Remembered()

    def show(self, snapshot: Snapshot, render_time: RenderTime) -> None:
        """Paint the header for a snapshot and a time."""
        self._shown = snapshot, render_time
        self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        top: ShadedLine = header_line(*self._shown, width, self._identity) if self._shown else []
        is_probing = self._shown is not None and self._is_probing.get((self._shown[0].events,), None, self._has_probe)
        return [top, tab_line(self._registry, self._current, width, is_probing=is_probing)]

    def _has_probe(self) -> bool:
        return self._shown is not None and self._shown[0].has_probe


class Footer(Canvas):
    """Footer with the keys of the screen."""

    def __init__(self, mode: str, registry: ActionRegistry, *, read_only: bool) -> None:
        super().__init__()
        self._registry, self._read_only = registry, read_only
        self._actions: Sequence[Action] = registry.footer(mode)
        self._labels: Mapping[str, str] = {}
        self._can_act = True

    def show(self, actions: Sequence[Action], labels: Mapping[str, str], *, can_act: bool) -> None:
        """Show the keys of these actions.

        `labels`: labels of actions in place of their own. `can_act`: True if actions on alarms are possible now.
        """
        if (actions, labels, can_act) != (self._actions, self._labels, self._can_act):
            self._actions, self._labels, self._can_act = actions, labels, can_act
            self.repaint()

    def draw(self, width: int, height: int) -> Sequence[ShadedLine]:  # noqa: ARG002
        return [
            key_line(
                self._actions,
                self._registry,
                width,
                read_only=self._read_only,
                labels=self._labels,
                can_act=self._can_act,
            )
        ]
