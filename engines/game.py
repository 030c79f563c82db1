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
"""Version of this interface; a game that was made for another one is not used."""


class Rules(Protocol):
    """What every game offers: its states, its moves and its rules.

    States and moves are the game's own, frozen; both print in a notation that `State.parse` and
    `parse_move` read back.  Every state has `players`, colours in turn order, their `scores`, and
    `next`, the player who chooses what happens next (None: dice, everybody at once, who fires, or
    nobody any more).
    """

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """As tables and command lines name the game."""

    @property
    def RULINGS(self) -> tuple[HouseRule, ...]:  # noqa: N802
        """Its options."""

    @property
    def State(self) -> Any:  # noqa: N802
        """Its type of state, with `parse`."""

    def start(self, players: Sequence[str], rulings: Mapping[str, str]) -> Any:
        """The state before the first move.

        Raises InputError for players or rulings that will not do.
        """

    def parse_move(self, text: str) -> Any:
        """A move from its notation; raises InvalidNotation."""

    def legal_moves(self, state: Any) -> Any:
        """A collection: iterates, counts, answers `in` and prints."""

    def violation(self, state: Any, move: Any) -> Violation | None:
        """The rule that forbids a move, and what would be allowed.

        None where it is legal, exactly where `move in legal_moves(state)`.
        """

    def play(self, state: Any, move: Any) -> Any:
        """The state after a move.

        Raises IllegalMove, and AmbiguousMove for one that may mean several.
        """

    def resign(self, state: Any, player: str) -> Any:
        """The state without a player who gave the game up, while at least two others have not.

        Turns and votes pass over that one; their pieces stay where they are.  Raises InputError
        where it cannot be done now.
        """

    def outcome(self, state: Any) -> Any:
        """None while the game runs, then something that prints as a sentence."""

    def state_document(self, state: Any) -> GameDocument:
        """The state as plain data, with keys of the game's own beside those of all games."""

    def options(self, state: Any) -> tuple[Option, ...]:
        """What may be done now or comes next, in words and on the board.

        Nothing once the game is over.  It tells no secret.
        """

    def trace(self, state: Any, move: Any) -> tuple[Mark, ...]:
        """What a move does on the board, from the state before it.

        A move that is not legal is drawn as far as it can be.
        """


