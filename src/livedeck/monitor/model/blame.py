"""Result of a failed call, and the cause of missing data, as frozen values."""

from __future__ import annotations

from enum import StrEnum

from livedeck.record import Record


class Sight(StrEnum):
    """Kind of a failed call, which shows the cause.

    NO_CONNECTION: no connection was made (no name, no route, TLS, proxy). CLOSED: the connection was refused.
    NO_TIME: no connection was made in time. SILENCE: no reply on a new connection. UNDECIDED: no reply on an older
    connection. BREAK: the connection broke before the reply was complete. FOREIGN: a reply that
    does not claim to be JSON, or a redirect. PACE: too many requests. TOKEN: the token was refused, or a payment is
    due. REQUEST, FAULT: an error 4xx or 5xx in the platform's form. GATEWAY: an error in another form. UNREADABLE:
    JSON that is broken, or not as documented. CACHED: a reply from a cache, made before the request.
    UNSENT: this machine could not send the request. WORKSPACE: the token shows another workspace.
    """

    NONE = ""
    NO_CONNECTION = "no connection"
    CLOSED = "closed"
    NO_TIME = "no time"
    SILENCE = "silence"
    UNDECIDED = "undecided"
    BREAK = "break"
    FOREIGN = "foreign"
    PACE = "pace"
    TOKEN = "token"  # noqa: S105  a name
    REQUEST = "request"
    FAULT = "fault"
    GATEWAY = "gateway"
    UNREADABLE = "unreadable"
    CACHED = "cached"
    UNSENT = "unsent"
    WORKSPACE = "workspace"


class Failure(Record):
    """Failed call. `status`: HTTP status; None without a reply. `reason`: details in words."""

    sight: Sight = Sight.NONE
    status: int | None = None
    reason: str = ""


NO_FAILURE = Failure()


class Culprit(StrEnum):
    """Cause of missing data, the nearest to this process first. NONE: no data is missing. UNKNOWN: cause not proven."""

    NONE = ""
    OWN_STOP = "own stop"
    OWN_SLOWNESS = "own slowness"
    COLLECTOR = "collector"
    OWN_LINK = "own link"
    STRANGER = "stranger"
    REFUSAL = "refusal"
    PLATFORM = "platform"
    LIST = "list"
    STREAM = "stream"
    UNKNOWN = "unknown"


class Blame(Record):
    """Nearest cause that explains missing data, in a text for one line, and advice in a sentence.

    `short`: the cause in a few words, to follow "not known since 21:14:07Z: ".
    """

    cause: Culprit = Culprit.NONE
    text: str = ""
    advice: str = ""
    short: str = ""

    @property
    def is_own(self) -> bool:
        """True if this process slept, was stopped or is slow. Any further cause is then unknown."""
        return self.cause in {Culprit.OWN_STOP, Culprit.OWN_SLOWNESS}


NO_BLAME = Blame()
