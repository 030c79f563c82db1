"""What one piece that is read badly in one table costs.

The filmed games are read once; then they are refereed again and again from what was read, with one
piece of one table at rest changed each time, and scored as the films are.  RINKSIDE_BENCH names the
folder with score_sequences.py and sequences/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from benchmarks.films import GAMES, SAME_MM, STILL_MM, Film, Reading, film_of, is_near
from benchmarks.games.piece_faults import FAULTS, Fault
from benchmarks.harness import Benchmark, NoOptions, Pairs
from benchmarks.photographs import load_scorer
from table.observation import Observation, SeenPiece
from table.table_config import Setup

SEED = 7


class Cost(msgspec.Struct):
    """What faults of a kind cost in a game."""

    verdicts: int
    """That are expected of the film."""
    faults: int = 0
    lost: int = 0
    worst: int = 0
    false_calls: int = 0
    untrue: int = 0
    """Moves that were ruled on in hindsight and had not happened."""


def scored(scorer: Any, film: Film, verdicts: list[dict[str, Any]]) -> tuple[int, int]:
    """Verdicts that are met in time, and false calls, as score_sequences.py counts them."""
    met, used, before = 0, set(), -1
    for want in film.expected:
        close = [(k, got) for k, got in enumerate(verdicts) if before < got["t_ms"] <= want["t_ms"]]
        before = want["t_ms"]
        met += any(
            scorer.same({key: value for key, value in want.items() if key != "t_ms"}, got)
            for _, got in close
        )
        used |= {k for k, got in close if got["code"] == want["code"]}
    return met, sum(
        k not in used and got["verdict"] in ("accepted", "refused")
        for k, got in enumerate(verdicts)
    )


def costs(scorer: Any, film: Film, fault: Fault, rng: random.Random) -> Cost:
    """Every table of a film with one piece that came, and with one that lay there, read badly."""
    cost, whole = Cost(len(film.expected)), film.refereed(film.readings)
    met, _ = scored(scorer, film, whole)
    played = {move for one in whole for move in _without_mm(one)}
    before: tuple[SeenPiece, ...] = ()
    for table in film.tables():
        last = film.readings[table[-1]]
        assert isinstance(last, Observation)
        came = [
            piece
            for piece in last.pieces
            if not any(is_near(piece, other, STILL_MM) for other in before)
        ]
        lay = [piece for piece in last.pieces if not any(piece is other for other in came)]
        before = last.pieces
        for pieces in filter(None, (came, lay)):
            piece = rng.choice(pieces)
            readings = [
                _hurt(seen, piece, fault, film.setup) if k in table else seen
                for k, seen in enumerate(film.readings)
            ]
            if all(one is other for one, other in zip(readings, film.readings, strict=True)):
                continue
            verdicts = film.refereed(readings)
            now_met, false_calls = scored(scorer, film, verdicts)
            cost.faults += 1
            cost.lost += met - now_met
            cost.worst = max(cost.worst, met - now_met)
            cost.false_calls += false_calls
            cost.untrue += sum(
                not played.issuperset(_without_mm(one))
                for one in verdicts
                if one["evidence"].get("in_hindsight")
            )
    return cost


def _without_mm(verdict: dict[str, Any]) -> list[str]:
    """Moves of a verdict without distances.

    Those of Ice Boule have distances in them, which another reading changes a little.
    """
    return [re.sub(r"\d+\.\d+", "", move) for move in verdict["moves"]]


def _hurt(seen: Reading, piece: SeenPiece, fault: Fault, setup: Setup) -> Reading:
    if not isinstance(seen, Observation):
        return seen
    k = next((k for k, one in enumerate(seen.pieces) if is_near(one, piece, SAME_MM)), None)
    return seen if k is None else fault(seen, k, setup)


class MeanCost(msgspec.Struct, frozen=True):
    """Verdicts that are expected of a film, and that are lost by a fault: on average, and most."""

    verdicts: int
    faults: int
    lost: float
    worst: int


class Summary(msgspec.Struct, frozen=True):
    costs: dict[str, dict[str, MeanCost]]
    """By fault and game."""
    faults: int
    false_calls: int
    untrue: int


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    return ((game, fault) for game in GAMES for fault in FAULTS)


def run(case: tuple[str, str]) -> Cost:
    scorer, (game, fault) = load_scorer("score_sequences"), case
    return costs(scorer, film_of(game), FAULTS[fault], random.Random(SEED))


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    by_fault: dict[str, dict[str, MeanCost]] = {}
    for (game, fault), cost in pairs:
        lost = cost.lost / max(1, cost.faults)
        mean = MeanCost(cost.verdicts, cost.faults, lost, cost.worst)
        by_fault.setdefault(fault, {})[game] = mean
    sums = (
        sum(getattr(cost, what) for _, cost in pairs)
        for what in ("faults", "false_calls", "untrue")
    )
    return Summary(by_fault, *sums)


BENCHMARK = Benchmark("FAULTS.md", cases, run, summarise, section=True)
