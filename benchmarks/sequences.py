"""Referee filmed games and write docs/SEQUENCES.md (`make bench-sequences`).

The films and the scoring are not Rinkside's own: RINKSIDE_BENCH names the folder with
score_sequences.py and sequences/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy import BENCH, ROOT, commit

PAGE = ROOT / "docs" / "SEQUENCES.md"
GAMES = {
    "ice_boule": "Ice Boule",
    "icebreaker": "Icebreaker",
    "ice_storm": "Ice Storm",
    "icefloe": "IceFloe",
    "zamboni_wars": "Zamboni Wars",
}
OPTIONS = (
    "--table {table} --camera folder:{frames} --empty {empty} --game {game} --players {players}"
    " --inputs {inputs} --json"
)


@dataclass(frozen=True, slots=True)
class Film:
    """What came of the films of one game, as the scorer counts it."""

    game: str
    verdicts: int
    met: int
    false_calls: int


def refereed(game: str, films: Path = BENCH / "sequences") -> Film:
    """The films of a game in a folder, refereed by the command line; ends the program with one line
    where there is nothing to score by.
    """
    script = BENCH / "score_sequences.py"
    if not script.is_file():
        sys.exit(
            f"bench-sequences: expected score_sequences.py and sequences/ in {BENCH}; set"
            " RINKSIDE_BENCH to the folder that has them"
        )
    command = f"{Path(sys.executable).with_name('rinkside')} referee {OPTIONS}"
    ask = [
        sys.executable,
        str(script),
        "--sequences",
        str(films),
        "--referee",
        command,
        "--game",
        game,
    ]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    print(done.stdout, end="", flush=True)
    try:
        counted = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        sys.exit(f"bench-sequences: {game}: the scorer failed: {done.stderr.strip()[-200:]}")
    return Film(game, counted["verdicts"], counted["met"], counted["false_calls"])


def page(films: list[Film]) -> str:
    """The page, in Markdown."""
    rows = [
        f"| {GAMES[film.game]} | {film.verdicts} | {film.met} | {film.false_calls} |"
        for film in films
    ]
    total = [
        sum(getattr(film, name) for film in films) for name in ("verdicts", "met", "false_calls")
    ]
    return f"""# Filmed games

Measured {datetime.datetime.now(datetime.UTC):%Y-%m-%d} (commit {commit()}), Python {platform.python_version()}.
One stretch of play of each game, four pictures a second, with hands that come and go, violations that are put right, dice and votes
(`--inputs`). The pictures, and what a referee must have said by which time, are not Rinkside's own; others exist that are not here. A
false call is an acceptance or refusal that nobody asked for.

| game | verdicts expected | given as expected, in time | false calls |
|---|---|---|---|
{chr(10).join(rows)}
| all | {total[0]} | {total[1]} | {total[2]} |

`make bench-sequences` writes this page.
"""


if __name__ == "__main__":
    PAGE.write_text(page([refereed(game) for game in GAMES]), encoding="utf-8")
