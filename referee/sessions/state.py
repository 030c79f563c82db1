"""The fold of a session's records into its state.

Pure: the same records always give the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, assert_never

import msgspec

from engines import Game
from engines.first_player import (
    RolledFirst,
    Rolling,
    is_first_player_move,
    named_first_player,
    printed,
    turn_order,
)
from engines.game import How, winners_of
from engines.game_document import EndDocument
from referee.sessions.events import (
    Answered,
    Appealed,
    ComputerChose,
    Corrected,
    Declared,
    Event,
    GameStarted,
    InputRecorded,
    Paused,
    QuestionAsked,
    Record,
    Reopened,
    Resigned,
    Resumed,
    SeatFreed,
    SeatTaken,
    SessionEnded,
    SessionStarted,
    TableChecked,
    Undone,
    Upheld,
    VerdictReached,
)
from referee.sessions.misreadings import KEY, Misread, read_misread
from table.boards import Board
from table.errors import InputError, message_of
from table.files import convert
from table.messages import Message, as_message, msg, phrase

SIZES = ("small", "medium", "large")
"""Sizes named in moves and inputs; a table need not have all of them."""


@dataclass(frozen=True, slots=True)
class CountedRuling:
    """Moves that count, ruled or recorded in record `seq`.

    `by` is the record by which they count: the same, or its latest correction.
    """

    seq: int
    by: int
    moves: tuple[str, ...]
    question: Record | None = None
    """The question that these moves answer; undoing them reopens it."""
    state: Any = None
    """Engine's state and completed ends after the moves, so that earlier ones are not replayed
    after a change. None in an archived game.
    """
    ends: tuple[EndDocument, ...] = ()
    secret: bool = False
    """True for secret moves: an error message does not reveal them."""
    resigned: str | None = None
    """Player who resigned, if this is a resignation; `passed_over` tells whether turns and votes
    skip that player.
    """
    passed_over: bool = False
    misread: tuple[Misread, ...] | None = None
    """Corrected misreadings of the table that was ruled on; None if they did not change."""

    @property
    def is_first_player_ruling(self) -> bool:
        """True if it only concerns who begins."""
        return bool(self.moves) and all(map(is_first_player_move, self.moves))


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a session after record `seq`.

    `players` sit clockwise. `first` begins, as determined by `begins`; empty for the first of them,
    and for a roll. `engine` is the game, with a roll before it if there is one. `board` is the
    table's, None if unknown; `state` is the engine's.

    `standing` are the rulings of this game that count, in order. `rulings` are its records that may
    be corrected. `question` is the open `QuestionAsked` record, without its table. `ends` are the
    completed ends, from the engine's documents. `appeals` are the open Appealed records. `earlier`
    is the game before, as it was left. The table is `in_doubt` if it was unreadable or did not
    match the record at the last ruling.
    """

    engine: Game
    started: SessionStarted
    session: int
    seq: int
    game_seq: int
    players: tuple[str, ...]
    options: dict[str, str]
    board: Board | None
    state: Any
    standing: tuple[CountedRuling, ...] = ()
    rulings: frozenset[int] = frozenset()
    question: Record | None = None
    paused: bool = False
    ended: bool = False
    ends: tuple[EndDocument, ...] = ()
    appeals: tuple[Record, ...] = ()
    earlier: SessionState | None = None
    in_doubt: bool = False
    begins: How = "hand"
    first: str = ""
    wish: ComputerChose | None = None
    """A computer player's wish in this state."""

    @property
    def start(self) -> Any:
        """Engine's state before the first move of this game."""
        return self.engine.set_up(turn_order(self.players, self.first), self.options, self.board)

    @property
    def rolling(self) -> bool:
        """True during the roll for the first player."""
        return isinstance(self.state, Rolling)

    @property
    def has_begun(self) -> bool:
        """True if anything but the choice of the first player counts."""
        return any(not entry.is_first_player_ruling for entry in self.standing)

    @property
    def may_set_first(self) -> bool:
        """True if people may still set who begins.

        Only the choice of the first player, resignations, and a set-up that is the same for all may
        have happened.
        """
        lies = len(printed(self.started.game).ways) > 1
        return self.rolling or not any(
            not entry.is_first_player_ruling and (entry.moves or not (lies or entry.resigned))
            for entry in self.standing
        )

    @property
    def set_first(self) -> str:
        """First player set by hand: the last one set, or the one named at the start of the game."""
        message = (
            named_first_player(move) for entry in reversed(self.standing) for move in entry.moves
        )
        return next(filter(None, message), self.first)

    @property
    def may_begin(self) -> tuple[str, ...]:
        """Players who may still be set to begin, except the one who does.

        Empty once anything has happened.
        """
        begins = self.state.players[0] if not self.rolling else ""
        return (
            tuple(player for player in self.remaining_players if player != begins)
            if self.may_set_first
            else ()
        )

    @property
    def game_number(self) -> int:
        """1 for the first game of the session."""
        return 1 if self.earlier is None else self.earlier.game_number + 1

    @property
    def winners(self) -> tuple[str, ...]:
        """Winners of this game in turn order; several share it, none while it runs."""
        outcome = self.engine.outcome(self.state)
        won = winners_of(outcome)
        return tuple(
            player
            for player in self.players
            if player in won or (outcome is None and self.remaining_players == (player,))
        )

    @property
    def resigned(self) -> tuple[str, ...]:
        """Players who resigned."""
        return tuple(entry.resigned for entry in self.standing if entry.resigned)

    @property
    def remaining_players(self) -> tuple[str, ...]:
        """Players who have not resigned."""
        return tuple(player for player in self.players if player not in self.resigned)

    @property
    def outcome(self) -> Message | None:
        """Outcome of this game in a sentence; None while it runs.

        It ends by its rules, or because all but one resigned.
        """
        if (ended := self.engine.outcome(self.state)) is not None:
            return as_message(getattr(ended, "message", str(ended)))
        return (
            phrase(
                "{player} won: {players} resigned",
                player=self.remaining_players[0],
                players=self.resigned,
            )
            if self.resigned and len(self.remaining_players) == 1
            else None
        )

    @property
    def observed_records(self) -> Iterator[int]:
        """Records that the counted rulings rest on, latest first.

        For an answer it is its question.
        """
        return (
            entry.question.seq if entry.question else entry.seq for entry in reversed(self.standing)
        )

    @property
    def misread(self) -> tuple[Misread, ...]:
        """Corrected misreadings, at their places at the last ruling."""
        return next(
            (entry.misread for entry in reversed(self.standing) if entry.misread is not None), ()
        )

    @property
    def colours_misread(self) -> dict[str, str]:
        """True colours of colours that nobody plays, from corrections in this session.

        Colours of two players are never exchanged.
        """
        of_earlier = self.earlier.colours_misread if self.earlier else {}
        misread = [
            (one.read.colour, one.true.colour)
            for entry in self.standing
            for one in entry.misread or ()
            if one.true is not None
        ]
        return of_earlier | {
            read: true
            for read, true in misread
            if read not in self.colours and true in self.colours
        }

    @property
    def colours(self) -> tuple[str, ...]:
        """Colours of pieces on the table: the players' and the target's, if any."""
        target = self.started.table.get("game", {}).get("target")
        return (*self.players, *([target] if target else []))

    def has_sizes(self, named: Iterable[str]) -> bool:
        """True if all sizes among these words are in play on the table.

        Also true if the sizes in play are unknown.
        """
        in_play = self.started.table.get("game", {}).get("sizes")
        return not in_play or {*named}.isdisjoint({*SIZES} - {*in_play})


