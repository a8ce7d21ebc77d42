"""A notification goes only to a receiver that the settings allow, and never to a host that a reply names.

The receivers are raw sockets in a process of their own, which count every byte. Addresses of loopback stand for hosts.
"""

from __future__ import annotations

import ast
import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apprise
import pytest

from client.certificates import make_certificates, needs_openssl, server_context
from livedeck.client import Outgoing, Reply
from livedeck.egress import Egress
from livedeck.environment import sender_variables
from livedeck.notify import WAITING, AppriseTarget, Delivery, Heartbeat, Notifier, Spool, TargetError, Vitals, Webhook
from notify.sinks import http_sink, smtp_sink
from notify.stage import NOW
from notify.test_notifier import play
from notify.test_notifier import tell as announce
from notify.test_targets import message
from virtual_clock import VirtualClock

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what apprise imports

EVERYWHERE = Egress.of(["127.0.0.0/8", "::1"])
NOWHERE = Egress()
STATUSES = [301, 302, 303, 307, 308]
PLACES = {
    "another host": "http://127.0.0.2:{1}/x",
    "another host by its name alone": "//127.0.0.2:{1}/x",
    "another port": "http://127.0.0.1:{1}/x",
    "another path": "/elsewhere",
}
SERVICES = {
    "form": "form://{host}:{port}/hook",
    "json": "json://{host}:{port}/hook",
    "xml": "xml://{host}:{port}/hook",
    "ntfy": "ntfy://{host}:{port}/topic",
    "gotify": "gotify://{host}:{port}/AbCdEfGhIjKlMno",
    "mailto": "mailto://{host}:{port}/?from=deck@example.org&to=ops@example.org&mode=insecure&smtp={host}",
}
WEB = [name for name in SERVICES if name != "mailto"]
NOT_FOLLOWED = "a redirect, which is not followed: use the final address"
THANKS = "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nok"


