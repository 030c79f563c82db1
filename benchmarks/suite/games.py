"""Referee whole simulated games through camera, eyes, judge and log.

Players move, roll and vote, err and cheat; what the referee made of each act is set beside what
truly happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from benchmarks.games.playing import GAMES, PERIOD_MS, STUCK, Game, play
from benchmarks.games.tallies import Tally, count_unneeded, tallies, unexpected_lines
from benchmarks.harness import Benchmark, Pairs
from simulation.players.driver import MISTAKES
from simulation.tables import WIDTH_PX, installed_players
from table.errors import InputError


class Options(msgspec.Struct, frozen=True):
    games: Annotated[int, "Seeds of each game."] = 50
    first: Annotated[int, "The first seed."] = 0
    game: Annotated[str, "One installed game, of any package; else those of this project."] = ""
    width: Annotated[int, "Width of the camera's pictures in pixels."] = WIDTH_PX


class Summary(msgspec.Struct, frozen=True):
    widths_px: tuple[int, ...]
    pictures_per_s: float
    mistakes: float
    """Chance before each move that something goes wrong."""
    stuck: int
    silent: int
    silent_explained: int
    """Of the silent acts, of which nothing is on record, those where the panel said why."""
    without_unneeded: dict[str, float]
    """By game, the share of lawful acts that are as expected, or asked about because it matters."""
    tallies: tuple[Tally, ...]
    otherwise: tuple[str, ...]


def cases(options: Options) -> Iterator[tuple[str, int, int]]:
    """Games, seeds and widths in pixels."""
    for seed in range(options.first, options.first + options.games):
        yield from ((game, seed, options.width) for game in played_games(options))


def played_games(options: Options) -> tuple[str, ...]:
    """The games that are played; raises InputError for one that nobody plays here."""
    if options.game and options.game not in (known := installed_players()):
        raise InputError(f"--game: expected {', '.join(known)}, got {options.game!r}")
    return (options.game,) if options.game else GAMES


def run(case: tuple[str, int, int]) -> Game:
    game, seed, width_px = case
    return play(game, seed, width_px=width_px)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    played = in_order(pairs)
    silent = [
        deed
        for one in played
        for deed in one.deeds
        if deed.verdict == "nothing" and not deed.message
    ]
    return Summary(
        tuple(dict.fromkeys(one.width_px for one in played)),
        1000 / PERIOD_MS,
        MISTAKES,
        STUCK,
        len(silent),
        sum(bool(deed.panel) for deed in silent),
        without_unneeded(played),
        tallies(played),
        tuple(unexpected_lines(played)),
    )


def without_unneeded(played: list[Game]) -> dict[str, float]:
    shares = {}
    for game in dict.fromkeys(one.game for one in played):
        found = [one for one in played if one.game == game]
        lawful = [deed for one in found for deed in one.deeds if deed.lawful]
        good = sum(deed.verdict in ("right", "asked") for deed in lawful) - count_unneeded(found)
        shares[game] = good / len(lawful) if lawful else 1.0
    return shares


def in_order(pairs: Pairs) -> list[Game]:
    """Games in the order of GAMES and seeds; those of other packages come last."""
    order = {game: number for number, game in enumerate(GAMES)}
    played = (one for _, one in pairs)
    return sorted(played, key=lambda one: (order.get(one.game, len(GAMES)), one.game, one.seed))


BENCHMARK = Benchmark("GAMES.md", cases, run, summarise, Options, processes=2)
