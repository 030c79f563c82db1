"""Judge a throw that was seen: the places of its piece and of moved ones.

A throw is legal or repeated, decided or asked about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TypeVar

from engines.errors import Violation
from engines.ice_storm import messages
from engines.ice_storm.matching import TableMatch
from engines.ice_storm.moves import OTHER_SIZE, Change, Moved, Throw, Void
from engines.ice_storm.place import Piece
from engines.ice_storm.rules import DEPLOYMENT, DOUBT, LOW_HAND, play, turn, violation
from engines.ice_storm.sizes import (
    CODE,
    ONE_SIZE,
    expected_size,
    is_size_agreed,
    with_size,
    wrong_size_sentences,
)
from engines.ice_storm.throw_readings import (
    Reading,
    counted,
    lost_or_hidden_readings,
    lying_readings,
    moved_lost_piece_readings,
    other_thrown_piece_readings,
    possible_changes,
    readings_in_colour,
    readings_of,
    resting_places,
    thrown_moved_piece_readings,
)
from engines.ice_storm.throw_verdicts import (
    ask_colour,
    ask_leans_on_recorded,
    ask_thrown_or_moved,
    ask_unread_pose,
    cannot_read,
    evidence_of,
    may_have_other_pose,
    missing_beside_board,
    out_of_sync,
    remaining_moves,
    resting_question,
    rule,
    unread_newcomer,
    unread_piece_verdict,
    unread_throw,
)
from engines.ice_storm.two_throws import (
    SURELY_ANOTHERS,
    ask_moved_and_misread,
    ask_several_misread,
    judge_two_throws,
    refuse_new_pieces,
    with_one_new_piece,
)
from engines.occlusion import NOT_SO
from engines.verdict import Ambiguous, Choice, OutOfSync, Refused, Verdict, Waiting, refusal
from table.json_data import Evidence
from table.messages import NOTHING, Message, msg, phrases, sentences
from table.motion import moved
from table.observation import SURE, SeenPiece

_Move = TypeVar("_Move", Moved, Void)


def judge_throw(match: TableMatch) -> Verdict:
    """Judge a board while pieces are thrown."""
    player = str(match.state.next)
    if match.state.void:
        return _judge_void(match, player)
    if match.first and (match.has_leftover or len(match.new) != 1):
        return _judge_before_round(match, player)
    if len(match.new) > 1 and (once := with_one_new_piece(match, player)) is not None:
        touching = msg(
            "There seems to be a second piece, but it touches one that lies there and may"
            " be part of it."
        )
        return _one_or_two(once, player, touching)
    if [piece.colour for piece in match.new] == [player] and match.half_seen:
        another = msg(
            "Something else has appeared, and the camera is not sure whether it is a piece."
        )
        return _one_or_two(match, player, another)
    strangers = [piece for piece in match.new if piece.colour != player]
    if len(match.new) == 2 and len(strangers) == 1:
        return judge_two_throws(match, player)
    if strangers:
        return ask_several_misread(match, player) or _stranger(match, strangers[0], player)
    if len(match.new) > 1 and (left := _refuse_leftover(match)) is not None:
        return left
    if len(match.new) > 1:
        return ask_moved_and_misread(match, match.new, player) or refuse_new_pieces(
            match,
            msg(
                "{n} new {colour} pieces lie on the board, but only one is thrown at a time.",
                n=len(match.new),
                colour=player,
            ),
        )
    if match.new:
        return _judge_thrown_piece(match, player, match.new[0])
    return _judge_no_new_piece(match, player)


def _judge_void(match: TableMatch, player: str) -> Verdict:
    """Judge a throw whose hand was too low, reported before its ruling.

    The new piece on the board is that throw, void, with what it moved.
    """
    if (unread := unread_piece_verdict(match)) is not None:
        return unread
    message = msg("{player}'s throw is void: pick the piece up and throw again.", player=player)
    if any(piece.colour == player for piece in match.new) and any(
        piece.colour == player for piece in (*match.moved_pieces, *match.missing_pieces)
    ):
        return _ask_which_low_throw(match, player, message)
    if (
        match.new
        or match.missing_pieces
        or match.changed_places
        or match.new_outside_colours[player]
    ):
        return _judge_void_changes(match, player)
    asked = msg("Has {player} picked up the piece thrown with too low a hand?", player=player)
    choices = (
        Choice(msg("Yes: {player} throws again", player=player), (str(Void(player)),)),
        Choice(msg("No: it has not been thrown yet"), ()),
    )
    return Waiting(
        code="storm.throw.low",
        message=message,
        rests_on=LOW_HAND,
        player=player,
        asks=Ambiguous(
            code="storm.throw.low",
            message=asked,
            rests_on=LOW_HAND,
            player=player,
            choices=choices,
            withdrawn_if_table_changes=True,
        ),
    )


def _judge_void_changes(match: TableMatch, player: str) -> Verdict:
    """Judge what a void throw moved; ask if that is too close to call."""
    evidence, ways = evidence_of(match, *match.new[:1]), list(possible_changes(match))
    if len(ways) == 1:
        return rule(match, Throw(player, None, ways[0][1]), evidence)
    return Ambiguous(
        code="storm.too_close",
        message=msg("What did {player}'s void throw move? It is too close to call.", player=player),
        rests_on=f"{LOW_HAND}; {DOUBT}",
        player=player,
        choices=(*(Choice(text, (str(Void(player, moved)),)) for text, moved in ways), NOT_SO),
        evidence=evidence,
    )


def _ask_which_low_throw(match: TableMatch, player: str, waiting: Message) -> Waiting | Ambiguous:
    """Ask which of several pieces of one colour was thrown with a low hand.

    This is known once it is picked up. If there are as many as recorded, one was moved far or
    knocked off.
    """
    settled = replace(match, nobody_threw=True)
    if settled.new:
        return Waiting(code="storm.throw.low", message=waiting, rests_on=LOW_HAND, player=player)
    lost = messages.piece_names(piece for piece in match.missing_pieces if piece.colour == player)
    choices = [Choice(msg("The thrown piece still lies there: pick it up"), ())]
    for doubt, changes in possible_changes(settled):
        moved = msg("it moved {pieces}", pieces=lost)
        text = phrases(msg("The thrown piece has been picked up"), moved, doubt)
        choices.append(Choice(text, (str(Void(player, changes)),)))
    message = msg(
        "Has {player} picked up the piece thrown with too low a hand, and did it move {pieces}?",
        player=player,
        pieces=lost,
    )
    return Ambiguous(
        code="storm.throw.low",
        message=message,
        rests_on=LOW_HAND,
        player=player,
        choices=tuple(choices),
        evidence=evidence_of(match),
        withdrawn_if_table_changes=True,
    )


def _judge_before_round(match: TableMatch, player: str) -> Verdict:
    """Judge a board before the first throw of a round, for which it is cleared.

    A first throw off the board is only shown by the piece beside it.
    """
    clear = not (match.has_leftover or match.new)
    if clear and match.unread_mm:
        return unread_throw(match, player)
    beside = [piece.colour for piece in match.pieces_outside]
    if not clear or beside != [player]:
        differences = tuple(map(partial(_position_sentence, match), match.new))
        asked = NOTHING if clear else msg("Clear the board.")
        message = sentences(asked, *differences, turn(match.state))
        return Waiting(
            code="storm.throw",
            message=message,
            as_recorded=clear,
            rests_on=DEPLOYMENT,
            player=player,
            differences=differences,
        )
    message = sentences(
        msg("A {colour} piece lies beside the empty board.", colour=player), msg("Was it thrown?")
    )
    choices = (
        Choice(
            msg("{player}'s throw is off the board", player=player), (str(Throw(player, None)),)
        ),
        Choice(msg("Not thrown yet: take it away"), ()),
    )
    return Ambiguous(
        code="storm.first",
        message=message,
        rests_on=DEPLOYMENT,
        player=player,
        choices=choices,
        evidence=evidence_of(match),
    )


def _position_sentence(match: TableMatch, piece: SeenPiece) -> str:
    place = match.touches(piece).place
    return (
        msg("A {colour} piece lies on {cell}.", colour=piece.colour, cell=place)
        if place
        else msg("A {colour} piece lies fully or partly off the squares.", colour=piece.colour)
    )


def _judge_thrown_piece(match: TableMatch, player: str, piece: SeenPiece) -> Verdict:
    """Judge one more piece of the player who throws next."""
    if (unread := unread_piece_verdict(match)) is not None:
        return unread
    if (wanted := expected_size(match, piece)) is not None:
        return _judge_other_size(match, player, piece, wanted)
    read = [*readings_of(match, player, piece), *other_thrown_piece_readings(match, player, piece)]
    came = (piece, *(match.located_pieces[known.name] for known in match.moved_pieces))
    if doubtful := [one for one in came if may_have_other_pose(match, one)]:
        return ask_unread_pose(match, player, doubtful[0], read)
    if (asked := ask_thrown_or_moved(match, player, piece, read)) is not None:
        return asked
    evidence = evidence_of(match, piece)
    if read[0][1].again:
        evidence["may_be"] = {
            text: str(throw) for text, throw in lying_readings(match, player, piece)
        }
    lost = missing_beside_board(match, Counter())
    elsewhere = list(moved_lost_piece_readings(match, player, lost))
    return _decide(match, player, read, lost, evidence, elsewhere)


def _judge_other_size(match: TableMatch, player: str, piece: SeenPiece, wanted: str) -> Verdict:
    """Judge a thrown piece of another size than the game's.

    It is removed, and the throw repeated; what it moved stays, as after any such throw. If its size
    is unsure, or something is missing unseen, people say what happened.
    """
    again = [
        (message, Throw(player, None, changes, OTHER_SIZE))
        for message, changes in possible_changes(match)
    ]
    lost = missing_beside_board(match, Counter())
    right = with_size(piece, wanted)
    other = match.with_reading(piece, right)
    read = [
        (msg("It is {size}: {text}", size=wanted, text=text), throw)
        for text, throw in readings_of(other, player, right)
    ]
    evidence = evidence_of(match, piece) | {
        "size": piece.size,
        "size_in_force": wanted,
        "may_be": {text: str(throw) for text, throw in read if not throw.again},
    }
    if piece.size_probability >= SURE and len(again) == 1 and not lost:
        return _refuse_other_size(match, piece, wanted, again[0][1], evidence)
    for message, throw in again:
        text = phrases(msg("take it away and throw again"), message)
        read.append((msg("It is {size}: {text}", size=piece.size, text=text), throw))
    choices = [Choice(text, counted(throw)) for text, throw in lost_or_hidden_readings(read, lost)]
    message = sentences(
        msg(
            "Is {player}'s new piece {size} or {size2}?",
            player=player,
            size=wanted,
            size2=piece.size,
        ),
        msg("All pieces in a game have the same size."),
    )
    return Ambiguous(
        code=CODE,
        message=message,
        rests_on=f"{DEPLOYMENT}; {ONE_SIZE}",
        player=player,
        choices=(*choices, NOT_SO),
        evidence=evidence,
    )


def _refuse_other_size(
    match: TableMatch, piece: SeenPiece, wanted: str, throw: Throw, evidence: Evidence
) -> Refused:
    wrong = violation(match.state, throw)
    assert wrong is not None, "it is always made again"
    sizes = {"player": throw.player, "size": piece.size, "size2": wanted}
    message = sentences(
        (
            msg("{player}'s piece is {size}, but this game is played with {size2} pieces.", **sizes)
            if is_size_agreed(match)
            else msg("{player}'s piece is {size}, but the others are {size2}.", **sizes)
        ),
        msg("Take it away and throw a {size} one.", size=wanted),
        msg("What it moved stays where it is."),
    )
    left = remaining_moves(match.state, throw, wrong)
    return refusal(replace(wrong, message=message), throw.player, (str(throw),), evidence, left)


def _refuse_leftover(match: TableMatch) -> Refused | None:
    """Refuse pieces beside a possible throw that should have been removed.

    They are surely of another size than the game's.
    """
    of_another_size = wrong_size_sentences(match)
    if len(of_another_size) != len(match.new) - 1:
        return None
    throw = Throw(str(match.state.next), None, (), OTHER_SIZE)
    wrong = Violation(
        "storm.throw.size",
        f"{DEPLOYMENT}; {ONE_SIZE}",
        sentences(*of_another_size, msg("Take away any piece of another size.")),
    )
    return refusal(wrong, throw.player, (str(throw),), evidence_of(match))


def _decide(
    match: TableMatch,
    player: str,
    read: list[Reading],
    lost: list[Piece],
    evidence: Evidence,
    elsewhere: Sequence[Reading] = (),
) -> Verdict:
    """Rule on the throw if it has one interpretation; else ask which is right.

    `lost` are pieces with unknown places; `elsewhere` describes where they may be.
    """
    if len(read) == 1 and not lost:
        return rule(match, read[0][1], evidence)
    code, message, rests_on = (
        "storm.too_close",
        resting_question(player),
        f"{DEPLOYMENT}; {DOUBT}",
    )
    names = messages.piece_names(lost)
    if lost:
        code, message, rests_on = (
            "storm.vanished",
            msg("Did {player}'s throw knock {pieces} off the board?", pieces=names, player=player),
            "Deployment; ruling ice_storm.7",
        )
    every = (*elsewhere, *lost_or_hidden_readings(read, lost))
    choices = [Choice(text, counted(throw)) for text, throw in every]
    choices += (
        _recorded_piece_choices(match) if any(piece.colour == player for piece in lost) else ()
    )
    choices.append(NOT_SO)
    return Ambiguous(
        code=code,
        message=message,
        rests_on=rests_on,
        player=player,
        choices=tuple(choices),
        evidence=evidence,
    )


def _one_or_two(match: TableMatch, player: str, another: Message) -> Verdict:
    """Ask whether one piece was thrown, or two; `another` describes the second one.

    The second one may be a part of the first, or of another piece.
    """
    if (unread := unread_piece_verdict(match)) is not None:
        return unread
    piece = match.new[0]
    if (wanted := expected_size(match, piece)) is not None:
        return _judge_other_size(match, player, piece, wanted)
    read = [
        (msg("One: {text}", text=text), throw) for text, throw in readings_of(match, player, piece)
    ]
    choices = [Choice(text, counted(throw)) for text, throw in read]
    message = sentences(msg("Did {player} throw one piece, or two?", player=player), another)
    return Ambiguous(
        code="storm.throw.two",
        message=message,
        choices=(*choices, Choice(msg("Two: take them back"), ())),
        rests_on=DEPLOYMENT,
        player=player,
        evidence=evidence_of(match, piece),
    )


def _stranger(match: TableMatch, piece: SeenPiece, player: str) -> Verdict:
    """Judge a piece of a player who does not throw now.

    If its colour is unsure, it may belong to the player who does.
    """
    colour = piece.colour
    if (
        any(gone.colour == colour for gone in match.missing_pieces)
        and not match.new_outside_colours[colour]
    ):
        return out_of_sync(match, msg("Fix the table."))
    read = readings_in_colour(match, piece, player, player) if len(match.new) == 1 else []
    if read and _colour_in_doubt(piece):
        choices = [Choice(text, counted(throw)) for text, throw in read]
        message = sentences(
            msg("Is the new piece {player} or {player2}?", player=player, player2=colour),
            msg("It is {player}'s throw.", player=player),
        )
        choices += _unseen_throw_choices(match, piece, player)
        choices.append(Choice(msg("It is {player}: take it back", player=colour), ()))
        return ask_colour(match, player, message, choices, piece)
    taken_back = Choice(msg("No: {player} threw it; take it back", player=colour), ())
    if (another := _ask_misread_colour(match, player, taken_back)) is not None:
        return another
    if (unread := unread_newcomer(match)) is not None:
        return unread
    throw = Throw(colour, match.touches(piece).place)
    wrong = violation(match.state, throw)
    assert wrong is not None, "it is somebody else's turn"
    misread = (
        msg(
            "If it is {player}'s and only looks {colour} to the camera, correct this.",
            player=player,
            colour=colour,
        )
        if read
        else NOTHING
    )
    wrong = replace(
        wrong,
        message=sentences(
            wrong.message,
            msg("Take the {colour} piece back and put back what it moved.", colour=colour),
            misread,
        ),
    )
    return refusal(
        wrong,
        colour,
        (str(throw),),
        evidence_of(match, piece) | {"may_be": {text: str(throw) for text, throw in read}},
    )


def _colour_in_doubt(piece: SeenPiece) -> bool:
    """True if the colour may be misread, which is likelier for leaning pieces in other light."""
    leans = piece.pose == "leaning" or piece.on is not None
    return leans or piece.colour_probability < SURELY_ANOTHERS


def _ask_misread_colour(
    match: TableMatch, player: str, otherwise: Choice = NOT_SO
) -> Ambiguous | None:
    """Ask whether a piece of another colour is the player's throw, with its colour misread.

    The recorded piece that it is taken for was moved elsewhere. `otherwise` is the last answer.
    """
    came = [
        piece
        for piece in match.sure_pieces
        if piece.colour != player
        and _colour_in_doubt(piece)
        and (match.before is None or all(moved(was, piece) for was in match.before.pieces))
    ]
    read = [
        (piece, Choice(text, counted(throw)))
        for piece in came
        for text, throw in readings_in_colour(match, piece, player, player)
    ]
    if not read:
        return None
    piece = read[0][0]
    message = msg(
        "Did {player} throw a piece that looks {colour}?", player=player, colour=piece.colour
    )
    return ask_colour(match, player, message, (*(choice for _, choice in read), otherwise), piece)


def _unseen_throw_choices(match: TableMatch, piece: SeenPiece, player: str) -> list[Choice]:
    """Choices: the player's throw went off the board unseen, and the next player threw this one.

    Each answer has both throws.
    """
    off = Throw(player, None)
    if match.missing_pieces or match.places or violation(match.state, off):
        return []
    after = play(match.state, off)
    if after.next != piece.colour:
        return []
    read = readings_of(TableMatch(after, match.now, match.before, match.board), piece.colour, piece)
    both = [(text, throw) for text, throw in read if violation(after, throw) is None]
    return [
        Choice(
            msg(
                "It is {player}: {player2}'s throw is off the board; {text}",
                player=piece.colour,
                player2=player,
                text=text,
            ),
            (str(off), str(throw)),
        )
        for text, throw in both
    ]


def _judge_no_new_piece(match: TableMatch, player: str) -> Verdict:
    """Judge a board without a new piece.

    Nothing happened, a throw went off it, or something was moved by hand.
    """
    own_gone = sum(piece.colour == player for piece in match.missing_pieces)
    thrown = match.new_outside_colours[player] - match.removed_outside_colours[player] - own_gone
    if thrown == 1:
        if (unread := unread_piece_verdict(match)) is not None:
            return unread
        throws = [
            (message, Throw(player, None, changes)) for message, changes in possible_changes(match)
        ]
        lost = missing_beside_board(match, Counter({player: 1}))
        leaning = list(other_thrown_piece_readings(match, player))
        if len(throws) == 1 and not lost and not leaning:
            return rule(match, throws[0][1], evidence_of(match))
        read = [
            (phrases(msg("{player}'s piece lies off the board", player=player), message), throw)
            for message, throw in throws
        ]
        return _decide(match, player, [*read, *leaning], lost, evidence_of(match))
    if (other := _ask_other_thrown(match, player)) is not None:
        return other
    if match.missing_pieces or match.changed_places:
        if match.unread_mm:  # it may be the thrown piece
            return unread_throw(match, player)
        return _judge_changed_board(match, player)
    if len(match.new_outside) == 1 and match.new_outside[0].colour_probability < SURELY_ANOTHERS:
        return _stray(match, match.new_outside[0].colour, player)
    if match.unread_mm:
        return unread_throw(match, player)
    if match.hidden and not match.only_one_unseen:
        return cannot_read(match)
    if (leans := ask_leans_on_recorded(match, player)) is not None:
        return leans
    if match.only_one_unseen:
        message = sentences(
            msg(
                "The camera cannot see {piece}; on record it lies {text}.",
                piece=match.unseen[0].name,
                text=messages.place(match.unseen[0].place),
            ),
            turn(match.state),
        )
        return Waiting(
            code="storm.throw",
            message=message,
            rests_on=DEPLOYMENT,
            player=player,
            as_recorded=True,
        )
    return Waiting(
        code="storm.throw",
        message=turn(match.state),
        rests_on=DEPLOYMENT,
        player=player,
        as_recorded=True,
    )


def _stray(match: TableMatch, colour: str, player: str) -> Ambiguous:
    """Ask about a piece beside the board of unsure colour, not read as the thrower's."""
    message = sentences(
        msg("Is the piece beside the board {player} or {player2}?", player=player, player2=colour),
        msg("It is {player}'s throw.", player=player),
    )
    choices = (
        Choice(
            msg("It is {player}: the throw is off the board", player=player),
            (str(Throw(player, None)),),
        ),
        Choice(msg("It is {player}: nobody threw it", player=colour), ()),
    )
    return ask_colour(match, player, message, choices)


