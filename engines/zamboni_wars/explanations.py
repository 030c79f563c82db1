"""What can legally have happened on the board: what is seen, and what people are asked about nests
that the camera does not see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from engines.occlusion import NOT_SO, mostly_seen, what_is_true
from engines.verdict import Ambiguous, Choice
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.matching import Look, Nest
from engines.zamboni_wars.moves import Drive, Early, Fire, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Over
from engines.zamboni_wars.refusals import FIRING, MOVEMENT
from engines.zamboni_wars.rules import PIPS, after, play, violation
from engines.zamboni_wars.state import LAYER_SIZES, State
from engines.zamboni_wars.undisturbed import AsTheyLay, Doubted
from table.listing import inside, listed


def seen_ways(state: State, found: Look) -> list[tuple[Move, ...]]:
    """What can legally happen on the board now and may be what is seen; where dice were heard
    before the end of a move was seen, what can have followed it, too.
    """
    ways = _next_ways(state, found)
    if not (isinstance(state.phase, Moving) and state.phase.early):
        return ways
    return [(*way, *more) for way in ways for more in ((), *seen_ways(after(state, way), found))]


def _next_ways(state: State, found: Look) -> list[tuple[Move, ...]]:
    match state.phase:
        case Moving(points):
            mine = [nest for nest in found.nests if nest.is_of(state.to_move)]
            seen = {
                (space, facing) for nest in mine for space in nest.spaces for facing in nest.facings
            }
            return [
                (drive,)
                for drive in reachable(state, points)
                if (drive.space, drive.facing) in seen
            ]
        case Hit(target):
            return [(Take(target),)]
        case Aiming(target) if (
            state.left[target].layers == 1 and state.left[target].space not in found.unread
        ):
            return [(Fire(target), Take(target))]
        case _:
            return []


def _unseen_ways(state: State, found: Look, unseen: Collection[str]) -> Iterator[tuple[Move, ...]]:
    """What can legally have happened to nests that are not seen, so that each is somewhere else, or
    fewer layers, or gone: at once after a drive that is seen, too, for a last layer is hit without
    a die.
    """
    match state.phase:
        case Moving(points) if state.to_move in unseen:
            yield from ((drive,) for drive in reachable(state, points))
        case Moving(_, early) if not early:
            for way in _next_ways(state, found):
                yield from (
                    (*way, *more) for more in _unseen_ways(after(state, way), found, unseen)
                )
        case Hit(target) if target in unseen:
            yield (Take(target),)
        case Aiming(target) if target in unseen and state.left[target].layers == 1:
            yield (Fire(target), Take(target))


def follower_has_driven(state: State, found: Look) -> bool:
    """Would a die of the next player, that nobody told, explain the table: have both driven before
    it was seen at rest?
    """
    if (
        not isinstance(state.phase, Moving)
        or state.phase.early
        or violation(state, Early(state.follower, PIPS[-1]))
    ):
        return False
    trials = (play(state, Early(state.follower, pips)) for pips in PIPS)
    return any(
        found.shows(after(trial, way)) for trial in trials for way in seen_ways(trial, found)
    )


def who_has_not_told(state: State, found: Look) -> str | None:
    """Whose die, that nobody told, would explain the table: of a shot that hit before the end of
    its move was seen, or of who drove after a hit.
    """
    trials: list[tuple[str, State]] = []
    match state.phase:
        case Moving(_, ()) if not violation(state, early := Early(state.to_move, PIPS[-1])):
            trials = [(state.to_move, play(state, early))]
        case Hit(target) if (
            not isinstance((then := play(state, Take(target))).phase, Over)
            and then.to_move != target
        ):
            trials = [(then.to_move, play(then, Roll(pips))) for pips in PIPS]
    explain = (
        player
        for player, trial in trials
        for way in seen_ways(trial, found)
        if found.shows(after(trial, way))
    )
    return next(explain, None)


def ways_in_doubt(state: State, found: Look) -> list[tuple[Move, ...]]:
    """Ends of the mover's drive where a nest that is not surely read may lie, whatever way it
    looks.
    """
    mine = [nest for nest in found.nests if nest.is_of(state.to_move) and nest.doubtful]
    if not isinstance(state.phase, Moving) or state.phase.early:
        return []
    there = replace(found.without(mine), held=found.held.union((state.to_move,)))
    ends = [
        (drive,)
        for drive in reachable(state, state.phase.points)
        if any(drive.space in nest.spaces for nest in mine)
    ]
    return [way for way in ends if there.shows(after(state, way))]


def ask_unseen(state: State, found: Look, unseen: Collection[str]) -> Ambiguous | None:
    """Where the nests of these players are, which are not seen: as they lay, or as a legal move
    left them; None where more is amiss, or most nests are not seen.
    """
    if not mostly_seen(unseen, len(state.left)):
        return None
    there = replace(found, held=found.held.union(unseen))
    said = (
        f"Not seen on the board: {lay(state, unseen)}. What is true? You may also move it a little."
    )
    return _ask(
        state,
        there,
        _unseen_ways(state, there, unseen),
        said,
        "There it lies still, and the camera does not see it",
    )


def ask_strange(state: State, found: Look, strange: Collection[Nest]) -> Ambiguous | None:
    """Is nothing there where pieces too many are seen?  None where more is amiss."""
    many = " ".join(
        f"A {nest.colour} {nest.piece.size} piece too many lies on {nest.spaces[0]}."
        for nest in strange
    )
    return _ask(
        state,
        found.without(strange),
        (),
        f"{many} What is true?",
        "Nothing lies there, and the camera errs",
    )


def ask_taken(state: State, found: Look) -> Ambiguous | None:
    """Has the layer that was hit been taken off a nest that is not surely read?  None where nothing
    was hit, or it is.
    """
    target = state.phase.target if isinstance(state.phase, Hit) else None
    doubtful = (
        any(nest.is_of(target) and nest.doubtful for nest in found.nests) if target else False
    )
    if target is None or not doubtful or not found.shows(after(state, (Take(target),))):
        return None
    said = (
        f"Not surely read: whether the {LAYER_SIZES[state.left[target].layers]} {target} piece was"
        " taken off. What is true?"
    )
    return _ask(state, found, (), said, "It has not been taken off yet")


def _ask(
    state: State, there: Look, more: Iterable[tuple[Move, ...]], said: str, still: str
) -> Ambiguous | None:
    """Which way, of those that are seen `there` and `more`, it was, or that nothing has happened; a
    space with something unread comes first.

    Of a nest that was hit and is surely seen whole nobody is asked whether a layer was taken.
    """
    if isinstance(state.phase, Hit) and not any(
        nest.is_of(state.phase.target) and nest.doubtful for nest in there.nests
    ):
        there = there.held_to(state.phase.target)
    ways = dict.fromkeys((*seen_ways(state, there), *more))
    explained = [way for way in ways if there.shows(after(state, way))]
    explained.sort(
        key=lambda way: not (isinstance(way[-1], Drive) and way[-1].space in there.unread)
    )
    happened = [Choice(_what(state, way), tuple(map(str, way))) for way in explained]
    if not (choices := what_is_true(happened, still if there.shows(state) else None)):
        return None
    return Ambiguous(
        code="zamboni.unseen",
        said=said,
        rests_on=MOVEMENT,
        player=state.to_move,
        choices=choices,
        until_moved=True,
    )


def _what(state: State, way: tuple[Move, ...]) -> str:
    """What was seen, one thing after the other."""
    first, *more = (
        _happened(after(state, way[:k]), move)
        for k, move in enumerate(way)
        if isinstance(move, Drive | Take)
    )
    return "; then ".join([first, *map(inside, more)])


def _happened(state: State, move: Move) -> str:
    match move:
        case Drive(space, facing, dice):
            pushed = f", the cover dice lie on {listed(dice)}" if dice else ""
            return (
                f"{state.to_move.capitalize()}'s Zamboni ended on {space}, looking {facing}{pushed}"
            )
        case Take(target):
            return (
                f"The {LAYER_SIZES[state.left[target].layers]} {target} piece was taken off the"
                " board"
            )
        case _:
            raise ValueError(f"expected something that can be seen, got {move}")


def ask_doubted(found: AsTheyLay) -> Ambiguous:
    """Are nests that nobody had a reason to touch as they were, though they seem to be
    otherwise?
    """
    said = f"Not surely read: {listed(map(_seems, found.doubted))}. What is true?"
    choices = (Choice("It is as it was", (), holds=True), NOT_SO)
    return Ambiguous(
        code="zamboni.doubt",
        said=said,
        rests_on=FIRING,
        choices=choices,
        until_moved=True,
        table=found.as_said(),
    )


def _seems(one: Doubted) -> str:
    colour, size = one.now.colour, one.now.size
    if size == one.size:
        return f"whether {colour}'s Zamboni lies as it lay, and is still {size}"
    return f"{colour}'s outermost piece was {one.size}, and may be {size} now"


def lay(state: State, players: Collection[str]) -> str:
    """Where their nests lie by the record."""
    return listed(
        f"{player}'s (it lay on {state.left[player].space}, looking {state.left[player].facing})"
        for player in players
    )