@dataclass
class Sinks:
    """Process of the receivers: its ports, and a way to read what each received."""

    process: subprocess.Popen[str]
    ports: list[int]

    def counts(self) -> list[tuple[int, int]]:
        """Return connections and bytes so far, for each socket."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [(connections, size) for connections, size in json.loads(self.process.stdout.readline())]


@contextmanager
def raw_sinks(*wanted: Sequence[Any]) -> Iterator[Sinks]:
    """Yield sockets with a host, a port (0: a free one) and a reply each."""
    command = [sys.executable, str(Path(__file__).with_name("raw_sink.py")), json.dumps(wanted)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield Sinks(process, json.loads(process.stdout.readline()))
        finally:
            process.stdin.close()


def away(status: int, place: str) -> str:
    """Return a reply that redirects by its header and by its page."""
    page = f'<meta http-equiv="refresh" content="0; url={place}">'
    head = f"HTTP/1.1 {status} Away\nLocation: {place}\nRefresh: 0; url={place}\n"
    return f"{head}Content-Type: text/html\nConnection: close\n\n{page}"


async def beat(egress: Egress, address: str) -> str:
    """Return the result of the heartbeat to an address."""
    said: list[str] = []

    class Ended(Exception):  # noqa: N818
        pass

    class Steps(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            if self._tick:
                raise Ended
            self._tick += seconds

    clock = Steps(NOW)
    async with Outgoing(egress=egress) as outgoing:
        with pytest.raises(Ended):
            await Heartbeat(outgoing.send, address, lambda: Vitals(clock.now(), clock.now()), clock, said.append).run()
    return " ".join(said)


async def post(egress: Egress, address: str, **way: Any) -> Delivery:
    """Send to a webhook, and return the result."""
    async with Outgoing(egress=egress, **way) as outgoing:
        return await Webhook(outgoing.send, address).send(message())


async def tell(egress: Egress, service: str, host: str, port: int) -> Delivery:
    """Send by a service of apprise, and return the result."""
    address = SERVICES[service].format(host=host, port=port)
    return await AppriseTarget(address, sender_variables({"NO_PROXY": "*"}), egress=egress).send(message())


# Redirects


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("status", STATUSES)
async def test_neither_webhook_nor_heartbeat_follows_a_redirect_though_the_place_is_allowed(
    status: int, place: str
) -> None:
    with raw_sinks(("127.0.0.1", 0, away(status, place)), ("127.0.0.1", 0, THANKS)) as sinks:
        port = sinks.ports[1]
        with raw_sinks(("127.0.0.2", port, THANKS)) as other:
            delivery = await post(EVERYWHERE, f"http://127.0.0.1:{sinks.ports[0]}/hook")
            said = await beat(EVERYWHERE, f"http://127.0.0.1:{sinks.ports[0]}/ping")
            assert other.counts() == [(0, 0)]
        (asked, size), nobody = sinks.counts()
    assert (asked, nobody) == (2, (0, 0))
    assert size > 0
    assert delivery == Delivery(is_taken=False, answer=f"{status} {NOT_FOLLOWED}")
    assert said == f"heartbeat failed: {status} {NOT_FOLLOWED}"


async def is_not_followed(service: str, status: int, place: str) -> None:
    """Check that one try of a service does not follow a redirect."""
    with raw_sinks(("127.0.0.1", 0, away(status, place)), ("127.0.0.1", 0, THANKS)) as sinks:
        with raw_sinks(("127.0.0.2", sinks.ports[1], THANKS)) as other:
            delivery = await tell(EVERYWHERE, service, "127.0.0.1", sinks.ports[0])
            assert other.counts() == [(0, 0)]
        (asked, size), nobody = sinks.counts()
    assert (asked, nobody) == (1, (0, 0))
    assert size > len(message().title)
    assert delivery == Delivery(is_taken=False, answer=f"apprise failed: {status} {NOT_FOLLOWED}")


@pytest.mark.parametrize("service", WEB)
async def test_no_service_of_apprise_follows_a_redirect_though_the_place_is_allowed(service: str) -> None:
    await is_not_followed(service, 307, PLACES["another host"])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("service", WEB)
async def test_no_service_of_apprise_follows_any_redirect(service: str, status: int, place: str) -> None:
    await is_not_followed(service, status, place)


async def test_a_page_that_leads_elsewhere_is_an_answer_like_any_other() -> None:
    with raw_sinks(("127.0.0.1", 0, away(200, PLACES["another port"])), ("127.0.0.1", 0, THANKS)) as sinks:
        assert (await post(EVERYWHERE, f"http://127.0.0.1:{sinks.ports[0]}/hook")).is_taken
        assert (await tell(EVERYWHERE, "form", "127.0.0.1", sinks.ports[0])).is_taken
        assert sinks.counts()[1] == (0, 0)


@needs_openssl
async def test_no_redirect_takes_a_message_out_of_tls(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)
    with raw_sinks(("127.0.0.1", 0, THANKS)) as clear, http_sink(tls=server_context(certificates)) as sink:
        sink.status, sink.headers = 307, {"Location": f"http://127.0.0.1:{clear.ports[0]}/"}
        delivery = await post(EVERYWHERE, sink.address, ca_file=certificates.authority)
        address = sink.address.replace("https://", "jsons://")
        told = await AppriseTarget(f"{address}/?verify=no", egress=EVERYWHERE).send(message())
        assert clear.counts() == [(0, 0)]
    assert len(sink.received) == 2
    assert delivery.answer == f"307 {NOT_FOLLOWED}"
    assert told.answer == f"apprise failed: 307 {NOT_FOLLOWED}"


def test_an_address_that_asks_for_redirects_is_refused_before_it_is_used() -> None:
    with pytest.raises(TargetError, match="remove redirect="):
        AppriseTarget("form://ops.example/hook?redirect=yes")
    AppriseTarget("form://ops.example/hook?redirect=no")


def test_every_request_of_every_service_heeds_the_option_against_redirects() -> None:
    """Else another release of apprise would follow them, and nobody would know."""
    heeded = {"False", "self.redirects", "self.allow_redirects", "False if credentials else self.redirects"}
    senders = {"requests", "session", "self.session", "self.http_session", "self._session"}
    calls, strays = 0, []
    for path in Path(apprise.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            sender, _, verb = ast.unparse(node.func).rpartition(".")
            is_request = sender in senders and verb in {"get", "post", "put", "patch", "delete", "head", "request"}
            if is_request or {"timeout", "verify", "data"} <= {*given}:
                calls += 1
                if given.get("allow_redirects") not in heeded:
                    strays.append(f"{path.name}:{node.lineno} {ast.unparse(node.func)}")
    assert strays == []
    assert calls > 150


# Hosts


@pytest.mark.parametrize(
    ("host", "named"),
    [
        ("127.0.0.1", "127.0.0.1 is on this machine"),
        ("localhost", "localhost (127.0.0.1) is on this machine"),
        ("[::1]", "::1 is on this machine"),
        ("127.9.9.9", "127.9.9.9 is on this machine"),
    ],
)
async def test_this_machine_is_sent_nothing_unless_the_settings_name_it(host: str, named: str) -> None:
    bare = host.strip("[]")
    with raw_sinks(("::1" if ":" in host else "0.0.0.0", 0, THANKS)) as sinks:
        (port,) = sinks.ports
        refused = [
            await post(NOWHERE, f"http://{host}:{port}/hook"),
            await tell(NOWHERE, "form", host, port),
            await tell(NOWHERE, "mailto", host, port) if host != "[::1]" else None,
        ]
        said = await beat(NOWHERE, f"http://{host}:{port}/ping")
        assert sinks.counts() == [(0, 0)]
        mend = f'to allow it, set allow_private = ["{bare}"] in [notify]'
        for delivery in filter(None, refused):
            assert (delivery.is_taken, delivery.is_refused) == (False, False)
            assert delivery.answer.startswith(f"not sent: {bare} ")
            assert delivery.answer.endswith(f"is on this machine; {mend}")
        assert f"not sent: {bare} " in said
        assert said.endswith(mend)
        allowed = Egress.of([bare])
        assert (await post(allowed, f"http://{host}:{port}/hook")).is_taken
        assert (await tell(allowed, "form", host, port)).is_taken
        assert sinks.counts()[0][0] == 2
    assert named.startswith(bare)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0",
        "0.0.0.0",
        "localhost.",
        "LOCALHOST",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
    ],
)
async def test_no_spelling_of_this_machine_is_sent_a_byte(host: str) -> None:
    """https, for over http most are refused for their spelling alone."""
    with raw_sinks(("0.0.0.0", 0, THANKS)) as sinks:
        (port,) = sinks.ports
        with raw_sinks(("::1", port, THANKS)) as six:
            for address in (f"https://{host}:{port}/hook", f"http://{host}:{port}/hook"):
                delivery = await post(NOWHERE, address)
                assert not delivery.is_taken
                words = ("this machine", "https, or http to loopback", "Invalid IPv4", "no reply (dns)")
                assert any(part in delivery.answer for part in words)
            for service in ("form", "json"):
                try:
                    delivery = await tell(NOWHERE, service, host, port)
                except TargetError:  # apprise itself takes no such host
                    continue
                assert "this machine" in delivery.answer
            assert six.counts() == [(0, 0)]
        assert sinks.counts() == [(0, 0)]


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "[fd00::1]", "[fe80::1]"])
async def test_private_networks_are_not_even_connected_to(host: str) -> None:
    """A refusal comes at once: no packet is waited for."""
    for delivery in (await post(NOWHERE, f"https://{host}/hook"), await tell(NOWHERE, "form", host, 80)):
        assert delivery.answer.startswith(f"not sent: {host.strip('[]')} is on a ")


def test_a_refused_message_waits_for_other_settings_and_raises_the_alarm_of_a_silent_target(tmp_path: Path) -> None:
    async def refuse(*_: object) -> Reply:
        return Reply(0, Egress().refusal("ops.lan", "10.0.0.5"))

    async def work(notifier: Notifier) -> None:
        await announce(notifier, "one")
        await asyncio.sleep(400)
        assert notifier.failure.reason.startswith("ops has taken nothing since ")

    play(tmp_path / "spool", Webhook(refuse, "https://ops.lan/"), work)
    spool = Spool(tmp_path / "spool", reads=True)
    (waiting,) = spool.messages(WAITING)
    spool.close()
    assert waiting.tries > 1
    assert waiting.answer == (
        'not sent: ops.lan (10.0.0.5) is on a private network; to allow it, set allow_private = ["ops.lan"] in [notify]'
    )


async def test_over_plain_http_a_message_stays_on_this_machine_whatever_its_name_leads_to() -> None:
    delivery = await on_moving_names({"localhost": [["198.51.100.7"]]}, Egress.of(["localhost"]), "http://localhost:1/")
    assert delivery.answer == (
        "not sent: http is allowed only on this machine, and localhost (198.51.100.7) is elsewhere; use https"
    )


# Names that move


async def on_moving_names(names: dict[str, list[list[str]]], egress: Egress, address: str) -> Delivery:
    """Send to a webhook whose name has the next addresses at each lookup; the last ones stay."""
    loop = asyncio.get_running_loop()
    found = loop.getaddrinfo

    async def look_up(host: Any, port: Any, **hints: Any) -> Any:
        answers = names.get(str(host))
        if not answers:
            return await found(host, port, **hints)
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [entry for each in addresses for entry in await found(each, port, **hints)]

    loop.getaddrinfo = look_up  # type: ignore[method-assign]
    try:
        return await post(egress, address)
    finally:
        del loop.getaddrinfo


@pytest.mark.parametrize(
    ("answers", "reaches"),
    [
        ([["127.0.0.1"], ["127.0.0.2"]], [1, 0]),
        ([["127.0.0.2"], ["127.0.0.1"]], [0, 0]),
        ([["127.0.0.2", "127.0.0.1"]], [1, 0]),
        ([["127.0.0.1", "127.0.0.2"]], [1, 0]),
        ([["127.0.0.2", "127.0.0.3"]], [0, 0]),
        ([["127.0.0.9", "127.0.0.1"]], [1, 0]),
    ],
)
async def test_what_is_connected_to_is_what_was_checked(answers: list[list[str]], reaches: list[int]) -> None:
    """127.0.0.1 and 127.0.0.9, where nobody listens, are allowed; 127.0.0.2 is another's host."""
    rule = Egress.of(["127.0.0.1", "127.0.0.9"])
    with raw_sinks(("127.0.0.1", 0, THANKS)) as allowed:
        (port,) = allowed.ports
        with raw_sinks(("127.0.0.2", port, THANKS)) as other:
            delivery = await on_moving_names({"moving.example": answers}, rule, f"https://moving.example:{port}/")
            connections = [allowed.counts()[0], other.counts()[0]]
    assert [count for count, _ in connections] == reaches
    assert connections[1] == (0, 0)
    assert ("not sent: moving.example (127.0.0.2) is on this machine" in delivery.answer) is not any(reaches)


