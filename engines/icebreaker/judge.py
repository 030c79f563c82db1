"""From settled observations of the hex board to verdicts: the legal move that explains the table,
or why there is none.

The record says where every ship and iceberg stands, so the table is compared with it, not with an
earlier picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from engines.errors import Violation
from engines.icebreaker.board import SIZES, label, members, union
from engines.icebreaker.matching import Difference, Look, Shift, look
from engines.icebreaker.moves import Move, parse_move
from engines.icebreaker.occlusion import ask_unseen, ships
from engines.icebreaker.rules import (
    MOVES,
    RULES,
    STUCK,
    legal_moves,
    outcome,
    passes,
    play,
    start,
    turn,
    violation,
    went,
)
from engines.icebreaker.state import SHIPS, State, fresh
from engines.occlusion import NOT_SO, mostly_seen, what_is_true
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
from table.boards import Board, Hex
from table.errors import InputError
from table.files import shown
from table.listing import listed
from table.observation import Observation

START, MOVE, SYNC, OVER = (
    "icebreaker.start",
    "icebreaker.move",
    "icebreaker.out_of_sync",
    "icebreaker.over",
)
NAMED = 8
"""Cells that a sentence names before it only counts the rest."""


def set_up(players: Iterable[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`, on the board of the table; raises InputError for another board, or a ruling
    `size` that it does not have.
    """
    if board is None:
        return start(tuple(players), rulings)
    if not isinstance(board, Hex) or board.size not in SIZES:
        got = (
            f"{board.size} cells a side"
            if isinstance(board, Hex)
            else f"a board of kind {type(board).__name__.lower()}"
        )
        raise InputError(
            f"board: expected a hex board of {listed(sorted(SIZES), 'or')} cells a side for"
            f" Icebreaker, got {got}"
        )
    if rulings.get("size", str(board.size)) != str(board.size):
        raise InputError(
            f"rulings.size: expected {board.size}, as the table's board has, got"
            f" {rulings['size']!r}"
        )
    return start(tuple(players), {**rulings, "size": str(board.size)})


def hear(_state: State, said: Mapping[str, Any], _in_doubt: bool = False, /) -> NoReturn:
    """Nothing is heard in Icebreaker: raises InputError."""
    raise InputError(
        "input: Icebreaker is decided by the table alone, expected nothing, got"
        f" {shown(dict(said))}"
    )


