"""Who begins a game: the printed rules on it, and the roll before the first move.

In a roll every player rolls one die. The highest begins, and those who tie for it roll again. Turns
go clockwise from there: the first player changes, not the order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import msgspec

from engines import facts_of
from engines.announcements import check_player, read_heard
from engines.board_marks import Mark, Option
from engines.errors import InvalidNotation, Violation
from engines.game import Game, GameFacts, Printed, facts, shown_state
from engines.game_document import Announcement, GameDocument
from engines.house_rules import HouseRule
from engines.move_notation import Notation, parse_colour
from engines.resigned import RESIGNED, in_turn_order, read_resigned, write_resigned
from engines.state_notation import NONE, read_line, read_state, write_line
from engines.verdict import PLAYERS, Accepted, Ambiguous, Choice, Noted, Verdict, Waiting, refusal
from table.boards import Board
from table.json_data import Evidence
from table.messages import NOTHING, Message, msg, phrase, plain, sentences
from table.observation import Observation
from table.observation_document import MeasurementDocument

NULL = 0
"""The empty face of a piecepack's die, whose other faces are 1 (the ace) to 5."""
SIX = 6


def printed(game: str) -> Printed:
    """What the rules of a game say about who begins."""
    return facts_of(game).first_player


def turn_order(players: Sequence[str], first: str) -> tuple[str, ...]:
    """Players clockwise from the first one; as named for an empty name."""
    at = players.index(first) if first else 0
    return (*players[at:], *players[:at])


@dataclass(frozen=True, slots=True)
class BeginRoll:
    """A player rolled for who begins, in round 1 or in one after a tie."""

    round: int
    player: str
    pips: int

    def __str__(self) -> str:
        return f"begin-roll {self.round} {self.player} {self.pips}"


@dataclass(frozen=True, slots=True)
class BeginWith:
    """People say who begins, and nobody rolls any more."""

    player: str

    def __str__(self) -> str:
        return f"begin-with {self.player}"


BeginMove = BeginRoll | BeginWith


