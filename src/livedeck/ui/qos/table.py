"""The quality of one event over time."""

from livedeck.ui.shell.action import Action, Target

HERE = ("qos",)


QOS = (
    Action("qos.longer", ("plus", "equals_sign"), "longer", "A longer range of time", "qos.longer", HERE, rank=21),
    Action("qos.shorter", ("minus",), "shorter", "A shorter range of time", "qos.shorter", HERE, rank=22),
    Action(
        "qos.left", ("left",), "cursor", "The cursor to the left: what was measured there", "qos.left", HERE, rank=23
    ),
    Action("qos.right", ("right",), "cursor right", "The cursor to the right, and off", "qos.right", HERE),
    Action(
        "qos.next_fault",
        ("right_square_bracket",),
        "next fault",
        "Down the list of faults: those that last, then those that are over",
        "qos.next_fault",
        HERE,
        rank=24,
    ),
    Action(
        "qos.previous_fault",
        ("left_square_bracket",),
        "previous fault",
        "Up the list of faults",
        "qos.previous_fault",
        HERE,
    ),
    Action("qos.previous", ("up", "k"), "previous event", "The previous event on air", "qos.previous", HERE),
    Action("qos.next", ("down", "j"), "next event", "The next event on air", "qos.next_", HERE, rank=25),
    Action(
        "qos.over",
        ("x",),
        "compare",
        "Lay another event's curves over these: the next one on air, at last none; or the one named",
        "qos.over",
        HERE,
        takes="[NAME]",
        rank=26,
    ),
    Action(
        "qos.mark",
        ("m",),
        "mark",
        "Mark this moment in the charts of the event, with a few words",
        "qos.mark",
        ("events", "streams", "qos"),
        target=Target.EVENT,
        takes="[TEXT]",
        rank=53,
    ),
    Action("qos.back", ("escape",), "back", "Back to the events, the cursor where it was", "qos.back", HERE, rank=10),
)
