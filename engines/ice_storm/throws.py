"""Verdicts on a throw that was seen: where it and what it moved came to rest.

A throw is legal or to be repeated, decided or to be asked about.
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
    as_of_size,
    named_before_play,
    new_of_another_size,
    of_another_size,
)
from engines.ice_storm.throw_readings import (
    Reading,
    another_was_thrown,
    as_lying,
    changes_of,
    counted,
    half_seen_elsewhere,
    in_colour,
    lost_or_there,
    readings_of,
    resting_places,
    thrown_beside_unseen,
)
from engines.ice_storm.throw_verdicts import (
    ask_colour,
    cannot_read,
    evidence_of,
    hardly_read,
    how_it_rests,
    leans_where_one_lay,
    not_seen_outside,
    out_of_sync,
    rule,
    stands,
    thrown_or_moved,
    unclear,
    unread_newcomer,
    unread_pose,
    unread_throw,
)
from engines.ice_storm.two_throws import (
    SURELY_ANOTHERS,
    moved_and_misread,
    seen_twice,
    several_misread,
    taken_back,
    two_in_turn,
)
from engines.occlusion import NOT_SO
from engines.verdict import Ambiguous, Choice, OutOfSync, Refused, Verdict, Waiting, refusal
from table.json_data import Evidence
from table.messages import NOTHING, Message, msg, phrases, sentences
from table.motion import moved
from table.observation import SURE, SeenPiece

_Move = TypeVar("_Move", Moved, Void)


def judge_throw(match: TableMatch) -> Verdict:
    """The verdict on a board while pieces are thrown."""
    player = str(match.state.next)
    if match.state.void:
        return _judge_void(match, player)
    if match.first and (match.leftover or len(match.new) != 1):
        return _before_the_round(match, player)
    if len(match.new) > 1 and (once := seen_twice(match, player)) is not None:
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
        return two_in_turn(match, player)
    if strangers:
        return several_misread(match, player) or _stranger(match, strangers[0], player)
    if len(match.new) > 1 and (left := _left_lying(match)) is not None:
        return left
    if len(match.new) > 1:
        return moved_and_misread(match, match.new, player) or taken_back(
            match,
            msg(
                "{n} new {colour} pieces lie on the board, but only one is thrown at a time.",
                n=len(match.new),
                colour=player,
            ),
        )
    if match.new:
        return _thrown(match, player, match.new[0])
    return _nothing_new(match, player)


def _judge_void(match: TableMatch, player: str) -> Verdict:
    """The verdict where a hand was too low before its throw was ruled on.

    What lies there now is that throw, void, and what it moved.
    """
    if (unread := unclear(match)) is not None:
        return unread
    message = msg("{player}'s throw is void: pick the piece up and throw again.", player=player)
    if any(piece.colour == player for piece in match.new) and any(
        piece.colour == player for piece in (*match.moved, *match.gone)
    ):
        return _one_of_them(match, player, message)
    if match.new or match.gone or match.elsewhere or match.came_out[player]:
        return _what_it_moved(match, player)
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


def _what_it_moved(match: TableMatch, player: str) -> Verdict:
    """The verdict on what a void throw moved; a question where that is too close to call."""
    evidence, ways = evidence_of(match, *match.new[:1]), list(changes_of(match))
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


def _one_of_them(match: TableMatch, player: str, waiting: Message) -> Waiting | Ambiguous:
    """The question where one of several pieces of one colour was thrown with a low hand.

    Which it was shows once it is picked up. As many as recorded: one was moved far, or knocked off.
    """
    settled = replace(match, nobody_threw=True)
    if settled.new:
        return Waiting(code="storm.throw.low", message=waiting, rests_on=LOW_HAND, player=player)
    lost = messages.named(piece for piece in match.gone if piece.colour == player)
    choices = [Choice(msg("The thrown piece still lies there: pick it up"), ())]
    for doubt, changes in changes_of(settled):
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


def _before_the_round(match: TableMatch, player: str) -> Verdict:
    """The verdict before the first throw of a round, for which the board is cleared.

    Where that throw went off the board only the piece beside the board shows it.
    """
    clear = not (match.leftover or match.new)
    if clear and match.unread_mm:
        return unread_throw(match, player)
    beside = [piece.colour for piece in match.now_outside]
    if not clear or beside != [player]:
        differences = tuple(map(partial(_lies_there, match), match.new))
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


def _lies_there(match: TableMatch, piece: SeenPiece) -> str:
    place = match.touches(piece).place
    return (
        msg("A {colour} piece lies on {cell}.", colour=piece.colour, cell=place)
        if place
        else msg("A {colour} piece lies fully or partly off the squares.", colour=piece.colour)
    )


def _thrown(match: TableMatch, player: str, piece: SeenPiece) -> Verdict:
    """The verdict on one more piece of the player who throws next."""
    if (unread := unclear(match)) is not None:
        return unread
    if (wanted := of_another_size(match, piece)) is not None:
        return _of_another_size(match, player, piece, wanted)
    read = [*readings_of(match, player, piece), *another_was_thrown(match, player, piece)]
    came = (piece, *(match.found[known.name] for known in match.moved))
    if doubtful := [one for one in came if hardly_read(match, one)]:
        return unread_pose(match, player, doubtful[0], read)
    if (asked := thrown_or_moved(match, player, piece, read)) is not None:
        return asked
    evidence = evidence_of(match, piece)
    if read[0][1].again:
        evidence["may_be"] = {text: str(throw) for text, throw in as_lying(match, player, piece)}
    lost = not_seen_outside(match, Counter())
    elsewhere = list(half_seen_elsewhere(match, player, lost))
    return _decide(match, player, read, lost, evidence, elsewhere)


def _of_another_size(match: TableMatch, player: str, piece: SeenPiece, wanted: str) -> Verdict:
    """The verdict on a thrown piece of another size than the game's.

    It is taken away, and the throw made again; what it moved stays, as after any such throw. Where
    its size is not sure, or something is gone unseen, people say what happened.
    """
    again = [
        (message, Throw(player, None, changes, OTHER_SIZE))
        for message, changes in changes_of(match)
    ]
    lost = not_seen_outside(match, Counter())
    right = as_of_size(piece, wanted)
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
        return _surely_of_another_size(match, piece, wanted, again[0][1], evidence)
    for message, throw in again:
        text = phrases(msg("take it away and throw again"), message)
        read.append((msg("It is {size}: {text}", size=piece.size, text=text), throw))
    choices = [Choice(text, counted(throw)) for text, throw in lost_or_there(read, lost)]
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


def _surely_of_another_size(
    match: TableMatch, piece: SeenPiece, wanted: str, throw: Throw, evidence: Evidence
) -> Refused:
    wrong = violation(match.state, throw)
    assert wrong is not None, "it is always made again"
    sizes = {"player": throw.player, "size": piece.size, "size2": wanted}
    message = sentences(
        (
            msg("{player}'s piece is {size}, but this game is played with {size2} pieces.", **sizes)
            if named_before_play(match)
            else msg("{player}'s piece is {size}, but the others are {size2}.", **sizes)
        ),
        msg("Take it away and throw a {size} one.", size=wanted),
        msg("What it moved stays where it is."),
    )
    left = stands(match.state, throw, wrong)
    return refusal(replace(wrong, message=message), throw.player, (str(throw),), evidence, left)


def _left_lying(match: TableMatch) -> Refused | None:
    """The refusal where pieces beside a possible throw should have been taken away.

    They are surely of another size than the game's.
    """
    of_another_size = new_of_another_size(match)
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
    """Rule on the throw where it has one interpretation; else ask which is right.

    `lost` are pieces whose whereabouts are unknown; `elsewhere` says where they may lie.
    """
    if len(read) == 1 and not lost:
        return rule(match, read[0][1], evidence)
    code, message, rests_on = ("storm.too_close", how_it_rests(player), f"{DEPLOYMENT}; {DOUBT}")
    names = messages.named(lost)
    if lost:
        code, message, rests_on = (
            "storm.vanished",
            msg("Did {player}'s throw knock {pieces} off the board?", pieces=names, player=player),
            "Deployment; ruling ice_storm.7",
        )
    every = (*elsewhere, *lost_or_there(read, lost))
    choices = [Choice(text, counted(throw)) for text, throw in every]
    choices += _nobody_threw(match) if any(piece.colour == player for piece in lost) else ()
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
    """The question whether one piece was thrown, or two; `another` describes the second one.

    It may be a part of the first one, or of another piece.
    """
    if (unread := unclear(match)) is not None:
        return unread
    piece = match.new[0]
    if (wanted := of_another_size(match, piece)) is not None:
        return _of_another_size(match, player, piece, wanted)
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
    """The verdict on a piece of somebody who does not throw now.

    Where its colour is not sure, it may be of the player who does.
    """
    colour = piece.colour
    if any(gone.colour == colour for gone in match.gone) and not match.came_out[colour]:
        return out_of_sync(match, msg("Fix the table."))
    read = in_colour(match, piece, player, player) if len(match.new) == 1 else []
    if read and _colour_in_doubt(piece):
        choices = [Choice(text, counted(throw)) for text, throw in read]
        message = sentences(
            msg("Is the new piece {player} or {player2}?", player=player, player2=colour),
            msg("It is {player}'s throw.", player=player),
        )
        choices += _thrown_after(match, piece, player)
        choices.append(Choice(msg("It is {player}: take it back", player=colour), ()))
        return ask_colour(match, player, message, choices, piece)
    taken_back = Choice(msg("No: {player} threw it; take it back", player=colour), ())
    if (another := _looks_like_anothers(match, player, taken_back)) is not None:
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
    """True if the colour may be misread; more often that of what leans, lit from another side."""
    leans = piece.pose == "leaning" or piece.on is not None
    return leans or piece.colour_probability < SURELY_ANOTHERS


def _looks_like_anothers(
    match: TableMatch, player: str, otherwise: Choice = NOT_SO
) -> Ambiguous | None:
    """The question whether a piece of another colour is the player's throw, its colour misread.

    The recorded piece that it is taken for was moved elsewhere. `otherwise` is the last answer.
    """
    came = [
        piece
        for piece in match.there
        if piece.colour != player
        and _colour_in_doubt(piece)
        and (match.before is None or all(moved(was, piece) for was in match.before.pieces))
    ]
    read = [
        (piece, Choice(text, counted(throw)))
        for piece in came
        for text, throw in in_colour(match, piece, player, player)
    ]
    if not read:
        return None
    piece = read[0][0]
    message = msg(
        "Did {player} throw a piece that looks {colour}?", player=player, colour=piece.colour
    )
    return ask_colour(match, player, message, (*(choice for _, choice in read), otherwise), piece)


def _thrown_after(match: TableMatch, piece: SeenPiece, player: str) -> list[Choice]:
    """Choices: the player's throw went off the board unseen, and the next player threw this piece.

    Each answer holds both throws.
    """
    off = Throw(player, None)
    if match.gone or match.places or violation(match.state, off):
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


def _nothing_new(match: TableMatch, player: str) -> Verdict:
    """The verdict where no piece was added to the board.

    Nothing happened, a throw went off it, or somebody moved something by hand.
    """
    own_gone = sum(piece.colour == player for piece in match.gone)
    thrown = match.came_out[player] - match.left[player] - own_gone
    if thrown == 1:
        if (unread := unclear(match)) is not None:
            return unread
        throws = [(message, Throw(player, None, changes)) for message, changes in changes_of(match)]
        lost = not_seen_outside(match, Counter({player: 1}))
        leaning = list(another_was_thrown(match, player))
        if len(throws) == 1 and not lost and not leaning:
            return rule(match, throws[0][1], evidence_of(match))
        read = [
            (phrases(msg("{player}'s piece lies off the board", player=player), message), throw)
            for message, throw in throws
        ]
        return _decide(match, player, [*read, *leaning], lost, evidence_of(match))
    if (other := _other_was_thrown(match, player)) is not None:
        return other
    if match.gone or match.elsewhere:
        if match.unread_mm:  # it may be what was thrown
            return unread_throw(match, player)
        return _misread_or_unseen(match, player)
    if len(match.out) == 1 and match.out[0].colour_probability < SURELY_ANOTHERS:
        return _stray(match, match.out[0].colour, player)
    if match.unread_mm:
        return unread_throw(match, player)
    if match.hidden and not match.only_one_unseen:
        return cannot_read(match)
    if (leans := leans_where_one_lay(match, player)) is not None:
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
    """The question about a piece beside the board of unsure colour, not read as the thrower's."""
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


