"""The files that run the collector as a service hold what the documentation promises of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from livedeck.cli import PLACES
from livedeck.settings import Settings

ROOT = Path(__file__).parents[2]
UNIT = (ROOT / "src" / "livedeck" / "docs" / "files" / "livedeck-collect.service").read_text(encoding="utf-8")
CONTAINERFILE = (ROOT / "src" / "livedeck" / "docs" / "files" / "Containerfile").read_text(encoding="utf-8")
DOCS = ROOT / "src" / "livedeck" / "docs"
COLLECTOR_PAGE = (DOCS / "collector.md").read_text(encoding="utf-8")
(WALL,) = re.findall(r"```ini\n(.+?)```", (DOCS / "wallboard.md").read_text(encoding="utf-8"), re.DOTALL)
ANALYZE = shutil.which("systemd-analyze")

SEALED = {
    "AmbientCapabilities": [""],
    "CapabilityBoundingSet": [""],
    "LimitCORE": ["0"],
    "LockPersonality": ["yes"],
    "MemoryDenyWriteExecute": ["yes"],
    "NoNewPrivileges": ["yes"],
    "PrivateTmp": ["yes"],
    "ProcSubset": ["pid"],
    "ProtectClock": ["yes"],
    "ProtectControlGroups": ["yes"],
    "ProtectHome": ["yes"],
    "ProtectHostname": ["yes"],
    "ProtectKernelLogs": ["yes"],
    "ProtectKernelModules": ["yes"],
    "ProtectKernelTunables": ["yes"],
    "ProtectProc": ["invisible"],
    "ProtectSystem": ["strict"],
    "RemoveIPC": ["yes"],
    "RestrictAddressFamilies": ["AF_INET AF_INET6 AF_UNIX"],
    "RestrictNamespaces": ["yes"],
    "RestrictRealtime": ["yes"],
    "RestrictSUIDSGID": ["yes"],
    "StateDirectoryMode": ["0700"],
    "SystemCallArchitectures": ["native"],
    "SystemCallErrorNumber": ["EPERM"],
    "SystemCallFilter": ["@system-service", "~@privileged @resources"],
    "UMask": ["0077"],
}
"""Directives of both units."""

COLLECTOR_ALONE = {
    "ConfigurationDirectoryMode": ["0700"],
    "DevicePolicy": ["closed"],
    "KeyringMode": ["private"],
    "MemoryMax": ["2G"],
    "PrivateDevices": ["yes"],
    "PrivateMounts": ["yes"],
    "StateDirectory": ["livedeck"],
}
"""Further directives of the collector's unit, because it needs no terminal."""


def directives(unit: str) -> dict[str, list[str]]:
    """Return the directives in the section `[Service]` of a unit, each with all its values."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    section = ""
    for line in unit.splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            found[name].append(value)
    return dict(found)


UNITS = pytest.mark.parametrize(
    ("unit", "promised"), [(UNIT, SEALED | COLLECTOR_ALONE), (WALL, SEALED)], ids=["collector", "wall"]
)


@UNITS
def test_a_unit_says_all_that_seals_its_service(unit: str, promised: dict[str, list[str]]) -> None:
    found = directives(unit)
    assert {name: found.get(name) for name in promised} == promised


@pytest.mark.parametrize("unit", [UNIT, WALL], ids=["collector", "wall"])
def test_a_unit_hands_the_token_over_as_a_credential_and_not_by_a_file_that_its_user_owns(unit: str) -> None:
    found = directives(unit)
    credentials = dict(value.split(":", 1) for value in found["LoadCredential"])
    variables = dict(pair.split("=", 1) for value in found["Environment"] for pair in value.split())
    assert credentials == {"token": "/etc/credstore/livedeck.token"}
    assert variables["LIVEDECK_TOKEN_FILE"] == "%d/token"
    assert "LIVEDECK_TOKEN" not in variables
    names = {name.removeprefix("LIVEDECK_").lower() for name in variables if name.startswith("LIVEDECK_")}
    assert names <= {"config", *Settings.model_fields}


def test_the_unit_starts_a_command_of_ours_and_writes_where_its_state_is() -> None:
    found = directives(UNIT)
    (start,) = found["ExecStart"]
    assert " ".join(start.split()[1:]) in PLACES
    state = f"/var/lib/{found['StateDirectory'][0]}"
    variables = dict(value.split("=", 1) for value in found["Environment"])
    assert all(variables[name].startswith(state) for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"))
    assert f"XDG_DATA_HOME={variables['XDG_DATA_HOME']} \\\n    livedeck collector token list" in COLLECTOR_PAGE


def test_what_the_page_names_of_the_unit_stands_in_it() -> None:
    page = COLLECTOR_PAGE.partition("## As a service")[2].partition("\n## ")[0]
    named = re.findall(r"`([A-Z][A-Za-z]+)=(\w*)`", page)
    assert {"LoadCredential", "LimitCORE", "ProtectSystem", "MemoryMax"} <= {name for name, _ in named}
    found = directives(UNIT)
    for name, value in named:
        assert name in found
        assert not value or found[name] == [value]


@pytest.mark.skipif(ANALYZE is None, reason="no systemd on this machine: nobody checks the unit")
def test_systemd_takes_the_unit_of_the_collector_and_finds_it_as_sealed_as_the_page_says(tmp_path: Path) -> None:
    """All but where the program is, which differs from machine to machine."""
    assert ANALYZE
    unit = tmp_path / "livedeck-collect.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", UNIT, flags=re.MULTILINE), "utf-8")
    done = subprocess.run([ANALYZE, "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    judged = [ANALYZE, "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(judged, capture_output=True, text=True, timeout=60, check=False).stdout
    (level,) = re.findall(r"Overall exposure level for \S+: ([\d.]+)", said)
    (promised,) = re.findall(r"systemd-analyze security livedeck-collect.service` prints ([\d.]+)", COLLECTOR_PAGE)
    assert float(level) <= float(promised)


def test_the_image_begins_with_one_base_and_no_other() -> None:
    (base,) = re.findall(r"^FROM (.+)$", CONTAINERFILE, re.MULTILINE)
    assert re.fullmatch(r"docker\.io/library/python:3\.11\.\d+-slim@sha256:[0-9a-f]{64}", base)
    assert "docker buildx imagetools inspect" in CONTAINERFILE
