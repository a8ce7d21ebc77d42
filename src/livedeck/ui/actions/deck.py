"""What can be done anywhere: screens, help, commands, leaving."""

from livedeck.ui.actions.action import Action

DECK = (
    Action("screen.events", ("1",), "events", "Events: what is on air, what is wrong, since when", "screens.events"),
    Action(
        "screen.streams",
        ("2",),
        "streams",
        "Streams: what arrives, whereto it goes, what was recorded",
        "screens.streams",
    ),
    Action("screen.qos", ("3",), "QoS", "QoS: the quality of the selected event over time", "screens.qos", rank=61),
    Action("screen.chat", ("4",), "chat", "Chat: what viewers write, looked at and exported", "screens.chat"),
    Action("screen.rooms", ("5",), "rooms", "Rooms: meeting rooms and their relay profiles", "screens.rooms"),
    Action(
        "screen.videos",
        ("6",),
        "videos",
        "Videos: recordings, any video by its id, and what hangs on one",
        "screens.videos",
    ),
    Action("screen.alarms", ("7",), "alarms", "Alarms: the board, and the logs of what was", "screens.alarms", rank=62),
    Action("app.help", ("question_mark",), "help", "The keys and the signs", "screens.help_", rank=2),
    Action("app.command", ("colon",), "command", "Type a command; tab completes it", "screens.command", rank=50),
    Action("app.palette", ("ctrl+p",), "palette", "Search everything that can be done", "screens.palette"),
    Action("app.ask", ("r",), "ask now", "Ask the platform now, not at the next round", "deck.ask", rank=60),
    Action("app.quit", ("q",), "quit", "Leave; the terminal is left as it was found", "deck.leave", rank=1),
    Action("app.interrupt", ("ctrl+c",), "quit", "Leave, whatever is open", "deck.interrupt", fixed=True),
    Action("app.suspend", ("ctrl+z",), "suspend", "Suspend the deck; `fg` brings it back", "deck.suspend"),
)
