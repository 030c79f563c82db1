"""Contain a game of another package, so that no failure of it damages the session.

`contained` wraps such a game. Exceptions that the interface allows pass through. Any other
exception, a wrong result and a missing answer are faults. A fault is reported in one line with the
game, its package and the function. Then

- a table is not judged (`CannotSee`), and an input is not taken (`Waiting`);
- a move is not played (`Failed`), so that nothing is written to the log;
- what is only shown, drawn or counted is left out.

After a missing answer the game is disabled for the rest of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any, TypeVar

import msgspec
import numpy as np

from engines.board_marks import Mark, Option
from engines.computer_player import ComputerPlayer
from engines.errors import IllegalMove, Violation
from engines.game import Declaration, Game, GameFacts, OnBoard, Presentation, Statistics, facts
from engines.game_document import GameDocument
from engines.house_rules import HouseRule
from engines.statistics import Hit, Thrown
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Verdict, Waiting
from table.boards import Board
from table.errors import InputError
from table.messages import Message, msg, sentences
from table.observation import Observation
from table.observation_document import MeasurementDocument
from table.plugins import CALL_S, Failed, Guard, Plugin
from table.table_config import Setup

CODE = "game.failed"
"""The code of verdicts on tables and inputs that a game failed to judge."""
MOST_TEXT = 4000
"""Most characters of a message, a move or a state of a game."""
MOST_MOVES = 200
"""Most moves, choices or differences in one verdict."""
MOST_BYTES = 256 << 10
"""Most bytes of evidence, of a state's document and of marks, as JSON."""
MEANT = (InputError, IllegalMove)
"""Exceptions that a game's functions may raise."""

T = TypeVar("T")
Facts = TypeVar("Facts", GameFacts, Presentation, Statistics)


