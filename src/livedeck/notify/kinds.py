"""Table of the kinds of targets. The settings read it, so the code of a target is imported when a target is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from livedeck.egress import Egress
    from livedeck.notify.targets import CheckedTarget, Post


MAX_SECRETS = 2
"""Maximum number of keys that sign a webhook. With two keys, a receiver can change from the old to the new one."""


class Means(NamedTuple):
    """Everything that a target may need to send a message.

    Attributes:
        post: Sends HTTP requests through the platform's proxy and certificates.
        check_address: Raises TargetError for an address that `post` cannot use.
        variables: Environment of a child process.
        egress: Rule for the allowed receivers.
        origin: 8 digits that stand for the platform's address.
    """

    post: Post
    check_address: Callable[[str], None]
    variables: Mapping[str, str]
    egress: Egress
    origin: str = ""


class Given(NamedTuple):
    """Settings of one target.

    `secret`: empty if none is set. `options`: name -> value, for the options of the target's kind that are set.
    """

    address: str
    secret: str = ""
    options: Mapping[str, str] = MappingProxyType({})


class TargetKind(NamedTuple):
    """Kind of target. The settings of the kind, their checks and the settings template are made from this entry.

    Attributes:
        address: Description of the address, for the settings.
        make: Makes a target; raises TargetError.
        secret: Description of the secret; empty if the kind has none.
        options: Name of another setting, which is no secret -> its description.
        extra: Extra of livedeck that the kind needs, or empty.
        needs_end: A message about the end must follow each beginning.
        acknowledges: A target of this kind takes the acknowledgement of an alarm.
    """

    address: str
    make: Callable[[Means, Given], CheckedTarget]
    secret: str = ""
    options: Mapping[str, str] = MappingProxyType({})
    extra: str = ""
    needs_end: bool = False
    acknowledges: bool = False


def _make_webhook(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.targets import TargetError, Webhook

    means.check_address(given.address)
    secrets = tuple(filter(None, map(str.strip, given.secret.splitlines())))
    if len(secrets) > MAX_SECRETS:
        raise TargetError("the secret has more than two lines; write the new key in one line, the old one in another")
    return Webhook(means.post, given.address, secrets)


def _make_alertmanager(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.services import Alertmanager

    means.check_address(given.address)
    return Alertmanager(means.post, given.address, means.origin)


def _make_pagerduty(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.services import PagerDuty

    api = given.options.get("api", "https://events.pagerduty.com")
    means.check_address(api)
    return PagerDuty(means.post, given.address, api)


def _make_slack(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.services import Slack, SlackHook
    from livedeck.notify.targets import TargetError

    if "://" in given.address:
        means.check_address(given.address)
        return SlackHook(means.post, given.address)
    if not given.options.get("channel"):
        raise TargetError("a bot token needs `channel`: the id of a channel that the bot has joined, such as C0123ABCD")
    api = given.options.get("api", "https://slack.com")
    means.check_address(api)
    return Slack(means.post, given.address, given.options["channel"], api)


def _make_teams(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.services import Teams

    means.check_address(given.address)
    return Teams(means.post, given.address)


def _make_apprise(means: Means, given: Given) -> CheckedTarget:
    from livedeck.notify.targets import AppriseTarget

    return AppriseTarget(given.address, means.variables, egress=means.egress)


TARGETS: Mapping[str, TargetKind] = MappingProxyType(
    {
        "webhook": TargetKind(
            "the address of a webhook",
            _make_webhook,
            secret="the key that signs the webhook, or two keys in two lines",  # noqa: S106  words
        ),
        "alertmanager": TargetKind("the address of Alertmanager", _make_alertmanager, needs_end=True),
        "pagerduty": TargetKind(
            "the integration key of PagerDuty (Events API v2)",
            _make_pagerduty,
            options={"api": "address of the API, such as `https://events.eu.pagerduty.com`"},
            needs_end=True,
            acknowledges=True,
        ),
        "slack": TargetKind(
            "a bot token of Slack, or an incoming webhook",
            _make_slack,
            options={
                "channel": "id of the channel, needed with a bot token of Slack",
                "api": "address of the API, such as `https://slack-gov.com`",
            },
        ),
        "teams": TargetKind("the address of a workflow of Teams", _make_teams),
        "apprise": TargetKind("an address of apprise", _make_apprise, extra="notify"),
    }
)
"""Every kind of target by its name. The names of its settings begin with it: `webhook_command`, `webhook_file`."""

OPTIONS: Mapping[str, str] = MappingProxyType(
    {name: words for kind in TARGETS.values() for name, words in kind.options.items()}
)
"""Every option of a kind of target by its name, in words."""
