"""From settled observations of the table to verdicts.

`before` is the settled observation that the last accepted verdict rested on (None: not known);
decisions that people made about pieces that lie still stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from engines.errors import AmbiguousMove, InvalidNotation, Violation
from engines.ice_boule import messages
from engines.ice_boule.announcements import target_left, unseen_targets
from engines.ice_boule.changes import compare
from engines.ice_boule.hidden_target import guessed, never_seen, with_target
from engines.ice_boule.layout import Layout
from engines.ice_boule.matching import GUESSED_MM, Look, look
from engines.ice_boule.moves import Stop, Target, Throw, Void, parse_move
from engines.ice_boule.rules import PLAY, SETUP, SIZES, outcome, play, turn, violation
from engines.ice_boule.stack import as_toppled, uncovered
from engines.ice_boule.state import State
from engines.ice_boule.throws import Reading, ask, label, rule, standing_on_the_target, two_throws
from engines.occlusion import NONE_OF_THESE
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    Refused,
    Verdict,
    Waiting,
    answer_by_label,
    refusal,
)
from table.boards import Board
from table.clearance import clearance
from table.listing import cannot_be_read
from table.observation import SURE, Observation, SeenPiece

TOUCHING_MM = 3.0
"""Pieces that are read this near to each other may touch."""
LEFT = Choice("It left the play area: the end is void", (str(Void()),))
"""Said of the target."""
PUT_BACK = "It was taken away by hand: put it back"


def judge(
    state: State, seen: Observation, before: Observation | None, _board: Board | None = None
) -> Verdict:
    """What happened on a table on which nothing moves any more."""
    if ended := outcome(state):
        return Waiting(
            code="boule.over", said=f"The game is over: {ended}.", rests_on="Goal", as_recorded=True
        )
    if seen.hand:
        return Waiting(code="boule.hand", said="A hand is over the table.", player=state.next)
    if state.target is None:
        return _judge_target(state, seen, before)
    if (
        before
        and not any(state.thrown)
        and any(piece.colour in state.players for piece in before.pieces)
    ):
        before = None  # of the end before, or of a throw that people told of the target after
    known = before and (with_target(state, before, None) or before)
    whole = with_target(state, seen, known)
    if whole is None:
        return _target_gone(state, seen, before, known)
    hidden, (whole, *others) = whole is not seen, as_toppled(state, whole, known)
    verdict = _judge_throw(look(state, whole, known))
    if others:
        return _which_fell(
            state,
            seen,
            [verdict, *(_judge_throw(look(state, other, known)) for other in others)],
            [whole, *others],
        )
    if whole is seen or not isinstance(verdict, Accepted | Ambiguous):
        return verdict
    verdict = replace(verdict, table=verdict.table or whole)
    if hidden and isinstance(verdict, Ambiguous):
        said = f"{_unseen(state)} {verdict.said}"
        return replace(
            verdict, said=said, choices=(*verdict.choices[:-1], LEFT, verdict.choices[-1])
        )
    if hidden:
        said = (
            f"{verdict.said} The {state.target} target is hidden, and taken to be where it was seen"
            " last, under the piece that stands there."
        )
        return replace(verdict, said=said)
    return verdict


def _which_fell(
    state: State, seen: Observation, verdicts: Sequence[Verdict], ways: Sequence[Observation]
) -> Verdict:
    """Which of several pieces fell from the target, and touches it by ruling, is asked if something
    hangs on it (ruling ice_boule.9).
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
        fell = [
            now
            for was, now in zip(seen.pieces, way.pieces, strict=False)
            if was.on is None and now.on is not None
        ]
        lies = " and ".join(
            f"the {piece.colour} piece at ({piece.base_mm[0]:.0f}, {piece.base_mm[1]:.0f}) mm"
            for piece in fell
        )
        choices += [
            Choice(f"It was {lies}. {text}", moves) for text, moves in _happened(state, verdict)
        ]
    said = (
        "Which piece stood on the target and was pushed over? It touches the target, by ruling,"
        " wherever it lies."
    )
    asked = (*choices, NONE_OF_THESE)
    return Ambiguous(
        code="boule.toppled",
        said=said,
        rests_on="ruling ice_boule.9",
        player=state.next,
        choices=asked,
    )


