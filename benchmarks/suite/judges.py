"""Referee simulated games without eyes.

No picture is drawn: the judges are told what lies on the table, as it is, or with faults at random.
What is not ruled on rightly by eyes that never err is a fault of judges or rules; what ends a game,
or the log, with eyes that do err is a fault too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from benchmarks.games.misreading import ALL
from benchmarks.games.playing import GAMES, PERIOD_MS, STUCK, Game, RefereedAct, play, seeing_faults
from benchmarks.games.tallies import count_unneeded, is_typed_in
from benchmarks.harness import Benchmark, Pairs
from simulation.players.driver import MISTAKES

WIDTH_PX = 320
"""Of the one picture that a table draws of itself when it is laid; nobody reads it."""
EYES = {"true": (0,), "bad": (0, 0, 0, 1)}
"""How many faults a table has, at random."""


class Options(msgspec.Struct, frozen=True):
    games: Annotated[int, "Seeds of each game."] = 50


class Row(msgspec.Struct, frozen=True):
    """What eyes of one kind left of a game; by verdict, without dice that were typed in."""

    game: str
    games: int
    over: int
    lawful: dict[str, int]
    planted: dict[str, int]
    failed: int
    unneeded: int | None = None
    """Questions of which no answer changed anything."""
    wrong_scores: int | None = None


class Summary(msgspec.Struct, frozen=True):
    mistakes: float
    period_s: float
    typed: int
    kinds: int
    """Of faults."""
    stuck: int
    true: tuple[Row, ...]
    bad: tuple[Row, ...]
    otherwise: tuple[str, ...]


def cases(options: Options) -> Iterator[tuple[str, str, int]]:
    """Eyes, games and seeds."""
    for seed in range(options.games):
        yield from ((eyes, game, seed) for game in GAMES for eyes in EYES)


def run(case: tuple[str, str, int]) -> Game:
    eyes, game, seed = case
    seeing = seeing_faults(EYES[eyes])
    return play(game, seed, width_px=WIDTH_PX, seeing=seeing)


def count_verdicts(found: Sequence[Game], lawful: bool) -> Counter[str]:
    """Verdicts on what was lawful or was not, without dice that were typed in."""
    return Counter(
        deed.verdict
        for one in found
        for deed in one.deeds
        if deed.lawful == lawful and not is_typed_in(deed)
    )


def row(game: str, found: Sequence[Game]) -> Row:
    return Row(
        game,
        len(found),
        sum(one.over for one in found),
        dict(count_verdicts(found, True)),
        dict(count_verdicts(found, False)),
        sum(bool(one.failed) for one in found),
        count_unneeded(found),
        sum(one.over and one.scores != one.recorded for one in found),
    )


def unexpected_lines(played: Sequence[Game]) -> Iterator[str]:
    """A line for every misjudged act, every kind of act that was asked about, and every error.

    Only games without misreadings count. What is asked in Ice Boule, and dice that are typed, are
    in the table instead.
    """
    asked: dict[tuple[str, str], list[RefereedAct]] = defaultdict(list)
    for one in played:
        if one.failed:
            yield f"{one.game} {one.seed}: ended with {one.failed}"
        for deed in one.deeds:
            if deed.verdict == "right" or (
                deed.verdict == "asked" and (one.game == "ice_boule" or is_typed_in(deed))
            ):
                continue
            if deed.verdict == "asked":
                asked[one.game, deed.name].append(deed)
            else:
                yield (
                    f"{one.game} {one.seed}: {deed.name} {', '.join(deed.moves[:3])}:"
                    f" {deed.verdict}. Said: {' / '.join(deed.said) or deed.panel}"
                )
    for (game, name), deeds in asked.items():
        yield f"{game}: {name}: asked {len(deeds)} times. The first time: {deeds[0].message[0]}"


def summarise(_options: Options, pairs: Pairs) -> Summary:
    games = {
        eyes: [[one for case, one in pairs if case[:2] == (eyes, game)] for game in GAMES]
        for eyes in EYES
    }
    rows = {
        eyes: tuple(row(found[0].game, found) for found in by_game if found)
        for eyes, by_game in games.items()
    }
    return Summary(
        mistakes=MISTAKES,
        period_s=PERIOD_MS / 1000,
        typed=sum(is_typed_in(deed) for _, one in pairs for deed in one.deeds),
        kinds=len(ALL),
        stuck=STUCK,
        true=rows["true"],
        bad=rows["bad"],
        otherwise=tuple(unexpected_lines([one for found in games["true"] for one in found])),
    )


BENCHMARK = Benchmark("JUDGES.md", cases, run, summarise, Options, processes=2)
