"""Receivers that check what PagerDuty, Slack, Teams and Alertmanager publish about their formats, and keep state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from golden.player import Clock
from notify.warped import Sink

PAGER_KEY = "k3y0fthenightshift77aa0123456789"
SLACK_TOKEN = "xoxb-1234-k3y-of-the-night"
CHANNEL = "C0123ABCD"


def _is_json(headers: Mapping[str, str]) -> bool:
    return headers["content-type"].partition(";")[0] == "application/json"


@dataclass
class PagerDutySink(Sink):
    """Events API v2. `incidents`: dedup key -> state. `refused`: an event is refused if it contains this name."""

    incidents: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    refused: str = ""

    def respond(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str, str]:
        """Answer 202 to a valid event, else 400."""
        status, asked = self.answer(body)
        if status != 200:
            return status, asked, ""
        event = json.loads(body)
        if path != "/v2/enqueue" or not _is_json(headers) or not self._is_valid(event):
            return 400, "", '{"status":"invalid event"}'
        self.events.append(event)
        key, action = event["dedup_key"], event["event_action"]
        if action == "trigger":
            is_open = self.incidents.get(key) in {"triggered", "acknowledged"}
            self.incidents[key] = self.incidents[key] if is_open else "triggered"
        elif self.incidents.get(key) in {"triggered", "acknowledged"}:
            self.incidents[key] = {"acknowledge": "acknowledged", "resolve": "resolved"}[action]
        return 202, "", json.dumps({"status": "success", "message": "Event processed", "dedup_key": key})

    def _is_valid(self, event: dict[str, Any]) -> bool:
        known = {"routing_key", "event_action", "dedup_key", "payload", "images", "links", "client", "client_url"}
        is_framed = {*event} <= known and event["routing_key"] == PAGER_KEY and 0 < len(event["dedup_key"]) <= 255
        if event["event_action"] != "trigger":
            return is_framed and event["event_action"] in {"acknowledge", "resolve"} and "payload" not in event
        payload = event["payload"]
        fields = {"summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"}
        datetime.fromisoformat(payload.get("timestamp", "2026-01-01T00:00:00+00:00"))
        return (
            is_framed
            and {*payload} <= fields
            and 0 < len(payload["summary"]) <= 1024
            and bool(payload["source"])
            and payload["severity"] in {"critical", "error", "warning", "info"}
            and isinstance(payload.get("custom_details", {}), dict)
            and all(link["href"].startswith("http") for link in event.get("links", []))
            and not (self.refused and self.refused in payload["summary"])
        )

    @property
    def states(self) -> list[str]:
        """States of all incidents."""
        return sorted(self.incidents.values())


@dataclass
class SlackSink(Sink):
    """Web API. `messages`: text by time; `threads`: texts below a message; `error`: answer instead of `ok`."""

    messages: dict[str, str] = field(default_factory=dict)
    threads: dict[str, list[str]] = field(default_factory=dict)
    error: str = ""
    errors: dict[str, str] = field(default_factory=dict)

    def respond(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str, str]:
        """Answer as Slack does: with status 200 and `ok`."""
        status, asked = self.answer(body)
        if status != 200:
            return status, asked, json.dumps({"ok": False, "error": "ratelimited"})
        found = self._answer(path, headers, json.loads(body))
        return 200, "", json.dumps(found)

    def _answer(self, path: str, headers: Mapping[str, str], call: dict[str, Any]) -> dict[str, Any]:
        method = path.removeprefix("/api/")
        if headers["authorization"] != f"Bearer {SLACK_TOKEN}" or not _is_json(headers):
            return {"ok": False, "error": "invalid_auth"}
        if error := self.errors.get(method, self.error):
            return {"ok": False, "error": error}
        allowed = (
            {"channel", "text", "ts"}
            if method == "chat.update"
            else {"channel", "text", "mrkdwn", "unfurl_links", "unfurl_media", "thread_ts", "reply_broadcast"}
        )
        is_lost = method == "chat.update" and call["ts"] not in self.messages
        faults = {
            "invalid_arguments": not {*call} <= allowed or not call["text"] or len(call["text"]) > 4000,
            "channel_not_found": call["channel"] != CHANNEL,
            "message_not_found": is_lost,
        }
        if found := [error for error, is_so in faults.items() if is_so]:
            return {"ok": False, "error": found[0]}
        if method == "chat.update":
            self.messages[call["ts"]] = call["text"]
            return {"ok": True, "channel": CHANNEL, "ts": call["ts"], "text": call["text"]}
        at = f"1732{len(self.messages) + sum(map(len, self.threads.values())):06}.000100"
        if root := call.get("thread_ts"):
            self.threads.setdefault(root, []).append(call["text"])
        else:
            self.messages[at] = call["text"]
        return {"ok": True, "channel": CHANNEL, "ts": at, "message": {"text": call["text"] * 2, "type": "message"}}


@dataclass
class TeamsSink(Sink):
    """Workflow that posts cards. `cards`: texts of each card, in order; `acknowledging`: links of the cards."""

    cards: list[list[str]] = field(default_factory=list)
    links: list[list[str]] = field(default_factory=list)
    acknowledging: list[str] = field(default_factory=list)

    def respond(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str, str]:
        """Answer 202 to a valid card of less than 28 KB."""
        del path
        status, asked = self.answer(body)
        if status != 200:
            return status, asked, ""
        if len(body.encode()) >= 28 * 1024:
            return 413, "", ""
        message = json.loads(body)
        (attachment,) = message["attachments"]
        card = attachment["content"]
        is_valid = (
            _is_json(headers)
            and message["type"] == "message"
            and attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
            and card["type"] == "AdaptiveCard"
            and card["version"] in {"1.2", "1.3", "1.4"}
            and all(block["type"] == "RichTextBlock" for block in card["body"])
            and all(run["type"] == "TextRun" and run["text"] for block in card["body"] for run in block["inlines"])
            and all(
                action["type"] == "Action.OpenUrl" and action["url"].startswith("http") and action["title"]
                for action in card.get("actions", [])
            )
        )
        if not is_valid:
            return 400, "", ""
        self.cards.append(["".join(run["text"] for run in block["inlines"]) for block in card["body"]])
        runs = [run for block in card["body"] for run in block["inlines"]]
        self.acknowledging += [run["selectAction"]["url"] for run in runs if "selectAction" in run]
        self.links.append([action["url"] for action in card.get("actions", [])])
        return 202, "", ""


@dataclass
class AlertmanagerSink(Sink):
    """Alertmanager. Its alerts by their labels, as start and end; `kill` drops them."""

    alerts: dict[tuple[tuple[str, str], ...], tuple[datetime, datetime]] = field(default_factory=dict)
    annotations: list[dict[str, str]] = field(default_factory=list)

    def respond(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str, str]:
        """Take valid alerts, and answer 400 if one is not."""
        status, asked = self.answer(body)
        if status != 200:
            return status, asked, ""
        if path != "/api/v2/alerts" or not _is_json(headers):
            return 404, "", ""
        is_valid = True
        for alert in json.loads(body):
            begin = datetime.fromisoformat(alert.get("startsAt") or Clock().now().isoformat())
            end = datetime.fromisoformat(alert["endsAt"])
            is_known = {*alert} <= {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}
            if not is_known or not alert["labels"].get("alertname") or end < begin:
                is_valid = False
                continue
            self.alerts[tuple(sorted(alert["labels"].items()))] = begin, end
            self.annotations.append(alert.get("annotations", {}))
        return (200, "", "") if is_valid else (400, "", "")

    def kill(self) -> None:
        """Forget everything, as `kill -9` does."""
        self.alerts.clear()

    def firing(self, after: float = 0.0) -> list[str]:
        """Names of the alerts that fire, `after` so many seconds without another request."""
        now = Clock().now().timestamp() + after
        labels = [dict(labels) for labels, (_, end) in self.alerts.items() if end.timestamp() > now]
        return sorted(" ".join(filter(None, (each["alertname"], each.get("event")))) for each in labels)
