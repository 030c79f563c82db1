"""Computer player of Zamboni Wars: weighs shots against the others' possible answers.

A Zamboni with three, two or one layers survives a number of shots on average (`LIFE`). A shot is
worth the share of a life that it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random
from typing import assert_never

from engines.computer_player import ComputerPlayer, OutOfTime, Strength
from engines.zamboni_wars.board import Space
from engines.zamboni_wars.driving import Stand, layers, movement_rules, reachable
from engines.zamboni_wars.moves import Drive, Fire
from engines.zamboni_wars.phases import Aiming, Moving
from engines.zamboni_wars.rules import PIPS
from engines.zamboni_wars.state import RANGE, State, Zamboni
from table.messages import Message, msg

LIFE = {3: 6, 2: 3, 1: 1}
"""Shots that a Zamboni survives on average, by its layers."""
LOOKED_INTO = 24
"""Ends of a move, the best at first sight, for which a strong player examines the answers."""
SLIPS = 0.5
"""Share of a beginner's random moves."""


def choose(
    state: State, player: str, strength: Strength, chance: Random, out_of_time: OutOfTime
) -> Drive | Fire:
    """A legal move of the player whose turn it is; raises ValueError where dice decide."""
    match state.phase:
        case Aiming(target):
            return Fire(target)
        case Moving(points):
            pass
        case _:
            raise ValueError(f"{player} has nothing to choose now: {state.phase}")
    drives = list(reachable(state, points))
    chance.shuffle(drives)
    if strength == "beginner" and chance.random() < SLIPS:
        return drives[0]
    first = _first_sight(state, drives)
    drives.sort(key=first.__getitem__, reverse=True)
    if strength != "strong":
        return drives[0]
    best, most = drives[0], float("-inf")
    for drive in drives[:LOOKED_INTO]:
        worth = _shot(state, drive) - _answer(state, drive)
        if worth > most:
            best, most = drive, worth
        if out_of_time():
            break
    return best


def _first_sight(state: State, drives: Iterable[Drive]) -> dict[Drive, float]:
    """Value of each end of a move: its shot, minus the shots that dice allow in answer."""
    player, life = state.to_move, LIFE[state.mover.layers]
    answers = [
        (other, _chances(state, other, player))
        for other in state.remaining_players
        if other != player
    ]

    def worth(drive: Drive) -> float:
        shot, gone = _shot(state, drive), _destroyed(state, drive)
        return shot - sum(
            reach.get(drive.space, 0.0) / life for other, reach in answers if other != gone
        )

    return {drive: worth(drive) for drive in drives}


def _answer(state: State, drive: Drive) -> float:
    """Next player's expected gain by the best answer to a move, in shares of lives.

    That player weighs a shot against those that may follow.
    """
    player, gone = state.to_move, _destroyed(state, drive)
    nest = replace(state.mover, space=drive.space, facing=drive.facing)
    after = _with_zamboni(state, player, nest, drive.dice or state.dice)
    after = _with_zamboni(after, gone, None, after.dice) if gone else after
    if len(after.remaining_players) < 2:
        return 0.0
    other = after.follower
    mine = _chances(after, player, other)
    theirs = replace(after, to_move=other)
    life, own = LIFE[nest.layers], LIFE[theirs.mover.layers]
    total = 0.0
    for ends in _reachable_ends(theirs):
        total += max(
            (1 / life if _target(theirs, end) == player else 0.0) - mine.get(end.space, 0.0) / own
            for end in ends
        )
    return total / len(PIPS)


def _shot(state: State, drive: Drive) -> float:
    """Value of the shot at the end of a move; 0 without one."""
    target = _target(state, Stand(drive.space, drive.facing, drive.dice or state.dice, False))
    if target is None:
        return 0.0
    return (
        1 / LIFE[state.remaining_zambonis[target].layers]
        if target in state.remaining_players
        else 0.01
    )


def _destroyed(state: State, drive: Drive) -> str | None:
    """Player who is surely destroyed by the shot at the end of a move."""
    target = _target(state, Stand(drive.space, drive.facing, drive.dice or state.dice, False))
    return target if target and state.remaining_zambonis[target].layers == 1 else None


def _chances(state: State, shooter: str, absent: str) -> Mapping[Space, float]:
    """Share of rolls with which a player can aim at each space.

    One Zamboni is left out, so that the map is valid wherever it stands.
    """
    thought = replace(_with_zamboni(state, absent, None, state.dice), to_move=shooter)
    others, seen = thought.others, Counter[Space]()
    for ends in _reachable_ends(thought):
        aimed: set[Space] = set()
        for space, facing, dice, _ in set(ends):
            for there in _ray(space, facing):
                if there in dice:
                    break
                aimed.add(there)
                if there in others:
                    break
        seen.update(aimed)
    return {space: count / len(PIPS) for space, count in seen.items()}


def _reachable_ends(state: State) -> Sequence[Sequence[Stand]]:
    """By roll, 1 to 6, every end of a move of `state.to_move`: as `driving.reachable`, at once."""
    every = [tuple(layer) for layer in islice(layers(state, movement_rules(state)), len(PIPS))]
    if state.ruling("points") == "may":
        start = (Stand(state.mover.space, state.mover.facing, state.dice, False),)
        return [[*start, *sum(every[:roll], ())] for roll in PIPS]
    return [every[min(roll, len(every)) - 1] for roll in PIPS]


def _target(state: State, end: Stand) -> str | None:
    """Player whom the laser of `state.to_move` would hit from there: as `State.in_sight`."""
    others = state.others
    for there in _ray(end.space, end.facing):
        if there in end.dice:
            return None
        if there in others:
            return others[there]
    return None


@cache
def _ray(space: Space, facing: str) -> tuple[Space, ...]:
    """The spaces ahead, as far as a laser reaches."""
    ahead = (space.ahead(facing, spaces) for spaces in range(1, RANGE + 1))
    return tuple(there for there in ahead if there is not None)


def _with_zamboni(
    state: State, player: str, nest: Zamboni | None, dice: tuple[Space, ...]
) -> State:
    """The state with another Zamboni of a player, None for none, and cover dice."""
    nests = (
        nest if owner == player else old
        for owner, old in zip(state.players, state.zambonis, strict=True)
    )
    return replace(state, zambonis=tuple(nests), dice=dice)


def _asked(state: State) -> tuple[str, ...]:
    return () if state.next is None else (state.next,)


def _wish_text(state: State, move: Drive | Fire) -> Message:
    who = state.to_move
    match move:
        case Drive(space, facing, ()):
            return msg(
                "{player} drives to {cell}, facing {cell2}.", player=who, cell=space, cell2=facing
            )
        case Drive(space, facing, dice):
            return msg(
                "{player} drives to {cell}, facing {cell2}, and pushes a cover die: they then lie"
                " on {cells}.",
                player=who,
                cell=space,
                cell2=facing,
                cells=dice,
            )
        case Fire(target):
            return msg("{player} fires at {player2}.", player=who, player2=target)
        case _:
            assert_never(move)


def _announced(state: State, move: Drive | Fire) -> dict[str, str | bool] | None:
    match move:
        case Fire(target):
            return {"player": state.to_move, "fire": target}
        case Drive(space, facing, ()) if (space, facing) == (state.mover.space, state.mover.facing):
            return {"player": state.to_move, "stays": True}
        case _:
            return None


COMPUTER = ComputerPlayer(asked=_asked, choose=choose, wants=_wish_text, announced=_announced)