def _judge_throw(found: Look | CannotSee) -> Verdict:
    """A throw, beside a target that is in play."""
    if isinstance(found, CannotSee):
        return found
    strangers = [
        gap.piece for gap in found.measured.gaps if gap.piece.colour not in found.state.players
    ]
    if strangers:
        return _stranger(found, strangers[0])
    if not found.gained:
        return _nothing_new(found)
    if len(found.gained) == 1:
        return _one_new(found, found.gained[0])
    return _several_new(found)


def judge_answer(
    asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = "the players"
) -> Accepted:
    """What people decided about a question (ruling ice_boule.2).

    `answer` is the label of a choice, or a calliper's readings in mm by piece: `blue` for blue's
    nearest, `blue 2` for its second.  Raises InvalidNotation where no choice agrees with it,
    AmbiguousMove where several do.
    """
    if isinstance(answer, str):
        return answer_by_label(asked, answer, decided_by)
    fitting = [choice for choice in asked.choices if _measured_so(choice, answer)]
    measured = ", ".join(f"{piece} {gap_mm:g} mm" for piece, gap_mm in answer.items())
    if not fitting:
        raise InvalidNotation(
            f"expected one of {', '.join(repr(choice.label) for choice in asked.choices)}, got"
            f" {measured}, which agrees with none"
        )
    if len(fitting) > 1:
        said = (
            f"It agrees with {' and '.join(repr(choice.label) for choice in fitting)}: say which,"
            " or measure more pieces."
        )
        which = tuple(move for choice in fitting for move in choice.moves[-1:])
        raise AmbiguousMove(
            Violation("boule.answer.which", "ruling ice_boule.2", said, which), measured
        )
    (choice,) = fitting
    return replace(
        answer_by_label(asked, choice.label, decided_by),
        said=f"{choice.label}: {decided_by} measured {measured}.",
    )


def _measured_so(choice: Choice, readings_mm: Mapping[str, float]) -> bool:
    """Do a calliper's readings agree with the order of pieces that a choice stands for?"""
    move = parse_move(choice.moves[-1]) if choice.moves else None
    if not isinstance(move, Throw | Stop) or not move.layout:
        return False
    layout = move.layout
    places = {name: _place(layout, name) for name in readings_mm}
    return all(
        _order_agrees(layout, (places[a], readings_mm[a]), (places[b], readings_mm[b]))
        for a, b in combinations(readings_mm, 2)
    )


def _place(layout: Layout, name: str) -> int:
    """Place in a layout of `blue`, its nearest blue piece, or `blue 2`, the second."""
    colour, _, number = name.partition(" ")
    own = [place for place, lie in enumerate(layout.lies) if lie.colour == colour]
    if number not in ("", *map(str, range(1, len(own) + 1))) or not own:
        raise InvalidNotation(
            f"expected a piece such as 'blue' or 'blue 2' among '{layout}', got {name!r}"
        )
    return own[int(number or 1) - 1]


def _order_agrees(layout: Layout, a: tuple[int, float], b: tuple[int, float]) -> bool:
    """Readings (place, mm) of two pieces; equal ones do not let the leader's piece count as
    nearer.
    """
    (near, near_mm), (far, far_mm) = sorted([a, b])
    colours = layout.lies[near].colour, layout.lies[far].colour
    relation = layout.relation(near, far)
    if relation == "~" or colours[0] == colours[1]:
        return True
    if near_mm == far_mm:
        return relation == "=" or layout.lies[0].colour == colours[1]
    return relation == "<" and near_mm < far_mm


