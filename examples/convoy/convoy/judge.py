"""Judge a table at rest: find the move that explains the change.

The table is compared with the recorded positions.  A pyramid near the line between two squares, or
of uncertain colour, leaves several readings of the table, which are all considered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice, product
from typing import Any, NoReturn

import numpy as np

from convoy.rules import (
    PUSH,
    STEP,
    WINNING,
    Move,
    State,
    legal_moves,
    outcome,
    play,
    pushed,
    standing,
    violation,
)
from convoy.shown import turn, went
from engines.occlusion import NOT_SO, true_act_choices
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    OutOfSync,
    Refused,
    Verdict,
    Waiting,
    refusal,
)
from table.boards import Board
from table.cells import cell_at
from table.errors import InputError
from table.files import shown
from table.messages import Message, as_sentence, msg, sentences
from table.observation import SURE, Observation, SeenPiece

SETUP, MOVE, SYNC = "convoy.start", "convoy.move", "convoy.out_of_sync"
BOUNDARY_MM = 2.0
"""Distance to the next square below which a pyramid may belong there, as also within two sigma."""
MOST_READINGS = 64
Standing = Mapping[str, str]
"""The player whose pyramid stands on a square, by square."""


def hear(_state: State, heard: Mapping[str, Any], _in_doubt: bool = False, /) -> NoReturn:
    """Convoy has no announcements: raises InputError."""
    got = shown(dict(heard))
    raise InputError(msg("input: Convoy needs no announcements, got {raw}", raw=got))


def judge(state: State, seen: Observation, before: Observation | None, board: Board, /) -> Verdict:
    """The verdict on a board at rest."""
    if outcome(state):
        return Waiting(code=MOVE, message=turn(state), rests_on=WINNING, as_recorded=True)
    if seen.hand:
        return Waiting(code=MOVE, message=msg("A hand is over the board."), player=state.next)
    if fallen := [one for one in seen.pieces if one.pose != "upright"]:
        return _down(state, fallen[0], board)
    found = readings(seen, board, state.players)
    if not found:
        return CannotSee(code=MOVE, message=msg("Put every pyramid clearly on one square."))
    found += _with_unseen(state, found, before, board)
    if before is None and not any(state.lost) and _is_fresh(state):
        return _judge_start(state, found)
    record = state.pieces
    explained = [move for move in legal_moves(state) if play(state, move).pieces in found]
    if record in found and (not explained or found[0] == record):
        return Waiting(code=MOVE, message=turn(state), player=state.next, as_recorded=True)
    if len(explained) == 1 and record not in found:
        return _accept(state, explained[0])
    if explained:
        return _ask(state, explained, record in found)
    if before is not None and found == readings(before, board, state.players):
        return Waiting(code=MOVE, message=turn(state), player=state.next, as_recorded=True)
    return _judge_difference(state, seen, found)


def readings(seen: Observation, board: Board, players: tuple[str, ...]) -> list[Standing]:
    """Possible readings of the table, most likely first; none if too many are possible."""
    ways = [tuple(_ways(piece, board, players)) for piece in seen.pieces]
    if np.prod([len(way) for way in ways], dtype=float) > MOST_READINGS:
        return []
    found = (dict(way) for way in product(*ways) if len(dict(way)) == len(ways))
    return [dict(one) for one in dict.fromkeys(tuple(sorted(one.items())) for one in found)]


def _with_unseen(
    state: State, found: list[Standing], before: Observation | None, board: Board
) -> list[Standing]:
    """The readings, plus pyramids that were already unseen at the last verdict."""
    then = readings(before, board, state.players) if before is not None else []
    unseen = [cell for cell in state.pieces if then and cell not in then[0]]
    several = (some for n in range(len(unseen), 0, -1) for some in combinations(unseen, n))
    filled = (
        {**{cell: state.pieces[cell] for cell in some}, **reading}
        for some in several
        for reading in found
        if not reading.keys() & set(some)
    )
    return list(islice(filled, MOST_READINGS))


def _ways(piece: SeenPiece, board: Board, players: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Possible squares and colours of a pyramid."""
    colours = [piece.colour]
    if piece.colour_probability < SURE:
        colours += [player for player in players if player != piece.colour]
    here = np.asarray(piece.base_mm, float)
    reach = max(BOUNDARY_MM, 2 * piece.place_sigma_mm)
    around = [here, *(here + reach * np.array(way) for way in ((1, 0), (-1, 0), (0, 1), (0, -1)))]
    for cell in dict.fromkeys(cell_at(board, place) for place in around):
        yield from ((cell, colour) for colour in colours if cell)


def _is_fresh(state: State) -> bool:
    first, *middle, last = state.rows
    return set(first) == {"1"} and set(last) == {"2"} and set("".join(middle)) == {"."}


def _judge_start(state: State, found: list[Standing]) -> Verdict:
    if state.pieces in found:
        message = sentences(msg("All pyramids are in place."), turn(state))
        return Accepted(code=SETUP, message=message, rests_on="Setup", moves=())
    differences = _differences(state.pieces, found[0])
    message = sentences(msg("Set up the board:"), *differences)
    begun = [move for move in legal_moves(state) if play(state, move).pieces in found]
    asks = None
    if begun:
        choices = (*_choices(state, begun), NOT_SO)
        asks = _question(state, msg("Has play begun already?"), choices)
    return Waiting(
        code=SETUP, message=message, rests_on="Setup", differences=differences, asks=asks
    )


