"""Why an action cannot be done now. A courtesy: the lock of a read-only deck is the client's gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedeck.ui.registry import Action, Target

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def disabled_reason(deck: Deck, action: Action) -> str:
    """The reason, or nothing."""
    if deck.read_only and action.writes:
        return f"RO: this deck is read-only, :{action.name} would change the platform"
    if deck.api is None and action.writes:
        return f":{action.name} would change the platform, and this deck was given no way to it"
    if not action.works_on(deck.current_mode):
        return f":{action.name} works on {', '.join(action.screens)}"
    if action.target is Target.EVENT and deck.chosen() is None:
        return f":{action.name} needs an event: none is selected"
    if action.target is Target.VIDEO and deck.library.video is None:
        return f":{action.name} needs a video: none is selected"
    return ""
