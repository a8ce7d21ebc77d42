"""Every fault is named with its origin, its line and the allowed values; no message contains a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.cli.wiring import make_keymap
from livedeck.settings import SettingsError, load, load_display
from livedeck.settings.loading import line_of

SECRET = "a-token-that-nobody-knows"


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


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "config.toml: "),
        ("\nkeys." + "a." * 3000 + 'b = "x"', "config.toml: keys"),
        ("a = " + "{a=" * 400 + "1" + "}" * 400, "config.toml"),
        ("a = " + "[" * 40 + "]" * 40, "config.toml:1: a"),
    ],
    ids=["lists", "dotted keys", "tables", "just too deep"],
)
def test_a_file_that_is_nested_too_deeply_is_named(bare: Path, text: str, location: str) -> None:
    bare.write_text(text, encoding="utf-8")
    for read in (load, load_display):
        with pytest.raises(SettingsError, match=r"more than 32 deep") as fault:
            read()
        assert location in str(fault.value)
        assert len(str(fault.value)) < 300


@pytest.mark.parametrize("depth", [40, 100_000])
def test_a_variable_that_is_nested_too_deeply_is_named(monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    monkeypatch.setenv("LIVEDECK_KEYS", "[" * depth + "]" * depth)
    with pytest.raises(SettingsError, match=r"LIVEDECK_KEYS: .*more than 32 deep"):
        load()


def test_a_fault_in_the_environment_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDECK_READ_ONLY", "perhaps")
    with pytest.raises(SettingsError, match="LIVEDECK_READ_ONLY"):
        load()


def test_a_fault_in_a_flag_names_the_flag() -> None:
    with pytest.raises(SettingsError, match="--profile"):
        load(profile="")


def test_a_fault_names_its_line_and_what_is_allowed(bare: Path) -> None:
    bare.write_text('base_url = "https://a.example"\n\n[cadence]\nevents = 15\nqos = 0\nquos = 1\n', "utf-8")
    with pytest.raises(SettingsError) as fault:
        load()
    assert f"cadence.qos ({bare}:5): Input should be greater than or equal to 1" in str(fault.value)
    assert f"cadence.quos ({bare}:6): no such setting; did you mean qos" in str(fault.value)


def test_keys_are_named_dotted_or_quoted_and_each_fault_by_its_line(bare: Path) -> None:
    bare.write_text('[keys]\napp.ask = "f5"\n"row.down" = ["j", "ctrl-n"]\n', "utf-8")
    assert make_keymap(load()) == {"app.ask": ("f5",), "row.down": ("j", "ctrl+n")}
    bare.write_text('[keys]\napp.akc = "f5"\n\n"row.down" = ["q"]\n', "utf-8")
    with pytest.raises(SettingsError) as fault:
        make_keymap(load())
    assert f"{bare}:2: there is no action 'app.akc'; did you mean 'app.ask'" in str(fault.value)
    assert f"{bare}:4: q is also the key of app.quit" in str(fault.value)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("one",), 1),
        (("table", "inner key", "leaf"), 3),
        (("table", "inner key", "absent"), 2),
        (("dotted", "leaf"), 4),
        (("absent",), None),
    ],
)
def test_the_line_of_a_setting_is_that_of_its_nearest_key(keys: tuple[str, ...], line: int | None) -> None:
    text = 'one = "[x] = 1" # y = 2\n[table."inner key"]\n leaf = 1\n["dotted"]\nleaves = """\n'
    assert line_of(text, keys) == line
