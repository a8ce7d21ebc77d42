"""The forms of a room and of a relay profile (platform-api.md, 2 and 4, "Meeting rooms ..."). Pure."""

from __future__ import annotations

from collections.abc import Callable

from livedeck.client import RelayDraft, RelayProfile, RoomDraft
from livedeck.ui.dialogs.fields import Entries, Field, Kind, Sheet, draft_of
from livedeck.ui.renderables.room_panel import MOST

TOO_MANY = 400289
"""The platform's code for more profiles than a room takes (platform-api.md, 7)."""

TYPES = ("permanent_meeting", "instant_meeting")

Service = Callable[[str], str]
"""The platform that an address belongs to."""


def relay(service: Service) -> Sheet:
    """One profile: all that can be sent of it. `service` is the platform's to work out, and said as one types."""
    return Sheet(
        (
            Field("name", "Name", required=True, hint="1 to 128 characters"),
            Field(
                "url",
                "Address",
                required=True,
                hint="rtmp:// or rtmps://, without the key",
                means=lambda url: f"platform {service(url)}",
            ),
            Field("stream_key", "Stream key", Kind.HIDDEN, required=True, hint="never shown"),
        ),
        draft_of(RelayDraft, {}),
        noun="relay profile",
    )


def room(service: Service) -> Sheet:
    """A room and its profiles, which are made together."""
    return Sheet(
        (
            Field("name", "Name", required=True),
            Field("owner_id", "Owner", required=True, hint="id of a user of the workspace"),
            Field("type", "Type", Kind.CHOICE, required=True, choices=TYPES),
            Field(
                "restreams",
                "",
                Kind.ROWS,
                section="Relay profiles: made now or never, none can be added later",
                of=relay(service),
                most=MOST,
            ),
        ),
        draft_of(RoomDraft, {}),
        least={"owner_id": "-", "name": "-"},
        codes={TOO_MANY: "restreams"},
    )


def entries_of(profile: RelayProfile) -> Entries:
    """The profile as its form shows it."""
    return {"name": profile.name or "", "url": profile.url or "", "stream_key": profile.stream_key or ""}
