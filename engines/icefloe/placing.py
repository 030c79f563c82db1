"""Before the first round: the pyramids are placed, singly or all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import permutations, starmap

from engines.icefloe import messages
from engines.icefloe.board import starting_board
from engines.icefloe.checks import MOVING, PLACING
from engines.icefloe.matching import TableMatch, agrees_with_name, is_surely_standing
from engines.icefloe.messages import turn
from engines.icefloe.moves import Placing
from engines.icefloe.rules import play, violation
from engines.icefloe.state import State
from engines.occlusion import NONE_OF_THESE, mostly_seen, true_act_choices
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Verdict, Waiting, refusal
from table.boards import Tiles
from table.messages import NOTHING, Message, all_of, msg, phrase, sentences
from table.observation import SURE, Observation

CODE = "icefloe.place"
TILES = 24
"""Tiles in a piecepack."""
CHOICES = 6
"""Most arrangements of unseen pyramids for which a question is asked."""


def judge_placing(
    state: State, seen: Observation, before: Observation | None, board: Tiles
) -> Verdict:
    """Judge the placing: the next pyramids in order, or all of them."""
    missing, extra = _tiles(state, seen)
    if missing or extra:
        wrong = [
            msg("Missing: {text}.", text=missing) if missing else NOTHING,
            msg("No tile belongs on {cells}.", cells=extra) if extra else NOTHING,
        ]
        message = sentences(*wrong)
        asks = (
            None
            if extra
            else _ask_tiles(state, missing, _judge_pyramids(state, seen, before, board))
        )
        return Waiting(
            code=CODE,
            message=message,
            rests_on="The Board",
            player=state.next,
            asks=asks,
            differences=tuple(filter(None, wrong)),
        )
    return _judge_pyramids(state, seen, before, board)


def _judge_pyramids(
    state: State, seen: Observation, before: Observation | None, board: Tiles
) -> Verdict:
    """Judge a table with all tiles in place."""
    order, placed = state.placing_order, state.board.pyramids
    sure = sum(piece.pose_probability >= SURE for piece in seen.pieces)
    if sure > len(order):
        message = sentences(
            msg(
                "There are {n} pyramids on the board, but the game uses {n2}.",
                n=sure,
                n2=len(order),
            ),
            msg("Take away what does not belong there."),
        )
        return Waiting(
            code=CODE, message=message, rests_on=PLACING, player=state.next, differences=(message,)
        )
    match = TableMatch(state, seen, before, board, order)
    # An unsure pyramid counts if it completes the set; otherwise it may be a print
    # on a tile.
    counts = ([len(order)] if len(seen.pieces) >= len(order) else []) + [max(sure, len(placed))]
    due = next(
        (
            due
            for count in counts
            if _are_surely_placed(due := TableMatch(state, seen, before, board, order[:count]))
        ),
        None,
    )
    if due is None:
        return _out_of_order(match, placed)
    where = due.pyramid_places
    if any(where[name] != floe.place for floe in state.board.floes for name in floe.pyramids):
        message = msg("Some placed pyramids now stand elsewhere: put them back.")
        return Waiting(
            code=CODE,
            message=sentences(message, turn(state)),
            rests_on=PLACING,
            player=state.next,
            differences=(message,),
        )
    moves = [Placing(name, where[name]) for name in due.pyramids[len(placed) :]]
    if not moves:
        return Waiting(
            code=CODE, message=turn(state), rests_on=PLACING, player=state.next, as_recorded=True
        )
    if (lying := fallen_pyramid_verdict(due, due.pyramids[len(placed) :])) is not None:
        return lying
    alike = _alike(due, moves)
    return _place(state, moves) if alike is None else alike


def fallen_pyramid_verdict(match: TableMatch, names: Collection[str]) -> Waiting | None:
    """Return the verdict if one of these pyramids surely fell over; else None.

    It may have rolled there: that is no move, and its place is unknown.
    """
    lying = [
        name
        for k, name in match.nearest_pyramids.items()
        if name in names
        and match.now.pieces[k].pose != "upright"
        and match.now.pieces[k].pose_probability >= SURE
    ]
    if not lying:
        return None
    placing = match.state.phase == "place"
    message = sentences(
        msg(
            "{cell} has fallen over: stand it upright where it belongs.",
            cell=messages.pyramid(lying[0]),
        ),
        turn(match.state),
    )
    return Waiting(
        code="icefloe.fallen",
        message=message,
        rests_on=PLACING if placing else MOVING,
        player=match.state.next,
        differences=(message,) if placing else (),
    )


def _are_surely_placed(due: TableMatch) -> bool:
    """True if these pyramids are there, as far as they are surely read."""
    whole = set(due.nearest_pyramids.values()) == set(due.pyramids)
    return whole and all(
        agrees_with_name(due.now.pieces[k], name)
        for k, name in due.nearest_pyramids.items()
        if is_surely_standing(due.now.pieces[k])
    )


def _place(state: State, moves: list[Placing]) -> Verdict:
    after = state
    for move in moves:
        if wrong := violation(after, move):
            if len(moves) == 1:
                return refusal(wrong, state.owner(move.pyramid), (str(move),), {})
            return Waiting(
                code=CODE,
                message=sentences(wrong.message, msg("Fix the table.")),
                rests_on=wrong.clause,
                player=state.next,
                differences=(wrong.message,),
            )
        after = play(after, move)
    code = CODE if after.phase == "place" else "icefloe.start"
    placed = (
        msg("{text}.", text=all_of(map(_placing_text, moves)))
        if after.phase == "place"
        else msg("All pyramids are placed.")
    )
    message = sentences(placed, turn(after))
    player = state.owner(moves[0].pyramid) if len(moves) == 1 else None
    return Accepted(
        code=code, message=message, rests_on=PLACING, player=player, moves=tuple(map(str, moves))
    )


def _placing_text(move: Placing) -> Message:
    return msg("{cell} stands on {cell2}", cell=messages.pyramid(move.pyramid), cell2=move.place)


def _tiles(state: State, seen: Observation) -> tuple[list[Message], list[str]]:
    """Missing tiles with their places, and places with surplus tiles."""
    wanted = {floe.place: floe.tile for floe in starting_board(len(state.players)).floes}
    there = {place for place, tile in (seen.tiles or {}).items() if tile}
    missing = [
        phrase("{cell} on {cell2}", cell=messages.tile(tile), cell2=place)
        for place, tile in wanted.items()
        if place not in there
    ]
    # If all present tiles are in place, a surplus reading is the table.
    return missing, sorted(there - set(wanted)) if missing or len(wanted) < TILES else []


def _ask_tiles(state: State, missing: Sequence[Message], otherwise: Verdict) -> Ambiguous | None:
    """Ask whether these unseen tiles are there, if all else is right."""
    if not isinstance(otherwise, Accepted) or not mostly_seen(missing, TILES):
        return None
    message = sentences(msg("Not seen on the board: {text}.", text=missing), msg("Which is right?"))
    still = Choice(msg("They are there, but the camera cannot see them"), otherwise.moves)
    choices = (still, NONE_OF_THESE)
    return Ambiguous(
        code=CODE,
        message=message,
        rests_on="The Board",
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _ask_where(match: TableMatch, placed: tuple[str, ...]) -> Ambiguous | None:
    """Ask where one or two unseen pyramids stand.

    Asked if all others are surely read and few tiles are left.
    """
    state, where = match.state, match.pyramid_places
    missing = [name for name in match.pyramids if name not in where]
    misread = any(
        is_surely_standing(match.now.pieces[k]) and not agrees_with_name(match.now.pieces[k], name)
        for k, name in match.nearest_pyramids.items()
    )
    if (
        not 1 <= len(missing) <= 2
        or misread
        or match.strangers(match.nearest_pyramids)
        or match.rivals()
    ):
        return None
    ways = []
    for stood in _possible_placements(state, missing, where):
        verdict = _place(
            state, [Placing(name, (where | stood)[name]) for name in match.pyramids[len(placed) :]]
        )
        if isinstance(verdict, Accepted):
            ways.append(Choice(_stand(*starmap(Placing, stood.items())), verdict.moves))
    if len(ways) > CHOICES or not (choices := true_act_choices(ways, None)):
        return None
    message = sentences(
        msg("Not seen on the board: {cells}.", cells=map(messages.pyramid, missing)),
        msg("Which is right?"),
        msg("You can also move it a little."),
    )
    return Ambiguous(
        code=CODE,
        message=message,
        rests_on=PLACING,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _stand(first: Placing, second: Placing | None = None) -> Message:
    """Describe where one or two pyramids stand."""
    if second is None:
        return _placing_text(first)
    return msg(
        "{cell} stands on {cell2}, and {cell3} on {cell4}",
        cell=messages.pyramid(first.pyramid),
        cell2=first.place,
        cell3=messages.pyramid(second.pyramid),
        cell4=second.place,
    )


def _possible_placements(
    state: State, missing: list[str], where: dict[str, str]
) -> Iterator[dict[str, str]]:
    """Placements on the remaining tiles; none if these are too many."""
    left = [floe.place for floe in state.board.floes if floe.place not in where.values()]
    if len(left) <= CHOICES:
        yield from (
            dict(zip(missing, places, strict=True)) for places in permutations(left, len(missing))
        )


def _out_of_order(match: TableMatch, placed: tuple[str, ...]) -> Verdict:
    """Judge other pyramids than those that are due.

    A single one is refused; for several it waits.
    """
    state = match.state
    names = {name: match.places[k] for k, name in match.nearest_pyramids.items()}
    new = [name for name in names if name not in placed]
    as_read = all(
        agrees_with_name(match.now.pieces[k], name)
        for k, name in match.nearest_pyramids.items()
        if name in new and is_surely_standing(match.now.pieces[k])
    )
    if (
        len(new) == 1
        and as_read
        and set(placed) <= set(names)
        and (wrong := violation(state, move := Placing(new[0], names[new[0]])))
    ):
        return refusal(wrong, state.owner(move.pyramid), (str(move),), {})
    differences, asks = _misplaced_pyramid_sentences(match, placed), _ask_where(match, placed)
    message = sentences(*differences, turn(state))
    return Waiting(
        code=CODE,
        message=message,
        rests_on=PLACING,
        player=state.next,
        asks=asks,
        differences=differences,
    )


def _misplaced_pyramid_sentences(match: TableMatch, placed: tuple[str, ...]) -> tuple[Message, ...]:
    """Describe pyramids that are not in place, as far as the picture tells."""
    pieces, order = match.now.pieces, match.pyramids
    seen = set(match.nearest_pyramids.values())
    # Where most stand there they are placed all at once: then none is too early, and those that are
    # not seen are missing.
    due = (
        order
        if len(match.nearest_pyramids) > len(order) / 2
        else order[: max(len(placed), len(match.nearest_pyramids))]
    )
    missing = [name for name in due if name not in seen]
    early = sorted((order.index(name), name) for name in seen if name not in due)
    other = [
        (k, name)
        for k, name in match.nearest_pyramids.items()
        if is_surely_standing(pieces[k]) and not agrees_with_name(pieces[k], name)
    ]
    message = (
        [msg("Not seen on the board: {cells}.", cells=map(messages.pyramid, missing))]
        if missing
        else []
    )
    message += (
        [msg("Placed too early: {cells}.", cells=(messages.pyramid(name) for _, name in early))]
        if early
        else []
    )
    message += [
        msg(
            "The camera reads a {colour} {cell2} on {cell}, but only {cell3} is left to"
            " stand there.",
            cell=match.places[k],
            colour=pieces[k].colour,
            cell2=pieces[k].size,
            cell3=messages.pyramid(name),
        )
        for k, name in other
    ]
    message += [
        msg(
            "A {colour} {cell} stands on {cell2}, but none is left to place.",
            colour=pieces[k].colour,
            cell=pieces[k].size,
            cell2=match.places[k],
        )
        for k in match.strangers(match.nearest_pyramids)
    ]
    return tuple(message) or (
        (
            msg(
                "The camera is not sure about every pyramid on the board: turn them, or move"
                " them to the middle of their tiles."
            )
        ),
    )


def _alike(match: TableMatch, moves: list[Placing]) -> Ambiguous | CannotSee | None:
    """Ask about pyramids of one suit that the picture cannot distinguish."""
    rivals = match.rivals()
    if not rivals:
        return None
    player, names = match.state.next, sorted(frozenset().union(*rivals))
    swapped = {move.pyramid: move for move in moves if move.pyramid in names}
    if len(names) != 2 or len(swapped) != 2:
        message = sentences(
            msg("The camera cannot tell these apart: {cells}.", cells=map(messages.pyramid, names)),
            msg("Turn them, or move them to the middle of their tiles."),
        )
        return CannotSee(code="icefloe.alike", message=message, rests_on=PLACING, player=player)
    a, b = swapped.values()
    other = {a: Placing(a.pyramid, b.place), b: Placing(b.pyramid, a.place)}
    choices = [
        Choice(_stand(first, second), tuple(map(str, placings)))
        for placings, first, second in (
            (moves, a, b),
            ([other.get(move, move) for move in moves], other[a], other[b]),
        )
    ]
    choices.append(Choice(msg("Neither: fix the table"), ()))
    message = msg(
        "The camera cannot tell whether {cell} or {cell2} stands on {cell3}.",
        cell=messages.pyramid(a.pyramid),
        cell2=messages.pyramid(b.pyramid),
        cell3=a.place,
    )
    return Ambiguous(
        code="icefloe.alike",
        message=message,
        rests_on=PLACING,
        player=player,
        choices=tuple(choices),
    )
