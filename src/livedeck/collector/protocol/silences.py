"""Conversion of silences to the JSON of requests and replies, and back (collector.md, "Silences"). Pure."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AwareDatetime, ConfigDict, Field

from livedeck.collector.protocol.commands import Body
from livedeck.monitor import Matcher, MatchField, MatchOp, Severity, SilenceDraft
from livedeck.monitor.model.matching import MAX_CHARS
from livedeck.text.times import format_timestamp


class MatcherBody(Body):
    """Condition on a property of an alarm."""

    model_config = ConfigDict(
        json_schema_extra={
            "additionalProperties": False,
            "if": {"properties": {"field": {"const": "severity"}, "op": {"enum": ["=", "!="]}}},
            "then": {"properties": {"value": {"enum": [*map(str, Severity)]}}},
        }
    )

    field: MatchField
    op: MatchOp = MatchOp.IS
    value: Annotated[str, Field(max_length=MAX_CHARS)]


class DraftBody(Body):
    """Body of a request that adds a silence. Names as in SilenceDraft.

    `preview`: only return what the silence would cover.
    """

    matchers: tuple[MatcherBody, ...]
    seconds: float
    comment: str
    starts_at: AwareDatetime | None = None
    passes: Severity | None = None
    until_end_of: str = ""
    everything: bool = False
    preview: bool = False


class Extension(Body):
    """Body of a request that extends a silence by `seconds`."""

    seconds: float


def body_of(draft: SilenceDraft) -> dict[str, Any]:
    """Return the body of the request that adds a silence. Send its uid as the header Idempotency-Key."""
    return {
        "matchers": [
            {"field": matcher.field.value, "op": matcher.op.value, "value": matcher.value} for matcher in draft.matchers
        ],
        "seconds": draft.seconds,
        "comment": draft.comment,
        "starts_at": draft.starts_at and format_timestamp(draft.starts_at),
        "passes": draft.passes and draft.passes.value,
        "until_end_of": draft.until_end_of,
        "everything": draft.is_everything,
    }


def draft_of(body: DraftBody, actor: str, uid: str) -> SilenceDraft:
    """Return the silence that `actor` requests. `uid`: idempotency key of the request. Raises ValueError."""
    return SilenceDraft(
        tuple(Matcher.of(matcher.field, matcher.op, matcher.value) for matcher in body.matchers),
        body.seconds,
        body.comment,
        body.starts_at,
        body.passes,
        body.until_end_of,
        body.everything,
        actor,
        uid,
    )
