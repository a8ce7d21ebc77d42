"""settings: flags over environment over TOML, made into one frozen Settings that says where each value came from."""

from __future__ import annotations

from livedeck.machine import (
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
from livedeck.settings.document import SettingsError
from livedeck.settings.layers import Loaded, displayed, key_place, load, loaded, strangers
from livedeck.settings.model import IN_MEMORY, OFF, TOKEN_SOURCES, DisplaySettings, Settings, alone
from livedeck.settings.template import template, toml

__all__ = [
    "IN_MEMORY",
    "OFF",
    "TOKEN_SOURCES",
    "DisplaySettings",
    "Loaded",
    "Settings",
    "SettingsError",
    "Terminal",
    "alone",
    "config_path",
    "displayed",
    "file_opener",
    "history_path",
    "key_place",
    "load",
    "loaded",
    "log_path",
    "multiplexer",
    "state_folder",
    "strangers",
    "template",
    "terminal",
    "toml",
    "why_no_screen",
]
