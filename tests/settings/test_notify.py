"""`[notify]`: targets and routes, and the lines of their faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.monitor import Severity
from livedeck.settings import SettingsError, load

SETTINGS = """
[notify]
timezone = "Europe/Berlin"

[notify.targets.ops]
webhook_command = ["pass", "show", "hook"]

[notify.targets.boss]
apprise_file = "/etc/livedeck/boss"

[[notify.routes]]
to = "ops"

[[notify.routes]]
to = "ops"
name = "night"
severity = "critical"
hours = "Mo-Fr 22:00-06:00"
escalate = 5
escalate_to = "boss"
"""


def test_routes_are_read_in_their_order(bare: Path) -> None:
    bare.write_text(SETTINGS, "utf-8")
    first, second = (route.route() for route in load().notify.routes)
    assert (first.name, first.to, first.severity, first.escalate) == ("ops", "ops", Severity.WARNING, 0)
    assert (second.name, second.severity, second.escalate, second.escalate_to) == (
        "night",
        Severity.CRITICAL,
        5,
        "boss",
    )
    assert len(second.hours.spans) == 1


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            'to = "ops"\nname',
            'to = "opps"\nname',
            "config.toml:15): routes.1.to: no such target 'opps'; known: ops, boss",
        ),
        ("escalate = 5\n", "", "config.toml:14): routes.1.escalate: set both, escalate and escalate_to"),
        ('name = "night"\n', "", "config.toml:14): routes.1.name: two routes are called 'ops'"),
        (
            "Mo-Fr 22:00-06:00",
            "at night",
            "notify.routes.1.hours (config.toml:18): 'at night' is not a range of hours; write",
        ),
        ("Europe/Berlin", "Berlin", "notify.timezone (config.toml:3): unknown time zone"),
        ("severity =", "severty =", "notify.routes.1.severty (config.toml:17): no such setting; did you mean sev"),
        ("webhook_command", "webhook", "notify.targets.ops.webhook (config.toml:6): no such setting; did you mean"),
        ('["pass", "show", "hook"]', '"pass show hook"', "notify.targets.ops.webhook_command (config.toml:6)"),
        ("/etc/livedeck/boss", "boss", "notify.targets.boss.apprise_file (config.toml:9): should be an absolute path"),
        (
            "apprise_file = ",
            'webhook_file = "/x"\napprise_file = ',
            "notify.targets.boss (config.toml:8): should have one",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(bare: Path, before: str, after: str, words: str) -> None:
    assert before in SETTINGS
    bare.write_text(SETTINGS.replace(before, after), "utf-8")
    with pytest.raises(SettingsError) as caught:
        load()
    assert words in str(caught.value).replace(f"{bare.parent}/", "")