async def test_an_address_that_does_not_answer_does_not_keep_a_message_from_the_next_one() -> None:
    with raw_sinks(("127.0.0.1", 0, THANKS)) as sinks, ExitStack() as stack:
        address = ("127.0.0.9", sinks.ports[0])
        stack.enter_context(socket.create_server(address, backlog=0))  # it accepts nobody
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        await on_moving_names(
            {"moving.example": [["127.0.0.9", "127.0.0.1"]]}, EVERYWHERE, f"https://moving.example:{address[1]}/"
        )
        ((connections, size),) = sinks.counts()
    assert (connections, size > 0) == (1, True)


# The process of a try by itself


async def try_alone(address: str, allowed: list[str], proxy: str = "") -> dict[str, Any]:
    """Run the process of a try whose address was not checked before, and return its reply."""
    request = {
        "address": address,
        "allowed": allowed,
        "proxy": proxy,
        "body": "CONNECT 127.0.0.1:1 HTTP/1.1\nA message",
        "title": "of a test",
        "type": "info",
        "limit": 60,
    }
    program = Path(sys.modules[AppriseTarget.__module__].__file__ or "").with_name("apprise_child.py")
    variables = sender_variables({"HTTPS_PROXY": proxy} if proxy else {"NO_PROXY": "*"})
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-P", str(program)],
        input=json.dumps(request).encode(),
        capture_output=True,
        env=variables,
        check=True,
        timeout=120,
    )
    return dict(json.loads(done.stdout))


