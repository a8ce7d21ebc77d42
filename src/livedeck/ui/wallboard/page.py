"""Content of the wall's page as values for its script: words, numbers and curves, without layout or colour. Pure.

The page has the same words as the wall in the terminal. All text from outside is `Shown`, and the script inserts it as
text, never as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from msgspec import Struct

from livedeck.client import SignedLink
from livedeck.monitor import BroadcastState, ConnectionState, EventState, Grade, IngestState, Severity
from livedeck.presentation import events, viewer
from livedeck.presentation.alarms import FLOOD_LINE, alarm_line
from livedeck.presentation.badges import SEVERITY_RANKS, TALLY_BADGES
from livedeck.presentation.connection import banner_line, missing_line, via_text
from livedeck.presentation.event_detail import doubt_text
from livedeck.presentation.events import RECENT_SECONDS, STANDING_WORDS, Standing, standing
from livedeck.presentation.qos import HIGHLIGHTED, recent_axis, recent_columns, unwatched_columns
from livedeck.presentation.render_time import RenderTime
from livedeck.text.names import name_order
from livedeck.text.segments import Line, StyleRole, plain
from livedeck.text.values import NO_DATA, NOT_APPLICABLE, age, evidence_text, short_duration
from livedeck.ui.wallboard import header
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import Wall
from livedeck.ui.wallboard.model import MAX_UPCOMING, WallModel, count_standings
from livedeck.ui.wallboard.page_style import TINTS
from livedeck.ui.wallboard.recent import MAX_STEPS
from livedeck.ui.wallboard.tiles import is_fault_elsewhere, kind_words, silenced_badge, viewer_words, worst_finding

T = TypeVar("T")

MAX_WRONG = 4
"""Maximum number of events that are listed with their problems above the cells. The worst events are listed."""

MAX_CHARTS = 84
"""Maximum number of events with a curve in every cell. With more events, cells have no room for curves."""

MAX_BANNER_CELLS = 400
"""Maximum number of letters of an alarm at the top. The page breaks the line itself."""

_SPOKEN = {"watch": "to watch"}
"""Word of a count -> words that a screen reader speaks instead."""

_STALE_GLYPH = "▒"

_UNITS = {"M": "Mbit/s", "k": "kbit/s"}


class Count(Struct, frozen=True, array_like=True):
    """Number of events of a kind: `✖ 3 bad`. `tone`: colour as in `Entry.tone`, or `air` for events on air."""

    glyph: str
    count: int
    word: str
    tone: str


class Number(Struct, frozen=True, array_like=True):
    """Value with its unit. `is_wrong`: True if the value lowers the health."""

    value: str
    unit: str
    is_wrong: bool = False


class Curve(Struct, frozen=True, omit_defaults=True):
    """Video bit rate of the last five minutes.

    Attributes:
        values: heights of the curve in thousandths of the full height; None in a gap.
        faults: runs of values with a bad status: index of the first, index after the last, and the status's glyph.
        unwatched: runs of time that was not watched: index of the first value, and index after the last.
    """

    values: tuple[int | None, ...]
    faults: tuple[tuple[int, int, str], ...] = ()
    unwatched: tuple[tuple[int, int], ...] = ()


class Entry(Struct, frozen=True, omit_defaults=True):
    """Event on the page.

    Attributes:
        tone: standing of the event; `glyph` shows the standing as a shape.
        label: sentence for screen readers, in two parts: before and after the event's clock.
        why: problem of the event in words, with details in `detail`.
        sign: mark of an event that could not be read completely.
        note: text in place of a missing curve.
        poster: relative address of the poster, or empty.
        picture: relative address of the picture that viewers get, in place of the poster, or empty.
        alt: words for `picture`.
        caption: fault that `picture` shows, or its age; empty for a fresh picture.
        is_faded: `picture` is old, or no longer what viewers get.
    """

    name: str
    tone: Standing
    glyph: str
    tally: str
    lamp: str
    is_lit: bool
    label: tuple[str, str]
    why: str = ""
    detail: str = ""
    sign: str = ""
    health: str = ""
    rate: str = ""
    numbers: tuple[Number, ...] = ()
    curve: Curve | None = None
    note: str = ""
    poster: str = ""
    initials: str = ""
    tint: int = 0
    picture: str = ""
    alt: str = ""
    caption: str = ""
    is_faded: bool = False


class Banner(Struct, frozen=True, array_like=True):
    """Line above the events. `is_critical`: critical instead of a warning. `is_headline`: in large letters."""

    text: str
    is_critical: bool
    is_headline: bool = False


class Head(Struct, frozen=True):
    """Parts of the page except the events.

    Attributes:
        summary: the counts as a sentence.
        clock: time in UTC.
        local: local time; empty if it equals UTC.
        age: age of the data.
        empty: title and note for a page without events; empty texts if there are events.
    """

    counts: tuple[Count, ...]
    summary: str
    clock: str
    local: str
    age: str
    upcoming: tuple[tuple[str, str], ...]
    filtered: str
    legend: str
    banners: tuple[Banner, ...]
    empty: tuple[str, str]
    is_stale: bool
    is_idle: bool


class Page(Struct, frozen=True):
    """Whole page.

    Attributes:
        order: ids of the events: worst first if each event has a tile, otherwise by name.
        times: clocks of the events, in the same order.
        wrong: ids of the events that are listed with their problems above the cells.
        posters: relative address of a poster -> signed link to the picture.
        pictures: relative address of a picture that viewers get -> id of the event and hash of the picture.
    """

    head: Head
    order: tuple[str, ...]
    times: tuple[str, ...]
    wrong: tuple[str, ...]
    entries: Mapping[str, Entry]
    has_tiles: bool
    page_seconds: float
    posters: Mapping[str, SignedLink]
    pictures: Mapping[str, tuple[str, str]] = {}


class Update(Struct, frozen=True, omit_defaults=True):
    """Message to a browser. The first message has the whole page, a later one only the changes."""

    head: Head
    times: tuple[str, ...]
    wrong: tuple[str, ...]
    has_tiles: bool
    page_seconds: float
    order: tuple[str, ...] | None = None
    entries: Mapping[str, Entry] = {}


def update_since(before: Page | None, page: Page) -> Update:
    """Return the changes since `before`, the page that a browser has; None if the browser has no page yet."""
    entries = before.entries if before else {}
    changed = {id_: entry for id_, entry in page.entries.items() if entries.get(id_) != entry}
    order = None if before and before.order == page.order else page.order
    return Update(page.head, page.times, page.wrong, page.has_tiles, page.page_seconds, order, changed)


def page(model: WallModel, wall: Wall, cache: DrawCache) -> Page:
    """Return the page of a wall for a browser."""
    render_time, has_tiles = model.render_time, len(model.states) <= wall.tiles
    states = model.states if has_tiles else sorted(model.states, key=lambda state: name_order(events.name(state)))
    wrong = [state for state in model.states if standing(state, render_time) in {Standing.BAD, Standing.WATCH}]
    has_curves = len(states) <= MAX_CHARTS
    entries = {state.id: _cached_entry(state, render_time, cache, wall, has_curves=has_curves) for state in states}
    cache.keep_only(set(entries))
    return Page(
        _head(model, wall.zone),
        tuple(entries),
        tuple(events.clock(state, render_time) for state in states),
        () if has_tiles else tuple(state.id for state in wrong[:MAX_WRONG]),
        entries,
        has_tiles,
        wall.page_seconds,
        {entry.poster: link for state in states if (entry := entries[state.id]).poster and (link := _link(state))},
        {
            address: (state.id, state.viewer.image)
            for state in states
            if state.viewer and (address := entries[state.id].picture)
        },
    )


def _head(model: WallModel, zone: tzinfo | None) -> Head:
    counts = tuple(_counts(model))
    local = plain(header.local_time(model, zone))
    return Head(
        counts=counts,
        summary=_summary(model, counts),
        clock=f"{model.render_time.now:%H:%M:%S}",
        local=f"{local[:5]} {local.partition(' ')[2]}" if local else "",
        age=" ".join(filter(None, ["data", plain(header.age(model)), via_text(model.snapshot)]))
        if model.snapshot.link.as_of
        else "no data yet",
        upcoming=tuple(
            (events.name(state), events.clock(state, model.render_time)) for state in model.upcoming[:MAX_UPCOMING]
        ),
        filtered=plain(header.filtered(model)),
        legend="  ".join(f"{status.glyph} {status.word.lower()}" for status in HIGHLIGHTED),
        banners=tuple(_banners(model)),
        empty=("", "") if model.states else header.empty_texts(model),
        is_stale=model.render_time.stale,
        is_idle=model.is_idle,
    )


def _counts(model: WallModel) -> list[Count]:
    """Count the events as the terminal wall does."""
    stale = model.render_time.stale
    return [
        Count(STANDING_WORDS[kind][0], count, STANDING_WORDS[kind][1], kind.value)
        if kind
        else Count(_STALE_GLYPH if stale else "●", count, "on air", "stale" if stale else "air")
        for kind, count in count_standings(model)
    ]


def _summary(model: WallModel, counts: Sequence[Count]) -> str:
    """Return `8 on air, 3 bad, 2 to watch, 4 good`, after the reason for doubt about the wall, if any."""
    words = ", ".join(f"{count.count} {_SPOKEN.get(count.word, count.word)}" for count in counts)
    doubt = plain(banner_line(model.snapshot, model.render_time, model.fault)) if header.is_doubtful(model) else ""
    return f"{doubt.partition('  ')[0].strip()}: {words}" if doubt else words


def _banners(model: WallModel) -> list[Banner]:
    """Return the banners of the wall in the terminal. Only alarms without an event are included."""
    warning = banner_line(model.snapshot, model.render_time, model.fault)
    is_blind = model.fault or model.snapshot.link.state is ConnectionState.BLIND
    is_headline = bool(warning) and header.is_doubtful(model) and model.snapshot.link.as_of is not None
    banners = [Banner(header.headline(model), bool(is_blind), is_headline=True)] if is_headline else []
    banners += [Banner(_words([segment]), segment[1] is StyleRole.BANNER_BLIND) for segment in warning]
    banners += [
        Banner(_words(line), is_critical=False)
        for line in (
            missing_line(model.snapshot),
            FLOOD_LINE if model.snapshot.flood else [],
            [(header.maintenance_text(model), StyleRole.WARNING)] if model.render_time.silences else [],
            *(header.rule_line(change, model.snapshot) for change in model.rule_changes),
        )
        if line
    ]
    at_rest = RenderTime(model.render_time.now, model.render_time.server, model.render_time.stale)
    return banners + [
        Banner(_words(alarm_line(alarm, at_rest, MAX_BANNER_CELLS)), SEVERITY_RANKS[alarm.severity] == 0)
        for alarm in model.alarms
        if not alarm.event_id
    ]


def _words(line: Line) -> str:
    return " ".join(plain(line).split())


def _cached_entry(
    state: EventState, render_time: RenderTime, cache: DrawCache, wall: Wall, *, has_curves: bool
) -> Entry:
    """Return the entry of an event. It comes from the cache unless the event or its running text has changed."""
    loss, doubt = _interruption(state, render_time), events.doubt_of_encoder(state, render_time)
    seen = plain(viewer_words(state, render_time)), _picture(state, render_time) if wall.has_pictures else _NO_PICTURE
    args = (render_time.stale, render_time.blame, has_curves, loss, doubt, silenced_badge(state, render_time), seen)
    return cache.get("entry", state.id, state, args, partial(_entry, state, render_time, loss, seen, has_curves))


class _Picture(NamedTuple):
    """Picture that viewers get, as the fields of an entry."""

    picture: str = ""
    alt: str = ""
    caption: str = ""
    is_faded: bool = False


_NO_PICTURE = _Picture()


def _picture(state: EventState, render_time: RenderTime) -> _Picture:
    """Return the picture that viewers get. Its address holds its hash, so no other picture can be requested by it."""
    found = state.viewer
    seconds = viewer.picture_age(found, render_time) if found else None
    if found is None or seconds is None:
        return _NO_PICTURE
    over = viewer.over_picture(state, render_time)
    caption = over[0][0].strip() if over else f"{age(seconds)} old" if seconds > viewer.AGED_SECONDS else ""
    is_past = viewer.is_past(state, render_time)
    alt = "last picture that viewers got" if is_past else f"picture of viewers: {viewer.picture_words(state)}"
    address = f"picture/{quote(state.id, safe='')}/{found.image}.jpg"
    return _Picture(address, alt, caption, is_past or seconds >= viewer.DIM_SECONDS)


def _entry(
    state: EventState, render_time: RenderTime, loss: tuple[str, str], seen: tuple[str, _Picture], has_curve: bool
) -> Entry:
    tone = standing(state, render_time)
    name, (tally_glyph, tally, _) = events.name(state), TALLY_BADGES[state.phase.tally]
    why, detail = ("", "") if tone is Standing.STALE else loss if loss[0] else _worst_finding(state)
    lag = events.doubt_of_encoder(state, render_time) or events.lag_text(state)
    lag = doubt_text(state, render_time) if tone is Standing.STALE else lag
    health = _health(state, render_time)
    glyph = _STALE_GLYPH if tone is Standing.STALE else STANDING_WORDS.get(tone, (tally_glyph,))[0]
    sign = plain(events.odd_sign(state)).strip()
    spoken = [sign.strip("≠ "), why or ("good" if tone is Standing.GOOD else "")]
    spoken += [f"health {health}"] if health.isdecimal() else []
    spoken += [lag, _spoken_viewers(seen[0])]
    return Entry(
        name=name,
        tone=tone,
        glyph=glyph,
        tally=tally,
        lamp=_STALE_GLYPH if tone is Standing.STALE else tally_glyph,
        is_lit=state.phase.tally is BroadcastState.ON_AIR and tone is not Standing.STALE,
        label=(f"{name}, {state.phase.tally.value.lower()}", "".join(f", {words}" for words in spoken if words)),
        why=why,
        detail=", ".join(filter(None, (silenced_badge(state, render_time), detail, lag))),
        sign=sign,
        health=health,
        rate=_rate(plain(events.video(state, render_time))),
        numbers=(*_numbers(state, render_time), *_viewer_number(state, render_time)),
        curve=_curve(state, render_time) if has_curve else None,
        note=_note(state),
        poster=_poster(state),
        initials=_initials(name),
        tint=blake2b(state.id.encode(), digest_size=1).digest()[0] % len(TINTS),
        **seen[1]._asdict(),
    )


def _viewer_number(state: EventState, render_time: RenderTime) -> tuple[Number, ...]:
    """Return what viewers get as a `Number` with the text `✓ plays`; empty without a probe."""
    if state.viewer is None:
        return ()
    return (Number(plain(viewer.cell(state, render_time)), "viewers", viewer.is_wrong(state, render_time)),)


def _spoken_viewers(words: str) -> str:
    """Return the words about viewers for a screen reader, without their sign: `viewers plays 8 s late`."""
    return re.sub(r" [✓✖▲▒■?·-]", "", words)


def _interruption(state: EventState, render_time: RenderTime) -> tuple[str, str]:
    """Return the time since the encoder left, and the time left of the reconnect window, as texts.

    Both are empty while the encoder sends.
    """
    ingest = events.known_ingest(state, render_time)
    if ingest.state is not IngestState.INTERRUPTED:
        return "", ""
    left = -render_time.server_seconds_since(ingest.window_ends) if ingest.window_ends else 0.0
    window = f"{short_duration(left)} of the reconnect window left" if left > 0 else "the reconnect window has expired"
    return plain(events.ingest(state, render_time)), window


def _worst_finding(state: EventState) -> tuple[str, str]:
    """Return the kind of the worst finding in words, and its values. Both are empty if it is only informative."""
    finding = worst_finding(state)
    if finding is None or finding.severity is Severity.INFO:
        return "", ""
    return kind_words(finding), evidence_text(finding)


def _health(state: EventState, render_time: RenderTime) -> str:
    """Return the health score; `--` if it is expected but unknown, empty if the event has none to show."""
    health = state.assessment.health
    if is_fault_elsewhere(state, render_time):
        return ""
    if health.grade is Grade.NONE and not state.phase.tally.expects_signal:
        return NO_DATA if state.phase.tally is BroadcastState.LATE else ""
    fresh = not events.is_doubtful(state, render_time)
    return str(health.score) if health.score is not None and fresh else NO_DATA


def _numbers(state: EventState, render_time: RenderTime) -> tuple[Number, ...]:
    """Return the event's numbers: rates if a signal is expected, and restreams if there are any."""
    outputs = plain(events.outputs(state, render_time))
    connected = (Number(outputs, "out"),) if outputs != NOT_APPLICABLE else ()
    if not state.phase.tally.expects_signal:
        return connected
    wrong = state.assessment.health.component.value
    measured = ((events.video, "video"), (events.fps, "fps"), (events.audio, "audio"))
    return (
        *(_number(plain(cell(state, render_time)), name, is_wrong=name == wrong) for cell, name in measured),
        *connected,
    )


