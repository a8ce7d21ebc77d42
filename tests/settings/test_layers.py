"""Flags win over the environment, and the environment over TOML; each setting keeps its origin."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.cli.wiring import make_api
from livedeck.environment import config_path, no_screen_reason
from livedeck.settings import SettingsError, load, load_display, load_with_origins, unknown_variables

SECRET = "a-token-that-nobody-knows"


def test_without_anything_there_are_defaults(bare: Path) -> None:
    settings = load()
    assert (settings.base_url, settings.profile, settings.read_only, settings.timeout) == ("", "default", False, 4.0)
    assert config_path() == bare


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_file(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.write_text('base_url = "https://file.example"\nmeet_segment = "file"\ntimeout = 9\n', encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_BASE_URL", "https://environment.example")
    monkeypatch.setenv("LIVEDECK_MEET_SEGMENT", "environment")
    settings = load(base_url="https://flag.example", read_only=None)
    assert settings.base_url == "https://flag.example"
    assert (settings.meet_segment, settings.timeout, settings.read_only) == ("environment", 9, False)


def test_domains_of_relay_platforms_can_be_added(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting can extend the table of the package."""
    bare.write_text('base_url = "https://platform.example"\n[platforms]\n"tube.example" = "video_share"\n', "utf-8")
    monkeypatch.setenv("LIVEDECK_TOKEN", SECRET)
    api = make_api(load())
    assert api.service_of("rtmp://in.tube.example/live") == "video_share"
    assert api.service_of("rtmp://in.nottube.example/live") == "custom"


def test_the_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.toml"
    other.write_text("read_only = true\n", encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_CONFIG", str(other))
    assert load().read_only
    monkeypatch.setenv("LIVEDECK_CONFIG", str(tmp_path / "absent.toml"))
    with pytest.raises(SettingsError, match=r"absent\.toml"):
        load()


@pytest.mark.parametrize(("term", "words"), [("dumb", "TERM=dumb"), ("", "TERM is not set")])
def test_a_terminal_that_cannot_show_a_screen_is_named(monkeypatch: pytest.MonkeyPatch, term: str, words: str) -> None:
    monkeypatch.setenv("TERM", term)
    assert no_screen_reason() == words


def test_a_table_in_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDECK_TOKEN_COMMAND", '["pass", "show", "livedeck"]')
    monkeypatch.setenv("LIVEDECK_CADENCE", '{"events": 30}')
    assert (load().token_command, load().polling_cadence().events) == (("pass", "show", "livedeck"), 30)
    monkeypatch.setenv("LIVEDECK_CADENCE", "often")
    with pytest.raises(SettingsError, match=r"LIVEDECK_CADENCE: should be a table or list, written as JSON"):
        load()


def test_each_setting_knows_its_origin_and_strange_variables_are_named(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.write_text("\ntimeout = 9\n", "utf-8")
    monkeypatch.setenv("LIVEDECK_READ_ONLY", "1")
    monkeypatch.setenv("LIVEDECK_BASEURL", "https://typo.example")
    origins = load_with_origins(base_url="https://a.example").origins
    assert origins == {"base_url": "--base-url", "read_only": "LIVEDECK_READ_ONLY", "timeout": f"{bare}:2"}
    assert unknown_variables() == ("LIVEDECK_BASEURL",)


def test_a_relative_token_file_lies_beside_the_settings(bare: Path) -> None:
    bare.write_text('token_file = "token"\n', "utf-8")
    assert load().token_file == bare.parent / "token"


def test_display_settings_stand_alone(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo heeds them, and no fault of any other setting keeps it from starting."""
    bare.write_text('theme = "light"\ntimeout = 0\ncolour = 1\n[keys]\n"event.complete" = "X"\n', "utf-8")
    monkeypatch.setenv("LIVEDECK_ASCII", "1")
    monkeypatch.setenv("LIVEDECK_PLATFORMS", "no JSON")
    found = load_display(base_url="https://a.example", theme=None)
    assert found.model_dump(exclude_defaults=True) == {
        "theme": "light",
        "ascii": True,
        "keys": {"event.complete": ("X",)},
    }
    assert load_display(theme="mono").theme == "mono"
    bare.write_text('theme = "pink"\n', "utf-8")
    with pytest.raises(SettingsError, match=r"theme \(.*config.toml:1\)"):
        load_display()
