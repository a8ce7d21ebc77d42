"""Written limits take effect at once; invalid ones change nothing and are reported once, with their line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from livedeck.client import Event
from livedeck.monitor import Content, Limits, LimitsError
from livedeck.settings import WatchedLimits, WatchedTokens


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings file of this test alone."""
    path = tmp_path / "config.toml"
    path.write_text('base_url = "https://tv.example"\n')
    path.chmod(0o600)
    monkeypatch.setenv("LIVEDECK_CONFIG", str(path))
    return path


def test_limits_are_read_when_the_file_was_written_and_not_before(config: Path) -> None:
    watched = WatchedLimits()
    assert watched.changed() is None
    config.write_text(
        '[thresholds]\nlow_video = 0.6\n[events."one"]\ncontent = "radio"\n'
        '[[limits]]\nevents = ["Hall *"]\nprojects = ["p1", "p2"]\nthresholds = { low_audio = 0.5 }\n'
    )
    limits = watched.changed()
    assert limits is not None
    assert (limits.base.low_video, limits.of(Event(id="one")).content) == (0.6, Content.RADIO)
    assert watched.changed() is None
    assert [(change.event_id, change.text) for change in limits.changes_since(Limits())] == [
        ("", "low_video 0.7 -> 0.6"),
        ("", "events Hall *; projects p1, p2: low_audio 0.4 -> 0.5"),
        ("one", "content show -> radio"),
    ]
    config.unlink()
    assert watched.changed() == Limits()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[thresholds]\nlow_video = [\n", ":2: "),
        ('[thresholds]\nlow_audio = 1\nlow_video = "much"\n', ":3): low_video: a number from 0 to 1e9"),
        ('[events."one"]\ncontent = "opera"\n', ":2): Input should be 'show', 'radio'"),
        ('[events."one".thresholds]\ncontent = "radio"\n', ':2): content: goes directly into [events."ID"]'),
    ],
)
def test_what_cannot_be_used_is_told_once_with_its_line(config: Path, text: str, words: str) -> None:
    watched = WatchedLimits()
    config.write_text(text)
    with pytest.raises(LimitsError) as error:
        watched.changed()
    assert words in str(error.value)
    assert watched.changed() is None
    config.write_text("")
    assert watched.changed() == Limits()


def test_what_the_other_settings_say_is_none_of_its_business(config: Path) -> None:
    """A deck that runs has its platform; limits are written while somebody is at the rest of the file."""
    watched = WatchedLimits()
    config.write_text("base_url = 7\nnonsense = 1\n[thresholds]\nlow_video = 0.5\n")
    limits = watched.changed()
    assert limits is not None
    assert limits.base.low_video == 0.5


def test_a_file_that_is_replaced_within_the_same_moment_is_another(config: Path) -> None:
    """An editor writes a new file and renames it; its time may be that of the old one."""
    watched, before = WatchedLimits(), config.stat()
    other = config.with_name("new.toml")
    other.write_text("low_video = 1  # 12345678 \n[thresholds]\n"[:31])
    other.write_text("[thresholds]\nlow_video =  0.65 \n")
    other.chmod(0o600)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(config)
    limits = watched.changed()
    assert limits is not None
    assert limits.base.low_video == 0.65


def test_tokens_are_read_within_a_second_and_stay_while_the_file_cannot_be_read(config: Path) -> None:
    now = [0.0]
    tokens = WatchedTokens({}, lambda: now[0])
    config.write_text(f'[collector.tokens.anna]\nsha256 = "{"a" * 64}"\nmay = "act"\n')
    assert tokens() == {}, "looked at a moment ago"
    now[0] += 1
    assert tokens()["anna"].may == "act"
    config.write_text("[collector.tokens")
    now[0] += 1
    assert [*tokens()] == ["anna"]
    config.write_text("")
    now[0] += 1
    assert tokens() == {}
