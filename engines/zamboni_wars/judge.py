"""Judge settled observations of the coasters, and dice.

The record has the place of every Zamboni, so the table is compared with it, not with an earlier
picture. Dice are announced.
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
from engines.zamboni_wars.board import SIDE, USUAL, Space
from engines.zamboni_wars.board import Board as Arrows
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.explanations import (
    ask_doubted,
    ask_resized,
    ask_strange,
    ask_taken,
    ask_unseen,
    doubtful_drive_ends,
    follower_has_driven,
    observed_moves,
    recorded_nests,
    too_many,
    unannounced_roller,
)
from engines.zamboni_wars.matching import (
    Difference,
    Pair,
    TableMatch,
    match_table,
    with_announcements,
)
from engines.zamboni_wars.moves import Drive, Move, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Shooting
from engines.zamboni_wars.refusals import COVER, FIRING, MOVEMENT
from engines.zamboni_wars.rules import (
    SEQUENCE,
    after,
    after_early,
    drive_end_text,
    early_dice,
    outcome,
    play,
    start,
    turn,
    violation,
)
from engines.zamboni_wars.state import LAYER_SIZES, State, fresh
from engines.zamboni_wars.undisturbed import (
    UndisturbedTable,
    roller,
    touchable_players,
    undisturbed_table,
)
from table.boards import Board, Coasters, kind_in_words
from table.errors import InputError
from table.messages import NOTHING, Message, any_of, msg, phrases, quoted, sentences
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
    """As `start`, with the coasters as they lie on the table, dots in the middle.

    Raises InputError for another board.
    """
    if board is None:
        return start(players, rulings)
    if not isinstance(board, Coasters) or (board.rows, board.cols) != (2 * SIDE, 2 * SIDE):
        got = (
            msg("{n} by {n2} spaces", n=board.rows, n2=board.cols)
            if isinstance(board, Coasters)
            else kind_in_words(board)
        )
        raise InputError(
            msg(
                "Zamboni Wars needs the four coasters of {n} by {n2} spaces; this is {text}",
                n=SIDE,
                n2=SIDE,
                text=got,
            )
        )
    return start(players, rulings, Arrows.usual(board.layout) if board.layout else USUAL)


def judge(state: State, seen: Observation, before: Observation | None, board: Board) -> Verdict:
    """Judge a settled board of coasters."""
    assert isinstance(board, Coasters), "set_up refuses other boards"
    held = undisturbed_table(seen, before, state)
    verdict = _judge(state, held, before, board)
    return verdict if held.table is seen else replace(verdict, table=held.table)


def _judge(
    state: State, held: UndisturbedTable, before: Observation | None, board: Coasters
) -> Verdict:
    seen = held.table
    if ended := outcome(state):
        return Waiting(
            code=OVER,
            message=msg("The game is over: {text}.", text=ended.message),
            rests_on="Winning",
            as_recorded=True,
        )
    if seen.hand:
        return Waiting(code=MOVE, message=msg("A hand is over the board."), player=state.to_move)
    found = with_announcements(
        match_table(seen, before, board), state, before, board
    ).without_impossible_nests(state)
    if found.up:
        return _judge_tilted_nest(state, found)
    if before is None and state == fresh(state.players, state.rulings, state.board):
        return _judge_start(state, found)
    for reading in (
        found.with_read_sizes(),
        found.with_read_size(state.phase.target if isinstance(state.phase, Hit) else None),
    ):
        explained = [
            way for way in observed_moves(state, reading) if reading.agrees_with(after(state, way))
        ]
        still = reading.agrees_with(state)
        if still and (
            not explained
            or (
                reading.likeliest(touchable_players(state)).agrees_with(state)
                and not _may_have_ended(state)
            )
        ):
            return _wait(state, found, held)
        if len(explained) == 1 and not still:
            return _accept(state, explained[0], reading)
        if explained:
            return _ask(state, explained, still, reading)
    if found.agrees_with(state):  # doubt is resolved in favour of the record
        return _wait(state, found, held)
    return _judge_difference(state, found)


def _may_have_ended(state: State) -> bool:
    """True if announced dice imply that the move is over, and it may have ended where it began."""
    early = isinstance(state.phase, Moving) and bool(state.phase.early)
    return (
        early
        and not violation(state, still := Drive(state.mover.space, state.mover.facing))
        and not after_early(state, still)[1]
    )


def _wait(state: State, found: TableMatch, lie: UndisturbedTable) -> Waiting | Accepted:
    """Return the verdict if nothing that counts has happened.

    Once an unseen nest is seen again, people's statement about it is dropped.
    """
    held = found.differences(state).held
    if found.held.difference(held):
        return Accepted(code=START, message=_turn(state, found), rests_on=MOVEMENT, moves=())
    asks = (
        ask_unseen(state, found, held)
        if touchable_players(state).intersection(held)
        else ask_doubted(lie)
        if lie.doubted
        else ask_taken(state, found)
    )
    return Waiting(
        code=MOVE,
        message=_turn(state, found),
        rests_on=MOVEMENT,
        player=state.to_move,
        asks=asks,
        as_recorded=True,
    )


def _turn(state: State, found: TableMatch) -> Message:
    """Describe whose turn it is, and what is unseen or ignored.

    Unseen nests and cover dice are assumed in place.
    """
    wrong = found.differences(state)
    nests = (
        msg(
            "Not visible, but there according to the players: {text}.",
            text=recorded_nests(state, wrong.held),
        )
        if wrong.held
        else NOTHING
    )
    places = ((piece.colour, *piece.base_mm) for piece in found.unbelieved)
    unbelieved = (
        msg(
            "Ignored: what looks like a {colour} piece at ({n}, {n2}) mm.",
            colour=colour,
            n=f"{x:.0f}",
            n2=f"{y:.0f}",
        )
        for colour, x, y in places
    )
    return sentences(turn(state), nests, _unseen_dice(wrong.unseen), *unbelieved)


def _unseen_dice(spaces: Sequence[Space]) -> Message:
    """The sentence that cover dice, two at most, are not seen."""
    if not spaces:
        return NOTHING
    if len(spaces) == 1:
        return msg("Not seen: the cover die on {cell}.", cell=spaces[0])
    return msg(
        "Not seen: the cover dice on {cell} and on {cell2}.", cell=spaces[0], cell2=spaces[1]
    )


def _judge_tilted_nest(state: State, found: TableMatch) -> Verdict:
    """Judge a nest that does not lie flat, or is read so: people may say how it lies."""
    piece, flat = found.up[0], replace(found, up=())
    asks = _ask_unless_driven(state, flat, flat.differences(state).gone)
    if piece.pose_probability < SURE:
        return _doubtful(state, piece, asks)
    message = msg(
        "Lay {player}'s Zamboni flat on a side, with the tip where it faces.", player=piece.colour
    )
    return Waiting(code=MOVE, message=message, rests_on=MOVEMENT, player=state.to_move, asks=asks)


def _ask_unless_driven(state: State, found: TableMatch, gone: Collection[str]) -> Ambiguous | None:
    """Ask about missing nests; None if one may have driven by an unannounced roll."""
    return None if not gone or roller(state) in gone else ask_unseen(state, found, gone)


def _doubtful(state: State, piece: SeenPiece, asks: Ambiguous | None) -> CannotSee:
    message = msg(
        "The camera cannot tell how {player}'s Zamboni lies: move it a little, or show it"
        " more clearly.",
        player=piece.colour,
    )
    return CannotSee(
        code="zamboni.doubt",
        message=message,
        rests_on=PLACE,
        player=state.to_move,
        evidence={"piece": piece.message},
        asks=asks,
    )


def _judge_start(state: State, found: TableMatch) -> Verdict:
    if wrong := found.differences(state):
        differences, asks = tuple(_sentences(wrong)), ask_unseen(state, found, wrong.gone)
        message = msg("Set up the board: {text}", text=quoted(*differences))
        return Waiting(
            code=START,
            message=message,
            rests_on="Setup; ruling zamboni_wars.6",
            asks=asks,
            differences=differences,
        )
    message = sentences(msg("Every Zamboni is in its corner."), turn(state))
    return Accepted(code=START, message=message, rests_on="Setup; ruling zamboni_wars.6", moves=())


def _accept(state: State, way: tuple[Move, ...], found: TableMatch) -> Accepted:
    then, moves = after(state, way), tuple(map(str, way))
    states = [after(state, way[:done]) for done in range(len(way))]
    seen = [
        (before, move)
        for before, move in zip(states, way, strict=True)
        if isinstance(move, Drive | Take)
    ]
    message = sentences(
        *(_observed_move_text(before, move) for before, move in seen), _turn(then, found)
    )
    before, last = seen[-1]
    player = before.to_move
    if isinstance(last, Take):
        return Accepted(
            code=HIT,
            message=message,
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
        message=message,
        rests_on=f"{MOVEMENT}; {PLACE}",
        player=player,
        moves=moves,
        evidence=evidence,
    )


def _observed_move_text(state: State, move: Drive | Take) -> Message:
    """What was seen, in sentences, with the dice that were announced before."""
    if isinstance(move, Take):
        return _hit(state, move.colour)
    drive: dict[str, object] = {"player": state.to_move, "cell": move.space, "cell2": move.facing}
    pushed = [die for die in move.dice if die not in state.dice]
    drives = (
        msg(
            "{player} drives to {cell}, facing {cell2}, and pushes a cover die to {cells}.",
            cells=pushed,
            **drive,
        )
        if pushed
        else msg("{player} drives to {cell}, facing {cell2}.", **drive)
    )
    return sentences(drives, *early_dice(state, move))


def _hit(state: State, target: str) -> Message:
    """Who hit whom, and what is left of that Zamboni."""
    left = play(state, Take(target)).remaining_zambonis.get(target)
    hit: dict[str, object] = {"player": state.to_move, "player2": target}
    if left is None:
        return msg("{player} hits {player2}: its Zamboni is destroyed.", **hit)
    if left.layers == 1:
        return msg("{player} hits {player2}: {n} piece left.", n=left.layers, **hit)
    return msg("{player} hits {player2}: {n} pieces left.", n=left.layers, **hit)


def _moves_text(player: str, way: tuple[Move, ...]) -> Message:
    """Where a player's Zamboni ended, and what was taken off."""
    return phrases(
        *(
            drive_end_text(player, move)
            if isinstance(move, Drive)
            else msg("{player}'s outermost piece is off", player=move.colour)
            for move in way
            if isinstance(move, Drive | Take)
        )
    )


