"""Judge settled observations of the hex board.

A verdict is the legal move that explains the table, or the reason why there is none. The record has
the place of every ship and iceberg, so the table is compared with it, not with an earlier picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from engines.errors import Violation
from engines.icebreaker.board import SIZES, label, members, union
from engines.icebreaker.matching import Difference, Shift, Ship, TableMatch, match_table
from engines.icebreaker.moves import Move, parse_move
from engines.icebreaker.occlusion import ask_unseen, ships, true_act_question
from engines.icebreaker.rules import (
    MOVES,
    RULES,
    STUCK,
    legal_moves,
    move_text,
    outcome,
    passed_player,
    play,
    start,
    turn,
    violation,
)
from engines.icebreaker.state import SHIPS, State, fresh
from engines.occlusion import NOT_SO, mostly_seen, true_act_choices
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
from table.boards import Board, Hex, kind_in_words
from table.errors import InputError
from table.files import shown
from table.json_data import Evidence
from table.messages import NOTHING, Listing, Message, all_of, any_of, msg, phrase, sentences
from table.observation import Observation

START, MOVE, SYNC, OVER = (
    "icebreaker.start",
    "icebreaker.move",
    "icebreaker.out_of_sync",
    "icebreaker.over",
)
NAMED = 8
"""Most cells named in a sentence; the others are only counted."""


def set_up(players: Iterable[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`, on the board of the table.

    Raises InputError for another board, or a ruling `size` that it does not have.
    """
    if board is None:
        return start(tuple(players), rulings)
    if not isinstance(board, Hex) or board.size not in SIZES:
        got = (
            phrase("{n} cells per side", n=board.size)
            if isinstance(board, Hex)
            else kind_in_words(board)
        )
        raise InputError(
            msg(
                "Icebreaker needs a hex board with {cells} cells per side; this is {text}",
                cells=any_of(sorted(SIZES)),
                text=got,
            )
        )
    if rulings.get("size", str(board.size)) != str(board.size):
        raise InputError(
            msg(
                "rulings.size: expected {n}, the size of the table's board, got {raw}",
                n=board.size,
                raw=repr(rulings["size"]),
            )
        )
    return start(tuple(players), {**rulings, "size": str(board.size)})


def hear(_state: State, heard: Mapping[str, Any], _in_doubt: bool = False, /) -> NoReturn:
    """Raise InputError: Icebreaker has no announcements."""
    raise InputError(
        msg(
            "input: expected nothing, got {raw}; Icebreaker is decided by the table alone",
            raw=shown(dict(heard)),
        )
    )


