"""Targets with a format of their own: Alertmanager, PagerDuty, Slack and Teams (notifications.md, "Targets").

They report each alarm separately, from its entry, because the JSON of a webhook holds at most 50 alarms. A plain
message (`Message.as_plain_text`), which follows a refusal, has no JSON: the target then gets only the necessary fields.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from livedeck.monitor import Severity
from livedeck.notify.message import BEGINNINGS, Entry, Message, Open, Status
from livedeck.notify.targets import Delivery, FindRefusal, Post, Reply, delivery_of, is_success, words_of
from livedeck.text.secrets import masked_line

_JSON = {"Content-Type": "application/json; charset=utf-8"}

_REMEMBERED = 100
"""Number of messages whose finished requests a target remembers, so that a retry continues after them."""

Now = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


def _body(value: object) -> bytes:
    return json.dumps(value).encode()


def _line(text: str, limit: int = 300) -> str:
    return str(masked_line(text, limit))


def _event_name(entry: Entry, limit: int = 300) -> str:
    """Return the name of an event, or its id if all letters of the name are hidden."""
    return _line(entry.event, limit) or _line(entry.event_id, limit)


class _Done:
    """Requests of the latest messages that a receiver took: a retry of a message skips them."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, dict[str, str]] = OrderedDict()

    def of(self, message: Message) -> dict[str, str]:
        """Return the finished requests of a message: name -> receipt. The caller adds requests to this dict."""
        taken = self._taken.setdefault(message.key, {})
        self._taken.move_to_end(message.key)
        while len(self._taken) > _REMEMBERED:
            self._taken.popitem(last=False)
        return taken

    def forget(self, message: Message) -> None:
        """Forget a message that is finished."""
        self._taken.pop(message.key, None)


def _cleared(message: Message) -> Mapping[str, tuple[str, datetime]]:
    """Return the alarms whose end the JSON of a message reports: life -> dedup key, and time of the end."""
    alarms = json.loads(message.payload)["alarms"] if message.payload else []
    return {
        alarm["life"]: (alarm["dedup_key"], datetime.fromisoformat(alarm["cleared"]))
        for alarm in alarms
        if alarm["cleared"]
    }


def _known(message: Message) -> Iterable[Open]:
    """Yield the alarms whose end a message reports and whose beginning the target took."""
    return (opened for opened in message.opened if opened.life in {*message.ends})


# Alertmanager

_AHEAD = timedelta(hours=24)
"""Time after which Alertmanager ends an alarm that is not sent again. Long, because a dead livedeck proves no end."""

_TEST_AHEAD = timedelta(minutes=5)
"""Time until a test ends at Alertmanager by itself."""

_WATCH_AHEAD = timedelta(minutes=2)
"""Time until LivedeckWatch ends at Alertmanager by itself, so that a dead livedeck is noticed."""

_ENDED_KEPT = timedelta(minutes=5)
"""Time for which an end is sent again, because a late request may have opened the alarm anew."""

_PERIOD = 15.0