def _other_was_thrown(match: TableMatch, player: str) -> Ambiguous | None:
    """The question after a void throw: was the piece that is picked up the thrown one?

    The piece on record as moved was picked up, and the one taken for the thrown one still lies
    there.
    """
    lost = [piece for piece in match.gone if piece.colour == player]
    lying = [piece for piece in match.still_lying if piece.colour == player]
    if len(lost) != 1 or len(lying) != 1 or unclear(match) is not None:
        return None
    name, place = lost[0].name, match.touches(lying[0]).place
    assert place is not None, "it lies on the board"
    choices = []
    for rest, (message, changes) in product(resting_places(place), changes_of(match)):
        text = phrases(msg("The thrown piece has been picked up"), rest.of_moved(name), message)
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


def _misread_or_unseen(match: TableMatch, player: str) -> Verdict:
    """The verdict where the board changed: a piece may be misread, or the throw not seen at all."""
    unseen = _by_a_throw_that_nobody_sees(match, player)
    misread = _looks_like_anothers(match, player)
    if misread is None:
        return unseen
    asked = unseen if isinstance(unseen, Ambiguous) else unseen.asks
    known = [choice.moves for choice in misread.choices[:-1]]
    others = [choice for choice in asked.choices if choice.moves not in known] if asked else []
    return replace(misread, choices=(*misread.choices[:-1], *(others or misread.choices[-1:])))


