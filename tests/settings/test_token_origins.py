"""A token goes only to the platform that its own layer names, whatever address is in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.commands import livedeck
from livedeck.secret_sources import read_token
from livedeck.settings import SettingsError, load

A, B, C = "https://a.example", "https://b.example", "https://c.example"

TOP_A = f'base_url = "{A}"\ntoken_keyring = "top/a"\n'
TOP_TOKEN = 'token_keyring = "top/a"\n'
STAGING_B = f'[profiles.staging]\nbase_url = "{B}"\n'
STAGING_B_TOKEN = f'{STAGING_B}token_keyring = "staging/b"\n'
STAGING_TOKEN = '[profiles.staging]\ntoken_keyring = "staging/a"\n'


@dataclass(frozen=True)
class Case:
    """Contents of the layers. `used`: address and source in force; `withheld`: words of the refusal."""

    file: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    used: str | None = None
    withheld: tuple[str, ...] = ()


CASES = {
    "file alone": Case(TOP_A, used="top/a"),
    "flag over file": Case(TOP_A, {}, {"base_url": B}, withheld=("config.toml:2", A, B, "--base-url")),
    "flag of the same origin": Case(TOP_A, {}, {"base_url": f"{A.upper()}:443/api"}, used="top/a"),
    "flag of another port": Case(TOP_A, {}, {"base_url": f"{A}:444"}, withheld=(f"{A}:444",)),
    "flag of another scheme": Case(TOP_A, {}, {"base_url": "http://a.example"}, withheld=("http://a.example",)),
    "flag with a user that looks alike": Case(TOP_A, {}, {"base_url": "https://a.example@b.example"}, withheld=(B,)),
    "flag that is no address": Case(TOP_A, {}, {"base_url": "https://a.example:x"}, withheld=("no address",)),
    "two that are no addresses": Case(
        TOP_A.replace("https://", ""), {}, {"base_url": "b.example"}, withheld=("no address",)
    ),
    "variable over file": Case(TOP_A, {"BASE_URL": B}, withheld=("config.toml:2", A, B, "LIVEDECK_BASE_URL")),
    "variable of the same origin": Case(TOP_A, {"BASE_URL": f"{A}/"}, used="top/a"),
    "variable with its own token": Case(TOP_A, {"BASE_URL": B, "TOKEN_KEYRING": "env/b"}, used="env/b"),
    "token variable for the file's address": Case(f'base_url = "{A}"\n', {"TOKEN_KEYRING": "env/a"}, used="env/a"),
    "token variable over the file's": Case(TOP_A, {"TOKEN_KEYRING": "env/a"}, used="env/a"),
    "token variable and flag, nothing else": Case("", {"TOKEN_KEYRING": "env/b"}, {"base_url": B}, used="env/b"),
    "token variable of the file's address, flag": Case(
        f'base_url = "{A}"\n', {"TOKEN_KEYRING": "env/a"}, {"base_url": B}, withheld=("LIVEDECK_TOKEN_KEYRING", A, B)
    ),
    "variables of one platform, flag of another": Case(
        "", {"BASE_URL": A, "TOKEN_KEYRING": "env/a"}, {"base_url": B}, withheld=("LIVEDECK_BASE_URL", A, B)
    ),
    "flag back to the file's address": Case(
        TOP_A, {"BASE_URL": C, "TOKEN_KEYRING": "env/c"}, {"base_url": A}, used="top/a"
    ),
    "token of the file without an address": Case(TOP_TOKEN, {"BASE_URL": B}, withheld=("no base_url beside it", B)),
    "profile with its own token": Case(TOP_A + STAGING_B_TOKEN, {}, {"profile": "staging"}, used="staging/b"),
    "profile without one": Case(TOP_A + STAGING_B, {}, {"profile": "staging"}, withheld=("config.toml:2", A, B)),
    "profile of the same origin": Case(
        TOP_A + STAGING_B.replace(B, f"{A}/v2"), {}, {"profile": "staging"}, used="top/a"
    ),
    "profile that is a variable": Case(TOP_A + STAGING_B, {"PROFILE": "staging"}, withheld=(A, B)),
    "profile and another address": Case(
        TOP_A + STAGING_B_TOKEN, {}, {"profile": "staging", "base_url": C}, withheld=(B, C, "--base-url")
    ),
    "profile, its address from a variable": Case(
        TOP_A + STAGING_B_TOKEN, {"PROFILE": "staging", "BASE_URL": C}, withheld=(B, C, "LIVEDECK_BASE_URL")
    ),
    "profile and a token variable of the file's": Case(
        f'base_url = "{A}"\n{STAGING_B}', {"TOKEN_KEYRING": "env/a"}, {"profile": "staging"}, withheld=(A, B)
    ),
    "profile with a token for the file's address": Case(
        f'base_url = "{A}"\n{STAGING_TOKEN}', {}, {"profile": "staging"}, used="staging/a"
    ),
    "upload flag of another origin": Case(
        TOP_A, {}, {"upload_url": B}, withheld=("config.toml:2", A, B, "--upload-url")
    ),
    "upload flag of the API's origin": Case(TOP_A, {}, {"upload_url": f"{A}:443/upload"}, used="top/a"),
    "upload flag of the file's upload": Case(
        f'upload_url = "{C}"\n{TOP_A}', {}, {"upload_url": f"{C}/v2"}, used="top/a"
    ),
    "upload beside its API": Case(f'upload_url = "{C}"\n{TOP_A}', used="top/a"),
    "upload variable of another origin": Case(TOP_A, {"UPLOAD_URL": B}, withheld=(A, B, "LIVEDECK_UPLOAD_URL")),
    "upload variable, all of them variables": Case(
        TOP_A, {"BASE_URL": B, "UPLOAD_URL": C, "TOKEN_KEYRING": "env/b"}, used="env/b"
    ),
    "upload flag over variables": Case(
        "", {"BASE_URL": B, "TOKEN_KEYRING": "env/b"}, {"upload_url": C}, withheld=("LIVEDECK_BASE_URL", B, C)
    ),
    "both flags, the token a variable": Case(
        "", {"TOKEN_KEYRING": "env/b"}, {"base_url": B, "upload_url": C}, used="env/b"
    ),
    "upload flag over a profile": Case(
        TOP_A + STAGING_B_TOKEN, {}, {"profile": "staging", "upload_url": A}, withheld=(A, B, "--upload-url")
    ),
    "upload beside a profile's API": Case(
        f'{TOP_A}{STAGING_B_TOKEN}upload_url = "{C}"\n', {}, {"profile": "staging"}, used="staging/b"
    ),
    "upload of the file, not a profile's": Case(
        f'upload_url = "{C}"\n{TOP_A}{STAGING_B}upload_url = "{C}"\n', {}, {"profile": "staging"}, withheld=(A, B)
    ),
    "profile of the same API with an upload of its own": Case(
        f'{TOP_A}[profiles.staging]\nbase_url = "{A}"\nupload_url = "{C}"\n',
        {},
        {"profile": "staging"},
        withheld=(A, C),
    ),
    "upload that is no address": Case(TOP_A, {}, {"upload_url": "https://b.example:x"}, withheld=("no address",)),
    "the same, the address from a variable": Case(
        f'base_url = "{A}"\n{STAGING_TOKEN}', {"BASE_URL": B}, {"profile": "staging"}, withheld=(A, B)
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_token_is_for_the_platform_of_its_own_layer(bare: Path, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    bare.write_text(case.file, "utf-8")
    for name, value in case.env.items():
        monkeypatch.setenv(f"LIVEDECK_{name}", value)
    settings = load(**case.flags)
    assert settings.token_keyring == (case.used or "")
    if case.used:
        assert not settings.withheld_token_reason
        return
    assert settings.token_sources == ()
    with pytest.raises(SettingsError) as refusal:
        read_token(settings)
    for words in (*case.withheld, "no token is sent to another platform", " and LIVEDECK_TOKEN"):
        assert words in str(refusal.value)


@pytest.mark.parametrize("name", ["base_url", "upload_url"])
@pytest.mark.parametrize("by_flag", [True, False], ids=["flag", "variable"])
def test_a_command_ends_before_anything_is_sent(tmp_path: Path, name: str, by_flag: bool) -> None:
    """No test double: a listening socket of another port would see it."""
    token = tmp_path / "token"
    token.write_text("a-token-that-nobody-knows")
    token.chmod(0o600)
    config = tmp_path / "given.toml"
    config.write_text(f'base_url = "{A}"\ntoken_file = "{token}"\n')
    other, flag = "http://127.0.0.1:1", f"--{name.replace('_', '-')}"
    env = {"LIVEDECK_CONFIG": str(config)} | ({} if by_flag else {f"LIVEDECK_{name.upper()}": other})
    done = livedeck(tmp_path, "status", *((flag, other) if by_flag else ()), env=env)
    assert done.returncode == 2
    assert f"{config}:2" in done.stderr
    assert "a-token" not in done.stderr
