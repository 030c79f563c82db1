"""Elo of players from the games that they won, at tables of two or more.

At a table each player wins with a chance in proportion to a strength of its own (Bradley and Terry
for two, Luce for more). The strengths that make the results most likely are found by
minorisation-maximisation (Hunter, 2004); 400 points of Elo are ten times the strength.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random

Result = tuple[tuple[str, ...], tuple[str, ...]]
"""Who sat at a table, one for each seat, and who of them won; several share the win."""
ROUNDS, ENOUGH = 2000, 1e-6
RESAMPLED = 200


def elo(results: Sequence[Result], anchor: str, others: Iterable[str] = ()) -> dict[str, float]:
    """Elo of everybody in the results, and of others; `anchor` has 0.

    Everybody is given one drawn game with each other, so that who won all games has an end too.
    """
    names = sorted({anchor, *others, *(name for seats, _ in results for name in seats)})
    drawn: list[Result] = [
        ((one, other), (one, other)) for one in names for other in names if one < other
    ]
    counted = [*results, *drawn]
    won: dict[str, float] = defaultdict(float)
    for _, winners in counted:
        for name in winners:
            won[name] += 1 / len(winners)
    strength = dict.fromkeys(names, 1.0)
    for _ in range(ROUNDS):
        shares: dict[str, float] = defaultdict(float)
        for seats, _ in counted:
            whole = sum(strength[name] for name in seats)
            for name in seats:
                shares[name] += 1 / whole
        new = {name: won[name] / shares[name] for name in names}
        new = {name: value / new[anchor] for name, value in new.items()}
        change = max(abs(math.log(new[name] / strength[name])) for name in names)
        strength = new
        if change < ENOUGH:
            break
    return {name: 400 * math.log10(strength[name]) for name in names}


def spread(results: Sequence[Result], anchor: str) -> dict[str, tuple[float, float]]:
    """The middle 95 % of Elo where the games are drawn again from those that were played."""
    chance, found = Random(1), defaultdict[str, list[float]](list)
    everybody = {name for seats, _ in results for name in seats}
    for _ in range(RESAMPLED):
        again = chance.choices(results, k=len(results))
        for name, value in elo(again, anchor, everybody).items():
            found[name].append(value)
    return {
        name: (sorted(values)[len(values) // 40], sorted(values)[-1 - len(values) // 40])
        for name, values in found.items()
    }
