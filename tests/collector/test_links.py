"""A link acknowledges one alarm, once, before it expires; looking at it changes nothing, and its sender is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.service import Service, service
from livedeck.cli.collect.links import make_links
from livedeck.collector.links import LINK_LASTS, LINK_LASTS_MOST, LinkRefused, Links, Ticket
from livedeck.collector.protocol.commands import key_text
from livedeck.monitor import Alarm, AlarmKey, AlarmState, History, Severity, Shown
from livedeck.settings import Settings, SettingsError
from monitor.stage import NOW, at, event

KEY, SECRET, ADDRESS = AlarmKey("one", "LATE_START"), b"k" * 32, "https://watch.example"


class Moment:
    """Clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def waiting(moment: Moment, name: str = "Studio <b>A</b>") -> AsyncIterator[tuple[Service, Links]]:
    """Yield a collector with an alarm, and its links."""
    links = Links(SECRET, ADDRESS, moment)
    late = event(name=name, stream=None, scheduled={"time": at(100.0)})
    async with service(late, links=links) as made:
        yield made, links


def standing(made: Service) -> Alarm:
    alarm = made.deck.monitor.find_alarm(KEY)
    assert alarm is not None
    return alarm


def path_of(link: str) -> str:
    assert link.startswith(f"{ADDRESS}/v1/link/")
    return urlsplit(link).path


async def test_only_the_button_acknowledges_and_only_once() -> None:
    async with waiting(Moment()) as (made, links):
        path = path_of(links.link(standing(made), "route pager"))
        for method in ("GET", "HEAD", "GET", "GET"):
            shown = await made.ask(path, "", method)
            assert shown.status_code == 200
        assert '<form method="post"><button>Acknowledge</button></form>' in shown.text
        assert "link from route pager" in shown.text
        assert standing(made).state is AlarmState.UNACKNOWLEDGED
        done = await made.ask(path, "", "POST")
        assert (done.status_code, "Acknowledged" in done.text) == (200, True)
        await made.watch()
        assert standing(made).state is AlarmState.ACKNOWLEDGED
        assert standing(made).answered_by == "link from route pager"
        for method in ("GET", "POST"):
            again = await made.ask(path, "", method)
            assert (again.status_code, "has been used" in again.text, "<button>" in again.text) == (404, True, False)


async def test_the_audit_says_who_sent_the_link_and_where_it_was_used(tmp_path: Path) -> None:
    links, history = Links(SECRET, ADDRESS, Moment()), await History.open(tmp_path / "history.sqlite", NOW)
    late = event(stream=None, scheduled={"time": at(100.0)})
    async with service(late, links=links, history=history) as made:
        await made.ask(path_of(links.link(standing(made), "route pager")), "", "POST")
        (record,) = await history.audit(NOW - timedelta(days=1))
    await history.close()
    assert (record.action, record.target_name) == ("alarm.acknowledge", "one LATE_START")
    assert record.detail == "by a link from route pager, used at 192.0.2.7"


async def test_an_alarm_that_somebody_has_acknowledged_keeps_its_author_and_the_link() -> None:
    async with waiting(Moment()) as (made, links):
        path = path_of(links.link(standing(made), "pager"))
        await made.deck.monitor.acknowledge(KEY)
        await made.watch()
        done = await made.ask(path, "", "POST")
        assert (done.status_code, "Not needed" in done.text) == (200, True)
        assert standing(made).answered_by != "link from pager"


async def test_an_alarm_that_has_changed_is_not_acknowledged_by_an_old_link() -> None:
    async with waiting(Moment()) as (made, links):
        path = path_of(links.link(standing(made), "pager"))
        assert standing(made).severity is Severity.WARNING
        while standing(made).severity is Severity.WARNING:
            await made.watch()
        shown = await made.ask(path, "")
        assert (shown.status_code, "<button" in shown.text) == (409, False), shown.text
        done = await made.ask(path, "", "POST")
        assert (done.status_code, "Not acknowledged" in done.text) == (409, True)
        assert standing(made).state is AlarmState.UNACKNOWLEDGED


async def test_a_page_shows_names_as_text_and_is_kept_nowhere() -> None:
    async with waiting(Moment()) as (made, links):
        shown = await made.ask(path_of(links.link(standing(made), "<i>")), "")
        assert "Studio &lt;b&gt;A&lt;/b&gt;" in shown.text
        assert "<b>" not in shown.text
        assert "<i>" not in shown.text
        assert shown.headers["cache-control"] == "no-store"
        assert shown.headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in shown.headers["content-security-policy"]
        assert "script" not in shown.text


async def test_a_link_ends() -> None:
    moment = Moment()
    async with waiting(moment) as (made, links):
        path = path_of(links.link(standing(made), "pager"))
        moment.now += LINK_LASTS
        for method in ("GET", "POST"):
            late = await made.ask(path, "", method)
            assert (late.status_code, "expired" in late.text) == (404, True)
        assert standing(made).state is AlarmState.UNACKNOWLEDGED