def _ask_other_thrown(match: TableMatch, player: str) -> Ambiguous | None:
    """Ask whether the removed piece is the thrown one, after a void throw.

    The piece recorded as moved was picked up, and the one taken for the thrown one is still there.
    """
    lost = [piece for piece in match.missing_pieces if piece.colour == player]
    lying = [piece for piece in match.unrecorded_still_there if piece.colour == player]
    if len(lost) != 1 or len(lying) != 1 or unread_piece_verdict(match) is not None:
        return None
    name, place = lost[0].name, match.touches(lying[0]).place
    assert place is not None, "it lies on the board"
    choices = []
    for rest, (message, changes) in product(resting_places(place), possible_changes(match)):
        text = phrases(
            msg("The thrown piece has been picked up"), rest.moved_piece_text(name), message
        )
        lies = tuple(
            Change(name, rest.place) if change.name == name else change for change in changes
        )
        choices.append(Choice(text, (str(Void(player, lies)),)))
    message = msg("A piece was picked up. Was it {player}'s void throw?", player=player)
    return Ambiguous(
        code="storm.throw.low",
        message=message,
        rests_on=LOW_HAND,
        player=player,
        choices=(*choices, NOT_SO),
        withdrawn_if_table_changes=True,
        evidence=evidence_of(match),
    )


