"""The connection to the platform as lines, and that to the collector: why a screen cannot be believed, and since when.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from livedeck.monitor import (
    Attachment,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    EndedEvent,
    Snapshot,
    clock_change_text,
)
from livedeck.presentation.badges import ATTACHMENT_BADGES, CONNECTION_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import age, safe


def is_seen(snapshot: Snapshot, render_time: RenderTime) -> bool:
    """Whether all is seen as it is now: else that no alarm is known tells nothing (monitoring.md, "Freshness")."""
    link = snapshot.link
    return link.as_of is not None and link.state.is_answering and not render_time.stale


def not_known_text(as_of: datetime | None) -> str:
    """What is said in the place of `nothing is wrong` where nobody can see that: `not known since 21:14:07Z`."""
    return f"not known since {as_of:%H:%M:%S}Z" if as_of else "not known yet"


def unreadable_text(snapshot: Snapshot) -> str:
    """`1 event could not be read and cannot be shown`; empty where every one is shown."""
    count = snapshot.unreadable
    if not count:
        return ""
    return f"{count} {'event' if count == 1 else 'events'} could not be read and cannot be shown"


def unreadable_rows(count: int, noun: str) -> Line:
    """How many rows of a list are left out: `≠ 2 rooms could not be read`; nothing where there are none."""
    return [(f"≠ {count} {noun}{'s' if count > 1 else ''} could not be read", StyleRole.WARNING)] if count else []


def unreadable_line(snapshot: Snapshot) -> Line:
    """How many events are missing on the screen though the platform has them; empty where none is."""
    if not snapshot.unreadable:
        return []
    return [(f" ≠ {unreadable_text(snapshot)} ", StyleRole.BANNER)]


def loss_text(link: ConnectionStatus) -> str:
    """`27 % of answers lost in the last minute`."""
    return f"{100 * link.lost_share:.0f} % of answers lost in the last minute"


def next_try_text(link: ConnectionStatus, render_time: RenderTime) -> str:
    """`next try in 12 s`; empty while the platform is being asked, and where it answers."""
    if link.next_try is None:
        return ""
    seconds = -render_time.seconds_since(link.next_try)
    return f"next try in {seconds:.0f} s" if seconds >= 1 else "trying again"


_OF_COLLECTOR = frozenset({ConnectionProblem.COLLECTOR_SILENT, ConnectionProblem.COLLECTOR_REFUSES})


def blind_words(link: ConnectionStatus) -> str:
    """What is blind: `MONITORING BLIND`, or `COLLECTOR SILENT` where that is why."""
    return link.problem.value if link.problem in _OF_COLLECTOR else "MONITORING BLIND"


def _fact(attachment: Attachment) -> str:
    """What happened to the way to the collector: the header says to which, and the connection log what to do."""
    return safe(attachment.reason.partition("; ")[0].removeprefix(f"{attachment.host} "), 120)


def _alone_text(attachment: Attachment, hint: str) -> str:
    """`POLLING ALONE since 21:04:11Z  collector.example: no answer  2 answers not yet shared`."""
    count = len(attachment.unshared)
    unshared = f"{count} answer{'s' if count > 1 else ''} not yet shared" if count else ""
    reason = safe(attachment.reason or f"{attachment.host} is silent", 120)
    return "  ".join(filter(None, [f"POLLING ALONE since {attachment.since:%H:%M:%S}Z", unshared, hint, reason]))


def via_text(snapshot: Snapshot) -> str:
    """Who asked the platform for what is shown: `by collector.example`; empty where this process did."""
    attachment = snapshot.attachment
    return f"by {safe(attachment.host, 40)}" if attachment and not attachment.is_alone else ""


def skew_text(attachment: Attachment | None) -> str:
    """`this clock is 3 s ahead`, of the collector's; empty where both say the same."""
    skew = attachment.skew if attachment else 0.0
    return f"this clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}" if skew else ""


