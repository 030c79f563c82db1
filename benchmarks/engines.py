"""Time the rules of every game and write docs/ENGINES.md (`make bench-engines`): random playouts,
perft, players against each other.

What stands there from `KEPT` on, figures of runs that take hours, is kept as it is.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

import click

from engines import GAMES, Rules
from simulation.players.icebreaker_search import SearchPlayer
from simulation.players.policies import GreedyPlayer, Player, RandomPlayer, playout

ROOT = Path(__file__).parents[1]
STARTS: list[tuple[str, str, dict[str, str]]] = [
    ("icebreaker", "red black", {}),
    *(("icebreaker", "red black", {"size": size}) for size in ("4", "6", "7", "8")),
    ("zamboni_wars", "yellow blue", {}),
    ("zamboni_wars", "yellow red blue green", {"warp": "on", "cover": "on"}),
    ("ice_storm", "red yellow blue", {}),
    ("ice_boule", "blue yellow", {}),
    ("icefloe", "red blue yellow", {}),
    ("icefloe", "red black yellow blue", {}),
]
"""Game, players, rulings that differ from the defaults."""
MOST = 4000
"""Perft of other games than Icebreaker goes one move deeper while it has counted fewer than
that.
"""


def titled(name: str, players: str, rulings: dict[str, str]) -> str:
    """How a row is called."""
    options = "".join(f", {option}={value}" for option, value in rulings.items())
    return f"{name.replace('_', ' ')}, {len(players.split())} players{options}"


def playouts(game: Rules, first: Any, seconds: float) -> tuple[int, int, float]:
    """Games that chance played from `first`, their moves, and the seconds of processor time that
    they took.
    """
    player, games, moves = RandomPlayer(game, Random(1)), 0, 0
    start = time.process_time()
    while (took := time.process_time() - start) < seconds:
        moves += sum(1 for _ in playout(game, first, player.choose))
        games += 1
    return games, moves, took


def perft(game: Rules, state: Any, depth: int) -> int:
    """Games of `depth` moves from a state; where moves are continuous, games of examples."""
    legal = game.legal_moves(state)
    return (
        len(legal)
        if depth == 1
        else sum(perft(game, game.play(state, move), depth - 1) for move in legal)
    )


def counts(game: Rules, first: Any, depth: int | None) -> tuple[list[int], float]:
    """Perft to a depth, None for one that goes beyond `MOST`, and the seconds of processor time
    that the deepest took.
    """
    found: list[int] = []
    took = 0.0
    while len(found) < depth if depth else not found or found[-1] < MOST:
        start = time.process_time()
        found.append(perft(game, first, len(found) + 1))
        took = time.process_time() - start
    return found, took


def match(one: Player, other: Player, games: int) -> tuple[int, float]:
    """Games of Icebreaker that `one` wins, beginning every second one, and its milliseconds of
    processor time a move.
    """
    game, won, moves, spent_s = GAMES["icebreaker"], 0, 0, 0.0
    for number in range(games):
        colours = ("red", "black") if number % 2 == 0 else ("black", "red")
        players = dict(zip(colours, (one, other), strict=True))

        def choose(state: Any, players: dict[str, Player] = players) -> Any:
            nonlocal moves, spent_s
            start = time.process_time()
            move = players[state.next].choose(state)
            if players[state.next] is one:
                moves, spent_s = moves + 1, spent_s + time.process_time() - start
            return move

        *_, (_, last) = playout(game, game.start(["red", "black"], {}), choose)
        won += players[game.outcome(last).winner] is one
    return won, 1000 * spent_s / moves


def playout_rows(seconds: float) -> list[str]:
    """One row for every start."""
    rows = []
    for name, players, rulings in STARTS:
        game = GAMES[name]
        games, moves, took = playouts(game, game.start(players.split(), rulings), seconds)
        rows.append(
            f"| {titled(name, players, rulings)} | {games / took:,.0f} | {moves / games:.0f} |"
            f" {1e6 * took / moves:.1f} µs |"
        )
        print(rows[-1], file=sys.stderr)
    return rows


def perft_rows() -> list[str]:
    """One row for every start."""
    rows = []
    for name, players, rulings in STARTS:
        game = GAMES[name]
        depth = (6 if not rulings else 4) if name == "icebreaker" else None
        found, took = counts(game, game.start(players.split(), rulings), depth)
        rows.append(
            f"| {titled(name, players, rulings)} | {', '.join(f'{count:,}' for count in found)} |"
            f" {took:.2f} s |"
        )
        print(rows[-1], file=sys.stderr)
    return rows


def match_rows(games: int) -> list[str]:
    """One row for every pair of players of Icebreaker."""
    chance = Random(1)
    by_chance, greedy = (
        RandomPlayer(GAMES["icebreaker"], chance),
        GreedyPlayer(GAMES["icebreaker"], chance),
    )
    pairs: list[tuple[str, Player, str, Player]] = [
        ("greedy", greedy, "random", by_chance),
        ("search, 100 nodes", SearchPlayer(100), "greedy", greedy),
        ("search, 2,000 nodes", SearchPlayer(2000), "greedy", greedy),
    ]
    rows = []
    for one_name, one, other_name, other in pairs:
        won, spent_ms = match(one, other, games)
        rows.append(f"| {one_name} | {other_name} | {won} of {games} | {spent_ms:.1f} ms |")
        print(rows[-1], file=sys.stderr)
    return rows


KEPT = "## What the tests found\n"
TEXT = """# The rules: how fast they are, and what the tests found

Measured {date} with Rinkside {version} (commit {commit}) on one of {machine}.
`make bench-engines` writes this page down to "What the tests found"; no figure before that is typed by hand. Times are processor time:
waiting for other work on the machine is left out, though that still slows what runs beside it.

## Random playouts
Whole games from the start, each move chosen by chance among the legal ones and checked again when it is played; nothing but the
functions that every game offers (`legal_moves`, `play`, `outcome`).

| game | playouts a second | moves each | a move |
|---|---|---|---|
{playouts}

## Perft
Games of one, two, three ... moves from the start. Icebreaker's are what another program counts too. Where pieces come to
rest anywhere (Ice Boule, Ice Storm) examples of throws are counted, and die rolls are moves: those counts only show what changed.

| game | counts | the last |
|---|---|---|
{perft}

## Players of Icebreaker
Size 5, each begins every second game.

| player | against | wins | a move |
|---|---|---|---|
{matches}

The search is alpha-beta, one move deeper at a time, until its nodes are spent; it takes no clock, so it plays alike everywhere.

"""


def commit() -> str:
    """Short hash of what was measured, and whether anything differs from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "engines")
    return git("rev-parse", "--short", "HEAD") + (", with changes" if changed else "")


@click.command()
@click.option(
    "--seconds", default=3.0, show_default=True, help="Processor time to play out each game for."
)
@click.option("--games", default=100, show_default=True, help="Games of each pair of players.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "ENGINES.md",
    help="The page to write.",
)
def main(seconds: float, games: int, out: Path) -> None:
    """Time playouts, perft and players, and write the page."""
    measured = commit()
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        version=metadata.version("rinkside"),
        commit=measured,
        machine=f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}",
        playouts="\n".join(playout_rows(seconds)),
        perft="\n".join(perft_rows()),
        matches="\n".join(match_rows(games)),
    )
    page = out.read_text(encoding="utf-8") if out.exists() else ""
    out.write_text(text + page[page.index(KEPT) :] if KEPT in page else text, encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