class ContainedGame:
    """A game of another package with the interface `engines.game.Game`, contained.

    Attributes of the game outside the interface are passed through.
    """

    def __init__(self, game: Game, plugin: Plugin) -> None:
        self._game, self._guard = game, Guard(plugin, lambda: CALL_S)
        self.NAME, self.RULINGS = str(game.NAME), tuple[HouseRule, ...](game.RULINGS)
        self.FACTS: GameFacts = _contained_facts(facts(game), self)
        self.State = SimpleNamespace(
            parse=partial(self._required_answer, "State.parse", game.State.parse)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    # --- faults ---

    def answer(self, what: str, answer: Callable[[], T]) -> T:
        """Return a call's result; raises what it may raise, and Failed for all else."""
        return self._guard.answer(what, answer, MEANT)

    def _required_answer(self, what: str, function: Callable[..., T], *given: Any) -> T:
        return self.answer(what, lambda: function(*given))

    def answer_or(self, what: str, answer: Callable[[], T], otherwise: T) -> T:
        """Return a call's result, or `otherwise` if it fails; the failure is logged."""
        try:
            return self.answer(what, answer)
        except MEANT as error:
            if not isinstance(error, Failed):
                self._guard.failed(what, error)
            return otherwise

    # --- rules ---

    def start(self, players: Sequence[str], rulings: Mapping[str, str]) -> Any:
        return self._required_answer("start", self._game.start, players, rulings)

    def set_up(
        self, players: Sequence[str], rulings: Mapping[str, str], board: Board | None
    ) -> Any:
        def ready() -> Any:
            state = self._game.set_up(players, rulings, board)
            _check_document(self._game.state_document(state))
            if {*state.players} != {*players}:
                raise ValueError(f"expected the players {players}, got {state.players!r:.60}")
            return state

        return self.answer("set_up", ready)

    def parse_move(self, text: str) -> Any:
        return self._required_answer("parse_move", self._game.parse_move, text)

    def legal_moves(self, state: Any) -> Any:
        """As the game lists them; no session asks for them."""
        return self._game.legal_moves(state)

    def violation(self, state: Any, move: Any) -> Violation | None:
        return self._game.violation(state, move)

    def play(self, state: Any, move: Any) -> Any:
        return self._required_answer("play", self._game.play, state, move)

    def resign(self, state: Any, player: str) -> Any:
        return self._required_answer("resign", self._game.resign, state, player)

    def outcome(self, state: Any) -> Any:
        """Outcome of the game; None while it runs, and if it fails."""

        def ended() -> Any:
            outcome = self._game.outcome(state)
            _check_short_text("outcome", "" if outcome is None else str(outcome))
            return outcome

        return self.answer_or("outcome", ended, None)

    # --- what is shown ---

    def state_document(self, state: Any) -> GameDocument:
        return self.answer(
            "state_document", lambda: _check_document(self._game.state_document(state))
        )

    def shown_state(self, state: Any) -> GameDocument:
        """As `engines.game.shown_state`; if the game fails, only what is known without it."""
        shown = getattr(self._game, "shown_state", self._game.state_document)
        failed: GameDocument = {
            "next": None,
            "scores": {},
            "turn": msg("The game {raw} cannot say what comes next.", raw=self.FACTS.title),
            "rulings": {},
            "state": "",
            "outcome": None,
        }
        return self.answer_or("shown_state", lambda: _check_document(shown(state)), failed)

    def options(self, state: Any) -> tuple[Option, ...]:
        return self.answer_or(
            "options", lambda: _checked_tuple(Option, self._game.options(state)), ()
        )

    def trace(self, state: Any, move: Any) -> tuple[Mark, ...]:
        return self.answer_or(
            "trace", lambda: _checked_tuple(Mark, self._game.trace(state, move)), ()
        )

    # --- the judge ---

    def judge(
        self, state: Any, seen: Observation, before: Observation | None, board: Board, /
    ) -> Verdict:
        """Judge by the game, and check that the moves it accepts can be played and shown."""
        judged = partial(self._game.judge, state, seen, before, board)
        try:
            return self.answer("judge", lambda: self._check_verdict(state, judged()))
        except MEANT as error:
            fault = error if isinstance(error, Failed) else self._guard.failed("judge", error)
            unruled = msg("Nothing was ruled; people can rule by hand.")
            return CannotSee(code=CODE, message=sentences(fault.message, unruled))

    def hear(self, state: Any, heard: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
        listened = partial(self._game.hear, state, heard, in_doubt)
        try:
            return self.answer("hear", lambda: self._check_verdict(state, listened()))
        except Failed as fault:
            return Waiting(code=CODE, message=fault.message)

    def judge_answer(
        self, asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = "the players"
    ) -> Accepted:
        return self._required_answer(
            "judge_answer", self._game.judge_answer, asked, answer, decided_by
        )

    def hidden_voters(self, state: Any, /) -> tuple[str, ...]:
        """Hidden voters of the game; all players if it fails, so that no vote is shown."""
        return self.answer_or(
            "hidden_voters", lambda: tuple(self._game.hidden_voters(state)), tuple(state.players)
        )

    def secret_voter(self, spoken: Any, /) -> str | None:
        return self._required_answer("secret_voter", self._game.secret_voter, spoken)

    def alternatives(self, state: Any, moves: Sequence[str], /) -> tuple[Choice, ...]:
        def listed() -> tuple[Choice, ...]:
            found = _checked_tuple(Choice, self._game.alternatives(state, moves))
            for choice in found:
                _check_moves(choice.moves)
            return found

        return self.answer_or("alternatives", listed, ())

    def measurement(self, state: Any, seen: Observation) -> MeasurementDocument:
        nothing: MeasurementDocument = {}

        return self.answer_or(
            "measurement",
            lambda: _plain("measurement", self._game.measurement(state, seen), MeasurementDocument),
            nothing,
        )

    def computed(self, name: str, found: Any) -> Any:
        """Check the result of a computer player's function: its type and size.

        Raises TypeError.
        """
        kinds = COMPUTER_GIVES.get(name, (object,))
        if not isinstance(found, kinds):
            raise TypeError(f"expected {kinds[0].__name__}, got {type(found).__name__}")
        if name in ("choose", "wants"):
            _check_short_text(name, str(found))
        if name != "choose":
            return found
        try:
            return self._game.parse_move(str(found))
        except ValueError as error:
            raise TypeError(f"expected a move ({error})") from error

    def _check_verdict(self, state: Any, verdict: Verdict) -> Verdict:
        """Check a verdict: its type and size, and that its moves can be played.

        Raises ValueError; exceptions of the rules are re-raised.
        """
        if not isinstance(verdict, Verdict):
            raise ValueError(f"expected a verdict, got {type(verdict).__name__}")
        _check_short_text("code", verdict.code)
        _check_short_text("message", verdict.message)
        _check_short_text("rests_on", verdict.rests_on)
        _small("evidence", verdict.evidence)
        if verdict.player is not None:
            _check_short_text("player", verdict.player)
        for name in ("differences", "tried", "stands"):
            _check_moves(getattr(verdict, name, ()))
        if (asks := getattr(verdict, "asks", None)) is not None:
            self._check_verdict(state, asks)
        ways = verdict.choices if isinstance(verdict, Ambiguous) else ()
        if len(ways) > MOST_MOVES:
            raise ValueError(f"expected at most {MOST_MOVES} choices, got {len(ways)}")
        for choice in ways:
            _check_short_text("label", choice.label)
            _check_moves(choice.moves)
        moves = getattr(verdict, "moves", ()) or getattr(verdict, "stands", ())
        _check_moves(moves)
        self._try_out(state, moves)
        return verdict

    def _try_out(self, state: Any, moves: Sequence[str]) -> None:
        try:
            for move in moves:
                state = self._game.play(state, self._game.parse_move(move))
                _check_document(self._game.state_document(state))
                self._game.outcome(state)
        except MEANT as error:
            raise ValueError(f"its rules do not allow what it accepts: {error}") from error


def contained(game: Game, plugin: Plugin) -> Game:
    """Return this project's games unchanged, and others contained."""
    return game if plugin.own else ContainedGame(game, plugin)


FACTS_GIVE: Mapping[str, tuple[type, ...]] = {
    "marks": (Mark,),
    "on_board": (OnBoard,),
    "sound": (str,),
    "headline": (str, type(None)),
    "declarations": (Declaration,),
    "throws": (Thrown,),
    "squares": (dict,),
    "hits": (Hit,),
    "check_pieces": (type(None),),
    "as_played": (Setup,),
    "next_button": (Mapping, type(None)),
    "comparable": (str,),
    "in_words": (str,),
}
"""Types that the functions among the facts return, or the types in the tuples that they return."""
COMPUTER_GIVES: Mapping[str, tuple[type, ...]] = {
    "asked": (tuple,),
    "wants": (Message,),
    "announced": (Mapping, type(None)),
}
"""Types that the functions of a computer player return."""
SEVERAL = ("marks", "declarations", "throws", "hits")


def _contained_facts(facts: GameFacts, game: ContainedGame) -> GameFacts:
    """Contain a game's facts; functions that fail give the results of the default ones."""
    usual = GameFacts(title=facts.title)
    return replace(
        _contained_functions(facts, usual, game),
        computer_player=_contained_player(facts.computer_player, game),
        presentation=_contained_functions(facts.presentation, usual.presentation, game),
        statistics=_contained_functions(facts.statistics, usual.statistics, game),
    )


def _contained_player(player: ComputerPlayer | None, game: ContainedGame) -> ComputerPlayer | None:
    """Wrap a computer player's functions so that all failures raise Failed."""
    if player is None:
        return None

    def contained(name: str) -> Callable[..., Any]:
        function = getattr(player, name)
        what = f"FACTS.computer_player.{name}"
        return lambda *given: game.answer(what, lambda: game.computed(name, function(*given)))

    return ComputerPlayer(**{field.name: contained(field.name) for field in fields(ComputerPlayer)})


def _contained_functions(facts: Facts, usual: Facts, game: ContainedGame) -> Facts:
    """Contain each function of a group of facts; `usual` has the fallbacks."""
    functions: dict[str, Callable[..., Any]] = {
        field.name: _contained_function(
            getattr(facts, field.name), getattr(usual, field.name), game, field.name
        )
        for field in fields(facts)
        if field.name in FACTS_GIVE
    }
    return replace(facts, **functions)  # type: ignore[arg-type]


def _contained_function(
    function: Callable[..., Any], usual: Callable[..., Any], game: ContainedGame, name: str
) -> Callable[..., Any]:
    if function is usual:
        return function

    def answer(*given: Any) -> Any:
        try:
            return game.answer(f"FACTS.{name}", lambda: _checked_fact(name, function(*given)))
        except Failed:
            return usual(*given)

    return answer


def _checked_fact(name: str, found: Any) -> Any:
    """Check the type of what a function among the facts returned."""
    several = tuple(found) if name in SEVERAL else (found,)
    for one in several:
        if not isinstance(one, FACTS_GIVE[name]):
            raise ValueError(f"expected {FACTS_GIVE[name][0].__name__}, got {type(one).__name__}")
    if name in ("marks", "declarations", "on_board"):
        _plain(name, several, tuple[FACTS_GIVE[name][0], ...])  # type: ignore[misc]
    elif isinstance(found, str):
        _check_short_text(name, found)
    return several if name in SEVERAL else found


def _check_short_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise ValueError(f"{what}: expected text, got {type(text).__name__}")
    if len(text) > MOST_TEXT:
        raise ValueError(f"{what}: expected at most {MOST_TEXT} characters, got {len(text)}")


def _small(what: str, document: object) -> bytes:
    """Convert a document to JSON.

    Raises ValueError if JSON has no form for it, or it is too large.
    """
    try:
        written = msgspec.json.encode(document, enc_hook=_as_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{what}: expected plain data ({error})") from error
    if len(written) > MOST_BYTES:
        raise ValueError(f"{what}: expected at most {MOST_BYTES} bytes, got {len(written)}")
    return written


def _as_json(value: object) -> object:
    """Convert a nearly plain value for JSON: a message, a NumPy number."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _plain(what: str, value: T, kind: Any) -> T:
    """Check that all parts of a value have the right types, recursively."""
    msgspec.json.decode(_small(what, value), type=kind)
    return value


def _check_document(document: GameDocument) -> GameDocument:
    _check_short_text("state", _plain("document", document, GameDocument)["state"])
    return document


def _check_moves(moves: Sequence[str]) -> None:
    if not isinstance(moves, tuple) or len(moves) > MOST_MOVES:
        raise ValueError(f"moves: expected a tuple of at most {MOST_MOVES}, got {moves!r:.60}")
    for move in moves:
        _check_short_text("move", move)


def _checked_tuple(kind: type[T], found: Iterable[T]) -> tuple[T, ...]:
    """Check a tuple of items of one type; raises ValueError."""
    listed = tuple(islice(found, MOST_MOVES + 1))
    if len(listed) > MOST_MOVES or not all(isinstance(one, kind) for one in listed):
        raise ValueError(f"expected at most {MOST_MOVES} of {kind.__name__}, got {found!r:.60}")
    return _plain(kind.__name__, listed, tuple[kind, ...])  # type: ignore[valid-type]
