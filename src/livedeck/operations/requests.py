"""Operation that sends any request, for changes at endpoints that have no operation of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from livedeck.operations.diff import Change
from livedeck.operations.operation import ConfirmLevel, Operation, Platform, SendContext, Target
from livedeck.text.secrets import mask_named
from livedeck.text.values import safe


@dataclass(frozen=True, slots=True)
class SendRequest(Operation[None]):
    """Send a request that changes the platform. livedeck knows neither the object nor the effect of the change.

    `path`: path below the base address, without its query. `params`: query. `body`: JSON; None for no body.
    """

    name = "api.request"
    verb = "send"
    past = "sent"
    kind = "request"
    level = ConfirmLevel.ASK
    help = "Send a request of any kind"
    no_evidence = "livedeck does not know which read would show the change"

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    body: object = None

    @property
    def target(self) -> Target:
        return Target(self.kind, "", safe(f"{self.method} {self.path}", 200))

    @property
    def seen(self) -> None:
        return None

    @property
    def changes(self) -> tuple[Change, ...]:
        fields = self.body if isinstance(self.body, dict) else {} if self.body is None else {"body": self.body}
        return tuple(
            Change(safe(str(name), 60), "", safe(json.dumps(mask_named(value, str(name)), ensure_ascii=False), 200))
            for name, value in (*self.params.items(), *fields.items())
        )

    async def read(self, _platform: Platform) -> None:
        return None

    async def send(self, context: SendContext[None], /) -> object:
        return await context.api.request(self.method, self.path, json=self.body, params=self.params)
