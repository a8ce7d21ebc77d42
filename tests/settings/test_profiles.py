"""Named platforms: one is chosen, and it gets no setting of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedeck.settings import SettingsError, load

SECRET = "a-token-that-nobody-knows"

PROFILES = """
base_url = "https://production.example"
upload_url = "https://upload.production.example"
token_file = "production-token"
profile = "production"

[profiles.production]
read_only = true

[profiles.staging]
base_url = "https://staging.example"
token_file = "staging-token"
timeout = 9
"""


def test_a_profile_is_chosen_by_flag_environment_or_file(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write_text(PROFILES, "utf-8")
    assert (load().base_url, load().read_only) == ("https://production.example", True)
    monkeypatch.setenv("LIVEDECK_PROFILE", "staging")
    assert (load().base_url, load().read_only, load().timeout) == ("https://staging.example", False, 9)
    assert load(profile="production").base_url == "https://production.example"


def test_a_profile_that_a_flag_names_outranks_the_environment(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says staging never reaches production because a variable was left over."""
    bare.write_text(PROFILES, "utf-8")
    monkeypatch.setenv("LIVEDECK_BASE_URL", "https://left-over.example")
    monkeypatch.setenv("LIVEDECK_TOKEN", SECRET)
    staging = load(profile="staging")
    assert (staging.base_url, staging.token_sources) == ("https://staging.example", ("token_file",))
    assert load().base_url == "https://left-over.example"


def test_no_token_and_no_upload_address_of_one_platform_reaches_another(bare: Path) -> None:
    bare.write_text(PROFILES.replace('token_file = "staging-token"\n', ""), "utf-8")
    staging = load(profile="staging")
    assert (staging.upload_url, staging.token_sources) == ("", ())
    assert load(base_url="https://other.example").upload_url == ""


@pytest.mark.parametrize(
    ("text", "flags", "words"),
    [
        (PROFILES, {"profile": "stagin"}, "known: production, staging"),
        ("", {"profile": "staging"}, "known: none yet"),
        ("[profiles.a]\nevents = 1\n", {}, "config.toml:2): not a setting of this section"),
        ('[profiles.a]\ntoken = "' + SECRET + '"\n', {}, "config.toml:2: a token is never read"),
        ('token_file = "a"\ntoken_keyring = "a/b"\n', {}, "set only one source"),
        ('token_command = "pass show livedeck"\n', {}, "no shell"),
        ('token_keyring = "livedeck"\n', {}, "config.toml:1)"),
        ('bitrate_unit = "kB"\n', {}, "'auto', 'bit' or 'kbit'"),
        ('[profiles]\nstaging = "x"\n', {"profile": "staging"}, "config.toml:2)"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(
    bare: Path, text: str, flags: dict[str, str], words: str
) -> None:
    bare.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as fault:
        load(**flags)
    assert words in str(fault.value)
    assert SECRET not in str(fault.value)


def test_profiles_that_are_no_tables_are_a_fault_and_no_crash(bare: Path) -> None:
    bare.write_text("profiles = 3\n", "utf-8")
    with pytest.raises(SettingsError, match=r"profiles \(.*config.toml:1\)"):
        load()