class Alertmanager:
    """Alertmanager, by its API v2. `origin`: label that tells platforms apart.

    Alertmanager knows an alarm by its labels. It forgets alarms that are not sent again, and all alarms at a restart.
    """

    def __init__(self, post: Post, address: str, origin: str, now: Now = _now) -> None:
        self._post, self._address, self._origin, self._now = post, address.rstrip("/"), origin, now
        self._ended: dict[tuple[tuple[str, str], ...], tuple[dict[str, Any], datetime]] = {}
        self.period = _PERIOD

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the address."""
        return await find(self._address)

    async def send(self, message: Message) -> Delivery:
        """POST the alarms of a message once, all together."""
        opens = {opened.life: opened for opened in message.opens}
        ended, cleared, alerts = [*_known(message)], _cleared(message), list[dict[str, Any]]()
        ended += [  # an alarm that has become worse has other labels, so it is another alert
            opened
            for opened in message.opened
            if opened.life in opens and self._labels(opened.entry) != self._labels(opens[opened.life].entry)
        ]
        for opened in ended:
            _, at = cleared.get(opened.life, ("", message.at))
            alerts.append(self._end(opened.entry, min(at, message.at)))
        alerts += [self._alert(opened.entry, is_plain=not message.payload) for opened in opens.values()]
        if message.status is Status.TEST and not alerts:
            alerts.append(self._watch())
        return await self._send(alerts) if alerts else Delivery(is_taken=True, answer="nothing to send: no open alert")

    async def refresh(self, opens: Sequence[Open]) -> Delivery:
        """POST all open alarms, the alert LivedeckWatch, and the latest ends."""
        alerts = {_identity(alert): alert for alert in (self._alert(opened.entry) for opened in opens)}
        latest = self._now() - _ENDED_KEPT
        self._ended = {
            labels: (alert, at) for labels, (alert, at) in self._ended.items() if at > latest and labels not in alerts
        }
        return await self._send([self._watch(), *alerts.values(), *(alert for alert, _ in self._ended.values())])

    async def _send(self, alerts: Sequence[Mapping[str, Any]]) -> Delivery:
        return delivery_of(await self._post("POST", f"{self._address}/api/v2/alerts", _JSON, _body(alerts)))

    def _labels(self, entry: Entry) -> dict[str, str]:
        labels = {
            "alertname": entry.kind,
            "event": entry.event,
            "event_id": entry.event_id,
            "kind": entry.kind,
            "severity": entry.severity.value,
            "target": entry.target,
            "origin": self._origin,
        }
        return _lines(labels)

    def _alert(self, entry: Entry, *, is_plain: bool = False) -> dict[str, Any]:
        since, is_test = entry.since.astimezone(UTC), entry.status is Status.TEST
        alert = {
            "labels": self._labels(entry),
            "startsAt": since.isoformat(),
            "endsAt": (max(self._now(), since) + (_TEST_AHEAD if is_test else _AHEAD)).isoformat(),
        }
        if not is_plain:
            link = {"acknowledge": entry.acknowledge} if entry.acknowledge else {}
            alert |= {"annotations": {"summary": entry.title or entry.kind, **_details(entry), **link}}
            alert |= {"generatorURL": entry.link} if entry.link else {}
        return alert

    def _end(self, entry: Entry, at: datetime) -> dict[str, Any]:
        since = entry.since.astimezone(UTC)
        alert = {"labels": self._labels(entry), "startsAt": since.isoformat()}
        alert["endsAt"] = max(at.astimezone(UTC), since).isoformat()
        self._ended[_identity(alert)] = alert, self._now()
        return alert

    def _watch(self) -> dict[str, Any]:
        labels = {"alertname": "LivedeckWatch", "severity": "none", "origin": self._origin}
        summary = {"summary": "livedeck is alive; if this alert ends, livedeck is dead"}
        return {"labels": labels, "annotations": summary, "endsAt": (self._now() + _WATCH_AHEAD).isoformat()}


def _identity(alert: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(alert["labels"].items()))


def _details(entry: Entry) -> dict[str, str]:
    """Return the evidence of an alarm by name, without empty values."""
    words = {
        "event": entry.event,
        "part": entry.part,
        "actual": entry.actual,
        "expected": entry.expected,
        "since": entry.since.astimezone(UTC).isoformat(),
        "cause": entry.cause,
        "viewers": entry.viewers,
        "advice": entry.advice,
        "other_alarms": ", ".join(entry.others),
        "affected": ", ".join(entry.affected[:20]),
        "link": entry.link,
    }
    return _lines(words)


def _lines(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values, each as one line. Leaves out values that look empty."""
    return {name: line for name, value in values.items() if (line := _line(value))}


# PagerDuty

_AT_ONCE = 8
"""Maximum number of requests to PagerDuty at the same time."""

_MAX_SUMMARY = 1024


