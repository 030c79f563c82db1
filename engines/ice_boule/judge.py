"""Judge settled observations of the table.

`before` is the settled observation of the last accepted verdict (None: unknown). People's decisions
about pieces that have not moved remain valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from engines.ice_boule.announcements import target_out_of_play
from engines.ice_boule.between_ends import judge_target
from engines.ice_boule.hidden_target import (
    is_target_newly_outside,
    with_likeliest_target,
    with_target,
    with_unplaced_target,
)
from engines.ice_boule.matching import GUESSED_MM, match_table
from engines.ice_boule.moves import Throw, Void, parse_move
from engines.ice_boule.rules import outcome
from engines.ice_boule.stack import toppled_readings, with_hidden_pieces
from engines.ice_boule.state import State
from engines.ice_boule.throw_verdicts import judge_throw
from engines.ice_boule.throws import label, throws_onto_target
from engines.occlusion import NONE_OF_THESE
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Refused, Verdict, Waiting
from table.boards import Board
from table.messages import Message, all_of, msg, phrase, sentences
from table.observation import Observation

LEFT = Choice(msg("It left the play area: the end is void"), (str(Void()),))
BACK = Choice(msg("It is still in play, or we put it back"), ())
"""First and last choice if the place of the target is unknown."""


def judge(
    state: State, seen: Observation, before: Observation | None, _board: Board | None = None
) -> Verdict:
    """Judge a settled table."""
    if ended := outcome(state):
        return Waiting(
            code="boule.over",
            message=msg("The game is over: {text}.", text=ended.message),
            rests_on="Goal",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(
            code="boule.hand", message=msg("A hand is over the board."), player=state.next
        )
    if state.target is None:
        return judge_target(state, seen, before)
    if (
        before
        and not any(state.thrown)
        and any(piece.colour in state.players for piece in before.pieces)
    ):
        before = None  # of the end before, or of a throw that people reported the target after
    known = before and (with_target(state, before, None) or before)
    whole = with_target(state, seen, known)
    if whole is None:
        return _target_gone(state, seen, before, known)
    hidden = whole is not seen
    whole, *others = toppled_readings(state, with_hidden_pieces(whole, known, state.target), known)
    verdict = judge_throw(match_table(state, whole, known))
    if others:
        return _ask_which_fell(
            state,
            seen,
            [verdict, *(judge_throw(match_table(state, other, known)) for other in others)],
            [whole, *others],
        )
    if _may_target_be_outside(state, seen, before) and isinstance(verdict, Accepted | Ambiguous):
        return _ask_where_target_is(state, whole, verdict)
    if whole is seen or not isinstance(verdict, Accepted | Ambiguous):
        return verdict
    verdict = replace(verdict, table=verdict.table or whole)
    if hidden and isinstance(verdict, Ambiguous):
        return replace(
            verdict,
            message=sentences(_unseen(state), verdict.message),
            choices=(*verdict.choices[:-1], LEFT, verdict.choices[-1]),
        )
    if hidden:
        under = msg(
            "The {colour} target is hidden. It is assumed to be where it was last seen,"
            " under the piece that stands there.",
            colour=state.target,
        )
        return replace(verdict, message=sentences(verdict.message, under))
    return verdict


def _ask_which_fell(
    state: State, seen: Observation, verdicts: Sequence[Verdict], ways: Sequence[Observation]
) -> Verdict:
    """Ask which of several pieces fell from the target, if it matters.

    That piece touches the target by ruling (ruling ice_boule.9).
    """
    outcomes = [
        (type(verdict), getattr(verdict, "moves", ()), getattr(verdict, "choices", ()))
        for verdict in verdicts
    ]
    if all(outcome == outcomes[0] for outcome in outcomes):
        return (
            replace(verdicts[0], table=ways[0])
            if isinstance(verdicts[0], Accepted | Ambiguous)
            else verdicts[0]
        )
    choices = []
    for verdict, way in zip(verdicts, ways, strict=True):
        fell = all_of(
            phrase(
                "the {colour} piece at ({mm}, {mm2}) mm",
                colour=now.colour,
                mm=f"{now.base_mm[0]:.0f}",
                mm2=f"{now.base_mm[1]:.0f}",
            )
            for was, now in zip(seen.pieces, way.pieces, strict=False)
            if was.on is None and now.on is not None
        )
        choices += [
            Choice(sentences(msg("It was {text}.", text=fell), text), moves)
            for text, moves in _possible_acts(state, verdict)
        ]
    message = sentences(
        msg("Which piece stood on the target and was knocked over?"),
        msg("By house rule it counts as touching the target, wherever it lies."),
    )
    asked = (*choices, NONE_OF_THESE)
    return Ambiguous(
        code="boule.toppled",
        message=message,
        rests_on="ruling ice_boule.9",
        player=state.next,
        choices=asked,
    )


def _target_gone(
    state: State, seen: Observation, before: Observation | None, known: Observation | None
) -> Verdict:
    """Judge a table on which the target is no longer seen.

    Only a target seen outside makes the end void at once (ruling ice_boule.4). Otherwise it may be
    hidden: play goes on, and people report how the throw ended.
    """
    if is_target_newly_outside(state, seen, before):
        return target_out_of_play(state)
    whole = with_likeliest_target(state, seen, known)
    if whole is None:
        return _judge_unseen_target(state, seen, known, _ask_where_target_is(state))
    verdict = judge_throw(match_table(state, toppled_readings(state, whole, known)[0], known))
    targets = [piece for piece in (known.pieces if known else ()) if piece.colour == state.target]
    if isinstance(verdict, Waiting) and any(piece.place_sigma_mm > GUESSED_MM for piece in targets):
        return verdict  # that nobody sees it was asked already
    return _ask_where_target_is(state, whole, verdict)


def _ask_where_target_is(
    state: State, whole: Observation | None = None, verdict: Verdict | None = None
) -> Ambiguous:
    """Ask where the target is: if it is still there, the verdict is on the whole table."""
    still = () if verdict is None else tuple(_in_play(state, verdict))
    return Ambiguous(
        code="boule.target.gone",
        message=_unseen(state),
        rests_on="ruling ice_boule.4",
        player=state.next,
        choices=(LEFT, *still, BACK),
        table=whole if still else None,
    )


def _may_target_be_outside(state: State, seen: Observation, before: Observation | None) -> bool:
    """True if the target may lie outside, and not under the piece that seems to stand on it.

    A throw that takes the target's place looks, from straight above, as if it stood on it.
    """
    covered, was = (
        table is not None
        and any(
            piece.on is not None and table.pieces[piece.on].colour == state.target
            for piece in table.pieces
        )
        for table in (seen, before)
    )
    return covered and not was and is_target_newly_outside(state, seen, before)


def _judge_unseen_target(
    state: State, seen: Observation, before: Observation | None, asked: Ambiguous
) -> Verdict:
    """Judge a table with an unseen target that people report standing.

    They report how every throw ended.
    """
    known = before and with_unplaced_target(state, before)
    verdict = judge_throw(match_table(state, with_unplaced_target(state, seen), known))
    if isinstance(verdict, Refused | CannotSee) or (
        isinstance(verdict, Waiting) and (known or not any(state.thrown))
    ):
        if isinstance(verdict, Waiting) and known is None:
            verdict = replace(verdict, message=sentences(asked.message, verdict.message))
        return replace(verdict, evidence={})
    standing = sum(lie.on_target for lie in state.layout.lies)
    orders = [
        choice
        for choice in _in_play(state, verdict)
        if sum(lie.on_target for lie in _throw_of(choice).layout.lies) >= standing
    ]
    throws = [_throw_of(choice) for choice in orders if _throw_of(choice).lie]
    on = throws_onto_target(state, throws[0]) if len({throw.size for throw in throws}) == 1 else []
    above = [
        Choice(
            msg(
                "{player}'s piece stands on the target; {text}",
                player=state.next,
                text=label(state, each, each.layout),
            ),
            (str(each),),
        )
        for each in on
    ]
    left, back = asked.choices
    how = msg("What was the result of the throw?") if orders else ""
    return replace(
        asked, message=sentences(asked.message, how), choices=(*orders, *above, left, back)
    )


def _throw_of(choice: Choice) -> Throw:
    throw = parse_move(choice.moves[-1])
    assert isinstance(throw, Throw), "what may have happened beside a target is a throw"
    return throw


def _in_play(state: State, verdict: Verdict) -> Iterator[Choice]:
    """Return the choices if the unseen target is still in play."""
    for text, moves in _possible_acts(state, verdict):
        yield Choice(sentences(msg("The target is still in play."), text), moves)


def _possible_acts(state: State, verdict: Verdict) -> list[tuple[str, tuple[str, ...]]]:
    """Return the acts possible by a verdict: pairs of a sentence and the moves."""
    if isinstance(verdict, Ambiguous):
        return [(choice.label, choice.moves) for choice in verdict.choices if choice.moves]
    if not isinstance(verdict, Accepted):
        return []
    move = parse_move(verdict.moves[-1])
    assert isinstance(move, Throw)
    return [
        (
            label(state, move, move.layout) if move.layout.lies else msg("Nobody leads"),
            verdict.moves,
        )
    ]


def _unseen(state: State) -> Message:
    return msg("The {colour} target cannot be seen in the play area.", colour=state.target)
