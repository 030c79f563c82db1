"""From settled observations of the coasters, and from dice, to verdicts.

The record says where every Zamboni lies, so the table is compared with it, not with an earlier
picture.  Dice are heard.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from engines.errors import Violation
from engines.occlusion import NONE_OF_THESE
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    OutOfSync,
    Refused,
    Verdict,
    Waiting,
    refusal,
)
from engines.zamboni_wars.board import SIDE, USUAL
from engines.zamboni_wars.board import Board as Arrows
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.explanations import (
    ask_doubted,
    ask_strange,
    ask_taken,
    ask_unseen,
    follower_has_driven,
    lay,
    seen_ways,
    ways_in_doubt,
    who_has_not_told,
)
from engines.zamboni_wars.matching import Difference, Look, Pair, as_said, look
from engines.zamboni_wars.moves import Drive, Move, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Shooting
from engines.zamboni_wars.refusals import COVER, FIRING, MOVEMENT
from engines.zamboni_wars.rules import (
    SEQUENCE,
    after,
    after_early,
    early_dice,
    outcome,
    play,
    start,
    turn,
    violation,
)
from engines.zamboni_wars.state import LAYER_SIZES, State, Zamboni, fresh
from engines.zamboni_wars.undisturbed import AsTheyLay, as_they_lay, roller, touched
from table.boards import Board, Coasters
from table.errors import InputError
from table.listing import listed
from table.observation import SURE, Observation, SeenPiece

START, MOVE, HIT, SYNC, OVER = (
    "zamboni.start",
    "zamboni.move",
    "zamboni.hit",
    "zamboni.out_of_sync",
    "zamboni.over",
)
PLACE = "ruling zamboni_wars.1"


def set_up(players: Sequence[str], rulings: Mapping[str, str], board: Board | None) -> State:
    """As `start`, with the coasters as they lie on the table, dots in the middle; raises InputError
    for another board.
    """
    if board is None:
        return start(players, rulings)
    if not isinstance(board, Coasters) or (board.rows, board.cols) != (2 * SIDE, 2 * SIDE):
        got = (
            f"{board.rows} by {board.cols} spaces"
            if isinstance(board, Coasters)
            else f"a board of kind {type(board).__name__.lower()}"
        )
        raise InputError(
            f"board: expected four coasters of 3 by 3 spaces for Zamboni Wars, got {got}"
        )
    return start(players, rulings, Arrows.usual(board.layout) if board.layout else USUAL)


def judge(state: State, seen: Observation, before: Observation | None, board: Board) -> Verdict:
    """What happened on a board of coasters on which nothing moves any more."""
    assert isinstance(board, Coasters), "set_up refuses other boards"
    held = as_they_lay(seen, before, state)
    verdict = _judge(state, held, before, board)
    return verdict if held.table is seen else replace(verdict, table=held.table)


def _judge(state: State, held: AsTheyLay, before: Observation | None, board: Coasters) -> Verdict:
    seen = held.table
    if ended := outcome(state):
        return Waiting(
            code=OVER, said=f"The game is over: {ended}.", rests_on="Winning", as_recorded=True
        )
    if seen.hand:
        return Waiting(code=MOVE, said="A hand is over the table.", player=state.to_move)
    found = as_said(look(seen, before, board), state, before, board).believed(state)
    if found.up:
        return _not_flat(state, found)
    if before is None and state == fresh(state.players, state.rulings, state.board):
        return _judge_start(state, found)
    for reading in (
        found.as_read(),
        found.held_to(state.phase.target if isinstance(state.phase, Hit) else None),
    ):
        explained = [way for way in seen_ways(state, reading) if reading.shows(after(state, way))]
        still = reading.shows(state)
        if still and (
            not explained
            or (reading.plainly(touched(state)).shows(state) and not _may_have_ended(state))
        ):
            return _wait(state, found, held)
        if len(explained) == 1 and not still:
            return _accept(state, explained[0], reading)
        if explained:
            return _ask(state, explained, still, reading)
    if found.shows(state):  # in doubt, which is in favour of the record
        return _wait(state, found, held)
    return _judge_difference(state, found)


def _may_have_ended(state: State) -> bool:
    """Do dice that were heard say that the move is over, and may it have ended where it began?"""
    early = isinstance(state.phase, Moving) and bool(state.phase.early)
    return (
        early
        and not violation(state, still := Drive(state.mover.space, state.mover.facing))
        and not after_early(state, still)[1]
    )


def _wait(state: State, found: Look, lie: AsTheyLay) -> Waiting | Accepted:
    """Nothing that counts has happened.  Of a nest that is seen again, which it was not, people's
    word is not needed any more.
    """
    held = found.differs(state).held
    if found.held.difference(held):
        return Accepted(code=START, said=_turn(state, found), rests_on=MOVEMENT, moves=())
    asks = (
        ask_unseen(state, found, held)
        if touched(state).intersection(held)
        else ask_doubted(lie)
        if lie.doubted
        else ask_taken(state, found)
    )
    return Waiting(
        code=MOVE,
        said=_turn(state, found),
        rests_on=MOVEMENT,
        player=state.to_move,
        asks=asks,
        as_recorded=True,
    )


def _turn(state: State, found: Look) -> str:
    """Whose turn it is; which nests and cover dice are not seen: they are taken to lie as recorded;
    and what is not believed to be there.
    """
    wrong = found.differs(state)
    nests = (
        f" Not seen, and there on the players' word: {lay(state, wrong.held)}."
        if wrong.held
        else ""
    )
    dice = f" Not seen: the cover die on {listed(wrong.unseen, 'and on')}." if wrong.unseen else ""
    places = ((piece.colour, *piece.base_mm) for piece in found.unbelieved)
    unbelieved = "".join(
        f" Held against nobody: what looks like a {colour} piece at ({x:.0f}, {y:.0f}) mm."
        for colour, x, y in places
    )
    return turn(state) + nests + dice + unbelieved


def _not_flat(state: State, found: Look) -> Verdict:
    """A nest does not lie flat, or is only read so: people may say how it lies."""
    piece, flat = found.up[0], replace(found, up=())
    asks = _ask_unless_driven(state, flat, flat.differs(state).gone)
    if piece.pose_probability < SURE:
        return _doubtful(state, piece, asks)
    said = f"Lay {piece.colour}'s Zamboni flat on a side, its tip where it looks."
    return Waiting(code=MOVE, said=said, rests_on=MOVEMENT, player=state.to_move, asks=asks)


def _ask_unless_driven(state: State, found: Look, gone: Collection[str]) -> Ambiguous | None:
    """Nobody is asked where a nest is that may have driven by a roll that was not told yet."""
    return None if not gone or roller(state) in gone else ask_unseen(state, found, gone)


def _doubtful(state: State, piece: SeenPiece, asks: Ambiguous | None) -> CannotSee:
    said = (
        f"The camera cannot tell how {piece.colour}'s Zamboni lies: move it a little, or show it"
        " better."
    )
    return CannotSee(
        code="zamboni.doubt",
        said=said,
        rests_on=PLACE,
        player=state.to_move,
        evidence={"piece": str(piece)},
        asks=asks,
    )


def _judge_start(state: State, found: Look) -> Verdict:
    if wrong := found.differs(state):
        differences, asks = tuple(_sentences(wrong)), ask_unseen(state, found, wrong.gone)
        said = f"Set up the board: {' '.join(differences)}"
        return Waiting(
            code=START,
            said=said,
            rests_on="Setup; ruling zamboni_wars.6",
            asks=asks,
            differences=differences,
        )
    said = f"Every Zamboni is in its corner. {turn(state)}"
    return Accepted(code=START, said=said, rests_on="Setup; ruling zamboni_wars.6", moves=())


def _accept(state: State, way: tuple[Move, ...], found: Look) -> Accepted:
    then, moves = after(state, way), tuple(map(str, way))
    states = [after(state, way[:done]) for done in range(len(way))]
    seen = [
        (before, move)
        for before, move in zip(states, way, strict=True)
        if isinstance(move, Drive | Take)
    ]
    said = " ".join([*(_happened(before, move) for before, move in seen), _turn(then, found)])
    before, last = seen[-1]
    player = before.to_move
    if isinstance(last, Take):
        return Accepted(
            code=HIT,
            said=said,
            rests_on=FIRING,
            player=player,
            moves=moves,
            evidence={"target": last.colour},
        )
    (piece,) = (
        nest.piece for nest in found.nests if nest.is_of(player) and last.space in nest.spaces
    )
    evidence = {
        "base_mm": piece.base_mm.round(3).tolist(),
        "heading_deg": round(piece.heading_deg, 1),
    }
    return Accepted(
        code=MOVE,
        said=said,
        rests_on=f"{MOVEMENT}; {PLACE}",
        player=player,
        moves=moves,
        evidence=evidence,
    )


def _happened(state: State, move: Drive | Take) -> str:
    """What was seen, in sentences, with the dice that were heard before."""
    who = state.to_move.capitalize()
    if isinstance(move, Take):
        left = play(state, move).left.get(move.colour)
        what = (
            f"{left.layers} layer{'' if left.layers == 1 else 's'} left"
            if left
            else "its Zamboni is destroyed"
        )
        return f"{who} hits {move.colour}: {what}."
    pushed = [die for die in move.dice if die not in state.dice]
    push = f", and pushes a cover die to {listed(pushed)}" if pushed else ""
    return " ".join(
        [f"{who} drives to {move.space} and looks {move.facing}{push}.", *early_dice(state, move)]
    )


def _ask(state: State, explained: list[tuple[Move, ...]], still: bool, found: Look) -> Ambiguous:
    """More than one thing may have happened, for all that the picture says (ruling
    zamboni_wars.1).
    """
    more = ways_in_doubt(state, found)
    ways = dict.fromkeys((*explained, *more))
    ends = {
        "', '".join(str(move) for move in way if isinstance(move, Drive | Take)): tuple(
            map(str, way)
        )
        for way in ways
    }
    choices = [
        Choice(f"{state.to_move.capitalize()} ends with '{end}'", moves)
        for end, moves in ends.items()
    ]
    if still:
        choices.append(Choice("Nothing has happened yet", ()))
    if more:
        choices.append(NONE_OF_THESE)
    said = (
        f"How does {state.to_move}'s Zamboni end? It lies so that it may be either. You may also"
        " lay it so that it is clear."
    )
    return Ambiguous(
        code=MOVE,
        said=said,
        rests_on=PLACE,
        player=state.to_move,
        choices=tuple(choices),
        until_moved=True,
    )


def _judge_difference(state: State, found: Look) -> Verdict:
    """Nothing legal explains the table: it is half done, or wrong, or more than one thing."""
    wrong = found.differs(state)
    strange = ask_strange(state, found, wrong.strange) if wrong.strange else None
    if wrong.doubtful:
        plain = found.without(wrong.doubtful)
        return _doubtful(
            state,
            wrong.doubtful[0].piece,
            strange or _ask_unless_driven(state, plain, plain.differs(state).gone),
        )
    if not wrong.of_nests:
        return _only_dice(state, found, wrong)
    if not wrong.gone and (untold := who_has_not_told(state, found.as_read())):
        said = f"{untold.capitalize()}'s die was not told: tell what it showed."
        return Waiting(code=MOVE, said=said, rests_on=SEQUENCE, player=untold)
    if wrong.gone and not (wrong.strange or wrong.recoloured):
        said = (
            f"Not seen on the board: {lay(state, wrong.gone)}. Lay it there, or move it a little if"
            f" it lies there. {turn(state)}"
        )
        return Waiting(
            code=MOVE,
            said=said,
            rests_on=MOVEMENT,
            player=state.to_move,
            asks=_ask_unless_driven(state, found, wrong.gone),
        )
    if (
        wrong.strange
        and isinstance(state.phase, Hit | Aiming)
        and not (wrong.moved or wrong.recoloured)
    ):
        spare = wrong.strange[0]
        said = (
            f"Take the {spare.colour} {spare.piece.size} piece on {spare.spaces[0]} off the board."
        )
        return Waiting(code=HIT, said=said, rests_on=FIRING, player=state.to_move, asks=strange)
    if wrong.strange or wrong.recoloured or wrong.gone:
        return replace(_out_of_sync(state, wrong), asks=strange)
    if wrong.resized:
        return _resized(state, wrong)
    return _moved(state, found, wrong)


def _only_dice(state: State, found: Look, wrong: Difference) -> Waiting | OutOfSync:
    """Every Zamboni is where it was, and a cover die is not: it is pushed before its Zamboni
    drives, or was moved.
    """
    drives = reachable(state, state.phase.points) if isinstance(state.phase, Moving) else ()
    if any(drive.dice and not found.differs(after(state, (drive,))).pushed for drive in drives):
        said = (
            f"A cover die is pushed to {wrong.pushed[0][0]}: now drive the Zamboni that pushes it,"
            f" or put it back. {turn(state)}"
        )
        return Waiting(code=MOVE, said=said, rests_on=COVER, player=state.to_move)
    return _out_of_sync(state, wrong)


def _resized(state: State, wrong: Difference) -> Verdict:
    """Layers are gone that nobody shot off, or other ones than were."""
    if any(pair.nest.layers > pair.zamboni.layers for pair in wrong.resized):
        return _out_of_sync(state, wrong)
    target = state.phase.target if isinstance(state.phase, Hit) else None
    amiss = [
        pair
        for pair in wrong.resized
        if pair.player != target or pair.nest.layers < pair.zamboni.layers - 1
    ]
    elsewhere = {pair.player for pair in wrong.moved} - {pair.player for pair in wrong.resized}
    if elsewhere:
        return _out_of_sync(state, wrong)
    if not amiss:
        nest = state.left[str(target)]
        said = f"Lay {target}'s Zamboni on {nest.space} again, looking {nest.facing}."
        said += (
            f" If {target} has driven since, tell what the die showed."
            if target == state.follower
            else ""
        )
        return Waiting(code=HIT, said=said, rests_on=FIRING, player=state.to_move)
    player = amiss[0].player
    taken = violation(state, Take(player)) or Violation(
        "zamboni.take.two", FIRING, f"A hit takes one piece off {player}'s nest, and more are gone."
    )
    if (
        isinstance(state.phase, Aiming | Shooting)
        and player == state.phase.target
        and len(amiss) == 1
        and not wrong.moved
    ):
        taken = replace(
            taken, said=f"{taken.said} If {state.to_move} hit it, tell what the die showed."
        )
    return _refuse(state, replace(taken, code=HIT), taken.code, (str(Take(player)),), wrong)


def _moved(state: State, found: Look, wrong: Difference) -> Verdict:
    """Zambonis lie or look otherwise than recorded, and it was no legal move."""
    if len(wrong.moved) > 1 and follower_has_driven(state, found.as_read()):
        verdict = _out_of_sync(state, wrong)
        return replace(
            verdict,
            said=f"{verdict.said} If {state.follower} has driven since, tell what the die showed.",
        )
    if len(wrong.moved) > 1 or (wrong.pushed and len(found.dice or ()) != len(state.dice)):
        return _out_of_sync(state, wrong)
    (pair,) = wrong.moved
    dice = tuple(sorted(spaces[0] for spaces in found.dice or ())) if wrong.pushed else ()
    drive = Drive(pair.nest.spaces[0], pair.nest.facings[0], dice)
    if pair.player == roller(state):
        said = (
            f"{pair.player.capitalize()}'s Zamboni was moved, and no roll is known: tell what the"
            " die showed."
        )
        return Waiting(code=MOVE, said=said, rests_on=MOVEMENT, player=pair.player)
    if pair.player != state.to_move:
        said = (
            f"{pair.player.capitalize()}'s Zamboni went to {drive}, and it is {state.to_move}'s"
            " turn."
        )
        if pair.player == state.follower and not violation(
            state, Drive(state.mover.space, state.mover.facing)
        ):
            said += f" If {state.to_move} ended where the move began, say so."
        if pair.player == state.follower and isinstance(state.phase, Shooting):
            said += f" If {state.to_move} missed, tell what the die showed."
        return _refuse(
            state, Violation(MOVE, MOVEMENT, said), "zamboni.move.player", (str(drive),), wrong
        )
    forbidden = violation(state, drive)
    if forbidden is None:  # as it is likeliest read; all that is seen it does not explain
        return _out_of_sync(state, wrong)
    return _refuse(
        state, replace(forbidden, code=MOVE), forbidden.code, (_tried(state, drive),), wrong
    )


def _tried(state: State, drive: Drive) -> str:
    """The space alone where no end of the move is, however it looks."""
    ends = reachable(state, state.phase.points) if isinstance(state.phase, Moving) else ()
    return str(drive) if any(end.space == drive.space for end in ends) else str(drive.space)


def _refuse(
    state: State, forbidden: Violation, rule: str, tried: tuple[str, ...], wrong: Difference
) -> Refused:
    """`code` is the same for every refused move; which rule it was stands in the evidence."""
    nests = dict.fromkeys(_as_it_lay(pair) for pair in (*wrong.moved, *wrong.resized))
    back = listed(
        [*nests, *(f"the cover die on {space}" for space in (wrong.unseen if wrong.pushed else ()))]
    )
    named = replace(forbidden, said=f"{forbidden.said} Put back {back}.")
    return refusal(
        named, state.to_move, tried, {"violation": rule, "differences": _sentences(wrong)}
    )


def _out_of_sync(state: State, wrong: Difference) -> OutOfSync:
    said = "The table is not as it was recorded. Put it right, or correct the record."
    return OutOfSync(
        code=SYNC,
        said=said,
        rests_on=MOVEMENT,
        player=state.to_move,
        differences=tuple(_sentences(wrong)),
    )


def _as_it_lay(pair: Pair) -> str:
    return f"{pair.player}'s {LAYER_SIZES[pair.zamboni.layers]} nest on {_place(pair.zamboni)}"


def _place(zamboni: Zamboni) -> str:
    return f"{zamboni.space}, looking {zamboni.facing}"


def _sentences(wrong: Difference) -> list[str]:
    """The difference nest by nest."""
    said = [
        f"{pair.player.capitalize()}'s Zamboni lies on {pair.nest.spaces[0]}, looking"
        f" {pair.nest.facings[0]}, and belongs on {_place(pair.zamboni)}."
        for pair in wrong.moved
    ]
    for pair in wrong.resized:
        had = LAYER_SIZES[pair.zamboni.layers]
        said.append(
            f"{pair.player.capitalize()}'s outermost piece is {pair.nest.piece.size}, and was"
            f" {had}."
        )
    said += [
        f"A {pair.nest.colour} nest lies on {pair.nest.spaces[0]}, where {pair.player}'s belongs."
        for pair in wrong.recoloured
    ]
    said += [f"{player.capitalize()}'s Zamboni is missing." for player in wrong.gone]
    said += [
        f"A {nest.colour} {nest.piece.size} piece too many lies on {nest.spaces[0]}."
        for nest in wrong.strange
    ]
    belongs = f", and one belongs on {listed(wrong.unseen, 'or')}" if wrong.unseen else ""
    said += [
        f"A cover die lies on {spaces[0]}, where none belongs{belongs}." for spaces in wrong.pushed
    ]
    return said
