"""Rule for a list of another workspace. Pure.

A token belongs to one workspace. If the platform shows this token a list of another one, the token was replaced, or the
platform confuses two tokens. Such a list, and each "not found" beside it, proves nothing about the events of this
process.
"""

from __future__ import annotations

from collections.abc import Iterable

from livedeck.client import ApiError, Event


class OtherWorkspace(ApiError):  # noqa: N818  as the errors of the client
    """The platform shows this token only events of another workspace."""


def check_workspace(listed: Iterable[Event], watched: Iterable[Event]) -> None:
    """Check that a list is of the workspace of the watched events. Raises OtherWorkspace.

    A list is in order if it has no events, an event without `workspace_id`, or one of a watched workspace.
    """
    seen = {event.workspace_id for event in listed}
    known = {event.workspace_id for event in watched} - {None}
    if seen and known and None not in seen and seen.isdisjoint(known):
        names = ", ".join(sorted(map(str, known)))
        raise OtherWorkspace(f"list events: none of workspace {names}")
