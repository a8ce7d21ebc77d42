"""What a person does about an alarm: the one under the cursor, else the one that the footer names.

Nothing of it leaves this machine, so a read-only deck does it too.
"""

from livedeck.ui.shell.action import Action, Target

ALARMS = (
    Action(
        "alarm.acknowledge",
        ("a",),
        "acknowledge",
        "Promise to act: the alarm is silent until it is over, or the promise runs out",
        "alarms.acknowledge",
        target=Target.ALARM,
        rank=20,
        home="alarms",
    ),
    Action(
        "alarm.shelve",
        ("z",),
        "shelve",
        "Put the alarm out of sight for some minutes, or until it is over, for a reason",
        "alarms.shelve",
        target=Target.ALARM,
        home="alarms",
    ),
    Action(
        "alarm.out_of_service",
        ("Z",),
        "out of service",
        "Put the alarm out of sight until it is brought back, for a reason",
        "alarms.out_of_service",
        target=Target.ALARM,
    ),
    Action(
        "alarm.note",
        ("w",),
        "note",
        "Write a note to the alarm",
        "alarms.note",
        target=Target.ALARM,
        takes="TEXT",
        home="alarms",
    ),
    Action(
        "alarm.return",
        ("u",),
        "bring back",
        "Bring back an alarm that is shelved or out of service",
        "alarms.bring_back",
        target=Target.ALARM,
        home="alarms",
    ),
)


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