def _judge_changed_board(match: TableMatch, player: str) -> Verdict:
    """Judge a changed board: a piece may be misread, or the throw unseen."""
    unseen = _judge_unseen_throw(match, player)
    misread = _ask_misread_colour(match, player)
    if misread is None:
        return unseen
    asked = unseen if isinstance(unseen, Ambiguous) else unseen.asks
    known = [choice.moves for choice in misread.choices[:-1]]
    others = [choice for choice in asked.choices if choice.moves not in known] if asked else []
    return replace(misread, choices=(*misread.choices[:-1], *(others or misread.choices[-1:])))


def _judge_unseen_throw(match: TableMatch, player: str) -> Ambiguous | OutOfSync:
    """Judge a changed board without a visible throw: it may lie on the floor.

    If all pieces that left the board lie beside it, a throw is likely, and asked about. Otherwise
    pieces were moved by hand, and people may still correct the record.
    """
    out = msg("{player}'s piece is off the board, out of sight", player=player)
    throws = [
        (phrases(out, message), Throw(player, None, changes))
        for message, changes in possible_changes(match)
    ]
    if (
        not match.missing_pieces
        or Counter(piece.colour for piece in match.missing_pieces) - match.new_outside_colours
    ):
        return _moved_by_hand_verdict(match, player, throws)
    gone = messages.piece_names(match.missing_pieces)
    choices = [
        Choice(msg("{text}; knocked off: {pieces}", text=message, pieces=gone), (str(throw),))
        for message, throw in throws
    ]
    choices += [
        Choice(message, counted(throw))
        for message, throw in other_thrown_piece_readings(match, player)
    ]
    choices += [
        Choice(msg("{text}; knocked off: {pieces}", text=message, pieces=gone), (str(void),))
        for message, void in _picked_up_throws(match, player)
    ]
    choices += [*last_throw_choices(match), NOT_SO]
    message = msg(
        "Did {player}'s throw leave the board and knock {pieces} off?", pieces=gone, player=player
    )
    return Ambiguous(
        code="storm.unseen",
        message=message,
        rests_on="Deployment; ruling ice_storm.7",
        player=player,
        choices=tuple(choices),
        withdrawn_if_table_changes=True,
        evidence=evidence_of(match),
    )


