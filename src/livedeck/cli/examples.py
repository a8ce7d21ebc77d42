"""The examples in the help of every command: the one place for them, read by nothing heavier than help itself."""

from __future__ import annotations

import click

EXAMPLES = {
    "alarms": ("alarms", "alarms --follow --json"),
    "chat export": ('chat export "Evening show" -o chat.csv', 'chat export "Evening show" --format txt -o -'),
    "check": ('check "Evening show"', "check --all"),
    "config init": ("config init",),
    "config show": ("config show --origin",),
    "config validate": ("config validate",),
    "config path": ("config path",),
    "demo": ("demo", "demo --scenario bad-night --seed 7"),
    "docs": ("docs", "docs commands"),
    "doctor": ("doctor", "doctor --json"),
    "episodes": ("episodes", 'episodes "Evening show" --from -2h'),
    "history export": ('history export "Evening show" --from "yesterday 20:00" -o show.livedeck',),
    "history prune": ("history prune --before -90d", 'history prune --event "Evening show" --yes'),
    "history salvage": ("history salvage history.db.damaged",),
    "history show": ('history show "Evening show" --from "yesterday 21:00" --to "yesterday 21:15"',),
    "history vacuum": ("history vacuum",),
    "history verify": ("history verify",),
    "keys": ("keys",),
    "preflight": ('preflight "Evening show"', 'preflight "Evening show" --json'),
    "profile": ('profile "Morning radio" radio', 'profile "Morning radio" none'),
    "qos": ('qos "Evening show" --follow', 'qos "Evening show" --last 15m --csv'),
    "rebaseline": ('rebaseline "Evening show"',),
    "record": ('record "Evening show" -o show.livedeck --for 2h',),
    "replay": ("replay show.livedeck --judge",),
    "schema": ("schema", "schema events list"),
    "screenshots": ("screenshots pictures",),
    "search": ("search mixer", "search mixer --from -7d --json"),
    "serve": ("serve", "serve --port 8787 --scenario keyframe-drift --json"),
    "status": ("status", "status --json"),
    "wait": ('wait "Evening show" --until on-air --timeout 15m',),
    "wallboard": ("wallboard", "wallboard --http 8080"),
    "events list": ("events list", "events list --csv --columns id,name,scheduled.time"),
    "events get": ('events get "Evening show" --json',),
    "events recordings": ('events recordings "Evening show" --quiet',),
    "events create": (
        'events create --name "Evening show" --scheduled-time "in 2 h" --video-presets 720p,1080p',
        "events create --from-file show.toml --yes --quiet",
    ),
    "events edit": (
        'events edit "Evening show" --chat-active --reconnect-window 300',
        'events edit "Evening show" --restreams restreams.json --yes',
    ),
    "events enable": ('events enable "Evening show" --yes',),
    "events complete": ('events complete "Evening show" --confirm "Evening show" --wait',),
    "events move": ('events move "Evening show" --parent-id 5f0c1e52-6a53-4a6a-9d8e-0d9f6d3b7c11',),
    "events delete": ('events delete "Evening show" --dry-run',),
    "events poster": ('events poster "Evening show" --poster-url https://pictures.example/show.png',),
    "streams list": ("streams list", "streams list --ndjson"),
    "streams get": ('streams get "Evening show" --json',),
    "streams schedule": ('streams schedule "Evening show" --started-at "in 20 min" --yes',),
    "streams reschedule": ('streams reschedule "Evening show" --started-at "2026-11-21 19:30Z"',),
    "rooms list": ("rooms list",),
    "rooms get": ("rooms get Board --json",),
    "rooms create": ("rooms create --name Board --owner-id 66501bc7-7e5e-4b70-b731-16717b0221e4",),
    "rooms delete": ("rooms delete Board",),
    "relays list": ("relays list Board",),
    "relays get": ("relays get Board CDN --json",),
    "relays edit": ("relays edit Board CDN --stream-key-file key.txt --yes",),
    "posters list": ("posters list VIDEO",),
    "posters get": ("posters get VIDEO POSTER --json",),
    "posters download": ("posters download VIDEO POSTER -o poster.png",),
    "posters create": ("posters create VIDEO --from-time 0:20",),
    "posters upload": ("posters upload VIDEO --poster-url https://pictures.example/show.png",),
    "posters activate": ("posters activate VIDEO POSTER",),
    "posters delete": ("posters delete VIDEO POSTER --yes",),
    "subtitles list": ("subtitles list VIDEO",),
    "subtitles get": ("subtitles get VIDEO SUBTITLE --json",),
    "subtitles download": ("subtitles download VIDEO SUBTITLE -o show.uk.vtt",),
    "subtitles upload": ('subtitles upload VIDEO --file show.uk.vtt --language uk --description "For the hall"',),
    "subtitles recognise": ("subtitles recognise VIDEO --languages en,de --yes --wait --quiet",),
    "subtitles edit": ('subtitles edit VIDEO SUBTITLE --description "For the hall"',),
    "subtitles copy": ("subtitles copy VIDEO SUBTITLE",),
    "subtitles delete": ("subtitles delete VIDEO SUBTITLE --yes",),
    "subtitles reorder": ("subtitles reorder VIDEO ID2 ID1",),
    "annotations list": ("annotations list VIDEO",),
    "annotations get": ("annotations get VIDEO ANNOTATION --json",),
    "annotations create": ('annotations create VIDEO --title "Bar 118" --start-time 1:30 --end-time 2:00',),
    "annotations edit": ('annotations edit VIDEO ANNOTATION --title "Bar 119"',),
    "annotations delete": ("annotations delete VIDEO ANNOTATION --yes",),
    "materials list": ("materials list VIDEO",),
    "materials get": ("materials get VIDEO MATERIAL --json",),
    "materials download": ("materials download VIDEO MATERIAL -o words.pdf",),
    "materials upload": ('materials upload VIDEO --file words.pdf --title "The words"',),
    "materials rename": ('materials rename VIDEO MATERIAL --title "The words"',),
    "materials delete": ("materials delete VIDEO MATERIAL --yes",),
    "materials reorder": ("materials reorder VIDEO ID2 ID1",),
}
"""The words behind `livedeck` of a command -> lines of it, without `livedeck`."""


def with_examples(path: str, command: click.Command) -> click.Command:
    """That command, with its examples at the end of its help. `path`: the words behind `livedeck`."""
    if lines := EXAMPLES.get(path):
        command.epilog = "\n".join(["\b", "Examples:", *(f"  livedeck {line}" for line in lines)])
    elif isinstance(command, click.Group):
        for name, inner in command.commands.items():
            with_examples(f"{path} {name}", inner)
    return command
