"""Uses of tokens are kept, in bounds: the last use of each token, and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from collector.service import known, secret, service
from livedeck.atomic_file import BackgroundWriter
from livedeck.collector.serving.ledger import MAX_COUNTED, MAX_NAMED, REFUSALS_SECONDS, USES_SECONDS, Ledger, read_uses
from livedeck.monitor import ActionRecord, AuditOutcome
from virtual_clock import VirtualClock


@dataclass
class Book:
    """Running ledger, and the entries that it put into the audit."""

    path: Path
    clock: VirtualClock = field(default_factory=VirtualClock)
    records: list[ActionRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.path, self._keep, self.clock)

    async def _keep(self, record: ActionRecord) -> None:
        self.records.append(record)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let the ledger write during the block."""
        task = asyncio.create_task(self.ledger.run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List of texts that were given to the writer of the file of last uses."""
    found: list[str] = []
    write = BackgroundWriter.write

    def noted(writer: BackgroundWriter, text: str) -> None:
        found.append(text)
        write(writer, text)

    monkeypatch.setattr(BackgroundWriter, "write", noted)
    return found


async def test_however_often_tokens_are_used_the_file_is_written_once_a_minute(
    tmp_path: Path, writes: list[str]
) -> None:
    book = Book(tmp_path / "uses")
    async with book.running():
        for second in range(600):
            for token in range(20):
                book.ledger.note_use(f"digest-{token}", f"192.0.2.{second % 250}")
            await book.clock.run(book.clock.sleep(1))
    assert 10 <= len(writes) <= 600 / USES_SECONDS + 2
    last = read_uses(book.path)["digest-7"]
    assert (last.at, last.peer) == (book.clock.now() - timedelta(seconds=1), "192.0.2.99")


async def test_last_uses_are_read_again_and_the_newer_counts(tmp_path: Path) -> None:
    path = tmp_path / "uses"
    first = Book(path)
    async with first.running():
        first.ledger.note_use("old", "192.0.2.1")
        first.ledger.note_use("both", "192.0.2.1")
        await first.clock.run(first.clock.sleep(0))
    assert path.stat().st_mode & 0o777 == 0o600
    second = Book(path, VirtualClock(first.clock.now() + timedelta(days=1)))
    second.ledger.note_use("both", "192.0.2.2")
    async with second.running():
        await second.clock.run(second.clock.sleep(1))
    assert {digest: use.peer for digest, use in read_uses(path).items()} == {"old": "192.0.2.1", "both": "192.0.2.2"}


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"a": 1}', '{"a": ["never", "x"]}', '{"a": [1, 2]}', "[" * 100_000], ids=range(7)
)
async def test_a_file_that_is_none_is_begun_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "uses").write_text(content, encoding="utf-8")
    book = Book(tmp_path / "uses")
    async with book.running():
        book.ledger.note_use("digest", "192.0.2.1")
        await book.clock.run(book.clock.sleep(1))
    assert list(read_uses(book.path)) == ["digest"]


async def test_a_disk_that_takes_nothing_is_tried_again_and_ends_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.write_text("in the way", encoding="utf-8")
    book = Book(folder / "uses")
    async with book.running():
        book.ledger.note_use("digest", "192.0.2.1")
        await book.clock.run(book.clock.sleep(1))
        folder.unlink()
        book.ledger.note_use("digest", "192.0.2.1")
        await book.clock.run(book.clock.sleep(USES_SECONDS + 1))
    assert list(read_uses(book.path)) == ["digest"]


async def test_an_hour_of_ten_thousand_wrong_tokens_a_second_is_a_few_records(tmp_path: Path) -> None:
    """The first at once; then in ten minutes the addresses with most, and one record for the rest."""
    book = Book(tmp_path / "uses")
    total = 0
    async with book.running():
        book.ledger.note_refusal("192.0.2.1", "unknown token")
        await book.clock.run(book.clock.sleep(1))
        assert [(record.target_name, record.detail) for record in book.records] == [
            ("192.0.2.1", "unknown token: once")
        ]
        for _ in range(6):
            for number in range(10_000):
                book.ledger.note_refusal(f"192.0.{number % 3000}", "unknown token")
                total += 1
            assert len(book.ledger._refusals) <= MAX_COUNTED + 1
            await book.clock.run(book.clock.sleep(REFUSALS_SECONDS))
    assert len(book.records) <= 1 + 7 * (MAX_NAMED + 1)
    assert {record.outcome for record in book.records} == {AuditOutcome.REFUSED}
    counted = [int(record.detail.split(": ")[1].split()[0].replace(",", "")) for record in book.records[1:]]
    assert sum(counted) == total
    assert {"other addresses"} < {record.target_name for record in book.records}


async def test_what_is_noted_is_kept_where_the_collector_ends(tmp_path: Path) -> None:
    book = Book(tmp_path / "uses")
    async with book.running():
        book.ledger.note_refusal("192.0.2.1", "unknown token")
        await book.clock.run(book.clock.sleep(1))
        book.ledger.note_refusal("192.0.2.2", "unknown token")
        book.ledger.note_use("digest", "192.0.2.1")
    assert [record.target_name for record in book.records] == ["192.0.2.1", "192.0.2.2"]
    assert list(read_uses(book.path)) == ["digest"]


async def test_a_refused_token_is_told_by_its_address_and_reason_and_never_itself(tmp_path: Path) -> None:
    book: Book | None = None

    def make(clock: VirtualClock) -> Ledger:
        nonlocal book
        book = Book(tmp_path / "uses", clock)
        return book.ledger

    async with service(make_ledger=make, is_proxied=True) as made:
        assert book
        gone = made.deck.clock.now() - timedelta(seconds=1)
        made.tokens["anna"] = known({"anna": "act"})["anna"].model_copy(update={"expires": gone})
        for token, peer in (("mallory", "203.0.113.9"), ("anna", "203.0.113.10"), ("wall", "203.0.113.11")):
            await made.ask("/v1/snapshot", token, x_forwarded_for=peer)
        await made.ask("/v1/snapshot", "")
        async with book.running():
            await made.deck.clock.run(made.deck.clock.sleep(1))
    assert {(record.target_name, record.detail) for record in book.records} == {
        ("203.0.113.9", "unknown token: once"),
        ("203.0.113.10", "expired token of anna: once"),
    }
    (use,) = read_uses(book.path).values()
    assert use.peer == "203.0.113.11"
    kept = repr(book.records) + book.path.read_text(encoding="utf-8")
    assert not any(secret(name)[:8] in kept for name in ("mallory", "anna", "wall"))
