"""A Redis for the tests of the engine: one a module, emptied for each test; and one that may be killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from collector.engine.servers import RedisServer, skip_without_redis


@pytest.fixture(scope="module")
def _server() -> Iterator[RedisServer]:
    skip_without_redis()
    server = RedisServer()
    yield server
    server.close()


@pytest.fixture
def redis_server(_server: RedisServer) -> RedisServer:
    """An empty server, shared by the tests of a file."""
    with Redis.from_url(_server.address) as client:
        client.flushall()
    return _server


@pytest.fixture
def mortal_server() -> Iterator[RedisServer]:
    """A server for this test only."""
    skip_without_redis()
    server = RedisServer()
    yield server
    server.close()
