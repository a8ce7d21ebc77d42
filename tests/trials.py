"""Number of examples for a law: `pytest --hypothesis-profile=thorough` tries five times as many as each change."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

THOROUGH = "thorough"
_TIMES = 5

settings.register_profile(THOROUGH, settings.get_profile("ci"))


def trials(thorough: int, **options: Any) -> settings:
    """Return settings with that many examples in the thorough profile, and a fifth of them in any other."""
    is_thorough = settings.get_current_profile_name() == THOROUGH
    return settings(max_examples=thorough if is_thorough else thorough // _TIMES, deadline=None, **options)
