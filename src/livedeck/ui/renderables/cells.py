"""What each column of the events table says. The deck and `livedeck status` take their words from here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from livedeck import wording
from livedeck.monitor import EventState, Freshness, Grade, Ingest, IngestState, Reading, Severity, Tally
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment

TALLY_INKS: Mapping[Tally, tuple[str, Ink]] = MappingProxyType(
    {
        Tally.ON_AIR: ("●", Ink.ON_AIR),
        Tally.RECONNECTING: ("◌", Ink.PENDING),
        Tally.LOST: ("✖", Ink.LOST),
        Tally.LATE: ("▲", Ink.PENDING),
        Tally.SCHEDULED: ("○", Ink.READY),
        Tally.DRAFT: ("·", Ink.OFF),
        Tally.COMPLETED: ("■", Ink.OFF),
        Tally.UNKNOWN: ("?", Ink.OFF),
    }
)

SEVERITIES: Mapping[Severity, tuple[str, str, Ink]] = MappingProxyType(
    {
        Severity.CRITICAL: ("✖", "CRIT", Ink.CRITICAL),
        Severity.WARNING: ("▲", "WARN", Ink.WARNING),
        Severity.INFO: ("●", "INFO", Ink.INFO),
    }
)

GRADES: Mapping[Grade, tuple[str, Ink]] = MappingProxyType(
    {
        Grade.GOOD: ("✓", Ink.OK),
        Grade.FAIR: ("▲", Ink.WARNING),
        Grade.POOR: ("✖", Ink.CRITICAL),
        Grade.NO_DATA: ("✖", Ink.CRITICAL),
        Grade.STALE: ("▒", Ink.STALE),
        Grade.WARM_UP: ("●", Ink.INFO),
        Grade.NONE: ("", Ink.DIM),
    }
)


NAME_MOST = 40
"""What the name of an event takes of a line at most: where there is more room, the eye still has to keep to its row."""


def name(state: EventState) -> str:
    """The event's name, fit for a cell; its id where it has none."""
    return wording.safe(state.event.name or state.id)


def doubtful(state: EventState, moment: Moment) -> bool:
    """Nothing here may be believed, or this event's own quality could not be asked for: its lamp is out."""
    return moment.stale or state.doubtful


def title_ink(state: EventState) -> Ink:
    """Loud while bits are owed, quiet for what is over or has no date yet."""
    if state.phase.tally.owes_bits or state.phase.tally is Tally.LATE:
        return Ink.STRONG
    return Ink.TEXT if state.phase.tally is Tally.SCHEDULED else Ink.DIM


def tally(state: EventState, moment: Moment) -> Line:
    """Glyph and word, filled like a tally lamp: `● ON AIR`. A lamp that cannot be believed is out: `▒ ON AIR`."""
    glyph, ink = TALLY_INKS[state.phase.tally]
    word = "RECONNECT" if state.phase.tally is Tally.RECONNECTING else state.phase.tally.value
    return [(f" ▒ {word:<9} ", Ink.OFF) if doubtful(state, moment) else (f" {glyph} {word:<9} ", ink)]


def clock(state: EventState, moment: Moment) -> str:
    """Elapsed on air, `T-` before the start, `T+` past it, the length of what is over; blank for a draft."""
    phase = state.phase
    if phase.tally is Tally.COMPLETED:
        return wording.NOT_APPLICABLE if phase.length is None else wording.duration(phase.length)
    if phase.mark is None:
        return wording.NOT_APPLICABLE
    seconds = moment.server_since(phase.mark)
    if phase.tally is Tally.SCHEDULED:
        return f"T-{wording.duration(-seconds)}"
    return f"T+{wording.duration(seconds)}" if phase.tally is Tally.LATE else wording.duration(seconds)


def ingest(state: EventState, moment: Moment) -> Line:
    """The encoder's side; an interruption says for how long."""
    return [(text, Ink.STALE if doubtful(state, moment) else ink) for text, ink in _ingest(state, moment)]


def _ingest(state: EventState, moment: Moment) -> Line:
    known = state.phase.ingest
    if known.state is IngestState.INTERRUPTED:
        return [(f"lost {_since(known, moment)}", Ink.CRITICAL)]
    if known.state is IngestState.UNKNOWN:
        return [(wording.UNKNOWN, Ink.STALE)]
    if known.state is IngestState.NONE and state.phase.tally.owes_bits:
        return [("none", Ink.CRITICAL)]
    inks = {IngestState.RECEIVING: Ink.TEXT, IngestState.WARMING_UP: Ink.INFO}
    return [(known.state.value, inks.get(known.state, Ink.DIM))]


def _since(known: Ingest, moment: Moment) -> str:
    return wording.UNKNOWN if known.since is None else wording.brief(moment.server_since(known.since))


def health(state: EventState, moment: Moment) -> Line:
    """Glyph, score, word, and the component that lost: `✖  45 POOR key`. Never a number on stale data."""
    known = state.verdict.health
    grade = Grade.STALE if moment.stale and known.grade is not Grade.NONE else known.grade
    if grade is Grade.NONE:
        return [(wording.NOT_APPLICABLE, Ink.DIM)]
    glyph, ink = GRADES[grade]
    if known.score is None or grade is Grade.STALE:
        return [(f"{glyph} {wording.NO_DATA:>3} {grade.value}", ink)]
    lost = f" {known.component}" if known.component else ""
    return [(f"{glyph} {known.score:>3} {grade.value}{lost}", ink)]


def reading(state: EventState) -> Reading | None:
    """The newest sample, while it may stand for now: bits are arriving and we asked in time."""
    arriving = state.phase.ingest.state in {IngestState.RECEIVING, IngestState.WARMING_UP}
    trusted = state.qos.freshness in {Freshness.FRESH, Freshness.LATE}
    return state.qos.readings.last if arriving and trusted else None


def video(state: EventState, moment: Moment) -> Line:
    """Video bit rate now."""
    known = reading(state)
    return _measured(state, moment, wording.bits(known.video) if known else None, Ink.VIDEO)


def audio(state: EventState, moment: Moment) -> Line:
    """Audio bit rate now."""
    known = reading(state)
    return _measured(state, moment, wording.bits(known.audio) if known else None, Ink.AUDIO)


def fps(state: EventState, moment: Moment) -> Line:
    """Frames a second now."""
    known = reading(state)
    return _measured(state, moment, wording.frames(known.fps) if known else None, Ink.FPS)


def _measured(state: EventState, moment: Moment, text: str | None, ink: Ink) -> Line:
    if text is None:
        owed = state.phase.tally.owes_bits
        return [(wording.NO_DATA, Ink.STALE) if owed else (wording.NOT_APPLICABLE, Ink.DIM)]
    return [(text, Ink.STALE if doubtful(state, moment) else ink)]


def outputs(state: EventState, moment: Moment) -> Line:
    """Restreams connected of those enabled, while on air; else how many are set up."""
    enabled = [one for one in state.event.restreams or () if one.enabled]
    if not enabled:
        return [(wording.NOT_APPLICABLE, Ink.DIM)]
    if not state.phase.tally.owes_bits:
        return [(str(len(enabled)), Ink.DIM)]
    connected = sum(one.status == "connected" for one in enabled)
    good = connected == len(enabled)
    fresh = Ink.TEXT if good else Ink.WARNING
    return [(f"{connected}/{len(enabled)}", Ink.STALE if moment.stale else fresh)]
