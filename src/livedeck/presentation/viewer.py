"""Words for what viewers get of an event: the same on every screen, on the wall and on the command line. Pure.

The words tell what a probe of the playlist found from its machine. The health is about another thing: the signal at
the platform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from livedeck.monitor import (
    STALE_INTERVALS,
    Delivery,
    EventState,
    Grade,
    Picture,
    Severity,
    Snapshot,
    Sound,
    Source,
    ViewerState,
)
from livedeck.presentation import events
from livedeck.presentation.badges import SEVERITY_BADGES, SEVERITY_RANKS
from livedeck.presentation.events import EVENTS
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import Column
from livedeck.text.names import name_order
from livedeck.text.segments import Group, Line, StyleRole, wrap_groups
from livedeck.text.values import NOT_APPLICABLE, NOT_ASKED, UNKNOWN, age, compact_duration, safe

AGED_SECONDS, DIM_SECONDS, LAST_SECONDS = 15.0, 30.0, 60.0
"""Ages in seconds from which a picture is shown with its age, is dimmed, and is hidden."""

DARK_LUMA, BRIGHT_LUMA = 40, 100
"""Mean brightness below which a picture is dark, and from which it is bright (0 to 255)."""

CAUSES = ("gone", "stalled", "ended", "black", "silent", "no sound", "frozen", "slow")
"""Words for faults, worst first. A fault that hides others comes before them."""

PREFIX = "VIEWER_"
"""Beginning of the names of the kinds of alarms about viewers."""


class ViewerBadge(NamedTuple):
    """State of an event for its viewers, in a word. `severity`: None without a fault.

    `since`: start of the state, by this machine's clock; None if unknown.
    """

    glyph: str
    word: str
    role: StyleRole
    severity: Severity | None = None
    since: datetime | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Rank of the severity, then of the cause. The lowest is the worst."""
        severity = len(SEVERITY_RANKS) if self.severity is None else SEVERITY_RANKS[self.severity]
        return severity, CAUSES.index(self.word) if self.word in CAUSES else len(CAUSES)

    def lasted(self, render_time: RenderTime) -> str:
        """Return the duration of the state: `01:10`; empty if its start is unknown."""
        return "" if self.since is None else compact_duration(render_time.seconds_since(self.since))


def is_stale(viewer: ViewerState, render_time: RenderTime) -> bool:
    """Return whether the last round is too old. Each paint judges the age again, so a hanging probe looks stale."""
    most = max(STALE_INTERVALS * viewer.interval, DIM_SECONDS)
    return viewer.is_stale or (viewer.as_of is not None and render_time.seconds_since(viewer.as_of) > most)


def badge(state: EventState, render_time: RenderTime) -> ViewerBadge:
    """Return the worst fact about what viewers get of an event."""
    viewer = state.viewer
    if viewer is None or viewer.source is Source.NONE:
        return ViewerBadge(NOT_APPLICABLE, "", StyleRole.DIM)
    if not viewer.source.is_probed:
        return ViewerBadge(UNKNOWN, viewer.source.value, StyleRole.DIM)
    if viewer.as_of is None:
        return ViewerBadge(NOT_ASKED, "", StyleRole.DIM)
    if is_stale(viewer, render_time):
        return ViewerBadge("▒", "stale", StyleRole.STALE, since=viewer.as_of)
    return min(_wrong(state, viewer), key=lambda found: found.rank, default=_served(viewer))


def _served(viewer: ViewerState) -> ViewerBadge:
    """Return the badge of an event without a fault for viewers: `unsure` after one bad round."""
    if viewer.delivery is Delivery.UNKNOWN:
        return ViewerBadge(UNKNOWN, "", StyleRole.DIM)
    if viewer.delivery.is_failing:
        return ViewerBadge(UNKNOWN, "unsure", StyleRole.DIM, since=viewer.since)
    if viewer.delivery is Delivery.ENDED:
        return ViewerBadge("■", "ended", StyleRole.DIM, since=viewer.since)
    if viewer.source is Source.ENCRYPTED:
        return ViewerBadge("✓", ARRIVES, StyleRole.TEXT, since=viewer.since)
    return ViewerBadge("✓", "plays", StyleRole.OK, since=viewer.since)


