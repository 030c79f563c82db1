"""Where throws came to rest, and who hit whom: what statistics are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engines import ice_storm
from engines.ice_storm.moves import Capture, Low, Move, Moved, Throw, Void
from engines.ice_storm.state import State
from referee.sessions.events import Asked, Record, Ruled
from referee.sessions.state import Ledger
from referee.statistics.results import SAME_MM, Thrown


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a projectile of Ice Boule came to rest: mm from the target's middle, x right, y away
    from the players.
    """

    player: str
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece of Ice Storm that was taken by fire or knocked off the board."""

    record: int
    at_ms: int
    player: str
    target: str
    how: str


def landings(throws: Iterable[Thrown], records: Sequence[Record]) -> tuple[Landing, ...]:
    """Of throws that the camera measured and that stayed in play, as `games_in` gives them for
    these records.
    """
    events = {record.seq: record.event for record in records}
    found = []
    for thrown in throws:
        event = events.get(thrown.record)
        if thrown.lie is None or not isinstance(event, Ruled | Asked) or event.observation is None:
            continue
        row = _row(event.observation, thrown)
        target = _target(event.observation, event.state)
        if row and target:
            found.append(Landing(thrown.player, row[0] - target[0], row[1] - target[1]))
    return tuple(found)


def squares_hit(ledger: Ledger) -> dict[str, dict[str, int]]:
    """How many throws of a game of Ice Storm touched each square, by player; what was wasted or
    void touched none.
    """
    counted: dict[str, dict[str, int]] = {player: {} for player in ledger.players}
    for step in _steps(ledger):
        if isinstance(step.move, Throw) and step.move.place:
            own = counted[step.move.player]
            for square in map(str, step.move.place.clear):
                own[square] = own.get(square, 0) + 1
    return counted


def hits(ledger: Ledger, records: Sequence[Record]) -> tuple[Hit, ...]:
    """Every piece taken in a game of Ice Storm, in order."""
    by_seq = {record.seq: record for record in records}
    found = []
    for record, state, move in ((step.record, step.before, step.move) for step in _steps(ledger)):
        at_ms = by_seq[record].at_ms
        if isinstance(move, Capture):
            target = f"{move.colour}{move.number or ''}"
            lines = [
                str(shot)
                for shot in ice_storm.shots(state)
                if shot.target == target and shot.certain
            ]
            how = lines[0].partition(":")[0] if lines else "fire"
            found.append(Hit(record, at_ms, str(state.attacker), target, how))
        elif isinstance(move, Throw | Void | Moved) and state.scores_knocked:
            off = [
                change.name
                for change in move.changes
                if change.place is None and not change.name.startswith(move.player)
            ]
            found += [
                Hit(record, at_ms, move.player, name, "knocked off the board") for name in off
            ]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Step:
    """A move of Ice Storm that counts, its record, and the state before it."""

    record: int
    before: State
    move: Move


def _steps(ledger: Ledger) -> list[_Step]:
    """What counts of a game, in order; of a throw that was made void after it was ruled, only what
    it moved, if that stays.
    """
    if ledger.started.game != ice_storm.NAME:
        return []
    state = ledger.start
    steps: list[_Step] = []
    for entry in ledger.standing:
        for text in entry.moves:
            move = ledger.engine.parse_move(text)
            if isinstance(move, Low) and state.last and state.last.player == move.player:
                at = max(at for at, step in enumerate(steps) if isinstance(step.move, Throw))
                stays = not state.undoes_low
                steps[at:] = [
                    _Step(step.record, step.before, _what_stays(step.move))
                    for step in steps[at:]
                    if stays
                ]
            steps.append(_Step(entry.seq, state, move))
            state = ledger.engine.play(state, move)
    return steps


def _what_stays(move: Move) -> Move:
    """Of a throw that is void, and of what is said of it after."""
    return Void(move.player, move.changes) if isinstance(move, Throw) else move


def _row(observation: Mapping[str, Any], thrown: Thrown) -> tuple[float, float] | None:
    """Where the piece lay that has the throw's distance."""
    assert thrown.lie is not None
    for gap in observation.get("gaps", ()):
        if (
            gap["colour"] == thrown.lie.colour
            and (gap["on_target"] == thrown.lie.on_target)
            and abs(gap["gap_mm"] - thrown.lie.gap_mm) < SAME_MM
        ):
            return gap["base_mm"][0], gap["base_mm"][1]
    return None


def _target(observation: Mapping[str, Any], state: Mapping[str, Any]) -> tuple[float, float] | None:
    """Where the one piece of the target's colour stands; the state of an end just over does not
    name it, the players do.
    """
    players = state.get("scores", {})
    others = [piece for piece in observation["pieces"] if piece["colour"] not in players]
    return (others[0]["base_mm"][0], others[0]["base_mm"][1]) if len(others) == 1 else None