def way_lines(snapshot: Snapshot, render_time: RenderTime) -> list[Line]:
    """How what is shown comes here, a line for each part of the way: from the platform to who asks it, and from there
    to this deck."""
    attachment, link = snapshot.attachment, snapshot.link
    is_heard = attachment is None or not attachment.is_silent
    asks = "collector" if attachment and not attachment.is_alone else "deck"
    as_of = f"answered {age(render_time.seconds_since(link.as_of))} ago" if link.as_of else "no answer yet"
    trip = f"rtt {link.round_trip * 1000:.0f} ms" if link.round_trip is not None and link.state.is_answering else ""
    glyph, word, role = CONNECTION_BADGES[link.state] if is_heard else ("?", "not known", StyleRole.STALE)
    lines = [_way_line(f"platform ← {asks}", f"{glyph} {word}", role, as_of, trip, link.reason if is_heard else "")]
    if attachment:
        glyph, word, role = ATTACHMENT_BADGES[attachment.state]
        heard = attachment.heard_at
        last = f"heard {age(render_time.seconds_since(heard))} ago" if heard else ""
        since = f"since {attachment.since:%H:%M:%S}Z"
        reason = attachment.reason.removeprefix(f"{attachment.host} ")
        where = f"{attachment.host} {reason}" if reason else attachment.host
        rest = where, since, last, _token_text(attachment), skew_text(attachment)
        lines.append(_way_line("collector ← deck", f"{glyph} {word}", role, *rest))
    return lines


def _token_text(attachment: Attachment) -> str:
    """`as anna`, and what that may where it may not act; empty where nobody told."""
    limit = f", may {attachment.may}" if attachment.may not in {"", "act"} else ""
    return f"as {attachment.actor}{limit}" if attachment.actor else ""


def _way_line(way: str, words: str, role: StyleRole, *rest: str) -> Line:
    texts = "   ".join(safe(text, 120) for text in rest if text)
    return [(f" {way:21} ", StyleRole.STRONG), (f"{words:20} ", role), (texts, StyleRole.DIM)]


def ended_text(ended: Sequence[EndedEvent]) -> str:
    """`Hall 2 was completed while on air, at 12:10:05Z, by anna@regie`, and how many where it is not alone."""
    texts = "; ".join(
        f"{event.name} {event.how} {event.at:%H:%M:%S}Z{f', by {safe(event.by, 60)}' if event.by else ''}"
        for event in reversed(ended)
    )
    return texts if len(ended) == 1 else f"{len(ended)} events ended on air: {texts}"


def banner_line(snapshot: Snapshot, render_time: RenderTime, fault: str = "", hint: str = "") -> Line:
    """Why the screen cannot be believed, and since when; empty while it can. `fault`: why the monitor stopped; `hint`:
    what can be done about a collector that is silent."""
    connection = snapshot.link
    if fault:
        return [(f" ✖ MONITOR STOPPED  {safe(fault)}  nothing below is kept up to date ", StyleRole.BANNER_BLIND)]
    since = f"{connection.since:%H:%M:%S}Z"
    of_collector = snapshot.attachment if connection.problem in _OF_COLLECTOR else None
    fact = _fact(of_collector) if of_collector else ""
    reason = "" if of_collector else safe(connection.reason, 120)
    data = "no data yet" if connection.as_of is None else f"data from {connection.as_of:%H:%M:%S}Z"
    details = "  ".join(filter(None, [since, hint, fact, data, next_try_text(connection, render_time), reason]))
    if connection.state is ConnectionState.BLIND:
        return [(f" ✖ {blind_words(connection)} since {details} ", StyleRole.BANNER_BLIND)]
    if connection.state is ConnectionState.FAILING:
        role = StyleRole.BANNER_BLIND if connection.is_unauthorized else StyleRole.BANNER
        return [(f" ▲ {connection.problem} since {details} ", role)]
    return _doubt_line(snapshot, render_time, data, hint)


def _doubt_line(snapshot: Snapshot, render_time: RenderTime, data: str, hint: str) -> Line:
    """What is to be known of a screen though the platform answers."""
    connection = snapshot.link
    if render_time.stale and connection.as_of is not None:
        text = f"▒ STALE  {data}, {age(render_time.seconds_since(connection.as_of))} old"
    elif snapshot.attachment and snapshot.attachment.is_alone:
        text = f"▲ {_alone_text(snapshot.attachment, hint)}"
    elif snapshot.events and not any(state.is_listed for state in snapshot.events):
        text = f"▲ the platform lists no events; there were {len(snapshot.events)}, kept until that is certain"
    elif snapshot.ended:
        text = f"● {ended_text(snapshot.ended)}"
    elif connection.clock_change:
        text = f"● {clock_change_text(connection.clock_change)}"
    elif connection.state is ConnectionState.POOR:
        text = f"▲ LINK POOR since {connection.since:%H:%M:%S}Z  {loss_text(connection)}"
    else:
        return []
    return [(f" {text} ", StyleRole.BANNER)]