ARRIVES = "arrives"
"""Word in place of `plays` for an encrypted stream. Without its key, nobody can tell whether the stream plays."""

_PLAYING = {"plays": "play", ARRIVES: "arrive"}
"""Word of an event without a fault for viewers -> word for several events."""


def _wrong(state: EventState, viewer: ViewerState) -> Iterable[ViewerBadge]:
    """Yield the present faults for viewers by the monitor's limits, and an ended playlist of an event on air."""
    for found in state.assessment.findings:
        if found.kind.startswith(PREFIX) and found.severity is not Severity.INFO:
            name = found.kind.removeprefix(PREFIX).lower()
            glyph, _, role = SEVERITY_BADGES[found.severity]
            word = "no sound" if name == "silent" and viewer.sound is Sound.NONE else safe(name)
            yield ViewerBadge(glyph, word, role, found.severity, _began(name, viewer))
    if viewer.delivery is Delivery.ENDED and state.phase.tally.expects_signal:
        glyph, _, role = SEVERITY_BADGES[Severity.WARNING]
        yield ViewerBadge(glyph, "ended", role, Severity.WARNING, viewer.since)


def _began(fault: str, viewer: ViewerState) -> datetime | None:
    """Return the start of a fault; None if the state for viewers has no start for it."""
    starts = {
        "black": viewer.picture_since,
        "frozen": viewer.picture_since,
        "silent": viewer.sound_since,
        **dict.fromkeys(("gone", "stalled", "slow"), viewer.since),
    }
    return starts.get(fault)


def is_wrong(state: EventState, render_time: RenderTime) -> bool:
    """Return whether viewers get less than they should."""
    return badge(state, render_time).severity is not None


def probed(snapshot: Snapshot) -> list[EventState]:
    """Return the events with a state for viewers, including those whose playlist address the probe lacks."""
    return [state for state in snapshot.events if state.viewer is not None]


def worst_first(states: Iterable[EventState], render_time: RenderTime) -> list[EventState]:
    """Return the events, worst for viewers first, then by name. Events that are not judged come last."""

    def order(state: EventState) -> tuple[object, ...]:
        found = badge(state, render_time)
        return *found.rank, not found.word, name_order(events.name(state))

    return sorted(states, key=order)


def cell(state: EventState, render_time: RenderTime) -> Line:
    """Return sign and word of an event for a table: `✓ plays`, `✖ gone`; `-` if no probe runs."""
    found = badge(state, render_time)
    role = StyleRole.CRITICAL_MARK if found.role is StyleRole.CRITICAL else found.role
    words = StyleRole.STRONG if found.role is StyleRole.CRITICAL else found.role
    return [(found.glyph, role), (f" {found.word}" if found.word else "", words)]


def health_or_fault(state: EventState, render_time: RenderTime) -> Line:
    """Return the health, or the fault for viewers if the health is good or missing: ` ✖ viewers gone `."""
    found = badge(state, render_time)
    if found.severity is None or state.assessment.health.grade not in {Grade.GOOD, Grade.NONE}:
        return events.health(state, render_time)
    return [(f" {found.glyph} viewers {found.word} ", found.role)]


VIEWER: Column[EventState] = Column("viewer", "VIEWER", 10, 5, cell)
"""Column of tables of events: what viewers get."""

_HEALTH = next(place for place, column in enumerate(EVENTS.columns) if column.name == "health")

WITH_VIEWERS = (*EVENTS.columns[: _HEALTH + 1], VIEWER, *EVENTS.columns[_HEALTH + 1 :])
"""Columns of the Events table with what viewers get."""

WITH_VIEWER_FAULTS = (
    *EVENTS.columns[:_HEALTH],
    replace(EVENTS.columns[_HEALTH], width=len(" ✖ viewers no sound "), render=health_or_fault, is_steady=False),
    *EVENTS.columns[_HEALTH + 1 :],
)
"""Columns of a narrow Events table, with a fault for viewers in place of a good health."""


