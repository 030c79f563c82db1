"""Who meets whom: round robin, knock-out, Swiss.  Pure functions of numbers of players.

A pair is (who begins, the other one). A player who stays alone has a bye: (player, None).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

Pair = tuple[int, int | None]
NOBODY = -1
"""Stands for the bye while players are paired; players have numbers from 0."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player before a round of a Swiss event.

    `met` counts games against others by their numbers, `began` how much more often the player began
    than not.
    """

    player: int
    score: float
    met: Mapping[int, int] = field(default_factory=Counter)
    byes: int = 0
    began: int = 0


def round_robin(players: Sequence[int]) -> list[list[Pair]]:
    """The rounds in which everybody meets everybody once, by the circle method.

    The first place stays and the others move on by one each round. Who begins is as even as can be.
    With an odd number of players the first place is empty: one of them is left out of each round.
    """
    ring: list[int | None] = [*([None] if len(players) % 2 else []), *players]
    rounds = []
    for turn in range(len(ring) - 1):
        pairs: list[Pair] = []
        for place in range(len(ring) // 2):
            one, other = ring[place], ring[-1 - place]
            if one is None or other is None:
                continue
            begins = turn % 2 == 0 if place == 0 else place % 2 == 1
            pairs.append((one, other) if begins else (other, one))
        rounds.append(pairs)
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def bracket(players: Sequence[int]) -> list[Pair]:
    """The first round of a knock-out, of players in the order of their strength.

    The best ones have byes where there are fewer players than places, and meet last: the winners of
    two pairs that follow each other meet in the next round.
    """
    seeds = [0]
    while len(seeds) < len(players):
        seeds = [seed for one in seeds for seed in (one, 2 * len(seeds) - 1 - one)]
    pairs: list[Pair] = []
    for one, other in zip(seeds[::2], seeds[1::2], strict=False):
        pairs.append((players[one], players[other] if other < len(players) else None))
    return pairs


def next_round(winners: Sequence[int]) -> list[Pair]:
    """The round of a knock-out after one whose pairs were won by `winners`, in their order."""
    return list(zip(winners[::2], winners[1::2], strict=True))


def swiss(entrants: Sequence[Entrant]) -> list[Pair]:
    """A round of a Swiss event, of players in the order of their strength; the bye comes last.

    Of all ways to pair, it is the one with, first, the fewest games and byes that repeat; then, the
    bye for the lowest of those; then, the least sum of squared differences between score groups;
    then, in each group, the upper half against the lower half in order. So it is what FIDE's Dutch
    system aims at, without its rules of colours. Found as a matching of least cost.
    """
    ranked = sorted(entrants, key=lambda one: -one.score)
    graph = nx.Graph()
    graph.add_weighted_edges_from(_edges(ranked))
    by_number = {one.player: one for one in ranked}
    rank = {one.player: number for number, one in enumerate(ranked)}
    met = nx.max_weight_matching(graph, maxcardinality=True)
    pairs = sorted(sorted(pair, key=lambda one: rank.get(one, len(rank))) for pair in met)
    pairs.sort(key=lambda pair: (pair[1] == NOBODY or pair[0] == NOBODY, rank[pair[0]]))
    return [
        (one, None) if other == NOBODY else _with_seats(by_number[one], by_number[other], board)
        for board, (one, other) in enumerate(pairs)
    ]


def _edges(ranked: Sequence[Entrant]) -> Iterator[tuple[int, int, int]]:
    """Pairs that are possible, with weights; whole numbers, so that nothing is rounded.

    What counts first is multiplied by more than all that comes after it can sum up to.
    """
    groups = sorted({one.score for one in ranked}, reverse=True)
    group = {score: number for number, score in enumerate(groups)}
    places = _places(ranked)
    count, alone = len(ranked), len(ranked) % 2 == 1
    orders = count * (2 * count) ** 2 + 1
    differences = orders * (count * (len(groups) + 1) ** 2 + 1)
    heights = differences * (count + 1)
    most = heights * (count * (1 + max(max(one.met.values(), default=0) for one in ranked)))
    most += heights * sum(one.byes for one in ranked) + heights
    for upper, one in enumerate(ranked):
        for other in ranked[upper + 1 :]:
            apart = (group[one.score] - group[other.score]) ** 2
            order = _disorder(places[one.player], places[other.player], apart == 0)
            cost = heights * one.met.get(other.player, 0) + orders * apart + order
            yield one.player, other.player, most - cost
        if alone:
            cost = heights * one.byes + differences * (count - 1 - upper)
            yield one.player, NOBODY, most - cost


@dataclass(frozen=True, slots=True)
class _Place:
    """A player's place in the score group, from 0, and how many there are in it."""

    number: int
    size: int


def _places(ranked: Sequence[Entrant]) -> dict[int, _Place]:
    sizes = Counter(one.score for one in ranked)
    seen: Counter[float] = Counter()
    places = {}
    for one in ranked:
        places[one.player] = _Place(seen[one.score], sizes[one.score])
        seen[one.score] += 1
    return places


def _disorder(upper: _Place, lower: _Place, same_group: bool) -> int:
    """How far two players are from those that the order of the groups would pair."""
    if same_group:
        return (lower.number - upper.number - upper.size // 2) ** 2
    return (upper.size - 1 - upper.number) ** 2 + lower.number**2


def _with_seats(one: Entrant, other: Entrant, board: int) -> Pair:
    """Who has begun less often begins; if that is equal, the better one on every second board."""
    first = one.began < other.began or (one.began == other.began and board % 2 == 0)
    return (one.player, other.player) if first else (other.player, one.player)
