"""What can be done anywhere: screens, help, commands, leaving."""

from livedeck.ui.shell.action import Action, Target

DECK = (
    Action(
        "screen.events", ("1",), "events", "Events: what is on air, what is wrong, since when", "screens.open_events"
    ),
    Action(
        "screen.streams",
        ("2",),
        "streams",
        "Streams: what arrives, whereto it goes, what was recorded",
        "screens.open_streams",
    ),
    Action(
        "screen.qos", ("3",), "QoS", "QoS: the quality of the selected event over time", "screens.open_qos", rank=61
    ),
    Action("screen.chat", ("4",), "chat", "Chat: what viewers write, looked at and exported", "screens.open_chat"),
    Action("screen.rooms", ("5",), "rooms", "Rooms: meeting rooms and their relay profiles", "screens.open_rooms"),
    Action(
        "screen.videos",
        ("6",),
        "videos",
        "Videos: recordings, any video by its id, and what hangs on one",
        "screens.open_videos",
    ),
    Action(
        "screen.alarms", ("7",), "alarms", "Alarms: the board, and the logs of what was", "screens.open_alarms", rank=62
    ),
    Action("app.help", ("question_mark",), "help", "The keys and the signs", "screens.open_help", rank=2),
    Action("app.command", ("colon",), "command", "Type a command; tab completes it", "screens.open_command", rank=50),
    Action("app.palette", ("ctrl+p",), "palette", "Search everything that can be done", "screens.open_palette"),
    Action("app.ask", ("r",), "ask now", "Ask the platform now, not at the next round", "deck.ask", rank=60),
    Action("app.quit", ("q",), "quit", "Leave; the terminal is left as it was found", "deck.leave", rank=1),
    Action("app.interrupt", ("ctrl+c",), "quit", "Leave, whatever is open", "deck.interrupt", fixed=True),
    Action("app.suspend", ("ctrl+z",), "suspend", "Suspend the deck; `fg` brings it back", "deck.suspend"),
)


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


VIEW = (
    Action(
        "view.filter",
        ("slash",),
        "filter",
        "Show only the rows that match",
        "view.filter_",
        TABLES,
        takes="[FILTER]",
        rank=30,
    ),
    Action(
        "view.clear",
        ("escape",),
        "show all",
        "Take the filter off; without one, back to where one came from",
        "view.clear",
        TABLES,
    ),
    Action(
        "view.sort",
        ("greater_than_sign",),
        "sort",
        "Sort by the next column, or by the one named",
        "view.sort_next",
        TABLES,
        takes="[COLUMN]",
        rank=55,
    ),
    Action(
        "view.sort_back",
        ("less_than_sign",),
        "sort back",
        "Sort by the column before; before the first: worst first",
        "view.sort_previous",
        TABLES,
    ),
    Action("view.invert", ("o",), "invert", "Turn the order round", "view.invert", TABLES),
    Action(
        "view.columns",
        ("f",),
        "columns",
        "Choose the columns, or name those to be shown",
        "view.columns",
        TABLES,
        takes="[COLUMN ...]",
    ),
    Action(
        "view.freeze",
        ("p",),
        "freeze",
        "Hold the display still, or let it go on; polling and alarms go on",
        "view.freeze",
        rank=45,
    ),
    Action(
        "view.copy",
        ("y",),
        "copy",
        "Copy the selected event: id, link, JSON or curl",
        "view.copy",
        ("events", "qos"),
        target=Target.EVENT,
        takes="[id|link|json|curl]",
        rank=52,
    ),
    Action("view.theme", ("t",), "theme", "The next theme, or the one named", "view.theme", takes="[NAME]"),
)
