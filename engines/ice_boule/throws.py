"""Rule on a throw that was seen: legal or not, decided or asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engines.errors import Violation
from engines.ice_boule import messages
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.matching import TableMatch
from engines.ice_boule.moves import Move, Throw
from engines.ice_boule.ranking import Ranking, rank_layout, readings
from engines.ice_boule.rules import PLAY, SCORING, play, violation
from engines.ice_boule.state import State
from engines.verdict import Accepted, Ambiguous, Choice, Verdict, refusal
from table.messages import Message, msg, phrases, sentences

TOO_CLOSE = "boule.too_close"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One interpretation of an observation: `player` threw the piece `thrown` of `size`.

    `thrown` is an id in the ranking; None means that the throw is out.
    """

    match: TableMatch
    player: str
    thrown: int | None
    size: str | None

    def move(self, ranking: Ranking) -> Throw:
        """Return the throw, if the pieces lie in this order."""
        if self.thrown is None:
            return Throw(self.player, None, None, ranking.layout())
        return Throw(self.player, self.size, ranking.lie(self.thrown), ranking.layout())

    def moves(self) -> list[Throw]:
        """Return the throw in every order that people may choose from.

        One if nothing depends on distances too close to call.
        """
        state = self.match.state
        return [self.move(ranking) for ranking in orders(state, self.match.ranking, self.move)]

    @property
    def violation(self) -> Violation | None:
        """Return the rule that forbids it, whatever the order."""
        wrong = violation(self.match.state, self.move(self.match.ranking))
        return None if wrong and wrong.code == TOO_CLOSE else wrong


def orders(state: State, ranking: Ranking, move: Callable[[Ranking], Move]) -> list[Ranking]:
    """Return the open orders of pieces that the rules need to distinguish."""

    def too_close(order: Ranking) -> bool:
        wrong = violation(state, move(order))
        return wrong is not None and wrong.code == TOO_CLOSE

    return list(readings(ranking, too_close))


def rule(reading: Reading) -> Verdict:
    """Rule on a throw with only one interpretation."""
    state, evidence = reading.match.state, reading.match.evidence(reading.thrown)
    if wrong := reading.violation:
        return refusal(wrong, reading.player, (str(reading.move(reading.match.ranking)),), evidence)
    moves = reading.moves()
    if len(moves) > 1:
        message = msg(
            "Too close to call: {text}. Measure with a calliper or decide together.",
            text=_close_pairs(reading),
        )
        choices = tuple(Choice(label(state, move, move.layout), (str(move),)) for move in moves)
        return Ambiguous(
            code=TOO_CLOSE,
            message=message,
            rests_on="ruling ice_boule.2",
            player=reading.player,
            choices=choices,
            evidence=evidence,
        )
    return _accept(reading, moves[0])


def ask(
    match: TableMatch,
    code: str,
    message: str,
    rests_on: str,
    read: Sequence[tuple[str, Reading]],
    otherwise: str,
) -> Verdict:
    """Ask which of several readings, each with a label, is right.

    `otherwise` is the label for none of them. Forbidden readings are not offered; if all are
    forbidden, the first is refused.
    """
    legal = [(text, reading) for text, reading in read if reading.violation is None]
    if not legal:
        return rule(read[0][1])
    choices = []
    for text, reading in legal:
        moves = reading.moves()
        several = (
            [phrases(text, label(match.state, move, move.layout)) for move in moves]
            if len(moves) > 1
            else [text]
        )
        choices += [Choice(each, (str(move),)) for each, move in zip(several, moves, strict=True)]
    choices.append(Choice(otherwise, ()))
    return Ambiguous(
        code=code,
        message=message,
        rests_on=rests_on,
        player=match.state.next,
        choices=tuple(choices),
        evidence=match.evidence(),
    )


def two_throws(first: Reading, second: Reading) -> list[tuple[Throw, Throw]]:
    """Return both throws in sequence, in every order of pieces that people may choose from.

    Empty if the rules forbid it. Only for a second throw that knocked nothing: otherwise the table
    between them is unknown.
    """
    state = first.match.state

    def both(ranking: Ranking) -> tuple[Throw, Throw]:
        return first.move(ranking.without(second.thrown)), second.move(ranking)

    def wrong(ranking: Ranking) -> Violation | None:
        move, then = both(ranking)
        return violation(state, move) or violation(play(state, move), then)

    def too_close(ranking: Ranking) -> bool:
        found = wrong(ranking)
        return found is not None and found.code == TOO_CLOSE

    return [
        both(order) for order in readings(first.match.ranking, too_close) if wrong(order) is None
    ]


def throws_onto_target(state: State, move: Throw) -> list[Throw]:
    """Return the same throw with its piece on the target, in every open order of the others."""
    if move.lie is None or move.lie.on_target:
        return []
    rest = rank_layout(move.layout).without(move.layout.lies.index(move.lie)).layout()
    lie = Lie(move.player, 0.0, on_target=True)
    ranking = rank_layout(
        Layout.sorted((lie, *rest.lies), ("<", *rest.relations)[: len(rest.lies)])
    )

    def throw(order: Ranking) -> Throw:
        return replace(move, lie=lie, layout=order.layout())

    return [
        each for each in map(throw, orders(state, ranking, throw)) if violation(state, each) is None
    ]


def label(state: State, move: Move, layout: Layout) -> Message:
    """Label of an order: who is nearest, and the points if in question."""
    return messages.reading(layout, scoring=play(state, move).end is not None)


def _accept(reading: Reading, move: Throw) -> Accepted:
    match = reading.match
    after = play(match.state, move)
    gap = match.measured.gaps[reading.thrown] if reading.thrown is not None else None
    message = messages.throw(match.state, move, after, gap)
    rests_on = [SCORING if after.end else PLAY]
    if match.target_moved:
        message = sentences(msg("The target was moved and is measured where it lies."), message)
        rests_on.append("ruling ice_boule.4")
    evidence = match.evidence(reading.thrown)
    return Accepted(
        code="boule.throw",
        message=message,
        rests_on="; ".join(rests_on),
        player=move.player,
        moves=(str(move),),
        evidence=evidence,
    )


def _close_pairs(reading: Reading) -> Message:
    """Describe the pieces in question, with their distances and doubts."""
    ranking = reading.match.ranking
    gaps = [
        reading.match.measured.gaps[ranking.ids[place]] for place in ranking.layout().contested()
    ]
    return phrases(*map(messages.colour_and_distance, gaps), joint=",")