async def test_the_process_of_a_try_checks_every_connection_itself() -> None:
    with raw_sinks(("127.0.0.1", 0, THANKS)) as sinks:
        (port,) = sinks.ports
        for service in ("form", "mailto"):
            answer = await try_alone(SERVICES[service].format(host="127.0.0.1", port=port), [])
            assert not answer["is_taken"]
            assert answer["refusal"].startswith(
                "not sent: 127.0.0.1 is on this machine; to allow it, set allow_private"
            )
        assert sinks.counts() == [(0, 0)]
        for allowed in ("localhost", "127.0.0.0/8"):
            answer = await try_alone(SERVICES["form"].format(host="localhost", port=port), [allowed])
            assert (answer["is_taken"], answer["refusal"]) == (True, "")
        assert sinks.counts()[0][0] == 2
        answer = await try_alone(SERVICES["form"].format(host="127.0.0.1", port=port), ["localhost"])
        assert answer["refusal"]  # a name allows its host, and no other way to the same address


async def test_a_service_that_hides_its_look_up_is_sent_nothing_unless_its_host_is_named() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        address = f"rsyslog://localhost:{receiver.getsockname()[1]}"
        answer = await try_alone(address, ["127.0.0.1"])
        assert answer["refusal"].startswith("not sent: this service does not show the address of localhost")
        with pytest.raises(BlockingIOError):
            receiver.recv(1)
        assert (await try_alone(address, ["localhost"]))["is_taken"]
        assert b"A message" in receiver.recv(10_000)


