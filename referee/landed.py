"""Where throws came to rest, and who hit whom: what statistics are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engines import ice_storm
from engines.ice_storm.moves import Capture, Throw, Void
from referee.events import Asked, Record, Ruled
from referee.ledger import Ledger
from referee.played import SAME_MM, Thrown


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a projectile of Ice Boule came to rest: mm from the target's middle, x right, y away from the players."""

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
    """Of throws that the camera measured and that stayed in play, as `games_in` gives them for these records."""
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
    """How many throws of a game of Ice Storm touched each square, by player; what was wasted touched none."""
    counted: dict[str, dict[str, int]] = {player: {} for player in ledger.players}
    for _, move in _moves(ledger):
        if isinstance(move, Throw) and move.place:
            own = counted[move.player]
            for square in map(str, move.place.clear):
                own[square] = own.get(square, 0) + 1
    return counted


def hits(ledger: Ledger, records: Sequence[Record]) -> tuple[Hit, ...]:
    """Every piece taken in a game of Ice Storm, in order."""
    by_seq = {record.seq: record for record in records}
    state = ledger.start
    found = []
    for seq, move in _moves(ledger):
        at_ms = by_seq[seq].at_ms
        if isinstance(move, Capture):
            target = f"{move.colour}{move.number or ''}"
            lines = [str(shot) for shot in ice_storm.shots(state) if shot.target == target and shot.certain]
            found.append(Hit(seq, at_ms, str(state.attacker), target, lines[0].partition(":")[0] if lines else "fire"))
        elif isinstance(move, Throw | Void):
            off = [change.name for change in move.changes if change.place is None and not change.name.startswith(move.player)]
            found += [Hit(seq, at_ms, move.player, name, "knocked off the board") for name in off]
        state = ledger.engine.play(state, move)
    return tuple(found)


def _moves(ledger: Ledger) -> Iterator[tuple[int, Any]]:
    if ledger.started.game == ice_storm.NAME:
        yield from ((entry.seq, ledger.engine.parse_move(text)) for entry in ledger.standing for text in entry.moves)


def _row(observation: Mapping[str, Any], thrown: Thrown) -> tuple[float, float] | None:
    """Where the piece lay that has the throw's distance."""
    assert thrown.lie is not None
    for gap in observation.get("gaps", ()):
        if gap["colour"] == thrown.lie.colour and (gap["on_target"] == thrown.lie.on_target) and abs(gap["gap_mm"] - thrown.lie.gap_mm) < SAME_MM:
            return gap["base_mm"][0], gap["base_mm"][1]
    return None


def _target(observation: Mapping[str, Any], state: Mapping[str, Any]) -> tuple[float, float] | None:
    """Where the one piece of the target's colour stands; the state of an end just over does not name it, the players do."""
    players = state.get("scores", {})
    others = [piece for piece in observation["pieces"] if piece["colour"] not in players]
    return (others[0]["base_mm"][0], others[0]["base_mm"][1]) if len(others) == 1 else None