def _round(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise InvalidNotation(msg("expected a round such as 1, got {raw}", raw=repr(text)))
    return int(text)


def _pips(text: str) -> int:
    if text not in tuple("0123456"):
        raise InvalidNotation(
            msg("expected a die roll of 1 to 6, or 0 for the empty face, got {raw}", raw=repr(text))
        )
    return int(text)


_NOTATION: Notation[BeginMove] = Notation(
    "'begin-roll 1 red 5'",
    {"begin-roll {round} {player} {pips}": BeginRoll, "begin-with {player}": BeginWith},
    {"round": _round, "player": parse_colour, "pips": _pips},
)


def is_first_player_move(move: str) -> bool:
    """True if a move, in notation, is about who begins."""
    return move.split()[:1] in (["begin-roll"], ["begin-with"])


def named_first_player(move: str) -> str | None:
    """First player set by a move, in notation; None for any other move."""
    found = re.fullmatch(r"begin-with (\w+)", move.strip())
    return found[1] if found else None


Round = tuple[tuple[str, int | None], ...]
"""Rolls of the round's players, clockwise; None for one who has not rolled."""


@dataclass(frozen=True, slots=True)
class Rolling:
    """The state before play, while who begins is rolled for.

    The last of `rounds` is open; `rulings` are those of the game to come.
    """

    players: tuple[str, ...]
    rounds: tuple[Round, ...]
    rulings: tuple[tuple[str, str], ...] = ()
    resigned: tuple[str, ...] = ()
    """Players who roll no more, and do not begin."""

    @property
    def due(self) -> tuple[str, ...]:
        """Players who have not rolled, clockwise; there is at least one."""
        return tuple(player for player, pips in self.rounds[-1] if pips is None)

    @property
    def next(self) -> None:
        """None: nobody chooses during a roll."""
        return

    @property
    def scores(self) -> tuple[int, ...]:
        """Empty: nobody has points."""
        return (0,) * len(self.players)

    def with_roll(self, player: str, pips: int) -> Rolling:
        """And this, though it may be the last."""
        last = tuple((who, pips if who == player else shown) for who, shown in self.rounds[-1])
        return replace(self, rounds=(*self.rounds[:-1], last))

    def __str__(self) -> str:
        rounds = (
            " ".join(f"{player}={NONE if pips is None else pips}" for player, pips in one)
            for one in self.rounds
        )
        rulings = " ".join(f"{name}={value}" for name, value in self.rulings)
        words = {
            "who_begins": " ".join(self.players),
            **write_resigned(self.resigned),
            "rolls": ", ".join(rounds),
            "rulings": rulings or NONE,
        }
        return write_line(words)


def _parse_rolling(text: str) -> Rolling:
    words = read_line(text, ("who_begins", RESIGNED, "rolls", "rulings"), (RESIGNED,))
    players = tuple(map(parse_colour, words["who_begins"].split(" ")))
    rounds = tuple(tuple(map(_read_roll, one.split(" "))) for one in words["rolls"].split(", "))
    pairs = (
        []
        if words["rulings"] == NONE
        else [word.partition("=") for word in words["rulings"].split(" ")]
    )
    state = Rolling(
        players,
        rounds,
        tuple((name, value) for name, _, value in pairs),
        read_resigned(words, players),
    )
    expected = tuple(player for player in players if player not in state.resigned)
    for one in rounds:
        if tuple(player for player, _ in one) != expected:
            raise InvalidNotation(
                f"expected the rolls of {' '.join(expected)}, got"
                f" {' '.join(player for player, _ in one)}"
            )
        expected = () if any(pips is None for _, pips in one) else _highest(one)
    if expected or len(set(players)) < len(players) or not all(equals for _, equals, _ in pairs):
        raise InvalidNotation(
            "expected each player once, somebody who is yet to roll, and rulings such as"
            " repeat=next"
        )
    return state


def _read_roll(text: str) -> tuple[str, int | None]:
    player, _, pips = text.partition("=")
    return parse_colour(player), None if pips == NONE else _pips(pips)


def _highest(rolls: Round) -> tuple[str, ...]:
    """Players with the highest roll of a completed round."""
    most = max(pips for _, pips in rolls if pips is not None)
    return tuple(player for player, pips in rolls if pips == most)


class DieSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player's die shows this; 0 is the empty face of a piecepack's."""

    player: str
    die: Annotated[int, msgspec.Meta(ge=NULL, le=SIX)]


@dataclass(frozen=True)
class RolledFirst:
    """A game with a roll for the first player before it.

    Its states are `Rolling`, then the game's own, with that player first. It has the interface
    `Game`; after the roll it delegates to that game.
    """

    game: Game
    board: Board | None = None
    """The board of `set_up`."""

    @property
    def NAME(self) -> str:  # noqa: N802 - as in `Rules`
        """As `Rules.NAME`."""
        return self.game.NAME

    @property
    def RULINGS(self) -> tuple[HouseRule, ...]:  # noqa: N802
        """As `Rules.RULINGS`."""
        return self.game.RULINGS

    @property
    def FACTS(self) -> GameFacts:  # noqa: N802
        """Facts of the game beside its rules."""
        return facts(self.game)

    @property
    def State(self) -> Any:  # noqa: N802
        """As `Rules.State`; it parses states of the roll too."""
        return SimpleNamespace(parse=self._parse_state)

    def _parse_state(self, text: str) -> Any:
        return (
            read_state(_parse_rolling, text)
            if text.startswith("who_begins ")
            else self.game.State.parse(text)
        )

    def start(self, players: Sequence[str], rulings: Mapping[str, str]) -> Rolling:
        """As `Rules.start`: everybody is yet to roll."""
        return self.set_up(players, rulings, self.board)

    def set_up(
        self, players: Sequence[str], rulings: Mapping[str, str], board: Board | None
    ) -> Rolling:
        """As `Game.set_up`: everybody is yet to roll."""
        self.game.set_up(players, rulings, board)
        return Rolling(
            tuple(players), (tuple((player, None) for player in players),), tuple(rulings.items())
        )

    def begun(self, state: Rolling, first: str) -> Any:
        """The first state of the game itself."""
        begun = self.game.set_up(turn_order(state.players, first), dict(state.rulings), self.board)
        for player in state.resigned:
            begun = self.game.resign(begun, player)
        return begun

    def parse_move(self, text: str) -> Any:
        """As `Rules.parse_move`; moves of the roll too."""
        return _NOTATION.parse(text) if is_first_player_move(text) else self.game.parse_move(text)

    def legal_moves(self, state: Any) -> Any:
        """As `Rules.legal_moves`."""
        return (
            tuple(self._legal(state))
            if isinstance(state, Rolling)
            else self.game.legal_moves(state)
        )

    def _legal(self, state: Rolling) -> Iterable[BeginMove]:
        rolls: Iterable[BeginMove] = (
            BeginRoll(len(state.rounds), player, pips)
            for player in state.due
            for pips in range(NULL, SIX + 1)
        )
        yield from (roll for roll in rolls if self.violation(state, roll) is None)
        yield from (BeginWith(player) for player in state.players if player not in state.resigned)

    def violation(self, state: Any, move: Any) -> Violation | None:
        """As `Rules.violation`."""
        rule = facts(self.game).first_player
        clause = rule.rests_on("roll")
        if not isinstance(state, Rolling):
            if not isinstance(move, BeginMove):
                return self.game.violation(state, move)
            return Violation(
                "begins.decided",
                clause,
                msg("{player} begins; that is already decided.", player=state.players[0]),
            )
        if not isinstance(move, BeginMove):
            return Violation(
                "begins.first", clause, sentences(msg("First decide who begins."), turn(state))
            )
        if move.player not in state.players:
            return Violation(
                "begins.player",
                clause,
                sentences(msg("{player} is not in this game.", player=move.player), turn(state)),
            )
        if move.player in state.resigned:
            return Violation(
                "begins.resigned",
                clause,
                sentences(msg("{player} has resigned.", player=move.player), turn(state)),
            )
        return (
            _cannot_roll(state, move, clause, rule.has_null)
            if isinstance(move, BeginRoll)
            else None
        )

    def play(self, state: Any, move: Any) -> Any:
        """As `Rules.play`."""
        if not isinstance(state, Rolling) and not isinstance(move, BeginMove):
            return self.game.play(state, move)
        if wrong := self.violation(state, move):
            raise wrong.error(move)
        if isinstance(move, BeginWith):
            return self.begun(state, move.player)
        return self._counted(state.with_roll(move.player, move.pips))

    def _counted(self, state: Rolling) -> Any:
        """The state after a roll, or after somebody resigned.

        Who rolled the highest number begins; several of them roll again.
        """
        if len(state.rounds[-1]) > 1 and state.due:
            return state
        highest = _highest(state.rounds[-1]) if not state.due else state.due
        if len(highest) == 1:
            return self.begun(state, highest[0])
        return replace(state, rounds=(*state.rounds, tuple((player, None) for player in highest)))

    def resign(self, state: Any, player: str) -> Any:
        """As `Rules.resign`."""
        if not isinstance(state, Rolling):
            return self.game.resign(state, player)
        rounds = tuple(tuple(roll for roll in one if roll[0] != player) for one in state.rounds)
        return self._counted(
            replace(
                state,
                rounds=rounds,
                resigned=in_turn_order(state.players, (*state.resigned, player)),
            )
        )

    def outcome(self, state: Any) -> Any:
        """As `Rules.outcome`."""
        return None if isinstance(state, Rolling) else self.game.outcome(state)

    def state_document(self, state: Any) -> GameDocument:
        """As the game's own.

        Before its first move it is that of a game which the first named begins, with `phase`
        `begins`, `to_roll` (who is yet to), `rolls` (of this round), and nothing else to do.
        """
        document: GameDocument = plain(self.shown_state(state))
        return document

    def shown_state(self, state: Any) -> GameDocument:
        """As `state_document`, with its sentences as messages, for pages."""
        if not isinstance(state, Rolling):
            return shown_state(self.game, state)
        document = shown_state(self.game, self.begun(state, "")).copy()
        nobody: tuple[Literal["next", "attacker", "starter", "leading"], ...]
        nobody = ("next", "attacker", "starter", "leading")
        for key in nobody:
            if key in document:
                document[key] = None
        least = NULL if facts(self.game).first_player.has_null else 1
        document["to_move"] = state.due[0]
        document["to_roll"] = list(state.due)
        document["phase"] = "begins"
        document["rolls"] = dict(state.rounds[-1])
        document["turn"] = turn(state)
        document["may_say"] = [
            _button(player, pips) for player in state.due for pips in range(least, SIX + 1)
        ]
        document["state"] = str(state)
        return document

    def options(self, state: Any) -> tuple[Option, ...]:
        """As `Rules.options`: those who are yet to roll."""
        if not isinstance(state, Rolling):
            return self.game.options(state)
        return tuple(Option(player, msg("rolls to see who begins")) for player in state.due)

    def trace(self, state: Any, move: Any) -> tuple[Mark, ...]:
        """As `Rules.trace`."""
        return (
            ()
            if isinstance(state, Rolling) or isinstance(move, BeginMove)
            else self.game.trace(state, move)
        )

    def judge(
        self, state: Any, seen: Observation, before: Observation | None, board: Board, /
    ) -> Verdict:
        """As `Game.judge`; a table tells nothing of a roll."""
        if not isinstance(state, Rolling):
            return self.game.judge(state, seen, before, board)
        return Waiting(
            code="begins.roll",
            message=turn(state),
            rests_on=facts(self.game).first_player.rests_on("roll"),
            player=state.due[0],
        )

    def hear(self, state: Any, heard: Mapping[str, Any], in_doubt: bool = False, /) -> Verdict:
        """A roll, `{"player": "red", "die": 5}`; what the game hears later has no use yet."""
        if not isinstance(state, Rolling):
            return self.game.hear(state, heard, in_doubt)
        rests_on = facts(self.game).first_player.rests_on("roll")
        if "die" not in heard:
            self.game.hear(
                self.begun(state, ""), heard, in_doubt
            )  # raises where the game would never understand it
            return Waiting(
                code="begins.first",
                message=sentences(msg("First decide who begins."), turn(state)),
                rests_on=rests_on,
            )
        form = read_heard(heard, DieSaid)
        check_player(form.player, state.players)
        roll = BeginRoll(len(state.rounds), form.player, form.die)
        if wrong := self.violation(state, roll):
            return refusal(
                replace(wrong, code="begins.roll"),
                roll.player,
                (str(roll),),
                {"violation": wrong.code},
            )
        return self._judge_roll(state, roll, rests_on)

    def _judge_roll(self, state: Rolling, roll: BeginRoll, rests_on: str) -> Verdict:
        rolled, after = state.with_roll(roll.player, roll.pips), self.play(state, roll)
        rounds = [dict(one) for one in rolled.rounds]
        showed = (
            msg("{player} rolled {n}.", player=roll.player, n=roll.pips)
            if roll.pips
            else msg("{player} rolled the empty face.", player=roll.player)
        )
        evidence: Evidence = {"round": rounds}
        if not isinstance(after, Rolling):
            first: str = after.players[0]
            begins = msg("{player} begins.", player=first)
            return Accepted(
                code="begins.roll",
                message=sentences(showed, begins),
                rests_on=rests_on,
                player=first,
                moves=(str(roll),),
                evidence=evidence,
            )
        tie = NOTHING if rolled.due else msg("{players} tie and roll again.", players=after.due)
        return Noted(
            code="begins.roll",
            message=sentences(showed, tie, turn(after)),
            rests_on=rests_on,
            player=roll.player,
            moves=(str(roll),),
            evidence=evidence,
        )

    def judge_answer(
        self, asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = PLAYERS
    ) -> Accepted:
        """As `Game.judge_answer`."""
        return self.game.judge_answer(asked, answer, decided_by)

    def hidden_voters(self, state: Any, /) -> tuple[str, ...]:
        """As `Game.hidden_voters`."""
        return () if isinstance(state, Rolling) else self.game.hidden_voters(state)

    def secret_voter(self, spoken: Any, /) -> str | None:
        """As `Game.secret_voter`."""
        return None if isinstance(spoken, BeginMove) else self.game.secret_voter(spoken)

    def alternatives(self, state: Any, moves: Sequence[str], /) -> tuple[Choice, ...]:
        """Of a roll, what else the die may have shown, and who else may have rolled it."""
        if not isinstance(state, Rolling):
            return self.game.alternatives(state, moves)
        rolled = [move for text in moves if isinstance(move := self.parse_move(text), BeginRoll)]
        legal = [move for move in self._legal(state) if isinstance(move, BeginRoll)]
        near = sorted(
            legal,
            key=lambda move: min(
                (abs(move.pips - roll.pips) + 10 * (move.player != roll.player) for roll in rolled),
                default=0,
            ),
        )
        choices = (
            Choice(
                msg("{player} rolled {n}", player=move.player, n=move.pips)
                if move.pips
                else msg("{player} rolled the empty face", player=move.player),
                (str(move),),
            )
            for move in near
        )
        return tuple(choice for choice in choices if list(choice.moves) != list(moves))

    def measurement(self, state: Any, seen: Observation) -> MeasurementDocument:
        """As `Game.measurement`."""
        return {} if isinstance(state, Rolling) else self.game.measurement(state, seen)


def turn(state: Rolling) -> Message:
    """Who rolls: the first of them where one die is passed on, and where a camera reads it."""
    first, *others = state.due
    if not others:
        return msg("{player} rolls to see who begins.", player=first)
    return msg("{player} rolls to see who begins, then {players}.", player=first, players=others)


def _cannot_roll(state: Rolling, move: BeginRoll, clause: str, has_null: bool) -> Violation | None:
    """Why this roll does not count, if it does not."""
    shown = dict(state.rounds[-1])
    if move.round != len(state.rounds):
        return Violation(
            "begins.round",
            clause,
            sentences(
                msg("This is roll-off round {n}, not {n2}.", n=len(state.rounds), n2=move.round),
                turn(state),
            ),
        )
    if move.player not in shown:
        return Violation(
            "begins.tie",
            clause,
            sentences(
                msg(
                    "{player} does not roll again: {players} are tied.",
                    player=move.player,
                    players=list(shown),
                ),
                turn(state),
            ),
        )
    if (pips := shown[move.player]) is not None:
        already = (
            msg("{player} has already rolled {n}.", player=move.player, n=pips)
            if pips
            else msg("{player} has already rolled the empty face.", player=move.player)
        )
        return Violation("begins.twice", clause, sentences(already, turn(state)))
    if not has_null and move.pips == NULL:
        return Violation(
            "begins.die", clause, sentences(msg("In this game a die shows 1 to 6."), turn(state))
        )
    if _mixed({*(pips for one in state.rounds for _, pips in one), move.pips}):
        return Violation(
            "begins.die",
            clause,
            sentences(
                msg("A die with a 6 has no empty face: everyone must roll the same kind of die."),
                turn(state),
            ),
        )
    return None


def _mixed(shown: Collection[int | None]) -> bool:
    """Were dice of two kinds rolled, one that has a null and one that has a 6?"""
    return NULL in shown and SIX in shown


def _button(player: str, pips: int) -> Announcement:
    return {
        "label": (
            phrase("{player}: {text}", player=player, text=msg("die {n}", n=pips))
            if pips
            else phrase("{player}: {text}", player=player, text=msg("the empty face"))
        ),
        "said": {"player": player, "die": pips},
    }
