"""Profiles: ways to treat requests that the document does not describe.

`documented` is the default (platform-api.md). `strict` refuses more requests, to find mistakes of a client. `lenient`
accepts more, like a platform that forgives mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from livedeck.simulator.errors import SimulatorError, invalid
from livedeck.simulator.models import MAX_PER_PAGE, ListQuery, check

M = TypeVar("M", bound=BaseModel)
Profile = Literal["documented", "strict", "lenient"]
PROFILES: tuple[str, ...] = get_args(Profile)


def check_profile(name: str) -> None:
    """Raise SimulatorError for an unknown profile."""
    if name not in PROFILES:
        raise SimulatorError(f"a profile is one of {', '.join(PROFILES)}, not {name!r}")


def refuse_undocumented(request: Request, query: Collection[str], headers: Collection[str]) -> None:
    """Raise the documented error for a request that `strict` refuses. `query`, `headers`: documented names.

    Refused are unknown names in the query, unknown `X-` header fields, and a body without a `Content-Type`.
    """
    documented = {name.lower() for name in headers}
    unknown = [name for name in dict(request.query_params) if name not in query]
    unknown += [name for name in dict(request.headers) if name.startswith("x-") and name not in documented]
    faults = [(name, "unknown parameter") for name in unknown]
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if has_body and "content-type" not in request.headers:
        faults.append(("Content-Type", "must be given"))
    if faults:
        raise invalid(*faults)


def check_leniently(model: type[M], given: Any) -> M:
    """Return `given` as a `model`, as `lenient` does: without unknown fields, and with `per_page` moved into its range.

    Raises the documented error for all other faults.
    """
    if issubclass(model, ListQuery) and isinstance(given, Mapping):
        given = {**given, **_page_in_range(given.get("per_page", ""))}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        return check(model, _without(given, [fault["loc"] for fault in found if fault["type"] == "extra_forbidden"]))


def _page_in_range(written: str) -> dict[str, str]:
    """Return the nearest allowed value as `{"per_page": value}`; `{}` for a text that is no number."""
    if not (written.isascii() and written.isdecimal()):
        return {}
    return {"per_page": str(min(max(int(written[:20]), 1), MAX_PER_PAGE))}


def _without(given: Any, places: Collection[tuple[str | int, ...]]) -> Any:
    """Return a copy of `given` without the values at `places`."""
    kept = deepcopy(given)
    for *path, last in places:
        holder = kept
        for part in path:
            holder = holder[part]
        del holder[last]
    return kept
