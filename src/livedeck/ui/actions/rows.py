"""Moving in the table of a screen."""

from livedeck.ui.actions.action import Action, Target

EVENTS = ("events", "streams", "alarms")
"""The tables whose rows lead to the QoS of an event."""

VIDEOS = ("videos", "posters", "subtitles", "cues", "annotations", "materials")
"""The Videos screen, part by part."""

TABLES = (*EVENTS, "rooms", *VIDEOS)
"""The screens that are a table."""

MOVING = (*TABLES, "chat")

ROWS = (
    Action("row.up", ("up", "k"), "up", "The row above", "rows.up", MOVING),
    Action("row.down", ("down", "j"), "down", "The row below", "rows.down", MOVING),
    Action("row.page_up", ("pageup",), "page up", "A screenful up", "rows.page_up", MOVING),
    Action("row.page_down", ("pagedown",), "page down", "A screenful down", "rows.page_down", MOVING),
    Action("row.first", ("home",), "first", "The first row", "rows.first", MOVING),
    Action("row.last", ("end",), "last", "The last row", "rows.last", MOVING),
    Action(
        "row.open",
        ("enter",),
        "QoS",
        "From the table to the QoS of that event",
        "rows.open_",
        EVENTS,
        target=Target.EVENT,
        rank=10,
    ),
)
