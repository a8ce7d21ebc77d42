"""Settings: flags over environment over TOML, every fault named with its origin, no secret in any word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from livedeck.cli.build import make_api
from livedeck.settings import Settings, SettingsError, config_path, load, why_no_screen

SECRET = "a-token-that-nobody-knows"


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No setting from outside; the TOML file's place."""
    for name in [name for name in os.environ if name.startswith("LIVEDECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "livedeck"
    folder.mkdir()
    return folder / "config.toml"


def test_without_anything_there_are_defaults(bare: Path) -> None:
    settings = load()
    assert (settings.base_url, settings.profile, settings.read_only, settings.timeout) == ("", "default", False, 4.0)
    assert config_path() == bare


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_file(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.write_text('base_url = "https://file.example"\nprofile = "file"\ntimeout = 9\n', encoding="utf-8")
    monkeypatch.setenv("LIVEDECK_BASE_URL", "https://environment.example")
    monkeypatch.setenv("LIVEDECK_PROFILE", "environment")
    settings = load(base_url="https://flag.example", read_only=None)
    assert settings.base_url == "https://flag.example"
    assert (settings.profile, settings.timeout, settings.read_only) == ("environment", 9, False)


def test_domains_of_relay_platforms_can_be_added(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """decisions.md, Relay service: a setting can extend the table."""
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base_url = ", "config.toml"),
        ('colour = "red"', "colour"),
        ("timeout = 0", "timeout"),
        ('timeout = "soon"', "timeout"),
        (f'token = "{SECRET}"', "token_file"),
    ],
)
def test_a_fault_in_the_file_names_the_file_and_the_setting(bare: Path, text: str, words: str) -> None:
    bare.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as fault:
        load()
    assert words in str(fault.value)
    assert str(bare) in str(fault.value)
    assert SECRET not in str(fault.value)


def test_a_fault_in_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDECK_READ_ONLY", "perhaps")
    with pytest.raises(SettingsError, match="LIVEDECK_READ_ONLY"):
        load()


def test_a_fault_in_a_flag_names_the_flag() -> None:
    with pytest.raises(SettingsError, match="--profile"):
        load(profile="")


def test_the_token_comes_from_the_environment_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDECK_TOKEN_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("LIVEDECK_TOKEN", SECRET)
    settings = load()
    assert settings.secret_token() == SECRET
    assert SECRET not in f"{settings!r} {settings}"


def test_the_token_comes_from_a_file_that_others_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    settings = Settings(token_file=file)
    for mode, words in ((0o644, "chmod 600"), (0o640, "chmod 600"), (0o606, "chmod 600")):
        file.chmod(mode)
        with pytest.raises(SettingsError, match=words):
            settings.secret_token()
    file.chmod(0o600)
    assert settings.secret_token() == SECRET


@pytest.mark.parametrize(("content", "words"), [("", "empty"), (None, "No such file")])
def test_a_token_file_without_a_token_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.touch(mode=0o600)
    with pytest.raises(SettingsError, match=words):
        Settings(token_file=file).secret_token()


def test_no_token_at_all_says_where_one_may_come_from() -> None:
    with pytest.raises(SettingsError, match=r"LIVEDECK_TOKEN.*token_file"):
        load().secret_token()


@pytest.mark.parametrize(("term", "words"), [("dumb", "TERM=dumb"), ("", "TERM is not set")])
def test_a_terminal_that_cannot_show_a_screen_is_named(monkeypatch: pytest.MonkeyPatch, term: str, words: str) -> None:
    monkeypatch.setenv("TERM", term)
    assert why_no_screen() == words
