"""Custom shapes of an encoder's signal: each is a shipped shape with some fields changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import core_schema

from livedeck.simulator.engine.encoder import KEY_FRAME, KEY_FRAME_SEVERE, LOSS, OK, SHAPES, UNKNOWN, Burst, Shape
from livedeck.simulator.engine.world import World
from livedeck.simulator.models import UNSET, Must, RequestBody, number, one_of

Share = Annotated[float, number(0, 10)]
Status = Annotated[
    int,
    Must(
        "one of 0 (good), 1 (unknown), 3 (key frames), 4 (key frames, severe), 5 (loss)",
        core_schema.literal_schema([OK, UNKNOWN, KEY_FRAME, KEY_FRAME_SEVERE, LOSS]),
    ),
]


class BurstRow(RequestBody):
    """Fault that comes and goes: in each `period`, with the probability `chance`, for `duration` seconds."""

    period: Annotated[float, number(1, 86_400)]
    chance: Annotated[float, number(0, 1)]
    duration: Annotated[float, number(0, 86_400)]
    status: Status = UNSET
    video: Share = UNSET
    audio: Share = UNSET
    fps: Share = UNSET


class ShapeRow(RequestBody):
    """Custom shape. An absent field has the value of the shipped shape `like`."""

    like: Annotated[str, one_of(*SHAPES)] = "clean"
    video: Annotated[float, number(0, 1e9)] = UNSET
    audio: Annotated[float, number(0, 1e9)] = UNSET
    fps: Annotated[float, number(0, 1000)] = UNSET
    noise: Annotated[float, number(0, 1)] = UNSET
    jitter: Annotated[float, number(0, 1000)] = UNSET
    ramp: Annotated[float, number(0, 86_400)] = UNSET
    connected: Annotated[float, number(1, 1e9)] = UNSET
    disconnected: Annotated[float, number(0, 1e9)] = UNSET
    bursts: Annotated[list[BurstRow], Field(max_length=20)] = UNSET

    def shape(self) -> Shape:
        """Return the shape that the row describes."""
        fields = self.given()
        like = SHAPES[fields.pop("like", "clean")]
        if "bursts" in fields:
            fields["bursts"] = tuple(Burst(**row) for row in fields["bursts"])
        return replace(like, **fields)


def use_shapes(world: World, rows: Mapping[str, Any]) -> None:
    """Add these shapes to the shipped ones, until the workspace is made anew. Call it in a transaction."""
    world.store.put("world", {"id": "shapes", "rows": dict(rows)})
    use_kept_shapes(world)


def own_shapes(world: World) -> dict[str, Any]:
    """Return the rows of the custom shapes, by name."""
    kept = world.store.get("world", "shapes")
    return dict(kept["rows"]) if kept else {}


def use_kept_shapes(world: World) -> None:
    """Add the shapes that the store keeps."""
    world.encoders.use({name: ShapeRow.model_validate(row).shape() for name, row in own_shapes(world).items()})