def _number(text: str, name: str, *, is_wrong: bool) -> Number:
    if name == "fps":
        return Number(text, "fps", is_wrong)
    if text[-1:] in _UNITS:
        return Number(text[:-1], _UNITS[text[-1]], is_wrong)
    return Number(text, _UNITS["M" if name == "video" else "k"] if text == NO_DATA else "bit/s", is_wrong)


def _rate(text: str) -> str:
    return f"{text[:-1]} {text[-1]}" if text[-1:] in _UNITS else text if text == NO_DATA else ""


def _curve(state: EventState, render_time: RenderTime) -> Curve | None:
    axis = recent_axis(state, render_time, RECENT_SECONDS, MAX_STEPS)
    if axis is None:
        return None
    buckets, statuses = recent_columns(axis, state)
    faults = _runs([status if status in HIGHLIGHTED else None for status in statuses])
    columns = unwatched_columns(axis, state)
    unwatched = (column in columns and not bucket for column, bucket in enumerate(buckets))
    height = _GRID_LINES * _grid_step(max((bucket.high for bucket in buckets if bucket), default=0.0))
    return Curve(
        tuple(None if bucket is None else round(bucket.low / height * 1000) for bucket in buckets),
        tuple((start, end, status.glyph) for start, end, status in faults if status),
        tuple((start, end) for start, end, is_unwatched in _runs([*unwatched]) if is_unwatched),
    )


