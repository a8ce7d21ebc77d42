"""Snapshots: documents, files and clock of one moment, as a tar file that a simulator can restore or start from.

The tar holds `manifest.json`, which declares the size and hash of each other member, `world.sqlite`, and `files/`. A
tar may come from a stranger: it is read without `tarfile`'s extraction, and refused before anything of it is used.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from livedeck import __version__
from livedeck.simulator.engine.clock import ClockState, format_timestamp
from livedeck.simulator.engine.store import Document, Files, State, Store, digest_of
from livedeck.simulator.engine.world import World
from livedeck.simulator.errors import SimulatorError
from livedeck.simulator.rehearsal import scenarios
from livedeck.simulator.rehearsal.commands import end_open_turns
from livedeck.simulator.rehearsal.shapes import use_kept_shapes

FORMAT = 1
MOST_SNAPSHOTS = 20
MOST_BYTES = 1024**3
"""Maximum bytes of all snapshots together, and of the members of one."""

FAULTS = ("faults", "fault-counts")
"""Kinds of the documents with the faults in force and their counts."""

_MOST_MANIFEST = 1024**2
_MOST_WORLD = 256 * 1024**2
WORK = ".work-"
"""Beginning of the names of temporary folders beside the snapshots."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FILE = re.compile(r"files/([A-Za-z0-9][A-Za-z0-9-]{0,63})")
_UNSOUND = (ValueError, KeyError, TypeError, AttributeError, RecursionError, tarfile.TarError)
"""Errors of a tar that is no snapshot."""


def take(world: World, state: State) -> None:
    """Make `state` equal to the world as of now."""
    world.encoders.measured.save()
    store = Store()
    store.mirror(world.store)
    store.put("world", {"id": "clock", "state": world.clock.state_now().document()})
    store.delete("world", "control")
    state.files.mirror(world.files)
    state.store.mirror(store)


def restore(world: World, state: State, keep: frozenset[str] = frozenset()) -> None:
    """Restore `state`. The tokens in force and the parts in `keep` (clock, faults) stay.

    Changes that a fault still delays are dropped. If the process is killed meanwhile, the data file has the old state
    or the new one, never a mix.
    """
    store = Store()
    store.mirror(state.store)
    clock = world.clock.state_now()
    if "clock" not in keep:
        clock = replace(_clock_of(store), set_at=clock.set_at)
    for name in ("control", *(FAULTS if "faults" in keep else ())):
        document = world.store.get("world", name)
        store.delete("world", name) if document is None else store.put("world", document)
    served = store.find_all("workspace", "", order=[("position", "asc")])
    for document, workspace in zip(served, world.workspaces(), strict=False):
        store.update("workspace", document | {"token": workspace.token})
    store.put("world", {"id": "clock", "state": replace(clock, epoch=world.clock.state.epoch + 1).document()})
    world.files.add(state.files)
    world.store.mirror(store)
    world.clock.set(clock)
    world.files.keep(state.files.names())
    world.encoders.clear()
    world.faults.restart()
    end_open_turns(world)
    use_kept_shapes(world)
    scenarios.go_on(world)


def reset(world: World, keep: frozenset[str], seed: int | None) -> None:
    """Restore the start. With a `seed`, make the workspaces and the scenario anew from it; they are the new start."""
    restore(world, world.start, keep)
    if "journal" not in keep:
        world.journal.clear()
    if seed is not None:
        with world.store.transaction():
            faults = [world.store.get("world", name) for name in FAULTS]
            scenarios.make_anew(world, seed)
            for document in filter(None, faults):
                world.store.put("world", document)
        take(world, world.start)


def _clock_of(store: Store) -> ClockState:
    return ClockState.of(_document(store, "clock")["state"])


def _document(store: Store, name: str) -> Document:
    document = store.get("world", name)
    if document is None:
        raise ValueError(f"its world has no {name}")
    return document


