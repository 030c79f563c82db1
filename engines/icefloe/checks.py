"""What forbids a move on the board: code, clause and sentence.  Clauses are sections of the printed
rules, or rulings.
"""

from __future__ import annotations

from engines.errors import Violation
from engines.icefloe.board import CORNERS, SLIDES, reach, span
from engines.icefloe.messages import capital, turn
from engines.icefloe.moves import Movement, Placing, Removal, Selection, Slide, Torch
from engines.icefloe.state import State
from table.listing import listed

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
        reach(state.board, pyramid, origin)
        - ({origin} if state.ruling("stay") == "never" else set())
    )


def slides(state: State, origin: str) -> list[str]:
    """Places that the tile on `origin` may slide to, in order."""
    shut = CORNERS if len(state.players) == 3 and state.ruling("corners") == "never" else ()
    return sorted(
        place for place in SLIDES[origin] if state.board.at(place) is None and place not in shut
    )


def placing(state: State, move: Placing) -> Violation | None:
    """Printed rules, "Placing The Pyramids": all A, then all B and so on, one on a tile."""
    if move.pyramid != state.placing_order[len(state.board.pyramids)]:
        return Violation(
            "icefloe.place.order", PLACING, f"{move.pyramid} is not placed now. {turn(state)}"
        )
    floe = state.board.at(move.place)
    if floe is None:
        return Violation(
            "icefloe.place.tile",
            PLACING,
            f"{move.pyramid} cannot be placed on {move.place}, where no tile is. {turn(state)}",
        )
    if floe.pyramids:
        free = listed(other.place for other in state.board.empty)
        said = (
            f"{move.pyramid} cannot be placed on {move.place}, where {floe.pyramids[0]} stands;"
            f" free are {free}."
        )
        return Violation("icefloe.place.taken", PLACING, said)
    return None


def movement(state: State, move: Movement) -> Violation | None:
    """Printed rules, "Piece Movement"; rulings icefloe.3 and .4."""
    pyramid, origin, target = move.pyramid, move.origin, move.target
    if state.owner(pyramid) != state.mover:
        said = (
            f"{pyramid} is {state.owner(pyramid)}'s, and players move their own pyramids."
            f" {turn(state)}"
        )
        return Violation("icefloe.move.turn", MOVING, said)
    floe = state.board.under(pyramid)
    if floe is None or floe.place != origin:
        where = f"stands on {floe.place}" if floe else "is out of the game"
        return Violation(
            "icefloe.move.origin",
            MOVING,
            f"{pyramid} cannot move from {origin}: it {where}. {turn(state)}",
        )
    allowed = reachable(state, pyramid, origin)
    if target in allowed:
        return None
    may = (
        f"It may go to {listed(allowed, 'or')}."
        if allowed
        else "It can go nowhere; a tile may slide instead."
    )
    if target == origin and state.ruling("stay") == "never":
        said = (
            f"{pyramid} would end on {origin}, where it began, and that was ruled out before play."
            f" {may}"
        )
        return Violation("icefloe.move.stay", "ruling icefloe.4", said)
    if target not in span(origin):
        said = (
            f"{pyramid} cannot reach {target} from {origin} by a step, a jump over one place, or"
            f" two of them with at most one jump. {may}"
        )
        return Violation("icefloe.move.reach", MOVING, said)
    if state.board.at(target) is None:
        return Violation(
            "icefloe.move.tile",
            MOVING,
            f"{pyramid} cannot move to {target}, where no tile is. {may}",
        )
    said = (
        f"{pyramid} has no way from {origin} to {target}: between two actions it needs a tile that"
        f" carries it. {may}"
    )
    return Violation("icefloe.move.way", f"{MOVING}; ruling icefloe.3", said)


def slide(state: State, move: Slide) -> Violation | None:
    """Printed rules, "Piece Movement"; ruling icefloe.4."""
    origin, target = move.origin, move.target
    floe = state.board.at(origin)
    if floe is None:
        return Violation(
            "icefloe.slide.tile",
            MOVING,
            f"Nothing can slide from {origin}, where no tile is. {turn(state)}",
        )
    if not any(state.owner(pyramid) == state.mover for pyramid in floe.pyramids):
        own = listed(
            sorted(
                {
                    under.place
                    for pyramid in state.pyramids(state.mover or "")
                    if (under := state.board.under(pyramid))
                }
            ),
            "or",
        )
        said = (
            f"{capital(state.mover)} cannot slide {floe.tile} on {origin}: no {state.mover} pyramid"
            f" is on it. A tile may slide from {own}."
        )
        return Violation("icefloe.slide.pyramid", MOVING, said)
    allowed = slides(state, origin)
    if target in allowed:
        return None
    may = (
        f"It may slide to {listed(allowed, 'or')}."
        if allowed
        else "No place beside it is open to it."
    )
    if target not in SLIDES[origin]:
        said = (
            f"{floe.tile} cannot slide from {origin} to {target}: a tile slides one place, to the"
            f" left, right, far or near side. {may}"
        )
        return Violation("icefloe.slide.step", MOVING, said)
    other = state.board.at(target)
    if other:
        said = (
            f"{floe.tile} cannot slide from {origin} to {target}: {other.tile} is there, and a tile"
            f" pushes no other. {may}"
        )
        return Violation("icefloe.slide.taken", MOVING, said)
    said = (
        f"{floe.tile} cannot slide to {target}: the corners that three players leave empty were"
        f" ruled out before play. {may}"
    )
    return Violation("icefloe.slide.corner", "ruling icefloe.4", said)


def removal(state: State, move: Removal) -> Violation | None:
    """Printed rules, "Remove The Tile" and "Remove An Empty Tile"."""
    what = move.tile or "nothing"
    if state.phase == "remove":
        if move.tile == state.tile:
            return None
        said = (
            f"{capital(state.torch)} removed {what}, and the vote fell on {state.tile}: that one"
            " goes."
        )
        return Violation("icefloe.remove.voted", REMOVING, said)
    floe = state.board.of(move.tile)
    if move.tile and floe is None:
        return Violation(
            "icefloe.remove.gone", EMPTYING, f"{what} is out of the game already. {turn(state)}"
        )
    if floe and floe.pyramids:
        said = (
            f"{what} cannot be the second tile to go: it carries {listed(floe.pyramids)}."
            f" {turn(state)}"
        )
        return Violation("icefloe.remove.occupied", EMPTYING, said)
    return None


def selection(state: State, move: Selection) -> Violation | None:
    """Printed rules, "Scoring"."""
    if move.player != state.mover:
        return Violation(
            "icefloe.score.turn",
            SCORING,
            f"{capital(move.player)} does not select a tile now. {turn(state)}",
        )
    if state.board.of(move.tile) is None:
        tiles = listed(floe.tile for floe in state.board.floes)
        said = (
            f"{capital(move.player)} cannot score on {move.tile}, which is out of the game; still"
            f" in it are {tiles}."
        )
        return Violation("icefloe.score.gone", SCORING, said)
    return None


def torch(state: State, move: Torch) -> Violation | None:
    """Printed rules, "End Of The Round"."""
    if move.player != state.after(state.torch):
        said = (
            f"The torch does not go to {move.player}: it goes from {state.torch} to the left, to"
            f" {state.after(state.torch)}."
        )
        return Violation("icefloe.torch.player", ROUND, said)
    return None
