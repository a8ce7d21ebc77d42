"""A first start saves settings that the next start loads, and loses no text of the user in the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from livedeck.cli.settings_file import save_settings
from livedeck.secret_sources import read_token
from livedeck.settings import SettingsError, load, template

SECRET = "a-token-that-nobody-knows"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Path of a settings file that does not exist yet."""
    for name in [name for name in os.environ if name.startswith("LIVEDECK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "livedeck" / "config.toml"


def test_what_was_saved_is_loaded_and_the_token_lies_in_a_private_file_alone(config: Path) -> None:
    assert save_settings({"base_url": "https://a.example", "read_only": True}, SECRET) == config
    settings = load()
    assert (settings.base_url, settings.read_only, read_token(settings)) == ("https://a.example", True, SECRET)
    assert SECRET not in config.read_text(encoding="utf-8")
    assert [path.stat().st_mode & 0o077 for path in config.parent.iterdir()] == [0, 0]


def test_comments_and_tables_stay_and_a_new_source_replaces_the_old_one(config: Path) -> None:
    save_settings({"base_url": "https://a.example"}, SECRET)
    config.write_text(f"{config.read_text()}\n{template()}", encoding="utf-8")
    save_settings({"base_url": "https://b.example", "token_command": ["pass", "show", "x"]})
    settings = load()
    assert (settings.base_url, settings.token_sources) == ("https://b.example", ("token_command",))
    assert [line for line in template().splitlines() if line not in config.read_text().splitlines()] == []
    save_settings({"token_command": None, "timeout": 9})
    assert (load().token_sources, load().timeout) == ((), 9)


def test_a_key_is_set_before_the_tables_of_a_file_that_has_some(config: Path) -> None:
    config.parent.mkdir()
    config.write_text(template(), encoding="utf-8")
    save_settings({"base_url": "https://a.example"})
    assert load().base_url == "https://a.example"


@pytest.mark.parametrize(("text", "values"), [("", {"timeout": 0}), ("", {"colour": "red"}), ("= broken", {})])
def test_what_cannot_be_is_refused_and_the_file_stays(config: Path, text: str, values: dict[str, object]) -> None:
    config.parent.mkdir()
    config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError):
        save_settings(values)
    assert config.read_text(encoding="utf-8") == text


def test_a_folder_that_cannot_be_made_is_named(config: Path) -> None:
    config.parent.symlink_to("/proc/none")
    with pytest.raises(SettingsError, match=f"{config}: .*; the settings are not saved"):
        save_settings({"base_url": "https://a.example"}, SECRET)