def _ask(
    state: State, explained: list[tuple[Move, ...]], still: bool, found: TableMatch
) -> Ambiguous:
    """Ask what happened if the picture leaves it open (ruling zamboni_wars.1)."""
    more = doubtful_drive_ends(state, found)
    ways = dict.fromkeys((*explained, *more))
    ends = {_moves_text(state.to_move, way): tuple(map(str, way)) for way in ways}
    choices = [Choice(text, moves) for text, moves in ends.items()]
    if still:
        choices.append(Choice(msg("Nothing has happened yet"), ()))
    if more:
        choices.append(NONE_OF_THESE)
    message = sentences(
        msg("How does {player}'s Zamboni end its move?", player=state.to_move),
        msg("Its position fits more than one answer."),
        msg("You can also move it so that it is clear."),
    )
    return Ambiguous(
        code=MOVE,
        message=message,
        rests_on=PLACE,
        player=state.to_move,
        choices=tuple(choices),
        withdrawn_if_table_changes=True,
    )


def _judge_difference(state: State, found: TableMatch) -> Verdict:
    """Judge a table that no legal move explains.

    An act is half done, or wrong, or there were several.
    """
    wrong = found.differences(state)
    strange = ask_strange(state, found, wrong.strange) if wrong.strange else None
    if wrong.doubtful:
        plain = found.without(wrong.doubtful)
        return _doubtful(
            state,
            wrong.doubtful[0].piece,
            strange or _ask_unless_driven(state, plain, plain.differences(state).gone),
        )
    if not wrong.has_nests:
        return _only_dice(state, found, wrong)
    if not wrong.gone and (unannounced := unannounced_roller(state, found.with_read_sizes())):
        message = msg("{player}'s die was not announced: say what it showed.", player=unannounced)
        return Waiting(code=MOVE, message=message, rests_on=SEQUENCE, player=unannounced)
    if wrong.gone and not (wrong.strange or wrong.recoloured):
        return _missing(state, found, wrong)
    if (
        wrong.strange
        and isinstance(state.phase, Hit | Aiming)
        and not (wrong.moved or wrong.recoloured)
    ):
        spare = wrong.strange[0]
        message = msg(
            "Take the {size} {colour} piece on {cell} off the board.",
            colour=spare.colour,
            size=spare.piece.size,
            cell=spare.spaces[0],
        )
        return Waiting(
            code=HIT, message=message, rests_on=FIRING, player=state.to_move, asks=strange
        )
    if wrong.strange or wrong.recoloured or wrong.gone:
        return replace(_out_of_sync(state, wrong), asks=strange)
    if wrong.resized:
        return ask_resized(state, found, wrong) or _wrong_layers_verdict(state, wrong)
    return _moved_nest_verdict(state, found, wrong)