def write(state: State, file: BinaryIO) -> None:
    """Write `state` as a tar."""
    documents = state.store.dump()
    files = {name: state.files.path(name) for name in sorted(state.files.names())}
    clock = _clock_of(state.store)
    manifest = {
        "format": FORMAT,
        "livedeck": __version__,
        "seed": _document(state.store, "world")["seed"],
        "clock": {"now": format_timestamp(clock.base), "speed": clock.speed, "paused": clock.paused},
        "world": {"size": len(documents), "sha256": hashlib.sha256(documents).hexdigest()},
        "files": {name: {"size": path.stat().st_size, "sha256": digest_of(path)} for name, path in files.items()},
    }
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in (("manifest.json", json.dumps(manifest, indent=1).encode()), ("world.sqlite", documents)):
            tar.addfile(_member(name, len(content)), BytesIO(content))
        for name, path in files.items():
            with path.open("rb") as stored:
                tar.addfile(_member(f"files/{name}", path.stat().st_size), stored)


def _member(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


@contextmanager
def unpacked(path: Path, beside: Path) -> Iterator[State]:
    """Yield the state in a tar, with its files in a temporary folder in `beside`.

    Raises SimulatorError for a tar that is no snapshot.
    """
    folder = Path(tempfile.mkdtemp(dir=beside, prefix=WORK))
    try:
        yield _read_tar(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_tar(path: Path, folder: Path) -> State:
    try:
        with path.open("rb") as tar:
            return _read(tar, folder)
    except OSError as error:
        raise SimulatorError(f"cannot read the snapshot {path.name}: {error}") from error
    except _UNSOUND as error:
        raise SimulatorError(f"{path.name} is no snapshot: {error}") from error


def _read(tar: BinaryIO, folder: Path) -> State:
    members = _members(tar)
    name, size = next(members, ("", 0))
    if name != "manifest.json" or size > _MOST_MANIFEST:
        raise ValueError("its first member must be manifest.json, of 1 MiB at most")
    manifest = json.loads(tar.read(size))
    if manifest["format"] != FORMAT:
        raise ValueError(f"its format is {manifest['format']!r}, and this livedeck reads {FORMAT}")
    declared = {"world.sqlite": manifest["world"]} | {f"files/{name}": file for name, file in manifest["files"].items()}
    if sum(_size(row) for row in declared.values()) > MOST_BYTES or _size(manifest["world"]) > _MOST_WORLD:
        raise ValueError("it declares too many bytes")
    documents = b""
    for name, size in members:
        row = declared.pop(name, None)
        if row is None or size != row["size"]:
            raise ValueError(f"its manifest does not declare {name!r} with {size} bytes")
        if name == "world.sqlite":
            documents = tar.read(size)
            digest = hashlib.sha256(documents).hexdigest()
        else:
            match = _FILE.fullmatch(name)
            if match is None:
                raise ValueError(f"{name!r} is not a file name")
            digest = _unpack(tar, size, folder / match[1])
        if digest != row["sha256"]:
            raise ValueError(f"the content of {name} is not the declared one")
    if declared:
        raise ValueError(f"{', '.join(sorted(declared)[:5])} is missing")
    store = Store.load(documents)
    _clock_of(store)
    if len(store.find_all("workspace", "")) < 2:
        raise ValueError("its world has fewer than two workspaces")
    return State(store, Files(folder))


def _size(row: Mapping[str, Any]) -> int:
    size = row["size"]
    if not isinstance(size, int) or size < 0:
        raise ValueError("a declared size is not a number of bytes")
    return size


def _members(tar: BinaryIO) -> Iterator[tuple[str, int]]:
    """Yield name and size of each regular file; the caller may read its content. Refuses every other member."""
    while block := tar.read(tarfile.BLOCKSIZE):
        if not block.strip(b"\0"):
            return
        info = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        if info.type not in {tarfile.REGTYPE, tarfile.AREGTYPE} or info.size < 0:
            raise ValueError(f"{info.name!r} is not a regular file")
        begin = tar.tell()
        yield info.name, info.size
        tar.seek(begin + -(-info.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)


def _unpack(tar: BinaryIO, size: int, path: Path) -> str:
    """Write the next `size` bytes to `path` and return their hash."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        while size and (chunk := tar.read(min(size, 1024**2))):
            size -= len(chunk)
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def show(path: Path) -> Document:
    """Return a snapshot in the form of the control API; `seed` and `clock` are None for a file that is no snapshot."""
    try:
        with path.open("rb") as tar:
            _, size = next(_members(tar), ("", 0))
            manifest = json.loads(tar.read(min(size, _MOST_MANIFEST)))
        shown = {name: manifest[name] for name in ("seed", "clock")}
    except (OSError, *_UNSOUND):
        shown = {"seed": None, "clock": None}
    return {"name": path.stem, "size": path.stat().st_size} | shown
