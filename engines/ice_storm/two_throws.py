"""Judge boards with more than one new piece.

Two players threw in turn, somebody threw two, one was read twice, or one is a recorded piece that
moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from engines.errors import Violation
from engines.ice_storm.matching import TableMatch
from engines.ice_storm.messages import piece_names
from engines.ice_storm.moves import Throw
from engines.ice_storm.rules import DEPLOYMENT, DOUBT, play, turn, violation
from engines.ice_storm.sizes import expected_size
from engines.ice_storm.throw_readings import (
    LEAN_MM,
    counted,
    leans_on_another,
    other_thrown_piece_readings,
    readings_in_colour,
    readings_of,
    thrown_resting_places,
)
from engines.ice_storm.throw_verdicts import (
    ask_colour,
    evidence_of,
    missing_beside_board,
    unread_newcomer,
    unread_piece_verdict,
)
from engines.occlusion import NOT_SO
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Refused, Verdict, refusal
from table.clearance import clearance
from table.messages import any_of, msg, phrases, sentences
from table.observation import SURE, SeenPiece

SURELY_ANOTHERS = 0.9999
"""Least colour probability for telling somebody that they threw out of turn."""


def judge_two_throws(match: TableMatch, player: str) -> Verdict:
    """Judge two throws in turn, distinguished by whose turn it was.

    Applies only if neither moved anything.
    """
    first, second = sorted(match.new, key=lambda piece: piece.colour != player)
    if (unsure := ask_moved_and_misread(match, [second], player)) is not None:
        return unsure
    if (
        match.missing_pieces
        or match.places
        or any(_doubtful(match, piece) for piece in (first, second))
    ):
        return _two_at_once(match, first, second)
    choices = []
    for rests in product(*(thrown_resting_places(match, piece) for piece in (first, second))):
        message, moves, state = [], [], match.state
        for piece, rest in zip((first, second), rests, strict=True):
            throw = Throw(piece.colour, rest.place)
            if violation(state, throw) is not None:
                return _two_at_once(match, first, second)
            state = play(state, throw)
            message.append(rest.thrown_piece_text(piece.colour))
            moves.append(str(throw))
        choices.append(Choice(phrases(*message), tuple(moves)))
    names = {"player": first.colour, "player2": second.colour}
    evidence = evidence_of(match, second)
    if len(choices) > 1:
        return Ambiguous(
            code="storm.too_close",
            message=msg(
                "How did {player}'s and {player2}'s throws come to rest? It is too close to call.",
                **names,
            ),
            rests_on=f"{DEPLOYMENT}; {DOUBT}",
            player=player,
            choices=(*choices, NOT_SO),
            evidence=evidence,
        )
    both = sentences(msg("{player} and then {player2} threw.", **names), turn(state))
    (threw,) = choices
    return Accepted(
        code="storm.throw",
        message=both,
        rests_on=DEPLOYMENT,
        player=player,
        moves=threw.moves,
        evidence=evidence,
    )


def _doubtful(match: TableMatch, piece: SeenPiece) -> bool:
    """True if a piece's throw may be another one than it seems, or count differently."""
    return (
        piece.colour_probability < SURE
        or bool(expected_size(match, piece))
        or leans_on_another(match, piece) is not False
        or any(other_thrown_piece_readings(match, piece.colour, piece))
    )


def _two_at_once(match: TableMatch, first: SeenPiece, second: SeenPiece) -> Refused | CannotSee:
    message = msg(
        "A new {colour} piece and a new {colour2} piece lie on the board, but only one is"
        " thrown at a time.",
        colour=first.colour,
        colour2=second.colour,
    )
    return refuse_new_pieces(match, message)


