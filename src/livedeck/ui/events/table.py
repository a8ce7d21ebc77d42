"""What changes a live event or its stream."""

from typing import Any

from livedeck.ui.shell.action import Action, ConfirmLevel, Target

HERE = ("events", "streams", "qos")


def _event(name: str, key: str, label: str, help_: str, blast: ConfirmLevel, **more: Any) -> Action:
    handler = f"events.{name.partition('.')[2]}"
    return Action(name, (key,), label, help_, handler, HERE, Target.EVENT, writes=True, blast=blast, **more)


EVENTS = (
    Action(
        "event.new",
        ("n",),
        "new",
        "Make an event, as a draft",
        "events.new",
        HERE,
        writes=True,
        blast=ConfirmLevel.FORM,
        rank=30,
    ),
    _event("event.edit", "e", "edit", "Change any field of the event, its restreams too", ConfirmLevel.FORM, rank=31),
    _event("event.enable", "E", "enable", "Let streams in, and viewers watch", ConfirmLevel.CONFIRM, rank=33),
    _event(
        "event.complete", "C", "complete", "End the event: ingest stops, viewers are cut off", ConfirmLevel.AIR, rank=34
    ),
    _event(
        "event.move",
        "V",
        "move",
        "Put the event into another project or folder",
        ConfirmLevel.AIR,
        rank=35,
        takes="PROJECT OR FOLDER",
    ),
    _event("event.delete", "D", "delete", "Delete the event for good", ConfirmLevel.AIR, rank=36),
    _event(
        "event.poster",
        "i",
        "picture",
        "Give the event the picture at an address",
        ConfirmLevel.FORM,
        rank=37,
        takes="ADDRESS",
    ),
    _event(
        "stream.schedule", "s", "schedule", "Schedule a stream of the event", ConfirmLevel.FORM, rank=32, takes="MOMENT"
    ),
    _event(
        "stream.reschedule",
        "S",
        "reschedule",
        "Move the event's stream to another time",
        ConfirmLevel.FORM,
        rank=38,
        takes="MOMENT",
    ),
)
