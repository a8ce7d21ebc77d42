"""Names whose addresses change between two lookups, in a network of its own with a real resolver and DNS server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REQUIRED = "LIVEDECK_TEST_NAMESPACES"
"""Environment variable: `required` makes a missing network of its own a failure."""

TESTS = Path(__file__).parents[1]
UNSHARE = ["unshare", "--map-root-user", "--mount", "--net"]
PUBLIC, PRIVATE, LOOPBACK = "198.41.0.4", "10.0.0.5", "127.0.0.3"
KINDS = ["webhook", "form"]


def skip_without_namespaces() -> None:
    """Skip where this machine offers no network namespaces, or fail if the environment requires them."""
    has_programs = all(map(shutil.which, ("unshare", "ip", "mount")))
    if has_programs and subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0:
        return
    sentence = "no network of its own (util-linux and iproute2, and user namespaces): names that move are not tried"
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(sentence)
    pytest.skip(sentence)


def tried(*trials: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the result of each trial."""
    program = [sys.executable, str(TESTS / "notify" / "network_of_its_own.py"), json.dumps(trials)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [*UNSHARE, *program], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def trial(kind: str, *answers: list[str], allowed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return one trial, with the addresses of each lookup of its host."""
    return {"kind": kind, "answers": answers, "allowed": allowed}


def check_moving(kind: str) -> None:
    """Check that a moving name leads to the address that was checked for that connection, or to none."""
    skip_without_namespaces()
    always, other, both, moved, public = tried(
        trial(kind, [PRIVATE]),
        trial(kind, [LOOPBACK]),
        trial(kind, [PRIVATE, PUBLIC]),
        trial(kind, [PRIVATE], [PUBLIC]),
        trial(kind, [PUBLIC], [PRIVATE]),
    )
    for refused, zone in ((always, "a private network"), (other, "this machine"), (moved, "a private network")):
        assert [refused[host] for host in ("public", "private", "loopback")] == [[0, 0]] * 3
        assert not refused["is_taken"]
        assert refused["said"].startswith("not sent: ")
        assert f"is on {zone}; to allow it, set allow_private = [" in refused["said"]
    for reached in (both, public):
        assert [reached["private"], reached["loopback"]] == [[0, 0]] * 2
        assert reached["public"][0] >= 1


@pytest.mark.parametrize("kind", ["webhook", "form"])
def test_a_name_that_moves_to_another_network_gains_nothing(kind: str) -> None:
    check_moving(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["json", "xml", "ntfy", "gotify", "mailto"])
def test_a_name_that_moves_gains_nothing_with_any_service(kind: str) -> None:
    check_moving(kind)


def test_a_named_host_may_have_any_address_and_another_name_for_it_may_not() -> None:
    skip_without_namespaces()
    named = tried(*(trial(kind, [PRIVATE], allowed=("moving.example",)) for kind in KINDS))
    assert all(each["private"][1] > 0 for each in named)
    stranger = tried(*(trial(kind, [PRIVATE], allowed=("mail.studio.lan", "10.0.0.6")) for kind in KINDS))
    assert [each["private"] for each in stranger] == [[0, 0]] * len(KINDS)
    assert all('add "moving.example" to allow_private of [notify]' in each["said"] for each in stranger)