def judge(state: State, seen: Observation, before: Observation | None, board: Board) -> Verdict:
    """What happened on a hex board on which nothing moves any more."""
    assert isinstance(board, Hex), "set_up refuses other boards"
    if ended := outcome(state):
        return Waiting(
            code=OVER,
            said=f"The game is over: {ended}.",
            rests_on="Object of the game",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(code=MOVE, said="A hand is over the table.", player=state.next)
    found = look(seen, board).counted(state)
    if before is not None:
        found = found.as_ruled(look(before, board).counted(state), state)
    if fallen := [piece.colour for piece in found.down if piece.colour not in dict(found.held)]:
        said = f"Stand the {fallen[0]} ship upright where it belongs."
        return Waiting(
            code=MOVE,
            said=said,
            rests_on=RULES,
            player=state.next,
            asks=ask_unseen(state, found, found.differs(state).gone),
        )
    if before is None and state == fresh(state.players, state.setting.rulings):
        return _judge_start(state, found)
    explained = [move for move in legal_moves(state) if found.shows(play(state, move))]
    still = found.shows(state)
    if still and (not explained or found.plainly().shows(state)):
        return _wait(state, found)
    if len(explained) == 1 and not still and (moved := _left(state, explained[0], found)):
        return _accept(state, explained[0], moved)
    if explained:
        return _ask(state, explained, still or len(explained) == 1)
    return _judge_difference(state, found)


def _wait(state: State, found: Look) -> Waiting | Accepted:
    """Nothing that counts has happened.  Of a ship that is seen again, which it was not, people's
    word is not needed any more.
    """
    held = found.differs(state).held
    said = turn(state) + (
        f" Not seen, and there on the players' word: {ships(held)}." if held else ""
    )
    if found.held.difference(held):
        return Accepted(code=START, said=said, rests_on=MOVES, moves=())
    asks = ask_unseen(state, found, held) if state.next in dict(held) else None
    return Waiting(
        code=MOVE, said=said, rests_on=MOVES, player=state.next, asks=asks, as_recorded=True
    )


def _judge_start(state: State, found: Look) -> Verdict:
    if wrong := found.differs(state):
        unread = {cells[0] for cells in found.unread} & {cell for _, cell in wrong.gone}
        hint = (
            " Show it better; where colours are hard to tell, teach the referee yours."
            if unread or wrong.recoloured
            else ""
        )
        said = f"Set up the board: {' '.join(_sentences(wrong, sorted(unread)))}{hint}"
        asks = _ask_begun(state, found, wrong)
        asks = asks or (
            _ask_about_lost_ice(state, wrong)
            if wrong.lost
            else ask_unseen(state, found, wrong.gone)
        )
        return Waiting(
            code=START,
            said=said,
            rests_on=RULES,
            asks=asks,
            differences=tuple(_sentences(wrong, sorted(unread))),
        )
    said = (
        f"The ships are on their corners and {state.ice.bit_count()} icebergs are in place."
        f" {turn(state)}"
    )
    return Accepted(code=START, said=said, rests_on=RULES, moves=())


def _ask_begun(state: State, found: Look, wrong: Difference) -> Ambiguous | None:
    """The board was set up, and play began, before anybody looked at it."""
    ways: list[tuple[Move, ...]] = [
        (move,) for move in legal_moves(state) if found.shows(play(state, move))
    ]
    if len(wrong.moved) == 2:
        ways += [order for order in _orders(wrong.moved) if _leads_to(state, order, found)]
    if not ways:
        return None
    said = "Was the board set up, and has play begun?"
    begun = [Choice(", then ".join(map(str, way)), tuple(map(str, way))) for way in ways]
    choices = (*begun, NOT_SO)
    return Ambiguous(
        code=START, said=said, rests_on=RULES, player=state.next, choices=choices, until_moved=True
    )


def _ask_about_lost_ice(state: State, wrong: Difference) -> Ambiguous | None:
    """A board on which nothing is amiss but icebergs that are not seen: a pale one on a pale cell
    may be there all the same.
    """
    if (
        replace(wrong, gone=(), lost=0)
        or not mostly_seen(wrong.gone, 2 * SHIPS)
        or wrong.lost.bit_count() > NAMED
    ):
        return None
    unseen = [*([ships(wrong.gone)] if wrong.gone else []), _icebergs(wrong.lost)]
    said = f"Not seen on the board: {listed(unseen)}. What is true? You may also move it a little."
    choices = what_is_true((), "All of it is there, and the camera does not see it")
    return Ambiguous(
        code="icebreaker.unseen",
        said=said,
        rests_on=RULES,
        player=state.next,
        choices=choices,
        until_moved=True,
    )


def _left(state: State, move: Move, found: Look) -> Shift | None:
    """The ship that is seen to have left its cell; None where icebergs alone tell of the move, and
    the ship may stand where it stood.
    """
    return next(
        (shift for shift in found.differs(state).moved if shift.from_cell == move.from_cell), None
    )


def _accept(state: State, move: Move, moved: Shift) -> Accepted:
    after = play(state, move)
    x_mm, y_mm = moved.ship.piece.base_mm
    captured = f" and takes the iceberg on {label(move.to_cell)}" if after.ice != state.ice else ""
    stuck = passes(state, after)
    passed = f"{stuck.capitalize()} can move no ship, so the turn passes. " if stuck else ""
    scores = listed(
        f"{player} {score}" for player, score in zip(after.players, after.scores, strict=True)
    )
    went_there = (
        f"{str(state.next).capitalize()}'s ship goes from {label(move.from_cell)} to"
        f" {label(move.to_cell)}"
    )
    said = f"{went_there}{captured}: {scores}. {passed}{turn(after)}"
    evidence = {
        "ship": str(moved.ship.piece),
        "base_mm": [round(float(x_mm), 3), round(float(y_mm), 3)],
    }
    rests_on = f"{MOVES}; {STUCK}" if stuck else MOVES
    return Accepted(
        code=MOVE,
        said=said,
        rests_on=rests_on,
        player=state.next,
        moves=(str(move),),
        evidence=evidence,
    )


def _ask(state: State, explained: list[Move], still: bool) -> Ambiguous:
    """More than one thing may have happened, for all that the picture says."""
    choices = [Choice(went(state, move), (str(move),)) for move in explained]
    if still:
        choices.append(Choice("No ship has moved yet", ()))
    alike = (
        f"Which move did {state.next} make? {'Two' if len(explained) == 2 else 'Several'} of them"
        " look alike in the picture."
    )
    asked = (
        alike
        if len(explained) > 1
        else f"Has {state.next} moved? A ship may stand where it stood, or where it may go."
    )
    said = f"{asked} You may also put the ship clearly in its cell."
    return Ambiguous(
        code=MOVE,
        said=said,
        rests_on=MOVES,
        player=state.next,
        choices=tuple(choices),
        until_moved=True,
    )


def _judge_difference(state: State, found: Look) -> Verdict:
    """No legal move explains the table: half of one is done, a wrong one was, or more than one."""
    wrong = found.differs(state)
    if wrong.extra and (asked := _ask_about_ice(state, found, wrong.extra)) is not None:
        return asked
    if wrong.gone and (asked := _ask_about_unread(state, found, wrong)) is not None:
        return asked
    if wrong.doubtful:
        piece = wrong.doubtful[0].piece
        said = (
            f"The camera is not sure of the {piece.colour} ship on"
            f" {label(wrong.doubtful[0].cells[0])}: move it a little, or show it better."
        )
        asks = ask_unseen(state, found, wrong.gone) if wrong.gone else None
        return CannotSee(
            code="icebreaker.doubt",
            said=said,
            rests_on=RULES,
            player=state.next,
            evidence={"piece": str(piece)},
            asks=asks,
        )
    if wrong.gone and not wrong.strange:
        if found.unread:
            return _exchanged(state, found, wrong)
        said = (
            f"Not seen on the board: {ships(wrong.gone)}. Put it there, or move it a little if it"
            f" is there. {turn(state)}"
        )
        return Waiting(
            code=MOVE,
            said=said,
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
            return _one_moved(state, moved, wrong)
        case _:
            return _two_moved(state, found, wrong)


def _ask_about_ice(state: State, found: Look, extra: int) -> Ambiguous | None:
    """A legal move explains all but an iceberg where none belongs: icebergs do not come back, and a
    pale cell may look like one.
    """
    bare = found.without_ice(extra)
    explained = [move for move in legal_moves(state) if bare.shows(play(state, move))]
    if len(explained) != 1 or bare.shows(state):
        return None
    (move,) = explained
    said = (
        f"{str(state.next).capitalize()} moved {move}, and what looks like an iceberg is seen on"
        f" {_cells(extra)}, where none belongs. Is it one?"
    )
    choices = (
        Choice(
            f"No: the ship on {label(move.from_cell)} went to {label(move.to_cell)}", (str(move),)
        ),
        Choice("Yes: put it right", ()),
    )
    return Ambiguous(
        code=MOVE, said=said, rests_on=MOVES, player=state.next, choices=choices, until_moved=True
    )


def _ask_about_unread(state: State, found: Look, wrong: Difference) -> Ambiguous | None:
    """One legal move explains all but ships of which no more is seen than that something stands in
    their cells, or where one of them goes.
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


def _exchanged(state: State, found: Look, wrong: Difference) -> OutOfSync | CannotSee:
    """A ship is not seen, and something stands there that is not read: one of another size or
    colour may be in its place.

    More ships of a colour than there are in the game are not read either; then those that are tell
    who stands in a wrong cell.
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
    where = listed((label(cell) for cell in unread), "and on")
    said = (
        f"Something that is not read as a ship stands on {where}, and {ships(wrong.gone)} is not"
        " seen: show it better, or put the right ship there."
    )
    told: dict[str, Any] = {
        "evidence": {"differences": _sentences(wrong, unread)},
        "asks": ask_unseen(state, found, wrong.gone),
    }
    return CannotSee(code="icebreaker.doubt", said=said, rests_on=RULES, player=state.next, **told)


def _only_ice(state: State, found: Look, wrong: Difference) -> Verdict:
    """Icebergs are not where they should be, and all ships are: the first half of a capture, or an
    accident.
    """
    captures = {move.to_cell for move in legal_moves(state)}
    if not wrong.extra and wrong.lost.bit_count() == 1 and next(members(wrong.lost)) in captures:
        said = (
            f"The iceberg on {_cells(wrong.lost)} is gone: now move the ship that takes it, or put"
            " it back."
        )
        asks = (
            ask_unseen(state, found, wrong.held)
            if wrong.held
            else _ask_about_lost_ice(state, wrong)
        )
        return Waiting(code=MOVE, said=said, rests_on=MOVES, player=state.next, asks=asks)
    return replace(
        _out_of_sync(state, wrong), asks=_ask_about_lost_ice(state, wrong) if wrong.lost else None
    )


def _one_moved(state: State, moved: Shift, wrong: Difference) -> Verdict:
    """One ship stands elsewhere, and that is no legal move, or not all of one."""
    move = Move(moved.from_cell, moved.to_cell)
    there = 1 << move.to_cell
    lost, extra = wrong.lost & ~there, wrong.extra & ~there
    if forbidden := violation(state, move):
        return _refuse(state, forbidden, (move,), wrong)
    if not lost and not extra:
        said = f"The ship stands on {label(move.to_cell)}: take its iceberg away."
        return Waiting(code=MOVE, said=said, rests_on=MOVES, player=state.next)
    if extra:
        return _out_of_sync(state, wrong)
    said = (
        f"{str(state.next).capitalize()} tried {move}, but {_icebergs(lost)} went too, and a ship"
        " takes the one on its own cell only."
    )
    return _refuse(state, Violation("ice.captured", MOVES, said), (move,), wrong)


def _two_moved(state: State, found: Look, wrong: Difference) -> Verdict:
    """Two ships stand elsewhere: two moves that nobody saw in between, or two at once."""
    sequences = [order for order in _orders(wrong.moved) if _leads_to(state, order, found)]
    own = [shift for shift in wrong.moved if shift.player == state.next]
    tried = tuple(Move(shift.from_cell, shift.to_cell) for shift in wrong.moved)
    if sequences:
        first, then = sequences[0]
        said = f"Two ships have moved: was it {first} and then {then}?"
        choices = (
            Choice(f"{first}, then {then}", (str(first), str(then))),
            Choice("Not so: put them back", ()),
        )
        return Ambiguous(
            code=MOVE,
            said=said,
            rests_on=MOVES,
            player=state.next,
            choices=choices,
            until_moved=True,
        )
    if len(own) == 2:
        said = (
            f"{str(state.next).capitalize()} moved two ships, {tried[0]} and {tried[1]}, and one is"
            " moved in a turn."
        )
        return _refuse(state, Violation("ice.two", RULES, said), tried, wrong)
    return _out_of_sync(state, wrong)


def _orders(moved: tuple[Shift, ...]) -> Iterator[tuple[Move, Move]]:
    a, b = (Move(shift.from_cell, shift.to_cell) for shift in moved)
    yield from ((a, b), (b, a))


def _leads_to(state: State, order: tuple[Move, Move], found: Look) -> bool:
    """Do two legal moves, one after the other, explain the table?"""
    for move in order:
        if move not in legal_moves(state):
            return False
        state = play(state, move)
    return found.shows(state)


def _refuse(
    state: State, forbidden: Violation, tried: tuple[Move, ...], wrong: Difference
) -> Refused:
    """`code` is the same for every refused move; which rule it was stands in the evidence."""
    evidence = {"violation": forbidden.code, "differences": _sentences(wrong)}
    back = f"Put back {listed(_repairs(state, wrong))}."
    named = replace(forbidden, code=MOVE, said=f"{forbidden.said} {back}")
    return refusal(named, state.next, tuple(map(str, tried)), evidence)


def _out_of_sync(state: State, wrong: Difference, unread: tuple[int, ...] = ()) -> OutOfSync:
    said = "The table is not as it was recorded. Put it right, or correct the record."
    return OutOfSync(
        code=SYNC,
        said=said,
        rests_on=RULES,
        player=state.next,
        differences=tuple(_sentences(wrong, unread)),
    )


def _repairs(state: State, wrong: Difference) -> Iterator[str]:
    """What to do to have the recorded table again; a ship hides whether the iceberg under it was
    taken.
    """
    for shift in wrong.moved:
        yield f"{shift.player}'s ship to {label(shift.from_cell)}"
    if taken := wrong.lost | (state.ice & union(*(shift.to_cell for shift in wrong.moved))):
        yield _icebergs(taken)


def _sentences(wrong: Difference, unread: Iterable[int] = ()) -> list[str]:
    """The difference piece by piece; `unread` are cells on which something stands that is not
    read.
    """
    said = [
        f"{shift.player.capitalize()}'s ship of {label(shift.from_cell)} stands on"
        f" {label(shift.to_cell)}."
        for shift in wrong.moved
    ]
    said += [
        f"{player.capitalize()}'s ship of {label(cell)} is missing." for player, cell in wrong.gone
    ]
    said += [
        f"A {ship.colour} ship too many stands on {label(ship.cells[0])}." for ship in wrong.strange
    ]
    said += [
        f"A {shift.ship.colour} ship stands on {label(shift.to_cell)}, and {shift.player}'s belongs"
        f" on {label(shift.from_cell)}."
        for shift in wrong.recoloured
    ]
    said += [f"Something that is not read as a ship stands on {label(cell)}." for cell in unread]
    if wrong.lost:
        said.append(f"Missing: {_icebergs(wrong.lost)}.")
    if wrong.extra:
        said.append(f"No iceberg belongs on {_cells(wrong.extra)}.")
    return said


def _icebergs(cells: int) -> str:
    return f"the iceberg{'s' if cells.bit_count() > 1 else ''} on {_cells(cells)}"


def _cells(cells: int) -> str:
    """Names of the cells of a set, the first NAMED of them."""
    names = list(map(label, members(cells)))
    return listed(
        names if len(names) <= NAMED + 1 else [*names[:NAMED], f"{len(names) - NAMED} more"]
    )