def _accept(state: State, move: Move) -> Accepted:
    after, clause = play(state, move), PUSH if move.target in state.pieces else STEP
    return Accepted(
        code="convoy.fell" if after.lost != state.lost else MOVE,
        message=sentences(as_sentence(went(state, move)), turn(after)),
        rests_on=f"{clause}; {WINNING}" if after.scores != state.scores else clause,
        player=state.next,
        moves=(str(move),),
    )


def _question(state: State, message: Message, choices: tuple[Choice, ...]) -> Ambiguous:
    return Ambiguous(
        code=MOVE,
        message=message,
        rests_on=STEP,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _choices(state: State, moves: Iterable[Move]) -> list[Choice]:
    """An answer for each of these moves."""
    return [Choice(went(state, move), (str(move),)) for move in moves]


def _ask(state: State, explained: list[Move], still: bool) -> Ambiguous:
    choices = _choices(state, explained)
    if still:
        choices.append(Choice(msg("No pyramid has moved yet"), ()))
    question = msg("What did {player} do?", player=state.next)
    clearly = msg("You can also put every pyramid clearly on one square.")
    return _question(state, sentences(question, clearly), tuple(choices))


def _down(state: State, piece: SeenPiece, board: Board) -> Verdict:
    """The verdict on a pyramid that lies, or may not stand."""
    if piece.pose_probability < SURE:
        return CannotSee(code=MOVE, message=_unsure(piece, board), player=state.next)
    message = msg("Stand the {colour} pyramid up on its square.", colour=piece.colour)
    return Waiting(code=MOVE, message=message, rests_on="Setup", player=state.next)


def _unsure(piece: SeenPiece, board: Board) -> Message:
    where = cell_at(board, piece.base_mm) or "-"
    return msg(
        "The camera is not sure about the {colour} pyramid on {cell}: show it more clearly.",
        colour=piece.colour,
        cell=where,
    )


def _judge_difference(state: State, seen: Observation, found: list[Standing]) -> Verdict:
    """The verdict without a legal explanation: an incomplete move, an illegal one, or more."""
    record, stands = state.pieces, found[0]
    still = msg("Everything stands as it did") if _shows(stands, state) else None
    fits = [move for move in legal_moves(state) if _shows(stands, play(state, move))]
    choices = true_act_choices(_choices(state, fits), still)
    for move in legal_moves(state):
        after = play(state, move).pieces
        if all(stands.get(cell) in (record.get(cell), after.get(cell)) for cell in state.cells):
            message = msg("Finish the move, or put it back: {text}.", text=went(state, move))
            did = msg("What did {player} do?", player=state.next)
            asks = _question(state, did, choices) if choices else None
            return Waiting(code=MOVE, message=message, rests_on=PUSH, player=state.next, asks=asks)
    missing = len(record) > len(stands)
    if missing and len(seen.unread_mm):
        message = msg("The camera cannot read a pyramid: move it a little.")
        asks = _question(state, message, choices) if choices else None
        return CannotSee(code=MOVE, message=message, player=state.next, asks=asks)
    if missing and choices and still is None:
        return _ask_unseen(state, stands, fits)
    unsure = len(found) > 1 or any(
        min(one.colour_probability, one.pose_probability) < SURE for one in seen.pieces
    )
    if not unsure and (tried := _tried(state, stands)):
        wrong = violation(state, tried)
        assert wrong is not None, "a legal move would have been accepted"
        verdict: Refused = refusal(wrong, state.next, (str(tried),), {"violation": wrong.code})
        return replace(verdict, code=MOVE)
    differences = _differences(record, stands)
    message = sentences(msg("The table differs from the record:"), *differences)
    if unsure:
        return CannotSee(code=MOVE, message=message, player=state.next)
    evidence = {"differences": [str(one) for one in differences]}
    return OutOfSync(code=SYNC, message=message, differences=differences, evidence=evidence)


def _shows(stands: Standing, state: State) -> bool:
    """True if all visible pyramids stand as in a state; some may be unseen."""
    return stands.items() <= state.pieces.items()


def _ask_unseen(state: State, stands: Standing, moves: list[Move]) -> CannotSee:
    """The question which of these moves was made, if an unmoved pyramid is unseen."""
    unseen = [
        msg("{player}'s pyramid on {cell}", player=player, cell=cell)
        for move in moves
        for cell, player in play(state, move).pieces.items()
        if cell not in stands
    ]
    message = msg("The camera cannot see {text}.", text=list(dict.fromkeys(unseen)))
    asks = _question(state, message, true_act_choices(_choices(state, moves), None))
    return CannotSee(code=MOVE, message=message, player=state.next, asks=asks)


def _tried(state: State, stands: Standing) -> Move | None:
    """The illegal move, by either player, that leads to this table; it removes no own pyramid."""
    record = state.pieces
    for origin, player in record.items():
        if [*stands.values()].count(player) != [*record.values()].count(player):
            continue
        for target in state.cells:
            rows, _ = pushed(state.rows, Move(origin, target))
            if origin != target and standing(rows, state.players) == stands:
                return Move(origin, target)
    return None


def _differences(record: Standing, stands: Standing) -> tuple[Message, ...]:
    """Differences from the record, one sentence per square."""
    found = []
    for cell in sorted(record.keys() | stands.keys()):
        belongs, there = record.get(cell), stands.get(cell)
        if belongs and not there:
            found.append(msg("{player}'s pyramid is missing on {cell}.", player=belongs, cell=cell))
        elif there and there != belongs:
            found.append(msg("{cell} has a {colour} pyramid.", cell=cell, colour=there))
    return tuple(found)
