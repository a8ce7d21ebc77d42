"""Mails as they arrive: sent by apprise to a server of another maker, which refuses, forgets and disconnects."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

import pytest

from livedeck.notify import DEAD, SENT, WAITING, AppriseTarget, Message, Notifier, Plan, Sender, Spool, Spooled
from notify.sinks import LOOPBACK, Mailbox, http_sink, smtp_sink
from notify.stage import Desk, alarm
from notify.test_notifier import play, tell

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what apprise imports

READER = "ops@example.org"
NAMES = {
    "a header more": "show\r\nBcc: thief@example.org\r\n\r\nbody",
    "a new line": "first\nSubject: second",
    "pictures": "🔴 live 🎬 Ünïcödé 夜",
    "too long": "x" * 1000,
    "markup": "<img src=x onerror=alert(1)> **bold** &amp; %s {title}",
    "a lone half of a letter": "half \ud83d of one",
    "an end of mail": "\r\n.\r\nMAIL FROM:<thief@example.org>",
    "an encoded word": "=?utf-8?q?=0D=0ABcc=3A_thief?=",
}


def target(box: Mailbox) -> AppriseTarget:
    """Return a target at the mail server."""
    return AppriseTarget(
        f"mailto://127.0.0.1:{box.port}/?from=deck@example.org&to={READER}&mode=insecure", egress=LOOPBACK
    )


def told(name: str) -> Message:
    """Return a message about one alarm of an event with that name."""
    desk = Desk()
    desk.put(alarm(name, actual=f"{name} is silent"))
    return desk.watch(6)[0]


def plain(mail: EmailMessage) -> str:
    """Return the text for readers without HTML."""
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n").strip()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_a_mail_says_title_and_text_to_its_reader_whatever_the_event_is_called(name: str) -> None:
    sent = told(name)
    with smtp_sink() as box:
        delivery = await target(box).send(sent)
    assert (delivery.is_taken, delivery.answer) == (True, "delivered by apprise")
    (mail,), (readers,) = box.mails, box.readers
    assert readers == [READER]
    assert (mail["To"].addresses[0].addr_spec, mail["From"].addresses[0].addr_spec) == (READER, "deck@example.org")
    assert mail["Bcc"] is mail["Cc"] is None
    assert mail["Idempotency-Key"] == sent.key
    assert mail["Subject"].split() == sent.title.replace("=?", "= ?").split()
    assert not {*mail["Subject"]} & {*"\r\n"}
    assert plain(mail) == sent.text.strip()
    rich = mail.get_body(("html",))
    assert rich is None or "<img" not in rich.get_content()


async def test_a_mail_carries_each_link_unbroken() -> None:
    desk = Desk()
    desk.plan = Plan(desk.plan.routes, Sender(has_links=True))
    desk.put(alarm("one"), alarm("two"))
    (message,) = desk.watch(6)
    links = {
        beginning.life: f"https://watch.example/v1/link/{number * 300}"
        for number, beginning in zip("ab", message.beginnings, strict=True)
    }
    with smtp_sink() as box:
        await target(box).send(message.linked(links))
    words = plain(box.mails[0]).split()
    assert [word for word in words if word.startswith("https://")] == [*links.values()]


def marked(path: Path) -> list[tuple[str, Spooled]]:
    """Return every message of a spool with its state."""
    spool = Spool(path, reads=True)
    found = [(state, spooled) for state in (WAITING, SENT, DEAD) for spooled in spool.messages(state)]
    spool.close()
    return found


@pytest.mark.parametrize(
    ("to_readers", "to_mails"),
    [
        (["451 4.7.1 greylisted, come back later"] * 3, []),
        (["421 4.3.2 the server shuts down"], []),
        (["550 5.7.1 no such reader"] * 2, []),
        ([], ["452 4.3.1 no room", "554 5.7.0 it looks like spam"]),
        (["450 4.2.0 busy"], ["451 4.3.0 try again"]),
    ],
)
def test_what_a_server_refuses_is_tried_again_under_its_key(
    tmp_path: Path, to_readers: list[str], to_mails: list[str]
) -> None:
    refusals = len(to_readers) + len(to_mails)
    with smtp_sink() as box:
        box.to_readers, box.to_mails = [*to_readers], [*to_mails]

        async def work(notifier: Notifier) -> None:
            await tell(notifier, "one")
            await asyncio.sleep(60)
            assert notifier.waiting == 0

        play(tmp_path / "spool", target(box), work)
    (mail,) = box.mails
    ((state, spooled),) = marked(tmp_path / "spool")
    assert (state, spooled.tries) == (SENT, refusals + 1)
    assert mail["Idempotency-Key"] == spooled.message.key


def test_a_server_that_is_gone_gets_the_mail_when_it_is_back(tmp_path: Path) -> None:
    with smtp_sink() as gone:
        receiver = target(gone)

    async def work(notifier: Notifier) -> None:
        await tell(notifier, "one")
        await asyncio.sleep(400)
        assert notifier.failure.reason.startswith("ops has taken nothing since ")
        with smtp_sink(gone.port) as back:
            await asyncio.sleep(400)
        assert [mail["Subject"] for mail in back.mails] == ["CRIT NO_INGEST ONE"]
        assert (notifier.failure.reason, notifier.waiting) == ("", 0)

    play(tmp_path / "spool", receiver, work)


async def test_why_a_mail_did_not_go_is_said_in_words() -> None:
    with smtp_sink() as gone:
        receiver = target(gone)
    delivery = await receiver.send(told("one"))
    assert not delivery.is_taken
    assert delivery.answer.startswith("apprise failed: Connection error")


@dataclass
class Tarpit:
    """Mail server that begins a greeting and never ends it. It records its connections."""

    port: int = 0
    came: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    left: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send a letter, and nothing more until the client leaves."""
        writer.write(b"2")
        self.came.release()
        with suppress(ConnectionResetError):
            await reader.read()
        self.left.release()
        writer.close()


