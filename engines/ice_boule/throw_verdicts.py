"""Judge a throw beside a target in play: what is new, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engines.errors import Violation
from engines.ice_boule import messages
from engines.ice_boule.matching import TableMatch, match_table
from engines.ice_boule.rules import PLAY, SETUP, SIZES, play, turn
from engines.ice_boule.stack import nested, uncovered
from engines.ice_boule.throws import Reading, ask, label, rule, two_throws
from engines.verdict import Ambiguous, CannotSee, Choice, Refused, Verdict, Waiting, refusal
from table.clearance import clearance
from table.listing import cannot_be_read
from table.messages import Message, in_a_row, msg, phrases, sentences
from table.observation import SURE, Observation, SeenPiece

TOUCHING_MM = 3.0
"""Largest distance in mm between readings of pieces that may touch."""
LIKELY_SIZE = 0.9
"""Least probability of a wrong size at which people are asked: nearly all throws have the player's
size of this end.
"""
PUT_BACK = msg("It was taken away by hand: put it back")


def judge_throw(found: TableMatch | CannotSee) -> Verdict:
    """The verdict on a throw beside a target that is in play."""
    if isinstance(found, CannotSee):
        return found
    strangers = [
        gap.piece for gap in found.measured.gaps if gap.piece.colour not in found.state.players
    ]
    if strangers:
        return _stranger(found, strangers[0])
    if not found.gained:
        return _no_new_piece_verdict(found)
    if len(found.gained) == 1:
        return _one_new(found, found.gained[0])
    return _several_new(found)


def _stranger(found: TableMatch, piece: SeenPiece) -> Verdict:
    """Judge a piece in play of a colour that is not in play."""
    if piece.colour_probability < SURE:
        return _unsure_newcomer(found, piece)
    message = sentences(
        msg(
            "There is a {colour} piece in play, but nobody plays {player}.",
            colour=piece.colour,
            player=piece.colour,
        ),
        msg("Take it away."),
    )
    return refusal(
        Violation("boule.throw.colour", PLAY, message), found.player, (), found.evidence()
    )


def _no_new_piece_verdict(found: TableMatch) -> Verdict:
    """Judge a table without a new projectile.

    Nothing happened, a throw left the play area, or a piece was moved by hand.
    """
    state, player = found.state, found.player
    if found.lost:
        return _missing_piece_verdict(found)
    if found.surely_moved and not state.undeclared:
        return _moved_piece_verdict(found)
    if found.seen.unread_mm and not state.undeclared:
        # It may be the thrown piece: people are told, and it is recorded.
        message = sentences(*map(cannot_be_read, found.seen.unread_mm), turn(state))
        return _cannot_see(found, "boule.unread", message)
    # Nobody throws before all sizes are declared, and no distance depends on the target yet.
    return Waiting(
        code="boule.throw",
        message=sentences(turn(state), *map(cannot_be_read, found.seen.unread_mm)),
        rests_on=PLAY,
        player=player,
        evidence=found.evidence(),
        as_recorded=True,
    )


def _missing_piece_verdict(found: TableMatch) -> Verdict:
    """Judge a table with pieces no longer in play."""
    player, gone = found.player, in_a_row(found.lost, "colour")
    knocked = msg("Was it knocked out by {player}'s throw?", player=player)
    if _are_missing_outside(found):
        message = sentences(msg("Out of play: {players}.", players=gone), knocked)
        return ask(found, "boule.vanished", message, PLAY, [_out_of_play_reading(found)], PUT_BACK)
    missing = msg("Missing from play: {players}.", players=gone)
    nests, seen = _nested_readings(found, found.lost, None)
    asked = ask(
        found,
        "boule.vanished",
        sentences(missing, knocked),
        PLAY,
        [_out_of_play_reading(found), *nests],
        PUT_BACK,
    )
    if seen is not found.seen:
        asked = replace(asked, table=seen)
    show = msg("If it is hidden, show it; if it was taken away, put it back.")
    cannot_see = _cannot_see(found, "boule.vanished", sentences(missing, show))
    return replace(cannot_see, asks=asked if isinstance(asked, Ambiguous) else None)


def _moved_piece_verdict(found: TableMatch) -> Verdict:
    """Judge a table with moved pieces.

    A throw moved them and is out, or is one of them, or they were moved by hand.
    """
    player, count = found.player, len(found.surely_moved)
    swapped = [
        (
            msg(
                "{player} threw the piece that {text}, and another {player2} piece left the"
                " play area",
                player=player,
                text=messages.location(gap),
                player2=player,
            ),
            reading,
        )
        for k, gap in enumerate(found.measured.gaps)
        if gap.index in found.surely_moved and gap.piece.colour == player
        for _, reading in _sizes(found, player, k)
    ]
    moved = msg(
        (
            "{n} piece moved, but there is no new one in play."
            if count == 1
            else "{n} pieces moved, but there is no new one in play."
        ),
        n=count,
    )
    nests, seen = _nested_readings(found, (player,), player)
    asked = ask(
        found,
        "boule.moved",
        sentences(moved, msg("What happened?")),
        PLAY,
        [_out_of_play_reading(found), *swapped, *nests],
        msg("None of these: put the pieces back, or separate those that touch"),
    )
    return asked if seen is found.seen else replace(asked, table=seen)


def _out_of_play_reading(found: TableMatch) -> tuple[Message, Reading]:
    """The reading in which the throw left the play area."""
    return (
        msg("{player}'s throw left the play area", player=found.player),
        Reading(found, found.player, None, None),
    )


def _one_new(found: TableMatch, colour: str) -> Verdict:
    """Judge one new projectile of a colour: a throw by its player."""
    (thrown,) = found.new_places(colour)
    piece = found.measured.gaps[thrown].piece
    if colour != found.player and piece.colour_probability < SURE:
        return _unsure_newcomer(found, piece)
    unsure = [gap.piece for gap in found.measured.gaps if gap.piece.colour_probability < SURE]
    if colour != found.player and unsure:  # it may be the throw of the player whose turn it is
        return _cannot_read(found, unsure[0])
    if found.lost and not _are_missing_outside(found):
        return _missing_others_verdict(found, colour, thrown)
    if found.measured.doubts:
        return ask(
            found,
            "boule.doubt",
            sentences(*found.measured.doubts, msg("Did the camera read it correctly?")),
            PLAY,
            _camera_readings(found, thrown) + _beside_target_readings(found, thrown),
            msg("No: show the pieces more clearly"),
        )
    read = _sizes(found, colour, thrown)
    likely_another = LIKELY_SIZE <= piece.size_probability < SURE
    if likely_another and found.state.size(colour) not in (None, piece.size):
        message = msg("What size is the piece that {player} threw?", player=colour)
        not_so = msg("A {size} piece: take it back", size=piece.size)
        return ask(found, "boule.size", message, PLAY, read, not_so)
    if len(read) > 1:
        message = sentences(
            msg("What size is the piece that {player} threw?", player=colour),
            msg("This sets {player}'s size for this end.", player=colour),
        )
        return ask(
            found, "boule.size", message, SETUP, read, msg("The piece was not thrown: take it back")
        )
    return rule(read[0][1])


def _missing_others_verdict(found: TableMatch, colour: str, thrown: int) -> Verdict:
    """Judge a new piece with others missing: it knocked them out, or hides them."""
    gone = in_a_row(found.lost, "colour")
    knocked = [
        (msg("{text}; knocked out of play: {players}", text=text, players=gone), reading)
        for text, reading in _sizes(found, colour, thrown)
    ]
    if (covered := _covers(found, thrown)) is not None:
        other, again = covered
        knocked += [
            (msg("{text}; under it on the target: {players}", text=text, players=gone), reading)
            for text, reading in _sizes(other, colour, again)
        ]
        seen = other.seen
    else:
        nests, seen = _nested_readings(found, found.lost, colour)
        knocked += nests
    message = sentences(
        msg(
            "There is a new {colour} piece in play, but these are missing: {players}.",
            colour=colour,
            players=gone,
        ),
        msg("Were they knocked out of the play area?"),
    )
    hidden = msg("Still in play but hidden, or moved by hand: fix it")
    asked = ask(found, "boule.vanished", message, PLAY, knocked, hidden)
    return asked if seen is found.seen else replace(asked, table=seen)


def _covers(found: TableMatch, thrown: int) -> tuple[TableMatch, int] | None:
    """Return the match and piece if a piece on the target hides all missing ones; else None.

    The missing ones then stand on the target as before.
    """
    if found.before is None or not found.measured.gaps[thrown].on_target:
        return None
    target, top = found.measured.target, found.measured.gaps[thrown].piece
    other = match_table(found.state, uncovered(found.seen, found.before, target, top), found.before)
    if isinstance(other, CannotSee) or other.lost or other.gained != found.gained:
        return None
    (again,) = other.new_places(top.colour)
    return other, again


def _nested_readings(
    found: TableMatch, colours: Sequence[str], came: str | None
) -> tuple[list[tuple[Message, Reading]], Observation]:
    """Return the throw with the unseen pieces of these colours nested with the fallen target.

    A piece of the colour `came` is then the only new one; with None the throw is out. Empty if that
    does not explain the table. The observation includes the unseen pieces.
    """
    nothing: list[tuple[Message, Reading]] = []
    if found.before is None:
        return nothing, found.seen
    seen = nested(found.seen, found.before, found.measured.target, colours)
    other = seen and match_table(found.state, seen, found.before)
    if not isinstance(other, TableMatch) or other.lost or other.gained != ((came,) if came else ()):
        return nothing, found.seen
    ways = _sizes(other, came, other.new_places(came)[0]) if came else [_out_of_play_reading(other)]
    unseen = in_a_row(colours, "colour")
    return [
        (msg("{text}; nested with the target: {players}", text=text, players=unseen), reading)
        for text, reading in ways
    ], other.seen


def _camera_readings(found: TableMatch, thrown: int) -> list[tuple[str, Reading]]:
    """Return the throw if the camera is right.

    A piece read as standing on the target is then nearer than any that does not.
    """
    sure = _rematch(found, thrown, _doubtful_on_target(found), pose_probability=1.0)
    return [
        (msg("The camera is right: a {size} piece", size=reading.size), reading)
        for _, reading in _sizes(sure[0], found.measured.gaps[thrown].piece.colour, sure[1])
    ]


def _beside_target_readings(found: TableMatch, thrown: int) -> list[tuple[str, Reading]]:
    """The throw if a piece that may stand on the target lies beside it instead."""
    doubtful = _doubtful_on_target(found)
    if len(doubtful) != 1:
        return []
    other, beside = _rematch(found, thrown, doubtful, on=None)
    return [
        (msg("It is not standing on the target: a {size} piece", size=reading.size), reading)
        for _, reading in _sizes(other, found.measured.gaps[thrown].piece.colour, beside)
    ]


def _doubtful_on_target(found: TableMatch) -> list[SeenPiece]:
    """The pieces that may stand on the target, or not."""
    return [gap.piece for gap in found.measured.gaps if gap.on_target and gap.reach_mm]


def _rematch(
    found: TableMatch, thrown: int, changed: Sequence[SeenPiece], **otherwise: Any
) -> tuple[TableMatch, int]:
    """Return the match if the changed pieces had other values, and the thrown piece in it."""
    colour, index = found.measured.gaps[thrown].piece.colour, found.measured.gaps[thrown].index
    pieces = tuple(
        replace(piece, **otherwise) if any(piece is one for one in changed) else piece
        for piece in found.seen.pieces
    )
    other = match_table(found.state, replace(found.seen, pieces=pieces), found.before)
    assert isinstance(other, TableMatch), "the target is where it was"
    new = other.new_places(colour)
    return other, next((k for k in new if other.measured.gaps[k].index == index), new[0])


def _sizes(found: TableMatch, player: str, thrown: int) -> list[tuple[str, Reading]]:
    """Return the throw in each possible size of the piece.

    As read if sure, else the player's size of this end, else any.
    """
    piece = found.measured.gaps[thrown].piece
    known = found.state.size(player)
    if piece.size_probability >= SURE:
        sizes = [piece.size]
    elif known:
        sizes = [known]
    else:
        sizes = list(dict.fromkeys([piece.size, *SIZES]))
    return [
        (msg("A {size} piece", size=size), Reading(found, player, thrown, size)) for size in sizes
    ]


def _are_missing_outside(found: TableMatch) -> bool:
    """True if the missing pieces match those that came to lie outside, by colour."""
    if found.before is None:
        return False
    before, seen = found.before.off_board, found.seen.off_board
    more = {
        colour: sum(p.colour == colour for p in seen) - sum(p.colour == colour for p in before)
        for colour in found.lost
    }
    return all(more[colour] == found.lost.count(colour) for colour in found.lost)


def _unsure_newcomer(found: TableMatch, piece: SeenPiece) -> Verdict:
    """Judge another player's throw with an unsure colour, which may be the player's own."""
    player = found.player
    pieces = tuple(
        replace(each, colour=player) if each is piece else each for each in found.seen.pieces
    )
    other = match_table(found.state, replace(found.seen, pieces=pieces), found.before)
    message = sentences(
        msg("Is the new piece {player} or {player2}?", player=player, player2=piece.colour),
        msg("It is {player}'s throw.", player=player),
    )
    if isinstance(other, CannotSee) or other.gained != (player,) or other.lost:
        return _cannot_see(found, "boule.colour", message)
    (thrown,) = other.new_places(player)
    read = [
        (msg("It is {player}; a {size} piece", player=player, size=reading.size), reading)
        for _, reading in _sizes(other, player, thrown)
    ]
    return ask(
        other,
        "boule.colour",
        message,
        PLAY,
        read,
        msg("It is {player}: take it back", player=piece.colour),
    )


def _with_one_new_piece(found: TableMatch, new: Sequence[int]) -> TableMatch | None:
    """Return the match with one new piece only, if the others are doubtful and touch other pieces.

    None unless exactly one of several new pieces is sure.
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
    once = match_table(found.state, replace(found.seen, pieces=rest), found.before)
    return (
        once if isinstance(once, TableMatch) and len(once.gained) == 1 and not once.lost else None
    )


