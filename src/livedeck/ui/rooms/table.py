"""What is done with meeting rooms and their relay profiles: all that the platform has an endpoint for, and no more."""

from livedeck.ui.shell.action import Action, ConfirmLevel, Target

HERE = ("rooms",)


ROOMS = (
    Action(
        "room.open",
        ("enter",),
        "open",
        "From a room to its relay profiles, from a profile to its form",
        "rooms.open_",
        HERE,
        Target.ROOM,
        rank=10,
    ),
    Action("room.pane", ("tab",), "profiles", "From the rooms to the relay profiles, and back", "rooms.pane", HERE),
    Action(
        "room.new",
        ("n",),
        "new room",
        "Make a room with up to 15 relay profiles, all or nothing",
        "rooms.new",
        HERE,
        writes=True,
        blast=ConfirmLevel.FORM,
        rank=12,
    ),
    Action(
        "room.delete",
        ("D",),
        "delete room",
        "End the room: everybody is out, relays stop, its profiles are gone",
        "rooms.delete",
        HERE,
        Target.ROOM,
        writes=True,
        blast=ConfirmLevel.AIR,
        rank=14,
    ),
    Action(
        "relay.edit",
        ("e",),
        "edit profile",
        "Change a relay profile; it applies when the relay is next started",
        "relays.edit",
        HERE,
        Target.RELAY,
        writes=True,
        blast=ConfirmLevel.FORM,
        rank=11,
    ),
    Action(
        "relay.apply",
        ("g",),
        "apply edit",
        "Apply the edit that waits for its relay to end, after a question",
        "relays.apply",
        HERE,
        Target.RELAY,
        writes=True,
        blast=ConfirmLevel.CONFIRM,
        takes="[PROFILE]",
    ),
    Action(
        "relay.reveal",
        ("v",),
        "show key",
        "Show the stream key of the relay profile for 10 s; it is recorded who asked when",
        "relays.reveal",
        HERE,
        Target.RELAY,
        rank=13,
    ),
)
