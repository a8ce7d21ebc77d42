"""Details of the selected stream: destinations and recordings. Pure."""

from __future__ import annotations

from livedeck.client import EventRestream, Recording
from livedeck.monitor import CachedList, EventState
from livedeck.presentation.connection import missing_rows
from livedeck.presentation.event_detail import LABEL_CELLS, restream_mark, title
from livedeck.presentation.render_time import RenderTime
from livedeck.text import addresses
from livedeck.text.segments import Line, StyleRole, fit, labelled, wrap_groups
from livedeck.text.values import UNKNOWN, age, duration, safe


def panel(state: EventState, recordings: CachedList[Recording], render_time: RenderTime, width: int) -> list[Line]:
    """Return the stream's title, restreams and recordings."""
    restreams = state.event.restreams or ()
    return [
        title(state, render_time, width),
        *(
            labelled("" if index else "restreams", _restream(restream, render_time, width - LABEL_CELLS), LABEL_CELLS)
            for index, restream in enumerate(restreams)
        ),
        *([] if restreams else [labelled("restreams", [("none", StyleRole.DIM)], LABEL_CELLS)]),
        *_recordings(recordings, render_time),
    ]


def _restream(restream: EventRestream, render_time: RenderTime, cells: int) -> Line:
    """Return a restream as a line: sign, name, status and whether it is enabled. A wide line also has its address."""
    glyph, role = restream_mark(restream)
    role = StyleRole.STALE if render_time.stale else role
    return wrap_groups(
        [
            (0, fit([(f"{glyph} {safe(restream.name or UNKNOWN, 40)}", role)], 26, ellipsis=True)),
            (0, fit([(safe(restream.status or UNKNOWN, 20), role)], 13)),
            (2, fit([("enabled", StyleRole.TEXT) if restream.enabled else ("off", StyleRole.DIM)], 8)),
            (1, [(addresses.show(restream.url), StyleRole.DIM)]),
        ],
        cells,
        1,
    )


def _recordings(recordings: CachedList[Recording], render_time: RenderTime) -> list[Line]:
    if recordings.as_of is None and not recordings.error:
        return [labelled("recorded", [("loading", StyleRole.DIM)], LABEL_CELLS)]
    as_of = recordings.as_of
    freshness = "no reply yet" if as_of is None else f"as of {age(render_time.seconds_since(as_of))} ago"
    head: Line = [(freshness, StyleRole.DIM)]
    if recordings.error:
        head = [(f"▲ failed  {freshness}  {safe(recordings.error, 120)}", StyleRole.WARNING)]
    elif missing := missing_rows(recordings, "recording"):
        head = [*missing, (f"  {freshness}", StyleRole.DIM)]
    elif not recordings.items:
        head = [("none", StyleRole.DIM), (f"  {freshness}", StyleRole.DIM)]
    role = StyleRole.STALE if render_time.stale or recordings.error else StyleRole.TEXT
    lines = (labelled("", _recording(recording, role), LABEL_CELLS) for recording in recordings.items)
    return [labelled("recorded", head, LABEL_CELLS), *lines]


def _recording(recording: Recording, role: StyleRole) -> Line:
    length = UNKNOWN if recording.duration is None else duration(recording.duration)
    created_at = f"{recording.created_at:%d %b %H:%M}" if recording.created_at else UNKNOWN
    return [
        *fit([(safe(recording.title or recording.id, 60), role)], 30, ellipsis=True),
        *fit([(safe(recording.status or UNKNOWN, 20), role)], 14),
        *fit([(length, role)], 10),
        (f"{created_at}  {safe(recording.id, 40)}", StyleRole.DIM),
    ]
