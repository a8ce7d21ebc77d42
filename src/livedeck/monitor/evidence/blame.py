"""Rules for the cause of missing data. They name the nearest cause that explains the missing data. Pure.

From near to far: own stop, own slowness, own link, something in between, refusal, failure of the platform, its list,
the stream. Nothing shows whether a farther cause exists as well. This file has the words of API_BLIND, RATE_LIMITED,
LIST_WRONG and QOS_STALE.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from livedeck.client import (
    STAND_IN,
    ApiError,
    Cause,
    Forbidden,
    PaymentRequired,
    RateLimited,
    Redirected,
    Rejected,
    ServerFault,
    Unauthorized,
    Unreachable,
    Unreadable,
)
from livedeck.monitor.evidence.workspace import OtherWorkspace
from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.attachment import Silence
from livedeck.monitor.model.blame import NO_BLAME, NO_FAILURE, Blame, Culprit, Failure, Sight
from livedeck.monitor.model.own import WATCHING, NotWatched, OwnState, Why
from livedeck.monitor.model.state import ListDoubt
from livedeck.record import Record

_PAYMENT_REQUIRED, _PROXY_LOGIN, _NETWORK_LOGIN = 402, 407, 511
"""Statuses with a cause or advice of their own. A proxy sends 407 and a network 511; the platform sends neither."""

CAUSES: Mapping[Culprit, str] = MappingProxyType(
    {
        Culprit.OWN_STOP: "This machine slept, livedeck was stopped, or a rehearsal ran ahead.",
        Culprit.OWN_SLOWNESS: "This machine is too slow for its work.",
        Culprit.COLLECTOR: "The collector gives this deck no data.",
        Culprit.OWN_LINK: "This machine cannot reach the platform.",
        Culprit.STRANGER: "Something answers for the platform: a gateway or proxy, a portal, a login page.",
        Culprit.REFUSAL: "The platform, or a gateway in front of it, refuses requests.",
        Culprit.PLATFORM: "The network works, but the platform does not answer properly.",
        Culprit.LIST: "The platform's event list is incomplete, or this token may no longer list every event.",
        Culprit.STREAM: "The platform delivers no fresh metrics for this event.",
        Culprit.UNKNOWN: "The platform, this machine's network, or something between them.",
    }
)
"""Cause -> sentence for a diagnosis."""

_FEWER = "Close other decks and scripts with this token; livedeck polls less often by itself."

_ADVICE: Mapping[Culprit, str] = MappingProxyType(
    {
        Culprit.OWN_STOP: "Wait for the first replies; watch the players.",
        Culprit.OWN_SLOWNESS: "Watch fewer events, use a larger machine, or add a collector; watch the players.",
        Culprit.COLLECTOR: "Run `livedeck doctor` to find the cause; watch the players.",
        Culprit.OWN_LINK: "Check this machine's network and the settings proxy and ca_file; watch the players.",
        Culprit.STRANGER: "Open the platform's address in a browser on this machine, and log in; watch the players.",
        Culprit.REFUSAL: _FEWER,
        Culprit.PLATFORM: "Check the platform's status page; watch the players.",
        Culprit.LIST: "Compare with the platform's web page; new events may be missing here until the list is whole.",
        Culprit.STREAM: "Watch the player itself until metrics are back.",
        Culprit.UNKNOWN: "Check this machine's network and the platform's status page; watch the players.",
    }
)

_STATUS_PAGE = "Check the platform's status page, and any proxy on the way; watch the players."
_PAYMENT = "Check the plan and the balance of the workspace."
_ADVICE_OF: Mapping[Sight, str] = MappingProxyType(
    {
        Sight.UNSENT: "Correct the named setting or file.",
        Sight.TOKEN: "Create a new token in the workspace and store it at the source that the alarm names.",
        Sight.WORKSPACE: "Check the token. To watch the other workspace instead, start livedeck again.",
        Sight.REQUEST: "Check base_url and the rights of the token; watch the players.",
        Sight.CLOSED: "Check base_url, this machine's network and the platform's status page; watch the players.",
        Sight.GATEWAY: _STATUS_PAGE,
        Sight.UNREADABLE: _STATUS_PAGE,
    }
)
"""Failure -> advice that is more exact than the advice of its cause."""

_NO_CONNECTION: Mapping[Cause, str] = MappingProxyType(
    {
        "dns": "the platform's host name does not resolve",
        "route": "this machine finds no way to the platform",
        "tls": "no trusted connection: the certificate at the platform's address, or this machine's ca_file or clock",
        "proxy": "the proxy does not connect to the platform",
    }
)
"""Cause of a missing connection -> words."""

_SHORT: Mapping[Sight, str] = MappingProxyType(
    {
        Sight.CLOSED: "connections are refused",
        Sight.NO_TIME: "no connection in time",
        Sight.SILENCE: "no reply in time",
        Sight.UNDECIDED: "no reply in time",
        Sight.BREAK: "connections break",
        Sight.FOREIGN: "something answers in the platform's place",
        Sight.PACE: "our pace is refused (429)",
        Sight.TOKEN: "the platform refuses the token",
        Sight.UNREADABLE: "the replies cannot be read",
        Sight.CACHED: "the replies come from a cache",
        Sight.UNSENT: "nothing can be sent",
        Sight.WORKSPACE: "the token shows another workspace",
    }
)
"""Failure -> words. Any other failure is described by its status."""


CHECKING = "answers again, checking"
"""Text after an outage, until a list and samples prove that events can be judged."""

UNWATCHED = Blame(Culprit.OWN_STOP, "livedeck did not watch", _ADVICE[Culprit.OWN_STOP], "livedeck did not watch")
"""Blame of a screen without a new snapshot: its monitor hangs, has ended, or was stopped with this process."""

NO_REPLY = Blame(Culprit.UNKNOWN, "no reply", _ADVICE[Culprit.UNKNOWN], "no reply")
"""Blame of a screen whose last good reply is old while no call is known to have failed."""


class Facts(Record):
    """Facts about missing data. Unknown facts keep their default.

    `own`: stops and slowness of this process. `answered`: time of the last good reply (this machine's clock).
    `is_asked_since`: enough calls were made since the last stop of this process, so that stop no longer explains the
    silence. `failure`: last failed call. `slowed_to`: seconds between two polls of an event after refusals of our pace,
    0 without any. `unserved`: number of events on air without a good reply for long. `is_of_event`: only the data of
    one event are missing. `is_frozen`: samples of the event arrive, but their time stands still. `list_doubt`: known
    events that the list lacks. `silence`: silence of the collector that should send the data.
    """

    own: OwnState = WATCHING
    answered: datetime | None = None
    is_asked_since: bool = False
    failure: Failure = NO_FAILURE
    slowed_to: float = 0.0
    unserved: int = 0
    is_of_event: bool = False
    is_frozen: bool = False
    list_doubt: ListDoubt | None = None
    silence: Silence | None = None


def blame(facts: Facts) -> Blame:
    """Return the nearest cause that explains the missing data; NO_BLAME if nothing is missing."""
    if near := _of_own(facts) or _of_collector(facts):
        return near
    if facts.is_of_event:
        return _of_event(facts)
    if facts.failure.sight is Sight.PACE or (facts.slowed_to and facts.failure.sight is Sight.NONE):
        return _of_pace(facts)
    if facts.failure.sight is not Sight.NONE:
        return _of_failure(facts.failure)
    if facts.list_doubt and facts.list_doubt.served:
        return _blame(Culprit.LIST, _list_text(facts.list_doubt), "the list lacks events")
    return NO_BLAME


def with_playlists(found: Blame, cause: Culprit, place: str, words: str) -> Blame:
    """Return the blame of a silent platform, with the evidence of the probed playlists.

    The playlists replace a cause that is unknown or this machine's link, unless a reply came. Even an unreadable reply
    is nearer evidence than a playlist.

    Args:
        found: Blame without the playlists.
        cause: Cause that the playlists show.
        place: Name of this cause.
        words: Evidence of the playlists.
    """
    is_replying = found.short == _SHORT[Sight.UNREADABLE]
    if found.cause in {Culprit.UNKNOWN, Culprit.OWN_LINK, Culprit.NONE} - {cause} and not is_replying:
        return _blame(cause, f"{place}: {words}", place)
    return Blame(found.cause, f"{found.text}; {words}", found.advice, found.short)


def _list_text(doubt: ListDoubt) -> str:
    if doubt.served == doubt.missing:
        return f"the list lacks {doubt.served} of {doubt.listed + doubt.served} events that are still served"
    lacking = f"the list lacks {doubt.missing} of {doubt.listed + doubt.missing} known events"
    return f"{lacking}; at least {doubt.served} {'is' if doubt.served == 1 else 'are'} still served"


def diagnosed(cause: Culprit, *, viewers: str) -> Diagnosis:
    """Return the diagnosis of an alarm kind with this usual cause. `viewers`: effect on viewers."""
    return Diagnosis(CAUSES[cause], viewers, _ADVICE[cause])


def seen(error: ApiError) -> Failure:
    """Return the facts of a failed call that show its cause."""
    if isinstance(error, Unreachable):
        return _unreachable(error)
    if isinstance(error, Unreadable):
        return Failure(Sight.FOREIGN if error.is_foreign else Sight.UNREADABLE, error.status)
    if isinstance(error, Rejected):
        if error.status == _PROXY_LOGIN:
            return Failure(Sight.NO_CONNECTION, error.status, f"the proxy wants a login ({error.status})")
        wanted = "asks for a payment" if isinstance(error, PaymentRequired) else "refuses the token"
        sight = _sight_of_status(error)
        return Failure(sight, error.status, wanted if sight is Sight.TOKEN else "")
    return Failure(Sight.WORKSPACE if isinstance(error, OtherWorkspace) else Sight.UNSENT, reason=str(error))


def is_common(failure: Failure) -> bool:
    """Return whether a failure may have hit every call alike: it was a 5xx, or no reply came.

    Then the platform or the link is the cause, and not the requested object. An error 5xx inside a 200 counts as a 5xx.
    """
    return failure.sight in _COMMON or (failure.status or 0) >= 500


_COMMON = frozenset(
    {Sight.SILENCE, Sight.UNDECIDED, Sight.BREAK, Sight.NO_CONNECTION, Sight.CLOSED, Sight.NO_TIME, Sight.FAULT}
)


def _unreachable(error: Unreachable) -> Failure:
    if error.cause in _NO_CONNECTION:
        return Failure(Sight.NO_CONNECTION, reason=_NO_CONNECTION[error.cause])
    if error.cause == "refused":
        return Failure(Sight.FOREIGN if error.is_connected else Sight.CLOSED)
    if error.is_connected is False:
        return Failure(Sight.NO_TIME)
    if error.cause == "reset":
        return Failure(Sight.BREAK)
    return Failure(Sight.SILENCE if error.is_connected else Sight.UNDECIDED)


def _sight_of_status(error: Rejected) -> Sight:
    if isinstance(error, RateLimited):
        return Sight.PACE
    if isinstance(error, Redirected) or error.status == _NETWORK_LOGIN:
        return Sight.FOREIGN
    if not error.is_documented:
        return Sight.GATEWAY
    if isinstance(error, Unauthorized | Forbidden | PaymentRequired):
        return Sight.TOKEN
    return Sight.FAULT if isinstance(error, ServerFault) else Sight.REQUEST


def _blame(cause: Culprit, text: str, short: str, advice: str = "") -> Blame:
    return Blame(cause, text, advice or _ADVICE[cause], short)


_BY_STOP = frozenset({Sight.NONE, Sight.SILENCE, Sight.UNDECIDED, Sight.BREAK, Sight.NO_CONNECTION, Sight.NO_TIME})
"""Failures that a stop of this process explains: after it, connections are dead and the network needs some time."""

_BY_SLOWNESS = frozenset({Sight.SILENCE, Sight.UNDECIDED, Sight.BREAK, Sight.NO_TIME})
"""Failures that the slowness of this process explains: replies arrive, but are read too late."""

_STOPPED = {Why.SLEPT: "this machine slept", Why.STOPPED: "livedeck was stopped", Why.OUTRUN: "the rehearsal ran ahead"}


def _of_own(facts: Facts) -> Blame | None:
    """Return the cause in this process; None if this process is not the cause, or the platform has replied since."""
    sight, behind = facts.failure.sight, "why this event gets no reply" if facts.is_of_event else _IS_ANSWERING
    stop = _unanswered_stop(facts)
    if stop and sight in _BY_STOP:
        text = f"{_STOPPED[stop.why]} until {stop.until:%H:%M:%S}Z: not known yet {behind}"
        return _blame(Culprit.OWN_STOP, text, _STOPPED[stop.why])
    is_unasked = facts.is_of_event and sight is Sight.NONE and not facts.is_frozen
    if (is_unasked or sight in _BY_SLOWNESS) and facts.own.slowness:
        text = f"this machine is {facts.own.slowness.behind:.0f} s behind: not known {behind}"
        return _blame(Culprit.OWN_SLOWNESS, text, "this machine is slow")
    return None


_IS_ANSWERING = "if the platform answers"


def _of_collector(facts: Facts) -> Blame | None:
    if facts.silence is None:
        return None
    return _blame(Culprit.COLLECTOR, facts.silence.reason, "no data from the collector")


def _unanswered_stop(facts: Facts) -> NotWatched | None:
    """Return the last sleep or stop of this process; None if a reply came since, or enough calls were made since."""
    stop = next((stop for stop in reversed(facts.own.stops) if stop.why is not Why.SLOW), None)
    is_answered = facts.is_asked_since or (stop and facts.answered and facts.answered >= stop.until)
    return None if is_answered else stop


def _of_pace(facts: Facts) -> Blame:
    each = f": each event is polled every {facts.slowed_to:.0f} s" if facts.slowed_to else ""
    unserved = f"; {facts.unserved} on air without a reply" if facts.unserved else ""
    return _blame(Culprit.REFUSAL, f"{_SHORT[Sight.PACE]}{each}{unserved}", _SHORT[Sight.PACE])


_WORDS: Mapping[Sight, tuple[Culprit, str]] = MappingProxyType(
    {
        Sight.UNSENT: (Culprit.OWN_LINK, "nothing was sent: {reason}"),
        Sight.NO_CONNECTION: (Culprit.OWN_LINK, "no connection: {reason}"),
        Sight.CLOSED: (
            Culprit.UNKNOWN,
            "connections are refused: nothing listens at the platform's address, or a firewall refuses",
        ),
        Sight.NO_TIME: (Culprit.UNKNOWN, "no connection to the platform in time: the network, or the platform"),
        Sight.FOREIGN: (Culprit.STRANGER, "something answers in the platform's place (portal, login page, gateway)"),
        Sight.PACE: (Culprit.REFUSAL, "our pace is refused (429)"),
        Sight.TOKEN: (Culprit.REFUSAL, "the network works: the platform {reason} ({answer})"),
        Sight.WORKSPACE: (Culprit.REFUSAL, "the network works: the token shows another workspace"),
        Sight.REQUEST: (Culprit.REFUSAL, "the network works: the platform answers {answer}"),
        Sight.FAULT: (Culprit.PLATFORM, "the network works: the platform answers {answer}"),
        Sight.GATEWAY: (Culprit.STRANGER, f"{STAND_IN} answers {{status}}, not in the platform's error format"),
        Sight.UNREADABLE: (
            Culprit.UNKNOWN,
            "replies arrive, but not as documented: from the platform, or from something that answers for it",
        ),
        Sight.CACHED: (Culprit.STRANGER, "a cache answers in the platform's place"),
        Sight.SILENCE: (Culprit.PLATFORM, "the platform accepts connections but does not reply"),
        Sight.BREAK: (
            Culprit.UNKNOWN,
            "connections break before a reply is complete: the platform, or a proxy or firewall on the way",
        ),
        Sight.UNDECIDED: (
            Culprit.UNKNOWN,
            "no reply so far: the network or the platform; the next connection will show which",
        ),
    }
)
"""Last failure -> the cause that it proves, and its words."""


def _of_failure(failure: Failure) -> Blame:
    cause, words = _WORDS[failure.sight]
    text = words.format(reason=failure.reason, status=failure.status, answer=_answer(failure))
    advice = _PAYMENT if failure.status == _PAYMENT_REQUIRED else _ADVICE_OF.get(failure.sight, "")
    return _blame(cause, text, _short(failure), advice)


def _short(failure: Failure) -> str:
    if failure.sight is Sight.NO_CONNECTION:
        return failure.reason.partition(":")[0]
    by = "something" if failure.sight is Sight.GATEWAY else "the platform"
    return _SHORT.get(failure.sight) or f"{by} answers {_answer(failure)}"


def _answer(failure: Failure) -> str:
    """Return the status of an error reply in words: `503`, or `200 with an error inside`."""
    is_error = failure.status is None or failure.status >= 300
    return f"{failure.status}" if is_error else f"{failure.status} with an error inside"


def _of_event(facts: Facts) -> Blame:
    failure = facts.failure
    if failure.sight is Sight.NONE:
        if facts.is_frozen:
            text = "new samples arrive, but their time stands still"
            return _blame(Culprit.STREAM, text, "the time of its samples stands still")
        return _blame(Culprit.STREAM, "no new sample", "no new sample")
    return _blame(Culprit.STREAM, f"not answered, while other calls are: {_short(failure)}", _short(failure))