class PagerDuty:
    """PagerDuty, by its Events API v2: an event for each alarm. `key`: the integration key of a service."""

    def __init__(self, post: Post, key: str, api: str) -> None:
        self._post, self._key, self._api, self._done = post, key, api.rstrip("/"), _Done()

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the API."""
        return await find(self._api)

    async def send(self, message: Message) -> Delivery:
        """Send an event for each alarm, some at a time. A retry sends only events that were not taken before.

        If PagerDuty refuses an event, the other events are still sent. After any other failure, no further event is
        sent.
        """
        done, slots, failures = self._done.of(message), asyncio.Semaphore(_AT_ONCE), list[Reply]()
        before = len(done)

        async def enqueue(event: Mapping[str, object]) -> None:
            name = f"{event['event_action']} {event['dedup_key']}"
            async with slots:
                if name in done or any(not delivery_of(reply).is_refused for reply in failures):
                    return
                reply = await self._post("POST", f"{self._api}/v2/enqueue", _JSON, _body(event))
                if is_success(reply.status):
                    done[name] = words_of(reply)
                else:
                    failures.append(reply)

        async with asyncio.TaskGroup() as group:
            for event in self._events(message):
                group.create_task(enqueue(event))
        if not failures:
            self._done.forget(message)
            return Delivery(is_taken=True, answer=next(iter(done.values()), "nothing to send: no open alert"))
        passing = [reply for reply in failures if not delivery_of(reply).is_refused]
        return replace(delivery_of((passing or failures)[0]), is_partial=len(done) > before)

    def _events(self, message: Message) -> Iterable[dict[str, object]]:
        keys = {opened.life: opened.dedup_key for opened in message.opened}
        keys |= {life: key for life, (key, _) in _cleared(message).items()}
        for beginning in message.beginnings:
            entry = Entry.from_json(beginning.entry) if beginning.entry else None
            yield self._event("trigger", beginning.dedup_key) | self._payload(message, entry)
        for action, lives in (("acknowledge", message.acknowledged), ("resolve", message.ends)):
            yield from (self._event(action, keys[life]) for life in lives if life in keys)

    def _event(self, action: str, key: str) -> dict[str, object]:
        return {"routing_key": self._key, "event_action": action, "dedup_key": key}

    def _payload(self, message: Message, entry: Entry | None) -> dict[str, object]:
        if entry is None:
            summary = _line(message.title, _MAX_SUMMARY)
            return {"client": "livedeck", "payload": {"summary": summary, "source": "livedeck", "severity": "warning"}}
        actual = f": {entry.actual}" if entry.actual else ""
        payload: dict[str, object] = {
            "summary": _line(f"{entry.title or entry.kind}{actual}", _MAX_SUMMARY),
            "source": _event_name(entry) or "livedeck",
            "severity": _SEVERITIES[entry.severity],
            "timestamp": entry.since.astimezone(UTC).isoformat(),
            "class": entry.kind,
        }
        payload |= {"component": _line(entry.part)} if entry.part else {}
        payload |= {"custom_details": _details(entry)} if message.payload else {}
        page = {"client_url": entry.link} if entry.link else {}
        named = (entry.link, _event_name(entry)), (entry.acknowledge, "Acknowledge in livedeck")
        links = [{"href": link, "text": text} for link, text in named if link]
        return {"client": "livedeck", "payload": payload, **page, **({"links": links} if links else {})}


_SEVERITIES = {Severity.CRITICAL: "critical", Severity.WARNING: "warning", Severity.INFO: "info"}


# Slack

_REFUSED = frozenset({"msg_too_long", "no_text", "invalid_arguments", "invalid_arg_name", "invalid_blocks"})
"""Errors of Slack that concern the message, not the target."""

_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"})
"""Errors of Slack for a message that can no longer be changed."""

_PLAIN = {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
"""Options of a message: no Markdown in the names of strangers, and no preview of their links."""

_MAX_STILL = 10
"""Maximum number of alarms that an edited message names as still open."""


class _Said(NamedTuple):
    """Reply of Slack. `error`: error code; empty if it took the request. `receipt`: channel and time of the message."""

    delivery: Delivery
    error: str
    receipt: str


class Slack:
    """A channel of Slack, by a bot token.

    The end of an alarm edits the message of its beginning, and is posted in the thread of this message.
    """

    def __init__(self, post: Post, token: str, channel: str, api: str) -> None:
        self._post, self._token, self._channel, self._api, self._done = post, token, channel, api.rstrip("/"), _Done()

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the API."""
        return await find(self._api)

    async def send(self, message: Message) -> Delivery:
        """Post a message, or edit the earlier messages of cleared alarms. A retry repeats no finished request."""
        done = self._done.of(message)
        before = len(done)
        delivery = await self._send(message, done)
        if delivery.is_taken:
            self._done.forget(message)
        return replace(delivery, is_partial=len(done) > before)

    async def _send(self, message: Message, done: dict[str, str]) -> Delivery:
        by_receipt = dict[str, list[Open]]()
        for opened in _known(message):
            by_receipt.setdefault(opened.receipt, []).append(opened)
        by_receipt.pop("", None)
        is_whole = sum(map(len, by_receipt.values())) == len(message.ends)
        if not message.ends or not is_whole:
            delivery = await self._post_news(done, message)
            if not message.ends or not delivery.is_taken:
                return delivery
        for receipt, ended in by_receipt.items():
            delivery = await self._end(done, message, receipt, ended, is_only=is_whole and len(by_receipt) == 1)
            if not delivery.is_taken:
                break
        return delivery

    async def _post_news(self, done: dict[str, str], message: Message) -> Delivery:
        """Post a message. If its alarms belong to one earlier message, post it in that thread and in the channel."""
        lives = {beginning.life for beginning in message.beginnings}
        found = {opened.life: opened.receipt for opened in message.opened if opened.life in lives and opened.receipt}
        if len(found) < max(1, len(lives)) or len({*found.values()}) > 1:
            return (await self._say(done, "post", _full(message))).delivery
        (root,) = {*found.values()}
        channel, _, at = root.partition(" ")
        said = await self._say(done, "post", _full(message), channel=channel, thread_ts=at, reply_broadcast=True)
        if said.error in _GONE:
            return (await self._say(done, "post", _full(message))).delivery
        return replace(said.delivery, receipt=root)

    async def _end(
        self, done: dict[str, str], message: Message, receipt: str, ended: Sequence[Open], *, is_only: bool
    ) -> Delivery:
        """Edit the message of these alarms, and add a line to its thread; if that is impossible, post the end."""
        channel, _, at = receipt.partition(" ")
        lives = {opened.life for opened in ended}
        still = [opened for opened in message.opened if opened.receipt == receipt and opened.life not in lives]
        news = _full(message) if is_only else "RESOLVED " + ", ".join(_name(opened) for opened in ended[:_MAX_STILL])
        edited = f"{message.title if is_only else news}\nStill open: {_names(still)}" if still else news
        said = await self._say(done, f"edit {receipt}", edited, method="chat.update", channel=channel, ts=at)
        if said.delivery.is_taken:
            said = await self._say(done, f"thread {receipt}", news, channel=channel, thread_ts=at)
        if said.error in _GONE:
            said = await self._say(done, f"post {receipt}", news)
        return said.delivery

    async def _say(
        self, done: dict[str, str], step: str, text: str, *, method: str = "chat.postMessage", **values: object
    ) -> _Said:
        if step in done:
            return _Said(Delivery(is_taken=True, answer="200 ok", receipt=done[step]), "", done[step])
        headers = {**_JSON, "Authorization": f"Bearer {self._token}"}
        form = {} if method == "chat.update" else _PLAIN
        body = _body({"channel": self._channel, "text": _escaped(text), **form, **values})
        reply = await self._post("POST", f"{self._api}/api/{method}", headers, body)
        said = _read(reply)
        if said.delivery.is_taken:
            done[step] = said.receipt
        return said


