"""The rules of Icebreaker: what is legal, what a move does, when it is over.  Pure: no clock, no
chance, no I/O.

Clauses are sections of the printed rules ("Rules", "Moves", "Move direction", "Object of the game")
or rulings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from engines.errors import Violation
from engines.house_rules import choose
from engines.icebreaker.board import label, members
from engines.icebreaker.moves import Move, moves, parse_move
from engines.icebreaker.state import RULINGS, State, fresh, over
from table.listing import listed

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "passes",
    "play",
    "start",
    "turn",
    "violation",
    "went",
]

RULES, MOVES, DIRECTION, OBJECT = "Rules", "Moves", "Move direction", "Object of the game"
STUCK = "ruling icebreaker.2"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner, and both scores."""

    winner: str
    players: tuple[str, ...]
    scores: tuple[int, int]

    def __str__(self) -> str:
        least, most = sorted(self.scores)
        (loser,) = set(self.players) - {self.winner}
        return f"{self.winner} won with {most} icebergs to {loser}'s {least}"


class LegalMoves:
    """What is legal now: iterates in order of cells, counts, answers `in`; prints every move in
    notation.
    """

    __slots__ = ("_ways",)

    def __init__(self, state: State) -> None:
        self._ways = {} if state.seat is None else state.ways(state.seat)

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and bool(
            self._ways.get(move.from_cell, (0, 0))[1] >> move.to_cell & 1
        )

    def __iter__(self) -> Iterator[Move]:
        return chain.from_iterable(
            [moves(ship, cells) for ship, (_, cells) in sorted(self._ways.items())]
        )

    def __len__(self) -> int:
        return sum(cells.bit_count() for _, cells in self._ways.values())

    def __str__(self) -> str:
        return " ".join(map(str, self)) or "nothing: the game is over"


def start(players: Sequence[str], rulings: Mapping[str, str]) -> State:
    """A new game: `players` are two colours, the first one starts; `rulings` differ from the
    defaults.  Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now; none only once the game is over."""
    return LegalMoves(state)


def play(state: State, move: Move) -> State:
    """The state after a move, in which the turn has passed over a player who cannot move; raises
    IllegalMove.
    """
    if wrong := violation(state, move):
        raise wrong.error(move)
    seat = state.seat or 0
    to = 1 << move.to_cell
    moved = state.ships[seat] ^ (1 << move.from_cell | to)
    ships = (state.ships[0], moved) if seat else (moved, state.ships[1])
    if not state.ice & to:
        return _turned(State(state.setting, ships, state.ice, state.scores, 1 - seat))
    first, second = state.scores
    scores = (first, second + 1) if seat else (first + 1, second)
    next_seat = None if over(state.setting, scores) else 1 - seat
    return _turned(State(state.setting, ships, state.ice ^ to, scores, next_seat))


def resign(state: State, _player: str) -> State:
    """The state as it was: there are two players, and when one resigns nobody plays on."""
    return state


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    if move in LegalMoves(state):
        return None
    if state.seat is None:
        return Violation(
            "ice.over",
            f"{OBJECT}; ruling icebreaker.3",
            f"{move} was tried, but the game is over: {outcome(state)}.",
        )
    return _cells_violation(state, state.seat, move) or _direction_violation(
        state, state.seat, move
    )


def outcome(state: State) -> Outcome | None:
    """Who won, None while the game runs."""
    if state.seat is not None:
        return None
    winner = state.players[state.scores.index(max(state.scores))]
    return Outcome(winner, state.players, state.scores)


def turn(state: State) -> str:
    """Whose move it is, in a sentence."""
    if ended := outcome(state):
        return f"The game is over: {ended}."
    return f"{str(state.next).capitalize()} moves next."


def passes(before: State, after: State) -> str | None:
    """The player whose turn passes at once after a move, as none of their ships can move (ruling
    icebreaker.2); else None.
    """
    if before.seat is None or after.seat != before.seat:
        return None
    return before.players[1 - before.seat]