@given(st.integers(0, 10_000), st.characters(codec="ascii", categories=["L", "N"]))
def test_a_changed_link_is_refused(place: int, letter: str) -> None:
    links = Links(SECRET, ADDRESS, lambda: NOW)
    ticket = Ticket(KEY, Shown(NOW, Severity.WARNING, 1), NOW + timedelta(hours=1), "pager", "u" * 32)
    text = links.write(ticket)
    assert links.read(text) == ticket
    place %= len(text)
    changed = f"{text[:place]}{letter}{text[place + 1 :]}"
    last_bits = place in {text.index(".") - 1, len(text) - 1}  # base64 has unused bits there
    if changed != text and not last_bits:
        with pytest.raises(LinkRefused, match="not valid"):
            links.read(changed)


@pytest.mark.parametrize("text", ["", ".", "a.b", "é.é", "=.=", "x" * 5000, "W10.W10"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(LinkRefused, match="not valid"):
        Links(SECRET, ADDRESS, lambda: NOW).read(text)


def test_the_link_of_another_collector_is_refused() -> None:
    ticket = Ticket(KEY, Shown(NOW, Severity.WARNING), NOW + timedelta(hours=1), "pager", "u" * 32)
    with pytest.raises(LinkRefused):
        Links(b"o" * 32, ADDRESS, lambda: NOW).read(Links(SECRET, ADDRESS, lambda: NOW).write(ticket))


async def test_a_person_makes_a_link_and_is_its_sender() -> None:
    async with waiting(Moment()) as (made, links):
        route = f"/v1/alarms/{key_text(KEY)}/link"
        refused = await made.ask(route, "wall", "POST", body={})
        given_ = await made.ask(route, "anna", "POST", body={"minutes": 30.0, "sender": "chat"})
        too_long = await made.ask(route, "anna", "POST", body={"minutes": 60 * 25.0})
        gone = await made.ask(f"/v1/alarms/{key_text(AlarmKey('x', 'Y'))}/link", "anna", "POST", body={})
        assert (refused.status_code, given_.status_code, too_long.status_code, gone.status_code) == (403, 200, 422, 404)
        ticket = links.read(given_.json()["link"].rpartition("/")[2])
        assert ticket.actor == "link from anna (chat)"
        assert ticket.until == NOW + timedelta(minutes=30)
    async with service() as bare:
        off = await bare.ask(f"/v1/alarms/{key_text(KEY)}/link", "anna", "POST", body={})
        page = await bare.ask("/v1/link/x.y", "", "POST")
        assert (off.status_code, page.status_code) == (503, 404)


def test_no_link_lasts_longer_than_a_day() -> None:
    links = Links(SECRET, ADDRESS, lambda: NOW)
    alarm = Alarm("one", "LATE_START", Severity.WARNING, NOW, "one", "", "", changed=NOW)
    ticket = links.read(links.link(alarm, "", timedelta(days=9)).rpartition("/")[2])
    assert (ticket.until, ticket.sender) == (NOW + LINK_LASTS_MOST, "nobody named")


def test_the_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    collector = {"link_url": ADDRESS}
    settings = Settings.model_validate({"history": str(history), "collector": collector})
    first, second = make_links(settings), make_links(settings)
    assert first is not None
    assert second is not None
    ticket = Ticket(KEY, Shown(NOW, Severity.WARNING), datetime.max.replace(tzinfo=NOW.tzinfo), "pager", "u" * 32)
    assert second.read(first.write(ticket)).uid == ticket.uid
    file = tmp_path / "history.sqlite.links"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        make_links(settings)
    file.chmod(0o600)
    file.write_text("no key")
    with pytest.raises(SettingsError, match="delete the file"):
        make_links(settings)
    assert make_links(Settings.model_validate({"history": str(history)})) is None


@pytest.mark.parametrize("address", ["http://watch.example", "watch.example", "https://a@b.example", "ftp://x"])
def test_links_are_never_sent_in_the_clear(address: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Settings.model_validate({"collector": {"link_url": address}})


async def test_ids_that_are_too_long_for_a_link_are_refused_in_words() -> None:
    long = "x" * 3000
    links = Links(SECRET, ADDRESS, lambda: NOW)
    alarm = Alarm(long, "LATE_START", Severity.WARNING, NOW, "one", "", "", changed=NOW)
    with pytest.raises(LinkRefused, match="too long"):
        links.link(alarm, "pager")
    late = event(event_id=long, stream=None, scheduled={"time": at(100.0)})
    async with service(late, links=links) as made:
        answer = await made.ask(f"/v1/alarms/{key_text(AlarmKey(long, 'LATE_START'))}/link", "anna", "POST", body={})
        assert (answer.status_code, answer.json()["error"]) == (422, "too long")
