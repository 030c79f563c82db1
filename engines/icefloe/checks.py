"""Rules that forbid a move on the board: code, clause and sentence.

Clauses are sections of the printed rules, or rulings.
"""

from __future__ import annotations

from engines.errors import Violation
from engines.icefloe import messages
from engines.icefloe.board import CORNERS, SLIDES, reachable_places, span
from engines.icefloe.messages import turn
from engines.icefloe.moves import Movement, Placing, Removal, Selection, Slide, Torch
from engines.icefloe.state import State
from table.messages import any_of, msg, sentences

PLACING, MOVING = "Placing The Pyramids", "Piece Movement"
REMOVING, EMPTYING, SCORING, ROUND = (
    "Remove The Tile",
    "Remove An Empty Tile",
    "Scoring",
    "End Of The Round",
)


def reachable(state: State, pyramid: str, origin: str) -> list[str]:
    """Places that a pyramid on `origin` may move to, in order."""
    return sorted(
        reachable_places(state.board, pyramid, origin)
        - ({origin} if state.ruling("stay") == "never" else set())
    )


def slides(state: State, origin: str) -> list[str]:
    """Places that the tile on `origin` may slide to, in order."""
    shut = CORNERS if len(state.players) == 3 and state.ruling("corners") == "never" else ()
    return sorted(
        place for place in SLIDES[origin] if state.board.at(place) is None and place not in shut
    )


def placing(state: State, move: Placing) -> Violation | None:
    """Why a pyramid cannot be placed so, or None.

    See printed rules, "Placing The Pyramids": all A, then all B and so on, one on a tile.
    """
    if move.pyramid != state.placing_order[len(state.board.pyramids)]:
        return Violation(
            "icefloe.place.order",
            PLACING,
            sentences(
                msg("{cell} cannot be placed now.", cell=messages.pyramid(move.pyramid)),
                turn(state),
            ),
        )
    floe = state.board.at(move.place)
    if floe is None:
        return Violation(
            "icefloe.place.tile",
            PLACING,
            sentences(
                msg(
                    "{cell} cannot be placed on {cell2}, because there is no tile.",
                    cell=messages.pyramid(move.pyramid),
                    cell2=move.place,
                ),
                turn(state),
            ),
        )
    if floe.pyramids:
        message = msg(
            "{cell} cannot be placed on {cell2}, because {cell3} stands there. Free tiles:"
            " {cells}.",
            cell=messages.pyramid(move.pyramid),
            cell2=move.place,
            cell3=messages.pyramid(floe.pyramids[0]),
            cells=[other.place for other in state.board.empty],
        )
        return Violation("icefloe.place.taken", PLACING, message)
    return None


def movement(state: State, move: Movement) -> Violation | None:
    """Why a movement is illegal, or None.

    See printed rules, "Piece Movement"; rulings icefloe.3 and .4.
    """
    pyramid, origin, target = move.pyramid, move.origin, move.target
    if state.owner(pyramid) != state.mover:
        message = sentences(
            msg(
                "{cell} is {player}'s, and players move their own pyramids.",
                cell=messages.pyramid(pyramid),
                player=state.owner(pyramid),
            ),
            turn(state),
        )
        return Violation("icefloe.move.turn", MOVING, message)
    floe = state.board.floe_under(pyramid)
    if floe is None or floe.place != origin:
        stands = (
            msg(
                "{cell} cannot move from {cell2}: it stands on {cell3}.",
                cell=messages.pyramid(pyramid),
                cell2=origin,
                cell3=floe.place,
            )
            if floe
            else msg(
                "{cell} cannot move from {cell2}: it is out of the game.",
                cell=messages.pyramid(pyramid),
                cell2=origin,
            )
        )
        return Violation("icefloe.move.origin", MOVING, sentences(stands, turn(state)))
    return None if target in reachable(state, pyramid, origin) else _path_violation(state, move)


def _path_violation(state: State, move: Movement) -> Violation:
    """Why a pyramid cannot go to the target."""
    pyramid, origin, target = move.pyramid, move.origin, move.target
    allowed = reachable(state, pyramid, origin)
    may = (
        msg("It may go to {cells}.", cells=any_of(allowed))
        if allowed
        else msg("It cannot move, but a tile may slide.")
    )
    if target == origin and state.ruling("stay") == "never":
        message = msg(
            "{cell} cannot end on {cell2}, where it began. House rule: no move ends where"
            " it began.",
            cell=messages.pyramid(pyramid),
            cell2=origin,
        )
        return Violation("icefloe.move.stay", "ruling icefloe.4", sentences(message, may))
    if target not in span(origin):
        message = msg(
            "{cell} cannot reach {cell2} from {cell3}. A move is a step, a jump over one"
            " place, or two of these with at most one jump.",
            cell=messages.pyramid(pyramid),
            cell2=target,
            cell3=origin,
        )
        return Violation("icefloe.move.reach", MOVING, sentences(message, may))
    if state.board.at(target) is None:
        message = msg(
            "{cell} cannot move to {cell2}, because there is no tile.",
            cell=messages.pyramid(pyramid),
            cell2=target,
        )
        return Violation("icefloe.move.tile", MOVING, sentences(message, may))
    message = msg(
        "{cell} cannot get from {cell2} to {cell3}: between two actions it needs a tile"
        " that can carry it.",
        cell=messages.pyramid(pyramid),
        cell2=origin,
        cell3=target,
    )
    return Violation("icefloe.move.way", f"{MOVING}; ruling icefloe.3", sentences(message, may))


