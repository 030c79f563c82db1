"""Alternatives to a throw that was ruled on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import assert_never

from engines.alternatives import choices_near
from engines.ice_boule import rules
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Line, LineMarked, Move, Size, Sizes, Stop, Target, Throw, Void
from engines.ice_boule.ranking import Ranking, rank_layout, with_pair
from engines.ice_boule.state import State
from engines.verdict import Choice
from table.listing import as_recorded
from table.messages import Message, msg, phrase, phrases
from table.pieces import COLOURS


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Return legal alternatives to the last of `moves`, for an appeal.

    Neighbours swapped or made equal in the order of distances. The throw on the target, touching
    it, out of play, or of another size if it determines the size. The target out of play, or of
    another colour. Another announced size. A throw in place of an announced stop.
    """
    return choices_near(rules, _nearby_moves, state, moves)


def in_words(_state: State, move: Move) -> Message:
    """Describe a move."""
    match move:
        case Throw(player, None):
            return msg("{player}'s piece left the play area", player=player)
        case Throw(player):
            order = move.layout.in_words
            return msg("{player} threw; from the target: {text}", player=player, text=order)
        case Stop(player):
            return phrase("{player} stops throwing", player=player)
        case Void():
            return msg("It left the play area: the end is void")
        case Size(player, size):
            return phrase("{player} throws {size} pieces", player=player, size=size)
        case Sizes(chosen):
            return phrases(
                *(
                    phrase("{player} throws {size} pieces", player=one, size=size)
                    for one, size in chosen
                )
            )
        case Target(colour):
            return msg("A {colour} target stands upright", colour=colour)
        case Line() | LineMarked():
            return msg("The starting line was marked")
        case _:
            assert_never(move)


def _nearby_moves(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    match ruled:
        case Throw():
            yield from _throws(state, ruled)
            yield msg("It left the play area: the end is void"), Void()
            yield from _stops(state)
        case Stop() | Void():
            yield from _out_of_play_moves(state)
            yield from _stops(state)
            yield msg("It left the play area: the end is void"), Void()
        case Size():
            yield from (
                (
                    phrase("{player} throws {size} pieces", player=ruled.player, size=size),
                    replace(ruled, size=size),
                )
                for size in rules.SIZES
            )
        case Target():
            yield from (
                (msg("A {colour} target stands upright", colour=colour), Target(colour))
                for colour in COLOURS
            )


def _out_of_play_moves(state: State) -> Iterator[tuple[str, Move]]:
    if state.next is not None:
        yield (
            msg("{player}'s piece left the play area", player=state.next),
            Throw(state.next, None, None, state.layout),
        )


def _stops(state: State) -> Iterator[tuple[str, Move]]:
    if state.may_stop:
        yield phrase("{player} stops throwing", player=state.next), Stop(str(state.next))


def _throws(state: State, ruled: Throw) -> Iterator[tuple[str, Move]]:
    yield from _orders(ruled)
    if ruled.lie is None:
        return
    at = ruled.layout.lies.index(ruled.lie)
    for lie, message in (
        (
            Lie(ruled.player, 0.0, True),
            msg("{player}'s piece stands on the target", player=ruled.player),
        ),
        (Lie(ruled.player, 0.0), msg("{player}'s piece touches the target", player=ruled.player)),
    ):
        if lie != ruled.lie:
            yield message, replace(ruled, lie=lie, layout=_with_piece_first(ruled.layout, at, lie))
    out = rank_layout(ruled.layout).without(at).layout()
    yield (
        msg("{player}'s piece left the play area", player=ruled.player),
        Throw(ruled.player, None, None, out),
    )
    if state.size(ruled.player) is None:
        yield from (
            (msg("A {size} piece", size=size), replace(ruled, size=size)) for size in rules.SIZES
        )


def _orders(ruled: Throw) -> Iterator[tuple[str, Throw]]:
    lies = ruled.layout.lies
    thrown = lies.index(ruled.lie) if ruled.lie else None
    for at, (near, far) in enumerate(pairwise(lies)):
        if near.colour != far.colour:
            yield (
                msg(
                    "{player}'s piece {text} is nearer than {player2}'s piece {text2}",
                    player=far.colour,
                    text=_place(far),
                    player2=near.colour,
                    text2=_place(near),
                ),
                _with_ranking(ruled, thrown, with_pair(ruled.layout, at, equal=False)),
            )
            if not near.on_target:
                yield (
                    msg(
                        "{player}'s piece {text} and {player2}'s piece {text2} are equally near",
                        player=near.colour,
                        text=_place(near),
                        player2=far.colour,
                        text2=_place(far),
                    ),
                    _with_ranking(ruled, thrown, with_pair(ruled.layout, at, equal=True)),
                )


def _place(lie: Lie) -> Message:
    if lie.on_target:
        return phrase("on the target")
    if not lie.gap_mm:
        return phrase("touching the target")
    return phrase("at {mm} mm", mm=as_recorded(lie.gap_mm))


def _with_ranking(ruled: Throw, thrown: int | None, ranking: Ranking) -> Throw:
    return replace(
        ruled, lie=None if thrown is None else ranking.lie(thrown), layout=ranking.layout()
    )


def _with_piece_first(layout: Layout, at: int, lie: Lie) -> Layout:
    """Return the layout with the piece `at` a place moved to the front, behind any equally near."""
    others = rank_layout(layout).without(at).layout()
    nearer = sum(other.rank <= lie.rank for other in others.lies)
    before, behind = others.lies[:nearer], others.lies[nearer:]
    relations = (
        *others.relations[: max(nearer - 1, 0)],
        *("<" for one in (before, behind) if one),
        *others.relations[nearer:],
    )
    return Layout.sorted((*before, lie, *behind), relations)
