"""Words of an operation about its object."""

from __future__ import annotations

from livedeck.operations.operation import ConfirmLevel, Target, conflict_lines
from livedeck.operations.videos import Reorder
from operations.rig import rig
from operations.samples import SAMPLES


def test_what_has_changed_is_said_in_place_of_the_state() -> None:
    target = Target("room", "r1", "Council", "pending, as of 21:14:07Z")
    assert [text for text, _ in conflict_lines(target, ())] == ["Pending, as of 21:14:07Z."]
    assert [text for text, _ in conflict_lines(target, ("it is active now",))] == [
        "▲ Since you looked: it is active now."
    ]


async def test_an_order_names_every_row_that_is_there_and_no_other_and_is_asked_about_only_then() -> None:
    async with rig() as platform:
        operation = await SAMPLES["subtitle.reorder"](platform)
        assert isinstance(operation, Reorder)
        first, second = operation.shown
        came = ("new", second)
        assert operation.complete_order(operation.shown) == (second, first)
        assert operation.complete_order(came) == (second, "new")
        assert operation.conflicts(operation.shown, came) == (f"not found: {first}", "1 added; new rows will be last")
        assert operation.conflicts(operation.shown, (second, first)) == ("somebody else moved rows",)
        assert operation.confirmation(operation.shown, ()).level is ConfirmLevel.NONE
        assert operation.confirmation(came, ("gone: a",)).level is ConfirmLevel.ASK
