"""When each alert for Prometheus fires, and when it does not: by promtool, over the series of two collectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from livedeck.presentation.metrics import ALARMS, EVENT_HELD, METRICS
from presentation.prometheus_files import RULE_FILE, Rule, panel_expressions, rules
from presentation.promtool import promtool

EACH = "15s"
"""Time between two samples: `1x80` is 1 for twenty minutes."""

UP, GONE, LATE = "1x80", "1x4 stale", "_x5 1x80"

INFO = 'event_info{event_id="4d2c",name="Friday show"}'
ON_AIR = 'event_on_air{event_id="4d2c"}'
HEALTH = 'event_health_ratio{event_id="4d2c"}'
LOST = 'viewer_up{event_id="4d2c"}'
AGE = 'event_sample_age_seconds{event_id="4d2c"}'
UNREAD = 'alarms{kind="NO_INGEST",severity="critical",state="unacknowledged"}'
READ = 'alarms{kind="NO_INGEST",severity="critical",state="acknowledged"}'
ONE, TWO = ({"job": "livedeck", "instance": instance} for instance in ("one", "two"))
FRIDAY = {"job": "livedeck", "event_id": "4d2c", "name": "Friday show"}
SEEN = "platform_link_up"
SHOW = {INFO: (UP, UP), ON_AIR: (UP, UP), SEEN: (UP, UP), "build_info": (UP, UP)}
BLIND = {**SHOW, ON_AIR: ("1x20 stale", "1x20 stale"), SEEN: ("1x20 0x60", "1x20 0x60")}
"""Both collectors get no reply from the platform after five minutes."""

DEAD = dict.fromkeys(SHOW, ("1x20 stale", "1x20 stale"))
"""Both collectors are killed after five minutes."""

RESTARTED = {**dict.fromkeys(SHOW, ("1x20 stale _x3 1x60", "1x20 stale _x3 1x60")), SEEN: ("1x20 stale _x3 0x60",) * 2}
RESTARTED[INFO] = RESTARTED[ON_AIR] = DEAD[INFO]
"""Both start anew while the platform does not respond."""

POOR, SILENT, STOPPED = (
    (FRIDAY, text)
    for text in (
        "Friday show had a health under 50% when it was last known.",
        "No samples of Friday show when it was last known.",
        "The playlist of Friday show did not play when it was last known.",
    )
)
UNTIL_BLIND = {
    "LivedeckEventPoor": (HEALTH, "0.1x20 stale", "0.1x20 stale _x20 0.9x40", "0.9x16 0.1x4 stale", POOR),
    "LivedeckEventSilent": (AGE, "75+15x80", "75+15x40 2x40", "2x17 62+15x63", SILENT),
    "LivedeckViewersLost": (LOST, "0x20 stale", "0x20 stale _x20 1x40", "1x18 0x2 stale", STOPPED),
}
"""Series of each alert of an event: firing until the data ends, good again later, and too short to fire."""


class Case(NamedTuple):
    """Metrics of two collectors with their samples, and the alerts that fire after some minutes.

    `alerts`: labels of each alert, without its severity, and its words.
    """

    rule: str
    what: str
    series: dict[str, tuple[str, ...]]
    minutes: float
    alerts: tuple[tuple[dict[str, str], str], ...] = ()


CASES = (
    Case("LivedeckSilent", "nothing tells", {}, 6, (({}, "No livedeck process reports: nobody watches the events."),)),
    Case("LivedeckSilent", "for four minutes", {}, 4),
    Case("LivedeckSilent", "one of two tells", {"build_info": (UP, GONE)}, 15),
    Case(
        "LivedeckSilent",
        "both of a platform have ended, while another platform is watched",
        {"build_info": (GONE, GONE), 'build_info{job="other"}': ("1x600",)},
        90,
        (({"job": "livedeck"}, "No livedeck process of livedeck reports: nobody watches the events."),),
    ),
    Case(
        "LivedeckGone",
        "one of two has ended",
        {"build_info": (UP, GONE)},
        5,
        ((TWO, "two has stopped reporting; it reported within the last hour."),),
    ),
    Case(
        "LivedeckGone",
        "one of two versions, and then itself",
        {'build_info{version="1"}': ("1x4 stale",), 'build_info{version="2"}': ("_x5 1x4 stale",)},
        6,
        ((ONE, "one has stopped reporting; it reported within the last hour."),),
    ),
    Case("LivedeckGone", "it is gone for a minute", {"build_info": (UP, "1x4 stale _x3 1x80")}, 2),
    Case("LivedeckGone", "it ended two hours ago", {"build_info": ("1x600", GONE)}, 120),
    Case(
        "LivedeckGone",
        "it was replaced by another version",
        {'build_info{version="1"}': (UP, GONE), 'build_info{version="2"}': ("", "_x6 1x80")},
        5,
    ),
    Case(
        "LivedeckBlind",
        "one of two has no answer",
        {"platform_link_up": (UP, "0x80")},
        2,
        ((TWO, "two gets no response from the platform."),),
    ),
    Case("LivedeckBlind", "for half a minute", {"platform_link_up": (UP, "1x4 0x2 1x80")}, 1.5),
    Case(
        "LivedeckResponseOld",
        "no answer for long",
        {"platform_answer_age_seconds": ("5x80", "0+15x80")},
        10,
        ((TWO, "The platform's last response to two is 10m 0s old."),),
    ),
    Case("LivedeckResponseOld", "since half a minute", {"platform_answer_age_seconds": ("5x20 95x80",)}, 5.5),
    Case("LivedeckResponseOld", "the usual age", {"platform_answer_age_seconds": ("60x80", "90x80")}, 10),
    Case(
        "LivedeckUnacknowledged",
        "both know of it, and it is one",
        {UNREAD: ("2x80", "2x80")},
        5,
        (({"job": "livedeck", "kind": "NO_INGEST"}, "A critical NO_INGEST is not acknowledged."),),
    ),
    Case("LivedeckUnacknowledged", "since two minutes", {UNREAD: ("_x20 1x80", "_x20 1x80")}, 7),
    Case("LivedeckUnacknowledged", "it is none", {UNREAD: ("0x80", "0x80")}, 10),
    Case(
        "LivedeckUnacknowledged", "somebody has answered", {UNREAD: ("1x4 stale", "1x4 stale"), READ: (LATE, LATE)}, 10
    ),
    Case(
        "LivedeckUnacknowledged",
        "both were killed meanwhile",
        {"build_info": DEAD[SEEN], UNREAD: DEAD[SEEN]},
        15,
        (({"job": "livedeck", "kind": "NO_INGEST"}, "A critical NO_INGEST is not acknowledged."),),
    ),
    Case(
        "LivedeckUnacknowledged",
        "somebody has acknowledged while both restarted",
        {"build_info": RESTARTED["build_info"], UNREAD: DEAD[SEEN], READ: ("_x24 1x60",) * 2},
        10,
    ),
    Case(
        "LivedeckUnacknowledged", "it is no more than a warning", {UNREAD.replace("critical", "warning"): (UP, UP)}, 10
    ),
    Case(
        "LivedeckEventPoor",
        "one event, two collectors",
        {**SHOW, HEALTH: ("0.42x80", "0.42x80")},
        5,
        ((FRIDAY, "Friday show has a health of 42%."),),
    ),
    Case("LivedeckEventPoor", "it is well", {**SHOW, HEALTH: ("0.5x80", "0.5x80")}, 10),
    Case("LivedeckEventPoor", "since a minute", {**SHOW, HEALTH: ("0.9x20 0.1x80", "0.9x20 0.1x80")}, 6),
    Case("LivedeckEventPoor", "it is not on air", {**SHOW, ON_AIR: ("0x80", "0x80"), HEALTH: ("0.1x80", "0.1x80")}, 10),
    Case(
        "LivedeckEventSilent",
        "no samples of one event, at two collectors",
        {**SHOW, AGE: ("60+15x80", "60+15x80")},
        5,
        ((FRIDAY, "No samples of Friday show for 6m 0s."),),
    ),
    Case("LivedeckEventSilent", "for a minute", {**SHOW, AGE: ("60x80", "600x80")}, 10),
    Case("LivedeckEventSilent", "since half a minute", {**SHOW, AGE: ("2x20 90x80", "2x20 90x80")}, 5.5),
    Case("LivedeckEventSilent", "one of two has samples", {**SHOW, AGE: ("2x80", "60+15x80")}, 10),
    Case("LivedeckEventSilent", "it is not on air", {**SHOW, ON_AIR: ("0x80", "0x80"), AGE: ("600x80", "600x80")}, 10),
    Case("LivedeckEventSilent", "the platform alone is silent", {**BLIND, AGE: ("2x20 17+15x60", "2x20 17+15x60")}, 12),
    Case(
        "LivedeckEventSilent",
        "its samples cannot be read",
        {**SHOW, ON_AIR: BLIND[ON_AIR], AGE: ("2x20 17+15x60",) * 2},
        12,
    ),
    Case(
        "LivedeckEventSilent",
        "one has no response from the platform, the other sees the silence",
        {**SHOW, ON_AIR: ("1x4 stale", UP), SEEN: ("1x4 0x76", UP), AGE: ("2x4 17+15x76", "2x8 17+15x76")},
        8,
        ((FRIDAY, "No samples of Friday show for 6m 2s."),),
    ),
    Case(
        "LivedeckViewersLost",
        "no playlist at two collectors",
        {**SHOW, LOST: ("0x80", "0x80")},
        5,
        ((FRIDAY, "The playlist of Friday show does not play."),),
    ),
    Case("LivedeckViewersLost", "one of two gets it", {**SHOW, LOST: ("0x80", UP)}, 10),
    Case("LivedeckViewersLost", "since half a minute", {**SHOW, LOST: ("1x20 0x80", "1x20 0x80")}, 5.5),
    Case("LivedeckViewersLost", "it is not on air", {**SHOW, ON_AIR: ("0x80", "0x80"), LOST: ("0x80", "0x80")}, 10),
    Case(
        "LivedeckClockOff",
        "the platform's clock is behind",
        {"platform_clock_skew_seconds": ("0x80", "-65x80")},
        11,
        ((TWO, "The clocks of two and the platform differ by 1m 5s."),),
    ),
    Case("LivedeckClockOff", "for a while", {"platform_clock_skew_seconds": ("0x20 9x80",)}, 12),
    Case("LivedeckClockOff", "two seconds", {"platform_clock_skew_seconds": ("2x80", "-2x80")}, 12),
    Case(
        "LivedeckUnsent",
        "a message waits",
        {"spool_oldest_seconds": ("0x80", "0+15x80")},
        10,
        ((TWO, "A notification has been waiting for 10m 0s: its receiver does not accept it."),),
    ),
    Case("LivedeckUnsent", "for five minutes", {"spool_oldest_seconds": ("0x80", "300x80")}, 10),
    Case("LivedeckUnsent", "since half a minute", {"spool_oldest_seconds": ("0x80", "0x20 301x80")}, 5.5),
    Case(
        "LivedeckHeartless",
        "one was taken, and none since; one never was",
        {"heartbeat_last_success_timestamp_seconds": ("60x80", "0x80")},
        8,
        ((ONE, "No heartbeat of one has arrived for 3 min."), (TWO, "No heartbeat of two has arrived for 3 min.")),
    ),
    Case("LivedeckHeartless", "each minute one", {"heartbeat_last_success_timestamp_seconds": ("0+15x80", "")}, 10),
    Case("LivedeckHeartless", "the first is awaited", {"heartbeat_last_success_timestamp_seconds": ("0x4 60x80",)}, 4),
    Case(
        "LivedeckHeartless", "the last for a minute longer", {"heartbeat_last_success_timestamp_seconds": ("0x80",)}, 4
    ),
    Case("LivedeckHeartless", "it began late", {"heartbeat_last_success_timestamp_seconds": ("_x40 0x4 690x80",)}, 12),
    Case(
        "LivedeckApart",
        "one of two is apart",
        {"engine_apart": ("0x80", UP)},
        5,
        ((TWO, "two cannot reach the engine."),),
    ),
    Case(
        "LivedeckNoNotifier",
        "none of two has the lease",
        {"engine_notifier": ("0x80", "0x80")},
        5,
        (({"job": "livedeck"}, "No collector of livedeck sends the notifications."),),
    ),
    Case("LivedeckNoNotifier", "it moves to the other", {"engine_notifier": ("1x20 0x60", "0x24 1x60")}, 7),
    Case("LivedeckApart", "for a minute", {"engine_apart": ("0x80", "0x20 1x80")}, 6),
    Case(
        "LivedeckEventsNotExported",
        "more than have series",
        {"events_not_exported": ("0x80", "7x80")},
        11,
        ((TWO, "7 events have no series."),),
    ),
    Case("LivedeckEventsNotExported", "for a while", {"events_not_exported": ("0x20 7x80",)}, 12),
    Case("LivedeckEventsNotExported", "all have series", {"events_not_exported": ("0x80", "0x80")}, 12),
    *(
        Case(rule, f"{what}, and before that it fired", {**series, metric: (firing, firing)}, 15, (held,))
        for rule, (metric, firing, _, _, held) in UNTIL_BLIND.items()
        for what, series in {
            "the platform is silent": BLIND,
            "both are killed": DEAD,
            "both restart": RESTARTED,
        }.items()
    ),
    Case("LivedeckEventPoor", "both were killed an hour ago", {**DEAD, HEALTH: ("0.1x20 stale",) * 2}, 70),
    *(
        Case(rule, what, {**series, metric: (values, values)}, 15)
        for rule, (metric, _, good, short, _) in UNTIL_BLIND.items()
        for what, values, series in (
            ("the platform is silent, and before that it did not fire yet", short, BLIND),
            ("it is good after a time in which nothing was known", good, SHOW),
        )
    ),
)


def input_series(series: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return the series of both collectors in promtool's form."""
    return [
        {"series": named(metric, instance), "values": values}
        for metric, pair in series.items()
        for instance, values in zip(("one", "two"), pair, strict=False)
        if values
    ]