def _by_a_throw_that_nobody_sees(match: TableMatch, player: str) -> Ambiguous | OutOfSync:
    """The verdict where the board changed and no throw is seen: it may lie on the floor.

    Where all that left the board lies beside it a throw is likely, and asked about; else somebody
    moved pieces by hand, and people may still correct the record.
    """
    out = msg("{player}'s piece is off the board, out of sight", player=player)
    throws = [
        (phrases(out, message), Throw(player, None, changes))
        for message, changes in changes_of(match)
    ]
    if not match.gone or Counter(piece.colour for piece in match.gone) - match.came_out:
        return _moved_by_hand(match, player, throws)
    gone = messages.named(match.gone)
    choices = [
        Choice(msg("{text}; knocked off: {pieces}", text=message, pieces=gone), (str(throw),))
        for message, throw in throws
    ]
    choices += [
        Choice(message, counted(throw)) for message, throw in another_was_thrown(match, player)
    ]
    choices += [
        Choice(msg("{text}; knocked off: {pieces}", text=message, pieces=gone), (str(void),))
        for message, void in _picked_up(match, player)
    ]
    choices += [*by_the_last_throw(match), NOT_SO]
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


def _moved_by_hand(
    match: TableMatch, player: str, throws: list[tuple[Message, Throw]]
) -> OutOfSync:
    """The verdict that somebody moved pieces; one of `throws` may have done it all the same."""
    lies = (*another_was_thrown(match, player), *thrown_beside_unseen(match, player))
    choices = [
        *(Choice(message, counted(throw)) for message, throw in [*throws, *lies] if counted(throw)),
        *(Choice(message, (str(void),)) for message, void in _picked_up(match, player)),
        *by_the_last_throw(match),
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
    return replace(verdict, asks=whose_throw(match, choices))


def _picked_up(match: TableMatch, player: str) -> list[tuple[Message, Void]]:
    """Ways in which a throw leaned and was picked up before it was seen; what it moved stays."""
    leaned = msg("{player}'s piece leaned on another and has been picked up", player=player)
    return _ways(match, leaned, partial(Void, player))


def by_the_last_throw(match: TableMatch) -> list[Choice]:
    """Choices: what the throw ruled on last moved or knocked off.

    That throw is off the board, and was said to be so before the board was seen.
    """
    player = match.state.last_off
    if player is None:
        return []
    did = msg("{player}'s previous throw did it and is off the board", player=player)
    return [
        Choice(message, (str(move),)) for message, move in _ways(match, did, partial(Moved, player))
    ]


def _ways(
    match: TableMatch, did: Message, move: Callable[[tuple[Change, ...]], _Move]
) -> list[tuple[Message, _Move]]:
    """Legal moves that changed the board as it is, each with what was done in words."""
    ways = [
        (phrases(did, message), move(changes)) for message, changes in changes_of(match) if changes
    ]
    return [(message, made) for message, made in ways if violation(match.state, made) is None]


def _nobody_threw(match: TableMatch) -> list[Choice]:
    """As `by_the_last_throw`, where what looks new is a recorded piece that lies elsewhere now."""
    other = replace(match, nobody_threw=True)
    return [] if other.new else by_the_last_throw(other)


def whose_throw(match: TableMatch, choices: list[Choice]) -> Ambiguous | None:
    """The question that is asked where the change of the board persists."""
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
