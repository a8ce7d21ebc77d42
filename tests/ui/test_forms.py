"""Forms: visible controls for the mouse, names in place of ids, and buttons that stay visible."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.screen import Screen
from textual.widget import Widget

from breadth import slow
from livedeck.operations.schema import Field, Suggestion, format_entry, suggested
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.inputs import MultiSelectInput, ReferenceInput, SelectInput, TextInput, TickInput
from ui.deck_stage import Stage, deck_stage
from ui.meeting import agree, meeting

CONCERTS = "Concerts"


def control(stage: Stage, name: str) -> Widget:
    """Return the control of a field in the form in front."""
    (found,) = [widget for widget in stage.deck.screen.query(Widget) if _name_of(widget) == name]
    return found


def _name_of(widget: Widget) -> str:
    return str(getattr(getattr(widget, "field", None), "name", ""))


def reference(stage: Stage, name: str = "parent_id") -> ReferenceInput:
    """Return the reference control of that name in the form in front."""
    found = control(stage, name)
    assert isinstance(found, ReferenceInput)
    return found


def folder(stage: Stage, name: str) -> str:
    """Return the id of a project or folder."""
    return next(id_ for id_, known in stage.simulator.folders() if known == name)


async def test_a_folder_is_found_by_its_name_and_sent_as_its_id() -> None:
    async with deck_stage() as stage:
        event, concerts = stage.choose("Untitled event"), folder(stage, CONCERTS)
        await stage.act("event.move")
        await stage.enter("concer")
        found = [suggestion.name for suggestion in reference(stage).open_list]
        assert found == [CONCERTS, "Open air"], "a name goes before what is said of another"
        await stage.press("enter")
        label = f"{CONCERTS} …{concerts[-4:]}"
        assert reference(stage).text == label
        await stage.press("ctrl+s")
        assert stage.shows(Confirm)
        assert f"moves from none to {label}" in " ".join(stage.text().replace("│", " ").split())
        await agree(stage)
        assert (await stage.event(event)).parent_id == concerts


async def test_a_pasted_id_is_taken_as_it_is_and_one_that_is_known_has_its_name_again() -> None:
    async with deck_stage() as stage:
        stage.choose("Untitled event")
        await stage.act("event.edit")
        reference(stage).focus()
        await stage.enter(folder(stage, CONCERTS))
        await stage.press("ctrl+s")
        assert f"Project or folder: none → {CONCERTS} …" in stage.text()
        await stage.press("escape")
        reference(stage).focus()
        await stage.press("ctrl+u")
        await stage.enter("0e1d9f7a-0000-4000-8000-00000000ffff")
        assert "sent unchanged, as an id" in stage.text()
        assert reference(stage).entry() == "0e1d9f7a-0000-4000-8000-00000000ffff"


async def test_what_was_chosen_last_is_suggested_first_from_then_on() -> None:
    async with deck_stage() as stage:
        stage.choose("Untitled event")
        for name in ("Open air", "Campus"):
            await stage.act("event.move")
            await stage.press("ctrl+u")
            await stage.enter(name)
            await stage.press("ctrl+s")
            await agree(stage)
            await stage.act("app.ask")
            await stage.settle()
        await stage.act("event.create")
        reference(stage).focus()
        await stage.press("down")
        assert [suggestion.name for suggestion in reference(stage).open_list][:2] == ["Campus", "Open air"]
        assert reference(stage).open_list[0].note.startswith("last used")


async def test_escape_closes_the_list_before_it_leaves_the_form() -> None:
    async with deck_stage() as stage:
        await stage.act("event.create")
        reference(stage).focus()
        await stage.press("down")
        assert reference(stage).open_list
        await stage.press("escape")
        assert stage.shows(Form)
        assert not reference(stage).open_list
        await stage.press("escape")
        assert not stage.shows(Form)


async def test_a_mouse_turns_what_a_key_turns() -> None:
    async with deck_stage((120, 40)) as stage:
        await stage.act("event.create")
        kind, start, qualities = (control(stage, name) for name in ("type", "auto_start", "video.presets"))
        assert isinstance(kind, SelectInput)
        assert isinstance(start, TickInput)
        assert isinstance(qualities, MultiSelectInput)
        await stage.pilot.click(kind, offset=(16, 0))
        await stage.pilot.click(start, offset=(2, 0))
        await stage.pilot.click(qualities, offset=(18, 0))
        assert (kind.entry, start.entry, qualities.entry) == ("recurring", True, ("720p",))
        await stage.pilot.click("#cancel")
        assert "Your input will be lost." in stage.text()


async def test_a_suggestion_is_taken_by_a_click() -> None:
    async with deck_stage((120, 40)) as stage:
        await stage.act("event.create")
        field = reference(stage)
        field.focus()
        await stage.press("down")
        wanted = field.open_list[2]
        await stage.pilot.click(field, offset=(field.size.width + 8, 2))
        assert field.entry() == wanted.id


Opener = Callable[[Stage], Awaitable[None]]


async def _new_event(stage: Stage) -> None:
    await stage.act("event.create")


async def _edit_event(stage: Stage) -> None:
    stage.choose("Choir, hall B")
    await stage.act("event.edit")
    control(stage, "name").focus()
    await stage.press("ctrl+u")


@pytest.mark.parametrize("opener", [_new_event, _edit_event])
@pytest.mark.parametrize("size", [(60, 20), *slow((80, 24), (120, 40), (200, 60))], ids=str)
async def test_the_buttons_and_the_verdict_stay_in_sight(opener: Opener, size: tuple[int, int]) -> None:
    async with deck_stage(size) as stage:
        await opener(stage)
        await stage.press("ctrl+s")
        screen = stage.deck.screen.region
        for name in ("save", "cancel", "verdict"):
            assert screen.contains_region(stage.deck.screen.query_one(f"#{name}").region)
        assert "✖ 1 field: Name" in stage.text()
        assert "Cancel esc" in stage.text()
        assert control(stage, "name").has_focus, "it goes to the field that is wrong"


async def test_the_owner_of_a_room_is_chosen_by_name() -> None:
    async with meeting() as stage:
        await stage.act("room.create")
        await stage.enter("Board")
        await stage.press("tab", "down", "enter", "ctrl+s")
        await stage.idle()
        assert stage.writes == [("POST", "/v1/meet/rooms")]


def test_a_name_that_two_have_names_neither() -> None:
    known = [Suggestion("a-0001", "Hall"), Suggestion("b-0002", "Hall"), Suggestion("c-0003", "Studio")]
    typed = ("hall", "Hall …0002", "STUDIO ", "x")
    assert [suggested(text, known) for text in typed] == ["hall", "b-0002", "c-0003", "x"]


def test_of_a_name_that_contains_an_address_a_field_hides_the_secret_part_alone() -> None:
    """It is kept out of the field and its changes, and sent as it came where nobody types another one."""
    name = "Gala, tickets at https://tickets.example/?token=5be1"
    field = Field("name", "Name", required=True)
    control = TextInput(field, name)
    assert (control.text, control.placeholder) == ("", "unchanged: Gala, tickets at https://tickets.example?••••")
    assert control.entry() == name
    assert format_entry(field, name) == "Gala, tickets at https://tickets.example?••••"


async def test_the_first_picture_of_a_form_is_the_whole_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels, remarks and buttons come with the fields, in one paint."""
    pictures: list[list[str]] = []
    refresh = Screen._compositor_refresh

    def noting(screen: Screen[Any]) -> None:
        refresh(screen)
        if isinstance(screen, Form):
            pictures.append([strip.text for strip in screen._compositor.render_strips(screen.size)])

    monkeypatch.setattr(Screen, "_compositor_refresh", noting)
    for size in ((80, 24), (120, 40), (200, 60)):
        pictures.clear()
        async with deck_stage(size) as stage:
            await _new_event(stage)
            first = "\n".join(pictures[0])
            assert all(
                words in first for words in ("Name  ", "one-time", "Reconnect window", "Cancel  esc", "Create  ^S")
            )
            if size[0] > 80:  # there a scroll bar comes once the height is known
                assert pictures[0] == pictures[-1] == stage.rows()