def _missing(state: State, found: TableMatch, wrong: Difference) -> Waiting | OutOfSync:
    """Judge missing Zambonis.

    If nothing else is wrong, somebody may hold them. If the current hit has been carried out, other
    errors are reported.
    """
    if isinstance(state.phase, Hit) and state.phase.target in wrong.gone:
        besides = found.differences(after(state, (Take(state.phase.target),)))
        if besides and state.phase.target not in besides.gone:
            return _out_of_sync(state, besides)
    message = sentences(
        msg("Not seen on the board: {text}.", text=recorded_nests(state, wrong.gone)),
        msg("Put it there, or move it a little if it is already there."),
        turn(state),
    )
    more = wrong.moved or wrong.resized or wrong.pushed
    return Waiting(
        code=MOVE,
        message=message,
        rests_on=MOVEMENT,
        player=state.to_move,
        asks=_ask_unless_driven(state, found, wrong.gone),
        differences=tuple(_sentences(wrong)) if more else (),
    )


def _only_dice(state: State, found: TableMatch, wrong: Difference) -> Waiting | OutOfSync:
    """Judge a misplaced cover die, with every Zamboni in place.

    It is pushed before its Zamboni drives, or was moved.
    """
    drives = reachable(state, state.phase.points) if isinstance(state.phase, Moving) else ()
    if any(drive.dice and not found.differences(after(state, (drive,))).pushed for drive in drives):
        message = sentences(
            msg(
                "A cover die was pushed to {cell}: now drive the Zamboni that pushes it, or"
                " put the die back.",
                cell=wrong.pushed[0][0],
            ),
            turn(state),
        )
        return Waiting(code=MOVE, message=message, rests_on=COVER, player=state.to_move)
    return _out_of_sync(state, wrong)