@pytest.mark.parametrize("address", ["syslog://", "syslog://local0"])
async def test_a_service_of_this_machine_is_used_only_where_the_settings_name_it(address: str) -> None:
    delivery = await AppriseTarget(address, egress=NOWHERE).send(message())
    assert delivery.answer == (
        'not sent: syslog:// is on this machine; to allow it, set allow_private = ["localhost"] in [notify]'
    )
    assert (await try_alone(address, []))["refusal"].startswith("not sent: a program or the system's log is on this")


async def test_through_a_proxy_addresses_are_checked_and_nothing_else_takes_it() -> None:
    refusing = "HTTP/1.1 403 No\nContent-Length: 0\nConnection: close\n\n"
    with raw_sinks(("127.0.0.1", 0, refusing)) as sinks:
        proxy = f"http://127.0.0.1:{sinks.ports[0]}"
        for host in ("10.0.0.1", "169.254.169.254", "127.0.0.1", "localhost"):
            delivery = await post(NOWHERE, f"https://{host}/hook", proxy=proxy)
            assert delivery.answer.startswith(f"not sent: {host} ")
            answer = await try_alone(f"jsons://{host}/hook", [], proxy)
            assert answer["refusal"].startswith(f"not sent: {host} ")
            answer = await try_alone(f"json://{host}:1/hook", [], proxy)
            assert answer["refusal"].startswith(f"not sent: {host} ")
        opened, size = sinks.counts()[0]
        assert size == 0  # apprise had connected to the proxy, and asked it for nothing
        await post(NOWHERE, "https://ops.example/hook", proxy=proxy)
        assert not (await try_alone("jsons://ops.example/hook", [], proxy))["refusal"]
        asked, size = sinks.counts()[0]
        assert (asked - opened, size > 0) == (2, True)


async def test_a_try_takes_neither_proxy_nor_password_from_where_it_is_not_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("default login deck password of-the-netrc-55\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with http_sink() as proxy, http_sink() as sink:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        address = sink.address.replace("http://", "json://")
        async with Outgoing() as outgoing:
            variables = sender_variables(outgoing.proxy_variables())
        assert (await AppriseTarget(address, variables, egress=EVERYWHERE).send(message())).is_taken
    (received,) = sink.received
    assert "authorization" not in received.headers
    assert proxy.received == []


def test_a_proxy_of_the_environment_counts_where_the_settings_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "studio.lan")
    assert Outgoing().proxy_variables() == {"NO_PROXY": "*"}
    heeding = Outgoing(use_environment=True).proxy_variables()
    assert heeding == {"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "studio.lan"}
    assert Outgoing(proxy="http://other.example:1").proxy_variables() == {"HTTPS_PROXY": "http://other.example:1"}


async def test_a_mail_goes_to_a_private_server_that_the_settings_name() -> None:
    with smtp_sink() as box:
        assert not (await tell(NOWHERE, "mailto", "127.0.0.1", box.port)).is_taken
        assert box.mails == []
        assert (await tell(Egress.of(["127.0.0.1"]), "mailto", "127.0.0.1", box.port)).is_taken
    assert len(box.mails) == 1
