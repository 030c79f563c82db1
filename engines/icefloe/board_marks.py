"""Marks of moves, slides and tiles of IceFloe on the pond.

For votes only the missing voters are shown, never a vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from engines.board_marks import Mark, Option, mark
from engines.icefloe import messages
from engines.icefloe.board import JUMPS, STEPS, WEIGHT_MOST, WEIGHTS, Floe
from engines.icefloe.checks import reachable, slides
from engines.icefloe.moves import (
    Coin,
    Decision,
    Done,
    Finding,
    Move,
    Movement,
    Objection,
    Penalty,
    Placing,
    Removal,
    Selection,
    Slide,
    Torch,
    Vote,
)
from engines.icefloe.state import State
from table.messages import NOTHING, Listing, Message, all_of, any_of, msg, phrase, phrases


def options(state: State) -> tuple[Option, ...]:
    """Return what each player may do in this phase; first what settles an open objection."""
    accused = state.objection.accused if state.objection else ""
    return (
        *(
            Option(
                player, msg("may say whether {player} broke the commentary rules", player=accused)
            )
            for player in state.asked
        ),
        *_in_phase(state),
    )


def _in_phase(state: State) -> tuple[Option, ...]:
    match state.phase:
        case "place":
            due = state.placing_order[len(state.board.pyramids)]
            return (
                Option(
                    state.mover,
                    msg("places {cell} on a tile without a pyramid", cell=messages.pyramid(due)),
                    mark("goal", _places(state.board.empty)),
                ),
            )
        case "move":
            return tuple(_moves(state))
        case "vote":
            return tuple(
                Option(player, msg("may vote: {text}", text=messages.open_choices(state)))
                for player in state.missing_voters
            )
        case "coins":
            left = [player for player in state.remaining_players if player not in state.done]
            return tuple(
                Option(player, msg("may lay coins ({text}) or finish", text=_coins(state, player)))
                for player in left
            )
        case "decide":
            return tuple(
                Option(state.torch, msg("may decide: {text}", text=messages.choice(choice)))
                for choice in state.leading_choices
            )
        case "remove":
            floe = state.board.floe_of(state.tile)
            return (
                Option(
                    state.torch,
                    msg("removes {cell} and everything on it", cell=messages.tile(state.tile)),
                    mark("take", _places([floe] if floe else [])),
                ),
            )
        case "extra":
            return (
                Option(
                    state.torch,
                    msg("may remove one empty tile, or none"),
                    mark("goal", _places(state.board.empty)),
                ),
            )
        case "score":
            return tuple(_score(state, floe) for floe in state.board.floes if floe.pyramids)
        case "torch":
            return (Option(state.after(state.torch), msg("takes the torch; a new round begins")),)
        case "name":
            return tuple(
                Option(state.torch, msg("may name {player} the winner", player=player))
                for player in state.best
            )
        case "over":
            return ()
        case _:
            assert_never(state.phase)


def trace(state: State, move: Move) -> tuple[Mark, ...]:
    """Marks of a move: origin and target, and what sank or was removed.

    Empty for announcements.
    """
    match move:
        case Movement(pyramid, origin, target):
            return (
                *mark("path", (origin, target) if origin != target else ()),
                *mark("take" if _sinks(state, pyramid, target) else "here", [target]),
            )
        case Slide(origin, target):
            return mark("path", (origin, target))
        case Placing(place=place):
            return mark("here", [place])
        case Removal(tile) | Selection(tile=tile):
            floe = state.board.floe_of(tile)
            return mark(
                "take" if isinstance(move, Removal) else "here", _places([floe] if floe else [])
            )
        case Vote() | Coin() | Done() | Decision() | Torch() | Penalty() | Objection() | Finding():
            return ()
        case _:
            assert_never(move)


def _moves(state: State) -> Iterator[Option]:
    """One option per pyramid, then one per tile that may slide."""
    for pyramid in state.pyramids(str(state.mover)):
        floe = state.board.floe_under(pyramid)
        if floe is None:
            continue
        there = reachable(state, pyramid, floe.place)
        sinks = [place for place in there if _sinks(state, pyramid, place)]
        dry = [place for place in there if place not in sinks]
        near = {*STEPS[floe.place], *JUMPS[floe.place]}
        once, twice = (
            [place for place in dry if place in near],
            [place for place in dry if place not in near],
        )
        label = msg(
            "{cell} on {cell2}: {text}",
            cell=messages.pyramid(pyramid),
            cell2=floe.place,
            text=_ways(once, twice, sinks),
        )
        marks = (*mark("here", [floe.place]), *mark("goal", dry), *mark("take", sinks))
        yield Option(state.mover, label, marks)
    for floe in state.board.floes:
        own = any(state.owner(pyramid) == state.mover for pyramid in floe.pyramids)
        if own and (open_to := slides(state, floe.place)):
            marks = tuple(Mark("path", (floe.place, place)) for place in open_to)
            yield Option(
                state.mover,
                msg("the tile on {cell} slides to {cells}", cell=floe.place, cells=any_of(open_to)),
                marks,
            )


def _ways(once: Sequence[str], twice: Sequence[str], sinks: Sequence[str]) -> Message:
    """Describe targets by one action and by two, and the tiles that sink under a pyramid."""
    return phrases(
        phrase("to {cells}", cells=any_of(once)) if once else NOTHING,
        phrase("in two actions to {cells}", cells=any_of(twice)) if twice else NOTHING,
        phrase("sinks {cells}", cells=any_of(sinks)) if sinks else NOTHING,
        NOTHING if once or twice or sinks else phrase("cannot move"),
    )


def _score(state: State, floe: Floe) -> Option:
    worth = [
        phrase("{player} {n}", player=player, n=points)
        for player, points in zip(state.players, state.worth(floe.pyramids), strict=True)
        if points
    ]
    return Option(
        state.mover,
        msg(
            "may choose {cell} on {cell2} to score: {text}",
            cell=messages.tile(floe.tile),
            cell2=floe.place,
            text=worth,
        ),
        mark("here", [floe.place]),
    )


def _sinks(state: State, pyramid: str, place: str) -> bool:
    """True if the tile there would be overloaded."""
    floe = state.board.at(place)
    return (
        floe is not None
        and pyramid not in floe.pyramids
        and floe.weight + WEIGHTS[pyramid[0]] > WEIGHT_MOST
    )


def _coins(state: State, player: str) -> Listing:
    names = {"a": phrase("ace"), "2": phrase("#2")}
    left = [names[coin] for coin in state.coins[state.players.index(player)]]
    return all_of(left or [phrase("none left")])


def _places(floes: Iterable[Floe]) -> list[str]:
    return [floe.place for floe in floes]
