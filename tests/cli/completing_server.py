"""Answers a stand-in for `livedeck` on the path of a shell: completes as the program does, and records other calls.

Arguments: the socket to listen on, the file of records, and the file of errors. Each request is the environment and
the arguments of one call, as `marshal` writes them. A completion runs the program itself, in a fork of this process,
which has imported everything. Any other call is recorded as one JSON list a line, and not run.
"""

from __future__ import annotations

import gc
import io
import json
import marshal
import os
import signal
import socket
import sys
from pathlib import Path

import livedeck.cli.completion  # noqa: F401  imported once, for every child
from livedeck.__main__ import start

ASKED = b"_LIVEDECK_COMPLETE"


def complete(environment: dict[bytes, bytes], output: int, errors: int) -> None:
    """Run the program in a child with these descriptors as its standard output and errors."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    code = 71
    try:
        os.environb.clear()
        os.environb.update(environment)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        sys.argv = ["livedeck"]
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(number, "w"), encoding="utf-8") for number in (1, 2))
        start()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:  # noqa: BLE001  what Python would print as a traceback
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def serve(path: str, records: Path, errors: Path) -> None:
    """Answer until the process is ended."""
    with socket.socket(socket.AF_UNIX) as listener, errors.open("ab") as error_file:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as request:
                environment, arguments = marshal.loads(request.read())
                if ASKED in environment:
                    complete(environment, connection.fileno(), error_file.fileno())
                else:
                    with records.open("a", encoding="utf-8") as file:
                        file.write(f"{json.dumps(arguments)}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    serve(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
