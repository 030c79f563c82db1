"""Alternatives to a throw or an attack that was ruled on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import assert_never

from engines.alternatives import choices_near
from engines.errors import InvalidNotation
from engines.ice_storm import messages, rules
from engines.ice_storm.moves import Capture, Change, Low, Move, Moved, Pass, Settle, Throw, Void
from engines.ice_storm.place import Place
from engines.ice_storm.squares import Square
from engines.ice_storm.state import State
from engines.verdict import Choice
from table.messages import Message, msg

NEAREST = 3
"""Other places offered before the alternative that the piece leaned: only the first few
alternatives are shown.
"""


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Return legal alternatives to the last of `moves`, for an appeal.

    A throw that touches a square more or less, has its tip in another one, is off the board, or
    knocked off more or less. Other shots.
    """
    return choices_near(rules, _nearby_moves, state, moves)


def in_words(state: State, move: Move) -> Message:
    """Describe a move."""
    match move:
        case Throw(again="") as throw:
            return messages.throw(state, throw)
        case Throw(player) | Void(player):
            return msg("{player}'s throw is repeated", player=player)
        case Low(player):
            return msg("{player}'s hand was too low", player=player)
        case Moved(player):
            return msg("{player}'s throw moved other pieces", player=player)
        case Capture(colour, None):
            return msg("{player} took a {colour} piece", player=state.attacker, colour=colour)
        case Capture(colour, number):
            return msg("{player} took {piece}", player=state.attacker, piece=f"{colour}{number}")
        case Pass(player):
            return msg("{player} did not fire", player=player)
        case Settle(name, place):
            return msg("{piece}: {text}", piece=name, text=messages.place(place))
        case _:
            assert_never(move)


def _nearby_moves(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    match ruled:
        case Throw():
            lying = () if state.round_over else state.pieces
            throws = _throws(ruled, [piece.name for piece in lying])
            yield from ((messages.throw(state, throw), throw) for throw in islice(throws, NEAREST))
            if lying and not ruled.again:
                yield messages.leaning(ruled.player), Void(ruled.player, ruled.changes)
            yield from ((messages.throw(state, throw), throw) for throw in throws)
        case Capture() | Pass():
            for move in rules.legal_moves(state):
                if isinstance(move, Pass | Capture):
                    yield in_words(state, move), move
        case _:
            return


def _throws(ruled: Throw, names: Sequence[str]) -> Iterator[Throw]:
    for place in _places(ruled.place) if ruled.place else ():
        yield replace(ruled, place=place)
    off = [change.name for change in ruled.changes if change.place is None]
    for name in off:
        yield replace(
            ruled, changes=tuple(change for change in ruled.changes if change.name != name)
        )
    if not ruled.again:
        yield replace(ruled, place=None)
    for name in names:
        if name not in off:
            others = tuple(change for change in ruled.changes if change.name != name)
            yield replace(ruled, changes=(*others, Change(name, None)))


def _places(lies: Place) -> Iterator[Place]:
    """Other certain places: the tip in another square, then a square less or more."""
    squares = lies.squares
    around = {
        near
        for square in squares
        for east in (-1, 0, 1)
        for north in (-1, 0, 1)
        if (near := square.step(east, north))
    }
    yield from _places_on(squares, lies)
    for touched in (
        *(squares - {square} for square in sorted(squares)),
        *(squares | {square} for square in sorted(around - squares)),
    ):
        yield from islice(_places_on(touched, lies), 1)


def _places_on(touched: frozenset[Square], lies: Place) -> Iterator[Place]:
    """Places on these squares, if pieces can lie so.

    Upright as before, or with the tip in any of the squares, first where it was.
    """
    tips = (
        [
            frozenset({tip})
            for tip in sorted(touched, key=lambda square: (square not in lies.tips, square))
        ]
        if lies.tips
        else [frozenset()]
    )
    for tip in tips:
        with suppress(InvalidNotation):
            yield Place(touched, tips=tip)
