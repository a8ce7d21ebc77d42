"""Path of the history."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.environment import history_path
from livedeck.settings import Settings, SettingsError, load


def test_every_platform_has_a_history_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    places = {
        history_path(profile, base_url)
        for profile in ("default", "Staging / EU")
        for base_url in ("https://one.example", "https://two.example")
    }
    assert len(places) == 4
    assert {place.parent for place in places} == {tmp_path / "data" / "livedeck"}
    assert history_path("default", "https://one.example/") in places, "a slash at the end is the same platform"
    assert Settings(base_url="https://one.example").history_file() in places


@pytest.mark.parametrize(("value", "place"), [("off", None), (":memory:", None), ("~/d.sqlite", "d.sqlite")])
def test_the_history_can_be_elsewhere_or_off(tmp_path: Path, value: str, place: str | None) -> None:
    assert Settings(history=value).history_file() == (tmp_path / place if place else None)


@pytest.mark.parametrize(("name", "value"), [("history", "here.sqlite"), ("retention_days", "0")])
def test_a_history_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"LIVEDECK_{name.upper()}", value)
    with pytest.raises(SettingsError, match=f"LIVEDECK_{name.upper()}"):
        load()