Games = Mapping[str, Game]
"""Engines by the name of their game, as in `engines.GAMES`."""


def begin(record: Record, games: Games) -> SessionState:
    """Return the state after a session's first record.

    Raises InputError for an unknown game, or players that it refuses.
    """
    started = record.event
    if not isinstance(started, SessionStarted):
        raise InputError(
            msg("expected the start of a session, got {raw}", raw=type(started).__name__)
        )
    if started.game not in games:
        raise InputError(
            msg(
                "game: expected one of {raw}, got {raw2}",
                raw=", ".join(games),
                raw2=repr(started.game),
            )
        )
    engine = games[started.game]
    board: Board | None = None
    if "board" in started.table:
        # mypy: a union is no class
        board = convert(started.table["board"], Board, "table", "board")  # type: ignore[arg-type]
    return _new_game(engine, started, record.seq, record.seq, started, board)


def _new_game(
    engine: Game,
    started: SessionStarted,
    session: int,
    seq: int,
    game: SessionStarted | GameStarted,
    board: Board | None,
) -> SessionState:
    """Return the state of a game that begins with record `seq`.

    Raises InputError for a first player or players that the game refuses.
    """
    known = {"hand": ("", *game.players), "lot": game.players, "roll": ("",)}[game.begins]
    if game.first not in known:
        raise InputError(
            msg(
                "first: expected {text}, got {raw}",
                text=", ".join(filter(None, known)) or phrase("nobody before the roll"),
                raw=repr(game.first),
            )
        )
    rolled = RolledFirst(engine, board) if game.begins == "roll" else engine
    fresh = SessionState(
        rolled,
        started,
        session,
        seq,
        seq,
        game.players,
        game.rulings,
        board,
        None,
        begins=game.begins,
        first=game.first,
    )
    return replace(fresh, state=fresh.start)