def ask_moved_and_misread(
    match: TableMatch, pieces: Sequence[SeenPiece], player: str
) -> Ambiguous | CannotSee | None:
    """Ask whether a new piece is a recorded one, moved, with its colour misread.

    Asked if two pieces are new and a recorded one of another colour is missing. Not asked if the
    colour of `pieces` is sure and the missing piece lies beside the board. A moved piece of their
    colour may also be the misread one if its colour is unsure: then one of `pieces` is that piece.
    """
    colour = pieces[0].colour
    lost = [gone for gone in (*match.missing_pieces, *match.hidden) if gone.colour != colour]
    if not missing_beside_board(match, Counter()):
        pieces = [piece for piece in pieces if piece.colour_probability < SURELY_ANOTHERS]
    if not lost or not pieces:
        return None
    alike = (
        match.located_pieces[known.name] for known in match.moved_pieces if known.colour == colour
    )
    pieces = [*pieces, *(piece for piece in alike if piece.colour_probability < SURE)]
    if (unread := unread_piece_verdict(match)) is not None:
        return unread
    read = [
        reading
        for piece in pieces
        for was in sorted({gone.colour for gone in lost})
        for reading in readings_in_colour(match, piece, was, player)
    ]
    if not read:
        return None
    message = msg(
        "There seems to be a new {colour} piece. Was {pieces} moved instead?",
        colour=colour,
        pieces=any_of((gone.name for gone in lost), "piece"),
    )
    choices = [Choice(text, counted(throw)) for text, throw in read]
    choices.append(
        Choice(msg("No: {player} threw two; take both back", player=player), ())
        if colour == player
        else Choice(msg("It is {player}: take both back", player=colour), ())
    )
    return ask_colour(match, player, message, choices, pieces[0])


def ask_several_misread(match: TableMatch, player: str) -> Ambiguous | None:
    """Ask whether the new pieces of one colour are recorded ones of another, moved.

    Asked if as many of the other colour are missing, and the player has one new piece. Pieces of
    one colour that fall over in one light are misread together.
    """
    strangers = [piece for piece in match.new if piece.colour != player]
    colours, gone = (
        {piece.colour for piece in strangers},
        {piece.colour for piece in match.missing_pieces},
    )
    if not (len(colours) == len(gone) == 1 < len(strangers) == len(match.missing_pieces)):
        return None
    (colour,), (was,) = colours, gone
    other = match
    for piece in strangers:
        other = other.with_reading(piece, replace(piece, colour=was, colour_probability=1.0))
    if other.missing_pieces or [piece.colour for piece in other.new] != [player]:
        return None
    message = msg(
        "There seem to be {n} new {colour} pieces. Were {pieces} moved instead?",
        n=len(strangers),
        colour=colour,
        pieces=piece_names(match.missing_pieces),
    )
    choices = [
        Choice(text, counted(throw)) for text, throw in readings_of(other, player, other.new[0])
    ]
    choices.append(Choice(msg("No: they are {colour}; take them back", colour=colour), ()))
    return ask_colour(match, player, message, choices, strangers[0])


def with_one_new_piece(match: TableMatch, player: str) -> TableMatch | None:
    """Return the table with only the player's one new piece, if all other new ones are doubtful.

    They touch pieces that are surely there; else None.
    """
    doubtful = [
        piece for piece in match.new if min(piece.pose_probability, piece.colour_probability) < SURE
    ]
    sure, there = (
        [piece for piece in pieces if piece not in doubtful]
        for pieces in (match.new, match.sure_pieces)
    )
    if [piece.colour for piece in sure] != [player]:
        return None
    if any(
        all(clearance(piece.solid, other.solid).mm > LEAN_MM for other in there)
        for piece in doubtful
    ):
        return None
    pieces = tuple(piece for piece in match.observed_pieces if piece not in doubtful)
    return TableMatch(match.state, replace(match.now, pieces=pieces), match.before, match.board)


def refuse_new_pieces(match: TableMatch, message: str) -> Refused | CannotSee:
    """Refuse all new pieces, if they are read; `message` says why they are taken back."""
    if (unread := unread_newcomer(match)) is not None:
        return unread
    tried = tuple(str(Throw(piece.colour, match.touches(piece).place)) for piece in match.new)
    return refusal(
        Violation("storm.throw.two", DEPLOYMENT, sentences(message, msg("Take them back."))),
        match.state.next,
        tried,
        evidence_of(match),
    )
