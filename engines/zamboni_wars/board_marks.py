"""Reachable spaces and shots of Zamboni Wars on the board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import assert_never

from engines.board_marks import Mark, Option, mark
from engines.zamboni_wars.board import FACINGS, Space
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.moves import Die, Drive, EarlyRoll, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Over, Rolling, RollOff, Shooting
from engines.zamboni_wars.rules import HIT_FROM
from engines.zamboni_wars.state import LAYER_SIZES, RANGE, State
from table.messages import any_of, msg


def options(state: State) -> tuple[Option, ...]:
    """Return what is possible now.

    Every space that the die leads to, with the facings there; the possible shot; or the roll that
    is due.
    """
    who = state.to_move
    match state.phase:
        case RollOff():
            return (Option(who, msg("rolls for the cover die; the highest roll gets it")),)
        case Rolling():
            return (Option(who, msg("rolls for movement")),)
        case Moving(points):
            return tuple(_spaces(state, points))
        case Aiming(target):
            least = HIT_FROM[state.remaining_zambonis[target].layers]
            fires = (
                msg("fires at {player} and hits without a roll", player=target)
                if least == 1
                else msg("fires at {player} and hits with {n} or more", player=target, n=least)
            )
            hold = (Option(who, msg("does not fire")),) if state.ruling("fire") == "may" else ()
            return (Option(who, fires, _shot(state, target)), *hold)
        case Shooting(target):
            return (
                Option(
                    who,
                    msg(
                        "rolls for the shot: {n} or more hits {player}",
                        n=HIT_FROM[state.remaining_zambonis[target].layers],
                        player=target,
                    ),
                    _shot(state, target),
                ),
            )
        case Hit(target):
            layers = state.remaining_zambonis[target].layers
            return (
                Option(
                    target,
                    msg(
                        "loses a piece: take the {size} {colour} piece off",
                        size=LAYER_SIZES[layers],
                        colour=target,
                    ),
                    mark("take", [state.remaining_zambonis[target].space]),
                ),
            )
        case Over():
            return ()
        case _:
            assert_never(state.phase)


def trace(state: State, move: Move) -> tuple[Mark, ...]:
    """Marks of a Zamboni's way from its space, of a shot's line, or of what is removed."""
    match move:
        case Drive():
            return _drive(state, move)
        case Fire(colour):
            return _shot(state, colour)
        case Take(colour):
            return (
                mark("take", [state.remaining_zambonis[colour].space])
                if colour in state.remaining_zambonis
                else ()
            )
        case Die():
            return _shot(state, state.phase.target) if isinstance(state.phase, Shooting) else ()
        case Roll() | Hold() | EarlyRoll():
            return ()
        case _:
            assert_never(move)


def _spaces(state: State, points: int) -> Iterator[Option]:
    """One option a space, in the order of the board."""
    drives: dict[Space, list[Drive]] = defaultdict(list)
    for drive in reachable(state, points):
        drives[drive.space].append(drive)
    for space in sorted(drives):
        looks = tuple(
            facing for facing in FACINGS if any(drive.facing == facing for drive in drives[space])
        )
        pushed = sorted(
            {die for drive in drives[space] for die in drive.dice if die not in state.dice}
        )
        fields = {"cell": space, "cells": any_of(looks, "cell")}
        label = (
            msg(
                "to {cell}, facing {cells}; pushes a cover die to {cells2}",
                cells2=any_of(pushed, "cell"),
                **fields,
            )
            if pushed
            else msg("to {cell}, facing {cells}", **fields)
        )
        way = _path_spaces(state, drives[space][0])
        yield Option(
            state.to_move,
            label,
            (Mark("goal", (str(space),), looks=looks), *mark("way", way if len(way) > 1 else ())),
        )


def _path_spaces(state: State, drive: Drive) -> tuple[Space, ...]:
    """The spaces of a legal drive, from the one that is left."""
    ways = reachable(state, state.phase.points) if isinstance(state.phase, Moving) else {}
    return (state.mover.space, *(done for done in ways[drive] if isinstance(done, Space)))


def _drive(state: State, drive: Drive) -> tuple[Mark, ...]:
    """The way of a drive; if it is illegal, straight from where the Zamboni stood."""
    legal = isinstance(state.phase, Moving) and drive in reachable(state, state.phase.points)
    way = _path_spaces(state, drive) if legal else (state.mover.space, drive.space)
    here = Mark("here", (str(drive.space),), looks=(drive.facing,))
    return (
        *mark("way" if legal else "path", way if drive.space != state.mover.space else ()),
        here,
    )


def _shot(state: State, target: str) -> tuple[Mark, ...]:
    """Line of fire to a Zamboni in sight, and the Zamboni."""
    mover = state.mover
    line = [
        there
        for spaces in range(1, RANGE + 1)
        if (there := mover.space.ahead(mover.facing, spaces))
    ]
    if (
        target not in state.remaining_zambonis
        or (hit := state.remaining_zambonis[target].space) not in line
    ):
        return ()
    return (*mark("ray", (mover.space, *line[: line.index(hit) + 1])), *mark("take", [hit]))