def _runs(values: Sequence[T]) -> list[tuple[int, int, T]]:
    """Return the runs of equal values, each as the index of its first, the index after its last, and the value."""
    edges = [0, *(index for index, (left, right) in enumerate(pairwise(values), 1) if left != right), len(values)]
    return [(start, end, values[start]) for start, end in pairwise(edges)]


_GRID_LINES = 3
"""Number of grid lines above zero. Their distances are equal."""

_STEPS = (1.0, 2.0, 2.5, 4.0, 5.0, 10.0)


def _grid_step(highest: float) -> float:
    """Return the distance of grid lines: the smallest round step that exceeds a third of the highest value."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** (len(str(int(highest / _GRID_LINES))) - 1)
    return next(step * power for step in _STEPS if step * power * _GRID_LINES > highest)


def _note(state: EventState) -> str:
    """Return the text in place of a missing curve; empty if the event has a curve."""
    if len(state.qos.readings):
        return ""
    if state.phase.tally.expects_signal:
        return "no samples"
    return "no encoder yet" if state.phase.ingest.state is IngestState.NONE else ""


def _poster(state: EventState) -> str:
    """Return the relative address of the event's poster; empty for the platform's default picture.

    The address is a hash, so a browser cannot make the wall request an address of its choice. A stored poster has a
    `media_id` (platform-api.md, "Poster").
    """
    poster = state.event.poster
    if poster is None or not poster.media_id or not _link(state):
        return ""
    identity = f"{state.id}\n{poster.media_id}\n{poster.id}"
    return f"posters/{blake2b(identity.encode(), digest_size=12).hexdigest()}"


def _link(state: EventState) -> SignedLink | None:
    """Return the link of the event's picture, if possible in the size for a tile; None without a picture."""
    poster = state.event.poster
    address = poster and (poster.md or poster.sm or poster.original or poster.xs)
    return SignedLink(address) if address else None


def _initials(name: str) -> str:
    """Return the first letters of the first two words that have letters."""
    letters = [found[0] for word in name.split() if (found := re.search(r"[^\W_]", word))]
    return "".join(letters[:2]).upper()
