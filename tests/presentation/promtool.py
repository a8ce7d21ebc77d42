"""promtool, which comes with Prometheus: it judges what is made for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REQUIRED = "LIVEDECK_TEST_PROMTOOL"


def promtool(*arguments: str | Path, text: str = "") -> str:
    """What it complains of, told that text; what it refuses fails the test. Skips where there is none, or fails where
    one must be."""
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
