"""The known order of pieces, and every order that the doubt leaves open.

A ranking lists pieces nearest first. For each two it says whether one is nearer, both are equal, or
neither is known. If the rules need to know more, `readings` gives the orders that people may choose
from; each agrees with all that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.measure import Measurement

Known = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Pieces nearest first; `ids` name them (places in the measurement's gaps).

    `nearer[i, j]`: the i-th is known to be nearer than the j-th; `equal[i, j]`: people said they
    are equal; both (n, n). Only pairs of different colours are kept.  Distances never fall along
    the order.
    """

    ids: tuple[int, ...]
    lies: tuple[Lie, ...]
    nearer: Known
    equal: Known

    def layout(self) -> Layout:
        """The ranking in the notation of moves."""
        return Layout(self.lies, tuple(self._relation(k) for k in range(1, len(self.lies))))

    def lie(self, piece: int) -> Lie:
        """Where the piece with this id lies."""
        return self.lies[self.ids.index(piece)]

    def without(self, piece: int | None) -> Ranking:
        """Return the ranking without the piece with this id."""
        kept = [k for k, name in enumerate(self.ids) if name != piece]
        return _reordered(self, kept, self.nearer, self.equal)

    def places(self, colour: str) -> tuple[list[int], list[int]]:
        """Places of the pieces of a colour, and of all others."""
        own = [k for k, lie in enumerate(self.lies) if lie.colour == colour]
        return own, [k for k in range(len(self.lies)) if k not in own]

    def _relation(self, at: int) -> str:
        """The relation between the places before `at` and those from there on."""
        colours = np.array([lie.colour for lie in self.lies])
        rivals = colours[:at, None] != colours[None, at:]
        equal = self.equal[:at, at:][rivals]
        if not (self.nearer[:at, at:][rivals] | equal).all():
            return "~"
        return "=" if equal.any() else "<"


def rank_layout(layout: Layout) -> Ranking:
    """Return the ranking known from the layout of an earlier move."""
    count = len(layout.lies)
    nearer, equal = np.zeros((count, count), bool), np.zeros((count, count), bool)
    for i, j in combinations(range(count), 2):
        if layout.lies[i].colour != layout.lies[j].colour:
            nearer[i, j] = layout.relation(i, j) == "<"
            equal[i, j] = equal[j, i] = layout.relation(i, j) == "="
    return Ranking(tuple(range(count)), layout.lies, nearer, equal)


def with_pair(layout: Layout, at: int, equal: bool) -> Ranking:
    """Return a layout's ranking with the pieces at `at` and `at + 1` decided.

    They are equally near if `equal`, else the second one is nearer.
    """
    ranking, order = rank_layout(layout), list(range(len(layout.lies)))
    nearer, alike = ranking.nearer.copy(), ranking.equal.copy()
    nearer[at, at + 1], nearer[at + 1, at] = False, not equal
    alike[at, at + 1] = alike[at + 1, at] = equal
    if not equal:
        order[at], order[at + 1] = at + 1, at
    return _reordered(ranking, order, nearer, alike)


def rank_measurement(
    measured: Measurement, kept: Mapping[int, int], layout: Layout, guessed: bool = False
) -> Ranking:
    """Return the ranking known from a measurement, and from rulings on pieces that did not move.

    `kept` maps an index in `measured.gaps` to that of the same piece in `layout`, if neither it nor
    the target moved. Such pieces keep their ruled distance and order, so that nobody is asked
    twice. If the target's place is only `guessed`, nothing else is known.
    """
    gaps = measured.gaps
    lies = tuple(
        layout.lies[kept[k]] if k in kept else Lie(gap.piece.colour, gap.mm, gap.on_target)
        for k, gap in enumerate(gaps)
    )
    known = rank_layout(layout)
    count = len(gaps)
    nearer, equal = np.zeros((count, count), bool), np.zeros((count, count), bool)
    for i in range(count):
        for j in range(count):
            if lies[i].colour == lies[j].colour:
                continue
            if (lies[i].on_target and lies[j].on_target) or (gaps[i].as_ruled and gaps[j].as_ruled):
                equal[i, j] = True
                continue
            if (
                i in kept
                and j in kept
                and (known.nearer | known.nearer.T | known.equal)[kept[i], kept[j]]
            ):
                nearer[i, j], equal[i, j] = (
                    known.nearer[kept[i], kept[j]],
                    known.equal[kept[i], kept[j]],
                )
            else:
                nearer[i, j] = not guessed and measured.nearer(i, j)
    order = sorted(range(count), key=lambda k: (lies[k].rank, kept.get(k, count)))
    return _reordered(Ranking(tuple(range(count)), lies, nearer, equal), order, nearer, equal)


def readings(ranking: Ranking, too_close: Callable[[Ranking], bool]) -> Iterator[Ranking]:
    """Return rankings that decide enough.

    The given one if it is not `too_close`, else every one that people may choose.
    """
    if not too_close(ranking):
        yield ranking
        return
    for lead in _possible_leads(ranking):
        if too_close(lead):
            yield from _counts(lead)
        else:
            yield lead


