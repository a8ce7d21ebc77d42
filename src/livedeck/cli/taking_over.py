"""From the skeleton to the screen: Textual finds the terminal as the person left it, on the screen that is up."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from livedeck.cli import skeleton


class _Driver(LinuxDriver):
    """Takes the terminal from the skeleton, at the last moment: an app that ends before leaves it to be lowered."""

    def start_application_mode(self) -> None:
        """The screen, from here to `stop_application_mode`."""
        skeleton.hand_over()
        super().start_application_mode()  # type: ignore[no-untyped-call]


def taking_over(app: App[Any]) -> None:
    """Have that app take the terminal over when it runs."""
    if app.driver_class is LinuxDriver:
        app.driver_class = _Driver
