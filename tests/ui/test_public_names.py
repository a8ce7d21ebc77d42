"""An event whose stream key is its name keeps its name in notices, banner and copies."""

from __future__ import annotations

from livedeck.client import Secret
from ui.deck_stage import deck_stage


async def test_a_notice_names_an_event_whose_key_is_its_name() -> None:
    async with deck_stage((140, 40)) as stage:
        event = await stage.event(stage.choose("Town hall, main"))
        assert isinstance(event.streamkey, Secret)
        name = event.streamkey.reveal().upper()
        stage.deck.announce(f"before: {name}")
        assert name not in stage.last_notice(), "so far it is a key alone"
        await stage.api.events.update(event.id, name=name)
        await stage.act("app.ask")
        await stage.until(lambda: name in stage.text())
        stage.choose(name)
        await stage.act("alarm.ack")
        await stage.idle()
        assert name in stage.last_notice()
        assert name in stage.rows()[-2] + stage.rows()[-3], "the notice above the keys"
        await stage.act("event.preflight")
        await stage.until(lambda: "the stream key is also a name or an id" in " ".join(stage.text().split()))
