"""First start without a platform: a demo, or a form. The settings of the form are tried before they are saved."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from livedeck.operations.schema import Field, FieldKind, FieldValues, FormResult, FormSchema, FormState
from livedeck.text.times import TimeReference
from livedeck.ui.kit import themes
from livedeck.ui.kit.dialogs.dialog import Button, Timer
from livedeck.ui.kit.dialogs.form import Form
from livedeck.ui.kit.dialogs.modal import STYLES
from livedeck.ui.kit.driver import INTERRUPTED
from livedeck.ui.kit.terminal import FilteredApp


class Choice(StrEnum):
    """Choice of a person at the first start. DECK: use the platform whose settings were tried and saved."""

    DEMO = "demo"
    DECK = "deck"


TYPED, FILE, COMMAND, ENVIRONMENT = "typed here", "a file", "a command", "LIVEDECK_TOKEN"

WELCOME = """\
livedeck watches and steers the live events of a video platform.

No platform is set up yet. Try the demo with a simulated platform, without an account. Or connect your platform: \
you need its address and a token of your workspace."""


@dataclass(frozen=True, slots=True)
class PlatformSettings:
    """Settings from the form. `values`: settings by name. `token`: typed token, unmasked, or empty."""

    values: Mapping[str, Any]
    token: str = ""


TryOut = Callable[[PlatformSettings], Awaitable[str]]
"""Function that tries settings on the platform. Returns an error message, or an empty text on success."""

Save = Callable[[PlatformSettings], str]
"""Function that saves settings. Returns an error message, or an empty text on success. Runs in a thread."""


def _check_addresses(values: Mapping[str, object]) -> object:
    for name, value in values.items():
        if name.endswith("_url") and not str(value).startswith(("https://", "http://")):
            raise ValueError("should begin with https://")
    return values


SCHEMA = FormSchema(
    (
        Field("base_url", "Address", required=True, hint="https:// address of the API"),
        Field("upload_url", "Upload address", hint="only if it differs"),
        Field("source", "Token from", FieldKind.CHOICE, choices=(TYPED, FILE, COMMAND, ENVIRONMENT)),
        Field(
            "token",
            "Token",
            FieldKind.HIDDEN,
            required=True,
            hint="Saved to a file only you can read",
            only_for=("source", TYPED),
        ),
        Field("file", "File", required=True, hint="path of the file with the token", only_for=("source", FILE)),
        Field("command", "Command", required=True, hint="command that prints the token", only_for=("source", COMMAND)),
    ),
    _check_addresses,
)


class Welcome(FilteredApp[Choice]):
    """Screen of the first start. Returns None if the person leaves."""

    CSS_PATH: ClassVar[list[str | PurePath]] = ["../app.tcss", STYLES]
    TITLE = "livedeck"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", show=False),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("right,down", "app.focus_next", show=False),
        Binding("left,up", "app.focus_previous", show=False),
    ]

    def __init__(self, try_out: TryOut, save: Save, timer: Timer, *, theme: str = themes.AUTO) -> None:
        super().__init__(timer)
        for textual_theme in themes.textual_themes():
            self.register_theme(textual_theme)
        self.theme = themes.select_theme(theme, no_color=self.no_color, color_system=self.console.color_system)
        self._try_out, self._save, self._timer = try_out, save, timer
        self._form_state = FormState(
            "Connect a platform", SCHEMA, {**SCHEMA.empty(), "source": TYPED}, button="Connect"
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome", classes="dialog"), Vertical(classes="dialog-box"):
            yield Static(Content(WELCOME))
            with Horizontal(classes="dialog-keys"):
                yield Button("Demo", id=Choice.DEMO)
                yield Button("Connect", id="connect")
                yield Button("Leave", id="leave")

    def on_mount(self) -> None:
        self.query_one(f"#{Choice.DEMO}").focus()

    def action_interrupt(self) -> None:
        """Leave with the exit code of SIGINT."""
        self.exit(return_code=INTERRUPTED)

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if message.button == Choice.DEMO:
            self.exit(Choice.DEMO)
        elif message.button == "leave":
            self.exit(None)
        else:
            self._ask()

    def _ask(self) -> None:
        if isinstance(self.screen, Form):  # the button was pressed twice at once
            return
        self.push_screen(Form(self._form_state, self._timer, _time_reference), self._saved)

    def _saved(self, result: FormResult | None) -> None:
        if result is not None:
            self.run_worker(self._connect(result), group="connect", exclusive=True)

    async def _connect(self, result: FormResult) -> None:
        """Try the settings and save them. If this fails, show the form again with its entries and the reason."""
        try:
            settings = platform_settings(result.entries)
            error = await self._try_out(settings) or await asyncio.to_thread(self._save, settings)
        except ValueError as invalid:
            error = str(invalid)
        if not error:
            self.exit(Choice.DECK)
            return
        self._form_state = replace(self._form_state, entered=result.entries, note=error)
        self._ask()


def _time_reference() -> TimeReference:
    return TimeReference(datetime.now(UTC))


def platform_settings(entries: FieldValues) -> PlatformSettings:
    """Convert the entries of the form into settings. Raises ValueError if a needed entry is missing."""
    source = str(entries["source"])
    values: dict[str, Any] = {"base_url": str(entries["base_url"]).strip()}
    if entries["upload_url"]:
        values["upload_url"] = str(entries["upload_url"]).strip()
    if source == TYPED:
        if not entries["token"]:
            raise ValueError("type the token, or choose another source for it")
        return PlatformSettings(values, str(entries["token"]))
    if source == ENVIRONMENT:
        return PlatformSettings(values)
    name = "file" if source == FILE else "command"
    place = str(entries[name]).strip()
    if not place:
        raise ValueError("type the path of the token's file" if source == FILE else "type the token's command")
    values[f"token_{name}"] = place if source == FILE else shlex.split(place)
    return PlatformSettings(values)