def went(state: State, move: Move) -> str:
    """A legal move as people are asked about it, with what it does to the turn."""
    stuck = passes(state, play(state, move))
    passed = f"; {stuck} can move no ship, and the turn passes" if stuck else ""
    return f"The ship on {label(move.from_cell)} went to {label(move.to_cell)}{passed}"


def _turned(state: State) -> State:
    """The turn goes back where the next player can move no ship (ruling icebreaker.2).

    One of the two always can while ice is left: the board is one piece, so the open cells around
    any ice end at a ship.
    """
    if state.seat is None or state.ways(state.seat):
        return state
    return replace(state, seat=1 - state.seat)


def _cells_violation(state: State, seat: int, move: Move) -> Violation | None:
    """Is there a ship of the player's to move, and a cell beside it to move to?"""
    board, player, other = state.setting.board, state.players[seat], state.players[1 - seat]
    here, there = label(move.from_cell), label(move.to_cell)
    tried = f"{player.capitalize()} tried {move}, but"
    for cell in move:
        if not board.cells >> cell & 1:
            said = (
                f"{tried} there is no cell {label(cell)} on a board of {board.size} a side."
                f" {_allowed(state, seat)}"
            )
            return Violation("ice.cell", RULES, said)
    if state.ships[1 - seat] >> move.from_cell & 1:
        return Violation(
            "ice.turn", RULES, f"{tried} the ship on {here} is {other}'s. {_allowed(state, seat)}"
        )
    if not state.ships[seat] >> move.from_cell & 1:
        return Violation(
            "ice.ship", MOVES, f"{tried} no ship stands on {here}. {_allowed(state, seat)}"
        )
    if not board.around[move.from_cell] >> move.to_cell & 1:
        said = (
            f"{tried} a ship moves one step, and {there} is not beside {here}."
            f" {_allowed(state, seat, move.from_cell)}"
        )
        return Violation("ice.step", MOVES, said)
    for whose, ships in zip(state.players, state.ships, strict=True):
        if ships >> move.to_cell & 1:
            said = (
                f"{tried} a ship moves to a cell without a ship, and one of {whose}'s stands on"
                f" {there}. {_allowed(state, seat, move.from_cell)}"
            )
            return Violation("ice.occupied", MOVES, said)
    return None


def _direction_violation(state: State, seat: int, move: Move) -> Violation:
    """Why a ship that stands there, and could enter that cell, may not go that way."""
    here, there = label(move.from_cell), label(move.to_cell)
    ways, allowed = state.ways(seat), _allowed(state, seat, move.from_cell)
    tried = f"{state.players[seat].capitalize()} tried {move}, but"
    if move.from_cell not in ways:
        said = f"{tried} the ship on {here} can reach no iceberg, so it stays. {allowed}"
        return Violation("ice.no_ice", "ruling icebreaker.1", said)
    steps, _ = ways[move.from_cell]
    if steps == 1:
        said = (
            f"{tried} the ship on {here} has ice beside it and must capture, and there is no ice on"
            f" {there}. {allowed}"
        )
        return Violation("ice.capture", DIRECTION, said)
    said = (
        f"{tried} the closest iceberg is {steps} steps from {here}, and {there} is on no shortest"
        f" way to it. {allowed}"
    )
    return Violation("ice.closer", f"{DIRECTION}; ruling icebreaker.1", said)


def _allowed(state: State, seat: int, ship: int | None = None) -> str:
    """What would be allowed, in a sentence: to a ship if it may move, else which ships may."""
    ways = state.ways(seat)
    if ship is not None and ship in ways:
        return f"The ship may go to {listed(map(label, members(ways[ship][1])), 'or')}."
    return (
        f"{state.players[seat].capitalize()} may move the ship on"
        f" {listed(map(label, sorted(ways)), 'or')}."
    )