def slide(state: State, move: Slide) -> Violation | None:
    """Why a slide is illegal, or None: printed rules, "Piece Movement"; ruling icefloe.4."""
    origin, target = move.origin, move.target
    floe = state.board.at(origin)
    if floe is None:
        return Violation(
            "icefloe.slide.tile",
            MOVING,
            sentences(
                msg("Nothing can slide from {cell}, because there is no tile.", cell=origin),
                turn(state),
            ),
        )
    if not any(state.owner(pyramid) == state.mover for pyramid in floe.pyramids):
        own = {
            under.place
            for pyramid in state.pyramids(state.mover or "")
            if (under := state.board.floe_under(pyramid)) and slides(state, under.place)
        }
        may = (
            msg("A tile may slide from {cells}.", cells=any_of(sorted(own)))
            if own
            else msg("None of {player}'s tiles has room to slide.", player=state.mover)
        )
        message = sentences(
            msg(
                "{player} cannot slide {cell} on {cell2}, because there is no {colour}"
                " pyramid on it.",
                player=state.mover,
                cell=messages.tile(floe.tile),
                cell2=origin,
                colour=state.mover,
            ),
            may,
        )
        return Violation("icefloe.slide.pyramid", MOVING, message)
    return None if target in slides(state, origin) else _no_slide(state, move, floe.tile)


def _no_slide(state: State, move: Slide, tile: str) -> Violation:
    """Why a tile cannot slide to the target."""
    origin, target = move.origin, move.target
    allowed, other = slides(state, origin), state.board.at(target)
    may = (
        msg("It may slide to {cells}.", cells=any_of(allowed))
        if allowed
        else msg("It cannot slide to any place beside it.")
    )
    way: dict[str, object] = {"cell": messages.tile(tile), "cell2": origin, "cell3": target}
    if target not in SLIDES[origin]:
        message = msg(
            "{cell} cannot slide from {cell2} to {cell3}: a tile slides one place to the"
            " left or right, or to the far or near side.",
            **way,
        )
        return Violation("icefloe.slide.step", MOVING, sentences(message, may))
    if other:
        message = msg(
            "{cell} cannot slide from {cell2} to {cell3}: {cell4} is there, and a tile"
            " cannot push another.",
            cell4=messages.tile(other.tile),
            **way,
        )
        return Violation("icefloe.slide.taken", MOVING, sentences(message, may))
    message = msg(
        "{cell} cannot slide to {cell2}. House rule: tiles do not slide to the corners that"
        " three players leave empty.",
        cell=messages.tile(tile),
        cell2=target,
    )
    return Violation("icefloe.slide.corner", "ruling icefloe.4", sentences(message, may))


def removal(state: State, move: Removal) -> Violation | None:
    """Why a removal is illegal, or None.

    See printed rules, "Remove The Tile" and "Remove An Empty Tile".
    """
    if state.phase == "remove":
        if move.tile == state.tile:
            return None
        message = (
            msg(
                "{player} removed {cell}, but the vote chose {cell2}, which must be removed.",
                player=state.torch,
                cell=messages.tile(move.tile),
                cell2=messages.tile(state.tile),
            )
            if move.tile
            else msg(
                "{player} removed nothing, but the vote chose {cell}, which must be removed.",
                player=state.torch,
                cell=messages.tile(state.tile),
            )
        )
        return Violation("icefloe.remove.voted", REMOVING, message)
    floe = state.board.floe_of(move.tile)
    if move.tile and floe is None:
        return Violation(
            "icefloe.remove.gone",
            EMPTYING,
            sentences(
                msg("{cell} is already out of the game.", cell=messages.tile(move.tile)),
                turn(state),
            ),
        )
    if floe and floe.pyramids:
        message = sentences(
            msg(
                "{cell} cannot be removed as the second tile: it carries {cells}.",
                cell=messages.tile(move.tile),
                cells=map(messages.pyramid, floe.pyramids),
            ),
            turn(state),
        )
        return Violation("icefloe.remove.occupied", EMPTYING, message)
    return None


def selection(state: State, move: Selection) -> Violation | None:
    """Why a tile cannot be selected, or None: printed rules, "Scoring"."""
    if move.player != state.mover:
        return Violation(
            "icefloe.score.turn",
            SCORING,
            sentences(msg("{player} cannot select a tile now.", player=move.player), turn(state)),
        )
    if state.board.floe_of(move.tile) is None:
        message = msg(
            "{player} cannot score on {cell}, because it is out of the game. Still in the"
            " game: {cells}.",
            player=move.player,
            cell=messages.tile(move.tile),
            cells=[messages.tile(floe.tile) for floe in state.board.floes],
        )
        return Violation("icefloe.score.gone", SCORING, message)
    return None


def torch(state: State, move: Torch) -> Violation | None:
    """Why the torch cannot be handed on so, or None: printed rules, "End Of The Round"."""
    if move.player != state.after(state.torch):
        message = msg(
            "The torch does not go to {player}. It goes to the left, from {player2} to {player3}.",
            player=move.player,
            player2=state.torch,
            player3=state.after(state.torch),
        )
        return Violation("icefloe.torch.player", ROUND, message)
    return None