def _several_new(found: TableMatch) -> Verdict:
    """Judge several new projectiles: throws are made one at a time.

    Two may be distinguished by whose turn it was.
    """
    new = [(colour, k) for colour in dict.fromkeys(found.gained) for k in found.new_places(colour)]
    message = msg(
        "There are {n} new pieces in play ({text}), but only one is thrown at a time.",
        n=len(new),
        text=in_a_row(found.gained, "colour"),
    )
    if (once := _with_one_new_piece(found, [k for _, k in new])) is not None:
        (thrown,) = once.new_places(once.gained[0])
        read = [
            (msg("There is only one: a {size} piece", size=reading.size), reading)
            for _, reading in _sizes(once, once.gained[0], thrown)
        ]
        return ask(
            once,
            "boule.throw.two",
            sentences(message, msg("Is one of them part of another piece?")),
            PLAY,
            read,
            msg("Each is a separate piece: take them back"),
        )
    choices = (
        _orders(found, new)
        if len(new) == 2 and not (found.lost or found.moved or found.surely_moved)
        else []
    )
    if not choices and (unsure := _unsure_of_several(found, new, message)) is not None:
        return unsure
    if not choices:
        return Refused(
            code="boule.throw.two",
            message=sentences(message, msg("Take them back.")),
            rests_on=PLAY,
            player=found.player,
            evidence=found.evidence(),
        )
    return Ambiguous(
        code="boule.throw.two",
        message=sentences(
            message,
            msg("Which was thrown first?")
            if len(choices) > 1
            else msg("Were they thrown one after the other?"),
        ),
        rests_on=PLAY,
        player=found.player,
        choices=(*choices, Choice(msg("Both at once: take them back"), ())),
        withdrawn_if_table_changes=True,
        evidence=found.evidence(),
    )


