"""What may have happened instead of a throw that was ruled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from engines.alternatives import instead
from engines.ice_boule import rules
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Move, Size, Stop, Target, Throw, Void
from engines.ice_boule.ranking import Ranking, rank_layout, with_pair
from engines.ice_boule.state import State
from engines.verdict import Choice
from table.listing import as_recorded
from table.pieces import COLOURS


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Neighbours in the order of distances the other way round or equally near; the throw on the
    target, touching it, out of play, or of another size where it fixes that; the target out of
    play, or of another colour; another size that was said; a throw where a stop was heard.
    """
    return instead(rules, _near, state, moves)


def _near(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    match ruled:
        case Throw():
            yield from _throws(state, ruled)
            yield "It left the play area: the end is void", Void()
            yield from _stops(state)
        case Stop() | Void():
            yield from _out(state)
            yield from _stops(state)
            yield "It left the play area: the end is void", Void()
        case Size():
            yield from (
                (f"{ruled.player} throws {size} pieces", replace(ruled, size=size))
                for size in rules.SIZES
            )
        case Target():
            yield from ((f"A {colour} target stands upright", Target(colour)) for colour in COLOURS)


def _out(state: State) -> Iterator[tuple[str, Move]]:
    if state.next is not None:
        yield (
            f"{state.next.capitalize()}'s piece left the play area",
            Throw(state.next, None, None, state.layout),
        )


def _stops(state: State) -> Iterator[tuple[str, Move]]:
    if state.may_stop:
        yield f"{state.next} throws no more", Stop(str(state.next))


def _throws(state: State, ruled: Throw) -> Iterator[tuple[str, Move]]:
    yield from _orders(ruled)
    if ruled.lie is None:
        return
    at = ruled.layout.lies.index(ruled.lie)
    for lie, said in (
        (Lie(ruled.player, 0.0, True), "stands on the target"),
        (Lie(ruled.player, 0.0), "touches the target"),
    ):
        if lie != ruled.lie:
            yield (
                f"{ruled.player.capitalize()}'s piece {said}",
                replace(ruled, lie=lie, layout=_first(ruled.layout, at, lie)),
            )
    out = rank_layout(ruled.layout).without(at).layout()
    yield (
        f"{ruled.player.capitalize()}'s piece left the play area",
        Throw(ruled.player, None, None, out),
    )
    if state.size(ruled.player) is None:
        yield from ((f"A {size} piece", replace(ruled, size=size)) for size in rules.SIZES)


def _orders(ruled: Throw) -> Iterator[tuple[str, Throw]]:
    lies = ruled.layout.lies
    thrown = lies.index(ruled.lie) if ruled.lie else None
    for at, (near, far) in enumerate(pairwise(lies)):
        if near.colour != far.colour:
            yield (
                _sentence(f"{_piece(far)} is nearer than {_piece(near)}"),
                _ranked(ruled, thrown, with_pair(ruled.layout, at, equal=False)),
            )
            if not near.on_target:
                yield (
                    _sentence(f"{_piece(near)} and {_piece(far)} are equally near"),
                    _ranked(ruled, thrown, with_pair(ruled.layout, at, equal=True)),
                )


def _piece(lie: Lie) -> str:
    where = {"on": "on the target", "touching": "that touches"}.get(
        lie.distance, f"at {as_recorded(lie.gap_mm)} mm"
    )
    return f"{lie.colour}'s piece {where}"


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _ranked(ruled: Throw, thrown: int | None, ranking: Ranking) -> Throw:
    return replace(
        ruled, lie=None if thrown is None else ranking.lie(thrown), layout=ranking.layout()
    )


def _first(layout: Layout, at: int, lie: Lie) -> Layout:
    """The layout with the piece that lay `at` a place lying nearest now, behind what is as near."""
    others = rank_layout(layout).without(at).layout()
    nearer = sum(other.rank <= lie.rank for other in others.lies)
    before, behind = others.lies[:nearer], others.lies[nearer:]
    relations = (
        *others.relations[: max(nearer - 1, 0)],
        *("<" for one in (before, behind) if one),
        *others.relations[nearer:],
    )
    return Layout.sorted((*before, lie, *behind), relations)