def fold(records: Iterable[Record], games: Games, where: str) -> SessionState:
    """Fold all records of a session, in order, at least one.

    Raises InputError, `where` first, as `record_errors` does.
    """
    remaining = iter(records)
    first = next(remaining)
    with record_errors(first, where):
        ledger = begin(first, games)
    for record in remaining:
        with record_errors(record, where):
            ledger = apply(ledger, record)
    return ledger


@contextmanager
def record_errors(record: Record, where: str) -> Iterator[None]:
    """Run a block that applies a record from a log; its errors name the record.

    The record was applied before, perhaps by an older program. If it no longer follows, InputError
    is raised, `where` first.
    """
    try:
        yield
    except InputError as error:
        raise InputError(
            msg("{where}: record {n}: {text}", where=where, n=record.seq, text=error.message)
        ) from error
    except ValueError as error:
        raise InputError(
            msg(
                "{where}: record {n}: expected moves that are legal by this version's"
                " rules: {text}",
                where=where,
                n=record.seq,
                text=message_of(error),
            )
        ) from error


def state_after(ledger: SessionState, event: Event, at_ms: int = 0) -> SessionState:
    """Return the state if this event were the next record; raises as `apply` does."""
    return apply(
        ledger, Record(seq=ledger.seq + 1, session=ledger.session, at_ms=at_ms, event=event)
    )


def may_follow(ledger: SessionState, event: Event) -> bool:
    """True if this event could be the next record."""
    try:
        state_after(ledger, event)
    except ValueError:
        return False
    return True


def apply(ledger: SessionState, record: Record) -> SessionState:
    """Return the state after one more record.

    Raises InputError for a request that does not fit (an answer without a question), and the
    engine's ValueError for illegal moves.
    """
    after = _applied(ledger, record)
    stays = after.game_seq == ledger.game_seq and after.state == ledger.state
    return after if stays or after.wish is None else replace(after, wish=None)


def _applied(ledger: SessionState, record: Record) -> SessionState:
    now = replace(ledger, seq=record.seq)
    event = record.event
    match event:
        case SessionStarted():
            raise InputError(msg("expected no second start of session {n}", n=ledger.session))
        case GameStarted():
            return replace(_next_game(now, event), earlier=_archived_game(ledger))
        case VerdictReached():
            return _rule(now, event)
        case InputRecorded():
            return _note(now, event)
        case QuestionAsked():
            return _ask(now, record, event)
        case Answered():
            return _answer(now, event)
        case Corrected():
            return _correct(now, event)
        case Undone():
            return _undo(now, event)
        case Declared():
            return _declare(now, event)
        case Appealed():
            return _appeal(now, record, event)
        case Upheld():
            return _uphold(now, event)
        case Resigned():
            return _resign(now, event)
        case Paused():
            return replace(now, paused=True)
        case Resumed():
            return replace(now, paused=False)
        case SessionEnded():
            return replace(now, ended=True)
        case Reopened():
            return replace(now, ended=False)
        case ComputerChose():
            return replace(now, wish=event)
        case TableChecked() | SeatTaken() | SeatFreed():
            return now
        case _:
            assert_never(event)


def _next_game(ledger: SessionState, started: GameStarted) -> SessionState:
    """Return the state of the next game of the session; a pause continues."""
    engine = ledger.engine.game if isinstance(ledger.engine, RolledFirst) else ledger.engine
    fresh = _new_game(engine, ledger.started, ledger.session, ledger.seq, started, ledger.board)
    return replace(fresh, paused=ledger.paused)


def _archived_game(ledger: SessionState) -> SessionState:
    """Return an archived game, without the states after its moves.

    If it is resumed, its moves are replayed.
    """
    return replace(
        ledger, standing=tuple(replace(entry, state=None, ends=()) for entry in ledger.standing)
    )