def _read(reply: Reply) -> _Said:
    """Return the reply of Slack, which may refuse a message with status 200."""
    try:
        found = json.loads(reply.body)
        error = "" if found["ok"] else str(found["error"])
        receipt = f"{found.get('channel', '')} {found.get('ts', '')}" if found["ok"] else ""
    except (ValueError, KeyError, TypeError, AttributeError):
        error, receipt = "no reply from Slack", ""
    delivery = delivery_of(reply)
    if not delivery.is_taken:
        return _Said(delivery, error or words_of(reply), "")
    words = f"{reply.status} {_line(error or 'ok', 120)}"
    return _Said(Delivery(not error, words, error in _REFUSED, reply.retry_after, receipt), error, receipt)


class SlackHook:
    """An incoming webhook of Slack. It posts plain messages, which cannot be edited."""

    def __init__(self, post: Post, address: str) -> None:
        self._post, self._address = post, address

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the address."""
        return await find(self._address)

    async def send(self, message: Message) -> Delivery:
        """POST the text once."""
        body = _body({"text": _escaped(_full(message)), **_PLAIN})
        return delivery_of(await self._post("POST", self._address, _JSON, body))


def _full(message: Message) -> str:
    return f"{message.title}\n{message.text}"


def _name(known: Open) -> str:
    return f"{known.entry.kind} {_line(known.entry.event, 60)}"


def _names(opens: Sequence[Open]) -> str:
    named = ", ".join(map(_name, opens[:_MAX_STILL]))
    return f"{named} and {len(opens) - _MAX_STILL} more" if len(opens) > _MAX_STILL else named


def _escaped(text: str) -> str:
    """Return a text without mentions or links of strangers, as Slack asks for it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Teams

