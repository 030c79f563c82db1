"""Judge settled observations of the pond.

Every legal move leads to a different pond. The one that explains the picture is what happened, if
no other explains it nearly as well and nothing forbidden explains it better. `before` is the
observation of the last accepted verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from engines.icefloe import messages
from engines.icefloe.board import WEIGHT_MOST, Board
from engines.icefloe.checks import MOVING, REMOVING
from engines.icefloe.matching import DOUBT, TableMatch
from engines.icefloe.messages import after_move, removal_text, turn
from engines.icefloe.moves import Move, Movement, Removal, Slide, Torch
from engines.icefloe.placing import fallen_pyramid_verdict, judge_placing
from engines.icefloe.rules import legal_moves, outcome, play, violation
from engines.icefloe.state import State
from engines.occlusion import NONE_OF_THESE, NOT_SO, mostly_seen, true_act_choices
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    OutOfSync,
    Refused,
    Verdict,
    Waiting,
)
from table.boards import Board as TableBoard
from table.boards import Tiles
from table.listing import cannot_be_read
from table.messages import NOTHING, Listing, Message, all_of, msg, phrase, sentences
from table.observation import Observation

UNSURE = 2.0
"""An explanation up to this many times DOUBT worse than the best forbidden one is neither ruled on
nor excluded: people decide.
"""


class _Explanation(NamedTuple):
    """A possible explanation: moves, the last of which is seen, and the state after them.

    No moves: nothing happened.
    """

    moves: tuple[Move, ...]
    after: State


def judge(
    state: State, seen: Observation, before: Observation | None, board: TableBoard, /
) -> Verdict:
    """Judge a settled pond."""
    assert isinstance(board, Tiles), "set_up sees to that"
    if ended := outcome(state):
        return Waiting(
            code="icefloe.over",
            message=msg("The game is over: {text}.", text=ended.message),
            rests_on="End of Game",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(
            code="icefloe.hand", message=msg("A hand is over the board."), player=state.next
        )
    if seen.tiles is None:
        return CannotSee(
            code="icefloe.tiles",
            message=msg("The camera cannot see which tiles are on the table."),
            player=state.next,
        )
    if state.phase == "name":  # the pond may be cleared
        return Waiting(
            code="icefloe.name", message=turn(state), rests_on="End of Game", player=state.next
        )
    if state.phase == "place":
        return judge_placing(state, seen, before, board)
    match = TableMatch(state, seen, before, board, state.board.pyramids)
    explanations = sorted(
        ((match.cost_nats(one.after.board), k, one) for k, one in enumerate(_explanations(state))),
        key=lambda entry: entry[:2],
    )
    least = explanations[0][0]
    if least - match.free_nats > DOUBT:
        changes = _changes(match)
        return (
            _half_move_verdict(match, changes)
            or _ask_two(match, changes)
            or fallen_pyramid_verdict(match, match.pyramids)
            or _not_allowed(match, changes)
        )
    rivals = [one for nats, _, one in explanations if nats - least < DOUBT]
    if match.untouched and (still := [one for one in rivals if not one.moves]):
        return _judge_explanation(match, still[0])
    whole = [one for one in rivals if not match.differences(one.after.board)]
    return _ask(match, whole) if len(whole) > 1 else _judge_explanation(match, (whole or rivals)[0])


def _explanations(state: State) -> Iterator[_Explanation]:
    """Return the explanations: nothing happened, or any legal move that can be seen.

    The torch is handed on implicitly when the next round begins. A move that ends where it began
    cannot be seen: people have to declare it.
    """
    yield _Explanation((), state)
    if state.phase == "remove":
        move = Removal(state.tile)
        yield _Explanation((move,), after := play(state, move))
        if after.phase == "extra":  # both tiles may be taken off in one go
            empty = (Removal(floe.tile) for floe in after.board.empty)
            yield from (_Explanation((move, other), play(after, other)) for other in empty)
        return
    if state.phase == "extra":
        yield from (
            _Explanation((move,), play(state, move))
            for floe in state.board.empty
            if (move := Removal(floe.tile))
        )
    opening, moving = _next_to_move(state)
    if moving.phase == "move":
        seen = (
            move
            for move in legal_moves(moving)
            if isinstance(move, Movement | Slide) and move.origin != move.target
        )
        yield from (_Explanation((*opening, move), play(moving, move)) for move in seen)


def _next_to_move(state: State) -> tuple[tuple[Move, ...], State]:
    """Return the state in which a player may move, and the implicit moves before it.

    These are that no empty tile is removed, and that the torch is handed on.
    """
    opening: list[Move] = []
    if state.phase == "extra":
        opening.append(Removal(None))
        state = play(state, opening[-1])
    if state.phase == "torch":
        opening.append(Torch(state.after(state.torch)))
        state = play(state, opening[-1])
    return tuple(opening), state


def _judge_explanation(match: TableMatch, explanation: _Explanation) -> Verdict:
    """Return the verdict of a single explanation, if it explains the whole picture."""
    if differences := match.differences(explanation.after.board):
        return _out_of_sync(match.state, explanation, differences)
    return _judge_move(match, explanation) if explanation.moves else _judge_unchanged(match)


def _out_of_sync(
    state: State, explanation: _Explanation, differences: tuple[Message, ...]
) -> OutOfSync:
    """Return the verdict of differences that the explanation leaves."""
    what = (
        msg(
            "The camera sees {cell}, but something else has changed too.",
            cell=explanation.moves[-1],
        )
        if explanation.moves
        else msg("The table does not match the record.")
    )
    return OutOfSync(
        code="icefloe.out_of_sync",
        message=sentences(what, msg("Fix the table.")),
        player=state.next,
        differences=differences,
    )


def _judge_unchanged(match: TableMatch) -> Verdict:
    """Return the verdict if nothing happened: whose turn it is, and what is unseen or surplus."""
    state, matched = match.state, set(match.matched_pyramids(match.state.board).values())
    if hidden := match.hidden(state.board):
        known = matched | match.assumed_pyramids
        unseen = [name for name in state.board.pyramids if name not in known]
        return CannotSee(
            code="icefloe.unread",
            message=cannot_be_read(hidden[0]),
            player=state.next,
            asks=_ask_unseen(match, unseen),
        )
    if match.assumed_pyramids & matched:
        return Accepted(
            code=f"icefloe.{state.phase}", message=turn(state), player=state.next, moves=()
        )
    return Waiting(
        code=f"icefloe.{state.phase}",
        message=sentences(turn(state), _extra_tiles(match), _assumed_pyramids_text(match)),
        player=state.next,
        asks=_ask_unseen(match, _assumed_pyramids_of_next(match)),
        as_recorded=True,
    )


def _extra_tiles(match: TableMatch) -> Message:
    """Describe surplus tiles; NOTHING without any."""
    extra = sorted(match.tiles - {floe.place for floe in match.state.board.floes} - match.misread)
    if not extra:
        return NOTHING
    return msg(
        "There seems to be a tile on {cells}, where none belongs. If so, take it off.", cells=extra
    )


def _assumed_pyramids_text(match: TableMatch) -> Message:
    """Describe unseen pyramids that people vouch for; NOTHING without any."""
    if not match.assumed_pyramids:
        return NOTHING
    return msg(
        "Not visible, but there according to the players: {text}.",
        text=_stand(match.state, match.assumed_pyramids),
    )


def _assumed_pyramids_of_next(match: TableMatch) -> list[str]:
    """Assumed pyramids of the player who acts next."""
    moving = _next_to_move(match.state)[1]
    player = moving.mover if moving.phase == "move" else match.state.next
    return [name for name in match.assumed_pyramids if moving.owner(name) == player]


def _judge_move(match: TableMatch, explanation: _Explanation) -> Verdict:
    """Return the verdict on a move; a question if its pyramid is unread at its end."""
    state, after, move = match.state, explanation.after, explanation.moves[-1]
    if (
        isinstance(move, Movement)
        and after.board.floe_under(move.pyramid)
        and move.pyramid not in match.matched_pyramids(after.board).values()
    ):
        return _ask_unread(match, explanation, move)
    code, player, rests_on = _kind(state, move)
    ended = outcome(after)
    message = sentences(
        *(msg("{text}.", text=what) for what in _descriptions(state, explanation)),
        msg("The game is over: {text}.", text=ended.message) if ended else after_move(after),
    )
    return Accepted(
        code=code,
        message=message,
        rests_on=rests_on,
        player=player,
        moves=tuple(map(str, explanation.moves)),
        evidence={"move": _short_notation(move)},
    )


def _kind(state: State, move: Move) -> tuple[str, str | None, str]:
    """Code, player and clause of a visible move."""
    if isinstance(move, Removal):
        empty = state.phase == "extra"
        return (
            ("icefloe.removed_empty", state.torch, "Remove An Empty Tile")
            if empty
            else ("icefloe.removed", state.torch, REMOVING)
        )
    return "icefloe.move", _next_to_move(state)[1].mover, MOVING


def _descriptions(state: State, explanation: _Explanation) -> list[Message]:
    """Describe what happened.

    The last move, and the removal before it if two tiles were removed at once.
    """
    moves = explanation.moves if state.phase == "remove" else explanation.moves[-1:]
    return [_describe(state, move, explanation.after) for move in moves]


def _as_choice(state: State, explanation: _Explanation) -> Choice:
    """Return the choice of this explanation."""
    *before, last = _descriptions(state, explanation)
    label = sentences(*(msg("{text}.", text=what) for what in before), last)
    return Choice(label, tuple(map(str, explanation.moves)))


def _short_notation(move: Move) -> str:
    """Format a move for people; of a removal only the tile's name."""
    return str(move.tile) if isinstance(move, Removal) else str(move)