def _wrong_layers_verdict(state: State, wrong: Difference) -> Verdict:
    """Judge layers that nobody shot off, or that differ from the record."""
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
        nest = state.remaining_zambonis[str(target)]
        message = sentences(
            msg(
                "Lay {player}'s Zamboni on {cell} again, facing {cell2}.",
                player=target,
                cell=nest.space,
                cell2=nest.facing,
            ),
            _roll_instruction(target) if target == state.follower else NOTHING,
        )
        return Waiting(code=HIT, message=message, rests_on=FIRING, player=state.to_move)
    player = amiss[0].player
    taken = violation(state, Take(player)) or Violation(
        "zamboni.take.two",
        FIRING,
        msg("A hit takes one piece off {player}'s nest, but more are gone.", player=player),
    )
    if (
        isinstance(state.phase, Aiming | Shooting)
        and player == state.phase.target
        and len(amiss) == 1
        and not wrong.moved
    ):
        hit = msg("If {player} hit it, say what the die showed.", player=state.to_move)
        taken = replace(taken, message=sentences(taken.message, hit))
    return _refuse(state, replace(taken, code=HIT), taken.code, (str(Take(player)),), wrong)


def _roll_instruction(player: str) -> Message:
    """What to announce if a player has driven before the die was announced."""
    return msg("If {player} has driven since, say what the die showed.", player=player)


def _moved_nest_verdict(state: State, found: TableMatch, wrong: Difference) -> Verdict:
    """Judge Zambonis at other places or facings than recorded, by no legal move."""
    if len(wrong.moved) > 1 and follower_has_driven(state, found.with_read_sizes()):
        verdict = _out_of_sync(state, wrong)
        return replace(
            verdict, message=sentences(verdict.message, _roll_instruction(state.follower))
        )
    if len(wrong.moved) > 1 or (wrong.pushed and len(found.dice or ()) != len(state.dice)):
        return _out_of_sync(state, wrong)
    (pair,) = wrong.moved
    dice = tuple(sorted(spaces[0] for spaces in found.dice or ())) if wrong.pushed else ()
    drive = Drive(pair.nest.spaces[0], pair.nest.facings[0], dice)
    if pair.player == roller(state):
        message = msg(
            "{player}'s Zamboni was moved, but no roll is known: say what the die showed.",
            player=pair.player,
        )
        return Waiting(code=MOVE, message=message, rests_on=MOVEMENT, player=pair.player)
    if pair.player != state.to_move:
        message = msg(
            "{player}'s Zamboni went to {cell}, facing {cell2}, but it is {player2}'s turn.",
            player=pair.player,
            cell=drive.space,
            cell2=drive.facing,
            player2=state.to_move,
        )
        if pair.player == state.follower and not violation(
            state, Drive(state.mover.space, state.mover.facing)
        ):
            stayed = msg("If {player} ended the move where it began, say so.", player=state.to_move)
            message = sentences(message, stayed)
        if pair.player == state.follower and isinstance(state.phase, Shooting):
            missed = msg("If {player} missed, say what the die showed.", player=state.to_move)
            message = sentences(message, missed)
        return _refuse(
            state, Violation(MOVE, MOVEMENT, message), "zamboni.move.player", (str(drive),), wrong
        )
    forbidden = violation(state, drive)
    if forbidden is None:  # by its likeliest reading; it does not explain the whole picture
        return _out_of_sync(state, wrong)
    return _refuse(
        state,
        replace(forbidden, code=MOVE),
        forbidden.code,
        (_attempted_move(state, drive),),
        wrong,
    )


