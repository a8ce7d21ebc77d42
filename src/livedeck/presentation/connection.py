"""Connections to platform and collector as lines: whether a screen is current, and the reason if it is not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from livedeck.monitor import (
    CHECKING,
    Attachment,
    Blame,
    CachedList,
    ConnectionProblem,
    ConnectionState,
    ConnectionStatus,
    EndedEvent,
    ListDoubt,
    Severity,
    Snapshot,
    clock_change_text,
)
from livedeck.presentation.badges import ATTACHMENT_BADGES, CONNECTION_BADGES
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import Line, StyleRole
from livedeck.text.values import age, counted, safe


def is_seen(snapshot: Snapshot, render_time: RenderTime) -> bool:
    """Return whether the data are current and no event is missing.

    If not, the lack of alarms proves nothing (monitoring.md, "Freshness" and "Missing events").
    """
    link = snapshot.link
    is_current = link.as_of is not None and link.state.is_answering and not render_time.stale
    return is_current and snapshot.is_whole


def calm_word(snapshot: Snapshot, render_time: RenderTime) -> str:
    """Return the word for no alarms: `clear`, or `measuring` while an event or a fault has not been judged yet.

    Empty if there are warnings or critical alarms, or if the data are not current or lack events.
    """
    has_alarms = any(alarm.severity is not Severity.INFO for alarm in snapshot.alarms)
    if has_alarms or not is_seen(snapshot, render_time):
        return ""
    return "clear" if snapshot.is_judged else MEASURING


MEASURING = "measuring"
"""Word for no alarms while an event on air is not judged yet, because its samples are missing, too few, or late.

Also while a fault waits for its announcement.
"""


def not_known_text(as_of: datetime | None, cause: Blame, before: str = "") -> str:
    """Return the text that replaces `no faults` on stale data: `not known since 21:14:07Z: the platform answers 503`.

    `before`: kind of the worst fault in the last data, or empty.
    """
    since = f"not known since {as_of:%H:%M:%S}Z" if as_of else "not known yet"
    since = f"{since}, {before} before" if before else since
    return f"{since}: {safe(cause.short, 80)}" if cause.short else since


def missing_text(snapshot: Snapshot) -> str:
    """Return the events that the list lacks, as text; empty if it lacks none.

    Such as `20 of 300 events not received; 1 event could not be read and cannot be shown`.
    """
    count = snapshot.unreadable
    unread = f"{counted(count, 'event')} could not be read and cannot be shown" if count else ""
    lost = snapshot.shortfall.text("event") if snapshot.shortfall else ""
    doubt = list_text(snapshot.list_doubt) if snapshot.list_doubt else ""
    return "; ".join(filter(None, [doubt, lost, unread]))


def list_text(doubt: ListDoubt) -> str:
    """Return the reason for doubt about the event list.

    Such as `The list is empty, but 6 events are still served; each is shown from its own reply`.
    """
    if doubt.served:
        return served_text(doubt.listed, doubt.served)
    words = f"the {doubt.missing} known {'event is' if doubt.missing == 1 else 'events are'} polled by id, no reply yet"
    if not doubt.listed:
        return f"The list is empty; {words}"
    return f"The list lacks {doubt.missing} of {doubt.listed + doubt.missing} known events: polled by id, no reply yet"


def served_text(listed: int, served: int) -> str:
    """Return the reason for doubt about a list of `listed` events.

    The list lacks `served` events that the platform still serves.
    """
    if listed:
        lacks = f"The list lacks {served} of {listed + served} events that are still served"
    else:
        lacks = f"The list is empty, but {served} {'event is' if served == 1 else 'events are'} still served"
    return f"{lacks}; each is shown from its own reply"


def missing_rows(cached: CachedList[Any], noun: str) -> Line:
    """Return the rows that a list lacks: `≠ 20 of 300 rooms not received, 2 rooms could not be read`.

    Empty if the list lacks none.
    """
    text = missing_rows_text(cached, noun)
    return [(f"≠ {text}", StyleRole.WARNING)] if text else []


def missing_rows_text(cached: CachedList[Any], noun: str) -> str:
    """Return the rows that a list lacks, as text: `20 of 300 rooms not received`. Empty if the list lacks none."""
    unread = f"{counted(cached.unreadable, noun)} could not be read" if cached.unreadable else ""
    lost = cached.shortfall.text(noun) if cached.shortfall else ""
    return ", ".join(filter(None, [lost, unread]))


def missing_line(snapshot: Snapshot) -> Line:
    """Return the events that the list lacks, as a banner; empty if it lacks none."""
    text = missing_text(snapshot)
    return [(f" ≠ {text} ", StyleRole.BANNER)] if text else []


def poor_text(link: ConnectionStatus) -> str:
    """Return the reason why the link is poor.

    Such as `27 % of replies lost in the last minute` or `slowed by the platform: each event is polled every 20 s`.
    """
    if link.slowed_to:
        return f"slowed by the platform: each event is polled every {link.slowed_to:.0f} s"
    return f"{100 * link.lost_share:.0f} % of replies lost in the last minute"


def next_try_text(link: ConnectionStatus, render_time: RenderTime) -> str:
    """Return the time until the next retry: `retry in 12 s`, or `retrying now`; empty if none is planned."""
    if link.next_try is None:
        return ""
    seconds = -render_time.seconds_since(link.next_try)
    return f"retry in {seconds:.0f} s" if seconds >= 1 else "retrying now"


_OF_COLLECTOR = frozenset({ConnectionProblem.COLLECTOR_SILENT, ConnectionProblem.COLLECTOR_REFUSES})
_NAMED = frozenset({ConnectionProblem.UNAUTHORIZED, ConnectionProblem.RATE_LIMITED})
"""Problems whose headline names the cause."""


def blind_words(link: ConnectionStatus) -> str:
    """Return the headline of a blind monitor: `MONITORING BLIND`, or the collector's problem if that is the cause."""
    return link.problem.banner if link.problem in _OF_COLLECTOR else "MONITORING BLIND"