MAX_CARD = 28 * 1024
"""Size limit of a message of Teams in bytes."""

_COLOURS = {**dict.fromkeys(BEGINNINGS, "Attention"), Status.RESOLVED: "Good"}


class Teams:
    """Target that posts adaptive cards to a Teams channel through a workflow.

    The end of an alarm is a new card, because a workflow cannot edit one.
    """

    def __init__(self, post: Post, address: str) -> None:
        self._post, self._address = post, address

    async def find_refusal(self, find: FindRefusal) -> str:
        """Return why nothing may be sent to the address."""
        return await find(self._address)

    async def send(self, message: Message) -> Delivery:
        """POST the card once."""
        lines = message.text.splitlines()
        while len(body := _body(_card(message, lines))) >= MAX_CARD and lines:
            lines.pop()
        return delivery_of(await self._post("POST", self._address, _JSON, body))


def _card(message: Message, lines: Sequence[str]) -> dict[str, object]:
    """Return the message as an Adaptive Card. Its texts are runs, because a text block would read names as Markdown."""
    colour = _COLOURS.get(message.status, "Default")
    title = {**_text_run(message.title), "weight": "Bolder", "size": "Medium", "color": colour}
    entries = [opened.entry for opened in message.opens]
    acknowledging = {entry.acknowledge for entry in entries} - {""}
    runs = [[title], *([_run(line, acknowledging)] for line in lines if line)]
    links = {entry.link: entry for entry in entries if entry.link}
    card: dict[str, object] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": inlines} for inlines in runs],
    }
    if links and message.payload:
        named = [*links.items()][:5]
        card["actions"] = [
            {"type": "Action.OpenUrl", "title": _event_name(entry, 40), "url": link} for link, entry in named
        ]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _run(line: str, links: Container[str]) -> dict[str, object]:
    """Return a line of a card. If the line ends with a link, the words before the link open it."""
    words, _, link = line.rpartition(" ")
    if link not in links:
        return _text_run(line)
    return {**_text_run(words.strip(" :") or "Acknowledge"), "selectAction": {"type": "Action.OpenUrl", "url": link}}


def _text_run(text: str) -> dict[str, object]:
    """Return a run of text, with a gap between two braces, because Teams turns `{{TIME(...)}}` into a time."""
    return {"type": "TextRun", "text": re.sub(r"\{(?=\{)", "{ ", text)}