def _count(ledger: SessionState, new: CountedRuling) -> SessionState:
    """Play the moves of `new` after all that count.

    An entry without moves counts too, such as an accepted set-up.
    """
    engine, state, ends = ledger.engine, ledger.state, ledger.ends
    passed_over = (
        [new.resigned]
        if new.resigned
        and new.passed_over
        and len({*ledger.remaining_players} - {new.resigned}) > 1
        else []
    )
    before = engine.state_document(state).get("end") if new.moves or passed_over else None
    steps = [partial(_play, ledger, move=move, secret=new.secret) for move in new.moves]
    for step in (*steps, *(partial(engine.resign, player=player) for player in passed_over)):
        state = step(state)
        over = engine.state_document(state).get("end")
        ends = (*ends, over) if before is None and over is not None else ends
        before = over
    return replace(
        ledger,
        state=state,
        ends=ends,
        standing=(*ledger.standing, replace(new, state=state, ends=ends)),
    )


class WithoutPlaceError(ValueError):
    """A secret input no longer fits after an undo or a correction before it."""

    message = phrase("a later secret vote would no longer fit; undo that first")

    def __init__(self) -> None:
        super().__init__(self.message)


def _play(ledger: SessionState, state: Any, move: str, secret: bool) -> Any:
    engine = ledger.engine
    if (first := named_first_player(move)) is not None and not isinstance(state, Rolling):
        return _first_state(ledger, first)
    try:
        return engine.play(state, engine.parse_move(move))
    except ValueError:
        if secret:
            raise WithoutPlaceError from None
        raise


def _first_state(ledger: SessionState, first: str) -> Any:
    """Return the state in which this player begins, set by hand before anything happened."""
    if not ledger.may_set_first:
        raise InputError(
            msg(
                "begins: set the starting player before the first move; something has"
                " already happened"
            )
        )
    if first not in ledger.remaining_players:
        raise InputError(
            msg(
                "begins: expected {raw}, got {raw2}",
                raw=", ".join(ledger.remaining_players),
                raw2=repr(first),
            )
        )
    engine = ledger.engine.game if isinstance(ledger.engine, RolledFirst) else ledger.engine
    state = engine.set_up(turn_order(ledger.players, first), ledger.options, ledger.board)
    for entry in ledger.standing:
        if entry.resigned and entry.passed_over:
            state = engine.resign(state, entry.resigned)
    return state


def history(ledger: SessionState) -> Iterator[tuple[CountedRuling, Any, Any, Any]]:
    """Yield every move of this game that counts, in order.

    Each is a tuple: its entry, the state before, the move, the state after. Moves about who begins
    are left out.
    """
    at = replace(ledger, state=ledger.start, ends=(), standing=())
    for entry in ledger.standing:
        state = at.state
        for text in () if entry.is_first_player_ruling else entry.moves:
            move = ledger.engine.parse_move(text)
            after = ledger.engine.play(state, move)
            yield entry, state, move, after
            state = after
        at = _count(at, entry)


def _open_appeals(ledger: SessionState, against: int) -> tuple[Record, ...]:
    """Open appeals, except those against this corrected or undone record."""
    return tuple(
        record
        for record in ledger.appeals
        if not (isinstance(record.event, Appealed) and record.event.appeals == against)
    )


def _recount(ledger: SessionState, standing: Iterable[CountedRuling]) -> SessionState:
    """Replace the counted rulings.

    Entries before the first difference stay; the rest is replayed.
    """
    wanted = sorted(standing, key=lambda entry: entry.seq)
    pairs = zip(ledger.standing, wanted, strict=False)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] is pair[1] and pair[0].state is not None, pairs)
    )
    if same:
        ledger = replace(
            ledger,
            state=wanted[same - 1].state,
            ends=wanted[same - 1].ends,
            standing=tuple(wanted[:same]),
        )
    else:
        ledger = replace(ledger, state=ledger.start, ends=(), standing=())
    for entry in wanted[same:]:
        ledger = _count(ledger, entry)
    return ledger


def state_before(ledger: SessionState, seq: int) -> Any:
    """Engine's state before record `seq` of this game, by what counts now."""
    return _recount(ledger, (entry for entry in ledger.standing if entry.seq < seq)).state


def _rule(ledger: SessionState, verdict: VerdictReached) -> SessionState:
    seq = ledger.seq
    ruled = replace(
        ledger,
        rulings=ledger.rulings | {seq},
        in_doubt=verdict.verdict in ("cannot_see", "out_of_sync"),
    )
    misread = read_misread(verdict.evidence[KEY]) if KEY in verdict.evidence else None
    if verdict.verdict != "accepted" and not verdict.stands:
        return ruled
    return _count(ruled, CountedRuling(seq, seq, verdict.counted, misread=misread))


def _note(ledger: SessionState, recorded: InputRecorded) -> SessionState:
    seq = ledger.seq
    noted = replace(ledger, rulings=ledger.rulings | {seq})
    if not recorded.moves:
        return noted
    return _count(noted, CountedRuling(seq, seq, recorded.moves, secret=recorded.secret))


