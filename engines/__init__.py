"""The games, exact: one folder each with the rules (pure) and the judge.  No clock, no chance, no
I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from engines import ice_boule, ice_storm, icebreaker, icefloe, zamboni_wars
from engines.board_marks import Mark, Option
from engines.errors import Violation
from engines.house_rules import Ruling
from engines.verdict import Accepted, Ambiguous, Choice, Verdict
from table.boards import Board
from table.observation import Observation


class Rules(Protocol):
    """One shape for all games: what a module of `GAMES` offers.  States and moves are the game's
    own, frozen; both print in a notation that `State.parse` and `parse_move` read back.  Every
    state has `players`, colours in turn order, their `scores`, and `next`, the player who chooses
    what happens next, as `state_document` says it (None: dice, everybody at once, who fires in Ice
    Storm, or nobody any more).
    """

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """As tables and command lines name the game."""

    @property
    def RULINGS(self) -> tuple[Ruling, ...]:  # noqa: N802
        """Its options."""

    @property
    def State(self) -> Any:  # noqa: N802
        """Its type of state, with `parse`."""

    def start(self, players: Sequence[str], rulings: Mapping[str, str]) -> Any:
        """The state before the first move; raises InputError for players or rulings that will not
        do.
        """

    def parse_move(self, text: str) -> Any:
        """A move from its notation; raises InvalidNotation."""

    def legal_moves(self, state: Any) -> Any:
        """A collection: iterates, counts, answers `in` and prints."""

    def violation(self, state: Any, move: Any) -> Violation | None:
        """Which rule forbids a move, and what would be allowed; None where it is legal, exactly
        where `move in legal_moves(state)`.
        """

    def play(self, state: Any, move: Any) -> Any:
        """The state after a move; raises IllegalMove, and AmbiguousMove for one that may mean
        several.
        """

    def outcome(self, state: Any) -> Any:
        """None while the game runs, then something that prints as a sentence."""

    def state_document(self, state: Any) -> dict[str, Any]:
        """The state as plain data; `next`, `scores`, `turn`, `rulings`, `state` and `outcome` are
        among its keys in every game.
        """

    def options(self, state: Any) -> tuple[Option, ...]:
        """What may be done now or comes next, in words and on the board; none once the game is
        over.  It tells no secret.
        """

    def trace(self, state: Any, move: Any) -> tuple[Mark, ...]:
        """What a move does on the board, from the state before it; of one that is not legal, as far
        as it can be drawn.
        """


class Game(Rules, Protocol):
    """A game that can be refereed from what a camera saw."""

    def set_up(
        self, players: Sequence[str], rulings: Mapping[str, str], board: Board | None
    ) -> Any:
        """The state before the first move on this board (None: the usual one); raises InputError
        for what the game is not played on.
        """

    def judge(
        self, state: Any, seen: Observation, before: Observation | None, board: Board, /
    ) -> Verdict:
        """A verdict on a settled table; `before` is the one that the last accepted verdict rested
        on, `board` where its spaces are.

        `before` is None before the first verdict of a game: then a game that begins from a set-up
        accepts that, with no moves, or waits for it and says what is missing.  It is None too when
        the program has just begun to look at a game that is under way.
        """

    def hear(self, state: Any, said: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
        """A verdict on what does not come through the lens: a line of inputs.jsonl without its
        time, `{"player": "red", "die": 5}`.

        Accepted and Refused are announced, Noted counts without a word, Waiting says that it has no
        use now.  The table is `in_doubt` where it could not be read when it was judged last, or was
        not as it is recorded: something may have happened that is not on record. Raises InputError
        for what the game cannot understand at any time.
        """

    def judge_answer(
        self, asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = "the players"
    ) -> Accepted:
        """What people decided about a question: the label of a choice, or readings in mm by what
        was measured.

        Raises InvalidNotation where no choice agrees, AmbiguousMove where several do.
        """

    def hidden_voters(self, state: Any, /) -> tuple[str, ...]:
        """Players who have cast a vote that is not revealed yet, in turn order."""

    def secret_voter(self, spoken: Any, /) -> str | None:
        """The player whose secret vote `spoken` casts: a move, or a document that `hear` takes,
        also one that it would refuse.

        None for all that is public.  Nobody else may cast, change or see that vote before it is
        revealed.
        """

    def alternatives(self, state: Any, moves: Sequence[str], /) -> tuple[Choice, ...]:
        """What else may have happened where `moves` were ruled in a state, played or tried: the
        neighbours, nearest first, all legal.
        """

    def measurement(self, state: Any, seen: Observation) -> dict[str, Any]:
        """What the game measures on a table, as plain data to be kept with the observation; empty
        where nothing is.
        """


GAMES: dict[str, Game] = {
    game.NAME: game for game in (zamboni_wars, icebreaker, ice_storm, ice_boule, icefloe)
}
"""All games, by name."""
