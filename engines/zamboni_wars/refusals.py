"""Why a Zamboni may not end its move so, or not fire so: what was tried, which rule forbids it,
what would be allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from engines.errors import Violation
from engines.zamboni_wars.board import SIDE, Space
from engines.zamboni_wars.driving import Laws, Stand, Way, breach, in_force, layers, reachable
from engines.zamboni_wars.moves import Drive
from engines.zamboni_wars.state import RANGE, State
from table.listing import listed

MOVEMENT, FIRING, WARP, COVER = (
    "Movement",
    "Firing Your Laser",
    "Warp Zone Rule",
    "Treehouse Cover Rule",
)
FARTHEST = 12
"""Points up to which a refusal looks for what an end would have cost."""


def drive_violation(state: State, points: int, move: Drive) -> Violation | None:
    """Which rule forbids the end of a move with so many points, or None."""
    ends = reachable(state, points)
    if move in ends:
        return None
    tried = (
        f"{state.to_move.capitalize()} ends on {move.space} looking {move.facing} with a roll of"
        f" {points}"
    )
    alike = [end for end in ends if _alike(end, move)]
    if alike:
        clause, ends_so = (
            f"{COVER}; ruling zamboni_wars.9",
            listed([f"'{end}'" for end in alike], "or"),
        )
        if len(alike) > 1 and not move.dice:
            said = f"{tried}, and which cover die it pushed is not told. Allowed: {ends_so}."
            return Violation("zamboni.move.which", clause, said, tuple(map(str, alike)))
        return Violation(
            "zamboni.move.dice",
            clause,
            f"{tried}, but {_dice_reason(state, move)}. Allowed: {ends_so}.",
        )
    code, clause, why = next(_reasons(state, points, move))
    return Violation(code, clause, f"{tried}, but {why}. {_allowed(ends, move)}")


def _alike(end: Drive, move: Drive) -> bool:
    """Do both end on the same space, looking the same way, wherever the dice lie?"""
    return (end.space, end.facing) == (move.space, move.facing)


def _dice_reason(state: State, move: Drive) -> str:
    """Why the cover dice cannot lie as they are said to, where the Zamboni itself may end so."""
    if not state.cover_dice:
        return "there are no cover dice in this game"
    if move.dice == state.dice:
        return "dice are named only where one was pushed, and these lie where they lay"
    if move.dice:
        return f"no way there leaves the cover dice on {listed(move.dice)}"
    return (
        f"every way there pushes a cover die, and none is named (they lay on {listed(state.dice)})"
    )


def _reasons(state: State, points: int, move: Drive) -> Iterator[tuple[str, str, str]]:
    """Code, clause and reason, the most telling first: the end itself, too few points, one rule
    broken, too many points.
    """
    if move.space in state.others:
        yield (
            "zamboni.move.occupied",
            MOVEMENT,
            f"{state.others[move.space]} stands there, and two Zambonis cannot share a space",
        )
    laws, counts = (
        in_force(state),
        range(1, points + 1) if state.ruling("points") == "may" else [points],
    )
    spent = len(next(iter(reachable(state, points).values())))
    if (cost := _cost(state, move, range(spent))) is not None:
        must = "all points" if spent == points else f"as many points as possible, here {spent},"
        why = f"that takes {_points(cost)}, and {must} must be spent"
        if _way(state, [points], move, replace(laws, no_two_turns=False)):
            yield (
                "zamboni.move.turns",
                f"{MOVEMENT}; rulings zamboni_wars.3 and zamboni_wars.4",
                f"{why}, but not on two turns in a row",
            )
        yield "zamboni.move.points", f"{MOVEMENT}; ruling zamboni_wars.4", why
    if way := _way(state, counts, move, free := replace(laws, arrows=False)):
        stand, _ = breach(state, way, free)
        yield (
            "zamboni.move.arrows",
            f"{MOVEMENT}; ruling zamboni_wars.2",
            f"no arrow on {stand.space} leads {stand.facing}",
        )
    if way := _way(state, range(1, points + 1), move, free := replace(laws, solid=False)):
        yield _blocked(state, *breach(state, way, free))
    if cost := _cost(state, move, range(points + 1, FARTHEST + 1)):
        yield "zamboni.move.far", MOVEMENT, f"that takes {_points(cost)} or more"
    yield "zamboni.move.way", MOVEMENT, f"no way of up to {FARTHEST} points leads there"


def _cost(state: State, move: Drive, points: Iterable[int]) -> int | None:
    """The first of these numbers of points with which the Zamboni could end so, wherever the dice
    lie.
    """
    for cost in points:
        ends = reachable(state, cost) if cost else [Drive(state.mover.space, state.mover.facing)]
        if any(_alike(end, move) for end in ends):
            return cost
    return None


def _way(state: State, points: Collection[int], move: Drive, laws: Laws) -> Way | None:
    """A way with one of these numbers of points to the same space and facing, if only `laws`
    held.
    """
    for cost, layer in enumerate(islice(layers(state, laws), max(points)), 1):
        ways = [
            way
            for stand, way in layer.items()
            if (stand.space, stand.facing) == (move.space, move.facing)
        ]
        if ways and cost in points:
            return ways[0]
    return None


def _blocked(state: State, stand: Stand, there: Space | str) -> tuple[str, str, str]:
    """Code, clause and reason for what is in the way on a space that was to be entered."""
    player = next((player for space, player in state.others.items() if space == there), None)
    if there != stand.space.ahead(stand.facing):
        why = f"{player or 'a cover die'} is on {there}, and nobody warps into an occupied space"
        return "zamboni.move.warp", f"{WARP}; rulings zamboni_wars.7 and zamboni_wars.9", why
    if player:
        return (
            "zamboni.move.blocked",
            MOVEMENT,
            f"{player} stands in the way on {there} and has to be driven round",
        )
    return (
        "zamboni.move.blocked",
        f"{COVER}; ruling zamboni_wars.9",
        f"the cover die on {there} is in the way and cannot be pushed on",
    )


def _allowed(ends: Iterable[Drive], move: Drive) -> str:
    """What would be allowed: the ways to look on that space, or else the end that is nearest to
    what was tried.
    """
    there = list(dict.fromkeys(end.facing for end in ends if end.space == move.space))
    if there:
        return f"On {move.space} it may look {listed(there, 'or')}."

    def away(end: Drive) -> tuple[int, bool]:
        return (end.space.file - move.space.file) ** 2 + (
            end.space.row - move.space.row
        ) ** 2, end.facing != move.facing

    return f"Nearest to that, '{min(ends, key=away)}' is allowed."


def fire_violation(state: State, target: str) -> Violation | None:
    """Which rule forbids that the player whose turn it is fires at another one, or None."""
    if target == state.in_sight:
        return None
    code, clause, why = _missed(state, target)
    return Violation(
        code, clause, f"{state.to_move.capitalize()} fires at {target}, but {why}. {firing(state)}"
    )


def firing(state: State) -> str:
    """What a player who is aimed at somebody may or has to do."""
    if state.ruling("fire") == "may":
        return f"{state.to_move.capitalize()} may fire at {state.in_sight} or hold fire."
    return f"{state.to_move.capitalize()} has to fire at {state.in_sight}."


def _missed(state: State, target: str) -> tuple[str, str, str]:
    """Code, clause and reason why a laser cannot be fired at somebody who is not in sight."""
    if target not in state.players:
        return "zamboni.fire.player", FIRING, f"nobody plays {target}"
    if target not in state.left:
        return "zamboni.fire.gone", FIRING, f"{target}'s Zamboni is destroyed"
    if target == state.to_move:
        return "zamboni.fire.self", FIRING, "a laser is fired at another Zamboni"
    space, facing, there = state.mover.space, state.mover.facing, state.left[target].space
    line = [ahead for spaces in range(1, 2 * SIDE) if (ahead := space.ahead(facing, spaces))]
    if there not in line:
        return (
            "zamboni.fire.line",
            FIRING,
            f"its laser points {facing} from {space}, and {there} is not on that line",
        )
    away = line.index(there) + 1
    if away > RANGE:
        return (
            "zamboni.fire.range",
            f"{FIRING}; ruling zamboni_wars.5",
            f"{there} is {away} spaces away, and a laser reaches {RANGE}",
        )
    return (
        "zamboni.fire.blocked",
        f"{FIRING}; ruling zamboni_wars.5",
        f"{state.in_sight} stands between",
    )


def _points(count: int) -> str:
    return f"{count or 'no'} point{'' if count == 1 else 's'}"