def _unsure_of_several(
    found: TableMatch, new: Sequence[tuple[str, int]], message: Message
) -> Verdict | None:
    """Judge an unsure new piece: its colour may be that of a missing one.

    None if all colours and sizes are sure.
    """
    read = []
    unsure = [
        piece for _, k in new if (piece := found.measured.gaps[k].piece).colour_probability < SURE
    ]
    for piece in unsure:
        for colour in dict.fromkeys((*found.lost, *found.state.players)):
            right = replace(piece, colour=colour, colour_probability=1.0)
            pieces = tuple(right if one is piece else one for one in found.seen.pieces)
            other = match_table(found.state, replace(found.seen, pieces=pieces), found.before)
            if isinstance(other, CannotSee) or len(other.gained) != 1 or other.lost:
                continue
            (thrown,) = other.new_places(other.gained[0])
            text = msg(
                "The {colour} piece is {colour2}; {player} threw the other",
                colour=piece.colour,
                colour2=colour,
                player=other.gained[0],
            )
            read += [(text, reading) for _, reading in _sizes(other, other.gained[0], thrown)]
    legal = [(text, reading) for text, reading in read if reading.violation is None]
    if legal:
        asked = sentences(message, msg("Is the colour of one of them misread?"))
        both = msg("Both at once: take them back")
        return ask(found, "boule.throw.two", asked, PLAY, legal, both)
    unsure += [
        piece for _, k in new if (piece := found.measured.gaps[k].piece).size_probability < SURE
    ]
    return _cannot_read(found, unsure[0]) if unsure else None


