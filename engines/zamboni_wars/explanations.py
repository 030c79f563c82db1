"""Explanations of the board by legal moves, and questions about unseen nests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from engines.occlusion import NOT_SO, mostly_seen, true_act_choices
from engines.verdict import Ambiguous, Choice
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.matching import Difference, Nest, TableMatch
from engines.zamboni_wars.moves import Drive, EarlyRoll, Fire, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Over
from engines.zamboni_wars.refusals import FIRING, MOVEMENT
from engines.zamboni_wars.rules import PIPS, after, drive_end_text, play, violation
from engines.zamboni_wars.state import LAYER_SIZES, State
from engines.zamboni_wars.undisturbed import DoubtfulNest, UndisturbedTable
from table.messages import NOTHING, Listing, Message, all_of, msg, sentences


def observed_moves(state: State, found: TableMatch) -> list[tuple[Move, ...]]:
    """Legal moves on the board that may explain the picture.

    With dice announced before the end of a move was seen, possible later moves are included.
    """
    ways = _next_ways(state, found)
    if not (isinstance(state.phase, Moving) and state.phase.early):
        return ways
    return [
        (*way, *more) for way in ways for more in ((), *observed_moves(after(state, way), found))
    ]


def _next_ways(state: State, found: TableMatch) -> list[tuple[Move, ...]]:
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
            state.remaining_zambonis[target].layers == 1
            and state.remaining_zambonis[target].space not in found.unread
        ):
            return [(Fire(target), Take(target))]
        case _:
            return []


def _unseen_moves(
    state: State, found: TableMatch, unseen: Collection[str]
) -> Iterator[tuple[Move, ...]]:
    """Legal moves that may have happened to unseen nests.

    After these each is somewhere else, has fewer layers, or is gone. They include moves after a
    visible drive, since a last layer is hit without a die.
    """
    match state.phase:
        case Moving(points) if state.to_move in unseen:
            yield from ((drive,) for drive in reachable(state, points))
        case Moving(_, early) if not early:
            for way in _next_ways(state, found):
                yield from (
                    (*way, *more) for more in _unseen_moves(after(state, way), found, unseen)
                )
        case Hit(target) if target in unseen:
            yield (Take(target),)
        case Aiming(target) if target in unseen and state.remaining_zambonis[target].layers == 1:
            yield (Fire(target), Take(target))


def follower_has_driven(state: State, found: TableMatch) -> bool:
    """True if an unannounced die of the next player would explain the table.

    Both players then drove before it was seen at rest.
    """
    if (
        not isinstance(state.phase, Moving)
        or state.phase.early
        or violation(state, EarlyRoll(state.follower, PIPS[-1]))
    ):
        return False
    trials = (play(state, EarlyRoll(state.follower, pips)) for pips in PIPS)
    return any(
        found.agrees_with(after(trial, way))
        for trial in trials
        for way in observed_moves(trial, found)
    )


def unannounced_roller(state: State, found: TableMatch) -> str | None:
    """Player whose unannounced die would explain the table; else None.

    The die is for a shot that hit before its move was seen to end, or of a player who drove after a
    hit.
    """
    trials: list[tuple[str, State]] = []
    match state.phase:
        case Moving(_, ()) if not violation(state, early := EarlyRoll(state.to_move, PIPS[-1])):
            trials = [(state.to_move, play(state, early))]
        case Hit(target) if (
            not isinstance((then := play(state, Take(target))).phase, Over)
            and then.to_move != target
        ):
            trials = [(then.to_move, play(then, Roll(pips))) for pips in PIPS]
    explain = (
        player
        for player, trial in trials
        for way in observed_moves(trial, found)
        if found.agrees_with(after(trial, way))
    )
    return next(explain, None)


def doubtful_drive_ends(state: State, found: TableMatch) -> list[tuple[Move, ...]]:
    """Ends of the mover's drive where a doubtful nest may lie, whatever its facing."""
    mine = [nest for nest in found.nests if nest.is_of(state.to_move) and nest.doubtful]
    return _drive_ends(state, found, mine)


def _drive_ends(state: State, found: TableMatch, mine: Sequence[Nest]) -> list[tuple[Move, ...]]:
    """Ends of the mover's drive where these nests are seen, whatever their facing."""
    if not isinstance(state.phase, Moving) or state.phase.early:
        return []
    there = replace(found.without(mine), held=found.held.union((state.to_move,)))
    ends = [
        (drive,)
        for drive in reachable(state, state.phase.points)
        if any(drive.space in nest.spaces for nest in mine)
    ]
    return [way for way in ends if there.agrees_with(after(state, way))]


def ask_unseen(state: State, found: TableMatch, unseen: Collection[str]) -> Ambiguous | None:
    """Ask where the unseen nests of these players are.

    They lie as before, or as a legal move left them. None if more is wrong, or most nests are
    unseen.
    """
    if not mostly_seen(unseen, len(state.remaining_zambonis)):
        return None
    there = replace(found, held=found.held.union(unseen))
    message = sentences(
        msg("Not seen on the board: {text}.", text=recorded_nests(state, unseen)),
        msg("Which is right?"),
        msg("You can also move it a little."),
    )
    return _ask(
        state,
        there,
        _unseen_moves(state, there, unseen),
        message,
        msg("It still lies there, but the camera cannot see it"),
    )


def ask_strange(state: State, found: TableMatch, strange: Collection[Nest]) -> Ambiguous | None:
    """Ask whether surplus pieces are really there. None if more is wrong."""
    message = sentences(*map(too_many, strange), msg("Which is right?"))
    still = msg("Nothing is there; the camera is wrong")
    return _ask(state, found.without(strange), (), message, still)


