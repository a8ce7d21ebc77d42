"""The chat of one stream: looked at, sifted, exported. It only reads the platform, so a read-only deck does it too."""

from typing import Any

from livedeck.ui.shell.action import Action, Target

HERE = ("chat",)


def _chat(verb: str, keys: tuple[str, ...], label: str, help_: str, **more: Any) -> Action:
    return Action(f"chat.{verb}", keys, label, help_, f"chat.{verb}", HERE, target=Target.EVENT, **more)


CHAT = (
    _chat("read", ("enter",), "read", "Read the log for a look at it, or read it again", rank=10),
    _chat(
        "sift", ("slash",), "filter", "Only some messages: text, users, administrators, time", rank=12, takes="[TEXT]"
    ),
    _chat("everything", ("escape",), "every message", "Take the filter off"),
    _chat("export", ("e",), "export", "Export the chat to a file: format, name, time zone", rank=11),
    Action("chat.stop", ("x",), "stop", "Stop the export that is under way", "chat.stop", HERE, rank=13),
    Action("chat.copy", ("y",), "copy", "Copy where the exported file is", "chat.copy", HERE, rank=14),
    Action("chat.open", ("o",), "open", "Open the exported file", "chat.open_", HERE, rank=15),
    _chat("next_stream", ("right_square_bracket", "right"), "stream", "The next of the event's streams", rank=16),
    _chat("previous_stream", ("left_square_bracket", "left"), "stream before", "The stream before"),
    _chat("next_event", ("full_stop",), "event", "The next event", rank=17),
    _chat("previous_event", ("comma",), "event before", "The event before"),
)