_BACK = "ANSWERS AGAIN"


def failing_words(link: ConnectionStatus) -> str:
    """Return the headline of a connection that fails or that is checked after a failure.

    While it is checked, its last failure is from before, unless the cause names a newer one.
    """
    is_back = link.is_checking and (link.blame.text == CHECKING or not link.problem)
    return _BACK if is_back else link.problem.banner or "LINK FAILING"


def _fact(attachment: Attachment) -> str:
    """Return the problem of the collector. Omits host and advice, because header and connection log show them."""
    return safe(attachment.reason.partition("; ")[0].removeprefix(f"{attachment.host} "), 120)


def _alone_text(attachment: Attachment, hint: str) -> str:
    """Return the banner of a deck that polls alone.

    Such as `POLLING ALONE since 21:04:11Z  2 not yet shared  ...  collector.example: no response`.
    """
    count = len(attachment.unshared)
    unshared = f"{count} not yet shared" if count else ""
    reason = safe(attachment.reason or f"{attachment.host} is silent", 120)
    return "  ".join(filter(None, [f"POLLING ALONE since {attachment.since:%H:%M:%S}Z", unshared, hint, reason]))


def via_text(snapshot: Snapshot) -> str:
    """Return the collector that polls the platform: `by collector.example`; empty if this process polls."""
    attachment = snapshot.attachment
    return f"by {safe(attachment.host, 40)}" if attachment and not attachment.is_alone else ""


def skew_text(attachment: Attachment | None) -> str:
    """Return the difference from the collector's clock: `this clock is 3 s ahead`; empty without a difference."""
    skew = attachment.skew if attachment else 0.0
    return f"this clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}" if skew else ""


def behind_text(link: ConnectionStatus) -> str:
    """Return the lateness of the process that polls: `this machine is 3 s behind`.

    Empty if the process is less than a second late, or if the state of the connection already names this machine.
    """
    is_omitted = link.own.behind < 1 or link.blame.is_own
    return "" if is_omitted else f"this machine is {link.own.behind:.0f} s behind"


def way_lines(snapshot: Snapshot, render_time: RenderTime) -> list[Line]:
    """Return a line for each part of the data path: from platform to poller, and from collector to this deck."""
    attachment, link = snapshot.attachment, snapshot.link
    is_heard = attachment is None or not attachment.is_silent
    asks = "collector" if attachment and not attachment.is_alone else "deck"
    as_of = f"reply {age(render_time.seconds_since(link.as_of))} ago" if link.as_of else "no reply yet"
    trip = f"rtt {link.round_trip * 1000:.0f} ms" if link.round_trip is not None and link.state.is_answering else ""
    glyph, word, role = CONNECTION_BADGES[link.state] if is_heard else ("?", "unknown", StyleRole.STALE)
    cause = poor_text(link) if link.state is ConnectionState.POOR else link.why
    rest = as_of, trip, behind_text(link), cause if is_heard else ""
    lines = [_way_line(f"platform ← {asks}", f"{glyph} {word}", role, *rest)]
    if attachment:
        glyph, word, role = ATTACHMENT_BADGES[attachment.state]
        heard = attachment.heard_at
        last = f"heard {age(render_time.seconds_since(heard))} ago" if heard else ""
        since = f"since {attachment.since:%H:%M:%S}Z"
        reason = attachment.reason.removeprefix(f"{attachment.host} ")
        where = f"{attachment.host} {reason}" if reason else attachment.host
        facts = where, since, last, _token_text(attachment), skew_text(attachment)
        lines.append(_way_line("collector ← deck", f"{glyph} {word}", role, *facts))
    return lines