def _judge_target(state: State, seen: Observation, before: Observation | None) -> Verdict:
    """Between ends: the table is cleared, then the target thrown and stood upright where it
    lies.
    """
    starter = state.starter
    if (own := _own_target(state, seen, before)) is not None:
        return own
    if any(piece.colour in state.players for piece in seen.pieces):
        differences = _came(seen, before)
        said = " ".join([f"Clear the table; then {starter} throws the target.", *differences])
        asks = _stands_unseen(state, before) if differences else None
        return Waiting(
            code="boule.target",
            said=said,
            rests_on=SETUP,
            player=starter,
            differences=differences,
            asks=asks,
        )
    lying = [
        (index, piece)
        for index, piece in enumerate(seen.pieces)
        if piece.colour not in state.players
    ]
    if len(lying) != 1:
        differences = _came(seen, before)
        said = (
            f"{starter.capitalize()} chooses the starting line and throws the target."
            if not lying
            else "Leave one target on the table."
        )
        said = " ".join([said, *differences])
        return Waiting(
            code="boule.target",
            said=said,
            rests_on=SETUP,
            player=starter,
            differences=differences,
            as_recorded=not lying,
        )
    ((index, target),) = lying
    if before and index in compare(before, seen).same and index not in compare(before, seen).moved:
        said = f"The {target.colour} piece is the last end's target; {starter} throws the next one."
        return Waiting(
            code="boule.target", said=said, rests_on=SETUP, player=starter, as_recorded=True
        )
    if target.pose != "upright" and target.pose_probability >= SURE:
        said = f"Stand the {target.colour} target upright where it lies."
        return Waiting(code="boule.target", said=said, rests_on=SETUP, player=starter)
    move = str(Target(target.colour))
    evidence = {"target": str(target), "base_mm": target.base_mm.round(3).tolist()}
    if min(target.colour_probability, target.pose_probability) < SURE:
        said = f"Does a {target.colour} target stand upright on the table? The camera is not sure."
        choices = (
            Choice(f"A {target.colour} target stands upright", (move,)),
            Choice("Not yet", ()),
        )
        return Ambiguous(
            code="boule.target",
            said=said,
            rests_on=SETUP,
            player=starter,
            choices=choices,
            evidence=evidence,
        )
    said = f"The {target.colour} target stands. {turn(play(state, Target(target.colour)))}"
    return Accepted(
        code="boule.target",
        said=said,
        rests_on=SETUP,
        player=starter,
        moves=(move,),
        evidence=evidence,
    )


def _own_target(state: State, seen: Observation, before: Observation | None) -> Waiting | None:
    """Why the one piece on the table cannot be the target, where it has a player's colour and does
    not lie there since the last end; else None.

    Nobody is accused: it may be the Centrifuge of a Catapult that is being built.
    """
    changes = compare(before, seen) if before else None
    if len(seen.pieces) != 1 or (changes and changes.still):
        return None
    (piece,) = seen.pieces
    wrong = violation(state, Target(piece.colour))
    if wrong is None or wrong.code != "boule.target.colour" or piece.colour_probability < SURE:
        return None
    said = f"{wrong.said} Clear the table; then {state.starter} throws the target."
    common: dict[str, Any] = {"code": wrong.code, "rests_on": wrong.clause, "player": state.starter}
    return Waiting(
        said=said, differences=_came(seen, before), asks=_stands_unseen(state, before), **common
    )


def _stands_unseen(state: State, before: Observation | None) -> Ambiguous:
    """What people are asked where something else than a target came: it may stand there, and not be
    seen.

    The last end's target is the likeliest to be thrown again.
    """
    last = [
        piece.colour
        for piece in (before.pieces if before else ())
        if piece.colour not in state.players
    ]
    said = (
        f"Has {state.starter} thrown the target, and does it stand where the camera does not"
        " see it?"
    )
    choices = (*unseen_targets(state, next(iter(last), None)), NONE_OF_THESE)
    return Ambiguous(
        code="boule.target.unseen",
        said=said,
        rests_on=SETUP,
        player=state.starter,
        choices=choices,
        until_moved=True,
    )


def _came(seen: Observation, before: Observation | None) -> tuple[str, ...]:
    """What was not there at the last ruling, a sentence a piece."""
    pieces = (
        [seen.pieces[index] for index in compare(before, seen).appeared] if before else seen.pieces
    )
    return tuple(
        f"A {piece.colour} piece lies at ({piece.base_mm[0]:.0f}, {piece.base_mm[1]:.0f}) mm."
        for piece in pieces
    )


def _target_gone(
    state: State, seen: Observation, before: Observation | None, known: Observation | None
) -> Verdict:
    """The target is not in play any more; only what is seen to lie outside is void at once (ruling
    ice_boule.4).

    It may be hidden, and play goes on: then people say how the throw came out.
    """
    outside, were = (
        sum(piece.colour == state.target for piece in table.off_board) if table else 0
        for table in (seen, before)
    )
    if before and outside > were:
        return target_left(state)
    common: dict[str, Any] = {"code": "boule.target.gone", "rests_on": "ruling ice_boule.4"}
    common |= {"said": _unseen(state), "player": state.next}
    back = Choice("It is still in play, or is put back", ())
    whole = guessed(state, seen, known)
    if whole is None:
        return _never_seen(state, seen, known, Ambiguous(**common, choices=(LEFT, back)))
    verdict = _judge_throw(look(state, as_toppled(state, whole, known)[0], known))
    targets = [piece for piece in (known.pieces if known else ()) if piece.colour == state.target]
    if isinstance(verdict, Waiting) and any(piece.place_sigma_mm > GUESSED_MM for piece in targets):
        return verdict  # that nobody sees it was asked already
    still = tuple(_in_play(state, verdict))
    return Ambiguous(**common, choices=(LEFT, *still, back), table=whole if still else None)


def _never_seen(
    state: State, seen: Observation, before: Observation | None, asked: Ambiguous
) -> Verdict:
    """The target stands by people's word, and they say how every throw came out."""
    known = before and never_seen(state, before)
    verdict = _judge_throw(look(state, never_seen(state, seen), known))
    if isinstance(verdict, Refused | CannotSee) or (
        isinstance(verdict, Waiting) and (known or not any(state.thrown))
    ):
        if isinstance(verdict, Waiting) and known is None:
            verdict = replace(verdict, said=f"{asked.said} {verdict.said}")
        return replace(verdict, evidence={})
    standing = sum(lie.on_target for lie in state.layout.lies)
    orders = [
        choice
        for choice in _in_play(state, verdict)
        if sum(lie.on_target for lie in _thrown(choice).layout.lies) >= standing
    ]
    throws = [_thrown(choice) for choice in orders if _thrown(choice).lie]
    on = (
        standing_on_the_target(state, throws[0])
        if len({throw.size for throw in throws}) == 1
        else []
    )
    name = str(state.next).capitalize()
    above = [
        Choice(
            f"{name}'s piece stands on the target; {label(state, each, each.layout).lower()}",
            (str(each),),
        )
        for each in on
    ]
    left, back = asked.choices
    said = f"{asked.said} How did the throw come out?" if orders else asked.said
    return replace(asked, said=said, choices=(*orders, *above, left, back))


def _thrown(choice: Choice) -> Throw:
    throw = parse_move(choice.moves[-1])
    assert isinstance(throw, Throw), "what may have happened beside a target is a throw"
    return throw


def _in_play(state: State, verdict: Verdict) -> Iterator[Choice]:
    """What may have happened if the target that nobody sees is still in play."""
    for text, moves in _happened(state, verdict):
        yield Choice(f"The target is still in play. {text}", moves)


def _happened(state: State, verdict: Verdict) -> list[tuple[str, tuple[str, ...]]]:
    """What may have happened by a verdict: its sentence, and the moves."""
    if isinstance(verdict, Ambiguous):
        return [(choice.label, choice.moves) for choice in verdict.choices if choice.moves]
    if not isinstance(verdict, Accepted):
        return []
    move = parse_move(verdict.moves[-1])
    assert isinstance(move, Throw)
    return [
        (label(state, move, move.layout) if move.layout.lies else "Nobody leads", verdict.moves)
    ]


def _unseen(state: State) -> str:
    return f"The {state.target} target cannot be seen in the play area."


def _stranger(found: Look, piece: SeenPiece) -> Verdict:
    """A piece in play of a colour that nobody plays."""
    if piece.colour_probability < SURE:
        return _unsure_newcomer(found, piece)
    said = f"A {piece.colour} piece lies in play, and nobody plays {piece.colour}. Take it away."
    return refusal(Violation("boule.throw.colour", PLAY, said), found.player, (), found.evidence())


def _nothing_new(found: Look) -> Verdict:
    """No projectile more than before: nothing happened, or a throw left the play area, or hands
    moved something.
    """
    state, player = found.state, found.player
    out = (f"{player.capitalize()}'s throw left the play area", Reading(found, player, None, None))
    carried = found.carried
    if found.lost:
        gone = ", ".join(found.lost)
        if not _seen_outside(found):
            missing = f"Missing in play: {gone}."
            asked = ask(
                found,
                "boule.vanished",
                f"{missing} Was it knocked out by {player}'s throw?",
                PLAY,
                [out],
                PUT_BACK,
            )
            return CannotSee(
                code="boule.vanished",
                said=f"{missing} If it is hidden, show it; if it was taken away, put it back.",
                rests_on=PLAY,
                player=player,
                evidence=found.evidence(),
                asks=asked if isinstance(asked, Ambiguous) else None,
            )
        said = f"Out of play: {gone}. Was it knocked out by {player}'s throw?"
        return ask(found, "boule.vanished", said, PLAY, [out], PUT_BACK)
    if (
        not carried or state.undeclared
    ):  # nobody throws before all have said a size, and no distance hangs on the target yet
        said = " ".join([turn(state), *map(cannot_be_read, found.seen.unread_mm)])
        return Waiting(
            code="boule.throw",
            said=said,
            rests_on=PLAY,
            player=player,
            evidence=found.evidence(),
            as_recorded=True,
        )
    own = [
        (k, gap)
        for k, gap in enumerate(found.measured.gaps)
        if gap.index in carried and gap.piece.colour == player
    ]
    swapped = [
        (
            (
                f"{player.capitalize()} threw the piece that {messages.where(gap)}, and another"
                f" {player} one left play"
            ),
            reading,
        )
        for k, gap in own
        for _, reading in _sizes(found, player, k)
    ]
    said = (
        f"{messages.counted(len(carried), 'piece')} moved, and no new one lies in play. What"
        " happened?"
    )
    return ask(
        found,
        "boule.moved",
        said,
        PLAY,
        [out, *swapped],
        "None of these: put the pieces back, or show apart those that touch",
    )


def _one_new(found: Look, colour: str) -> Verdict:
    """One projectile more of a colour: a throw, by whoever plays it."""
    (thrown,) = found.new(colour)
    piece = found.measured.gaps[thrown].piece
    if colour != found.player and piece.colour_probability < SURE:
        return _unsure_newcomer(found, piece)
    read = _sizes(found, colour, thrown)
    if found.lost and not _seen_outside(found):
        gone = ", ".join(found.lost)
        said = (
            f"A new {colour} piece lies in play, and missing are: {gone}. Were they knocked out of"
            " the play area?"
        )
        knocked = [(f"{text}; knocked out of play: {gone}", reading) for text, reading in read]
        if (covered := _covers(found, thrown)) is not None:
            other, again = covered
            knocked += [
                (f"{text}; under it on the target: {gone}", reading)
                for text, reading in _sizes(other, colour, again)
            ]
            asked = ask(
                found,
                "boule.vanished",
                said,
                PLAY,
                knocked,
                "Still in play but hidden, or moved by hand: put it right",
            )
            return replace(asked, table=other.seen)
        return ask(
            found,
            "boule.vanished",
            said,
            PLAY,
            knocked,
            "Still in play but hidden, or moved by hand: put it right",
        )
    if found.measured.doubts:
        said = f"{' '.join(found.measured.doubts)} Is it as the camera read it?"
        return ask(
            found,
            "boule.doubt",
            said,
            PLAY,
            _as_read(found, thrown) + _not_stacked(found, thrown),
            "Not so: show the pieces more clearly",
        )
    if len(read) > 1:
        said = (
            f"Which size is the piece that {colour} threw? It fixes {colour}'s size for this end."
        )
        return ask(found, "boule.size", said, SETUP, read, "The piece was not thrown: take it back")
    return rule(read[0][1])


def _covers(found: Look, thrown: int) -> tuple[Look, int] | None:
    """Where a piece that came to stand on the target hides all that is missing, as it stood there
    before: the look with that, and the piece.
    """
    if found.before is None or not found.measured.gaps[thrown].on_target:
        return None
    target, top = found.measured.target, found.measured.gaps[thrown].piece
    other = look(found.state, uncovered(found.seen, found.before, target, top), found.before)
    if isinstance(other, CannotSee) or other.lost or other.gained != found.gained:
        return None
    (again,) = other.new(top.colour)
    return other, again


def _as_read(found: Look, thrown: int) -> list[tuple[str, Reading]]:
    """The throw if the camera is right; then a piece that is read to stand on the target is nearer
    than any other.
    """
    gap = found.measured.gaps[thrown]
    sure = _look_again(found, thrown, pose_probability=1.0) if gap.on_target else (found, thrown)
    return [
        (f"As it was read: {text.lower()}", reading)
        for text, reading in _sizes(sure[0], gap.piece.colour, sure[1])
    ]


def _not_stacked(found: Look, thrown: int) -> list[tuple[str, Reading]]:
    """The throw with a piece that seems to stand on the target, but does not surely, beside it
    instead.
    """
    gap = found.measured.gaps[thrown]
    if not (gap.on_target and gap.reach_mm):
        return []
    other, beside = _look_again(found, thrown, on=None)
    return [
        (f"It does not stand on the target: {text.lower()}", reading)
        for text, reading in _sizes(other, gap.piece.colour, beside)
    ]


def _look_again(found: Look, thrown: int, **otherwise: Any) -> tuple[Look, int]:
    """The look, and the piece that was thrown in it, if that piece were otherwise."""
    thrown_piece = found.measured.gaps[thrown].piece
    pieces = tuple(
        replace(piece, **otherwise) if piece is thrown_piece else piece
        for piece in found.seen.pieces
    )
    other = look(found.state, replace(found.seen, pieces=pieces), found.before)
    assert isinstance(other, Look), "the target is where it was"
    (again,) = other.new(thrown_piece.colour)
    return other, again


def _sizes(found: Look, player: str, thrown: int) -> list[tuple[str, Reading]]:
    """The throw by the sizes that the piece may have: as read if sure, else the player's size of
    this end, else any.
    """
    piece = found.measured.gaps[thrown].piece
    known = found.state.size(player)
    if piece.size_probability >= SURE:
        sizes = [piece.size]
    elif known:
        sizes = [known]
    else:
        sizes = list(dict.fromkeys([piece.size, *SIZES]))
    return [(f"A {size} piece", Reading(found, player, thrown, size)) for size in sizes]


def _seen_outside(found: Look) -> bool:
    """Do as many more pieces lie outside than before, by colour, as are missing in play?"""
    if found.before is None:
        return False
    before, seen = found.before.off_board, found.seen.off_board
    more = {
        colour: sum(p.colour == colour for p in seen) - sum(p.colour == colour for p in before)
        for colour in found.lost
    }
    return all(more[colour] == found.lost.count(colour) for colour in found.lost)


def _unsure_newcomer(found: Look, piece: SeenPiece) -> Verdict:
    """A piece came whose colour is unsure, and it is another player's throw: perhaps it is
    theirs.
    """
    player = found.player
    pieces = tuple(
        replace(each, colour=player) if each is piece else each for each in found.seen.pieces
    )
    other = look(found.state, replace(found.seen, pieces=pieces), found.before)
    said = f"Is the new piece {player} or {piece.colour}? It is {player}'s throw."
    if isinstance(other, CannotSee) or other.gained != (player,) or other.lost:
        return CannotSee(
            code="boule.colour", said=said, rests_on=PLAY, player=player, evidence=found.evidence()
        )
    (thrown,) = other.new(player)
    read = [
        (f"It is {player}; {text.lower()}", reading)
        for text, reading in _sizes(other, player, thrown)
    ]
    return ask(other, "boule.colour", said, PLAY, read, f"It is {piece.colour}: take it back")


def _seen_twice(found: Look, new: Sequence[int]) -> Look | None:
    """Of several new pieces one is sure, and the others are in doubt and touch what lies there: the
    look with that one alone.
    """
    gaps = found.measured.gaps
    doubtful = [
        gaps[k].piece
        for k in new
        if min(gaps[k].piece.pose_probability, gaps[k].piece.colour_probability) < SURE
    ]
    rest = tuple(piece for piece in found.seen.pieces if piece not in doubtful)
    touching = all(
        any(clearance(piece.solid, other.solid).mm < TOUCHING_MM for other in rest)
        for piece in doubtful
    )
    if (
        len(new) - len(doubtful) != 1
        or not touching
        or any(piece.on is not None for piece in found.seen.pieces)
    ):
        return None
    once = look(found.state, replace(found.seen, pieces=rest), found.before)
    return once if isinstance(once, Look) and len(once.gained) == 1 and not once.lost else None


def _orders(found: Look, new: Sequence[tuple[str, int]]) -> list[Choice]:
    """In which order two pieces may have been thrown by the rules; one where that changes
    nothing.
    """
    lies = [
        f"the {colour} piece that {messages.where(found.measured.gaps[k])}" for colour, k in new
    ]
    choices, ends = [], []
    for first, second in ((0, 1), (1, 0)):
        one, other = (_sizes(found, *new[which])[0][1] for which in (first, second))
        ways = two_throws(one, other)
        for throw, then in ways:
            after = play(found.state, throw)
            told = f"First {lies[first]}, then {lies[second]}"
            told += f"; {label(after, then, then.layout).lower()}" * (len(ways) > 1)
            choices.append(Choice(told, (str(throw), str(then))))
            ends.append(play(after, then))
    if (
        len(choices) == 2
        and choices[0].moves[0] != choices[1].moves[0]
        and replace(ends[0], last=ends[1].last) == ends[1]
    ):
        return [
            Choice(
                f"One after the other, in whichever order: {lies[0]}, and {lies[1]}",
                choices[0].moves,
            )
        ]
    return choices


def _several_new(found: Look) -> Verdict:
    """More than one projectile more: throws are made one at a time; two may be told apart by who
    was to throw.
    """
    new = [(colour, k) for colour in dict.fromkeys(found.gained) for k in found.new(colour)]
    said = (
        f"{len(new)} new pieces lie in play ({', '.join(found.gained)}), and one is thrown at a"
        " time."
    )
    if (once := _seen_twice(found, [k for _, k in new])) is not None:
        (thrown,) = once.new(once.gained[0])
        read = [
            (f"One: {text.lower()}", reading)
            for text, reading in _sizes(once, once.gained[0], thrown)
        ]
        return ask(
            once,
            "boule.throw.two",
            f"{said} Is one of them a part of another piece?",
            PLAY,
            read,
            "Each is a piece: take them back",
        )
    choices = (
        _orders(found, new)
        if len(new) == 2 and not (found.lost or found.moved or found.carried)
        else []
    )
    if not choices:
        return Refused(
            code="boule.throw.two",
            said=f"{said} Take them back.",
            rests_on=PLAY,
            player=found.player,
            evidence=found.evidence(),
        )
    return Ambiguous(
        code="boule.throw.two",
        said=(
            f"{said}"
            f" {'Which was thrown first?' if len(choices) > 1 else 'Were they thrown one after the other?'}"  # noqa: E501
        ),
        rests_on=PLAY,
        player=found.player,
        choices=(*choices, Choice("Both at once: take them back", ())),
        until_moved=True,
        evidence=found.evidence(),
    )
