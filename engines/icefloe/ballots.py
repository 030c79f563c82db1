"""Rules that forbid a vote, a coin, a decision, an objection or a penalty.

Clauses are sections of the printed rules, or rulings.
"""

from __future__ import annotations

from engines.errors import Violation
from engines.icefloe.board import SUITS, VALUES
from engines.icefloe.messages import choice, turn
from engines.icefloe.moves import SHARED, Coin, Decision, Done, Finding, Objection, Penalty, Vote
from engines.icefloe.state import State
from table.messages import all_of, any_of, msg, phrase, sentences

VOTING = ("Vote On The Number Value Of A Tile", "Vote On The Suit Value Of A Tile")
COINS, TORCH, COMMENTARY, ENDING = "Voting Coins", "Torch Bearer", "Commentary", "End of Game"
_COIN_NAMES = {"a": phrase("the ace"), "2": phrase("the #2 coin")}


def choices(state: State) -> tuple[str, ...]:
    """Choices of a vote, void ones included; or those of the torch bearer."""
    if state.phase in ("move", "vote"):
        return tuple(SUITS if state.value else VALUES)
    return (*state.best, SHARED) if state.phase == "name" else state.leading_choices


def vote(state: State, move: Vote) -> Violation | None:
    """Why a vote is illegal, or None: printed rules, both sections on votes; ruling icefloe.6.

    A vote for something no longer in play is legal, and void.
    """
    clause, name = VOTING[state.value is not None], move.player
    if move.player in state.muted:
        message = sentences(
            msg(
                "{player} broke the commentary rules and cannot vote until the next round.",
                player=name,
            ),
            turn(state),
        )
        return Violation("icefloe.vote.muted", f"{COMMENTARY}; ruling icefloe.6", message)
    if move.player not in state.missing_voters:
        return Violation(
            "icefloe.vote.twice",
            clause,
            sentences(
                msg("{player} has already voted. Each player has one vote.", player=name),
                turn(state),
            ),
        )
    if move.choice not in choices(state):
        return Violation(
            "icefloe.vote.kind",
            clause,
            sentences(
                msg("{player} cannot vote for {text} now.", player=name, text=choice(move.choice)),
                turn(state),
            ),
        )
    return None


def coin(state: State, move: Coin) -> Violation | None:
    """Why a coin is illegal, or None: printed rules, "Voting Coins"; rulings icefloe.2 and .6."""
    name, held = move.player, state.coins[state.players.index(move.player)]
    what = _COIN_NAMES[move.coin]
    if move.coin not in held:
        left = all_of([_COIN_NAMES[kept] for kept in held] or [phrase("none")])
        return Violation(
            "icefloe.coin.spent",
            COINS,
            sentences(
                msg(
                    "{player} has already used {text}: each coin can be used once a game.",
                    player=name,
                    text=what,
                ),
                msg("Left: {text}.", text=left),
            ),
        )
    if move.to not in state.cast:
        message = sentences(
            msg(
                "{player} cannot lay {text} on {player2}'s vote: {player3} lost it for commentary.",
                player=name,
                text=what,
                player2=move.to,
                player3=move.to,
            ),
            msg("Votes were cast by {players}.", players=state.cast),
        )
        return Violation("icefloe.coin.vote", "ruling icefloe.6", message)
    if move.player in state.muted and state.ruling("muted_coins") == "never":
        message = msg(
            "{player} cannot lay {text}. House rule: players who lost their vote for"
            " commentary lay no coins.",
            player=name,
            text=what,
        )
        return Violation("icefloe.coin.muted", "ruling icefloe.6", message)
    return None


def done_violation(state: State, move: Done) -> Violation | None:
    """Why a player cannot be done with coins, or None: ruling icefloe.2."""
    if move.player in state.done:
        return Violation(
            "icefloe.done.twice",
            "ruling icefloe.2",
            sentences(msg("{player} has said 'done' already.", player=move.player), turn(state)),
        )
    return None


