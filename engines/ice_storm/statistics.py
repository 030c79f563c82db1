"""Statistics of Ice Storm: squares touched by throws, and captured pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engines.ice_storm.moves import Capture, Low, Move, Moved, Throw, Void
from engines.ice_storm.rules import shots
from engines.statistics import Hit, Step


def squares(players: Sequence[str], steps: Iterable[Step]) -> dict[str, dict[str, int]]:
    """Count the throws that touched each square, by player; wasted or void ones touched none."""
    counted: dict[str, dict[str, int]] = {player: {} for player in players}
    for step in _counting(steps):
        if isinstance(step.move, Throw) and step.move.place:
            own = counted[step.move.player]
            for square in map(str, step.move.place.clear):
                own[square] = own.get(square, 0) + 1
    return counted


def tries(steps: Iterable[Step]) -> dict[str, int]:
    """Count the valid throws by player; repeated ones are left out."""
    throws = (one.move for one in _counting(steps) if isinstance(one.move, Throw))
    return dict(Counter(move.player for move in throws))


def hits(steps: Iterable[Step]) -> Iterator[Hit]:
    """Every piece that was taken by fire or knocked off the board."""
    for step in _counting(steps):
        move = step.move
        if isinstance(move, Capture):
            target = f"{move.colour}{move.number or ''}"
            lines = [
                str(shot) for shot in shots(step.before) if shot.target == target and shot.certain
            ]
            how = lines[0].partition(":")[0] if lines else "fire"
            yield Hit(step.record, step.at_ms, str(step.before.attacker), target, how)
        elif isinstance(move, Throw | Void | Moved) and step.before.scores_knocked:
            for change in move.changes:
                if change.place is None and not change.name.startswith(move.player):
                    how = "knocked off the board"
                    yield Hit(step.record, step.at_ms, move.player, change.name, how)


def _counting(steps: Iterable[Step]) -> list[Step]:
    """Return the counted steps.

    Of a throw made void after its ruling, only what it moved counts, if that stays.
    """
    counting: list[Step] = []
    for step in steps:
        state, move = step.before, step.move
        if isinstance(move, Low) and state.last and state.last.player == move.player:
            at = max(at for at, one in enumerate(counting) if isinstance(one.move, Throw))
            stays = not state.restores_after_low
            counting[at:] = [
                replace(one, move=_remaining_move(one.move)) for one in counting[at:] if stays
            ]
        counting.append(step)
    return counting


def _remaining_move(move: Move) -> Move:
    """Return what remains of a void throw, and of what was announced about it."""
    return Void(move.player, move.changes) if isinstance(move, Throw) else move
