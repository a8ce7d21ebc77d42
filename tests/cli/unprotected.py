"""The command without one of its two protections: `unprotected.py text|terminal ARGUMENTS...`"""

from __future__ import annotations

import sys
from typing import Any

from livedeck.text import outside


def without_text_protection() -> None:
    """Show text from outside unchanged. Modules that import these functions must be imported later."""

    def as_it_came(text: Any) -> Any:
        return text

    def typed(before: str, text: Any) -> Any:  # noqa: ARG001  the face of the other
        return text

    outside.shown, outside.escaped, outside.shown_after = as_it_came, as_it_came, typed


def without_terminal_protection() -> None:
    """Write everything to the terminal unchanged."""
    from livedeck.ui.kit.output_filter import ControlFilter, OutputFilter

    def passed(_: OutputFilter, data: str) -> str:
        return data

    def kept(_: ControlFilter, segments: Any, __: Any) -> Any:
        return segments

    setattr(OutputFilter, "apply", passed)  # noqa: B010
    setattr(ControlFilter, "apply", kept)  # noqa: B010


if __name__ == "__main__":
    {"text": without_text_protection, "terminal": without_terminal_protection}[sys.argv.pop(1)]()
    from livedeck.cli import main

    main()
