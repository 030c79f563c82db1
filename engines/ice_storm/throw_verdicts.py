"""Rule on a throw with one interpretation, or on a board that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from engines.errors import Violation
from engines.ice_storm import messages
from engines.ice_storm.matching import TableMatch, named_probability
from engines.ice_storm.moves import OFF, Change, Throw, Void
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.rules import DEPLOYMENT, play, turn, violation
from engines.ice_storm.sizes import expected_size, wrong_size_sentences
from engines.ice_storm.state import State
from engines.ice_storm.throw_readings import (
    Reading,
    RestingPlace,
    counted,
    leans_on_another,
    moved_piece_phrases,
    possible_changes,
    resting_places,
)
from engines.occlusion import NOT_SO
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, OutOfSync, Verdict, refusal
from table.cells import cell_at
from table.json_data import Evidence, JsonValue
from table.listing import cannot_be_read
from table.messages import Message, msg, phrases, sentences
from table.motion import CARRIED_MM
from table.observation import SURE, SeenPiece

UNREAD_MM = 40.0
"""Largest distance in mm between a recorded piece and an unread thing that may be it."""
MOST_DOUBTFUL = 4
"""Most doubtful squares of a place that is offered as an answer."""
UNEXPLAINED = 0.35
"""A piece is not ruled on as read if its pose is an unnamed one with this probability."""


def rule(match: TableMatch, throw: Throw, evidence: Evidence) -> Verdict:
    """Rule on a throw with only one interpretation."""
    state = match.state
    if wrong := violation(state, throw):
        return refusal(
            wrong, throw.player, (str(throw),), evidence, remaining_moves(state, throw, wrong)
        )
    after = play(state, throw)
    code = "storm.throw" if throw.place else "storm.throw.wasted"
    rests_on = (
        f"{DEPLOYMENT}; ruling ice_storm.7"
        if any(change.place is None for change in throw.changes)
        else DEPLOYMENT
    )
    message = sentences(messages.throw(state, throw), turn(after))
    return Accepted(
        code=code,
        message=message,
        rests_on=rests_on,
        player=throw.player,
        moves=(str(throw),),
        evidence=evidence,
    )


def remaining_moves(state: State, throw: Throw, wrong: Violation) -> tuple[str, ...]:
    """Return the moves that remain of a refused throw.

    It is picked up, and what it moved stays, unless the house rule says otherwise.
    """
    if wrong.code == "storm.throw.low":
        return (str(Void(throw.player, () if state.restores_after_low else throw.changes)),)
    return counted(throw) if throw.again else ()


def out_of_sync(match: TableMatch, what_to_do: str, evidence: Evidence | None = None) -> OutOfSync:
    """Return the verdict that table and record disagree."""
    message = sentences(msg("The table does not match the record."), what_to_do)
    player = match.state.next or match.state.attacker
    differences = (*match.differences, *wrong_size_sentences(match))
    return OutOfSync(
        code="storm.out_of_sync",
        message=message,
        player=player,
        differences=differences,
        evidence=evidence or {},
    )


def unread_piece_verdict(match: TableMatch) -> CannotSee | None:
    """CannotSee if a seemingly missing piece may be something unread; else None."""
    for piece in match.missing_pieces:
        if any(np.hypot(*(place - match.where_mm(piece))) < UNREAD_MM for place in match.unread_mm):
            return cannot_read(match)
    return None


def unread_newcomer(match: TableMatch) -> CannotSee | None:
    """CannotSee if a new or moved piece is not surely read; else None.

    It may be the throw of the player whose turn it is: nobody is accused of throwing out of turn,
    or too much.
    """
    unsure = [
        piece.base_mm
        for piece in match.new
        if piece.colour_probability < SURE
        or (piece.size_probability < SURE and expected_size(match, piece) is not None)
    ]
    unsure += [
        lies.base_mm
        for lies in (match.located_pieces[known.name] for known in match.moved_pieces)
        if lies.pose_probability < SURE
    ]
    if not unsure:
        return cannot_read(match) if match.unread_mm else None
    return _cannot_see(match, cannot_be_read(unsure[0]))


def may_have_other_pose(match: TableMatch, piece: SeenPiece) -> bool:
    """True if a piece may have a pose that neither its reading nor an alternative has.

    Whether a piece leans is decided by what is near it.
    """
    leans = piece.pose == "leaning" or leans_on_another(match, piece) is True
    return not leans and 1 - named_probability(piece) > UNEXPLAINED


def ask_unread_pose(
    match: TableMatch, player: str, piece: SeenPiece, read: Sequence[Reading]
) -> CannotSee:
    """Ask about a thrown or moved piece whose pose is hardly read."""
    choices = [Choice(text, counted(throw)) for text, throw in read]
    if not any(throw.again for _, throw in read):
        for text, changes in possible_changes(match):
            choices += _leaning_choices(match, player, text, changes)
    unread = _cannot_see(match, cannot_be_read(piece.base_mm))
    return _with_question(match, player, unread, resting_question(player), choices, piece)


def cannot_read(match: TableMatch) -> CannotSee:
    """Return the verdict if something on the board is unreadable, and it matters what it is."""
    place_mm = match.unread_mm[0] if match.unread_mm else match.where_mm(match.hidden[0])
    message = cannot_be_read(place_mm)
    if not match.unread_mm and match.hidden[0] in match.unseen:
        x, y = place_mm
        message = sentences(
            msg(
                "The camera cannot see {piece}, near ({n}, {n2}) mm, and could not see it before.",
                piece=match.hidden[0].name,
                n=f"{x:.0f}",
                n2=f"{y:.0f}",
            ),
            msg("Show it more clearly, or correct the record."),
        )
    return _cannot_see(match, message)


def _cannot_see(match: TableMatch, message: Message) -> CannotSee:
    return CannotSee(
        code="storm.unread",
        message=message,
        rests_on=DEPLOYMENT,
        player=match.state.next or match.state.attacker,
    )


def unread_throw(match: TableMatch, player: str) -> CannotSee:
    """Judge something new that cannot be read; ask about it if it may be the throw.

    It is asked about if only one thing is unreadable, and that is no recorded piece.
    """
    unread = cannot_read(match)
    x_mm, y_mm = match.unread_mm[0]
    cell = cell_at(match.board, match.unread_mm[0])
    if not cell or len(match.unread_mm) > 1 or unread_piece_verdict(match) is not None:
        return unread
    choices = [
        choice
        for text, changes in possible_changes(match)
        for choice in _throws_at(match, player, cell, text, changes)
    ]
    if match.before is None:  # it may have been there from the start
        choices.append(Choice(msg("No: it has not been thrown yet"), (), confirms_record=True))
    message = msg(
        "Is what lies at ({n}, {n2}) mm {player}'s throw?",
        n=f"{x_mm:.0f}",
        n2=f"{y_mm:.0f}",
        player=player,
    )
    return _with_question(match, player, unread, message, choices)


def _throws_at(
    match: TableMatch, player: str, cell: str, text: Message, changes: tuple[Change, ...]
) -> Iterator[Choice]:
    """Possible places of an unread throw at a cell, with these changes; `text` describes them."""
    yield from _leaning_choices(match, player, text, changes)
    throw = Throw(player, Place.parse(f"{cell}^"), changes)
    within = msg("{player}'s piece stands within {cell}", player=player, cell=cell)
    yield Choice(phrases(within, text), (str(throw),))
    for rest in _possible_resting_places(match):
        if rest.place != throw.place:
            moves = (str(Throw(player, rest.place, changes)),)
            yield Choice(phrases(rest.thrown_piece_text(player), text), moves)


def ask_thrown_or_moved(
    match: TableMatch, player: str, piece: SeenPiece, read: Sequence[Reading]
) -> CannotSee | None:
    """Ask whether `piece` was thrown, or is a recorded one that an unread throw moved.

    A recorded piece of the thrower's colour is hidden by something unread and new, which may be
    itself, or the throw. None if no such piece is hidden.
    """
    hidden = [
        one for one in match.hidden if one.colour == player and one.name in match.earlier_pieces
    ]
    settled = replace(match, nobody_threw=True)
    if not hidden or settled.new or len(settled.unread_mm) != 1:
        return None
    cell = cell_at(match.board, settled.unread_mm[0])
    choices = [Choice(text, counted(throw)) for text, throw in read]
    for text, changes in possible_changes(settled) if cell else ():
        lie = () if text else moved_piece_phrases(change for change in changes if change.place)
        choices += _throws_at(settled, player, cell, phrases(text, *lie), changes)
    return _with_question(
        match, player, cannot_read(match), resting_question(player), choices, piece
    )


def resting_question(player: str) -> Message:
    """Ask about a throw that is too close to call."""
    return msg("How did {player}'s throw come to rest? It is too close to call.", player=player)


def _leaning_choices(
    match: TableMatch, player: str, text: Message, changes: tuple[Change, ...]
) -> list[Choice]:
    """Choice that a throw with these changes, told by `text`, leans; none on an empty board."""
    leans = phrases(messages.leaning(player), text)
    return [Choice(leans, (str(Void(player, changes)),))] if match.pieces else []


def _with_question(
    match: TableMatch,
    player: str,
    unread: CannotSee,
    message: Message,
    choices: Iterable[Choice],
    piece: SeenPiece | None = None,
) -> CannotSee:
    """Return a verdict with a question, which people may also answer by an announcement."""
    otherwise = Choice(msg("It lies otherwise: correct this and enter how"), ())
    asks = Ambiguous(
        code="storm.unread",
        message=message,
        rests_on=DEPLOYMENT,
        player=player,
        choices=(*choices, otherwise, NOT_SO),
        evidence=evidence_of(match, piece),
        withdrawn_if_table_changes=True,
    )
    return replace(unread, asks=asks)


def _possible_resting_places(match: TableMatch) -> list[RestingPlace]:
    """Possible places of the hardly readable piece on the board, if they are informative."""
    piece = match.unread_reading
    poses = [one for one in (piece, *piece.rivals) if one.pose != "leaning"] if piece else []
    places = [match.touches(one).place for one in poses]
    return [
        rest
        for place in dict.fromkeys(places)
        if place and len(place.doubtful) <= MOST_DOUBTFUL
        for rest in resting_places(place)
        if rest.place
    ]


def evidence_of(match: TableMatch, piece: SeenPiece | None = None) -> dict[str, JsonValue]:
    """Evidence of a verdict as plain data."""
    document: dict[str, JsonValue] = {
        "moved": {name: str(place) for name, place in match.places.items()},
        "gone": [piece.name for piece in match.missing_pieces],
    }
    if piece is not None:
        document |= {
            "thrown": str(piece),
            "place": str(match.touches(piece).place or OFF),
            "touches": [*map(str, match.touches(piece).squares)],
        }
    return document


def ask_colour(
    match: TableMatch,
    player: str,
    message: str,
    choices: Iterable[Choice],
    piece: SeenPiece | None = None,
) -> Ambiguous:
    """Ask for a piece's colour if the thrown piece may be misread."""
    return Ambiguous(
        code="storm.colour",
        message=message,
        rests_on=DEPLOYMENT,
        player=player,
        choices=tuple(choices),
        evidence=evidence_of(match, piece),
    )


