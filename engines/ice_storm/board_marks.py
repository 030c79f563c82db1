"""Lines of fire and throws of Ice Storm on the board."""

from __future__ import annotations

from collections.abc import Iterator

from engines.board_marks import Mark, Option, mark
from engines.ice_storm.fire import Shot, lines_of_fire, reach
from engines.ice_storm.moves import Capture, Low, Move, Moved, Pass, Settle, Throw, Void
from engines.ice_storm.rules import shots, targets
from engines.ice_storm.state import PIECES, State
from table.messages import msg


def options(state: State) -> tuple[Option, ...]:
    """Return who throws, in order; or the shots of the player whose turn it is.

    Lines of fire that hit nobody come after the shots.
    """
    if state.next:
        return tuple(_order(state, state.next))
    return (*map(_shot, shots(state)), *_idle(state)) if state.attacker else ()


def trace(state: State, move: Move) -> tuple[Mark, ...]:
    """Marks of a throw and what it moved; of a capture, the lines that hit and the target."""
    match move:
        case Throw() | Void() | Moved():
            places = [
                move.place if isinstance(move, Throw) else None,
                *(change.place for change in move.changes),
            ]
            off = [
                piece.place
                for change in move.changes
                if change.place is None and (piece := state.piece_named(change.name))
            ]
            came = tuple(
                one
                for place in places
                if place
                for one in mark("here", sorted(place.squares), not place.in_doubt)
            )
            return (*came, *(one for place in off for one in mark("take", sorted(place.squares))))
        case Capture():
            name = f"{move.colour}{move.number}"
            hits = [shot for shot in shots(state) if shot.target == name]
            target = state.piece_named(name)
            return (
                *(_ray(shot) for shot in hits),
                *(mark("take", sorted(target.place.squares)) if target else ()),
            )
        case Settle():
            return mark("here", sorted(move.place.squares))
        case Low() | Pass():
            return ()


def _order(state: State, first: str) -> Iterator[Option]:
    here = state.players.index(first)
    for player in (*state.players[here:], *state.players[:here]):
        left = PIECES if state.round_over else PIECES - state.throws_of(player)
        yield Option(
            player,
            (
                msg("throws now, {n} still to throw", n=left)
                if player == first
                else msg("{n} still to throw", n=left)
                if left
                else msg("has no throws left")
            ),
        )


def _shot(shot: Shot) -> Option:
    fields: dict[str, object] = {
        "piece": shot.shooter,
        "lines": shot.line.message,
        "piece2": shot.target,
    }
    label = (
        msg("{piece} fires {lines} and hits {piece2} if {text}", text=shot.hangs_on, **fields)
        if shot.hangs_on
        else msg("{piece} fires {lines} and hits {piece2}", **fields)
    )
    return Option(shot.shooter.rstrip("0123456789"), label, (_ray(shot),))


def _ray(shot: Shot) -> Mark:
    return Mark("ray", tuple(map(str, shot.line.squares)), shot.certain)


def _idle(state: State) -> Iterator[Option]:
    """Lines of fire, of the player whose turn it is, that hit nobody."""
    attacker = str(state.attacker)
    if not targets(state):
        return
    aimed = {shot.shooter for shot in shots(state)}
    for piece in state.of(attacker):
        if piece.name not in aimed:
            others = [other for other in state.pieces if other != piece and state.stops]
            reached = [reach(line, others) for line in lines_of_fire(piece)]
            lines = tuple(
                Mark("aim", tuple(map(str, line.squares)))
                for line in reached
                if len(line.squares) > 1
            )
            yield Option(attacker, msg("{piece} hits nobody", piece=piece.name), lines)
