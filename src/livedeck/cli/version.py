"""`livedeck --version`: the version, the commit that it was built from, and the version of Python."""

from __future__ import annotations

import sys
from pathlib import Path

import livedeck

UNKNOWN = "unknown"
_GIT = "git --no-optional-locks --git-dir=.git --work-tree=. describe --always --dirty --abbrev=12 --exclude=*"


def version_text() -> str:
    """Return the line that `livedeck --version` prints."""
    made_of = commit(Path(livedeck.__file__).parent)
    return f"livedeck {livedeck.__version__} (commit {made_of}, Python {sys.version.split()[0]})"


def commit(package: Path) -> str:
    """Return the commit that a package's folder is made of, with `-dirty` if its files differ, or "unknown".

    A build writes the commit into the package (`hatch_build.py`). For an editable install, git is asked.
    """
    written, checkout = package / "commit.txt", package.parents[1]
    if written.exists():
        return written.read_text(encoding="ascii").strip()
    if not (checkout / ".git").exists():
        return UNKNOWN
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  fixed words
            _GIT.split(), cwd=checkout, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip()
