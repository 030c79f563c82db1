"""The rules of Icebreaker: what is legal, what a move does, and when the game is over.

Pure: no clock, no chance, no I/O. Clauses are sections of the printed rules ("Rules", "Moves",
"Move direction", "Object of the game") or rulings.
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
from table.messages import Message, any_of, msg, phrase, sentences

__all__ = [
    "RULINGS",
    "LegalMoves",
    "Outcome",
    "State",
    "legal_moves",
    "move_text",
    "outcome",
    "parse_move",
    "passed_player",
    "play",
    "start",
    "turn",
    "violation",
]

RULES, MOVES, DIRECTION, OBJECT = "Rules", "Moves", "Move direction", "Object of the game"
STUCK = "ruling icebreaker.2"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner, and both scores."""

    winner: str
    players: tuple[str, ...]
    scores: tuple[int, int]

    @property
    def message(self) -> Message:
        """Who won, and how many icebergs each has."""
        least, most = sorted(self.scores)
        (loser,) = set(self.players) - {self.winner}
        return phrase(
            "{player} won with {n} icebergs to {player2}'s {n2}",
            player=self.winner,
            n=most,
            player2=loser,
            n2=least,
        )

    def __str__(self) -> str:
        return self.message


class LegalMoves:
    """The legal moves of a state: iterates in order of cells, counts, answers `in`.

    Prints every move in notation.
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
    """A new game of two players, who are colours; the first one starts.

    `rulings` are the house rules that differ from the defaults. Raises InputError.
    """
    return fresh(players, choose(RULINGS, rulings))


def legal_moves(state: State) -> LegalMoves:
    """All moves that are legal now; none only once the game is over."""
    return LegalMoves(state)


def play(state: State, move: Move) -> State:
    """The state after a move, with the turn passed over a player who cannot move.

    Raises IllegalMove.
    """
    if wrong := violation(state, move):
        raise wrong.error(move)
    seat = state.seat or 0
    to = 1 << move.to_cell
    moved = state.ships[seat] ^ (1 << move.from_cell | to)
    ships = (state.ships[0], moved) if seat else (moved, state.ships[1])
    if not state.ice & to:
        return _with_turn_passed(State(state.setting, ships, state.ice, state.scores, 1 - seat))
    first, second = state.scores
    scores = (first, second + 1) if seat else (first + 1, second)
    next_seat = None if over(state.setting, scores) else 1 - seat
    return _with_turn_passed(State(state.setting, ships, state.ice ^ to, scores, next_seat))


def resign(state: State, _player: str) -> State:
    """Return the state unchanged: of two players, one resigns and nobody plays on."""
    return state


def violation(state: State, move: Move) -> Violation | None:
    """Which rule forbids the move now, or None."""
    if move in LegalMoves(state):
        return None
    if ended := outcome(state):
        return Violation(
            "ice.over",
            f"{OBJECT}; ruling icebreaker.3",
            msg("The game is over: {text}.", text=ended.message),
        )
    assert state.seat is not None, "it is somebody's turn until the end"
    return _cells_violation(state, state.seat, move) or _direction_violation(
        state, state.seat, move
    )


def outcome(state: State) -> Outcome | None:
    """Who won, None while the game runs."""
    if state.seat is not None:
        return None
    winner = state.players[state.scores.index(max(state.scores))]
    return Outcome(winner, state.players, state.scores)


def turn(state: State) -> Message:
    """Whose move it is, in a sentence."""
    if ended := outcome(state):
        return msg("The game is over: {text}.", text=ended.message)
    return msg("{player} moves next.", player=state.next)


def passed_player(before: State, after: State) -> str | None:
    """Player whose turn passes at once after a move; else None.

    It passes if none of their ships can move (ruling icebreaker.2).
    """
    if before.seat is None or after.seat != before.seat:
        return None
    return before.players[1 - before.seat]


def move_text(state: State, move: Move) -> Message:
    """A legal move in words for a question, with what it does to the turn."""
    cells: dict[str, object] = {"cell": label(move.from_cell), "cell2": label(move.to_cell)}
    if stuck := passed_player(state, play(state, move)):
        return msg(
            "The ship on {cell} went to {cell2}; {player} cannot move any ship, so the turn passes",
            player=stuck,
            **cells,
        )
    return msg("The ship on {cell} went to {cell2}", **cells)


def _with_turn_passed(state: State) -> State:
    """Pass the turn back if the next player can move no ship (ruling icebreaker.2).

    One of the two always can while ice is left. The board is connected, so the open cells around
    any ice end at a ship.
    """
    if state.seat is None or state.ways(state.seat):
        return state
    return replace(state, seat=1 - state.seat)


def _cells_violation(state: State, seat: int, move: Move) -> Violation | None:
    """Why the player has no ship there to move, or no cell beside it to move to; else None."""
    board, other = state.setting.board, state.players[1 - seat]
    here, there = label(move.from_cell), label(move.to_cell)
    tried: dict[str, object] = {"player": state.players[seat], "cell": move}
    for cell in move:
        if not board.cells >> cell & 1:
            message = msg(
                "{player} tried {cell}, but there is no cell {cell2} on a board with {n}"
                " cells per side.",
                cell2=label(cell),
                n=board.size,
                **tried,
            )
            return Violation("ice.cell", RULES, sentences(message, _allowed(state, seat)))
    if state.ships[1 - seat] >> move.from_cell & 1:
        message = msg(
            "{player} tried {cell}, but the ship on {cell2} is {player2}'s.",
            cell2=here,
            player2=other,
            **tried,
        )
        return Violation("ice.turn", RULES, sentences(message, _allowed(state, seat)))
    if not state.ships[seat] >> move.from_cell & 1:
        message = msg("{player} tried {cell}, but no ship stands on {cell2}.", cell2=here, **tried)
        return Violation("ice.ship", MOVES, sentences(message, _allowed(state, seat)))
    allowed = _allowed(state, seat, move.from_cell)
    if not board.around[move.from_cell] >> move.to_cell & 1:
        message = msg(
            "{player} tried {cell}, but a ship moves one step, and {cell2} is not beside {cell3}.",
            cell2=there,
            cell3=here,
            **tried,
        )
        return Violation("ice.step", MOVES, sentences(message, allowed))
    for whose, ships in zip(state.players, state.ships, strict=True):
        if ships >> move.to_cell & 1:
            message = msg(
                "{player} tried {cell}, but one of {player2}'s ships stands on {cell2}, and"
                " a ship moves only to a cell without a ship.",
                player2=whose,
                cell2=there,
                **tried,
            )
            return Violation("ice.occupied", MOVES, sentences(message, allowed))
    return None


def _direction_violation(state: State, seat: int, move: Move) -> Violation:
    """Why a ship that stands there, and could enter that cell, may not go that way."""
    here, there = label(move.from_cell), label(move.to_cell)
    ways, allowed = state.ways(seat), _allowed(state, seat, move.from_cell)
    tried: dict[str, object] = {"player": state.players[seat], "cell": move, "cell2": here}
    if move.from_cell not in ways:
        message = msg(
            "{player} tried {cell}, but the ship on {cell2} cannot reach any iceberg, so it stays.",
            **tried,
        )
        return Violation("ice.no_ice", "ruling icebreaker.1", sentences(message, allowed))
    steps, _ = ways[move.from_cell]
    if steps == 1:
        message = msg(
            "{player} tried {cell}, but the ship on {cell2} has ice beside it and must"
            " capture. There is no ice on {cell3}.",
            cell3=there,
            **tried,
        )
        return Violation("ice.capture", DIRECTION, sentences(message, allowed))
    message = msg(
        "{player} tried {cell}, but the closest iceberg is {n} steps from {cell2}, and"
        " {cell3} is not on a shortest way there.",
        n=steps,
        cell3=there,
        **tried,
    )
    return Violation("ice.closer", f"{DIRECTION}; ruling icebreaker.1", sentences(message, allowed))


def _allowed(state: State, seat: int, ship: int | None = None) -> Message:
    """What is allowed instead, in a sentence: for a ship if it may move, else which ships may."""
    ways = state.ways(seat)
    if ship is not None and ship in ways:
        return msg("The ship may go to {cells}.", cells=any_of(map(label, members(ways[ship][1]))))
    return msg(
        "{player} may move the ship on {cells}.",
        player=state.players[seat],
        cells=any_of(map(label, sorted(ways))),
    )
