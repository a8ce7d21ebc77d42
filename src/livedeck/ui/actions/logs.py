"""The logs of the Alarms screen."""

from livedeck.ui.actions.action import Action

LOGS = (
    Action(
        "log.next",
        ("right_square_bracket", "right"),
        "next log",
        "The next of board, incidents, actions, notices, connection; or the one named",
        "logs.next_",
        ("alarms",),
        takes="[NAME]",
        rank=22,
    ),
    Action(
        "log.previous", ("left_square_bracket", "left"), "log before", "The one before", "logs.previous", ("alarms",)
    ),
)
