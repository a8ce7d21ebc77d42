"""Files for the eyes of their owner (trust.md, "Files")."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(target: Path, text: str, *, replace: bool) -> None:
    """Write a file that its owner alone can read, whole or not at all. Raises OSError, FileExistsError among them."""
    target = target.resolve()  # a link stays a link
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if target.exists() and not replace:
        raise FileExistsError
    half = target.with_name(f".{target.name}.{os.getpid()}")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    except BaseException:
        half.unlink(missing_ok=True)
        raise
