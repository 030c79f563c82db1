"""Fold the public records of a log into the results of its sessions.

The rules are not replayed, since public records omit secret votes. Every record that changes a game
contains the resulting state. The fold keeps the last state of each game and reads the result from
it with the game's engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engines import GAMES
from engines.game import winners_of
from referee.sessions.events import (
    Corrected,
    Event,
    GameStarted,
    Record,
    Reopened,
    Resigned,
    SessionEnded,
    SessionStarted,
    Undone,
)
from table.messages import phrase


@dataclass(frozen=True, slots=True)
class GameResult:
    """Current state of a game; `number` counts from 1 in its session.

    `players` are colours in turn order, `names` the players' names by colour. `winners` (several if
    they share the win) and `outcome`, a sentence, are set once the game is `over`. `seq` is the
    number of its first record.
    """

    game: str
    number: int
    seq: int
    players: tuple[str, ...]
    names: Mapping[str, str]
    scores: Mapping[str, float]
    over: bool
    winners: tuple[str, ...]
    outcome: str
    simulated: bool


@dataclass(slots=True)
class _Game:
    """Accumulator for one game."""

    started: SessionStarted
    number: int
    seq: int
    players: tuple[str, ...]
    rulings: Mapping[str, str]
    state: Mapping[str, Any] = field(default_factory=dict)
    resigned: dict[int, str] = field(default_factory=dict)


class SessionFold:
    """Accumulator for one session, fed with its records in order."""

    def __init__(self, first: Record) -> None:
        """Begin with the `SessionStarted` record; raises ValueError for any other."""
        if not isinstance(first.event, SessionStarted):
            raise ValueError(f"record {first.seq} begins no session")
        self.started, self.session = first.event, first.session
        self.seq, self.ended = first.seq, False
        self._games = [_Game(first.event, 1, first.seq, first.event.players, first.event.rulings)]

    def add(self, record: Record) -> None:
        """Apply the next record."""
        event = record.event
        self.seq = record.seq
        self.ended = isinstance(event, SessionEnded) or (
            self.ended and not isinstance(event, Reopened)
        )
        match event:
            case GameStarted():
                number = len(self._games) + 1
                self._games.append(
                    _Game(self.started, number, record.seq, event.players, event.rulings)
                )
            case Undone() if event.undoes == self._games[-1].seq and self._games[1:]:
                self._games.pop()
            case Undone():
                self._games[-1].resigned.pop(event.undoes, None)
            case Corrected():
                self._games[-1].resigned.pop(event.corrects, None)
            case Resigned():
                self._games[-1].resigned[record.seq] = event.player
            case _:
                pass
        if state := _state(event):
            self._games[-1].state = state

    @property
    def state(self) -> Mapping[str, Any]:
        """State document of the current game; empty before its first ruling."""
        return self._games[-1].state

    @property
    def games(self) -> tuple[GameResult, ...]:
        """Its games, oldest first."""
        return tuple(map(_result, self._games))


def fold(records: Sequence[Record]) -> SessionFold:
    """The fold of a session's records, the start first."""
    folded = SessionFold(records[0])
    for record in records[1:]:
        folded.add(record)
    return folded


def _state(event: Event) -> Mapping[str, Any]:
    return getattr(event, "state", None) or {}


def _result(game: _Game) -> GameResult:
    winners, outcome = _winners_and_reason(game)
    return GameResult(
        game=game.started.game,
        number=game.number,
        seq=game.seq,
        players=game.players,
        names=game.started.names,
        scores=dict(game.state.get("scores") or _first_scores(game)),
        over=outcome is not None,
        winners=winners,
        outcome=outcome or "",
        simulated=game.started.simulated,
    )


def _first_scores(game: _Game) -> Mapping[str, float]:
    """Scores before the first ruling."""
    engine = GAMES.get(game.started.game)
    try:
        if engine is not None:
            return engine.state_document(engine.start(game.players, game.rulings))["scores"]
    except ValueError:  # players or house rules of another version of the game
        pass
    return dict.fromkeys(game.players, 0)


def _winners_and_reason(game: _Game) -> tuple[tuple[str, ...], str | None]:
    """Winners, and a sentence on how the game ended; None while it runs."""
    left = [one for one in game.players if one not in game.resigned.values()]
    engine, line = GAMES.get(game.started.game), game.state.get("state")
    sentence = game.state.get("outcome")
    if engine is not None and isinstance(line, str) and sentence:
        try:
            outcome = engine.outcome(engine.State.parse(line))
        except ValueError:  # state of another version of the game: the winner is unknown
            return (), None
        won = winners_of(outcome)
        return tuple(one for one in game.players if one in won), str(sentence)
    if len(left) == 1 and len(game.players) > 1:
        resigned = tuple(one for one in game.players if one not in left)
        return (left[0],), phrase(
            "{player} won: {players} resigned", player=left[0], players=resigned
        )
    return (), str(sentence) if sentence else None