def named(metric: str, instance: str) -> str:
    """Return the series of that metric at that collector.

    Its job is `livedeck`, unless the labels begin with another one.
    """
    name, _, labels = f"livedeck_{metric}".removesuffix("}").partition("{")
    job = "" if labels.startswith("job=") else 'job="livedeck",'
    return f'{name}{{{job}instance="{instance}"{"," if labels else ""}{labels}}}'


def runbook(rule: Rule, labels: Mapping[str, str]) -> str:
    """Return the link of an alert with these labels."""
    return rule.runbook.replace("{{ $labels.kind }}", labels.get("kind", ""))


def written(case: Case) -> dict[str, Any]:
    """Return the case in promtool's form."""
    rule = next(rule for rule in rules() if rule.name == case.rule)
    return {
        "name": f"{case.rule}: {case.what}",
        "interval": EACH,
        "input_series": input_series(case.series),
        "alert_rule_test": [
            {
                "eval_time": f"{case.minutes * 60:.0f}s",
                "alertname": case.rule,
                "exp_alerts": [
                    {
                        "exp_labels": {"severity": rule.severity, **labels},
                        "exp_annotations": {"summary": summary, "runbook_url": runbook(rule, labels)},
                    }
                    for labels, summary in case.alerts
                ],
            }
        ],
    }


