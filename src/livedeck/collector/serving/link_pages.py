"""Page of a link: it shows an alarm and one button. Only the button acknowledges (collector.md, "Links").

Mail and chat programs fetch links to preview them, so a GET changes nothing. A link is a permission and needs no token.
"""

from __future__ import annotations

from datetime import timedelta
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from livedeck.collector.links import LINK_LASTS, LINK_LASTS_MOST, LinkRefused, Links, Ticket
from livedeck.collector.protocol.commands import Body, parse_key
from livedeck.collector.serving.access import Access
from livedeck.collector.serving.endpoints import Caller, Endpoint, Refusal
from livedeck.monitor import (
    ActionKind,
    ActionRecord,
    Alarm,
    AlarmCommand,
    AlarmRefused,
    AuditOutcome,
    History,
    Monitor,
    check_seen,
    person,
)
from livedeck.text.secrets import masked_line
from livedeck.text.times import isoformat_utc
from livedeck.text.values import evidence_text, safe

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>livedeck</title>
<style>
body {{ font: 18px/1.5 system-ui, sans-serif; max-width: 34em; margin: 2em auto; padding: 0 1em; }}
button {{ font: inherit; font-weight: bold; padding: .6em 1.2em; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""

_OFF = "This collector makes no links: set link_url of [collector]"


class LinkRequest(Body):
    """Request for a link. `minutes`: its validity; None for an hour. `sender`: name of the sender."""

    minutes: float | None = None
    sender: str = ""


class LinkPages:
    """Routes of links. `links`: None if this collector makes no links."""

    def __init__(self, monitor: Monitor, history: History | None, access: Access, links: Links | None) -> None:
        self._monitor, self._history, self._access, self._links = monitor, history, access, links

    async def make_link(self, request: Request, caller: Caller, body: LinkRequest) -> dict[str, str | None]:
        """Make a link that acknowledges an alarm. Its sender is the owner of the token."""
        key = parse_key(request.path_params["key"])
        alarm = self._monitor.find_alarm(key) if key else None
        if self._links is None:
            raise Refusal(503, "no links", _OFF)
        if alarm is None:
            raise Refusal(404, "gone", "the alarm no longer exists")
        lasts = LINK_LASTS if body.minutes is None else timedelta(minutes=body.minutes)
        if not timedelta() < lasts <= LINK_LASTS_MOST:
            most = LINK_LASTS_MOST // timedelta(minutes=1)
            raise Refusal(422, "not understood", f"minutes: more than 0 and at most {most}")
        sender = f"{caller.name} ({body.sender})" if body.sender else caller.name
        try:
            link = self._links.link(alarm.moved(self._monitor.clock.offset), sender, lasts)
        except LinkRefused as refusal:
            raise Refusal(422, "too long", str(refusal)) from None
        until = self._links.read(link.rpartition("/")[2]).until
        return {"link": link, "until": isoformat_utc(until)}

    async def show_link(self, request: Request) -> Response:
        """Show the alarm of a link, with a button if it can be acknowledged. Changes nothing."""
        try:
            ticket = self._read(request)
            alarm = self._alarm(ticket)
        except LinkRefused as refusal:
            return _page("Not possible", str(refusal), status=404)
        try:
            check_seen(self._command(ticket), alarm)
        except AlarmRefused as refusal:
            return _page("Not possible", f"{refusal}.", status=409)
        lines = [*_alarm_lines(alarm), f"The acknowledgement is recorded as: {ticket.actor}."]
        return _page(_title(alarm), *lines, button="Acknowledge")

    async def use_link(self, request: Request) -> Response:
        """Acknowledge the alarm of a link, once."""
        try:
            ticket = self._read(request)
            self._alarm(ticket)
        except LinkRefused as refusal:
            return _page("Not possible", str(refusal), status=404)
        try:
            action = self._monitor.carry_out(self._command(ticket))
        except AlarmRefused as refusal:
            return _page("Not acknowledged", f"{refusal}.", status=409)
        alarm = self._monitor.find_alarm(ticket.key)
        lines = _alarm_lines(alarm) if alarm else []
        if action is None:
            return _page("Not needed", "Nobody needs to acknowledge this alarm now.", *lines)
        await self._audit(ticket, alarm, self._access.peer(request))
        return _page("Acknowledged", *lines)

    def _command(self, ticket: Ticket) -> AlarmCommand:
        """Return a link's acknowledgement as a command, with times by the monitor's clock."""
        shown = ticket.shown._replace(since=ticket.shown.since - timedelta(seconds=self._monitor.clock.offset))
        return AlarmCommand(ticket.key, ActionKind.ACKNOWLEDGE, shown, actor=ticket.actor, uid=ticket.uid)

    def _read(self, request: Request) -> Ticket:
        """Return the ticket of a request. Raises LinkRefused if the link is invalid or expired, or has been used."""
        if self._links is None:
            raise LinkRefused(f"{_OFF}.")
        try:
            ticket = self._links.read(request.path_params["ticket"])
        except LinkRefused:
            self._access.note_refusal(self._access.peer(request), "link not valid or expired")
            raise
        if self._monitor.is_used(ticket.uid):
            raise LinkRefused("This link has been used. It works once.")
        return ticket

    def _alarm(self, ticket: Ticket) -> Alarm:
        """Return the alarm of a ticket. Raises LinkRefused if this collector does not have it."""
        alarm = self._monitor.find_alarm(ticket.key)
        if alarm is None:
            raise LinkRefused(
                f"{ticket.key.kind} is not on the board: it has cleared, or the collector has just started. "
                "Try again in a minute, or open the deck."
            )
        return alarm

    async def _audit(self, ticket: Ticket, alarm: Alarm | None, peer: str) -> None:
        if self._history is None:
            return
        name = f"{alarm.subject} {alarm.kind}" if alarm else ticket.key.kind
        detail = f"by a {ticket.actor}{f', used at {peer}' if peer else ''}"
        await self._history.record_action(
            ActionRecord(
                self._monitor.clock.now() + timedelta(seconds=self._monitor.clock.offset),
                "alarm.acknowledge",
                "alarm",
                "/".join(ticket.key),
                name,
                AuditOutcome.DONE,
                detail,
            )
        )


LINKS: tuple[Endpoint[LinkPages], ...] = (
    Endpoint("GET", "/v1/link/{ticket}", "", LinkPages.show_link, media="text/html", refuses=(409,)),
    Endpoint("POST", "/v1/link/{ticket}", "", LinkPages.use_link, media="text/html", refuses=(409,)),
    Endpoint("POST", "/v1/alarms/{key}/link", "act", LinkPages.make_link, LinkRequest, refuses=(503,)),
)


def _title(alarm: Alarm) -> str:
    return f"{safe(alarm.subject, 80)}: {alarm.kind}"


def _alarm_lines(alarm: Alarm) -> list[str]:
    by = f" by {person(alarm.answered_by)}" if alarm.answered_by else ""
    until = f" until {alarm.acknowledged_until:%H:%M:%S}Z" if alarm.acknowledged_until else ""
    return [
        f"{alarm.severity.value.capitalize()} since {alarm.since:%H:%M:%S}Z: {evidence_text(alarm)}",
        f"State: {alarm.state.words}{by}{until}",
    ]


def _page(title: str, *lines: str, button: str = "", status: int = 200) -> HTMLResponse:
    """Return a page with a title, paragraphs, and a button that posts to the same address."""
    rows = [f"<p>{escape(masked_line(line, 500))}</p>" for line in lines]
    rows += [f'<form method="post"><button>{escape(button)}</button></form>'] if button else []
    return HTMLResponse(_PAGE.format(title=escape(masked_line(title, 200)), body="\n".join(rows)), status, _HEADERS)
