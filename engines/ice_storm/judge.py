"""Judge settled observations of the board.

`before` is always the settled observation of the last accepted verdict (None: unknown). The
comparison shows what moved, came or is gone. The place of an unmoved piece was decided when it came
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any, Literal, cast

import msgspec
import numpy as np

from engines.announcements import read_heard
from engines.errors import InvalidNotation, Violation
from engines.ice_storm import messages
from engines.ice_storm.examples import settlements
from engines.ice_storm.matching import TableMatch
from engines.ice_storm.moves import Capture, Low, Pass, Settle, Throw
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.rules import (
    ATTACK,
    DEPLOYMENT,
    DOUBT,
    FIRE,
    LOW_HAND,
    MUST,
    outcome,
    play,
    shots,
    targets,
    turn,
    violation,
)
from engines.ice_storm.sizes import exchanged_pieces
from engines.ice_storm.squares import SIDE, Square
from engines.ice_storm.state import State
from engines.ice_storm.throw_verdicts import (
    cannot_read,
    out_of_sync,
    remaining_moves,
    unread_piece_verdict,
)
from engines.ice_storm.throws import ask_whose_throw, judge_throw, last_throw_choices
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    Refused,
    Verdict,
    Waiting,
    refusal,
)
from table.boards import Board, Chessboard
from table.errors import InputError
from table.json_data import Evidence
from table.messages import Message, msg, phrases, sentences
from table.observation import Observation, SeenPiece

SETTLED_TOGETHER = 2
"""Most pieces settled at once to decide whether a shot hits."""


def judge(state: State, seen: Observation, before: Observation | None, board: Board, /) -> Verdict:
    """Judge a settled board."""
    assert isinstance(board, Chessboard), "set_up sees to that"
    if ended := outcome(state):
        return Waiting(
            code="storm.over",
            message=msg("The game is over: {text}.", text=ended),
            rests_on="Scoring",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(
            code="storm.hand",
            message=msg("A hand is over the board."),
            player=state.next or state.attacker,
        )
    if any(_too_long(piece, board) for piece in seen.pieces):
        message = msg(
            "The pieces are too long for squares of {mm} mm: use smaller pieces or a larger board.",
            mm=f"{board.square_mm:.1f}",
        )
        return CannotSee(code="storm.set_up", message=message, rests_on="ruling ice_storm.6")
    match = TableMatch(state, seen, before, board)
    if (of_another_size := exchanged_pieces(match)) is not None:
        return of_another_size
    return judge_throw(match) if state.next else _judge_attack(match)


class OffSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player's throw is off the board, where the camera does not see it."""

    player: str
    off: Literal[True]


class OnSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player's throw lies on the board, and the camera does not see it.

    `on` is its place in the notation of moves, or true to be asked for the place.
    """

    player: str
    on: Literal[True] | str


class LowSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player's hand was too low, in the last throw ruled on or the one being made."""

    player: str
    low: Literal[True]


class PassSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The player could fire and does not."""

    player: str
    passes: Literal[True]


def hear(state: State, heard: Mapping[str, Any], _in_doubt: bool = False, /) -> Verdict:
    """Judge an announcement: `{"player": "red", "off": true}`.

    Instead of `off` it may have `on`, `low` or `passes`. Raises InputError for anything else.
    """
    form = cast(
        OffSaid | OnSaid | LowSaid | PassSaid, read_heard(heard, OffSaid, OnSaid, LowSaid, PassSaid)
    )
    if isinstance(form, LowSaid):
        return _judge_low_throw(state, Low(form.player))
    if isinstance(form, PassSaid):
        return _pass(state, Pass(form.player))
    if isinstance(form, OnSaid):
        return _on_the_board(state, form)
    throw = Throw(form.player, None)
    if wrong := violation(state, throw):
        return refusal(wrong, form.player, (str(throw),), {}, remaining_moves(state, throw, wrong))
    said_so = sentences(messages.throw(state, throw), turn(play(state, throw)))
    return Accepted(
        code="storm.throw.wasted",
        message=said_so,
        rests_on=DEPLOYMENT,
        player=form.player,
        moves=(str(throw),),
    )


def _on_the_board(state: State, heard: OnSaid) -> Verdict:
    """Judge an unseen throw on the board: people say where it is; what it moved is seen."""
    player, lies = heard.player, Throw(heard.player, Place.parse("a1"))
    if heard.on is not True:
        try:
            lies = Throw(player, Place.parse(heard.on))
        except InvalidNotation as error:
            raise InputError(
                msg("input: {field}: {text}", field="on", text=error.message)
            ) from error
    if wrong := violation(state, lies):
        return refusal(wrong, player, (str(lies),), {}, remaining_moves(state, lies, wrong))
    if heard.on is not True:
        message = sentences(
            messages.throw(state, lies), msg("The camera does not see it."), turn(play(state, lies))
        )
        return Accepted(
            code="storm.throw.unseen",
            message=message,
            rests_on=DEPLOYMENT,
            player=player,
            moves=(str(lies),),
        )
    squares = [Square(file, rank) for file in range(SIDE) for rank in range(SIDE)]
    choices = [
        Choice(
            msg("Within {cell}", cell=square),
            (str(Throw(player, Place.parse(str(square)))),),
            confirms_record=True,
        )
        for square in squares
    ]
    choices.append(Choice(msg("On several squares: correct this and enter how it lies"), ()))
    message = msg("Where is {player}'s piece? The camera cannot see it.", player=player)
    return Ambiguous(
        code="storm.throw.unseen",
        message=message,
        rests_on=DEPLOYMENT,
        player=player,
        choices=tuple(choices),
    )


def _judge_low_throw(state: State, move: Low) -> Verdict:
    """Rule that a throw is void, whoever reports it (ruling ice_storm.12)."""
    if wrong := violation(state, move):
        return refusal(wrong, move.player, (str(move),), {})
    void = (
        msg(
            "{player}'s hand was too low: the throw is void and must be repeated. Put back"
            " everything it moved.",
            player=move.player,
        )
        if state.restores_after_low
        else msg(
            "{player}'s hand was too low: the throw is void and must be repeated. What it"
            " moved stays.",
            player=move.player,
        )
    )
    message = sentences(void, msg("Pick the piece up."))
    return Accepted(
        code="storm.throw.low",
        message=message,
        rests_on=LOW_HAND,
        player=move.player,
        moves=(str(move),),
    )


def _pass(state: State, move: Pass) -> Verdict:
    """Judge that a player does not fire, which nothing on the board shows."""
    if wrong := violation(state, move):
        return refusal(wrong, move.player, (str(move),), {})
    message = sentences(
        msg("{player} does not fire.", player=move.player), _next_step(play(state, move))
    )
    return Accepted(
        code="storm.pass", message=message, rests_on=MUST, player=move.player, moves=(str(move),)
    )


def _too_long(piece: SeenPiece, board: Chessboard) -> bool:
    """True if it may touch three squares in a row."""
    corners = piece.solid.vertices_mm
    sides_mm = np.linalg.norm(corners[:4] - corners[4], axis=1)
    diagonal_mm = float(np.linalg.norm(corners[2] - corners[0]))
    return max(float(sides_mm.max()), diagonal_mm) >= board.square_mm


def _judge_attack(match: TableMatch) -> Verdict:
    """Judge an attack: one enemy piece is removed, and nothing else changes."""
    state, attacker = match.state, str(match.state.attacker)
    if (unread := unread_piece_verdict(match)) is not None:
        return unread
    if match.new or match.changed_places:
        return replace(
            out_of_sync(match, msg("Fix the table.")),
            asks=ask_whose_throw(match, [] if match.new else last_throw_choices(match)),
        )
    if len(match.missing_pieces) > 1:
        return _several(match, attacker)
    if match.missing_pieces:
        return _capture(match, match.missing_pieces[0])
    if match.hidden:
        return cannot_read(match)
    if not any(targets(state).values()):
        return _ask_doubtful_shots(match, attacker)
    return Waiting(
        code="storm.attack", message=turn(state), rests_on=ATTACK, player=attacker, as_recorded=True
    )


def _several(match: TableMatch, attacker: str) -> Refused | Ambiguous:
    """Judge several missing pieces: two legal shots in turn, or too many captures."""
    names = messages.piece_names(match.missing_pieces)
    if ways := list(_capture_orders(match.state, match.missing_pieces)):
        message = sentences(
            msg("{pieces} are gone.", pieces=names), msg("Were they taken one after the other?")
        )
        choices = (*ways, Choice(msg("No: put them back"), ()))
        return Ambiguous(
            code="storm.attack.two",
            message=message,
            rests_on=FIRE,
            player=attacker,
            choices=choices,
            withdrawn_if_table_changes=True,
        )
    message = sentences(
        msg("{pieces} are gone, but only one piece may be taken at a time.", pieces=names),
        msg("Put all back except the one that {player} takes.", player=attacker),
    )
    tried = tuple(str(Capture(piece.colour, piece.number)) for piece in match.missing_pieces)
    return refusal(
        Violation("storm.attack", ATTACK, message),
        attacker,
        tried,
        {"move": " ".join(piece.colour for piece in match.missing_pieces)},
    )


def _capture_orders(state: State, gone: Sequence[Piece]) -> Iterator[Choice]:
    """Legal orders in which two pieces may have been captured."""
    for pair in permutations(gone) if len(gone) == 2 else ():
        after, moves, took = state, list[str](), list[tuple[str, str]]()
        for piece in pair:
            move = Capture(piece.colour, piece.number)
            if violation(after, move):
                break
            took.append((str(after.attacker), piece.name))
            after, moves = play(after, move), [*moves, str(move)]
        else:
            (player, taken), (player2, taken2) = took
            label = msg(
                "{player} takes {piece}, then {player2} takes {piece2}",
                player=player,
                piece=taken,
                player2=player2,
                piece2=taken2,
            )
            yield Choice(label, tuple(moves))


def _capture(match: TableMatch, target: Piece) -> Verdict:
    """Judge one missing piece.

    It was captured by the player who fires now, or by another if it is too close to call who that
    is.
    """
    state = match.state
    attacker = str(state.attacker)
    move = Capture(target.colour, target.number)
    wrong = violation(state, move)
    if wrong is None and (elsewhere := match.hardly_read_elsewhere(target)) is not None:
        return _ask_taken_or_moved(attacker, target, move, elsewhere)
    if wrong is None:
        return _accept(state, target, move)
    explained = list(_settling_decisions(state, move))
    evidence = _evidence(state, target)
    if not explained:
        message = sentences(wrong.message, msg("Put {piece} back.", piece=target.name))
        return refusal(
            Violation(wrong.code, wrong.clause, message), attacker, (str(move),), evidence
        )
    choices = [_choice(state, settles, move) for settles in explained]
    choices.append(Choice(msg("No: put {piece} back", piece=target.name), ()))
    message = sentences(
        msg("Could {piece} be taken? It is too close to call.", piece=target.name),
        msg("Look closely and decide together."),
    )
    return Ambiguous(
        code="storm.too_close",
        message=message,
        rests_on=f"Attack; {DOUBT}",
        player=attacker,
        choices=tuple(choices),
        evidence=evidence,
    )


def _ask_taken_or_moved(
    attacker: str, target: Piece, move: Capture, elsewhere: SeenPiece
) -> Ambiguous:
    """Ask about a missing piece that may be one hardly read elsewhere."""
    x_mm, y_mm = elsewhere.base_mm
    message = sentences(
        msg("Has {player} taken {piece}?", player=attacker, piece=target.name),
        msg(
            "The camera is not sure what lies at ({n}, {n2}) mm.", n=f"{x_mm:.0f}", n2=f"{y_mm:.0f}"
        ),
    )
    return Ambiguous(
        code="storm.attack",
        message=message,
        rests_on=ATTACK,
        player=attacker,
        choices=(
            Choice(msg("{player} takes {piece}", player=attacker, piece=target.name), (str(move),)),
            Choice(msg("No: put {piece} back", piece=target.name), ()),
        ),
        withdrawn_if_table_changes=True,
    )


def _accept(state: State, target: Piece, move: Capture) -> Accepted:
    attacker = str(state.attacker)
    message = sentences(
        messages.capture(attacker, target, shots(state)), _next_step(play(state, move))
    )
    return Accepted(
        code="storm.attack",
        message=message,
        rests_on=FIRE,
        player=attacker,
        moves=(str(move),),
        evidence=_evidence(state, target),
    )


def _next_step(after: State) -> Message:
    """Describe whose turn it is, or the result of the round once nobody can fire."""
    if not after.round_over:
        return turn(after)
    points = [
        msg("{player} {n}", player=player, n=count)
        for player, count in zip(after.players, after.points, strict=True)
    ]
    brought = msg(
        "Nobody can fire any more; points this round: {text}.", text=phrases(*points, joint=",")
    )
    return sentences(brought, turn(after))


def _evidence(state: State, target: Piece) -> Evidence:
    """All shots at a piece by those who may fire now, as plain data."""
    return {
        "move": target.colour,
        "target": str(target),
        "shots": [str(shot) for shot in shots(state) if shot.target == target.name],
    }


def _ask_doubtful_shots(match: TableMatch, attacker: str) -> Ambiguous:
    """Ask about places if all shots of the attacker are too close to call.

    It asks for the places of the pieces on which these shots depend.
    """
    state = match.state
    aimed = {name for shot in shots(state) for name in (shot.shooter, shot.target)}
    in_doubt = [piece for piece in state.pieces if piece.place.in_doubt]
    doubtful = sorted(
        in_doubt, key=lambda piece: piece.name not in aimed
    )  # pieces that may block shots come last
    choices = [
        Choice(
            msg("{piece} lies {text}", piece=settle.name, text=messages.place(settle.place)),
            (str(settle),),
        )
        for settle in settlements(doubtful[:1])
    ]
    message = sentences(
        msg(
            "Can {player} fire? It is too close to call and depends on how {piece} lies.",
            player=attacker,
            piece=doubtful[0].name,
        ),
        msg("Look closely and decide together."),
    )
    evidence = {"shots": [*map(str, shots(state))]}
    return Ambiguous(
        code="storm.too_close",
        message=message,
        rests_on=f"Attack; {DOUBT}",
        player=attacker,
        choices=tuple(choices),
        evidence=evidence,
    )


def _settling_decisions(state: State, move: Capture) -> Iterator[tuple[Settle, ...]]:
    """Smallest sets of decisions on doubtful places that make a capture legal.

    The player who then fires makes the capture.
    """
    every = list(settlements(state.pieces))
    for count in range(1, SETTLED_TOGETHER + 1):
        found = []
        for settles in combinations(every, count):
            after = _after(state, settles)
            if after and after.attacker and violation(after, move) is None:
                found.append(settles)
        if found:
            yield from found
            return


def _after(state: State, settles: Iterable[Settle]) -> State | None:
    """Return the state after these decisions; None if they are not all possible."""
    for settle in settles:
        if violation(state, settle):
            return None
        state = play(state, settle)
    return state


def _choice(state: State, settles: tuple[Settle, ...], move: Capture) -> Choice:
    lie = phrases(
        *(
            msg("{piece} lies {text}", piece=settle.name, text=messages.place(settle.place))
            for settle in settles
        )
    )
    after = _after(state, settles)
    assert after is not None, "they were found so"
    label = msg(
        "{text}: {player} takes {piece}",
        text=lie,
        player=after.attacker,
        piece=f"{move.colour}{move.number}",
    )
    return Choice(label, (*map(str, settles), str(move)))
