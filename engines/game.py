"""What a game is: the one interface that all rooms of the house know games by.

A game is a package of its own, found by an entry point of the group `rinkside.games` whose name is
the game's `NAME`.  It offers the functions of `Game`, and, where it wants more than the defaults,
`FACTS`: a `GameFacts` with all that is not a rule.  Nothing outside of its folder names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from engines.board_marks import Mark, Option
from engines.computer_player import ComputerPlayer
from engines.errors import Violation
from engines.game_document import GameDocument
from engines.house_rules import HouseRule
from engines.lessons import Lessons, no_lessons
from engines.statistics import Hit, Step, Thrown
from engines.verdict import Accepted, Ambiguous, Choice, Verdict
from table.boards import Board
from table.game_facts import NO_TABLE_FACTS, TableFacts
from table.messages import Message
from table.observation import Observation
from table.observation_document import MeasurementDocument
from table.plugins import MOST_NAME
from table.table_config import Setup

INTERFACE = 1
"""Version of this interface; games made for another one are not used."""


class Rules(Protocol):
    """Interface of every game: its states, its moves and its rules.

    States and moves are the game's own, frozen. Both print in a notation that `State.parse` and
    `parse_move` read back. Every state has `players`, colours in turn order, their `scores`, and
    `next`, the player who chooses next. `next` is None if dice decide, all players or none act, or
    shooters act.
    """

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """Name of the game in tables and command lines."""

    @property
    def RULINGS(self) -> tuple[HouseRule, ...]:  # noqa: N802
        """House rules of the game."""

    @property
    def State(self) -> Any:  # noqa: N802
        """Type of its states, with `parse`."""

    def start(self, players: Sequence[str], rulings: Mapping[str, str]) -> Any:
        """Return the state before the first move.

        Raises InputError for players or rulings that are not allowed.
        """

    def parse_move(self, text: str) -> Any:
        """Parse a move; raises InvalidNotation."""

    def legal_moves(self, state: Any) -> Any:
        """Return the legal moves: a collection that iterates, counts, answers `in` and prints."""

    def violation(self, state: Any, move: Any) -> Violation | None:
        """Return the rule that forbids a move, and what would be allowed.

        None if the move is legal, exactly when `move in legal_moves(state)`.
        """

    def play(self, state: Any, move: Any) -> Any:
        """Return the state after a move.

        Raises IllegalMove, and AmbiguousMove for one with several meanings.
        """

    def resign(self, state: Any, player: str) -> Any:
        """Return the state after a player resigned, while at least two others remain.

        Turns and votes skip that player; the pieces stay. Raises InputError if it is impossible
        now.
        """

    def outcome(self, state: Any) -> Any:
        """Return None while the game runs, then an object that prints as a sentence."""

    def state_document(self, state: Any) -> GameDocument:
        """Return the state as plain data: the keys of all games, and the game's own."""

    def options(self, state: Any) -> tuple[Option, ...]:
        """Return what is possible now or comes next, in words and on the board.

        Empty once the game is over. It reveals no secret.
        """

    def trace(self, state: Any, move: Any) -> tuple[Mark, ...]:
        """Return the marks of a move on the board, from the state before it.

        An illegal move is drawn as far as possible.
        """