@asynccontextmanager
async def tarpit() -> AsyncIterator[Tarpit]:
    """Yield such a server on a free port of loopback."""
    made = Tarpit()
    async with await asyncio.start_server(made.hold, "127.0.0.1", 0) as server:
        made.port = server.sockets[0].getsockname()[1]
        yield made


def stuck(pit: Tarpit, limit: float = 3600.0) -> AppriseTarget:
    """Return a target at that server, with a timeout longer than any test."""
    query = "from=deck@example.org&to=ops@example.org&mode=insecure&cto=3600"
    return AppriseTarget(f"mailto://deck:of-the-mail-77@127.0.0.1:{pit.port}/?{query}", limit=limit, egress=LOOPBACK)


async def test_mails_that_hang_keep_nothing_else_from_its_work_and_end_when_they_are_told_to() -> None:
    """As many as any pool of threads has here, and more."""
    async with tarpit() as pit:
        tries = [asyncio.create_task(stuck(pit).send(told("one"))) for _ in range(8)]
        for _ in tries:
            await asyncio.wait_for(pit.came.acquire(), 60)
        with http_sink() as sink:
            healthy = AppriseTarget(sink.address.replace("http://", "json://"), egress=LOOPBACK)
            delivery = await asyncio.wait_for(healthy.send(told("two")), 60)
        assert (delivery.answer, await asyncio.wait_for(asyncio.to_thread(str, "of the loop"), 60)) == (
            "delivered by apprise",
            "of the loop",
        )
        assert not any(task.done() for task in tries)
        for task in tries:
            task.cancel()
        assert {type(end) for end in await asyncio.gather(*tries, return_exceptions=True)} == {asyncio.CancelledError}
        for _ in tries:
            await asyncio.wait_for(pit.left.acquire(), 60)


async def test_a_mail_that_hangs_is_given_up_at_its_limit_and_nothing_is_left_of_it() -> None:
    others = children()
    async with tarpit() as pit:
        delivery = await stuck(pit, limit=0.5).send(told("one"))
        assert delivery.answer == "apprise failed: not finished within 0.5 s"
        assert children() <= others


async def test_nobody_reads_an_address_of_apprise_off_the_list_of_processes() -> None:
    others = children()
    async with tarpit() as pit:
        sending = asyncio.create_task(stuck(pit).send(told("one")))
        await asyncio.wait_for(pit.came.acquire(), 60)
        (child,) = children() - others
        shown = [(child / name).read_bytes() for name in ("cmdline", "environ")]
        sending.cancel()
        await asyncio.wait_for(pit.left.acquire(), 60)
    assert all(shown)
    assert not any(b"of-the-mail" in text or b"ops@example.org" in text for text in shown)


def children() -> set[Path]:
    """Return the child processes of this process."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system lists no processes there")
    found = set[Path]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            _, parent, *_ = stat.read_text().rpartition(")")[2].split()
            found |= {stat.parent} if int(parent) == os.getpid() else set()
    return found
