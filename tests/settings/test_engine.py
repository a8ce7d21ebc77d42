"""`[engine]`: the Redis of the collectors, and faults with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.settings import SettingsError, load

TOML = """base_url = "https://platform.example"
[engine]
redis_url_command = ["pass", "show", "redis"]
name = "north"
ttl = 10
"""


def test_where_collectors_meet_is_read(bare: Path) -> None:
    bare.write_text(TOML, "utf-8")
    engine = load().engine
    assert (engine.redis_url_command, engine.name, engine.ttl) == (("pass", "show", "redis"), "north", 10)


@pytest.mark.parametrize(
    ("line", "instead", "why"),
    [
        ("ttl = 10", "ttl = 2", r"engine\.ttl \(.*:5\)"),
        ("ttl = 10", "ttl = 600", r"engine\.ttl \(.*:5\)"),
        ('name = "north"', 'name = "north pole"', r"engine\.name \(.*:4\)"),
        (
            "ttl = 10",
            'redis_url = "redis://127.0.0.1"',
            r"engine\.redis_url \(.*:5\): no such setting; did you mean redis_u",
        ),
        ("ttl = 10", 'redis_url_file = "/etc/redis"', r"should have one of redis_url_command, redis_url_file"),
    ],
)
def test_what_cannot_be_is_said_with_its_line(bare: Path, line: str, instead: str, why: str) -> None:
    bare.write_text(TOML.replace(line, instead), "utf-8")
    with pytest.raises(SettingsError, match=why):
        load()
