"""The lines around every screen: header, tabs, banner, alarms, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from textual.geometry import Size

from livedeck import wording
from livedeck.monitor import Alarm, AlarmState, LinkState, Severity, Snapshot
from livedeck.ui.actions import Action
from livedeck.ui.actions.keymap import Keymap, key_of
from livedeck.ui.renderables.alarm_rows import sign
from livedeck.ui.renderables.cells import SEVERITIES
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, between, clip, flow, spread
from livedeck.ui.renderables.moment import Moment

LINKS = {
    LinkState.CONNECTING: ("○ connecting", Ink.INFO),
    LinkState.OK: ("✓ link ok", Ink.OK),
    LinkState.FAILING: ("▲ link FAILING", Ink.WARNING),
    LinkState.BLIND: ("✖ BLIND", Ink.CRITICAL),
}


def header(
    snapshot: Snapshot, moment: Moment, cells: int, *, profile: str, host: str, read_only: bool, zone: tzinfo | None
) -> Line:
    """Profile, host, RO or RW as a word, link and age of the data, clocks, alarms: the least needed goes first."""
    ro = ("RO", Ink.INFO) if read_only else ("RW", Ink.STRONG)
    left = [
        (0, [(" livedeck", Ink.STRONG)]),
        (2, [(profile, Ink.HEAD)]),
        (4, [(host, Ink.DIM)]),
        (0, [ro]),
        (0, _link(snapshot, moment)),
        (1, _skew(snapshot)),
        (6, _round_trip(snapshot)),
    ]
    right = [
        (0, [(f"{moment.now:%H:%M:%S}Z", Ink.STRONG)]),
        (5, _local(moment, zone)),
        (0, [*alarm_counts(snapshot.alarms), (" ", Ink.TEXT)]),
    ]
    return spread(left, right, cells)


def _link(snapshot: Snapshot, moment: Moment) -> Line:
    word, ink = LINKS[snapshot.link.state]
    if snapshot.link.as_of is None:
        return [(word, ink)]
    if snapshot.link.state is LinkState.OK and moment.stale:
        word, ink = "▒ STALE", Ink.STALE
    return [(word, ink), (f"  {wording.age(moment.since(snapshot.link.as_of))} ago", Ink.TEXT)]


def _round_trip(snapshot: Snapshot) -> Line:
    link = snapshot.link
    known = link.round_trip is not None and link.state is LinkState.OK
    return [(f"rtt {(link.round_trip or 0) * 1000:.0f} ms", Ink.DIM)] if known else []


def _skew(snapshot: Snapshot) -> Line:
    """How far the platform's clock is ahead of this machine's, where that is worth a word (monitoring.md)."""
    skew = snapshot.link.skew
    return [(f"▲ clocks {skew:+.0f} s", Ink.CRITICAL if abs(skew) > 10 else Ink.WARNING)] if skew else []


def _local(moment: Moment, zone: tzinfo | None) -> Line:
    local = moment.now.astimezone(zone)
    return [(f"{local:%H:%M:%S} {local:%Z}", Ink.DIM)]


def alarm_counts(alarms: Iterable[Alarm]) -> Line:
    """How many criticals and warnings there are, always both: a zero is an answer."""
    counts = Counter(alarm.severity for alarm in alarms)
    line: Line = []
    for severity in (Severity.CRITICAL, Severity.WARNING):
        glyph, _, ink = SEVERITIES[severity]
        count = counts[severity]
        line += [("  " if line else "", Ink.TEXT), (f"{glyph} {count}", ink if count else Ink.DIM)]
    return line


TABS = ("Events", "Streams", "QoS", "Chat", "Rooms", "Videos", "Alarms")
"""The screens in their order."""


def tabs(keymap: Keymap, current: str, cells: int) -> Line:
    """The screens by their key, the current one marked by brackets as well as by ink."""
    line: Line = []
    for title in TABS:
        key = key_of(f"screen.{title.lower()}", keymap)
        line.append((f"[{key} {title}]" if title == current else f" {key} {title} ", _tab_ink(title, current)))
    return between([(" ", Ink.TEXT), *line], [(f"{key_of('app.help', keymap)} help ", Ink.DIM)], cells)


def _tab_ink(title: str, current: str) -> Ink:
    return Ink.STRONG if title == current else Ink.DIM


def banner(snapshot: Snapshot, moment: Moment, fault: str = "") -> Line:
    """Why the screen may not be believed, and since when; empty while it may."""
    link = snapshot.link
    if fault:
        return [(f" ✖ MONITOR STOPPED  {wording.safe(fault)}  nothing below is kept up to date ", Ink.BANNER_BLIND)]
    since, why = f"{link.since:%H:%M:%S}Z", wording.safe(link.why, 120)
    data = "no data yet" if link.as_of is None else f"data from {link.as_of:%H:%M:%S}Z"
    if link.state is LinkState.BLIND:
        return [(f" ✖ MONITORING BLIND since {since}  {data}  {why} ", Ink.BANNER_BLIND)]
    if link.state is LinkState.FAILING:
        ink = Ink.BANNER_BLIND if link.refused else Ink.BANNER
        return [(f" ▲ {link.trouble} since {since}  {data}  {why} ", ink)]
    if moment.stale and link.as_of is not None:
        return [(f" ▒ STALE  {data}, {wording.age(moment.since(link.as_of))} old ", Ink.BANNER)]
    return []


def small(snapshot: Snapshot, size: Size, least: Size) -> Line:
    """All that a terminal says that is too small for the deck: the alarms it has, and the cells it needs."""
    return [
        (" ", Ink.TEXT),
        *alarm_counts(snapshot.alarms),
        (f"  livedeck needs {least.width}x{least.height}, this is {size.width}x{size.height} ", Ink.STRONG),
    ]


def frozen(held: Moment, moment: Moment) -> Line:
    """That the operator holds the screen still, since when; the lines around it go on."""
    words = f" ‖ FROZEN at {held.now:%H:%M:%S}Z, {wording.age(moment.since(held.now))} ago"
    return [(f"{words}  polling and alarms go on ", Ink.BANNER)]


SUBJECT_CELLS = 24
"""What an alarm's subject may take at most, so that its kind is always read."""