def short_text(state: EventState, render_time: RenderTime, *, has_time: bool = True) -> Line:
    """Return `viewers ✓ plays 8 s late`: what viewers get, and how late; empty without a probe.

    `has_time`: add the duration of a fault or an unsure state.
    """
    if state.viewer is None:
        return []
    found, latency = badge(state, render_time), state.viewer.latency
    late = f" {age(latency)} late" if found.severity is None and found.word in _PLAYING and latency is not None else ""
    since = f" {lasted}" if has_time and found.word not in _PLAYING and (lasted := found.lasted(render_time)) else ""
    return [("viewers ", StyleRole.DIM), *cell(state, render_time), (f"{since}{late}", StyleRole.TEXT)]


def facts_line(state: EventState, render_time: RenderTime, cells: int) -> Line:
    """Return the line under a picture, health at the ingest first: `ingest ✓ 100  late 8 s  -21 LUFS`.

    A narrow line omits the last facts.
    """
    viewer = state.viewer
    groups: list[Group] = [(0, [("ingest ", StyleRole.DIM), *_ingest(state, render_time)])]
    if viewer is not None and viewer.as_of is not None and not is_stale(viewer, render_time):
        groups += [(rank, [segment]) for rank, segment in enumerate(_facts(viewer, render_time), 1)]
    return wrap_groups(groups, cells, 3)


def _ingest(state: EventState, render_time: RenderTime) -> Line:
    """Return sign and score of the health: `✓ 100`; without a score the state of the ingest."""
    score = state.assessment.health.score
    (text, role), *_ = events.health(state, render_time)
    if score is None or events.is_doubtful(state, render_time):
        return events.ingest(state, render_time)
    glyph = text.split()[0]
    mark = StyleRole.CRITICAL_MARK if role is StyleRole.CRITICAL else role
    return [(f"{glyph} {score}", mark)]


def _facts(viewer: ViewerState, render_time: RenderTime) -> Iterable[tuple[str, StyleRole]]:
    """Yield facts about the delivery, then about the sound."""
    if viewer.delivery.is_failing:
        yield f"✖ {safe(viewer.error) or viewer.delivery.value}", StyleRole.STRONG
        return
    if viewer.missing:
        yield f"{len(viewer.missing)} missing", StyleRole.WARNING
    if viewer.delivery is Delivery.SLOW and viewer.ratio is not None:
        yield f"fetched at {1 / viewer.ratio:.1f}x" if viewer.ratio else "slow", StyleRole.WARNING
    if viewer.latency is not None:
        yield f"late {age(viewer.latency)}", StyleRole.DIM
    if viewer.source is Source.ENCRYPTED:
        yield "encrypted", StyleRole.DIM
    elif viewer.sound in {Sound.SILENT, Sound.NONE}:
        since = "" if viewer.sound_since is None else compact_duration(render_time.seconds_since(viewer.sound_since))
        yield f"{'no sound' if viewer.sound is Sound.NONE else 'silent'} {since}".strip(), StyleRole.TEXT
    elif viewer.loudness is not None:
        yield f"{viewer.loudness:.0f} LUFS", StyleRole.DIM


def picture_age(viewer: ViewerState, render_time: RenderTime) -> float | None:
    """Return the age of the newest picture in seconds; None without a picture that may be shown."""
    if not viewer.image or viewer.image_at is None:
        return None
    seconds = max(0.0, render_time.seconds_since(viewer.image_at))
    return seconds if seconds < LAST_SECONDS else None


def shown_peaks(state: EventState, render_time: RenderTime) -> tuple[float, ...]:
    """Return the peaks of the newest segment; empty if they are out of date.

    They are out of date if viewers have got no new segment and the picture is older than `LAST_SECONDS`. Without a
    picture, the age counts from the time at which viewers stopped getting segments.
    """
    found = state.viewer
    if found is None:
        return ()
    if not is_past(state, render_time):
        return found.peaks
    end = found.image_at or badge(state, render_time).since
    return found.peaks if end and render_time.seconds_since(end) < LAST_SECONDS else ()


