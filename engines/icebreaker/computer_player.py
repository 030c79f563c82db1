"""Computer player of Icebreaker: a search, deeper for stronger players."""

from __future__ import annotations

from random import Random

from engines.computer_player import ComputerPlayer, OutOfTime, Strength
from engines.icebreaker.board import label
from engines.icebreaker.moves import Move
from engines.icebreaker.positions import Position, steps
from engines.icebreaker.search import Search
from engines.icebreaker.state import State
from table.messages import Message, msg

NODES: dict[Strength, int] = {"beginner": 1, "club": 300, "strong": 20_000}
"""Positions searched for a move, beside all that are one move ahead."""
SLIPS = 0.4
"""Share of a beginner's moves that are random."""


def choose(
    state: State, _player: str, strength: Strength, chance: Random, out_of_time: OutOfTime
) -> Move:
    """The best legal move that was found; raises ValueError once the game is over."""
    if state.seat is None:
        raise ValueError("the game is over, so there is no move to choose")
    seat, board, setting = state.seat, state.setting.board, state.setting
    (mine, theirs), (own, others) = (
        (values[seat], values[1 - seat]) for values in (state.scores, state.ships)
    )
    position = Position(own, others, state.ice, mine, theirs)
    if strength == "beginner" and chance.random() < SLIPS:
        start, end = chance.choice(steps(board, position))
    else:
        decided = max(state.scores) >= setting.majority
        goal = setting.enough if decided else setting.majority
        start, end = Search(board, goal, NODES[strength], out_of_time).best(position)
    return Move(start.bit_length() - 1, end.bit_length() - 1)


def _asked(state: State) -> tuple[str, ...]:
    return () if state.next is None else (state.next,)


def _wish_text(state: State, move: Move) -> Message:
    return msg(
        "{player} moves the ship on {cell} to {cell2}.",
        player=state.next,
        cell=label(move.from_cell),
        cell2=label(move.to_cell),
    )


def _no_announcement(_state: State, _move: Move) -> None:
    return None


COMPUTER = ComputerPlayer(asked=_asked, choose=choose, wants=_wish_text, announced=_no_announcement)