def missing_beside_board(match: TableMatch, thrown: Counter[str]) -> list[Piece]:
    """Pieces that are missing from the board and do not lie beside it.

    `thrown` are colours of pieces that lie there for another reason.
    """
    outside = match.new_outside_colours - thrown
    lost: list[Piece] = []
    for piece in match.missing_pieces:
        if outside[piece.colour] > 0:
            outside[piece.colour] -= 1
        else:
            lost.append(piece)
    return lost


def ask_leans_on_recorded(match: TableMatch, player: str) -> Ambiguous | None:
    """Ask whether a piece is a throw that leans on the recorded one, and hides it.

    A recorded piece of the thrower's colour surely did not lean, and one that surely leans is read
    slightly off its place. None without such a piece.
    """
    leaning = [
        (piece, now)
        for piece in match.pieces
        if piece.colour == player
        and (was := match.earlier_pieces.get(piece.name)) is not None
        and (now := match.located_pieces.get(piece.name)) is not None
        and was.pose != "leaning" == now.pose
        and min(was.pose_probability, now.pose_probability) >= SURE
        and np.hypot(*(now.base_mm - was.base_mm)) > CARRIED_MM
    ]
    if len(leaning) != 1:
        return None
    piece, now = leaning[0]
    x_mm, y_mm = now.base_mm
    return Ambiguous(
        code="storm.unread",
        message=msg(
            "Does {player}'s throw lean on {piece}, at ({n}, {n2}) mm?",
            player=player,
            piece=piece.name,
            n=f"{x_mm:.0f}",
            n2=f"{y_mm:.0f}",
        ),
        rests_on=DEPLOYMENT,
        player=player,
        choices=(
            Choice(messages.leaning(player), (str(Void(player)),)),
            Choice(
                msg("No: nothing was thrown, it is {piece}", piece=piece.name),
                (),
                confirms_record=True,
            ),
            NOT_SO,
        ),
        evidence=evidence_of(match),
        withdrawn_if_table_changes=True,
    )
