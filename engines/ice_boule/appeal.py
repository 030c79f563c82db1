"""What may have happened instead of a throw that was ruled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from engines.appeal import instead
from engines.ice_boule import rules
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Move, Throw
from engines.ice_boule.ranking import Ranking, rank_layout, with_pair
from engines.ice_boule.state import State
from engines.verdict import Choice
from engines.words import as_recorded


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Neighbours in the order of distances the other way round or equally near; the throw on the target, touching it, or out of play."""
    return instead(rules, _near, state, moves)


def _near(_state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    if not isinstance(ruled, Throw):
        return
    yield from _orders(ruled)
    if ruled.lie is None:
        return
    at = ruled.layout.lies.index(ruled.lie)
    for lie, said in ((Lie(ruled.player, 0.0, True), "stands on the target"), (Lie(ruled.player, 0.0), "touches the target")):
        if not (lie.on_target and any(other.on_target for other in ruled.layout.lies)):
            yield f"{ruled.player.capitalize()}'s piece {said}", replace(ruled, lie=lie, layout=_first(ruled.layout, at, lie))
    out = rank_layout(ruled.layout).without(at).layout()
    yield f"{ruled.player.capitalize()}'s piece left the play area", Throw(ruled.player, None, None, out)


def _orders(ruled: Throw) -> Iterator[tuple[str, Throw]]:
    lies = ruled.layout.lies
    thrown = lies.index(ruled.lie) if ruled.lie else None
    for at, (near, far) in enumerate(pairwise(lies)):
        if near.colour != far.colour:
            yield _sentence(f"{_piece(far)} is nearer than {_piece(near)}"), _ranked(ruled, thrown, with_pair(ruled.layout, at, equal=False))
            if not near.on_target:
                yield _sentence(f"{_piece(near)} and {_piece(far)} are equally near"), _ranked(ruled, thrown, with_pair(ruled.layout, at, equal=True))


def _piece(lie: Lie) -> str:
    where = {"on": "on the target", "touching": "that touches"}.get(lie.distance, f"at {as_recorded(lie.gap_mm)} mm")
    return f"{lie.colour}'s piece {where}"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _ranked(ruled: Throw, thrown: int | None, ranking: Ranking) -> Throw:
    return replace(ruled, lie=None if thrown is None else ranking.lie(thrown), layout=ranking.layout())


def _first(layout: Layout, at: int, lie: Lie) -> Layout:
    """The layout with the piece that lay `at` a place lying nearest now, behind what is as near."""
    others = rank_layout(layout).without(at).layout()
    nearer = sum(other.rank <= lie.rank for other in others.lies)
    before, behind = others.lies[:nearer], others.lies[nearer:]
    relations = (*others.relations[: max(nearer - 1, 0)], *("<" for one in (before, behind) if one), *others.relations[nearer:])
    return Layout((*before, lie, *behind), relations)