def alarm(one: Alarm, moment: Moment) -> Line:
    """Severity, since when, whose, what: actual against expected."""
    glyph, word, ink = SEVERITIES[one.severity]
    return [
        (f" {sign(one, glyph, moment)} {word} {wording.brief(moment.since(one.since)):>6}  ", ink),
        *clip([(wording.safe(one.subject), Ink.STRONG)], SUBJECT_CELLS),
        (f"  {one.kind}  ", ink),
        (wording.safe(one.actual), Ink.TEXT),
        (f"  expected {wording.safe(one.expected)}" if one.expected else "", Ink.DIM),
        ("" if one.state is AlarmState.UNACKNOWLEDGED else f"  {one.state}", Ink.DIM),
    ]


FLOOD: Line = [(" ▲ ALARM FLOOD  more than ten in ten minutes: work from the top, shelve what is known ", Ink.BANNER)]


def keys(actions: Sequence[Action], keymap: Keymap, cells: int, *, read_only: bool, meant: str = "") -> Line:
    """The keys that do something here; the last ones go first where the line is short. What writes says RO.

    `meant`: the alarm that an acknowledgement goes to, named where no cursor shows it.
    """
    parts = []
    for rank, action in enumerate(actions):
        refused, named = read_only and action.writes, bool(meant) and action.name == "alarm.acknowledge"
        key = key_of(action.name, keymap)
        said = f"ack {meant}" if named else f"{action.label} RO" if refused else action.label
        # what acts on something that no cursor shows is always named
        parts.append((0 if named else rank, [(f" {key}", Ink.DIM if refused else Ink.STRONG), (f" {said}", Ink.DIM)]))
    return flow(parts, cells, 1)
