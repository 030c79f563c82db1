"""Random acts on made-up tables before a judge.

A result contains the true event, the judge's verdict, and the consequences. A game defines its
layout, possible acts, and people's reactions to instructions; see `Fuzzed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, NamedTuple, Protocol

from benchmarks.fuzz.table import HAND_IN_BETWEEN, Table, choose
from engines import Game
from engines.verdict import (
    Accepted,
    Ambiguous,
    Choice,
    Noted,
    OutOfSync,
    Refused,
    Unsettled,
    Verdict,
    Waiting,
)
from table.boards import Board
from table.errors import InputError
from table.observation import Observation
from table.pieces import PieceSet

ROUNDS = 8
"""Number of obeyed instructions after which further ones count as a dead end."""
BLOCK = 20
"""Number of acts from one random position."""
COMPLETES = 0.5
"""Probability that an unfinished act is completed rather than undone."""
FORGETS = 0.08
"""Probability of a restart, after which the judge gets no earlier table."""

Kind = Literal["lawful", "forbidden", "amiss", "half", "nothing", "said"]
Judgement = Literal["right", "asked", "wrong"]


@dataclass(frozen=True, slots=True)
class Truth:
    """The true event, by the rules alone.

    `lawful`: `moves` count, `otherwise` are others that leave the same table.  `forbidden`: `codes`
    are violations that a verdict may name.  `amiss`: not a single act known to the rules.  `half`:
    an unfinished act.  `nothing`: the table is as recorded.  `message`: an announcement, which may
    or may not count.
    """

    kind: Kind
    moves: tuple[str, ...] = ()
    otherwise: tuple[tuple[str, ...], ...] = ()
    codes: frozenset[str] = frozenset()


NOTHING = Truth("nothing")


@dataclass(frozen=True, slots=True)
class FuzzedAct:
    """An act, or an announcement (`message`): the table after it, and the truth.

    `then` is the complete act, if this one is half done.
    """

    effect: str
    table: Table
    truth: Truth
    heard: Mapping[str, Any] | None = None
    then: FuzzedAct | None = None
    typed: Mapping[str, Any] | None = None
    """The announcement by which people report it if the camera cannot tell."""
    compared: bool = False
    """True if it can be recognised only by comparison with the earlier reading."""


def do_deed(
    effects: Mapping[str, Callable[[Any, Table, Random], FuzzedAct | None]],
    weights: Sequence[int],
    state: Any,
    table: Table,
    chance: Random,
) -> FuzzedAct:
    """Draw a feasible effect, occasionally with a hand over the table."""
    effect, deed = choose(effects, weights, state, table, chance)
    if chance.random() < HAND_IN_BETWEEN:
        effect, deed = (
            f"{effect}, hand in between",
            replace(deed, table=replace(deed.table, hand=True)),
        )
    return replace(deed, effect=effect, compared=deed.compared or bool(deed.table.off))


@dataclass(frozen=True, slots=True)
class Position:
    """A game in progress: state, table, and the table last ruled on."""

    state: Any
    table: Table
    before: Observation | None


class Fuzzed(Protocol):
    """Interface of a game for random play."""

    name: str
    engine: Game
    board: Board

    def begin(self, chance: Random) -> tuple[Any, Table]:
        """A random position."""

    def random_act(self, state: Any, table: Table, chance: Random) -> FuzzedAct:
        """A random act."""

    def observed(self, table: Table) -> Observation:
        """An exact observation of the table."""

    def truth(self, state: Any, table: Table) -> Truth:
        """The true event shown by a table, by the rules alone."""

    def name_things(self, state: Any, table: Table) -> Table:
        """The table with its things renamed by the state after a valid act."""

    def follow(self, state: Any, table: Table, verdict: Verdict, old: Table, /) -> Table | None:
        """The table after people followed an instruction literally; None if there is none.

        `old` is the recorded table, which they remember.
        """

    def same(self, state: Any, other: Any) -> bool:
        """True if two states are equivalent."""

    @property
    def sizes(self) -> PieceSet:
        """Sizes of the pieces."""


class Result(NamedTuple):
    """Result of an act.

    `followed`: True if following the instructions succeeded, None if there were none. `faults` are
    sentences that begin with `wrong`, `dead end` or `malformed`; empty if there is no fault.
    """

    effect: str
    lawful: bool
    outcome: Judgement
    followed: bool | None
    faults: tuple[str, ...]
    message: str


@dataclass
class Fuzzer:
    """Random play of one game with its judge, from a random position."""

    game: Fuzzed
    chance: Random
    faults: list[str] = field(default_factory=list)

    def acts(self, count: int) -> Iterator[Result]:
        """Run `count` acts in sequence."""
        at = self.begin()
        for _ in range(count):
            _, result, at = self.act(at)
            yield result

    def begin(self) -> Position:
        """A random position of an unfinished game."""
        state, table = self.game.begin(self.chance)
        return Position(state, table, self.game.observed(table))

    def act(self, at: Position) -> tuple[FuzzedAct, Result, Position]:
        """One act, its verdict, and the next position: a new one if the game is over."""
        self.faults = []
        deed = self.game.random_act(at.state, at.table, self.chance)
        result, after = self._judge_act(at, deed)
        if self.game.engine.outcome(after.state) is not None:
            after = self.begin()
        return deed, result, after

    def _judge_act(self, at: Position, deed: FuzzedAct) -> tuple[Result, Position]:
        """Judge an act, and follow it to the next position."""
        if self.chance.random() < FORGETS and not deed.compared and deed.heard is None:
            at = replace(at, before=None)
        if deed.heard is not None:
            return self._word(at, deed)
        verdict, seen = self._judge(at, deed.table)
        if deed.table.hand:
            verdict, seen, deed = self._hand(at, deed, verdict)
        if isinstance(verdict, Waiting) and deed.typed is not None and verdict.asks is None:
            verdict = self.game.engine.hear(at.state, deed.typed)
        outcome = self._outcome(at, deed.truth, verdict)
        after = self._lead_on(at, deed, verdict, seen)
        lawful = deed.truth.kind == "lawful"
        return self._result(deed, outcome, None if lawful else True, verdict_line(verdict)), after

    def _result(
        self, deed: FuzzedAct, outcome: Judgement, followed: bool | None, message: str
    ) -> Result:
        faults, lawful = tuple(self.faults), deed.truth.kind == "lawful"
        if any(fault.startswith("dead end") for fault in faults):
            followed = False
        return Result(deed.effect, lawful, outcome, followed, faults, message)

    def _hand(
        self, at: Position, deed: FuzzedAct, verdict: Verdict
    ) -> tuple[Verdict, Observation, FuzzedAct]:
        """Check that nothing is ruled while a hand is over the table."""
        if not isinstance(verdict, Waiting):
            self.faults.append(f"wrong: ruled under a hand: {verdict_line(verdict)}")
        deed = replace(deed, table=replace(deed.table, hand=False))
        return *self._judge(at, deed.table), deed

    def _judge(self, at: Position, table: Table) -> tuple[Verdict, Observation]:
        seen = self.game.observed(table)
        verdict = self.game.engine.judge(at.state, seen, at.before, self.game.board)
        self.faults += (
            f"malformed: {one}" for one in malformed(self.game.engine, at.state, verdict)
        )
        return verdict, verdict.table or seen

    def _outcome(self, at: Position, truth: Truth, verdict: Verdict) -> Judgement:
        """Rate a verdict: right, asked (truth left open) or wrong, which is added to the faults."""
        if truth.kind == "lawful":
            outcome = self._outcome_of_lawful(at, truth, verdict)
        elif isinstance(verdict, Accepted | Noted) and verdict.moves:
            outcome = "wrong"
        elif isinstance(verdict, Refused):
            outcome = "right" if self.names(truth, verdict) else "wrong"
        elif isinstance(verdict, Ambiguous):
            outcome = "asked" if any(not choice.moves for choice in verdict.choices) else "wrong"
        else:
            outcome = "asked" if truth.kind == "forbidden" else "right"
        if outcome == "wrong":
            what = f"{truth.kind} {truth.moves or sorted(truth.codes)}"
            sure = " as sure" if isinstance(verdict, Accepted) else ""
            self.faults.append(f"wrong: {what}, told{sure}: {verdict_line(verdict)}")
        return outcome

    def _outcome_of_lawful(self, at: Position, truth: Truth, verdict: Verdict) -> Judgement:
        if isinstance(verdict, Accepted | Noted):
            return "right" if self.leads_to_truth(at.state, verdict.moves, truth) else "wrong"
        if isinstance(verdict, Refused):
            return (
                "right"
                if verdict.stands and self.leads_to_truth(at.state, verdict.stands, truth)
                else "wrong"
            )
        if isinstance(verdict, Waiting) and verdict.code.endswith(".fallen"):
            return "asked"  # for a piece to be stood up, before anything is ruled
        return "wrong" if self._true_choice(at.state, truth, verdict) is None else "asked"

    @staticmethod
    def names(truth: Truth, verdict: Refused) -> bool:
        """True if a refusal names the true violation."""
        named = {verdict.code, str(verdict.evidence.get("violation", verdict.code))}
        return bool(named & truth.codes)

    @staticmethod
    def _may_be_nothing(verdict: Verdict) -> bool:
        """True for a question with "nothing happened" among its answers."""
        asked = isinstance(verdict, Ambiguous)
        return asked and any(not choice.moves for choice in verdict.choices)

    def leads_to_truth(self, state: Any, moves: tuple[str, ...], truth: Truth) -> bool:
        """True if moves lead to the same state as the true event."""
        after = played(self.game.engine, state, moves)
        ways = [truth.moves, *truth.otherwise]
        found = (played(self.game.engine, state, way) for way in ways)
        return any(self.game.same(after, other) for other in found)

    def _true_choice(self, state: Any, truth: Truth, verdict: Verdict) -> Choice | None:
        question = _question(verdict)
        choices = question.choices if question else ()
        true = (
            one for one in choices if one.moves and self.leads_to_truth(state, one.moves, truth)
        )
        return next(true, None)

    def _lead_on(
        self, at: Position, deed: FuzzedAct, verdict: Verdict, seen: Observation
    ) -> Position:
        if deed.truth.kind == "lawful":
            return self._counts(at, deed, verdict, seen)
        if deed.truth.kind == "nothing":
            if not (_accepts_table(verdict) or self._may_be_nothing(verdict)):
                self.faults.append(f"dead end: as recorded, and not taken: {verdict_line(verdict)}")
            table = self.game.name_things(at.state, replace(deed.table, hand=False))
            return replace(at, table=table, before=seen)
        if deed.then is not None and self.chance.random() < COMPLETES:
            whole, seen = self._judge(at, deed.then.table)
            self._outcome(at, deed.then.truth, whole)
            return self._counts(at, deed.then, whole, seen)
        return self._correct_table(at, deed, verdict)

    def _counts(
        self, at: Position, deed: FuzzedAct, verdict: Verdict, seen: Observation
    ) -> Position:
        """Advance to the true state, by the verdict, an answer, or an announcement."""
        after = played(self.game.engine, at.state, deed.truth.moves)
        right = isinstance(verdict, Accepted | Refused) and not self.faults
        question = None if right else _question(verdict)
        if question and self._true_choice(at.state, deed.truth, verdict):
            seen = question.table or seen
        elif not right:
            seen = at.before
        table = self.game.name_things(after, deed.table)
        then = Position(after, table, seen)
        again, _ = self._judge(then, table if isinstance(verdict, Refused) else deed.table)
        if not _accepts_table(again):
            self.faults.append(
                f"dead end: after {deed.truth.moves} the table is not taken: {verdict_line(again)}"
            )
        return replace(then, before=self.game.observed(table))

    def _correct_table(self, at: Position, deed: FuzzedAct, verdict: Verdict) -> Position:
        """Follow instructions until the table is as recorded, or the act is legal."""
        table = deed.table
        old = replace(at, before=self.game.observed(at.table))
        for _ in range(ROUNDS):
            if isinstance(verdict, Accepted) and verdict.moves:
                return old  # a fault already
            next_table = self.game.follow(at.state, table, verdict, at.table)
            if next_table is None and isinstance(verdict, Ambiguous):
                if not any(not one.moves and not one.confirms_record for one in verdict.choices):
                    self.faults.append(f"dead end: no answer is true: {verdict_line(verdict)}")
                next_table = at.table
            if next_table is None:
                self.faults.append(
                    f"dead end: not as recorded, and nothing to do: {verdict_line(verdict)}"
                )
                return old
            table, truth = next_table, self.game.truth(at.state, next_table)
            verdict, seen = self._judge(at, table)
            if truth.kind == "nothing":
                if not (_accepts_table(verdict) or self._may_be_nothing(verdict)):
                    self.faults.append(
                        f"dead end: as recorded, and not taken: {verdict_line(verdict)}"
                    )
                return old
            self._outcome(at, truth, verdict)
            if truth.kind == "lawful":
                return self._counts(at, replace(deed, table=table, truth=truth), verdict, seen)
        self.faults.append(
            f"dead end: told to put it right again and again: {verdict_line(verdict)}"
        )
        return old

    def _word(self, at: Position, deed: FuzzedAct) -> tuple[Result, Position]:
        """Judge an announcement; an invalid one changes nothing."""
        assert deed.heard is not None, "it is a word"
        try:
            verdict = self.game.engine.hear(at.state, deed.heard, self.chance.random() < 0.2)
        except InputError as error:
            if deed.truth.kind == "lawful":
                self.faults.append(f"wrong: lawful {deed.truth.moves}, not understood: {error}")
            outcome: Judgement = "wrong" if self.faults else "right"
            return self._result(deed, outcome, None, str(error)), at
        self.faults += (
            f"malformed: {one}" for one in malformed(self.game.engine, at.state, verdict)
        )
        moves = deed.truth.moves
        if deed.truth.kind == "said":
            outcome, moves = "right", self._silent_moves(at, verdict)
        else:
            outcome = self._outcome(at, deed.truth, verdict)
        after = at
        if moves:
            state = played(self.game.engine, at.state, moves)
            table = self.game.name_things(state, deed.table)
            after = Position(state, table, self.game.observed(table))
        return self._result(deed, outcome, None, verdict_line(verdict)), after

    def _silent_moves(self, at: Position, verdict: Verdict) -> tuple[str, ...]:
        """Moves of a valid announcement, if they leave the table unchanged."""
        moves = verdict.moves if isinstance(verdict, Accepted | Noted) else ()
        if self.faults or not moves:
            return ()
        after = played(self.game.engine, at.state, moves)
        return moves if self.game.truth(after, at.table).kind == "nothing" else ()


def played(engine: Game, state: Any, moves: tuple[str, ...]) -> Any:
    """The state after moves in notation; raises IllegalMove."""
    for move in moves:
        state = engine.play(state, engine.parse_move(move))
    return state


def malformed(engine: Game, state: Any, verdict: Verdict) -> Iterator[str]:
    """Formal faults of a verdict: illegal moves, duplicate labels, missing sentence or text."""
    if not verdict.message.strip():
        yield f"no sentence: {verdict}"
    named = [verdict.moves] if isinstance(verdict, Accepted | Noted) else []
    named += [verdict.stands] if isinstance(verdict, Refused) else []
    question = _question(verdict)
    named += [choice.moves for choice in question.choices] if question else []
    for moves in filter(None, named):
        try:
            played(engine, state, moves)
        except ValueError as error:
            yield f"moves that cannot be played: {error}"
    if question:
        labels = [choice.label for choice in question.choices]
        if len(set(labels)) < len(labels):
            yield f"one label twice: {labels}"
        if not labels:
            yield f"a question without answers: {question.message}"
    for move in verdict.tried if isinstance(verdict, Refused) else ():
        with_error = _parse_error(engine, move)
        if with_error and " " in move:
            yield f"tried is no move: {with_error}"


def _parse_error(engine: Game, move: str) -> str:
    try:
        engine.parse_move(move)
    except InputError as error:
        return str(error)
    return ""


def _question(verdict: Verdict) -> Ambiguous | None:
    """The question asked at once, or after the table has stayed unchanged."""
    if isinstance(verdict, Ambiguous):
        return verdict
    return verdict.asks if isinstance(verdict, Unsettled) else None


def _accepts_table(verdict: Verdict) -> bool:
    """True if the verdict accepts the table as recorded."""
    return isinstance(verdict, Waiting) or (isinstance(verdict, Accepted) and not verdict.moves)


def verdict_line(verdict: Verdict) -> str:
    """A verdict as one line."""
    more = verdict.differences if isinstance(verdict, OutOfSync) else ()
    moves = getattr(verdict, "moves", None) or getattr(verdict, "tried", ())
    question = _question(verdict)
    asks = [f"{one.label} [{', '.join(one.moves)}]" for one in question.choices] if question else []
    parts = [type(verdict).__name__, f"[{', '.join(moves)}]", verdict.message, *more]
    return " ".join([*parts, *(["Asks:", "; ".join(asks)] if asks else [])])


def sentences_of(verdict: Verdict) -> str:
    """All sentences of a verdict: the main one, and each difference."""
    more = verdict.differences if isinstance(verdict, OutOfSync) else ()
    return " ".join((verdict.message, *more))
