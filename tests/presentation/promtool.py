"""promtool, the checker that comes with Prometheus."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REQUIRED = "LIVEDECK_TEST_PROMTOOL"


def promtool(*arguments: str | Path, text: str = "") -> str:
    """Return the complaints of promtool about a text.

    If promtool refuses, the test fails. Skips without promtool, or fails if the environment requires it.
    """
    program = shutil.which("promtool")
    if program is None:
        sentence = "promtool is not installed (apt install prometheus): metrics and rules are not tried"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(sentence)
        pytest.skip(sentence)
    done = subprocess.run(
        [program, *arguments], input=text, capture_output=True, text=True, errors="replace", timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr
