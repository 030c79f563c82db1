"""Between ends: the table is cleared, then the target is thrown and stood upright in place."""

from __future__ import annotations

import numpy as np

from engines.ice_boule.announcements import ask_unseen_target, unseen_targets
from engines.ice_boule.changes import compare
from engines.ice_boule.matching import GUESSED_MM
from engines.ice_boule.moves import Target
from engines.ice_boule.rules import SETUP, play, turn, violation
from engines.ice_boule.state import State
from engines.occlusion import NONE_OF_THESE
from engines.verdict import Accepted, Ambiguous, Choice, Verdict, Waiting
from table.json_data import Evidence
from table.messages import Message, msg, sentences
from table.observation import SURE, Observation, SeenPiece


def judge_target(state: State, seen: Observation, before: Observation | None) -> Verdict:
    """Judge a table between ends: whether it is cleared, and whether the target was thrown."""
    starter = state.starter
    if (own := _own_target(state, seen, before)) is not None:
        return own
    if any(piece.colour in state.players for piece in seen.pieces):
        differences = _new_piece_sentences(seen, before)
        return Waiting(
            code="boule.target",
            message=sentences(_clear(state), *differences),
            rests_on=SETUP,
            player=starter,
            differences=differences,
            asks=_ask_unseen_target(state, before) if differences else None,
        )
    lying = [
        (index, piece)
        for index, piece in enumerate(seen.pieces)
        if piece.colour not in state.players
    ]
    if len(lying) != 1:
        differences = _new_piece_sentences(seen, before)
        wanted = (
            msg("Leave one target on the table.")
            if lying
            else msg("{player} chooses the starting line and throws the target.", player=starter)
        )
        return Waiting(
            code="boule.target",
            message=sentences(wanted, *differences),
            rests_on=SETUP,
            player=starter,
            differences=differences,
            as_recorded=not lying,
        )
    ((index, target),) = lying
    if before and _is_last_target(index, seen, before):
        message = msg(
            "The {colour} piece is the last end's target; {player} throws the next one.",
            colour=target.colour,
            player=starter,
        )
        return Waiting(
            code="boule.target", message=message, rests_on=SETUP, player=starter, as_recorded=True
        )
    return _thrown_target(state, target)


def _thrown_target(state: State, target: SeenPiece) -> Verdict:
    """Judge the one target that appeared: whether it stands upright."""
    player = state.starter
    if target.pose != "upright" and target.pose_probability >= SURE:
        message = msg("Stand the {colour} target upright where it lies.", colour=target.colour)
        return Waiting(code="boule.target", message=message, rests_on=SETUP, player=player)
    move = str(Target(target.colour))
    evidence: Evidence = {"target": str(target), "base_mm": target.base_mm.round(3).tolist()}
    if min(target.colour_probability, target.pose_probability) < SURE:
        message = msg(
            "Does a {colour} target stand upright on the table? The camera is not sure.",
            colour=target.colour,
        )
        choices = (
            Choice(msg("A {colour} target stands upright", colour=target.colour), (move,)),
            Choice(msg("Not yet"), ()),
        )
        return Ambiguous(
            code="boule.target",
            message=message,
            rests_on=SETUP,
            player=player,
            choices=choices,
            evidence=evidence,
        )
    message = sentences(
        msg("The {colour} target is upright.", colour=target.colour),
        turn(play(state, Target(target.colour))),
    )
    return Accepted(
        code="boule.target",
        message=message,
        rests_on=SETUP,
        player=player,
        moves=(move,),
        evidence=evidence,
    )


def _is_last_target(index: int, seen: Observation, before: Observation) -> bool:
    """True if a piece is where the last end's target was, or was guessed to be."""
    changes = compare(before, seen)
    if index not in changes.same:
        return False
    was = before.pieces[changes.same[index]]
    if was.place_sigma_mm > GUESSED_MM:
        return bool(np.hypot(*(seen.pieces[index].base_mm - was.base_mm)) <= GUESSED_MM)
    return index not in changes.moved


def _clear(state: State) -> Message:
    return msg("Clear the table; then {player} throws the target.", player=state.starter)


def _own_target(state: State, seen: Observation, before: Observation | None) -> Waiting | None:
    """Return why the only piece on the table cannot be the target; None if it can.

    It cannot if it has a player's colour and was not there at the last end. Nobody is accused: it
    may be the Centrifuge of a Catapult under construction.
    """
    changes = compare(before, seen) if before else None
    if len(seen.pieces) != 1 or (changes and changes.still):
        return None
    (piece,) = seen.pieces
    wrong = violation(state, Target(piece.colour))
    if wrong is None or wrong.code != "boule.target.colour" or piece.colour_probability < SURE:
        return None
    message = sentences(wrong.message, _clear(state))
    return Waiting(
        message=message,
        differences=_new_piece_sentences(seen, before),
        asks=_ask_unseen_target(state, before),
        code=wrong.code,
        rests_on=wrong.clause,
        player=state.starter,
    )


def _ask_unseen_target(state: State, before: Observation | None) -> Ambiguous:
    """Ask whether the target stands unseen, if something else than a target appeared.

    The last end's target is listed first, as the likeliest to be thrown again.
    """
    last = [
        piece.colour
        for piece in (before.pieces if before else ())
        if piece.colour not in state.players
    ]
    message = msg(
        "Has {player} thrown the target, and is it standing where the camera cannot see it?",
        player=state.starter,
    )
    choices = (*unseen_targets(state, next(iter(last), None)), NONE_OF_THESE)
    return ask_unseen_target(state, message, choices)


def _new_piece_sentences(seen: Observation, before: Observation | None) -> tuple[Message, ...]:
    """Describe the pieces that were not there at the last verdict, one sentence each."""
    pieces = (
        [seen.pieces[index] for index in compare(before, seen).appeared] if before else seen.pieces
    )
    return tuple(
        msg(
            "A {colour} piece lies at ({mm}, {mm2}) mm.",
            colour=piece.colour,
            mm=f"{piece.base_mm[0]:.0f}",
            mm2=f"{piece.base_mm[1]:.0f}",
        )
        for piece in pieces
    )
