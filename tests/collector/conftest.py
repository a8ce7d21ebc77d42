"""The bad night, played once for all workers of a run."""

from __future__ import annotations

from report.conftest import night

__all__ = ["night"]
