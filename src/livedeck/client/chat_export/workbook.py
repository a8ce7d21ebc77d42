"""Messages of a chat log made into a workbook. Rows wait in a folder of their own, so that memory stays as it is."""

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

"""What a sheet holds, its header among them; more goes on in the next one."""


_LONGEST = 32_767

"""UTF-16 units that a cell holds; what is longer goes on in the cells behind the last column."""


_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "use_zip64": True,
}


class WorkbookWriter:
    """An `.xlsx` file in the making: every cell is text, so that nothing is computed or rounded.

    `spilled`: messages that took more than one cell. To be used as a context manager, from one thread at a time.
    """

    def __init__(self) -> None:
        try:
            from xlsxwriter import Workbook
        except ImportError:
            raise Misconfigured("the format xlsx needs a package more: install livedeck[export]") from None
        self._folder = TemporaryDirectory(prefix="livedeck-export-")
        self._path = Path(self._folder.name, "book.xlsx")
        self._book = Workbook(self._path, {**_OPTIONS, "tmpdir": self._folder.name})
        self._sheet: Any = None
        self._row = ROWS
        self.spilled = 0

    def add(self, items: Sequence[ChatMessageDict]) -> None:
        """These messages, the next ones of the book. Raises OSError where the disk is full."""
        for item in items:
            self._write(as_cells(item))

    def store(self, file: IO[bytes]) -> None:
        """The whole book, written to that file. Raises OSError."""
        from xlsxwriter.exceptions import FileCreateError

        if self._sheet is None:
            self._turn()
        self._book.filename = file
        try:
            self._book.close()
        except FileCreateError as error:
            raise OSError(*getattr(error.args[0], "args", (str(error),))) from error

    def close(self) -> None:
        """Let go of what waits in the folder."""
        for sheet in self._book.worksheets():
            with suppress(OSError):
                sheet.row_data_fh.close()
        self._folder.cleanup()

    def _write(self, cells: Sequence[str]) -> None:
        if self._row == ROWS:
            self._turn()
        further = len(FIELDS)
        for column, cell in enumerate(cells):
            head, *rest = parts(cell)
            self._sheet.write_string(self._row, column, head)
            for part in rest:
                self._sheet.write_string(self._row, further, part)
                further += 1
        self.spilled += further > len(FIELDS)
        self._row += 1

    def _turn(self) -> None:
        """Begin the next sheet."""
        number = len(self._book.worksheets()) + 1
        self._sheet = self._book.add_worksheet("Chat" if number == 1 else f"Chat {number}")
        self._sheet.freeze_panes(1, 0)
        for column, name in enumerate(FIELDS):
            self._sheet.write_string(0, column, name)
        self._row = 1


def parts(cell: str) -> Iterable[str]:
    """A text in pieces that a cell holds; one piece nearly always."""
    if len(cell) <= _LONGEST // 2:
        return [cell]
    step = _LONGEST if max(cell) <= "\uffff" else _LONGEST // 2
    return [cell[start : start + step] for start in range(0, len(cell), step)]
