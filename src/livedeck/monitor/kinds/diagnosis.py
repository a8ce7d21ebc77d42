"""Why it is so, what viewers see of it, and what to do: for every kind of alarm, one short sentence each. Pure.

The samples often tell more than the kind: where their pattern explains an alarm, its words are used.
"""

from __future__ import annotations

from livedeck.monitor.model.alarm import Diagnosis
from livedeck.monitor.model.state import EventState, Pattern

_KINDS = {
    "NO_INGEST": Diagnosis(
        "The stream is live and no encoder has sent anything.",
        "An empty player or a waiting picture.",
        "Check the address and the stream key in the encoder, and start it.",
    ),
    "BLACKOUT": Diagnosis(
        "The encoder is connected and sends no picture.",
        "A black or frozen picture.",
        "Check the camera, its cable and the encoder's input.",
    ),
    "VIDEO_LOW": Diagnosis(
        "The video rate has fallen, and nothing else tells why.",
        "A softer picture with blocks in motion.",
        "Look at the picture; compare the encoder's bit rate with what was agreed.",
    ),
    "VIDEO_STARVED": Diagnosis(
        "The encoder gets too little through: the way out is too thin, or it cannot keep up.",
        "Blocks, stutter, and stops to buffer.",
        "Test the upload speed; halve the encoder's bit rate or take the spare line.",
    ),
    "FPS_LOW": Diagnosis(
        "Frames are missing: the encoder or its source drops them.",
        "Motion judders.",
        "Check the encoder's CPU and dropped frames, and the camera's frame rate.",
    ),
    "FPS_COLLAPSE": Diagnosis(
        "Many frames are missing: the encoder or its source fails.",
        "A stuttering picture, sound perhaps out of step.",
        "Close what else runs on the encoder, lower its preset or resolution, or change to the spare.",
    ),
    "AUDIO_LOST": Diagnosis(
        "The sound does not reach the encoder.",
        "A picture without sound.",
        "Check mute, the mixer's output and the encoder's audio input.",
    ),
    "AUDIO_LOW": Diagnosis(
        "The audio rate is too low for music or speech: a wrong setting, or near silence.",
        "Dull or broken sound.",
        "Set the encoder's audio to 128 kbit/s, and listen.",
    ),
    "AUDIO_HIGH": Diagnosis(
        "The audio rate is above what streaming uses: a wrong setting.",
        "Nothing, until the line gets thin.",
        "Set the encoder's audio to 128 to 192 kbit/s at a pause.",
    ),
    "KEYFRAME_DRIFT": Diagnosis(
        "The key-frame interval is not constant.",
        "Slow starts and jumps when the quality changes.",
        "Set the key-frame interval to 2 s, scene-cut off.",
    ),
    "KEYFRAME_SEVERE": Diagnosis(
        "The key-frame interval is far from constant.",
        "Players stall when they change quality.",
        "Set the key-frame interval to 2 s, scene-cut off; restart the encoder at a pause.",
    ),
    "PACKET_LOSS": Diagnosis(
        "Packets are lost between encoder and platform.",
        "Short freezes and broken blocks.",
        "Check the line; use a cable; lower the bit rate if it goes on.",
    ),
    "BITRATE_UNSTABLE": Diagnosis(
        "The video rate swings: variable-rate encoding, or a line that comes and goes.",
        "A picture that is now sharp, now soft.",
        "Set the encoder to constant bit rate; test the line if it is so already.",
    ),
    "UNKNOWN_STATUS": Diagnosis(
        "The platform reports a quality status that its document does not name.",
        "Perhaps nothing.",
        "Look at the picture; ask the platform what the number means.",
    ),
    "UNKNOWN_DATA": Diagnosis(
        "The platform's samples lack fields.",
        "Perhaps nothing: it is not measured.",
        "Watch the picture itself; ask the platform why.",
    ),
    "FUTURE_SAMPLES": Diagnosis(
        "The platform dates samples in the future: a clock of its is wrong.",
        "Nothing.",
        "Tell the platform; trust the other samples.",
    ),
    "RECONNECTING": Diagnosis(
        "The encoder was cut off: its line, its power, or somebody stopped it.",
        "A frozen or waiting picture; the stream ends when the window is over.",
        "Telephone the encoder's operator; restart it before the window ends.",
    ),
    "LATE_START": Diagnosis(
        "The encoder has not been started, or sends to a wrong address or key.",
        "A waiting page.",
        "Telephone the encoder's operator; check address and stream key.",
    ),
    "RESTREAM_DOWN": Diagnosis(
        "The other platform refuses or ended the copy: key, address, or its own trouble.",
        "Nothing here; those who watch over there see no stream.",
        "Check the key and the stream on the other platform; renew the restream.",
    ),
    "QOS_STALE": Diagnosis(
        "The platform gives no fresh measurements of this event.",
        "Unknown: the stream may be well or gone.",
        "Watch the player itself until measurements are back.",
    ),
    "API_BLIND": Diagnosis(
        "The platform does not answer, or this machine's network is down.",
        "Unknown: streams may well go on.",
        "Check this machine's network; watch the players themselves.",
    ),
    "AUTH_FAILED": Diagnosis(
        "The token was revoked, has expired, or belongs to another workspace.",
        "Nothing; but nobody is watching.",
        "Make a new token in the workspace and restart the deck with it.",
    ),
    "RATE_LIMITED": Diagnosis(
        "The platform takes fewer calls than are made with this token.",
        "Nothing.",
        "Close other decks and scripts that use this token.",
    ),
    "CLOCK_SKEW": Diagnosis(
        "This machine's clock is not set by the network.",
        "Nothing; who goes by this clock starts early or late.",
        "Turn on time synchronisation (NTP); go by the deck's countdown until then.",
    ),
    "HISTORY_FAILED": Diagnosis(
        "The history file cannot be written: disk full, locked, or not allowed.",
        "Nothing.",
        "Make room on the disk or free the file; the deck tries again by itself.",
    ),
    "PLATFORM": Diagnosis(
        "Many events failed together: the platform, or a line that they share.",
        "Much or all of the programme is disturbed.",
        "Look at the platform's status page; call its support before you touch encoders.",
    ),
}


