"""Consequences of a legal move: the board, the turn, the next phase, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from engines.icefloe.board import WEIGHT_MOST
from engines.icefloe.moves import COINS, SHARED, Coin, Finding, Movement, Objection, Placing
from engines.icefloe.state import Objected, State
from engines.resigned import in_turn_order

T = TypeVar("T")


def placed(state: State, move: Placing) -> State:
    """The state after a pyramid was placed: the next one, or the first round."""
    return _place_next(replace(state, board=state.board.with_pyramid(move.pyramid, move.place)))


def _place_next(state: State) -> State:
    order, count = state.placing_order, len(state.board.pyramids)
    if count == len(order):
        return replace(state, phase="move", mover=state.torch)
    return replace(state, mover=state.owner(order[count]))


def after_movement(state: State, move: Movement) -> State:
    """The state after a pyramid came to a tile, which may sink under it (ruling icefloe.3)."""
    board = state.board.with_pyramid(move.pyramid, move.target)
    floe = board.at(move.target)
    if floe and floe.weight > WEIGHT_MOST:
        return after_turn(replace(state, board=board.without_tile(floe.tile), sunk=floe.tile))
    return after_turn(replace(state, board=board))


def after_turn(state: State) -> State:
    """The state after a player's part of the movement: the next player, the votes, or the end.

    See ruling icefloe.7.
    """
    if _has_player_without_pyramids(state):
        return _after_last_scoring(state)
    if state.following:
        return replace(state, mover=state.following)
    if len(state.board.floes) - len(state.board.empty) == 1:
        return _after_last_scoring(state)
    return _vote_opened(replace(state, mover=None))  # early votes count now


def after_vote(state: State, player: str, choice: str) -> State:
    """The state after a vote."""
    return _with_shown_votes(replace(state, votes=_with_value(state, state.votes, player, choice)))


def after_muting(state: State, player: str) -> State:
    """The state after a player lost the right to vote in this round (ruling icefloe.6).

    The player's vote that was cast but not shown is lost with it.
    """
    after = replace(
        state,
        muted=tuple(other for other in state.players if other in (*state.muted, player)),
        objection=None,
    )
    return (
        _with_shown_votes(replace(after, votes=_with_value(state, state.votes, player, None)))
        if state.phase in ("move", "vote")
        else after
    )


def after_objection(state: State, move: Objection) -> State:
    """Return the state after an objection: votes stay hidden until it is settled.

    All else goes on.
    """
    return replace(state, objection=Objected(move.to, move.player))


def after_finding(state: State, move: Finding) -> State:
    """Return the state after an answer on the open objection (ruling icefloe.6).

    The last answer settles it, or in a tie the torch bearer's.
    """
    objection = state.objection
    assert objection is not None, "nobody is asked without one"
    others = state.others(objection.accused)
    tied = len(objection.ballot) == len(others)
    if not tied:
        objection = replace(objection, ballot=(*objection.ballot, (move.player, move.guilty)))
    return _after_settlement(
        state, objection, (1 if move.guilty else -1) if tied else objection.breach_majority
    )


def _after_settlement(state: State, objection: Objected, guilty: int) -> State:
    """Return the state with an objection settled, once all have answered and one side leads."""
    others = state.others(objection.accused)
    if len(objection.ballot) < len(others) or guilty == 0:
        return replace(state, objection=objection)
    return (
        after_muting(state, objection.accused)
        if guilty > 0
        else _with_shown_votes(replace(state, objection=None))
    )


def after_coin(state: State, move: Coin) -> State:
    """Return the state after a coin on a vote; players who were done may be asked again.

    See ruling icefloe.2.
    """
    kept = state.coins[state.players.index(move.player)].replace(move.coin, "")
    adds = state.laid[state.players.index(move.to)] + COINS[move.coin]
    after = replace(
        state,
        coins=_with_value(state, state.coins, move.player, kept),
        laid=_with_value(state, state.laid, move.to, adds),
    )
    return replace(after, done=()) if state.ruling("done") == "reopens" else after


def after_last_coin(state: State, player: str) -> State:
    """The state after a player is done with coins; the vote is counted when everybody is.

    The torch bearer decides ties, and votes that are all void, or those are cast again.
    """
    return _counted(replace(state, done=in_turn_order(state.players, (*state.done, player))))


def _counted(state: State) -> State:
    """Return the state after a player is done, or resigned."""
    if not {*state.remaining_players} <= {*state.done}:
        return state
    if state.tally and len(state.leading_choices) == 1:
        return after_decision(state, state.leading_choices[0])
    if not state.tally and state.ruling("void") == "again":
        return _vote_opened(_without_votes(state))
    return replace(state, phase="decide", done=())


def after_decision(state: State, choice: str) -> State:
    """The state once the value, or the suit with it, is known."""
    if state.value is None:
        return _vote_opened(_without_votes(replace(state, value=choice)))
    return replace(_without_votes(state), phase="remove", tile=choice + state.value, value=None)


def after_removal(state: State, tile: str | None) -> State:
    """The state after the tile voted on, or an empty one, or none, was removed."""
    after = replace(state, board=state.board.without_tile(tile) if tile else state.board, tile=None)
    if _has_player_without_pyramids(after):
        return _after_last_scoring(after)
    if state.phase == "remove" and len(after.board.empty) > 1:
        return replace(after, phase="extra")
    if state.scoring:
        return replace(after, phase="score", mover=state.torch)
    return replace(after, phase="torch")


def after_scoring(state: State, tile: str) -> State:
    """The state after a tile scored for the owners of all pyramids on it.

    Selected twice, it scores twice (ruling icefloe.4).
    """
    floe = state.board.floe_of(tile)
    after = _add(state, floe.pyramids if floe else ())
    return replace(after, mover=state.following, phase="score" if state.following else "torch")


def after_torch(state: State, player: str) -> State:
    """The state after the torch was handed on: a new round, in which everybody has a vote again.

    Rounds of players who resigned are left out, so that a round is always the same player's.
    """
    seats = len(state.players)
    later = next(
        more
        for more in range(1, seats + 1)
        if state.players[(state.round - 1 + more) % seats] == player
    )
    return replace(state, phase="move", round=state.round + later, mover=player, muted=())


def after_naming(state: State, choice: str) -> State:
    """The state after the torch bearer named a winner or a shared victory (ruling icefloe.8)."""
    return replace(state, phase="over", winners=state.best if choice == SHARED else (choice,))


def resigned(state: State, player: str) -> State:
    """Return the state after a player resigned while others play on.

    The game no longer waits for that player.
    """
    after = replace(state, resigned=in_turn_order(state.players, (*state.resigned, player)))
    if state.phase in ("move", "vote"):
        after = replace(
            after, votes=_with_value(after, after.votes, player, None)
        )  # votes that are shown remain
    if state.objection and state.objection.accused == player:
        after = replace(after, objection=None)
    elif state.objection:
        ballot = tuple(message for message in state.objection.ballot if message[0] != player)
        objection = replace(state.objection, ballot=ballot)
        after = _after_settlement(after, objection, objection.breach_majority)
    match state.phase:
        case "place":
            return _place_next(after)
        case "move" | "score" if state.mover == player == state.torch:
            return replace(after, mover=after.torch)
        case "move" if state.mover == player:
            return after_turn(after)
        case "score" if state.mover == player:
            return replace(
                after, mover=after.following, phase="score" if after.following else "torch"
            )
        case "vote":
            return _with_shown_votes(after)
        case "coins":
            return _counted(after)
        case "name" if len(after.best) == 1:
            return replace(after, phase="over", winners=after.best)
    return after


def _with_value(state: State, values: tuple[T, ...], player: str, value: T) -> tuple[T, ...]:
    """The values, with another one for a player."""
    here = state.players.index(player)
    return (*values[:here], value, *values[here + 1 :])


def _has_player_without_pyramids(state: State) -> bool:
    return not all(state.pyramids(player) for player in state.remaining_players)


def _without_votes(state: State) -> State:
    """The state without votes and coins on them."""
    seats = len(state.players)
    return replace(state, votes=(None,) * seats, laid=(0,) * seats, done=())


def _vote_opened(state: State) -> State:
    """The state with the vote open: on a value or, where that is known, on its suit."""
    return _with_shown_votes(replace(state, phase="vote"))


def _with_shown_votes(state: State) -> State:
    """The state with all votes shown once the last is cast and no objection is open.

    Where nobody has a vote, the torch bearer decides (ruling icefloe.1).
    """
    if state.phase != "vote" or state.missing_voters or state.objection:
        return state
    return replace(state, phase="coins" if state.voters else "decide")


def _add(state: State, pyramids: Sequence[str]) -> State:
    return replace(
        state,
        scores=tuple(
            score + more for score, more in zip(state.scores, state.worth(pyramids), strict=True)
        ),
    )


def _after_last_scoring(state: State) -> State:
    """The state after the last scoring, of every pyramid left.

    See printed rules, "End of Game"; rulings icefloe.7 and .8.
    """
    after = replace(_without_votes(_add(state, state.board.pyramids)), mover=None, objection=None)
    if len(after.best) == 1 or state.ruling("tie") == "shared":
        return replace(after, phase="over", winners=after.best)
    return replace(after, phase="name")
