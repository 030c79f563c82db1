"""Reasons why a Zamboni may not end its move, or not fire, as tried.

A refusal has what was tried, the rule that forbids it, and what would be allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from engines.errors import Violation
from engines.zamboni_wars.board import SIDE, Space
from engines.zamboni_wars.driving import (
    MovementRules,
    Stand,
    Way,
    breach,
    layers,
    movement_rules,
    reachable,
)
from engines.zamboni_wars.moves import Drive
from engines.zamboni_wars.state import RANGE, State
from table.messages import Message, any_of, msg, sentences

MOVEMENT, FIRING, WARP, COVER = (
    "Movement",
    "Firing Your Laser",
    "Warp Zone Rule",
    "Treehouse Cover Rule",
)
Reason = tuple[str, str, Message]
"""Code, clause and reason of a refusal."""
FARTHEST = 12
"""Most points up to which a refusal searches for the cost of an end."""


def drive_violation(state: State, points: int, move: Drive) -> Violation | None:
    """Rule that forbids the end of a move with these points, or None."""
    ends = reachable(state, points)
    if move in ends:
        return None
    tried: dict[str, object] = {
        "player": state.to_move,
        "cell": move.space,
        "cell2": move.facing,
        "n": points,
    }
    alike = [end for end in ends if _alike(end, move)]
    if not alike:
        code, clause, why = next(_reasons(state, points, move))
        return Violation(code, clause, sentences(_but(tried, why), _allowed(ends, move)))
    clause = f"{COVER}; ruling zamboni_wars.9"
    allowed = msg("Allowed: {text}.", text=any_of([f"'{end}'" for end in alike]))
    if len(alike) > 1 and not move.dice:
        untold = msg(
            "{player} ends on {cell}, facing {cell2}, with a roll of {n}, but the move does"
            " not say which cover die was pushed.",
            **tried,
        )
        message = sentences(untold, allowed)
        return Violation("zamboni.move.which", clause, message, tuple(map(str, alike)))
    message = sentences(_but(tried, _dice_reason(state, move)), allowed)
    return Violation("zamboni.move.dice", clause, message)


def _but(tried: Mapping[str, object], why: Message) -> Message:
    """What was tried, and why it is not allowed."""
    return msg(
        "{player} ends on {cell}, facing {cell2}, with a roll of {n}, but {text}.",
        text=why,
        **tried,
    )


def _alike(end: Drive, move: Drive) -> bool:
    """True if both end on the same space, facing the same way, wherever the dice lie."""
    return (end.space, end.facing) == (move.space, move.facing)


def _dice_reason(state: State, move: Drive) -> Message:
    """Why the cover dice cannot lie as announced, although the Zamboni may end so."""
    if not state.cover_dice:
        return msg("there are no cover dice in this game")
    if move.dice == state.dice:
        return msg("dice are named only if one was pushed, and these have not moved")
    if move.dice:
        return msg("no way there leaves the cover dice on {cells}", cells=move.dice)
    return msg(
        "every way there pushes a cover die, and the move names none (they were on {cells})",
        cells=state.dice,
    )


def _reasons(state: State, points: int, move: Drive) -> Iterator[Reason]:
    """Yield code, clause and reason, the most informative first.

    In order: the end itself, too few points, one rule broken, too many points.
    """
    if move.space in state.others:
        yield (
            "zamboni.move.occupied",
            MOVEMENT,
            msg(
                "{player} stands there, and two Zambonis cannot share a space",
                player=state.others[move.space],
            ),
        )
    laws, counts = (
        movement_rules(state),
        range(1, points + 1) if state.ruling("points") == "may" else [points],
    )
    spent = len(next(iter(reachable(state, points).values())))
    if (cost := _cost(state, move, range(spent))) is not None:
        most = None if spent == points else spent
        if _way(state, [points], move, replace(laws, no_two_turns=False)):
            yield (
                "zamboni.move.turns",
                f"{MOVEMENT}; rulings zamboni_wars.3 and zamboni_wars.4",
                _two_turns_message(cost, most),
            )
        yield (
            "zamboni.move.points",
            f"{MOVEMENT}; ruling zamboni_wars.4",
            _unspent_points_message(cost, most),
        )
    if way := _way(state, counts, move, free := replace(laws, arrows=False)):
        stand, _ = breach(state, way, free)
        yield (
            "zamboni.move.arrows",
            f"{MOVEMENT}; ruling zamboni_wars.2",
            msg("no arrow on {cell} leads {cell2}", cell=stand.space, cell2=stand.facing),
        )
    if way := _way(state, range(1, points + 1), move, free := replace(laws, solid=False)):
        yield _blocked(state, *breach(state, way, free))
    if cost := _cost(state, move, range(points + 1, FARTHEST + 1)):
        yield "zamboni.move.far", MOVEMENT, msg("that takes {text} or more", text=_points(cost))
    yield "zamboni.move.way", MOVEMENT, msg("no way of up to {n} points leads there", n=FARTHEST)


def _unspent_points_message(cost: int, most: int | None) -> Message:
    """Message that a way spends too few of the points.

    `cost` is what it spends; `most` is all that can be spent, None if all points can.
    """
    if most is None:
        return msg("that takes {text}, and all points must be spent", text=_points(cost))
    return msg(
        "that takes {text}, and as many points as possible must be spent (here {n})",
        text=_points(cost),
        n=most,
    )


def _two_turns_message(cost: int, most: int | None) -> Message:
    """As `_unspent_points_message`, where two turns in a row would spend the others."""
    if most is None:
        return msg(
            "that takes {text}, and all points must be spent, but not on two turns in a row",
            text=_points(cost),
        )
    return msg(
        "that takes {text}, and as many points as possible must be spent (here {n}), but"
        " not on two turns in a row",
        text=_points(cost),
        n=most,
    )


def _cost(state: State, move: Drive, points: Iterable[int]) -> int | None:
    """The first of these numbers of points with which the Zamboni could end so.

    The cover dice may lie anywhere.
    """
    for cost in points:
        ends = reachable(state, cost) if cost else [Drive(state.mover.space, state.mover.facing)]
        if any(_alike(end, move) for end in ends):
            return cost
    return None


def _way(state: State, points: Collection[int], move: Drive, laws: MovementRules) -> Way | None:
    """A way with one of these numbers of points to the same space and facing, under `laws`."""
    for cost, layer in enumerate(islice(layers(state, laws), max(points)), 1):
        ways = [
            way
            for stand, way in layer.items()
            if (stand.space, stand.facing) == (move.space, move.facing)
        ]
        if ways and cost in points:
            return ways[0]
    return None


def _blocked(state: State, stand: Stand, there: Space | str) -> Reason:
    """Code, clause and reason of what blocks a space."""
    player = next((player for space, player in state.others.items() if space == there), None)
    if there != stand.space.ahead(stand.facing):
        why = (
            msg(
                "{player} is on {cell}, and a Zamboni cannot warp into an occupied space",
                player=player,
                cell=there,
            )
            if player
            else msg(
                "a cover die is on {cell}, and a Zamboni cannot warp into an occupied space",
                cell=there,
            )
        )
        return "zamboni.move.warp", f"{WARP}; rulings zamboni_wars.7 and zamboni_wars.9", why
    if player:
        return (
            "zamboni.move.blocked",
            MOVEMENT,
            msg(
                "{player} is in the way on {cell} and must be driven around",
                player=player,
                cell=there,
            ),
        )
    return (
        "zamboni.move.blocked",
        f"{COVER}; ruling zamboni_wars.9",
        msg("the cover die on {cell} is in the way and cannot be pushed on", cell=there),
    )


def _allowed(ends: Iterable[Drive], move: Drive) -> Message:
    """Describe what is allowed: the facings on that space, or else the nearest possible end."""
    there = list(dict.fromkeys(end.facing for end in ends if end.space == move.space))
    if there:
        return msg("On {cell} it may face {cells}.", cell=move.space, cells=any_of(there, "cell"))

    def away(end: Drive) -> tuple[int, bool]:
        return (end.space.file - move.space.file) ** 2 + (
            end.space.row - move.space.row
        ) ** 2, end.facing != move.facing

    end = min(ends, key=away)
    fields = {"cell": end.space, "cell2": end.facing}
    if not end.dice:
        return msg("The nearest allowed end is {cell}, facing {cell2}.", **fields)
    return msg(
        "The nearest allowed end is {cell}, facing {cell2}, with the cover dice on {cells}.",
        cells=end.dice,
        **fields,
    )


def fire_violation(state: State, target: str) -> Violation | None:
    """Rule that forbids the current player to fire at another one, or None."""
    if target == state.in_sight:
        return None
    code, clause, why = _out_of_sight_reason(state, target)
    return Violation(
        code,
        clause,
        sentences(
            msg(
                "{player} fires at {player2}, but {text}.",
                player=state.to_move,
                player2=target,
                text=why,
            ),
            firing(state),
        ),
    )


def firing(state: State) -> Message:
    """Describe what a player with somebody in sight may or must do."""
    if state.ruling("fire") == "may":
        return msg(
            "{player} may fire at {player2}, or not.", player=state.to_move, player2=state.in_sight
        )
    return msg("{player} must fire at {player2}.", player=state.to_move, player2=state.in_sight)


def _out_of_sight_reason(state: State, target: str) -> Reason:
    """Code, clause and reason why a player is out of sight."""
    if target not in state.players:
        return "zamboni.fire.player", FIRING, msg("nobody plays {player}", player=target)
    if target not in state.remaining_zambonis:
        return "zamboni.fire.gone", FIRING, msg("{player}'s Zamboni is destroyed", player=target)
    if target == state.to_move:
        return "zamboni.fire.self", FIRING, msg("a laser can only be fired at another Zamboni")
    space, facing, there = (
        state.mover.space,
        state.mover.facing,
        state.remaining_zambonis[target].space,
    )
    line = [ahead for spaces in range(1, 2 * SIDE) if (ahead := space.ahead(facing, spaces))]
    if there not in line:
        return (
            "zamboni.fire.line",
            FIRING,
            msg(
                "its laser points {cell} from {cell2}, and {cell3} is not on that line",
                cell=facing,
                cell2=space,
                cell3=there,
            ),
        )
    away = line.index(there) + 1
    if away > RANGE:
        return (
            "zamboni.fire.range",
            f"{FIRING}; ruling zamboni_wars.5",
            msg(
                "{cell} is {n} spaces away, and a laser reaches only {n2}",
                cell=there,
                n=away,
                n2=RANGE,
            ),
        )
    return (
        "zamboni.fire.blocked",
        f"{FIRING}; ruling zamboni_wars.5",
        msg("{player} is in between", player=state.in_sight),
    )


def _points(count: int) -> Message:
    if not count:
        return msg("no points")
    return msg("{n} point", n=count) if count == 1 else msg("{n} points", n=count)