def test_each_alert_fires_when_it_should_and_at_no_other_time(tmp_path: Path) -> None:
    tests = tmp_path / "tests.yml"
    document = {"rule_files": [str(RULE_FILE)], "evaluation_interval": EACH, "tests": [written(case) for case in CASES]}
    tests.write_text(json.dumps(document), encoding="utf-8")
    promtool("test", "rules", tests)


def test_of_each_alert_it_is_tried_that_it_fires_and_that_it_does_not() -> None:
    tried = {(case.rule, bool(case.alerts)) for case in CASES}
    assert tried == {(rule.name, fires) for rule in rules() for fires in (True, False)}


def test_what_two_collectors_tell_of_the_same_is_one_in_the_panels(tmp_path: Path) -> None:
    values = [metric for metric in METRICS if metric.labels == ("event_id",) and metric.kind == "gauge"]
    values.remove(EVENT_HELD)  # it names the collector
    renamed = {INFO: (UP, ""), INFO.replace("Friday", "Monday"): ("", UP)}
    told = {f'{metric.name.removeprefix("livedeck_")}{{event_id="4d2c"}}': (UP, UP) for metric in values}
    queries = {
        metric: query.replace("$event", "4d2c|a").removesuffix(" * 8")
        for query in panel_expressions()
        for metric in [ALARMS, *values]
        if f"({metric.name}" in query
    }
    assert queries.keys() == {ALARMS, *values}
    document = {
        "evaluation_interval": EACH,
        "tests": [
            {
                "interval": EACH,
                "input_series": input_series({**renamed, **told, UNREAD: (UP, UP)}),
                "promql_expr_test": [
                    {"expr": f"sum({query})", "eval_time": "5m", "exp_samples": [{"labels": "{}", "value": 1}]}
                    for query in queries.values()
                ],
            }
        ],
    }
    tests = tmp_path / "tests.yml"
    tests.write_text(json.dumps(document), encoding="utf-8")
    promtool("test", "rules", tests)
