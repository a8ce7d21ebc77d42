"""The table of the kinds of targets. The settings read it, so the targets themselves are imported when one is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from livedeck.egress import Egress
    from livedeck.notify.targets import CheckedTarget, Post


class Means(NamedTuple):
    """Everything that a target may need to send.

    `post`: sends HTTP requests through the platform's proxy and certificates. `check_address`: raises TargetError for
    an address that `post` cannot use. `variables`: environment of a child process. `egress`: the rule for receivers.
    """

    post: Post
    check_address: Callable[[str], None]
    variables: Mapping[str, str]
    egress: Egress


class TargetKind(NamedTuple):
    """A kind of target. Its settings, their checks and the template follow from this entry.

    `address`: the address in words, for the settings. `make`: makes a target from an address and a secret, which is
    empty if none is set; raises TargetError. `secret`: the secret in words; empty if the kind has none. `extra`: the
    extra of livedeck that the kind needs, or empty.
    """

    address: str
    make: Callable[[Means, str, str], CheckedTarget]
    secret: str = ""
    extra: str = ""


def _make_webhook(means: Means, address: str, secret: str) -> CheckedTarget:
    from livedeck.notify.targets import Webhook

    means.check_address(address)
    return Webhook(means.post, address, secret)


def _make_apprise(means: Means, address: str, _secret: str) -> CheckedTarget:
    from livedeck.notify.targets import AppriseTarget

    return AppriseTarget(address, means.variables, egress=means.egress)


TARGETS: Mapping[str, TargetKind] = MappingProxyType(
    {
        "webhook": TargetKind("the address of a webhook", _make_webhook, secret="the key that signs the webhook"),  # noqa: S106  words
        "apprise": TargetKind("an address of apprise", _make_apprise, extra="notify"),
    }
)
"""Every kind of target by its name, which begins the names of its settings: `webhook_command`, `webhook_file`."""
