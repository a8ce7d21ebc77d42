"""`livedeck alarm explain` and `livedeck alarm kpi`."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cli.commands import called, served
from livedeck.monitor import ActionKind, AlarmAction, AlarmKey, History, Severity

SETTINGS = """\
[thresholds]
low_video = 0.65

[[limits]]
events = ["Town*"]
thresholds = {low_video_sure = 0.81}
"""


def test_an_event_is_explained_with_the_line_that_decides(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(SETTINGS)
    with served(tmp_path) as (_, service):
        env = {
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
            "LIVEDECK_CONFIG": str(settings),
            "LIVEDECK_HISTORY": str(tmp_path / "history.sqlite"),
        }
        whole = called(tmp_path, "alarm", "explain", "Town hall", env=env)
        of_kind = called(tmp_path, "alarm", "explain", "Town hall", "VIDEO_LOW", "--json", env=env)
        nobody = called(tmp_path, "alarm", "explain", "Nobody", env=env)
        never = called(tmp_path, "alarm", "explain", "Town hall", "--at", "-1h", env=env)
    assert whole.returncode == 0
    assert whole.stdout.startswith("Town hall, main  on air for ")
    assert f"low_video_sure = 0.81 (limits.0.thresholds.low_video_sure, {settings}:6)" in whole.stdout
    found = json.loads(of_kind.stdout)
    assert found["schema"] == "livedeck alarm explain v1"
    assert found["evidence"]["kind"] == "VIDEO_LOW"
    limits = {limit["name"]: limit for limit in found["decides"]}
    assert limits["low_video"]["setting"] == "thresholds.low_video"
    assert any(limit["setting"] is None for limit in limits.values())
    assert {forecast["kind"] for forecast in found["would_alarm"]} <= {"VIDEO_LOW"}
    assert nobody.returncode == 2
    assert never.returncode == 1


def test_figures_say_what_is_not_recorded(tmp_path: Path) -> None:
    path, now = tmp_path / "history.sqlite", datetime.now(UTC)
    key = AlarmKey("one", "VIDEO_LOW")

    async def record() -> None:
        history = await History.open(path, now)
        for number, verdict in enumerate(("real", "false", "real")):
            since = now - timedelta(hours=number + 1)
            at = since + timedelta(seconds=40)
            action = AlarmAction(
                f"{number}", key, since, ActionKind.CLOSE, at, "a@b:1", Severity.WARNING, reason=verdict
            )
            history.record_alarm_action(action)
        await history.close()

    asyncio.run(record())
    env = {"LIVEDECK_HISTORY": str(path)}
    table = called(tmp_path, "alarm", "kpi", env=env)
    document = json.loads(called(tmp_path, "alarm", "kpi", "--since", "2h", "--json", env=env).stdout)
    wrong = called(tmp_path, "alarm", "kpi", "--since", "week", env=env)
    assert (table.returncode, table.stderr) == (0, "")
    assert "hours silenced" in table.stdout
    assert "not watched" in table.stdout
    by_key = {figure["key"]: figure for figure in document["figures"]}
    assert document["schema"] == "livedeck alarm kpi v1"
    assert by_key["closed"]["value"] in {1, 2}
    assert by_key["precision"]["goal"] == 0.9
    assert by_key["per_operator_hour"]["value"] is None
    assert by_key["per_operator_hour"]["missing"] == "under 1 h watched"
    assert wrong.returncode == 2