def _ask(ledger: SessionState, record: Record, asked: QuestionAsked) -> SessionState:
    without_table = msgspec.structs.replace(asked, observation=None)
    return replace(ledger, question=msgspec.structs.replace(record, event=without_table))


def _answer(ledger: SessionState, answered: Answered) -> SessionState:
    if ledger.question is None or ledger.question.seq != answered.question:
        raise InputError(
            msg(
                "question {n} is not open: it was already answered or withdrawn",
                n=answered.question,
            )
        )
    asked = ledger.question.event
    of_answers = asked.evidence.get(KEY) if isinstance(asked, QuestionAsked) else None
    misread = (
        read_misread(of_answers.get(answered.label, ())) if isinstance(of_answers, dict) else None
    )
    new = CountedRuling(ledger.seq, ledger.seq, answered.moves, ledger.question, misread=misread)
    settled = replace(ledger, question=None, rulings=ledger.rulings | {ledger.seq})
    return _count(settled, new) if new.moves or answered.confirms_record else settled


def check_no_question(ledger: SessionState) -> None:
    """Raise InputError, for people, if a question has to be answered first."""
    if ledger.question is not None:
        raise InputError(
            msg("question {n} is open: answer or withdraw it first", n=ledger.question.seq)
        )


def check_ruling(ledger: SessionState, seq: int) -> None:
    """Raise InputError, for people, if a record cannot be corrected now."""
    if seq not in ledger.rulings:
        raise InputError(
            msg("record {n} is not a ruling of this game, so it cannot be corrected", n=seq)
        )
    check_no_question(ledger)


def _correct(ledger: SessionState, corrected: Corrected) -> SessionState:
    check_ruling(ledger, corrected.corrects)
    others = [entry for entry in ledger.standing if entry.seq != corrected.corrects]
    replaced = next((entry for entry in ledger.standing if entry.seq == corrected.corrects), None)
    question = replaced.question if replaced else None
    misread = corrected.misread or (replaced.misread if replaced else None)
    counts = corrected.moves or corrected.misread
    new = (
        [CountedRuling(corrected.corrects, ledger.seq, corrected.moves, question, misread=misread)]
        if counts
        else []
    )
    return replace(
        _recount(ledger, others + new), appeals=_open_appeals(ledger, corrected.corrects)
    )


def _declare(ledger: SessionState, declared: Declared) -> SessionState:
    check_no_question(ledger)
    return _count(
        replace(ledger, rulings=ledger.rulings | {ledger.seq}),
        CountedRuling(ledger.seq, ledger.seq, declared.moves),
    )


def _undo(ledger: SessionState, undone: Undone) -> SessionState:
    if ledger.question is not None and ledger.question.seq == undone.undoes:
        return replace(ledger, question=None)
    if (
        ledger.earlier is not None
        and undone.undoes == ledger.game_seq
        and not ledger.standing
        and not ledger.question
    ):
        return replace(ledger.earlier, seq=ledger.seq, paused=ledger.paused)
    taken = next((entry for entry in ledger.standing if entry.seq == undone.undoes), None)
    if taken is None:
        raise InputError(
            msg("record {n} is not in force in this game, so it cannot be undone", n=undone.undoes)
        )
    check_no_question(ledger)
    reopened = taken.question if taken is ledger.standing[-1] else None
    left = (entry for entry in ledger.standing if entry is not taken)
    return replace(
        _recount(ledger, left), question=reopened, appeals=_open_appeals(ledger, undone.undoes)
    )


def _appeal(ledger: SessionState, record: Record, appealed: Appealed) -> SessionState:
    if appealed.appeals not in ledger.rulings:
        raise InputError(
            msg(
                "record {n} is not a ruling of this game, so nobody can appeal against it",
                n=appealed.appeals,
            )
        )
    return replace(ledger, appeals=(*ledger.appeals, record))


def _uphold(ledger: SessionState, upheld: Upheld) -> SessionState:
    """Remove a decided appeal: the ruling stands."""
    left = tuple(appeal for appeal in ledger.appeals if appeal.seq != upheld.upholds)
    if len(left) == len(ledger.appeals):
        raise InputError(msg("record {n} is not an open appeal", n=upheld.upholds))
    return replace(ledger, appeals=left)


def _resign(ledger: SessionState, resigned: Resigned) -> SessionState:
    seq, player, passed_over = ledger.seq, resigned.player, resigned.passed_over
    return _count(ledger, CountedRuling(seq, seq, (), resigned=player, passed_over=passed_over))