def _token_text(attachment: Attachment) -> str:
    """Return holder and right of the token: `as anna, may read`; empty if unknown."""
    limit = f", may {attachment.may}" if attachment.may not in {"", "act"} else ""
    return f"as {attachment.actor}{limit}" if attachment.actor else ""


def _way_line(way: str, words: str, role: StyleRole, *rest: str) -> Line:
    texts = "   ".join(safe(text, 120) for text in rest if text)
    return [(f" {way:21} ", StyleRole.STRONG), (f"{words:20} ", role), (texts, StyleRole.DIM)]


def ended_text(ended: Sequence[EndedEvent]) -> str:
    """Return the events that ended on air: `Hall 2 was completed while on air, seen at 12:10:05Z, by anna@regie`."""
    texts = "; ".join(
        f"{event.name} {event.how} {event.at:%H:%M:%S}Z{f', by {safe(event.by, 60)}' if event.by else ''}"
        for event in reversed(ended)
    )
    return texts if len(ended) == 1 else f"{len(ended)} events ended on air: {texts}"


def banner_line(snapshot: Snapshot, render_time: RenderTime, fault: str = "", hint: str = "") -> Line:
    """Return the banner with the reason why the screen is not current, and since when; empty if the screen is current.

    The cause comes first, because a narrow terminal cuts the end. `fault`: reason why the monitor stopped. `hint`:
    advice for a silent collector.
    """
    connection = snapshot.link
    if fault:
        return [(f" ✖ MONITOR STOPPED  {safe(fault)}  nothing below is updated ", StyleRole.BANNER_BLIND)]
    since = f"{connection.since:%H:%M:%S}Z"
    of_collector = snapshot.attachment if connection.problem in _OF_COLLECTOR else None
    fact = _fact(of_collector) if of_collector else ""
    reason = "" if of_collector or connection.blame.text == CHECKING else safe(connection.why, 120)
    is_headline = connection.state is ConnectionState.FAILING and connection.problem in _NAMED
    cause = "" if of_collector or is_headline else safe(connection.blame.short, 80)
    if cause:  # the reason may say the cause again
        head, _, tail = reason.partition(cause)
        reason = f"{head.rstrip(': ')}{tail}".lstrip(": ")
    data = "no data yet" if connection.as_of is None else f"data from {connection.as_of:%H:%M:%S}Z"
    details = "  ".join(filter(None, [since, cause, hint, fact, data, next_try_text(connection, render_time), reason]))
    if connection.state is ConnectionState.BLIND:
        return [(f" ✖ {blind_words(connection)} since {details} ", StyleRole.BANNER_BLIND)]
    if connection.state is ConnectionState.FAILING:
        role = StyleRole.BANNER_BLIND if connection.is_unauthorized else StyleRole.BANNER
        words = failing_words(connection)
        checking = "" if words == _BACK or not connection.is_checking else "  checking"  # the time is that of the check
        return [(f" ▲ {words}{checking} since {details} ", role)]
    return _doubt_line(snapshot, render_time, data, hint)


def _doubt_line(snapshot: Snapshot, render_time: RenderTime, data: str, hint: str) -> Line:
    """Return the banner of a reason for doubt while the platform responds; empty without such a reason."""
    connection = snapshot.link
    if render_time.stale and connection.as_of is not None:
        text = f"▒ STALE  {data}, {age(render_time.seconds_since(connection.as_of))} old: {render_time.blame.short}"
    elif snapshot.attachment and snapshot.attachment.is_alone:
        text = f"▲ {_alone_text(snapshot.attachment, hint)}"
    elif snapshot.ended:
        text = f"● {ended_text(snapshot.ended)}"
    elif connection.clock_change:
        text = f"● {clock_change_text(connection.clock_change)}"
    elif connection.state is ConnectionState.POOR:
        text = f"▲ LINK POOR since {connection.since:%H:%M:%S}Z  {poor_text(connection)}"
    else:
        return []
    return [(f" {text} ", StyleRole.BANNER)]