def _cannot_read(found: TableMatch, piece: SeenPiece) -> CannotSee:
    return _cannot_see(found, "boule.unread", cannot_be_read(piece.base_mm))


def _cannot_see(found: TableMatch, code: str, message: Message) -> CannotSee:
    return CannotSee(
        code=code, message=message, rests_on=PLAY, player=found.player, evidence=found.evidence()
    )


def _orders(found: TableMatch, new: Sequence[tuple[str, int]]) -> list[Choice]:
    """Return the legal orders of throwing two pieces; one if the order changes nothing."""
    lies = [(colour, messages.location(found.measured.gaps[k])) for colour, k in new]
    choices, ends = [], []
    for first, second in ((0, 1), (1, 0)):
        one, other = (_sizes(found, *new[which])[0][1] for which in (first, second))
        ways = two_throws(one, other)
        for throw, then in ways:
            after = play(found.state, throw)
            sequence = msg(
                "First the {colour} piece that {text}, then the {colour2} piece that {text2}",
                **_two(lies[first], lies[second]),
            )
            order = label(after, then, then.layout) if len(ways) > 1 else ""
            choices.append(Choice(phrases(sequence, order), (str(throw), str(then))))
            ends.append(play(after, then))
    if (
        len(choices) == 2
        and choices[0].moves[0] != choices[1].moves[0]
        and replace(ends[0], last=ends[1].last) == ends[1]
    ):
        sequence = msg(
            "One after the other, in either order: the {colour} piece that {text}, and the"
            " {colour2} piece that {text2}",
            **_two(*lies),
        )
        return [Choice(sequence, choices[0].moves)]
    return choices


def _two(one: tuple[str, Message], other: tuple[str, Message]) -> dict[str, object]:
    """Fields of a sentence on two pieces, each with its colour and place."""
    return dict(zip(("colour", "text", "colour2", "text2"), (*one, *other), strict=True))
