"""Computer player of IceFloe: evaluates moves by sampled rounds of votes and moves.

Hidden votes of others are sampled too, whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from engines.computer_player import ComputerPlayer, OutOfTime, Strength
from engines.icefloe import messages
from engines.icefloe.announcements import saying
from engines.icefloe.checks import reachable
from engines.icefloe.moves import (
    SHARED,
    Coin,
    Decision,
    Done,
    Finding,
    Move,
    Movement,
    Placing,
    Removal,
    Selection,
    Slide,
    Torch,
    Vote,
)
from engines.icefloe.rules import legal_moves, outcome, play
from engines.icefloe.state import State
from table.messages import Message, msg, sentences

ROUNDS: dict[Strength, int] = {"beginner": 0, "club": 60, "strong": 240}
"""Sampled rounds per move; with 0 it looks one move ahead."""
TRIED = 12
"""Moves, the best at first sight, for which rounds are sampled; each time half of them are kept."""
SLIPS = 0.3
"""Share of a beginner's random moves, also those of sampled players."""
ON_ICE = 1.5
"""Value of the points of a pyramid on the ice, which score at the end and may score before."""
WINS = 30.0
"""Value of a won game, in points."""


def choose(
    state: State, player: str, strength: Strength, chance: Random, out_of_time: OutOfTime
) -> Move:
    """Choose a legal move of a player who is asked; hidden votes do not affect it."""
    state = _without_hidden_votes(state, player)
    moves = _moves_of(state, player)
    if len(moves) == 1:
        return moves[0]
    chance.shuffle(moves)
    if strength == "beginner" and chance.random() < SLIPS:
        return moves[0]
    first = {move: _immediate_value(state, move, player) for move in moves}
    moves.sort(key=first.__getitem__, reverse=True)
    tried, rounds = moves[:TRIED], ROUNDS[strength]
    totals = dict.fromkeys(tried, 0.0)
    each = rounds // max(1, len(tried).bit_length() * len(tried))
    while rounds and len(tried) > 1:
        each *= 2  # as many rounds for half of the moves
        for _ in range(each):
            for move in tried:
                totals[move] += _rollout_value(play(state, move), player, chance)
                if out_of_time():
                    return max(tried, key=totals.__getitem__)
        tried = sorted(tried, key=totals.__getitem__, reverse=True)[: (len(tried) + 1) // 2]
    return tried[0]


def _without_hidden_votes(state: State, player: str) -> State:
    """Return the state with only the player's own hidden vote."""
    if state.phase not in ("move", "vote"):
        return state
    own = (
        vote if other == player else None
        for other, vote in zip(state.players, state.votes, strict=True)
    )
    return replace(state, votes=tuple(own))


def _moves_of(state: State, player: str) -> list[Move]:
    """Moves of a player who is asked; no void votes.

    A computer player cannot report a breach of the commentary rules: it hears nothing.
    """
    if player in state.asked:
        return [Finding(player, False)]
    match state.phase:
        case "vote":
            return [Vote(player, choice) for choice in state.open_choices]
        case "coins":
            laid: list[Move] = [
                move
                for move in legal_moves(state)
                if isinstance(move, Coin) and move.player == player
            ]
            return [Done(player), *laid]
        case _:
            return [move for move in legal_moves(state) if not isinstance(move, Finding)]


def _immediate_value(state: State, move: Move, player: str) -> float:
    """Value of a move without its consequences."""
    match move:
        case Vote(choice=choice):
            return _harm(state, choice, player)
        case Decision(choice=choice) if state.phase == "decide":
            return _harm(state, choice, player)
        case Coin():
            return -1.0
        case _:
            return _lead(play(state, move), player)


def _harm(state: State, choice: str, player: str) -> float:
    """Expected loss of the others by a vote, on average, minus twice the player's."""
    place = 1 if state.value is None else 0
    floes = [
        floe
        for floe in state.board.floes
        if floe.tile[place] == choice and state.value in (None, floe.tile[1])
    ]
    total = 0.0
    for floe in floes:
        points = dict(zip(state.players, state.worth(floe.pyramids), strict=True))
        own = points.pop(player)
        total += max(points.values()) - 2 * own
    return total / max(1, len(floes))


def _lead(state: State, player: str) -> float:
    """Player's lead in points, with a share for pyramids on the ice."""
    on_ice = state.worth(state.board.pyramids) if state.phase != "over" else state.scores
    ahead = ON_ICE if state.phase != "over" else 0.0
    totals = {
        other: score + ahead * more
        for other, score, more in zip(state.players, state.scores, on_ice, strict=True)
        if other == player or other in state.remaining_players
    }
    own = totals.pop(player)
    lead = own - max(totals.values(), default=0.0)
    if state.winners:
        return lead + (WINS if player in state.winners else -WINS)
    return lead


def _rollout_value(state: State, player: str, chance: Random) -> float:
    """Value of a state after a round of random and habitual moves."""
    current, placing = state.round, state.phase == "place"
    while outcome(state) is None and (state.round == current or placing):
        if placing and state.phase != "place":
            placing = False
        state = play(state, _habitual_move(state, chance))
    return _lead(state, player)


def _habitual_move(state: State, chance: Random) -> Move:
    """Move of a player without look-ahead, for the first one asked."""
    if state.asked:
        return Finding(state.asked[0], False)
    match state.phase:
        case "vote":
            player = state.missing_voters[0]
            return Vote(player, _habitual_vote(state, state.open_choices, player, chance))
        case "coins":
            return Done(next(one for one in state.remaining_players if one not in state.done))
        case "decide":
            choice = _habitual_vote(state, state.leading_choices, state.torch, chance)
            return Decision(state.torch, choice)
        case "name":
            named = state.torch if state.torch in state.best else SHARED
            return Decision(state.torch, named)
        case "score":
            return _scoring(state, str(state.mover))
        case "move":
            return _random_movement(state, chance)
        case "remove" | "extra":
            return Removal(state.tile)
        case "torch":
            return Torch(state.after(state.torch))
        case _:
            return chance.choice(list(legal_moves(state)))


def _habitual_vote(state: State, choices: Sequence[str], player: str, chance: Random) -> str:
    """The vote that harms others most, or a random one."""
    if chance.random() < SLIPS:
        return chance.choice(choices)
    return max(choices, key=lambda choice: _harm(state, choice, player))


def _scoring(state: State, player: str) -> Selection:
    """Tile with the player's largest gain over the best of the others."""
    seat = state.players.index(player)

    def gain(tile_worth: tuple[int, ...]) -> int:
        others = tile_worth[:seat] + tile_worth[seat + 1 :]
        return tile_worth[seat] - max(others)

    best = max(state.board.floes, key=lambda floe: gain(state.worth(floe.pyramids)))
    return Selection(player, best.tile)


def _random_movement(state: State, chance: Random) -> Move:
    """Random movement of a random pyramid of the player; any legal move without one."""
    pyramid = chance.choice(state.pyramids(str(state.mover)))
    floe = state.board.floe_under(pyramid)
    assert floe is not None, "it is in play"
    targets = reachable(state, pyramid, floe.place)
    if targets:
        return Movement(pyramid, floe.place, chance.choice(targets))
    return chance.choice([move for move in legal_moves(state) if not isinstance(move, Finding)])


def _asked(state: State) -> tuple[str, ...]:
    """Players with a choice now, those of an open objection first; for the torch, its taker."""
    match state.phase:
        case "over":
            phase: tuple[str, ...] = ()
        case "vote":
            phase = state.missing_voters
        case "coins":
            phase = tuple(player for player in state.remaining_players if player not in state.done)
        case "torch":
            phase = (state.after(state.torch),)
        case _:
            phase = () if state.next is None else (state.next,)
    return tuple(dict.fromkeys((*state.asked, *phase)))


def _wish_text(state: State, move: Move) -> Message:
    who = state.next
    match move:
        case Placing(pyramid, place):
            return msg(
                "{player} places {cell} on {cell2}.",
                player=who,
                cell=messages.pyramid(pyramid),
                cell2=place,
            )
        case Movement(pyramid, origin, target) if origin != target:
            return msg(
                "{player} moves {cell} from {cell2} to {cell3}.",
                player=who,
                cell=messages.pyramid(pyramid),
                cell2=origin,
                cell3=target,
            )
        case Slide(origin, target):
            return msg(
                "{player} slides the tile on {cell} to {cell2}.",
                player=who,
                cell=origin,
                cell2=target,
            )
        case Removal(tile) if tile:
            return msg("{player} removes {cell}.", player=who, cell=messages.tile(tile))
        case _:
            label, _ = saying(state, move)
            return sentences(msg("{text}.", text=label))


def _announced(state: State, move: Move) -> dict[str, bool | int | str | None] | None:
    return saying(state, move)[1] or None


COMPUTER = ComputerPlayer(asked=_asked, choose=choose, wants=_wish_text, announced=_announced)
