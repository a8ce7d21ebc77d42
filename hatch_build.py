"""Build hook: a wheel and an sdist name the commit that they are made of."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_GIT = "git --no-optional-locks --git-dir=.git --work-tree=. describe --always --dirty --abbrev=12 --exclude=*"


class CommitHook(BuildHookInterface[Any]):
    """Add the file that `livedeck --version` reads. An editable install asks git instead (`cli/version.py`)."""

    @property
    def _file(self) -> Path:
        return Path(self.directory) / "commit.txt"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file and add it, if git knows the commit. An sdist brings its file along."""
        if version == "editable" or not (Path(self.root) / ".git").exists():
            return
        done = subprocess.run(_GIT.split(), cwd=self.root, capture_output=True, check=False)  # noqa: S603  fixed words
        if done.returncode == 0:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_bytes(done.stdout)
            folder = "livedeck" if self.target_name == "wheel" else "src/livedeck"
            build_data["force_include"][str(self._file)] = f"{folder}/{self._file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Leave only the artifact in its folder."""
        self._file.unlink(missing_ok=True)