def _moved_by_hand_verdict(
    match: TableMatch, player: str, throws: list[tuple[Message, Throw]]
) -> OutOfSync:
    """Return the verdict of pieces moved by hand; one of `throws` is still possible."""
    lies = (
        *other_thrown_piece_readings(match, player),
        *thrown_moved_piece_readings(match, player),
    )
    choices = [
        *(Choice(message, counted(throw)) for message, throw in [*throws, *lies] if counted(throw)),
        *(Choice(message, (str(void),)) for message, void in _picked_up_throws(match, player)),
        *last_throw_choices(match),
    ]
    evidence = {"may_be": {choice.label: choice.moves[0] for choice in choices}}
    verdict = out_of_sync(
        match,
        msg(
            "Fix the table. If {player}'s throw did it and is off the board, correct this instead.",
            player=player,
        ),
        evidence,
    )
    return replace(verdict, asks=ask_whose_throw(match, choices))


def _picked_up_throws(match: TableMatch, player: str) -> list[tuple[Message, Void]]:
    """Return possible throws that leaned and were picked up unseen; what they moved stays."""
    leaned = msg("{player}'s piece leaned on another and has been picked up", player=player)
    return _ways(match, leaned, partial(Void, player))


def last_throw_choices(match: TableMatch) -> list[Choice]:
    """Choices: what the last ruled throw moved or knocked off.

    That throw is off the board, and was announced so before the board was seen.
    """
    player = match.state.last_thrower_off_board
    if player is None:
        return []
    did = msg("{player}'s previous throw did it and is off the board", player=player)
    return [
        Choice(message, (str(move),)) for message, move in _ways(match, did, partial(Moved, player))
    ]


def _ways(
    match: TableMatch, did: Message, move: Callable[[tuple[Change, ...]], _Move]
) -> list[tuple[Message, _Move]]:
    """Legal moves that changed the board to this one, each with a description."""
    ways = [
        (phrases(did, message), move(changes))
        for message, changes in possible_changes(match)
        if changes
    ]
    return [(message, made) for message, made in ways if violation(match.state, made) is None]


def _recorded_piece_choices(match: TableMatch) -> list[Choice]:
    """As `last_throw_choices`, if a seemingly new piece is a recorded one at another place."""
    other = replace(match, nobody_threw=True)
    return [] if other.new else last_throw_choices(other)


def ask_whose_throw(match: TableMatch, choices: list[Choice]) -> Ambiguous | None:
    """Ask whose throw it was, if the change of the board persists."""
    if not choices:
        return None
    every = (*choices, NOT_SO)
    return Ambiguous(
        code="storm.unseen",
        message=msg("Did a throw do this?"),
        rests_on=DEPLOYMENT,
        player=match.state.next or match.state.attacker,
        choices=every,
        withdrawn_if_table_changes=True,
    )
