"""Export of messages to a workbook. Rows wait in a temporary folder, so that memory stays constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from livedeck.client.chat_export.filter import ChatMessageDict
from livedeck.client.chat_export.formats import FIELDS, as_cells
from livedeck.client.http.errors import Misconfigured

ROWS = 1_048_576
"""Maximum number of rows of a sheet with its header; further messages go to the next sheet."""

_MAX_CELL = 32_767
"""Maximum number of UTF-16 units in a cell; a longer text goes on in the cells after the last column."""

_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "use_zip64": True,
}


class WorkbookWriter:
    """Writer of an `.xlsx` file. Every cell is text, so that spreadsheets neither evaluate nor round values.

    `split_messages`: number of messages in more than one cell. Use the writer as a context manager, from one thread at
    a time.
    """

    def __init__(self) -> None:
        try:
            from xlsxwriter import Workbook
        except ImportError:
            raise Misconfigured(
                "the format xlsx needs another package: pip install '.[export]' in the checkout"
            ) from None
        self._folder = TemporaryDirectory(prefix="livedeck-export-")
        self._path = Path(self._folder.name, "workbook.xlsx")
        self._workbook = Workbook(self._path, {**_OPTIONS, "tmpdir": self._folder.name})
        self._sheet: Any = None
        self._row = ROWS
        self.split_messages = 0

    def add(self, messages: Sequence[ChatMessageDict]) -> None:
        """Add messages. Raises OSError if the disk is full."""
        for message in messages:
            self._write_row(as_cells(message))

    def store(self, file: IO[bytes]) -> None:
        """Write the workbook to `file`. Raises OSError."""
        from xlsxwriter.exceptions import FileCreateError

        if self._sheet is None:
            self._start_sheet()
        self._workbook.filename = file
        try:
            self._workbook.close()
        except FileCreateError as error:
            raise OSError(*getattr(error.args[0], "args", (str(error),))) from error

    def close(self) -> None:
        """Remove the temporary folder."""
        for sheet in self._workbook.worksheets():
            with suppress(OSError):
                sheet.row_data_fh.close()
        self._folder.cleanup()

    def _write_row(self, cells: Sequence[str]) -> None:
        if self._row == ROWS:
            self._start_sheet()
        next_column = len(FIELDS)
        for column, cell in enumerate(cells):
            first, *rest = split_cell(cell)
            self._sheet.write_string(self._row, column, first)
            for part in rest:
                self._sheet.write_string(self._row, next_column, part)
                next_column += 1
        self.split_messages += next_column > len(FIELDS)
        self._row += 1

    def _start_sheet(self) -> None:
        number = len(self._workbook.worksheets()) + 1
        self._sheet = self._workbook.add_worksheet("Chat" if number == 1 else f"Chat {number}")
        self._sheet.freeze_panes(1, 0)
        for column, name in enumerate(FIELDS):
            self._sheet.write_string(0, column, name)
        self._row = 1


def split_cell(cell: str) -> Iterable[str]:
    """Return a text in parts that fit into a cell."""
    if len(cell) <= _MAX_CELL // 2:
        return [cell]
    step = _MAX_CELL if max(cell) <= "\uffff" else _MAX_CELL // 2
    return [cell[start : start + step] for start in range(0, len(cell), step)]