def decision(state: State, move: Decision) -> Violation | None:
    """Why a decision is illegal, or None.

    See printed rules, "Torch Bearer" and "End of Game"; rulings icefloe.1 and .8.
    """
    naming = state.phase == "name"
    if move.player != state.torch:
        clause = ENDING if naming else TORCH
        return Violation(
            "icefloe.decide.player",
            clause,
            sentences(
                msg("{player} is not the torch bearer and cannot decide.", player=move.player),
                turn(state),
            ),
        )
    if move.choice not in choices(state):
        clause = f"{ENDING}; ruling icefloe.8" if naming else f"{TORCH}; ruling icefloe.1"
        return Violation(
            "icefloe.decide.choice",
            clause,
            sentences(
                msg(
                    "{player} cannot decide for {text}.",
                    player=move.player,
                    text=choice(move.choice),
                ),
                turn(state),
            ),
        )
    return None


def penalty(state: State, move: Penalty) -> Violation | None:
    """Why a penalty is illegal, or None: printed rules, "Commentary"; ruling icefloe.6.

    Players without a vote have none here either.
    """
    name, clause = move.player, f"{COMMENTARY}; ruling icefloe.6"
    if move.player in state.muted:
        return Violation(
            "icefloe.penalty.twice",
            clause,
            msg("{player} has already lost the vote for this round.", player=name),
        )
    if state.objection and state.objection.accused != move.player:
        return _open(state)
    others = state.others(move.player)
    doubted = bool(move.ballot) or move.torch is not None
    if doubted and sorted(player for player, _ in move.ballot) != sorted(others):
        message = msg(
            "These players vote once each on whether {player} broke the commentary rules:"
            " {players}. The votes came from {players2}.",
            player=move.player,
            players=others,
            players2=[player for player, _ in move.ballot],
        )
        return Violation("icefloe.penalty.voters", clause, message)
    guilty = sum(1 if yes else -1 for _, yes in move.ballot)
    tied = doubted and guilty == 0
    if tied != (move.torch is not None):
        message = (
            msg(
                "The vote on whether {player} broke the commentary rules is tied, so"
                " {player2}, the torch bearer, decides.",
                player=name,
                player2=state.torch,
            )
            if tied
            else msg(
                "The vote on whether {player} broke the commentary rules is not tied, so"
                " the torch bearer has no say.",
                player=name,
            )
        )
        return Violation("icefloe.penalty.torch", f"{COMMENTARY}; {TORCH}", message)
    if guilty < 0 or move.torch is False:
        message = (
            msg(
                "{player} keeps their vote: the torch bearer found no breach of the"
                " commentary rules.",
                player=name,
            )
            if tied
            else msg(
                "{player} keeps their vote: the other players found no breach of the"
                " commentary rules.",
                player=name,
            )
        )
        return Violation("icefloe.penalty.cleared", clause, message)
    return None


def objection(state: State, move: Objection) -> Violation | None:
    """Why an objection is illegal, or None: printed rules, "Commentary"; ruling icefloe.6.

    Anybody but the accused may object, one at a time.
    """
    clause = f"{COMMENTARY}; ruling icefloe.6"
    if state.objection:
        return _open(state)
    if move.to in state.muted:
        return Violation(
            "icefloe.penalty.twice",
            clause,
            msg("{player} has already lost the vote for this round.", player=move.to),
        )
    if move.to == move.player:
        message = msg(
            "{player} can only object to another player. A player who broke the commentary"
            " rules says so and has no vote then.",
            player=move.player,
        )
        return Violation("icefloe.objection.self", clause, message)
    return None


def finding(state: State, move: Finding) -> Violation | None:
    """Why a word on an objection is illegal, or None.

    See printed rules, "Commentary" and "Torch Bearer"; ruling icefloe.6.
    """
    clause, name = f"{COMMENTARY}; ruling icefloe.6", move.player
    if state.objection is None:
        message = sentences(
            msg(
                "{player} was not asked: there is no open objection about commentary.", player=name
            ),
            turn(state),
        )
        return Violation("icefloe.breach.none", clause, message)
    if move.player not in state.asked:
        accused = state.objection.accused
        message = msg(
            "{player} cannot say now whether {player2} broke the commentary rules. Only"
            " {players} may say so.",
            player=name,
            player2=accused,
            players=any_of(state.asked, "player"),
        )
        return Violation(
            "icefloe.breach.player", f"{COMMENTARY}; {TORCH}; ruling icefloe.6", message
        )
    return None


def _open(state: State) -> Violation:
    return Violation(
        "icefloe.objection.open",
        f"{COMMENTARY}; ruling icefloe.6",
        sentences(msg("One objection at a time."), turn(state)),
    )
