"""Routes of the snapshots."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from starlette.responses import FileResponse, Response

from livedeck.simulator.engine.store import Files, State, Store
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import ApiError, SimulatorError, conflict, invalid, not_found
from livedeck.simulator.http import ApiRequest, Endpoint, data, success
from livedeck.simulator.models import Boolean, RequestBody, one_of
from livedeck.simulator.rehearsal import snapshots
from livedeck.simulator.rehearsal.control_api.reset import require_force


class RestoreRequest(RequestBody):
    """Clock after the restore, and `force` to replace kept workspaces."""

    clock: Annotated[str, one_of("restored", "kept")] = "restored"
    force: Boolean = False


async def list_snapshots(request: ApiRequest[None]) -> Response:
    """List the snapshots."""
    return data([snapshots.show(path) for path in _all(request.world)])


async def put_snapshot(request: ApiRequest[None]) -> Response:
    """Take a snapshot of the whole state; with a body of application/x-tar, store that snapshot."""
    world, path = request.world, _path(request)
    room = _room(world, path)
    work = Path(tempfile.mkdtemp(dir=path.parent, prefix=snapshots.WORK))
    try:
        part = work / path.name
        if not await _receive(request, part, room):
            state = State(Store(), Files(work / "files"))
            snapshots.take(world, state)
            await asyncio.to_thread(_write, state, part)
        if part.stat().st_size > _room(world, path):  # others may have come meanwhile
            raise _full()
        part.replace(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return data(snapshots.show(path))


def _room(world: World, path: Path) -> int:
    """Return the maximum number of bytes of a new snapshot. Raises the documented error if no other one may be kept."""
    others = [other for other in _all(world) if other != path]
    room = snapshots.MOST_BYTES - sum(other.stat().st_size for other in others)
    if len(others) >= snapshots.MOST_SNAPSHOTS or room <= 0:
        raise _full()
    return room


def _full() -> ApiError:
    return conflict(f"at most {snapshots.MOST_SNAPSHOTS} snapshots are kept, with 1 GiB in total: delete one")


async def _receive(request: ApiRequest[None], part: Path, room: int) -> bool:
    """Store the body in `part`. Returns False if there is no body.

    Raises the documented error for a body that is no snapshot or has over `room` bytes.
    """
    with part.open("wb") as file:
        async for chunk in request.http.stream():
            if file.tell() + len(chunk) > room:
                raise _full()
            file.write(chunk)
        size = file.tell()
    if not size:
        return False
    if request.http.headers.get("content-type") != "application/x-tar":
        raise invalid(("Content-Type", "must be application/x-tar if the request has a body"))
    try:
        await asyncio.to_thread(_check, part)
    except SimulatorError as error:
        raise invalid(("body", str(error))) from None
    return True


def _check(part: Path) -> None:
    with snapshots.unpacked(part, part.parent):
        pass


def _write(state: State, part: Path) -> None:
    with part.open("wb") as file:
        snapshots.write(state, file)


async def read_snapshot(request: ApiRequest[None]) -> Response:
    """Download a snapshot as a tar file."""
    return FileResponse(_existing(request), media_type="application/x-tar")


async def delete_snapshot(request: ApiRequest[None]) -> Response:
    """Delete a snapshot."""
    _existing(request).unlink()
    return success()


async def restore_snapshot(request: ApiRequest[RestoreRequest]) -> Response:
    """Restore a snapshot with its clock, or keep the clock. The tokens stay. A data file requires "force": true."""
    order, world, path = await request.body(), request.world, _existing(request)
    require_force(world, order.force)
    keep = frozenset({"clock"}) if order.clock == "kept" else frozenset[str]()
    try:
        with ExitStack() as stack:
            state = await asyncio.to_thread(stack.enter_context, snapshots.unpacked(path, path.parent))
            snapshots.restore(world, state, keep)
    except SimulatorError as error:
        raise conflict(str(error)) from None
    return data(snapshots.show(path))


def _all(world: World) -> list[Path]:
    return sorted(world.archive.path("").glob("*.tar"))


def _path(request: ApiRequest[Any]) -> Path:
    name = str(request.http.path_params["name"])
    if not snapshots.NAME.fullmatch(name):
        raise invalid(("name", "must be 1 to 64 letters, digits, - and _"))
    return request.world.archive.path(f"{name}.tar")


def _existing(request: ApiRequest[Any]) -> Path:
    path = _path(request)
    if not path.is_file():
        raise not_found()
    return path


_ITEM = "/_control/snapshots/{name}"

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/_control/snapshots", list_snapshots),
    Endpoint("PUT", _ITEM, put_snapshot),
    Endpoint("GET", _ITEM, read_snapshot),
    Endpoint("DELETE", _ITEM, delete_snapshot),
    Endpoint("POST", f"{_ITEM}/restore", restore_snapshot, RestoreRequest),
)
