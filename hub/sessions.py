"""What came of the sessions of a log, folded from its public records.

The rules are not played again: votes that nobody may see are not in the records, and every record
that changes a game brings the game's state after it. So the fold keeps the last state of each game,
and reads from it what the games' own engines say.
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
    """A game as it stands; `number` counts from 1 in its session.

    `players` are colours in turn order, `names` people's by colour. `winners`, several where they
    share it, and `outcome`, a sentence, are there once it is `over`. `seq` is the record that it
    began with.
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
    """A game while it is folded."""

    started: SessionStarted
    number: int
    seq: int
    players: tuple[str, ...]
    rulings: Mapping[str, str]
    state: Mapping[str, Any] = field(default_factory=dict)
    resigned: dict[int, str] = field(default_factory=dict)


class SessionFold:
    """A session as far as its records are known."""

    def __init__(self, first: Record) -> None:
        """Begin with the record of its start; raises ValueError for any other."""
        if not isinstance(first.event, SessionStarted):
            raise ValueError(f"record {first.seq} begins no session")
        self.started, self.session = first.event, first.session
        self.seq, self.ended = first.seq, False
        self._games = [_Game(first.event, 1, first.seq, first.event.players, first.event.rulings)]

    def add(self, record: Record) -> None:
        """The next record."""
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
        """The state document of the game that is played; empty before its first ruling."""
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
    """What everybody has before anything was ruled."""
    engine = GAMES.get(game.started.game)
    try:
        if engine is not None:
            return engine.state_document(engine.start(game.players, game.rulings))["scores"]
    except ValueError:  # players or house rules of another version of the game
        pass
    return dict.fromkeys(game.players, 0)


def _winners_and_reason(game: _Game) -> tuple[tuple[str, ...], str | None]:
    """Who won, and how it ended in a sentence; None while it runs."""
    left = [one for one in game.players if one not in game.resigned.values()]
    engine, line = GAMES.get(game.started.game), game.state.get("state")
    sentence = game.state.get("outcome")
    if engine is not None and isinstance(line, str) and sentence:
        try:
            outcome = engine.outcome(engine.State.parse(line))
        except ValueError:  # of another version of the game: nobody knows who won
            return (), None
        won = winners_of(outcome)
        return tuple(one for one in game.players if one in won), str(sentence)
    if len(left) == 1 and len(game.players) > 1:
        resigned = tuple(one for one in game.players if one not in left)
        return (left[0],), phrase(
            "{player} won: {players} resigned", player=left[0], players=resigned
        )
    return (), str(sentence) if sentence else None
