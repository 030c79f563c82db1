"""What forbids a vote, a coin, a decision, an objection or a penalty.  Clauses are sections of the
printed rules, or rulings.
"""

from __future__ import annotations

from engines.errors import Violation
from engines.icefloe.board import SUITS, VALUES
from engines.icefloe.messages import capital, choice, turn
from engines.icefloe.moves import SHARED, Coin, Decision, Done, Finding, Objection, Penalty, Vote
from engines.icefloe.state import State
from table.listing import listed

VOTING = ("Vote On The Number Value Of A Tile", "Vote On The Suit Value Of A Tile")
COINS, TORCH, COMMENTARY, ENDING = "Voting Coins", "Torch Bearer", "Commentary", "End of Game"
_COIN_NAMES = {"a": "the ace", "2": "the #2 coin"}


def choices(state: State) -> tuple[str, ...]:
    """What can be voted for, void votes too; or what the torch bearer decides between."""
    if state.phase in ("move", "vote"):
        return tuple(SUITS if state.value else VALUES)
    return (*state.best, SHARED) if state.phase == "name" else state.leading_choices


def vote(state: State, move: Vote) -> Violation | None:
    """Printed rules, both sections on votes; ruling icefloe.6.  A vote for what is gone is legal,
    and void.
    """
    clause, name = VOTING[state.value is not None], capital(move.player)
    if move.player in state.muted:
        said = (
            f"{name} cannot vote: no vote until the next round, for breaking the commentary rules."
            f" {turn(state)}"
        )
        return Violation("icefloe.vote.muted", f"{COMMENTARY}; ruling icefloe.6", said)
    if move.player not in state.awaited:
        return Violation(
            "icefloe.vote.twice",
            clause,
            f"{name} has voted already, and a player has one vote. {turn(state)}",
        )
    if move.choice not in choices(state):
        return Violation(
            "icefloe.vote.kind",
            clause,
            f"{name} cannot vote for {choice(move.choice)} now. {turn(state)}",
        )
    return None


def coin(state: State, move: Coin) -> Violation | None:
    """Printed rules, "Voting Coins"; rulings icefloe.2 and .6."""
    name, held = capital(move.player), state.coins[state.players.index(move.player)]
    what = _COIN_NAMES[move.coin]
    if move.coin not in held:
        left = listed([_COIN_NAMES[kept] for kept in held] or ["none"])
        return Violation(
            "icefloe.coin.spent",
            COINS,
            f"{name} cannot lay {what}, used already: each coin serves once a game. Left: {left}.",
        )
    if move.to not in state.cast:
        said = (
            f"{name} cannot lay {what} on {move.to}'s vote: {move.to} lost it by commentary. Votes"
            f" were cast by {listed(state.cast)}."
        )
        return Violation("icefloe.coin.vote", "ruling icefloe.6", said)
    if move.player in state.muted and state.ruling("muted_coins") == "never":
        said = (
            f"{name} cannot lay {what}: players who lost their vote by commentary lay no coins"
            " either, it was ruled before play."
        )
        return Violation("icefloe.coin.muted", "ruling icefloe.6", said)
    return None


def done(state: State, move: Done) -> Violation | None:
    """Ruling icefloe.2."""
    if move.player in state.done:
        return Violation(
            "icefloe.done.twice",
            "ruling icefloe.2",
            f"{capital(move.player)} has said 'done' already. {turn(state)}",
        )
    return None


def decision(state: State, move: Decision) -> Violation | None:
    """Printed rules, "Torch Bearer" and "End of Game"; rulings icefloe.1 and .8."""
    naming = state.phase == "name"
    if move.player != state.torch:
        clause = ENDING if naming else TORCH
        return Violation(
            "icefloe.decide.player",
            clause,
            f"{capital(move.player)} does not bear the torch and cannot decide. {turn(state)}",
        )
    if move.choice not in choices(state):
        clause = f"{ENDING}; ruling icefloe.8" if naming else f"{TORCH}; ruling icefloe.1"
        return Violation(
            "icefloe.decide.choice",
            clause,
            f"{capital(move.player)} cannot decide for {choice(move.choice)}. {turn(state)}",
        )
    return None


def penalty(state: State, move: Penalty) -> Violation | None:
    """Printed rules, "Commentary"; ruling icefloe.6.  Players without a vote have none here
    either.
    """
    name, clause = capital(move.player), f"{COMMENTARY}; ruling icefloe.6"
    if move.player in state.muted:
        return Violation(
            "icefloe.penalty.twice", clause, f"{name} has lost the vote of this round already."
        )
    if state.objection and state.objection.accused != move.player:
        return _open(state)
    others = state.others(move.player)
    doubted = bool(move.ballot) or move.torch is not None
    if doubted and sorted(player for player, _ in move.ballot) != sorted(others):
        voted = listed(player for player, _ in move.ballot)
        said = (
            f"Whether {move.player} broke the commentary rules is voted on by {listed(others)},"
            f" each once; it was by {voted}."
        )
        return Violation("icefloe.penalty.voters", clause, said)
    guilty = sum(1 if yes else -1 for _, yes in move.ballot)
    tied = doubted and guilty == 0
    if tied != (move.torch is not None):
        need = (
            f"is a tie, and {state.torch}, the torch bearer, decides it"
            if tied
            else "is no tie, and the torch bearer has no say"
        )
        return Violation(
            "icefloe.penalty.torch",
            f"{COMMENTARY}; {TORCH}",
            f"The vote on whether {move.player} broke the commentary rules {need}.",
        )
    if guilty < 0 or move.torch is False:
        who = "the torch bearer" if tied else "the others' vote"
        return Violation(
            "icefloe.penalty.cleared",
            clause,
            f"{name} keeps the vote: {who} found no breach of the commentary rules.",
        )
    return None


def objection(state: State, move: Objection) -> Violation | None:
    """Printed rules, "Commentary"; ruling icefloe.6: by anybody else, one at a time."""
    clause = f"{COMMENTARY}; ruling icefloe.6"
    if state.objection:
        return _open(state)
    if move.to in state.muted:
        return Violation(
            "icefloe.penalty.twice",
            clause,
            f"{capital(move.to)} has lost the vote of this round already.",
        )
    if move.to == move.player:
        said = (
            f"{capital(move.player)} objects to nobody else: who broke the commentary rules says"
            " so, and has no vote then."
        )
        return Violation("icefloe.objection.self", clause, said)
    return None


def finding(state: State, move: Finding) -> Violation | None:
    """Printed rules, "Commentary" and "Torch Bearer"; ruling icefloe.6."""
    clause, name = f"{COMMENTARY}; ruling icefloe.6", capital(move.player)
    if state.objection is None:
        said = (
            f"{name} was not asked: nobody says that somebody broke the commentary rules."
            f" {turn(state)}"
        )
        return Violation("icefloe.breach.none", clause, said)
    if move.player not in state.asked:
        accused = state.objection.accused
        said = (
            f"{name} has no say now on whether {accused} broke the commentary rules:"
            f" {listed(state.asked, 'or')} may say so."
        )
        return Violation("icefloe.breach.player", f"{COMMENTARY}; {TORCH}; ruling icefloe.6", said)
    return None


def _open(state: State) -> Violation:
    return Violation(
        "icefloe.objection.open",
        f"{COMMENTARY}; ruling icefloe.6",
        f"One objection at a time. {turn(state)}",
    )
