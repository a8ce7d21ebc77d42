"""settings merges flags, environment variables and the TOML file into one frozen `Settings`."""

from __future__ import annotations

from livedeck.environment import SettingsError
from livedeck.settings.loading import (
    LoadedSettings,
    check_document,
    key_location,
    load,
    load_display,
    load_with_origins,
    parsed_document,
    read_document,
    setting_location,
    unknown_variables,
)
from livedeck.settings.model import (
    ADDRESS_SOURCES,
    COLLECTOR_TOKEN_SOURCES,
    IN_MEMORY,
    OFF,
    REHEARSAL_HISTORY,
    TOKEN_SOURCES,
    CollectorSettings,
    CollectorTokenSettings,
    DisplaySettings,
    NotifySettings,
    OtlpSettings,
    Settings,
    TallySettings,
    TargetSettings,
)
from livedeck.settings.template import limits_table, settings_table, template, toml
from livedeck.settings.watching import WatchedLimits, WatchedTokens

__all__ = [
    "ADDRESS_SOURCES",
    "COLLECTOR_TOKEN_SOURCES",
    "IN_MEMORY",
    "OFF",
    "REHEARSAL_HISTORY",
    "TOKEN_SOURCES",
    "CollectorSettings",
    "CollectorTokenSettings",
    "DisplaySettings",
    "LoadedSettings",
    "NotifySettings",
    "OtlpSettings",
    "Settings",
    "SettingsError",
    "TallySettings",
    "TargetSettings",
    "WatchedLimits",
    "WatchedTokens",
    "check_document",
    "key_location",
    "limits_table",
    "load",
    "load_display",
    "load_with_origins",
    "parsed_document",
    "read_document",
    "setting_location",
    "settings_table",
    "template",
    "toml",
    "unknown_variables",
]
