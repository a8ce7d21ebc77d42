"""The platform that a relay address belongs to (platform-api.md, "Relay platforms")."""

import pytest

from livedeck.client import service_of


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("rtmp://a.rtmp.youtube.com/live2", "video_share"),
        ("rtmps://live.twitch.tv/app", "game_stream"),
        ("rtmps://dc4-1.rtmp.t.me/s/", "messenger"),
        ("rtmp://live.rutube.ru/live_push", "video_host_ru"),
        ("rtmp://vsu.mycdn.me/input", "social_video"),
        ("rtmp://ingest.livedeck.example/live", "own"),
        ("rtmp://t.me", "messenger"),
        ("rtmp://T.ME.:1935/s", "messenger"),
        ("rtmp://nott.me/s", "custom"),
        ("rtmp://t.me.example.com/s", "custom"),
        ("rtmp://youtube.com@example.com/s", "custom"),
        ("rtmp://10.0.0.1/live", "custom"),
        ("rtmp://[::1]/live", "custom"),
        ("rtmp://[broken", "custom"),
        ("", "custom"),
    ],
)
def test_the_domain_decides_on_the_boundary_of_a_label(url: str, service: str) -> None:
    assert service_of(url) == service


def test_a_setting_extends_the_table_and_comes_before_it() -> None:
    more = {"tube.example": "video_share", "live.twitch.tv": "own"}
    assert service_of("rtmp://in.tube.example/x", more) == "video_share"
    assert service_of("rtmp://live.twitch.tv/app", more) == "own"
    assert service_of("rtmp://eu.twitch.tv/app", more) == "game_stream"