def _attempted_move(state: State, drive: Drive) -> str:
    """Return the attempted move; only its space if no move can end there with any facing."""
    ends = reachable(state, state.phase.points) if isinstance(state.phase, Moving) else ()
    return str(drive) if any(end.space == drive.space for end in ends) else str(drive.space)


def _refuse(
    state: State, forbidden: Violation, rule: str, tried: tuple[str, ...], wrong: Difference
) -> Refused:
    """A refusal. `code` is the same for every refused move; the evidence names the rule."""
    nests = dict.fromkeys(_recorded_nest_text(pair) for pair in (*wrong.moved, *wrong.resized))
    dice = [msg("the cover die on {cell}", cell=space) for space in wrong.unseen if wrong.pushed]
    put_back = msg("Put back {text}.", text=[*nests, *dice])
    named = replace(forbidden, message=sentences(forbidden.message, put_back))
    return refusal(
        named, state.to_move, tried, {"violation": rule, "differences": _sentences(wrong)}
    )


def _out_of_sync(state: State, wrong: Difference) -> OutOfSync:
    message = sentences(
        msg("The table does not match the record."), msg("Fix the table, or correct the record.")
    )
    return OutOfSync(
        code=SYNC,
        message=message,
        rests_on=MOVEMENT,
        player=state.to_move,
        differences=tuple(_sentences(wrong)),
    )


def _recorded_nest_text(pair: Pair) -> Message:
    return msg(
        "{player}'s {size} nest on {cell}, facing {cell2}",
        player=pair.player,
        size=LAYER_SIZES[pair.zamboni.layers],
        cell=pair.zamboni.space,
        cell2=pair.zamboni.facing,
    )


def _sentences(wrong: Difference) -> list[Message]:
    """Describe the difference, one sentence per nest."""
    message = [
        msg(
            "{player}'s Zamboni is on {cell}, facing {cell2}, but belongs on {cell3},"
            " facing {cell4}.",
            player=pair.player,
            cell=pair.nest.spaces[0],
            cell2=pair.nest.facings[0],
            cell3=pair.zamboni.space,
            cell4=pair.zamboni.facing,
        )
        for pair in wrong.moved
    ]
    for pair in wrong.resized:
        had = LAYER_SIZES[pair.zamboni.layers]
        message.append(
            msg(
                "{player}'s outermost piece is {size}, but was {size2}.",
                player=pair.player,
                size=pair.nest.piece.size,
                size2=had,
            )
        )
    message += [
        msg(
            "A {colour} nest lies on {cell}, where {player}'s belongs.",
            colour=pair.nest.colour,
            cell=pair.nest.spaces[0],
            player=pair.player,
        )
        for pair in wrong.recoloured
    ]
    message += [msg("{player}'s Zamboni is missing.", player=player) for player in wrong.gone]
    message += map(too_many, wrong.strange)
    message += [_strange_die(spaces[0], wrong.unseen) for spaces in wrong.pushed]
    return message


def _strange_die(space: Space, unseen: Sequence[Space]) -> Message:
    """Sentence that a cover die is misplaced, and where one is missing."""
    if not unseen:
        return msg("A cover die lies on {cell}, where none belongs.", cell=space)
    return msg(
        "There is a cover die on {cell}, where none belongs, but one is missing on {cells}.",
        cell=space,
        cells=any_of(unseen, "cell"),
    )
