"""One try of a service of apprise: the program that `AppriseTarget` runs, and kills when it takes too long.

Started by its path: no other module of ours is imported, so that a try costs what apprise costs.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from math import ceil


def main() -> None:
    """Read the request from stdin; answer on stdout, in JSON: whether it was taken, and why not in words."""
    answers = os.dup(1)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # what a service prints is no answer
    request = json.load(sys.stdin.buffer)
    signal.alarm(ceil(request["limit"]))  # who asked may be gone
    import apprise

    service = apprise.Apprise()
    service.add(request["address"])
    result = service.notify(
        body=request["body"],
        title=request["title"],
        notify_type=apprise.NotifyType(request["type"]),
        body_format=apprise.NotifyFormat.TEXT,
    )
    words = "; ".join(entry.message for entry in result.logs())
    os.write(answers, json.dumps([bool(result), words[:_MAX_WORDS]]).encode())
    os._exit(0)  # a thread of apprise may hang, and would be waited for


_MAX_WORDS = 10_000

if __name__ == "__main__":
    main()