_OTHER = Diagnosis("Unknown.", "Unknown.", "Look at the picture.")


_PICTURE = frozenset({"VIDEO_LOW", "VIDEO_STARVED", "FPS_LOW", "FPS_COLLAPSE", "BITRATE_UNSTABLE"})

_CARRIED = _PICTURE | {"PACKET_LOSS", "AUDIO_LOW"}


_PATTERNS = {
    Pattern.NETWORK: (
        _CARRIED,
        Diagnosis(
            "Network: the line from the encoder is too thin or loses packets.",
            "Freezes, blocks and stops to buffer.",
            "Test the upload speed; lower the bit rate or take the spare line.",
        ),
    ),
    Pattern.BURSTS: (
        _CARRIED,
        Diagnosis(
            "Wireless burst loss: the line drops packets again and again and recovers between.",
            "A short freeze or broken blocks, every time.",
            "Change from Wi-Fi or mobile to a cable, or move nearer; lower the bit rate until then.",
        ),
    ),
    Pattern.OVERLOAD: (
        _PICTURE | {"PACKET_LOSS"},
        Diagnosis(
            "Encoder overload: frames fall while the line carries everything.",
            "Motion judders.",
            "Close what else runs on the encoder; choose a faster preset or 720p.",
        ),
    ),
    Pattern.AUDIO: (
        frozenset({"AUDIO_LOST", "AUDIO_LOW"}),
        Diagnosis(
            "Audio path: the sound is silent or gone before the encoder; the line is well.",
            "A picture without sound.",
            "Check mute, the mixer's output and the encoder's audio input.",
        ),
    ),
    Pattern.CAMERA: (
        _PICTURE | {"BLACKOUT"},
        Diagnosis(
            "Camera lost: the sound still comes, the picture does not.",
            "A black or frozen picture with sound.",
            "Check the camera's power and cable and the encoder's video input; show a slate meanwhile.",
        ),
    ),
    Pattern.STEP: (
        frozenset({"VIDEO_LOW", "VIDEO_STARVED", "BITRATE_UNSTABLE"}),
        Diagnosis(
            "The encoder changed its profile, or the picture is static.",
            "A softer picture, or nothing if the picture stands still.",
            "Look at the picture; if it moves, set the encoder's bit rate back.",
        ),
    ),
    Pattern.KEYS: (
        frozenset({"KEYFRAME_DRIFT", "KEYFRAME_SEVERE"}),
        _KINDS["KEYFRAME_DRIFT"],
    ),
    Pattern.GONE: (
        frozenset({"BLACKOUT", "NO_INGEST"}),
        Diagnosis(
            "The encoder is disconnected, or connected and sends nothing at all.",
            "A frozen or empty player.",
            "Telephone the encoder's operator: restart the encoder, check its line and power.",
        ),
    ),
}

"""The kinds that a pattern explains, and how."""


_GENERAL = frozenset(_KINDS.values())

_NAMED = frozenset(words for _, words in _PATTERNS.values())


def diagnose(kind: str, state: EventState | None = None) -> Diagnosis:
    """What to tell the operator of an alarm of that kind; `state`: the event as it is now, None for the deck's own."""
    kinds, told = _PATTERNS.get(state.pattern if state else Pattern.NONE, (frozenset(), _OTHER))
    return told if kind in kinds else _KINDS.get(kind, _OTHER)


def held(known: Diagnosis, told: Diagnosis) -> Diagnosis:
    """What to go on telling of a fault: on its way out it leaves few signs, so what more of them named is kept."""
    weaker = told in _GENERAL or (told == _PATTERNS[Pattern.BURSTS][1] and known != _PATTERNS[Pattern.NETWORK][1])
    return known if weaker and known in _NAMED else told
