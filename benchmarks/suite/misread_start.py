"""One piece of the start that is read wrongly for a whole film, and people who answer."""

from __future__ import annotations

import datetime
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.films import GAMES, SAME_MM, STILL_MM, Blank, Film, Reading, film_of
from benchmarks.games.piece_faults import FAULTS
from benchmarks.harness import Benchmark, NoOptions, Pairs
from referee.live.recorded_inputs import Input, read_inputs
from referee.live.referee import Referee
from referee.sessions.commands import Answer, Declare
from referee.sessions.event_store import Log
from referee.sessions.events import QuestionAsked
from referee.sessions.misreadings import KEY, kind_of, read_misread
from referee.sessions.session import Session
from referee.sessions.start import opening
from table.observation import Observation, SeenPiece
from table.table_config import Setup

REST_MS = 8000
"""People wait so long at every table: for the referee, and to answer it."""
STEP_MS = 250
GHOST = "twice, where it is and beside that"
MISREAD = (
    "of another colour",
    "of another size",
    "the other way round",
    "standing, and it lies, or the other way",
    "not seen at all",
    GHOST,
)


@dataclass(frozen=True, slots=True)
class Slow:
    """A film of people who wait at every table.

    `table_of` gives for the number of each picture how many tables came before it.
    """

    film: Film
    readings: tuple[Reading, ...]
    inputs: tuple[Input, ...]
    table_of: dict[int, int]

    @classmethod
    def of(cls, film: Film) -> Slow:
        """Inputs are told once the table at which they were told has been seen."""
        tables = list(film.tables())
        begins = [film.readings[table[0]].at_ms for table in tables]
        ends = {table[-1]: number for number, table in enumerate(tables)}
        readings: list[Reading] = []
        table_of: dict[int, int] = {}
        number = 0
        for k, seen in enumerate(film.readings):
            times = 1 + (REST_MS // STEP_MS if k in ends else 0)
            for time in range(times):
                seq, at_ms = len(readings), seen.at_ms + REST_MS * number + STEP_MS * time
                readings.append(replace(seen, frame_seq=seq, at_ms=at_ms))
                table_of[seq] = number
            number += k in ends
        inputs = read_inputs(film.folder / "inputs.jsonl")
        inputs = tuple(
            one._replace(at_ms=one.at_ms + REST_MS * sum(begin <= one.at_ms for begin in begins))
            for one in inputs
        )
        return cls(film, tuple(readings), inputs, table_of)


@dataclass(slots=True)
class Outcome:
    """What came of a film: what had been played once each table was left, and the questions."""

    played: dict[int, tuple[str, ...]] = field(default_factory=dict)
    moves: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The same, with their distances."""
    began: bool = False
    asked_first: int = 0
    """Questions before the game began."""
    asked_later: int = 0
    typed: int = 0
    """Moves that people had to say, as no answer was true."""


class _People(Blank):
    """They know what happened, and answer a question at once."""

    def __init__(
        self,
        slow: Slow,
        readings: Sequence[Reading],
        session: Session,
        truth: Outcome | None,
        true: SeenPiece | None,
    ) -> None:
        super().__init__(readings)
        self.outcome, self._slow, self._session, self._truth, self._true = (
            Outcome(),
            slow,
            session,
            truth,
            true,
        )

    def read(self) -> Any:
        frame = super().read()
        if frame is not None:
            table = self._slow.table_of[frame.seq]
            self._answer(table)
            self.outcome.played[table] = played(self._session)
            self.outcome.moves[table] = tuple(
                move for entry in self._session.ledger.standing for move in entry.moves
            )
        return frame

    def _answer(self, table: int) -> None:
        ledger, outcome = self._session.ledger, self.outcome
        outcome.began = outcome.began or bool(ledger.standing)
        if ledger.question is None or self._truth is None:
            return
        asked = ledger.question.event
        assert isinstance(asked, QuestionAsked), "a question is what was asked"
        outcome.asked_later += outcome.began
        outcome.asked_first += not outcome.began
        so_far, truth = played(self._session), self._truth.played[table]
        followed = [
            (choice, (*so_far, *_without_mm(choice.moves)))
            for choice in asked.choices
            if self._is_true(asked, choice)
        ]
        true = [
            (choice, then)
            for choice, then in followed
            if then == truth[: len(then)] and (choice.moves or then == truth)
        ]
        labels = [choice.label for choice, then in sorted(true, key=lambda one: -len(one[1]))]
        self._session.command(
            Answer(question=ledger.question.seq, label=(labels or [asked.choices[-1].label])[0])
        )
        if not labels and so_far == truth[: len(so_far)] and so_far != truth:
            moves = self._truth.moves[table][len(so_far) :]
            outcome.typed += len(moves)
            self._session.command(Declare(moves=moves))

    def _is_true(self, asked: QuestionAsked, choice: Any) -> bool:
        """Does it say of the misread piece what it is, or of no piece anything?"""
        if not choice.moves and not choice.confirms_record:
            return False
        named = read_misread(asked.evidence.get(KEY, {}).get(choice.label, ()))
        return all(
            one.true == (kind_of(self._true) if self._true is not None else None) for one in named
        )


def played(session: Session) -> tuple[str, ...]:
    """All that counts, as moves without distances, which another reading changes a little."""
    return _without_mm(move for entry in session.ledger.standing for move in entry.moves)


def _without_mm(moves: Any) -> tuple[str, ...]:
    return tuple(re.sub(r"\d+\.\d+", "", move) for move in moves)


def same(said: tuple[str, ...], true: tuple[str, ...]) -> bool:
    """Whether the same was played.

    Where a misread piece itself lies, nobody can tell if it was misread as something legal.
    """
    return said == true or (
        len(said) == len(true)
        and said[1:] == true[1:]
        and said[0].split()[:2] == true[0].split()[:2]
    )


def refereed(
    slow: Slow, readings: Sequence[Reading], truth: Outcome | None, true: SeenPiece | None
) -> Outcome:
    """Referee these readings, with people who know what the misread piece truly is.

    None: nothing is there.
    """
    film, by_seq = slow.film, {seen.frame_seq: seen for seen in readings}
    with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
        started = opening(
            film.game, film.players, {}, film.setup, "a film", datetime.datetime.now(UTC)
        )
        with closing(Session.begin(log, started)) as session:
            people = _People(slow, readings, session, truth, true)
            Referee(
                people, film.setup, lambda frame, *_: by_seq[frame.seq], session, inputs=slow.inputs
            ).run()
            people.outcome.played[max(slow.table_of.values()) + 1] = played(session)
    return people.outcome


def followed(readings: Sequence[Reading], piece: SeenPiece) -> Iterator[int | None]:
    """Index of a piece in each reading, wherever it goes.

    None where it is not seen, and once it has left the board.
    """
    at, before, lost = piece, tuple[SeenPiece, ...](), False
    for seen in readings:
        if not isinstance(seen, Observation) or lost:
            yield None
            continue
        alike = [
            k
            for k, one in enumerate(seen.pieces)
            if (one.colour, one.size) == (piece.colour, piece.size)
        ]
        near = [k for k in alike if np.hypot(*(seen.pieces[k].base_mm - at.base_mm)) < SAME_MM]
        came = [
            k
            for k in alike
            if all(np.hypot(*(seen.pieces[k].base_mm - was.base_mm)) > STILL_MM for was in before)
        ]
        found = (
            near[0]
            if near
            else came[0]
            if len(came) == 1 and not seen.moving and not seen.hand
            else None
        )
        at = at if found is None else seen.pieces[found]
        lost = found is None and bool(before) and not (seen.moving or seen.hand)
        before = before if seen.moving or seen.hand else seen.pieces
        yield found


def hurt(slow: Slow, piece: SeenPiece, fault: str) -> list[Reading]:
    """The film with a piece of its start misread as long as it runs.

    A piece that is not really there stays where it is.
    """
    setup, readings = slow.film.setup, list[Reading]()
    ghost: SeenPiece | None = None
    for seen, k in zip(slow.readings, followed(slow.readings, piece), strict=True):
        if not isinstance(seen, Observation) or (k is None and ghost is None):
            readings.append(seen)
        elif fault == GHOST:
            if ghost is None and k is not None:
                more = FAULTS[fault](seen, k, setup).pieces[len(seen.pieces) :]
                ghost = more[0] if more else None
            readings.append(
                replace(seen, pieces=(*seen.pieces, ghost)) if ghost is not None else seen
            )
        else:
            assert k is not None
            wrong = FAULTS[fault](seen, k, setup)
            readings.append(
                _in_a_player_s_colour(seen, k, setup)
                if seen.pieces[k].colour == setup.game.target and "colour" in fault
                else wrong
            )
    return _as_one(readings)


def _in_a_player_s_colour(seen: Observation, k: int, setup: Setup) -> Observation:
    """The target is surely told to be the first player's."""
    piece = replace(seen.pieces[k], colour=setup.game.colours[0])
    return replace(seen, pieces=(*seen.pieces[:k], piece, *seen.pieces[k + 1 :]))


def _as_one(readings: list[Reading]) -> list[Reading]:
    """What was one reading, told again, is one still."""
    found: list[Reading] = []
    last: Observation | None = None
    for seen in readings:
        if isinstance(seen, Observation):
            if last is not None and [*map(_key, last.pieces)] == [*map(_key, seen.pieces)]:
                seen = replace(seen, pieces=last.pieces)
            last = seen
        found.append(seen)
    return found


def _key(piece: SeenPiece) -> tuple[object, ...]:
    return piece.colour, piece.size, piece.pose, *map(float, piece.base_mm), piece.heading_deg


class MisreadResult(msgspec.Struct):
    """What one kind of misreading at the start of a game came to."""

    pieces: int
    """That lie there at the start."""
    misread: int
    """Of these, one after the other."""
    faults: int = 0
    began: int = 0
    """Games that began after at most one answer."""
    right: int = 0
    """Games in which everything that was played is on record, and nothing else."""
    asked_later: int = 0
    typed: int = 0


@cache
def _truly_read(game: str) -> tuple[Slow, Outcome]:
    """The film of a game, and what comes of it where nothing is misread."""
    slow = Slow.of(film_of(game))
    return slow, refereed(slow, slow.readings, None, None)


def _start(film: Film) -> tuple[SeenPiece, ...]:
    """The pieces of the first table on which there are any."""
    tables = ((film.readings[table[-1]], table) for table in film.tables())
    return next(seen.pieces for seen, _ in tables if isinstance(seen, Observation) and seen.pieces)


def _pieces(seen: Reading) -> tuple[SeenPiece, ...]:
    return seen.pieces if isinstance(seen, Observation) else ()


MOST = {"icefloe": 4}
"""Of games with many pieces so many are misread, one after the other."""


class Summary(msgspec.Struct, frozen=True):
    rest_s: float
    """People wait so long at every table."""
    by_fault: dict[str, dict[str, MisreadResult]]
    """By fault and game."""


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    return ((game, fault) for game in GAMES for fault in MISREAD)


def run(case: tuple[str, str]) -> MisreadResult:
    """Every piece of the start, or the first of them, misread in one way."""
    game, fault = case
    slow, whole = _truly_read(game)
    last, pieces = max(whole.played), _start(slow.film)
    result = MisreadResult(len(pieces), len(pieces[: MOST.get(game)]))
    for piece in pieces[: result.misread]:
        readings = hurt(slow, piece, fault)
        if all(
            _pieces(one) == _pieces(other)
            for one, other in zip(readings, slow.readings, strict=True)
        ):
            continue
        outcome = refereed(slow, readings, whole, None if fault == GHOST else piece)
        result.faults += 1
        result.began += outcome.began and outcome.asked_first <= 1
        result.right += same(outcome.played[last], whole.played[last])
        result.asked_later += outcome.asked_later
        result.typed += outcome.typed
    return result


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    by_fault: dict[str, dict[str, MisreadResult]] = {}
    for (game, fault), result in pairs:
        by_fault.setdefault(fault, {})[game] = result
    return Summary(REST_MS / 1000, by_fault)


BENCHMARK = Benchmark("FAULTS.md", cases, run, summarise, section=True)
