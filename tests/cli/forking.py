"""Runs command lines in processes that are forked off an interpreter with everything imported: cheap, and real.

Reads a JSON object a line: `arguments`, `stdin`, `stdout`, `stderr` (each
`null`, `full`, `closed`, `broken` or a path).
Answers with the exit code. A child makes its streams anew, as an interpreter does when it starts.
"""

from __future__ import annotations

import io
import json
import os
import sys
from importlib import import_module

from livedeck.cli import PLACES


def open_stream(number: int, spec: str) -> None:
    """Put a stream of that kind at a descriptor."""
    os.close(number)
    if spec == "closed":
        return
    if spec == "broken":
        reader, writer = os.pipe()
        os.close(reader)
        if writer != number:
            os.dup2(writer, number)
            os.close(writer)
        return
    path = {"null": os.devnull, "full": "/dev/full"}.get(spec, spec)
    flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
    descriptor = os.open(path, flags, 0o600)
    if descriptor != number:
        os.dup2(descriptor, number)
        os.close(descriptor)


def text_stream(number: int, spec: str) -> io.TextIOWrapper | None:
    """Return the stream as Python has it at the start of a process: None if the descriptor is closed."""
    if spec == "closed":
        return None
    mode = "rb" if number == 0 else "wb"
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(open(number, mode), encoding="utf-8", errors=errors, line_buffering=number == 2)


def run_line(line: dict[str, object]) -> int:
    """Run a line in a child. Returns its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        specs = [str(line[name]) for name in ("stdin", "stdout", "stderr")]
        for number, spec in reversed([*enumerate(specs)]):
            open_stream(number, spec)
        sys.stdin, sys.stdout, sys.stderr = (text_stream(*pair) for pair in enumerate(specs))
        sys.argv = ["livedeck", *map(str, line["arguments"])]  # type: ignore[call-overload]
        from livedeck.__main__ import start

        start()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001  what Python would print as a traceback
        import traceback

        os.write(2, traceback.format_exc().encode())
        code = 71
    finally:
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except BaseException:  # noqa: BLE001  Python says so at its end, and makes it 120
            code = 120
        os._exit(code)


def serve() -> None:
    """Reply line by line, on the descriptors that were open at the start."""
    requests, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    for text in requests:
        code = run_line(json.loads(text))
        answers.write(f"{code}\n")
        answers.flush()


if __name__ == "__main__":
    for module in ("objects.groups", *{place.partition(":")[0] for place in PLACES.values()}):
        import_module(f"livedeck.cli.{module}")
    serve()