def judge(state: State, seen: Observation, before: Observation | None, board: Board) -> Verdict:
    """Judge a settled hex board."""
    assert isinstance(board, Hex), "set_up refuses other boards"
    if ended := outcome(state):
        return Waiting(
            code=OVER,
            message=msg("The game is over: {text}.", text=ended.message),
            rests_on="Object of the game",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(code=MOVE, message=msg("A hand is over the board."), player=state.next)
    found = match_table(seen, board).counted(state)
    if before is not None:
        found = found.with_rulings(match_table(before, board).counted(state), state)
    if fallen := [piece.colour for piece in found.down if piece.colour not in dict(found.held)]:
        message = msg("Stand the {colour} ship upright where it belongs.", colour=fallen[0])
        return Waiting(
            code=MOVE,
            message=message,
            rests_on=RULES,
            player=state.next,
            asks=ask_unseen(state, found, found.differences(state).gone),
        )
    if before is None and state == fresh(state.players, state.setting.rulings):
        return _judge_start(state, found)
    explained = [move for move in legal_moves(state) if found.agrees_with(play(state, move))]
    still = found.agrees_with(state)
    if still and (not explained or found.likeliest().agrees_with(state)):
        return _wait(state, found)
    if (
        len(explained) == 1
        and not still
        and (moved := _observed_departure(state, explained[0], found))
    ):
        return _accept(state, explained[0], moved)
    ghosts = () if explained else found.surplus(state)
    if ghosts:
        likely = found.without(ghosts)
        explained = [move for move in legal_moves(state) if likely.agrees_with(play(state, move))]
    if explained:
        return _ask(state, explained, still or len(explained) == 1)
    return _judge_difference(state, found, ghosts)


def _wait(state: State, found: TableMatch) -> Waiting | Accepted:
    """Return the verdict if nothing that counts has happened.

    Once an unseen ship is seen again, people's statement about it is dropped.
    """
    held = found.differences(state).held
    there = msg("Not visible, but there according to the players: {text}.", text=ships(held))
    message = sentences(turn(state), there if held else NOTHING)
    if found.held.difference(held):
        return Accepted(code=START, message=message, rests_on=MOVES, moves=())
    asks = ask_unseen(state, found, held) if state.next in dict(held) else None
    return Waiting(
        code=MOVE, message=message, rests_on=MOVES, player=state.next, asks=asks, as_recorded=True
    )


def _judge_start(state: State, found: TableMatch) -> Verdict:
    if wrong := found.differences(state):
        unread = {cells[0] for cells in found.unread} & {cell for _, cell in wrong.gone}
        hint = (
            msg(
                "Show it more clearly; if colours are hard to tell apart, let the"
                " referee learn yours."
            )
            if unread or wrong.recoloured
            else NOTHING
        )
        differences = _sentences(wrong, sorted(unread))
        message = sentences(msg("Set up the board:"), *differences, hint)
        asks = _ask_already_started(state, found, wrong)
        asks = asks or (
            _ask_about_lost_ice(state, wrong)
            if wrong.lost
            else ask_unseen(state, found, wrong.gone)
        )
        return Waiting(
            code=START, message=message, rests_on=RULES, asks=asks, differences=tuple(differences)
        )
    in_place = msg(
        "The ships are on their corners and {n} icebergs are in place.", n=state.ice.bit_count()
    )
    message = sentences(in_place, turn(state))
    return Accepted(code=START, message=message, rests_on=RULES, moves=())


def _ask_already_started(state: State, found: TableMatch, wrong: Difference) -> Ambiguous | None:
    """Ask about a board that was set up and played on before it was observed."""
    ways: list[tuple[Move, ...]] = [
        (move,) for move in legal_moves(state) if found.agrees_with(play(state, move))
    ]
    if len(wrong.moved) == 2:
        ways += [order for order in _orders(wrong.moved) if _explains_table(state, order, found)]
    if not ways:
        return None
    message = msg("Was the board set up, and has play begun?")
    begun = [_choice_of_moves(*way) for way in ways]
    choices = (*begun, NOT_SO)
    return Ambiguous(
        code=START,
        message=message,
        rests_on=RULES,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _choice_of_moves(first: Move, then: Move | None = None) -> Choice:
    """Return the choice that this move was made, or these two."""
    if then is None:
        return Choice(Message(str(first)), (str(first),))
    return Choice(msg("{cell}, then {cell2}", cell=first, cell2=then), (str(first), str(then)))


def _ask_about_lost_ice(state: State, wrong: Difference) -> Ambiguous | None:
    """Ask about a board where only icebergs are unseen.

    A pale iceberg on a pale cell may still be there.
    """
    if (
        replace(wrong, gone=(), lost=0)
        or not mostly_seen(wrong.gone, 2 * SHIPS)
        or wrong.lost.bit_count() > NAMED
    ):
        return None
    unseen = [*([ships(wrong.gone)] if wrong.gone else []), _icebergs(wrong.lost)]
    message = true_act_question(all_of(unseen))
    choices = true_act_choices((), msg("Everything is there, but the camera cannot see it"))
    return Ambiguous(
        code="icebreaker.unseen",
        message=message,
        rests_on=RULES,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _observed_departure(state: State, move: Move, found: TableMatch) -> Shift | None:
    """The ship that was seen to leave its cell.

    None if only icebergs show the move, and the ship may not have moved.
    """
    return next(
        (shift for shift in found.differences(state).moved if shift.from_cell == move.from_cell),
        None,
    )


def _accept(state: State, move: Move, moved: Shift) -> Accepted:
    after = play(state, move)
    x_mm, y_mm = moved.ship.piece.base_mm
    stuck = passed_player(state, after)
    passed = (
        msg("{player} cannot move any ship, so the turn passes.", player=stuck)
        if stuck
        else NOTHING
    )
    message = sentences(_move_and_scores_text(state, move, after), passed, turn(after))
    evidence: Evidence = {
        "ship": str(moved.ship.piece),
        "base_mm": [round(float(x_mm), 3), round(float(y_mm), 3)],
    }
    rests_on = f"{MOVES}; {STUCK}" if stuck else MOVES
    return Accepted(
        code=MOVE,
        message=message,
        rests_on=rests_on,
        player=state.next,
        moves=(str(move),),
        evidence=evidence,
    )


def _move_and_scores_text(state: State, move: Move, after: State) -> Message:
    """Describe what a move does, and the scores after it."""
    there = label(move.to_cell)
    scores = [
        phrase("{player} {n}", player=player, n=score)
        for player, score in zip(after.players, after.scores, strict=True)
    ]
    fields: dict[str, object] = {
        "player": state.next,
        "cell": label(move.from_cell),
        "cell2": there,
        "text": scores,
    }
    if after.ice == state.ice:
        return msg("{player}'s ship goes from {cell} to {cell2}: {text}.", **fields)
    return msg(
        "{player}'s ship goes from {cell} to {cell2} and takes the iceberg on {cell3}: {text}.",
        cell3=there,
        **fields,
    )


def _ask(state: State, explained: list[Move], still: bool) -> Ambiguous:
    """Ask which of several explanations happened."""
    choices = [Choice(move_text(state, move), (str(move),)) for move in explained]
    if still:
        choices.append(Choice(msg("No ship has moved yet"), ()))
    alike = (
        msg("Two moves look the same in the picture.")
        if len(explained) == 2
        else msg("Several moves look the same in the picture.")
    )
    asked = (
        (msg("Which move did {player} make?", player=state.next), alike)
        if len(explained) > 1
        else (
            msg("Has {player} moved?", player=state.next),
            msg("A ship may still be on its old cell, or on one that it may move to."),
        )
    )
    message = sentences(*asked, msg("You can also put the ship clearly in its cell."))
    return Ambiguous(
        code=MOVE,
        message=message,
        rests_on=MOVES,
        player=state.next,
        choices=tuple(choices),
        withdrawn_if_table_changes=True,
    )


def _judge_difference(state: State, found: TableMatch, ghosts: Sequence[Ship]) -> Verdict:
    """Judge a table that no legal move explains.

    A move is half done, a wrong one was made, or more than one. `ghosts` are surplus ships that may
    not be there.
    """
    wrong = found.differences(state)
    if wrong.extra and (asked := _ask_about_ice(state, found, wrong.extra)) is not None:
        return asked
    if wrong.gone and (asked := _ask_about_unread(state, found, wrong)) is not None:
        return asked
    if doubtful := wrong.doubtful or (ghosts if wrong.strange else found.ships_of_unsure_cell):
        piece = doubtful[0].piece
        message = msg(
            "The camera is not sure about the {colour} ship on {cell}: move it a little, or"
            " show it more clearly.",
            colour=piece.colour,
            cell=label(doubtful[0].cells[0]),
        )
        asks = ask_unseen(state, found, wrong.gone) if wrong.gone else None
        return CannotSee(
            code="icebreaker.doubt",
            message=message,
            rests_on=RULES,
            player=state.next,
            evidence={"piece": str(piece)},
            asks=asks,
        )
    if wrong.gone and not wrong.strange:
        if found.unread:
            return _exchanged(state, found, wrong)
        message = sentences(
            msg("Not seen on the board: {text}.", text=ships(wrong.gone)),
            msg("Put it there, or move it a little if it is already there."),
            turn(state),
        )
        return Waiting(
            code=MOVE,
            message=message,
            rests_on=MOVES,
            player=state.next,
            asks=ask_unseen(state, found, wrong.gone),
        )
    if wrong.strange or wrong.recoloured or len(wrong.moved) > 2:
        return _out_of_sync(state, wrong)
    match wrong.moved:
        case ():
            return _only_ice(state, found, wrong)
        case (moved,):
            return _moved_ship_verdict(state, moved, wrong)
        case _:
            return _two_moved(state, found, wrong)


def _ask_about_ice(state: State, found: TableMatch, extra: int) -> Ambiguous | None:
    """Ask about a surplus iceberg, if a legal move explains all else.

    Icebergs do not come back, and a pale cell may look like one.
    """
    bare = found.without_ice(extra)
    explained = [move for move in legal_moves(state) if bare.agrees_with(play(state, move))]
    if len(explained) != 1 or bare.agrees_with(state):
        return None
    (move,) = explained
    message = sentences(
        msg(
            "{player} moved {cell}, but there seems to be an iceberg on {cells}, where none"
            " belongs.",
            player=state.next,
            cell=move,
            cells=_cells(extra),
        ),
        msg("Is it an iceberg?"),
    )
    choices = (
        Choice(
            msg(
                "No: the ship on {cell} went to {cell2}",
                cell=label(move.from_cell),
                cell2=label(move.to_cell),
            ),
            (str(move),),
        ),
        Choice(msg("Yes: fix the table"), ()),
    )
    return Ambiguous(
        code=MOVE,
        message=message,
        rests_on=MOVES,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _ask_about_unread(state: State, found: TableMatch, wrong: Difference) -> Ambiguous | None:
    """Ask about unreadable ships, if one legal move explains all else.

    They are only seen as something in their cells, or where one of them goes.
    """
    unread, gone = {cells[0] for cells in found.unread}, {cell for _, cell in wrong.gone}
    asked = ask_unseen(state, found, wrong.gone)
    if asked is None:
        return None
    moves = [parse_move(choice.moves[0]) for choice in asked.choices if choice.moves]
    if wrong.moved:
        return asked if gone <= unread and len(moves) == 1 else None
    return (
        asked
        if sum(move.from_cell in gone and move.to_cell in unread for move in moves) == 1
        else None
    )


def _exchanged(state: State, found: TableMatch, wrong: Difference) -> OutOfSync | CannotSee:
    """Judge a missing ship with something unread in its cell.

    A piece of another size or colour may be in its place. Ships beyond the game's number of a
    colour count as unread, too. The read ones then tell which ship is in a wrong cell.
    """
    players = {
        cell: player
        for player, cells in zip(state.players, state.ships, strict=True)
        for cell in members(cells)
    }
    others = [
        Shift(players[ship.cells[0]], ship.cells[0], ship)
        for ship in found.ships
        if ship.in_place_of(players)
    ]
    unread = tuple(cells[0] for cells in found.unread)
    if others:
        return _out_of_sync(
            state, replace(wrong, moved=(), gone=(), recoloured=tuple(others)), unread
        )
    message = msg(
        "Something on {text} does not look like a ship, and {text2} cannot be seen: show it"
        " more clearly, or put the right ship there.",
        text=_cell_list(*map(label, unread)),
        text2=ships(wrong.gone),
    )
    return CannotSee(
        code="icebreaker.doubt",
        message=message,
        rests_on=RULES,
        player=state.next,
        evidence={"differences": _sentences(wrong, unread)},
        asks=ask_unseen(state, found, wrong.gone),
    )


def _cell_list(*cells: str) -> str:
    """`E1`, `E1 and on E2`, `E1, E2 and on E3`."""
    *others, last = cells
    if not others:
        return last
    return phrase("{cells} and on {cell}", cells=Listing(tuple(others), ","), cell=last)


def _only_ice(state: State, found: TableMatch, wrong: Difference) -> Verdict:
    """Judge a table with all ships in place, and wrong icebergs.

    It is the first half of a capture, or an accident.
    """
    captures = {move.to_cell for move in legal_moves(state)}
    if not wrong.extra and wrong.lost.bit_count() == 1 and next(members(wrong.lost)) in captures:
        message = msg(
            "The iceberg on {text} is gone: now move the ship that takes it, or put it back.",
            text=_cells(wrong.lost),
        )
        asks = (
            ask_unseen(state, found, wrong.held)
            if wrong.held
            else _ask_about_lost_ice(state, wrong)
        )
        return Waiting(code=MOVE, message=message, rests_on=MOVES, player=state.next, asks=asks)
    return replace(
        _out_of_sync(state, wrong), asks=_ask_about_lost_ice(state, wrong) if wrong.lost else None
    )


def _moved_ship_verdict(state: State, moved: Shift, wrong: Difference) -> Verdict:
    """Judge a ship that stands elsewhere, by no legal move or only a part of one."""
    move = Move(moved.from_cell, moved.to_cell)
    there = 1 << move.to_cell
    lost, extra = wrong.lost & ~there, wrong.extra & ~there
    if forbidden := violation(state, move):
        return _refuse(state, forbidden, (move,), wrong)
    if not lost and not extra:
        message = msg(
            "The ship is on {cell}: take the iceberg there away.", cell=label(move.to_cell)
        )
        return Waiting(code=MOVE, message=message, rests_on=MOVES, player=state.next)
    if extra:
        return _out_of_sync(state, wrong)
    message = msg(
        "{player} tried {cell}, but {text} disappeared too; a ship takes only the iceberg"
        " on its own cell.",
        player=state.next,
        cell=move,
        text=_icebergs(lost),
    )
    return _refuse(state, Violation("ice.captured", MOVES, message), (move,), wrong)


def _two_moved(state: State, found: TableMatch, wrong: Difference) -> Verdict:
    """Judge two ships that stand elsewhere: two unseen moves in turn, or two at once."""
    sequences = [order for order in _orders(wrong.moved) if _explains_table(state, order, found)]
    own = [shift for shift in wrong.moved if shift.player == state.next]
    tried = tuple(Move(shift.from_cell, shift.to_cell) for shift in wrong.moved)
    if sequences:
        first, then = sequences[0]
        message = msg(
            "Two ships have moved: was it {cell} and then {cell2}?", cell=first, cell2=then
        )
        choices = (_choice_of_moves(first, then), Choice(msg("No: put them back"), ()))
        return Ambiguous(
            code=MOVE,
            message=message,
            rests_on=MOVES,
            player=state.next,
            choices=choices,
            withdrawn_if_table_changes=True,
        )
    if len(own) == 2:
        message = msg(
            "{player} moved two ships, {cell} and {cell2}, but only one moves in a turn.",
            player=state.next,
            cell=tried[0],
            cell2=tried[1],
        )
        return _refuse(state, Violation("ice.two", RULES, message), tried, wrong)
    return _out_of_sync(state, wrong)


def _orders(moved: tuple[Shift, ...]) -> Iterator[tuple[Move, Move]]:
    a, b = (Move(shift.from_cell, shift.to_cell) for shift in moved)
    yield from ((a, b), (b, a))


def _explains_table(state: State, order: tuple[Move, Move], found: TableMatch) -> bool:
    """True if two legal moves in this order explain the table."""
    for move in order:
        if move not in legal_moves(state):
            return False
        state = play(state, move)
    return found.agrees_with(state)


def _refuse(
    state: State, forbidden: Violation, tried: tuple[Move, ...], wrong: Difference
) -> Refused:
    """Return a refusal. `code` is the same for every refused move; the evidence names the rule."""
    evidence = {"violation": forbidden.code, "differences": _sentences(wrong)}
    back = msg("Put back {text}.", text=_repairs(state, wrong))
    named = replace(forbidden, code=MOVE, message=sentences(forbidden.message, back))
    return refusal(named, state.next, tuple(map(str, tried)), evidence)


def _out_of_sync(state: State, wrong: Difference, unread: tuple[int, ...] = ()) -> OutOfSync:
    message = sentences(
        msg("The table does not match the record."), msg("Fix the table, or correct the record.")
    )
    return OutOfSync(
        code=SYNC,
        message=message,
        rests_on=RULES,
        player=state.next,
        differences=tuple(_sentences(wrong, unread)),
    )


def _repairs(state: State, wrong: Difference) -> Iterator[Message]:
    """Describe how to restore the recorded table, one phrase each.

    A ship hides whether the iceberg under it was taken.
    """
    for shift in wrong.moved:
        yield phrase("{player}'s ship to {cell}", player=shift.player, cell=label(shift.from_cell))
    if taken := wrong.lost | (state.ice & union(*(shift.to_cell for shift in wrong.moved))):
        yield _icebergs(taken)


def _sentences(wrong: Difference, unread: Iterable[int] = ()) -> list[Message]:
    """Describe the difference in sentences, one per piece.

    `unread` are cells with something unread on them.
    """
    message = [
        msg(
            "{player}'s ship from {cell} is on {cell2}.",
            player=shift.player,
            cell=label(shift.from_cell),
            cell2=label(shift.to_cell),
        )
        for shift in wrong.moved
    ]
    message += [
        msg("{player}'s ship from {cell} is missing.", player=player, cell=label(cell))
        for player, cell in wrong.gone
    ]
    message += [
        msg(
            "There is one {colour} ship too many, on {cell}.",
            colour=ship.colour,
            cell=label(ship.cells[0]),
        )
        for ship in wrong.strange
    ]
    message += [
        msg(
            "A {colour} ship stands on {cell}, but {player}'s ship belongs on {cell2}.",
            colour=shift.ship.colour,
            cell=label(shift.to_cell),
            player=shift.player,
            cell2=label(shift.from_cell),
        )
        for shift in wrong.recoloured
    ]
    message += [
        msg("Something on {cell} does not look like a ship.", cell=label(cell)) for cell in unread
    ]
    if wrong.lost:
        message.append(msg("Missing: {text}.", text=_icebergs(wrong.lost)))
    if wrong.extra:
        message.append(msg("No iceberg belongs on {text}.", text=_cells(wrong.extra)))
    return message


def _icebergs(cells: int) -> Message:
    if cells.bit_count() > 1:
        return phrase("the icebergs on {text}", text=_cells(cells))
    return phrase("the iceberg on {text}", text=_cells(cells))


def _cells(cells: int) -> Listing:
    """Names of the cells of a set, the first NAMED of them."""
    names = list(map(label, members(cells)))
    if len(names) <= NAMED + 1:
        return all_of(names)
    return all_of([*names[:NAMED], phrase("{n} more", n=len(names) - NAMED)])