class Game(Rules, Protocol):
    """A game that can be refereed from what a camera saw.

    Beside what stands here it may offer `shown_state(state)`: the `state_document` with its
    sentences as messages (`table.messages`), which pages write in their language; see the function
    of that name below.
    """

    def set_up(
        self, players: Sequence[str], rulings: Mapping[str, str], board: Board | None
    ) -> Any:
        """The state before the first move on this board; None is the usual one.

        Raises InputError for what the game is not played on.
        """

    def judge(
        self, state: Any, seen: Observation, before: Observation | None, board: Board, /
    ) -> Verdict:
        """A verdict on a settled table.

        `before` is the table that the last accepted verdict rested on, `board` where its spaces
        are.  `before` is None before the first verdict of a game: then a game that begins from a
        set-up accepts that, with no moves, or waits for it and says what is missing.  It is None
        too when the program has just begun to look at a game that is under way.
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
        """What people decided about a question.

        `answer` is the label of a choice, or readings in mm by what was measured.  Raises
        InvalidNotation where no choice agrees, AmbiguousMove where several do.
        """

    def hidden_voters(self, state: Any, /) -> tuple[str, ...]:
        """Players who have cast a vote that is not revealed yet, in turn order."""

    def secret_voter(self, spoken: Any, /) -> str | None:
        """The player whose secret vote `spoken` casts.

        It is a move, or a document that `hear` takes, also one that it would refuse.  None for all
        that is public.  Nobody else may cast, change or see that vote before it is
        revealed.
        """

    def alternatives(self, state: Any, moves: Sequence[str], /) -> tuple[Choice, ...]:
        """What else may have happened where `moves` were ruled in a state, played or tried.

        All of it is legal; the nearest comes first.
        """

    def measurement(self, state: Any, seen: Observation) -> MeasurementDocument:
        """What the game measures on a table: `gaps` and `call` of `rinkside-observation/1`.

        It is kept with the observation; empty where nothing is measured.
        """


# ---- what is not a rule, each group with defaults

How = Literal["hand", "lot", "roll"]
"""By hand: people say who begins, the first named where they do not.  By lot: the referee draws.
Rolled: `engines.first_player.RolledFirst`.
"""
ALL_WAYS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Printed:
    """What the rules of a game say of who begins.

    `usual` is how they have it decided, and `cites` the section; `ways` are all that may be chosen,
    and `rests_on_it` those that the section allows.
    """

    usual: How = "hand"
    cites: str = ""
    ways: tuple[How, ...] = ALL_WAYS
    rests_on_it: tuple[How, ...] = ()
    has_null: bool = False
    """May the dice of the game show nothing?"""

    def rests_on(self, how: How) -> str:
        """The section that asks for this way; empty where none does, and people chose it."""
        return self.cites if how in self.rests_on_it else ""


Document = Mapping[str, Any]
"""What `state_document` gives, or the same from a log, whatever version of the game wrote that: who
reads a key allows for its absence.
"""
Sound = Literal["turn", "hit", "sink", "refused", "ask", "doubt", "over", ""]


@dataclass(frozen=True, slots=True)
class NamedPiece:
    """A piece that the record knows by name.

    `name` has a letter or two, for drawings; `cells` are those that it is on.
    """

    colour: str
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnBoard:
    """What the record says lies on the board, for drawings.

    `tiles` are by their places, `dice` are cells with a die, and `line`, between two points (x, y)
    in mm, is where players throw from.
    """

    pieces: tuple[NamedPiece, ...] = ()
    tiles: Mapping[str, str] = field(default_factory=dict)
    dice: tuple[str, ...] = ()
    line: Sequence[Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class SimultaneousTexts:
    """What pages say while everybody acts at once: to all ("All vote"), and to one ("Vote")."""

    all: str
    one: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A move that the host may put on record at a touch, in words."""

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
    """How a game is shown, drawn and heard; nothing here decides anything."""

    verbs: Mapping[str, str] = field(default_factory=dict)
    """What the player whose turn it is does, `throws`, by the `phase` of a state; "to move" in
    others.
    """
    marks: Callable[[Document], tuple[Mark, ...]] = _nothing_marked
    """What a state points at for as long as nothing happens, for lamps: rays, and cells that it is
    about.
    """
    on_board: Callable[[Document], OnBoard] = _nothing_on_board
    """What the record says lies where, for drawings."""
    sound: Callable[[str, Document], Sound] = _no_sound
    """The sound of something that was ruled, by its code and the state after it; empty for the
    usual one.
    """
    headline: Callable[[str | None, str, Document], Message | None] = _no_headline
    """What something accepted comes to, in a few words, by player, code and the state after it;
    None: the first sentence of its message says it.
    """
    declarations: Callable[[Document], tuple[Declaration, ...]] = _nothing_declared
    """What only people may have seen, for the host's page."""
    together: Mapping[str, SimultaneousTexts] = field(default_factory=dict)
    """By the `phase` of a state in which everybody acts at once."""
    options_in_order: bool = False
    """Where several players are among a state's options, do they follow one another?"""


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
    """What can be counted in a game that was played, from its steps in order."""

    throws: Callable[[Iterable[Step]], Iterable[Thrown]] = _no_throws
    """Every throw that counts, as it came to rest."""
    squares: Callable[[Sequence[str], Iterable[Step]], dict[str, dict[str, int]]] = _no_squares
    """By player and square, how many throws touched it."""
    hits: Callable[[Iterable[Step]], Iterable[Hit]] = _no_hits
    """Every piece that was taken."""
    tries: Callable[[Iterable[Step]], Mapping[str, int]] = _no_tries
    """How many throws, or the like, could have taken one, by player."""


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
    """All that the house knows of a game beside its rules."""

    title: str
    """Its name as people write it."""
    document: type[GameDocument] = GameDocument
    """The type of its `state_document`."""
    table: TableFacts = NO_TABLE_FACTS
    """Its pieces, its table and its printed sheet, and what it measures."""
    first_player: Printed = Printed()
    """Who begins."""
    presentation: Presentation = Presentation()
    """How it is shown and heard."""
    statistics: Statistics = Statistics()
    """What can be counted."""
    check_pieces: Callable[[Mapping[str, str], Setup], None] = _any_pieces
    """Before play: raises InputError where the pieces of a table do not suit the board, or what was
    ruled about them.
    """
    as_played: Callable[[Setup, Mapping[str, str]], Setup] = _same_setup
    """A table with what rulings lay on it."""
    next_button: Callable[[Document], Mapping[str, Any] | None] = _no_next
    """What `hear` is told when somebody presses the button `next` in a game that is not over."""
    computer_player: ComputerPlayer | None = None
    """How a computer plays it; None for a game without that, such as a game of skill."""
    comparable: Callable[[str], str] = _same_notation
    """A move in notation, with parts in one order whose order says nothing: to compare two readings
    of a table.
    """
    cast_vote: Callable[[Document, str], str | None] = _no_vote
    """The move by which a player cast the secret vote that a state has: empty while it is hidden,
    None where there is none.
    """
    in_words: Callable[[Any, Any], str] = _empty_text
    """A move that happened in a state, in words for people; empty where there are none."""
    lessons: Lessons = no_lessons
    """What a beginner is taught on the virtual table."""
    interface: int = INTERFACE


def facts(game: Rules) -> GameFacts:
    """What a game says beside its rules.

    A game that says nothing has the defaults, and a title made of its name.
    """
    facts: GameFacts | None = getattr(game, "FACTS", None)
    return plain_facts(str(getattr(game, "NAME", ""))) if facts is None else facts


def shown_state(game: Rules, state: Any) -> GameDocument:
    """A game's `state_document`, with messages where the game has them in `shown_state`."""
    document: GameDocument = getattr(game, "shown_state", game.state_document)(state)
    return document


def winners_of(outcome: Any) -> tuple[str, ...]:
    """Who won by an outcome of a game, in no order: one, several who share it, or nobody."""
    winner = getattr(outcome, "winner", None)
    return tuple(getattr(outcome, "winners", None) or (() if winner is None else (winner,)))


def plain_facts(name: str) -> GameFacts:
    """Those of a game that says nothing, or is not installed any more."""
    return GameFacts(title=name.replace("_", " ").title())


_NEEDED = sorted(
    name for shape in (Rules, Game) for name in vars(shape) if not name.startswith("_")
)


MOST_RULES = 50
"""Greatest number of house rules of a game, and of values of one."""


def check_game(game: Any) -> None:
    """Raises ValueError for an object that is no game, or is made for another interface."""
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