def picture_words(state: EventState) -> str:
    """Return the picture in words: `moves, bright`; or why there is none.

    The words replace a picture that cannot be shown, and are its alternative text in a browser.
    """
    viewer = state.viewer
    if viewer is None or viewer.source is Source.NONE:
        return "no playlist address"
    if not viewer.source.is_probed:
        return (
            "a player page, not a playlist"
            if viewer.source is Source.PLAYER_PAGE
            else f"{viewer.source.value}: not judged"
        )
    if viewer.as_of is None:
        return "not asked yet"
    if viewer.source is Source.ENCRYPTED:
        return "encrypted, picture not judged"
    if viewer.picture is Picture.UNKNOWN:
        return "picture unknown"
    word = {Picture.MOVES: "moves", Picture.STILL: "still", Picture.BLACK: "black"}[viewer.picture]
    return word if viewer.luma is None or viewer.picture is Picture.BLACK else f"{word}, {_brightness(viewer.luma)}"


def _brightness(luma: float) -> str:
    return "dark" if luma < DARK_LUMA else "bright" if luma >= BRIGHT_LUMA else "medium"


def is_past(state: EventState, render_time: RenderTime) -> bool:
    """Return whether the newest picture is no longer what viewers get."""
    return badge(state, render_time).word in _WITHOUT_PICTURE


_WITHOUT_PICTURE = frozenset({"gone", "stalled", "ended", "stale"})


def over_picture(state: EventState, render_time: RenderTime) -> Sequence[tuple[str, StyleRole]]:
    """Return the words over a picture that is black or out of date: `GONE 00:38`, `last seen 21:13:29Z`.

    The first line names the fault and its duration. Without a picture that may be shown, the words are those of
    `picture_words`. A good picture has no words.
    """
    viewer = state.viewer
    if viewer is None:
        return ()
    found = badge(state, render_time)
    if found.word == "black" or found.word in _WITHOUT_PICTURE:
        head = f" {found.word.upper()} {found.lasted(render_time)}".rstrip() + " "
        seen = viewer.image_at if found.word in _WITHOUT_PICTURE else None
        foot = [(f" last seen {seen:%H:%M:%S}Z ", StyleRole.TEXT)] if seen else []
        role = StyleRole.WARNING_FILL if found.severity is Severity.WARNING else found.role
        return [(head, StyleRole.OFF if found.severity is None else role), *foot]
    if picture_age(viewer, render_time) is None:
        return [(f" {picture_words(state)} ", StyleRole.DIM)]
    return ()


def counts_line(states: Sequence[EventState], render_time: RenderTime) -> list[Group]:
    """Return the groups of a line that counts the events by state: `✖ 1 gone  ▲ 1 silent  ✓ 6 play`."""
    found = [badge(state, render_time) for state in states]
    on_air = sum(state.phase.tally.expects_signal for state in states)
    lamp = ("●", StyleRole.ON_AIR if on_air else StyleRole.DIM)
    groups: list[Group] = [(0, [(" ", StyleRole.TEXT), lamp, (f" {on_air} on air", StyleRole.STRONG)])]
    counts = Counter((each.rank, *_counted(each), each.role) for each in found)
    for place, ((_, sign, word, role), count) in enumerate(sorted(counts.items(), key=lambda item: item[0][:3])):
        blank = " " if role is StyleRole.CRITICAL else ""
        groups.append((place and 1 + place, [(f"{blank}{sign} {count} {word}{blank}", role)]))
    return groups


def _counted(found: ViewerBadge) -> tuple[str, str]:
    """Return sign and word of events in a count."""
    is_judged = found.severity is not None or found.word in {*_PLAYING, "ended", "stale"}
    return (found.glyph, _PLAYING.get(found.word, found.word)) if is_judged else (UNKNOWN, "not judged")
