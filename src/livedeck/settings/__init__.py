"""settings: flags over environment over TOML, made into one frozen Settings that says where each value came from."""

from __future__ import annotations

from livedeck.environment import (
    Terminal,
    config_path,
    file_opener,
    history_path,
    log_path,
    multiplexer,
    state_folder,
    terminal,
    why_no_screen,
)
from livedeck.settings.loading import Loaded, SettingsError, displayed, key_location, load, loaded, unknown_keys
from livedeck.settings.model import IN_MEMORY, OFF, TOKEN_SOURCES, DisplaySettings, Settings, defaults_only
from livedeck.settings.template import settings_table, template, toml

__all__ = [
    "IN_MEMORY",
    "OFF",
    "TOKEN_SOURCES",
    "DisplaySettings",
    "Loaded",
    "Settings",
    "SettingsError",
    "Terminal",
    "config_path",
    "defaults_only",
    "displayed",
    "file_opener",
    "history_path",
    "key_location",
    "load",
    "loaded",
    "log_path",
    "multiplexer",
    "settings_table",
    "state_folder",
    "template",
    "terminal",
    "toml",
    "unknown_keys",
    "why_no_screen",
]