def _possible_leads(ranking: Ranking) -> Iterator[Ranking]:
    """Yield every way to decide the leading distance: one colour nearest, or several equal."""
    if not ranking.layout().lead_in_doubt:
        yield ranking
        return
    groups = _contenders(ranking)
    colours = np.array([lie.colour for lie in ranking.lies])
    rivals = colours[:, None] != colours[None]
    ways: dict[frozenset[str], list[int]] = {}
    for together in (
        some for size in range(1, len(groups) + 1) for some in combinations(groups, size)
    ):
        inside = sorted(place for group in together for place in group)
        # It does not matter which pieces share the lead: one way per set of colours is enough.
        ways.setdefault(frozenset(colours[inside].tolist()), inside)
    for inside in sorted(ways.values(), key=lambda inside: len({*colours[inside]})):
        outside = [k for k in range(len(ranking.lies)) if k not in inside]
        nearer, equal = ranking.nearer.copy(), ranking.equal.copy()
        nearer[np.ix_(inside, outside)] = True
        nearer[np.ix_(outside, inside)] = False
        equal[np.ix_(inside, inside)] = rivals[np.ix_(inside, inside)]
        yield _reordered(ranking, inside + outside, nearer, equal)


def _contenders(ranking: Ranking) -> list[tuple[int, ...]]:
    """Places of the pieces that may be the nearest, each with those equal to it by decision.

    For each colour these are one not known to be farther than another's, and one of these not
    called equal to another colour's. Of several candidates the one known to be nearer than most is
    used, so that a decision about it implies nothing new about the others.
    """
    linked = set(np.nonzero(ranking.equal)[0].tolist())
    places: list[int] = []
    for colour in dict.fromkeys(lie.colour for lie in ranking.lies):
        own = [place for place in ranking.places(colour)[0] if not ranking.nearer[:, place].any()]
        own.sort(key=lambda place: -int(ranking.nearer[place].sum()))
        places += sorted({*own[:1], *[place for place in own if place not in linked][:1]})
    groups = dict.fromkeys(_equal_places(ranking, place) for place in places)
    return [group for group in groups if not ranking.nearer[:, group].any()]


def _equal_places(ranking: Ranking, place: int) -> tuple[int, ...]:
    """Places called equal to this one, itself included, in order."""
    group = {place}
    while more := set(np.nonzero(ranking.equal[sorted(group)].any(axis=0))[0].tolist()) - group:
        group |= more
    return tuple(sorted(group))


def _counts(ranking: Ranking) -> Iterator[Ranking]:
    """Every number of the leader's pieces that may be nearer than the best of all others.

    Which piece is that best one is not asked, as nothing depends on it: the best estimate is used.
    """
    own, others = ranking.places(ranking.lies[0].colour)
    surely = sum(bool(ranking.nearer[k, others].all()) for k in own)
    possible = [k for k in own if not (ranking.nearer[others, k] | ranking.equal[others, k]).any()]
    for count in range(surely, len(possible) + 1):
        inside, best = possible[:count], others[0]
        rest = [k for k in range(len(ranking.lies)) if k not in inside and k != best]
        nearer, equal = ranking.nearer.copy(), ranking.equal.copy()
        nearer[np.ix_(inside, others)] = True
        nearer[np.ix_(others, inside)] = False
        nearer[best, rest], nearer[rest, best] = True, False
        equal[best, rest] = equal[rest, best] = False
        yield _reordered(ranking, [*inside, best, *rest], nearer, equal)


def _reordered(ranking: Ranking, order: list[int], nearer: Known, equal: Known) -> Ranking:
    """Return the ranking with its pieces in another order.

    Distances that would fall along the new order are averaged, which is their best estimate given
    the order (isotonic regression, pool adjacent violators).
    """
    grid = np.ix_(order, order)
    lies = tuple(ranking.lies[k] for k in order)
    moved = Ranking(tuple(ranking.ids[k] for k in order), lies, nearer[grid], equal[grid])
    joined = [moved._relation(k) == "=" for k in range(1, len(lies))]
    standing = next((k for k, lie in enumerate(lies) if not lie.on_target), len(lies))
    standing = (
        0 if joined[standing - 1 : standing] == [True] and standing else standing
    )  # a piece as near as one beside it does not stand on the target
    on_target = [k < standing for k in range(len(lies))]
    gaps_mm = _rising([lie.gap_mm for lie in lies], joined)
    return replace(moved, lies=tuple(map(Lie, (lie.colour for lie in lies), gaps_mm, on_target)))


def _rising(values: list[float], joined: list[bool]) -> list[float]:
    """Least-squares fit to `values` that never falls and is equal for `joined` neighbours."""
    pools: list[list[float]] = []
    for k, value in enumerate(values):
        pools.append([value])
        if k and joined[k - 1]:
            last = pools.pop()
            pools[-1] += last
        while len(pools) > 1 and sum(pools[-2]) / len(pools[-2]) > sum(pools[-1]) / len(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    return [sum(pool) / len(pool) for pool in pools for _ in pool]