class Game(Rules, Protocol):
    """A game that can be refereed by camera.

    It may also offer `shown_state(state)`: the `state_document` with its sentences as messages
    (`table.messages`), which pages translate. See the function of that name below.
    """

    def set_up(
        self, players: Sequence[str], rulings: Mapping[str, str], board: Board | None
    ) -> Any:
        """Return the state before the first move on this board; None is the default one.

        Raises InputError for a board that the game is not played on.
        """

    def judge(
        self, state: Any, seen: Observation, before: Observation | None, board: Board, /
    ) -> Verdict:
        """Judge a settled table.

        `before` is the table of the last accepted verdict, `board` defines the spaces. `before` is
        None before a game's first verdict. Then a game that begins from a set-up accepts the set-up
        without moves, or waits and says what is missing. It is also None after a restart during a
        game.
        """

    def hear(self, state: Any, heard: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
        """A verdict on what does not come through the lens.

        `meaning` is a line of inputs.jsonl without its time, `{"player": "red", "die": 5}`.
        Accepted and Refused are announced, Noted counts without a word, Waiting says that it has no
        use now.  The table is `in_doubt` where it could not be read when it was judged last, or was
        not as it is recorded: something may have happened that is not on record.  Raises InputError
        for what the game cannot understand at any time.
        """

    def judge_answer(
        self, asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = "the players"
    ) -> Accepted:
        """Return the verdict of people's answer to a question.

        `answer` is the label of a choice, or readings in mm by what was measured. Raises
        InvalidNotation if no choice agrees, AmbiguousMove if several do.
        """

    def hidden_voters(self, state: Any, /) -> tuple[str, ...]:
        """Players who have cast a vote that is still hidden, in turn order."""

    def secret_voter(self, spoken: Any, /) -> str | None:
        """Return the player whose secret vote `spoken` casts.

        `spoken` is a move, or an input of `hear`, even one that it would refuse. None for public
        ones. Nobody else may cast, change or see that vote before it is revealed.
        """

    def alternatives(self, state: Any, moves: Sequence[str], /) -> tuple[Choice, ...]:
        """Return alternatives to `moves`, which were ruled on in a state, played or tried.

        All are legal; the nearest comes first.
        """

    def measurement(self, state: Any, seen: Observation) -> MeasurementDocument:
        """Return the measurements on a table: `gaps` and `call` of `rinkside-observation/1`.

        They are stored with the observation; empty if nothing is measured.
        """


# ---- facts that are not rules, each group with defaults

How = Literal["hand", "lot", "roll"]
"""By hand: people say who begins, the first named where they do not.  By lot: the referee draws.
Rolled: `engines.first_player.RolledFirst`.
"""
ALL_WAYS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Printed:
    """What the rules of a game say about who begins.

    `usual` is their way to decide it, and `cites` the section. `ways` are all that may be chosen,
    and `rests_on_it` those that the section allows.
    """

    usual: How = "hand"
    cites: str = ""
    ways: tuple[How, ...] = ALL_WAYS
    rests_on_it: tuple[How, ...] = ()
    has_null: bool = False
    """True if a die of the game may show an empty face."""

    def rests_on(self, how: How) -> str:
        """Return the section that requires this way; empty if people chose it freely."""
        return self.cites if how in self.rests_on_it else ""


Document = Mapping[str, Any]
"""A state's document, from `state_document` or from a log of any version. Code that reads a key has
to allow for its absence.
"""
Sound = Literal["turn", "hit", "sink", "refused", "ask", "doubt", "over", ""]


@dataclass(frozen=True, slots=True)
class NamedPiece:
    """A recorded piece with a name.

    `name` has one or two letters, for drawings; `cells` are those that it is on.
    """

    colour: str
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnBoard:
    """Recorded things on the board, for drawings.

    `tiles` are by place, `dice` are cells with a die. `line`, between two points (x, y) in mm, is
    the players' starting line.
    """

    pieces: tuple[NamedPiece, ...] = ()
    tiles: Mapping[str, str] = field(default_factory=dict)
    dice: tuple[str, ...] = ()
    line: Sequence[Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class SimultaneousTexts:
    """Texts of a phase in which all players act: for all ("All vote"), for one ("Vote")."""

    all: str
    one: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A move that the host may record with one tap, in words."""

    move: str
    label: str


def _nothing_marked(_document: Document) -> tuple[Mark, ...]:
    return ()


def _nothing_on_board(_document: Document) -> OnBoard:
    return OnBoard()


def _no_sound(_code: str, _document: Document) -> Sound:
    return ""


def _no_headline(_player: str | None, _code: str, _document: Document) -> Message | None:
    return None


def _nothing_declared(_document: Document) -> tuple[Declaration, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """Presentation of a game: texts, drawings and sounds, without effect on rulings."""

    verbs: Mapping[str, str] = field(default_factory=dict)
    """Verb of the player whose turn it is, such as `throws`, by a state's `phase`; "to move" for
    others.
    """
    marks: Callable[[Document], tuple[Mark, ...]] = _nothing_marked
    """Marks of a state for lamps, while nothing happens: rays, and the cells concerned."""
    on_board: Callable[[Document], OnBoard] = _nothing_on_board
    """Recorded positions of things, for drawings."""
    sound: Callable[[str, Document], Sound] = _no_sound
    """Sound of a ruling, by its code and the state after it; empty for the default one."""
    headline: Callable[[str | None, str, Document], Message | None] = _no_headline
    """Short headline of an accepted act, by player, code and the state after it; None: the first
    sentence of its message.
    """
    declarations: Callable[[Document], tuple[Declaration, ...]] = _nothing_declared
    """Moves that only people can report, for the host's page."""
    together: Mapping[str, SimultaneousTexts] = field(default_factory=dict)
    """Texts by the `phase` of a state in which all players act at once."""
    options_in_order: bool = False
    """True if the options of several players are in order."""


def _no_throws(_steps: Iterable[Step]) -> tuple[Thrown, ...]:
    return ()


def _no_squares(_players: Sequence[str], _steps: Iterable[Step]) -> dict[str, dict[str, int]]:
    return {}


def _no_tries(_steps: Iterable[Step]) -> Mapping[str, int]:
    return {}


def _no_hits(_steps: Iterable[Step]) -> tuple[Hit, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Statistics of a played game, from its steps in order."""

    throws: Callable[[Iterable[Step]], Iterable[Thrown]] = _no_throws
    """Counted throws at rest."""
    squares: Callable[[Sequence[str], Iterable[Step]], dict[str, dict[str, int]]] = _no_squares
    """Number of throws that touched each square, by player and square."""
    hits: Callable[[Iterable[Step]], Iterable[Hit]] = _no_hits
    """Captured pieces."""
    tries: Callable[[Iterable[Step]], Mapping[str, int]] = _no_tries
    """Number of attempts that could have captured a piece, by player."""


def _no_next(_document: Document) -> Mapping[str, Any] | None:
    return None


def _any_pieces(_rulings: Mapping[str, str], _setup: Setup) -> None:
    return


def _same_setup(setup: Setup, _rulings: Mapping[str, str]) -> Setup:
    return setup


def _same_notation(move: str) -> str:
    return move


def _no_vote(_document: Document, _player: str) -> str | None:
    return None


def _empty_text(_state: Any, _move: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFacts:
    """Facts of a game beside its rules."""

    title: str
    """Title for people."""
    document: type[GameDocument] = GameDocument
    """Type of its `state_document`."""
    table: TableFacts = NO_TABLE_FACTS
    """Its pieces, its table, its printed sheet and its measurements."""
    first_player: Printed = Printed()
    """Who begins."""
    presentation: Presentation = Presentation()
    """How it is shown and heard."""
    statistics: Statistics = Statistics()
    """What can be counted."""
    check_pieces: Callable[[Mapping[str, str], Setup], None] = _any_pieces
    """Check before play: raises InputError if a table's pieces do not suit the board or the
    rulings.
    """
    as_played: Callable[[Setup, Mapping[str, str]], Setup] = _same_setup
    """Return a table with the pieces that the rulings add."""
    next_button: Callable[[Document], Mapping[str, Any] | None] = _no_next
    """Input for `hear` of the button `next` in a running game."""
    computer_player: ComputerPlayer | None = None
    """Computer player; None for a game without one, such as a game of skill."""
    comparable: Callable[[str], str] = _same_notation
    """Normalize a move's notation: parts without a meaningful order are sorted, to compare readings
    of a table.
    """
    cast_vote: Callable[[Document, str], str | None] = _no_vote
    """The move by which a player cast a state's secret vote: empty while it is hidden, None without
    one.
    """
    in_words: Callable[[Any, Any], str] = _empty_text
    """Describe a move in a state for people; empty without a description."""
    lessons: Lessons = no_lessons
    """Lessons for beginners on the virtual table."""
    interface: int = INTERFACE


def facts(game: Rules) -> GameFacts:
    """Return a game's facts.

    Without any, the defaults, and a title from its name.
    """
    facts: GameFacts | None = getattr(game, "FACTS", None)
    return plain_facts(str(getattr(game, "NAME", ""))) if facts is None else facts


def shown_state(game: Rules, state: Any) -> GameDocument:
    """Return a game's `state_document`, with messages if it has `shown_state`."""
    document: GameDocument = getattr(game, "shown_state", game.state_document)(state)
    return document


def winners_of(outcome: Any) -> tuple[str, ...]:
    """Return the winners of an outcome, unordered: one, several, or none."""
    winner = getattr(outcome, "winner", None)
    return tuple(getattr(outcome, "winners", None) or (() if winner is None else (winner,)))


def plain_facts(name: str) -> GameFacts:
    """Return the default facts, for a game that states none or is not installed."""
    return GameFacts(title=name.replace("_", " ").title())


_NEEDED = sorted(
    name for shape in (Rules, Game) for name in vars(shape) if not name.startswith("_")
)


MOST_RULES = 50
"""Most house rules of a game, and most values of one."""


def check_game(game: Any) -> None:
    """Raise ValueError for an object that is no game, or is made for another interface version."""
    if missing := [name for name in _NEEDED if not hasattr(game, name)]:
        raise ValueError(f"expected what a game offers, it has no {', '.join(missing)}")
    answer = facts(game)
    if not isinstance(answer, GameFacts):
        raise ValueError(f"FACTS: expected GameFacts, got {type(answer).__name__}")
    if answer.interface != INTERFACE:
        raise ValueError(
            f"it is made for interface {answer.interface!r:.20} of games, this one is {INTERFACE}"
        )
    if (
        not isinstance(answer.title, str)
        or not answer.title.strip()
        or len(answer.title) > MOST_NAME
    ):
        raise ValueError(
            f"FACTS.title: expected 1 to {MOST_NAME} characters, got {answer.title!r:.{MOST_NAME}}"
        )
    for name, kind in (
        ("presentation", Presentation),
        ("statistics", Statistics),
        ("computer_player", ComputerPlayer | None),
    ):
        if not isinstance(getattr(answer, name), kind):
            raise ValueError(f"FACTS.{name}: expected {getattr(kind, '__name__', kind)}")
    _check_house_rules(game.RULINGS)


def _check_house_rules(rules: Any) -> None:
    if (
        not isinstance(rules, tuple)
        or len(rules) > MOST_RULES
        or not all(isinstance(rule, HouseRule) for rule in rules)
    ):
        raise ValueError(f"RULINGS: expected a tuple of at most {MOST_RULES} HouseRule")
    for rule in rules:
        if not 1 <= len(rule.values) <= MOST_RULES:
            raise ValueError(
                f"RULINGS: {rule.name:.{MOST_NAME}}: expected 1 to {MOST_RULES} values"
            )
        for text in (rule.name, *rule.values):
            if not isinstance(text, str) or len(text) > MOST_NAME:
                raise ValueError(
                    f"RULINGS: expected at most {MOST_NAME} characters, got a longer text"
                )
