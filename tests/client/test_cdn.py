"""Files at signed addresses: read without the token, and completely or not at all (trust.md, "Secrets", "Files")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from client.answers import Recorder, api_of
from livedeck.client import Api, FileFault, Misconfigured, Rejected, Secret
from livedeck.simulator import Simulator, serve

TURNS = 2000


async def test_the_token_never_goes_to_a_signed_address(tmp_path: Path) -> None:
    platform = Recorder({"any": "thing"})
    async with api_of(platform) as api:
        await api.cdn.save("https://cdn.example/a.vtt?expires=1&sign=s3cret", tmp_path / "a.vtt", "download")
    assert platform.header("authorization") is None
    assert (tmp_path / "a.vtt").stat().st_size


@pytest.mark.parametrize("address", ["http://cdn.example/a?sign=s3cretsign", "ftp://cdn.example/a", "", "nonsense"])
async def test_an_address_that_others_could_read_on_the_way_is_not_asked(address: str, tmp_path: Path) -> None:
    platform = Recorder({})
    async with api_of(platform) as api:
        with pytest.raises(Misconfigured) as caught:
            await api.cdn.save(address, tmp_path / "a", "download")
    assert not platform.requests
    assert "s3cretsign" not in str(caught.value)
    assert not _names(tmp_path)


async def test_an_address_that_is_good_no_more_is_told_and_leaves_no_file(tmp_path: Path) -> None:
    simulator = Simulator()
    async with serve(simulator) as addresses, _api(simulator, addresses.base_url, addresses.upload_url) as api:
        link = f"{addresses.base_url}/cdn/materials/x?expires=1&sign=s3cretsign"
        with pytest.raises(Rejected) as caught:
            await api.cdn.save(Secret(link), tmp_path / "a", "download")
    assert caught.value.status == 403
    assert "s3cretsign" not in str(caught.value)
    assert not _names(tmp_path)


async def test_a_file_that_is_there_is_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("mine")
    async with api_of(Recorder({"their": "s"})) as api:
        with pytest.raises(FileFault, match="already exists"):
            await api.cdn.save("https://cdn.example/a", file, "download")
        assert file.read_text() == "mine"
        await api.cdn.save("https://cdn.example/a", file, "download", replace=True)
    assert file.read_text() != "mine"


def _api(simulator: Simulator, base: str, upload: str) -> Api:
    return Api(base_url=base, upload_url=upload, token=simulator.token)


async def _video(api: Api) -> str:
    async for event in api.events.iterate():
        for one in (await api.events.videos(event.id)).items:
            return one.id
    raise AssertionError("the demo has no recording")


async def test_an_upload_that_is_stopped_leaves_no_half_object_on_the_platform(tmp_path: Path) -> None:
    file = tmp_path / "large.bin"
    with file.open("wb") as sparse:
        sparse.truncate(256 * 2**20)
    simulator = Simulator(data=tmp_path / "platform.db")
    kept = tmp_path / "platform.db.files"
    async with serve(simulator) as addresses, _api(simulator, addresses.base_url, addresses.upload_url) as api:
        video, before = await _video(api), _names(kept)
        begun = asyncio.Event()
        work = asyncio.ensure_future(
            api.materials.upload(video, file, "large.bin", "Large", progress=lambda *_: begun.set())
        )
        await begun.wait()
        await _until(api, lambda: any(name.endswith(".part") for name in _names(kept)))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await _until(api, lambda: _names(kept) == before)
    simulator.close()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def _until(api: Api, so: Callable[[], bool]) -> None:
    """Wait until the platform, polled repeatedly, is in that state."""
    for _ in range(TURNS):
        if so():
            return
        await api.events.list(per_page=1)
    raise AssertionError("never")