def too_many(nest: Nest) -> Message:
    """Sentence that a piece is surplus."""
    return msg(
        "There is an extra {size} {colour} piece on {cell}.",
        colour=nest.colour,
        size=nest.piece.size,
        cell=nest.spaces[0],
    )


def ask_taken(state: State, found: TableMatch) -> Ambiguous | None:
    """Ask whether a hit layer was taken off a nest that is not surely read.

    None if nothing was hit, or the nest is surely read.
    """
    target = state.phase.target if isinstance(state.phase, Hit) else None
    doubtful = (
        any(nest.is_of(target) and nest.doubtful for nest in found.nests) if target else False
    )
    if target is None or not doubtful or not found.agrees_with(after(state, (Take(target),))):
        return None
    message = sentences(
        msg(
            "The camera is not sure whether the {size} {player} piece was taken off.",
            size=LAYER_SIZES[state.remaining_zambonis[target].layers],
            player=target,
        ),
        msg("Which is right?"),
    )
    return _ask(state, found, (), message, msg("It has not been taken off yet"))


def ask_resized(state: State, found: TableMatch, wrong: Difference) -> Ambiguous | None:
    """Ask whether the nest that drove only seems to have lost a piece.

    A misreading is likelier than a drive and a forbidden act at once. Its facing is then unreliable
    too. None if no drive explains the rest of the table.
    """
    looks = [
        pair.nest.piece.size
        for pair in wrong.resized
        if pair in wrong.moved
        and pair.player == state.to_move
        and pair.nest.layers < pair.zamboni.layers
    ]
    if not looks or not isinstance(state.phase, Moving):
        return None
    as_recorded = replace(
        found,
        nests=tuple(
            replace(nest, sized=nest.sized and not nest.is_of(state.to_move))
            for nest in found.nests
        ),
    )
    message = msg(
        "Is {player}'s Zamboni still {size}? It looks {size2} to the camera.",
        player=state.to_move,
        size=LAYER_SIZES[state.mover.layers],
        size2=looks[0],
    )
    mine = [nest for nest in found.nests if nest.is_of(state.to_move)]
    return _ask(state, as_recorded, (), message, NOTHING, _drive_ends(state, found, mine))


def _ask(
    state: State,
    there: TableMatch,
    more: Iterable[tuple[Move, ...]],
    message: Message,
    still: Message,
    others: Iterable[tuple[Move, ...]] = (),
) -> Ambiguous | None:
    """Ask which of several ways happened, or nothing yet.

    The ways are those seen `there` and `more`; spaces with something unread come first. `others`
    follow, which need no confirmation. A nest that was hit and is surely seen whole is not asked
    about.
    """
    if isinstance(state.phase, Hit) and not any(
        nest.is_of(state.phase.target) and nest.doubtful for nest in there.nests
    ):
        there = there.with_read_size(state.phase.target)
    ways = dict.fromkeys((*observed_moves(state, there), *more))
    explained = [way for way in ways if there.agrees_with(after(state, way))]
    explained.sort(
        key=lambda way: not (isinstance(way[-1], Drive) and way[-1].space in there.unread)
    )
    every = dict.fromkeys((*explained, *others))
    happened = [Choice(_moves_text(state, way), tuple(map(str, way))) for way in every]
    if not (choices := true_act_choices(happened, still if there.agrees_with(state) else None)):
        return None
    return Ambiguous(
        code="zamboni.unseen",
        message=message,
        rests_on=MOVEMENT,
        player=state.to_move,
        choices=choices,
        withdrawn_if_table_changes=True,
    )


def _moves_text(state: State, way: tuple[Move, ...]) -> Message:
    """What was seen, in order, in a sentence."""
    message = NOTHING
    for k, move in enumerate(way):
        if isinstance(move, Drive | Take):
            happened = _move_text(after(state, way[:k]), move, first=not message)
            message = (
                msg("{text}; then {text2}", text=message, text2=happened) if message else happened
            )
    return message


def _move_text(state: State, move: Drive | Take, first: bool) -> Message:
    """What was seen, as the `first` part of a sentence or as a later one."""
    if isinstance(move, Drive):
        return drive_end_text(state.to_move, move)
    size = LAYER_SIZES[state.remaining_zambonis[move.colour].layers]
    if first:
        return msg(
            "The {size} {player} piece was taken off the board", size=size, player=move.colour
        )
    return msg("the {size} {player} piece was taken off the board", size=size, player=move.colour)


def ask_doubted(found: UndisturbedTable) -> Ambiguous:
    """Ask whether doubtful nests are unchanged, though they seem to differ.

    Nobody had a reason to touch them.
    """
    message = sentences(
        msg("The camera is not sure {text}.", text=map(_nest_text, found.doubted)),
        msg("Which is right?"),
    )
    choices = (Choice(msg("Nothing has changed"), (), confirms_record=True), NOT_SO)
    return Ambiguous(
        code="zamboni.doubt",
        message=message,
        rests_on=FIRING,
        choices=choices,
        withdrawn_if_table_changes=True,
        table=found.observation_as_announced(),
    )


def _nest_text(one: DoubtfulNest) -> Message:
    colour, size = one.now.colour, one.now.size
    if size == one.size:
        return msg(
            "whether {player}'s Zamboni is where it was and still {size}", player=colour, size=size
        )
    return msg(
        "whether {player}'s outermost piece is still {size} or now {size2}",
        player=colour,
        size=one.size,
        size2=size,
    )


def recorded_nests(state: State, players: Collection[str]) -> Listing:
    """Where their nests lie by the record."""
    return all_of(
        msg(
            "{player}'s (it was on {cell}, facing {cell2})",
            player=player,
            cell=state.remaining_zambonis[player].space,
            cell2=state.remaining_zambonis[player].facing,
        )
        for player in players
    )