def _describe(state: State, move: Move, after: State) -> Message:
    """Describe a move."""
    mover = _kind(state, move)[1]
    match move:
        case Removal():
            return removal_text(state, move.tile)
        case Slide():
            floe = state.board.at(move.origin)
            return (
                msg(
                    "{player} slid {cell} from {cell2} to {cell3}",
                    player=mover,
                    cell=messages.tile(floe.tile),
                    cell2=move.origin,
                    cell3=move.target,
                )
                if floe
                else msg(
                    "{player} slid a tile from {cell} to {cell2}",
                    player=mover,
                    cell=move.origin,
                    cell2=move.target,
                )
            )
        case Movement():
            moved: dict[str, object] = {
                "player": mover,
                "cell": messages.pyramid(move.pyramid),
                "cell2": move.origin,
                "cell3": move.target,
            }
            if not after.sunk:
                return msg("{player} moved {cell} from {cell2} to {cell3}", **moved)
            return msg(
                "{player} moved {cell} from {cell2} to {cell3}, and {cell4} sinks (more than {n})",
                cell4=messages.tile(after.sunk),
                n=WEIGHT_MOST,
                **moved,
            )
        case _:
            raise AssertionError("not seen")


def _ask_unread(match: TableMatch, explanation: _Explanation, move: Movement) -> Ambiguous:
    """Ask about a pyramid that left its place and is not read elsewhere.

    Only something unreadable is seen of it, or nothing.
    """
    state, moves = match.state, tuple(map(str, explanation.moves))
    message = sentences(
        msg(
            "{cell} is no longer on {cell2}, and the camera cannot find it elsewhere.",
            cell=messages.pyramid(move.pyramid),
            cell2=move.origin,
        ),
        msg("Was it moved to {cell}?", cell=move.target),
    )
    elsewhere = _ask_unseen(match, [move.pyramid])
    others = [
        choice
        for choice in (elsewhere.choices if elsewhere else ())
        if choice.moves not in ((), moves)
    ]
    choices = (
        Choice(_describe(state, move, explanation.after), moves),
        *others,
        Choice(msg("No: show it more clearly, or fix the table"), ()),
    )
    return Ambiguous(
        code="icefloe.unread",
        message=message,
        rests_on=MOVING,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _ask(match: TableMatch, rivals: list[_Explanation]) -> Verdict:
    """Ask which of several explanations of the picture is right."""
    state = match.state
    choices = [_as_choice(state, one) for one in rivals if one.moves]
    choices.append(NONE_OF_THESE)
    message = msg("It is unclear what was moved, or where it stands.")
    return Ambiguous(
        code="icefloe.too_close",
        message=message,
        rests_on=MOVING,
        player=state.next,
        choices=tuple(choices),
    )


def _ask_unseen(match: TableMatch, unseen: Collection[str]) -> Ambiguous | None:
    """Ask where these unseen pyramids are.

    They are in place, or where a legal move takes one.

    None if more is wrong, or most are unseen.
    """
    state = match.state
    if not unseen or not mostly_seen(unseen, len(state.board.pyramids)):
        return None
    there = replace(match, anywhere=frozenset(unseen))
    explained = [one for one in _explanations(state) if _board_fits(there, one.after.board, None)]
    ways = [_as_choice(state, one) for one in explained if one.moves]
    still = (
        msg("It still stands there, but the camera cannot see it")
        if any(not one.moves for one in explained)
        else None
    )
    if not (choices := true_act_choices(ways, still)):
        return None
    message = sentences(
        msg("Not seen on the board: {text}.", text=_stand(state, unseen)),
        msg("Which is right?"),
        msg("You can also move it a little."),
    )
    return Ambiguous(
        code="icefloe.unseen",
        message=message,
        rests_on=MOVING,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _ask_unsure(match: TableMatch) -> Ambiguous | None:
    """Ask what happened if only an unsure reading contradicts the explanations.

    It is unsure which pyramid a piece is.
    """
    state = match.state
    scored = [(match.cost_nats(one.after.board), one) for one in _explanations(state)]
    least = min(nats for nats, _ in scored)
    if least - match.free_nats > UNSURE * DOUBT:
        return None
    explained = [
        one
        for nats, one in scored
        if nats - least < DOUBT and not match.differences(one.after.board)
    ]
    unsure = {
        match.places[k]
        for one in explained
        for k, name in match.matched_pyramids(one.after.board).items()
        if match.nearest_pyramids.get(k) != name
    }
    ways = [_as_choice(state, one) for one in explained if one.moves]
    still = (
        msg("Nothing was moved; the camera is wrong")
        if any(not one.moves for one in explained)
        else None
    )
    if not unsure or not (choices := true_act_choices(ways, still)):
        return None
    message = sentences(
        msg("The camera is not sure which pyramid stands on {cells}.", cells=sorted(unsure)),
        msg("Which is right?"),
        msg("You can also turn it a little."),
    )
    return Ambiguous(
        code="icefloe.unsure",
        message=message,
        rests_on=MOVING,
        player=state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _ask_in_turn(match: TableMatch, changes: _Changes) -> Ambiguous | None:
    """Ask whether several players moved in turn before the pond was at rest.

    None if the picture does not show that.
    """
    opening, state = _next_to_move(match.state)
    moves: list[Move] = list(opening)
    if state.phase != "move" or len(changes.moved) < 2:
        return None
    steps: list[Message] = []
    while state.phase == "move" and (
        name := next((name for name in changes.moved if state.owner(name) == state.mover), None)
    ):
        floe = state.board.floe_under(name)
        move = Movement(name, floe.place if floe else "", changes.moved[name])
        if floe is None or violation(state, move):
            break
        after = play(state, move)
        steps.append(_describe(state, move, after))
        moves.append(move)
        state = after
    if len(steps) < len(changes.moved) or not _board_fits(match, state.board, None):
        return None
    *before, label = steps
    for what in reversed(before):
        label = msg("{text}; then {text2}", text=what, text2=label)
    choices = (Choice(label, tuple(map(str, moves))), NONE_OF_THESE)
    message = sentences(
        msg("Several pyramids were moved."), msg("Did the players move one after the other?")
    )
    return Ambiguous(
        code="icefloe.in_turn",
        message=message,
        rests_on=MOVING,
        player=match.state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _stand(state: State, names: Collection[str]) -> Listing:
    """Describe where pyramids stand by the record."""
    return all_of(
        phrase("{cell} on {cell2}", cell=messages.pyramid(name), cell2=floe.place)
        for floe in state.board.floes
        for name in floe.pyramids
        if name in names
    )


def _half_move_verdict(match: TableMatch, changes: _Changes) -> Waiting | None:
    """Return the verdict of a half-done move.

    The player who moves holds a pyramid. Or a tile has to be removed with all that stands on it,
    and only a part is gone.
    """
    state = match.state
    if state.phase == "remove" and _board_fits(match, state.board, state.tile):
        return Waiting(
            code="icefloe.remove", message=turn(state), rests_on=REMOVING, player=state.torch
        )
    moving = _next_to_move(state)[1]
    if moving.phase != "move":
        return None
    if changes.lifted_pyramid and moving.owner(changes.lifted_pyramid) == moving.mover:
        message = sentences(
            msg(
                "{cell} is off the board: move it, or put it back.",
                cell=messages.pyramid(changes.lifted_pyramid),
            ),
            turn(moving),
        )
        asks = _ask_unseen(match, [changes.lifted_pyramid])
        return Waiting(
            code="icefloe.move", message=message, rests_on=MOVING, player=moving.mover, asks=asks
        )
    for move in legal_moves(moving):
        sunk = play(moving, move).sunk
        if (
            isinstance(move, Movement)
            and sunk
            and _board_fits(match, state.board.with_pyramid(move.pyramid, move.target), sunk)
        ):
            message = msg(
                "{cell} is too heavy for {cell2} on {cell3}: take {cell4} off with"
                " everything on it.",
                cell=messages.pyramid(move.pyramid),
                cell2=messages.tile(sunk),
                cell3=move.target,
                cell4=messages.tile(sunk),
            )
            return Waiting(
                code="icefloe.sinking",
                message=message,
                rests_on="ruling icefloe.3",
                player=moving.mover,
            )
    return None


def _board_fits(match: TableMatch, board: Board, half_done: str | None) -> bool:
    is_near = match.cost_nats(board, half_done) - match.free_nats <= DOUBT
    return is_near and not match.strangers(match.matched_pyramids(board))


def _ask_two(match: TableMatch, changes: _Changes) -> Ambiguous | None:
    """Ask whether two legal acts in turn, which explain the picture, were done.

    They were not observed in between.
    """
    firsts = [
        one for one in _explanations(match.state) if one.moves and changes.partly(one.after.board)
    ]
    ways = []
    for first, then in (
        (one, other) for one in firsts for other in _explanations(one.after) if other.moves
    ):
        board = then.after.board
        if match.cost_nats(board) - match.free_nats <= DOUBT and not match.differences(board):
            label = msg(
                "{text}; then {text2}",
                text=_describe(match.state, first.moves[-1], first.after),
                text2=_describe(first.after, then.moves[-1], then.after),
            )
            ways.append(Choice(label, tuple(map(str, (*first.moves, *then.moves)))))
    if not ways:
        return None
    message = sentences(msg("Two moves were made, one after the other."), msg("Is that right?"))
    choices = (*ways, NOT_SO)
    return Ambiguous(
        code="icefloe.two",
        message=message,
        rests_on=MOVING,
        player=match.state.next,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _not_allowed(match: TableMatch, changes: _Changes) -> Refused | OutOfSync | CannotSee:
    """Return the verdict of a picture that no legal move explains.

    It names what was tried, if that is a single act, else all differences.
    """
    tried = _attempted_move(match, changes)
    moving = _next_to_move(match.state)[1]
    state = (
        moving if isinstance(tried, Movement | Slide) and moving.phase == "move" else match.state
    )
    wrong = violation(state, tried) if tried else None
    if tried is None or wrong is None:
        return _unexplained(match, changes)
    code, player, _ = _kind(match.state, tried)
    if isinstance(tried, Movement):
        player = state.owner(tried.pyramid)
    if isinstance(tried, Removal):
        back = msg("Put back what was taken.")
    elif _is_legal_after_unseen_move(state, tried):
        back = msg(
            "Put back what was moved, or say that one of {player}'s pyramids came back to"
            " where it stood.",
            player=state.mover,
        )
    else:
        back = msg("Put back what was moved.")
    evidence = {"move": _short_notation(tried), "violation": wrong.code}
    return Refused(
        code=code,
        message=sentences(wrong.message, back),
        rests_on=wrong.clause,
        player=player or match.state.torch,
        tried=(str(tried),),
        evidence=evidence,
    )


def _unexplained(match: TableMatch, changes: _Changes) -> OutOfSync | CannotSee:
    """Return the verdict of a picture that no move explains: it names all differences."""
    lost = {
        name
        for floe in match.state.board.floes
        if floe.place in changes.lost
        for name in floe.pyramids
    }
    asks = (
        _ask_unseen(match, [name for name in changes.gone if name not in lost])
        or _ask_unsure(match)
        or _ask_in_turn(match, changes)
    )
    unread = [] if changes.displaced else match.hidden(match.state.board)
    if unread:
        return CannotSee(
            code="icefloe.unread",
            message=cannot_be_read(unread[0]),
            player=match.state.next,
            asks=asks,
        )
    return OutOfSync(
        code="icefloe.out_of_sync",
        message=sentences(msg("The table does not match the record."), msg("Fix the table.")),
        player=match.state.next,
        differences=changes.message(match),
        asks=asks,
    )


def _is_legal_after_unseen_move(state: State, tried: Movement | Slide) -> bool:
    """True if it would be legal after a move of the previous player that ended where it began.

    Such a move is invisible.
    """
    if state.phase != "move":
        return False
    unseen = next(
        (
            move
            for move in legal_moves(state)
            if isinstance(move, Movement) and move.origin == move.target
        ),
        None,
    )
    return unseen is not None and violation(play(state, unseen), tried) is None


class _Changes(NamedTuple):
    """Differences between the picture and the record.

    Pyramids at other places, with these places, and missing ones; places that lost or got a tile;
    unexpected pieces.
    """

    moved: dict[str, str]
    gone: tuple[str, ...]
    lost: tuple[str, ...]
    got: tuple[str, ...]
    strangers: tuple[int, ...]

    @property
    def displaced(self) -> bool:
        """True if something is seen where it does not belong, or a tile is gone."""
        return bool(self.moved or self.lost or self.got or self.strangers)

    @property
    def lifted_pyramid(self) -> str:
        """The only missing pyramid, if nothing else is different; else empty."""
        return self.gone[0] if len(self.gone) == 1 and not self.displaced else ""

    def partly(self, after: Board) -> bool:
        """True if at least one difference agrees with this board."""
        where = {name: floe.place for floe in after.floes for name in floe.pyramids}
        places = {floe.place for floe in after.floes}
        stand = any(where.get(name) == place for name, place in self.moved.items())
        return (
            stand
            or not where.keys() >= {*self.gone}
            or not places >= {*self.lost}
            or bool(places & {*self.got})
        )

    def message(self, match: TableMatch) -> tuple[str, ...]:
        """Describe the differences, one sentence each."""
        board = match.state.board
        stood = {name: floe.place for floe in board.floes for name in floe.pyramids}
        tiles = {floe.place: floe.tile for floe in board.floes}
        pieces = [match.now.pieces[k] for k in self.strangers]
        return (
            *(
                msg(
                    "{cell} stood on {cell2} and is now on {cell3}.",
                    cell=messages.pyramid(name),
                    cell2=stood[name],
                    cell3=place,
                )
                for name, place in self.moved.items()
            ),
            *(
                msg(
                    "{cell} cannot be seen on {cell2}.",
                    cell=messages.pyramid(name),
                    cell2=stood[name],
                )
                for name in self.gone
            ),
            *(
                msg("{cell} is not on {cell2}.", cell=messages.tile(tiles[place]), cell2=place)
                for place in self.lost
            ),
            *(msg("A tile lies on {cell}.", cell=place) for place in self.got),
            *(
                msg(
                    "A {colour} {cell} stands on {cell2}.",
                    colour=piece.colour,
                    cell=piece.size,
                    cell2=match.places[k],
                )
                for k, piece in zip(self.strangers, pieces, strict=True)
            ),
        )


def _changes(match: TableMatch) -> _Changes:
    board = match.state.board
    now = {name: match.places[k] for k, name in match.nearest_pyramids.items()}
    stood = {name: floe.place for floe in board.floes for name in floe.pyramids}
    places, tiles = {floe.place for floe in board.floes}, match.tiles
    return _Changes(
        {name: place for name, place in now.items() if place != stood[name]},
        tuple(name for name in stood if name not in now),
        tuple(sorted(places - tiles - match.misread)),
        tuple(sorted(tiles - places - match.misread)),
        tuple(match.strangers(match.nearest_pyramids)),
    )


def _attempted_move(match: TableMatch, changes: _Changes) -> Movement | Slide | Removal | None:
    """The single move that people tried, legal or not; else None."""
    board, (moved, gone, lost, got, strangers) = match.state.board, changes
    if strangers or len(lost) > 1 or len(got) > 1:
        return None
    floe = board.at(lost[0]) if lost else None
    if floe is None:
        ((name, place),) = moved.items() if len(moved) == 1 else ((None, ""),)
        under = board.floe_under(name) if name else None
        return (
            Movement(name, under.place, place) if name and under and not gone and not got else None
        )
    if got:
        carried = all(
            place == got[0] and name in floe.pyramids for name, place in moved.items()
        ) and {*moved} == {*floe.pyramids}
        return Slide(floe.place, got[0]) if carried and not gone else None
    if moved:
        return None
    others = [name for name in gone if name not in floe.pyramids]
    if {*gone} - {*others} != {*floe.pyramids} or len(others) > 1:
        return None
    if others and match.state.phase == "remove" and floe.tile == match.state.tile:
        # apart from the tile to be removed, missing things are unseen, not gone
        return None
    under = board.floe_under(others[0]) if others else None
    return Movement(others[0], under.place, floe.place) if under else Removal(floe.tile)
