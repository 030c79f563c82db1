"""Pairings for round robin, knock-out and Swiss.  Pure functions of player numbers.

A pair is (first player, second player). A bye is (player, None).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

Pair = tuple[int, int | None]
NOBODY = -1
"""Player number of the bye during pairing; real players have numbers from 0."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A player before a round of a Swiss event.

    `met` counts games against each opponent, by number. `began` is games begun minus games not
    begun.
    """

    player: int
    score: float
    met: Mapping[int, int] = field(default_factory=Counter)
    byes: int = 0
    began: int = 0


def round_robin(players: Sequence[int]) -> list[list[Pair]]:
    """All rounds of a single round robin, by the circle method.

    The first place is fixed and the others rotate by one each round. Starts are balanced as far as
    possible. With an odd number of players the first place is empty, so one player is idle per
    round.
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
    """The first round of a knock-out, for players in seeding order.

    Top seeds get the byes if players do not fill the bracket, and meet as late as possible. Winners
    of adjacent pairs meet in the next round.
    """
    seeds = [0]
    while len(seeds) < len(players):
        seeds = [seed for one in seeds for seed in (one, 2 * len(seeds) - 1 - one)]
    pairs: list[Pair] = []
    for one, other in zip(seeds[::2], seeds[1::2], strict=False):
        pairs.append((players[one], players[other] if other < len(players) else None))
    return pairs


def next_round(winners: Sequence[int]) -> list[Pair]:
    """The next round of a knock-out: pairs adjacent `winners`, given in bracket order."""
    return list(zip(winners[::2], winners[1::2], strict=True))


def swiss(entrants: Sequence[Entrant]) -> list[Pair]:
    """Pair a round of a Swiss event, for players in seeding order; the bye comes last.

    A minimum-cost matching, with these criteria in order of precedence: fewest repeated games and
    byes; the bye to the lowest-ranked player; least sum of squared score-group differences; within
    a group, upper half against lower half in order. These are the aims of FIDE's Dutch system,
    without its colour rules.
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
    """Possible pairs with weights; integers, so that nothing is rounded.

    The factor of each criterion exceeds the largest sum of all lower criteria.
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
    """A player's index in the score group, from 0, and the group's size."""

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
    """Cost of a pair: squared deviation from the opponents that group order gives."""
    if same_group:
        return (lower.number - upper.number - upper.size // 2) ** 2
    return (upper.size - 1 - upper.number) ** 2 + lower.number**2


def _with_seats(one: Entrant, other: Entrant, board: int) -> Pair:
    """The player with fewer starts begins; on a tie, the higher seed on every second board."""
    first = one.began < other.began or (one.began == other.began and board % 2 == 0)
    return (one.player, other.player) if first else (other.player, one.player)
