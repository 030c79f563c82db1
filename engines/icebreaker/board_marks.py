"""Legal steps of the ships on the board."""

from __future__ import annotations

from engines.board_marks import Mark, Option, mark
from engines.icebreaker.board import label, members
from engines.icebreaker.moves import Move
from engines.icebreaker.state import State
from table.messages import any_of, msg


def options(state: State) -> tuple[Option, ...]:
    """One option per ship of the player whose turn it is: where it may go, or why it stays.

    A last one tells if the other player can move no ship.
    """
    if state.seat is None:
        return ()
    ways = state.ways(state.seat)
    own = tuple(
        _ship(state, ship, *ways.get(ship, (0, 0))) for ship in members(state.ships[state.seat])
    )
    stuck = (
        ()
        if state.ways(1 - state.seat)
        else (Option(state.players[1 - state.seat], msg("cannot move any ship now and passes")),)
    )
    return (*own, *stuck)


def trace(state: State, move: Move) -> tuple[Mark, ...]:
    """The step of a move, and the ice that it takes."""
    taken = mark("take", [label(move.to_cell)] if state.ice >> move.to_cell & 1 else ())
    return (*mark("path", map(label, move)), *taken)


def _ship(state: State, ship: int, steps: int, cells: int) -> Option:
    here, there = label(ship), [label(cell) for cell in members(cells)]
    if not there:
        return Option(
            state.next, msg("{cell} reaches no ice and stays", cell=here), mark("here", [here])
        )
    paths = tuple(Mark("path", (here, cell)) for cell in there)
    if steps == 1:
        return Option(
            state.next,
            msg("{cell} takes {cells}", cell=here, cells=any_of(there)),
            (*paths, *mark("take", there)),
        )
    return Option(
        state.next,
        msg(
            "{cell} goes to {cells}; ice is {n} steps away", cell=here, cells=any_of(there), n=steps
        ),
        (*paths, *mark("goal", there)),
    )
