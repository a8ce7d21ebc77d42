"""`livedeck config`: the file that it makes is valid, and its output shows no secret."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from cli.commands import called
from livedeck.monitor import Cadence, Thresholds
from livedeck.presentation.documents import DOCUMENTS
from livedeck.settings import Settings, load, template

SECRET = "a-token-that-nobody-knows"


def test_the_file_that_init_writes_says_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting of it may be uncommented, and nothing changes; every threshold is there, with a word on it."""
    general = template().partition("# Content and limits of the events")[0]
    text = re.sub(r"^# ([\w]+ = )", r"\1", general, flags=re.MULTILINE)
    config = tmp_path / "all.toml"
    config.write_text(text, encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_CONFIG", str(config))
    settings = load()
    assert settings.model_copy(update={"thresholds": {}}) == Settings()
    assert (settings.limits_in_force().base, settings.polling_cadence()) == (Thresholds(), Cadence())
    assert set(settings.thresholds) == set(Thresholds.__dataclass_fields__)


def test_init_makes_a_private_file_once_and_validate_finds_it_sound(tmp_path: Path) -> None:
    made = called(tmp_path, "config", "init")
    config = Path(made.stdout.strip())
    assert made.returncode == 0
    assert config.stat().st_mode & 0o077 == config.parent.stat().st_mode & 0o077 == 0
    config.write_text("timeout = 9\n", encoding="utf-8")
    again = called(tmp_path, "config", "init")
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    assert config.read_text(encoding="utf-8") == "timeout = 9\n"
    checked = called(tmp_path, "config", "check", env={"LIVEDECK_BASEURL": "x"})
    assert (checked.returncode, checked.stdout) == (0, f"{config}: valid\n")
    assert "LIVEDECK_BASEURL" in checked.stderr
    assert called(tmp_path, "config", "init", "--force").returncode == 0
    assert config.read_text(encoding="utf-8") == template()
    assert sorted(path.name for path in config.parent.iterdir()) == ["config.toml"]
    unset = called(tmp_path, "status")
    assert (unset.returncode, f"set base_url in {config}" in unset.stderr, "config init" in unset.stderr) == (
        2,
        True,
        False,
    )


def test_validate_checks_every_profile(tmp_path: Path) -> None:
    config = tmp_path / "livedeck.toml"
    config.write_text(
        '[profiles.a]\ntoken_file = "a"\n[profiles.b]\ntoken_file = "a"\ntoken_keyring = "a/b"\n', "utf-8"
    )
    done = called(tmp_path, "config", "check", env={"LIVEDECK_CONFIG": str(config)})
    assert (done.returncode, done.stdout) == (2, "")
    assert "set only one source" in done.stderr


def test_validate_checks_the_keys(tmp_path: Path) -> None:
    config = tmp_path / "livedeck.toml"
    config.write_text('[keys]\n"event.fly" = "X"\n', "utf-8")
    done = called(tmp_path, "config", "check", env={"LIVEDECK_CONFIG": str(config)})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{config}:2" in done.stderr


def test_show_tells_value_and_origin_and_no_secret(tmp_path: Path) -> None:
    config = tmp_path / "livedeck.toml"
    config.write_text(
        f'base_url = "https://user:{SECRET}@a.example"\n[profiles.b]\ntoken_command = ["echo", "{SECRET}"]\n', "utf-8"
    )
    env = {"LIVEDECK_CONFIG": str(config), "LIVEDECK_TOKEN": SECRET}
    whole = called(tmp_path, "config", "show", "--origin", "--read-only", env=env)
    profile = called(tmp_path, "--profile", "b", "config", "show", "--origin", env=env)
    assert SECRET not in whole.stdout + whole.stderr + profile.stdout + profile.stderr
    found = called(tmp_path, "config", "show", "--json", "--read-only", env=env)
    assert SECRET not in found.stdout + found.stderr
    shown: Any = TypeAdapter(DOCUMENTS["config show"]).validate_python(json.loads(found.stdout), strict=True)
    assert (shown["settings"]["read_only"], shown["settings"]["timeout"]) == (True, 4.0)
    assert (shown["origins"]["token"], shown["origins"]["read_only"]) == ("LIVEDECK_TOKEN", "--read-only")
    rows = {line.split(" ")[0]: line for line in whole.stdout.splitlines()}
    assert rows["base_url"].endswith(f"# {config}:1")
    assert rows["token"].endswith("# LIVEDECK_TOKEN")
    assert rows["read_only"].endswith("# --read-only")
    assert rows["timeout"].endswith("# default")
    assert 'token_command = ["echo", "…"]' in profile.stdout
    assert f"# {config}:3" in profile.stdout


def test_show_prints_the_content_and_the_limits_of_an_event(tmp_path: Path) -> None:
    config = tmp_path / "events.toml"
    config.write_text('[events."one"]\ncontent = "slides"\nthresholds = { low_video = 0.5 }\n', "utf-8")
    shown = called(tmp_path, "config", "show", env={"LIVEDECK_CONFIG": str(config)}).stdout
    assert 'events = {one = {content = "slides", thresholds = {low_video = 0.5}}}' in shown
