"""Sentences for people, in the tone of a calm umpire."""

from __future__ import annotations

from typing import assert_never

from engines.icefloe.moves import SHARED
from engines.icefloe.state import State
from table.messages import NOTHING, Listing, Message, Word, any_of, msg, phrase, phrases, sentences

_CHOICES = {
    "n": phrase("null"),
    "a": phrase("ace"),
    "S": phrase("suns"),
    "M": phrase("moons"),
    "C": phrase("crowns"),
    "A": phrase("arms"),
    SHARED: phrase("a shared victory"),
}


def choice(name: str) -> Message | Word | str:
    """Name a choice, for a field: `null`, `4`, `suns`, `blue`, `a shared victory`."""
    return _CHOICES.get(name) or (name if name.isdigit() else Word(name))


def pyramid(name: str) -> Message:
    """Name a pyramid, for a field: `pyramid B of suns`."""
    return phrase("pyramid {cell} of {text}", cell=name[0], text=choice(name[1]))


def tile(name: str | None) -> Message:
    """Name a tile, for a field: `the 4 of suns`; NOTHING for none."""
    if not name:
        return NOTHING
    return phrase("the {text} of {text2}", text=choice(name[1]), text2=choice(name[0]))


def open_choices(state: State) -> Listing:
    """Describe the choices of a vote: `2, 3 or ace`."""
    return any_of(map(choice, state.open_choices))


def turn(state: State) -> Message:
    """Describe what comes next, and who does it; an open objection first."""
    return sentences(objection(state), _turn(state))


def objection(state: State) -> Message:
    """Describe who is accused of breaking the commentary rules, and who decides; or empty."""
    if state.objection is None:
        return NOTHING
    accused, by = state.objection.accused, state.objection.by
    if len(state.objection.ballot) < len(state.others(accused)):
        return msg(
            "{player} says that {player2} broke the commentary rules: {players} may openly"
            " say yes or no.",
            player=by,
            player2=accused,
            players=state.asked,
        )
    return msg(
        "{player} says that {player2} broke the commentary rules, and the others are tied:"
        " {player3}, the torch bearer, decides.",
        player=by,
        player2=accused,
        player3=state.torch,
    )


def comments(state: State) -> Message:
    """What the torch bearer should say before each vote; empty while none is open."""
    if not state.missing_voters or not (state.phase == "vote" or state.last_to_move):
        return NOTHING
    return msg(
        "Before the vote: {player}, the torch bearer, asks for comments.", player=state.torch
    )


def _turn(state: State) -> Message:
    match state.phase:
        case "place":
            due = state.placing_order[len(state.board.pyramids)]
            return msg(
                "{player} places {cell} next, on a tile without a pyramid.",
                player=state.mover,
                cell=pyramid(due),
            )
        case "move":
            return msg("{player} moves a pyramid or slides a tile next.", player=state.mover)
        case "vote":
            return _vote(state)
        case "coins":
            left = [player for player in state.remaining_players if player not in state.done]
            return msg(
                "Coins may be laid on votes until everybody is done. Not done yet: {players}.",
                players=left,
            )
        case "decide":
            return _tie(state)
        case "remove":
            return msg(
                "{player}, the torch bearer, removes {cell}.",
                player=state.torch,
                cell=tile(state.tile),
            )
        case "extra":
            return msg(
                "{player}, the torch bearer, may remove one empty tile: {cells}, or none.",
                player=state.torch,
                cells=any_of(tile(floe.tile) for floe in state.board.empty),
            )
        case "score":
            return msg("{player} selects a tile to score on next.", player=state.mover)
        case "torch":
            return msg(
                "The round is over; the torch goes to {player}.", player=state.after(state.torch)
            )
        case "name":
            return msg(
                "{players} are tied; {player}, the torch bearer, names the winner or a shared"
                " victory.",
                players=state.best,
                player=state.torch,
            )
        case "over":
            return msg("The game is over: {text}.", text=result_text(state))
        case _:
            assert_never(state.phase)


def _vote(state: State) -> Message:
    """Describe the vote: its subject, the choices, and the missing voters."""
    if not state.missing_voters:
        return msg("All have voted. The votes are shown once the objection is settled.")
    open_to: dict[str, object] = {"text": open_choices(state), "players": state.missing_voters}
    if state.value is None:
        return msg(
            "Vote on the value of the tile to remove: {text}. Still to vote: {players}.", **open_to
        )
    return msg(
        "Vote on the suit of the {text2} to remove: {text}. Still to vote: {players}.",
        text2=choice(state.value),
        **open_to,
    )


def _tie(state: State) -> Message:
    """Describe the tie: the torch bearer's choices, and the reason."""
    between: dict[str, object] = {
        "player": state.torch,
        "text": any_of(map(choice, state.leading_choices)),
    }
    if state.tally:
        return msg("The vote is tied; {player}, the torch bearer, decides: {text}.", **between)
    return msg("No vote counts; {player}, the torch bearer, decides: {text}.", **between)


def after_move(state: State) -> Message:
    """Describe what comes next after a move.

    It includes votes that were all set before the last move, and the comment before an open vote.
    """
    if state.cast and state.phase in ("coins", "decide"):
        return sentences(votes(state), turn(state))
    return sentences(turn(state), comments(state) if state.phase == "vote" else NOTHING)


def removal_text(state: State, name: str | None) -> Message:
    """Describe what the torch bearer removed, with all that stood on it."""
    floe = state.board.floe_of(name)
    if floe and floe.pyramids:
        return msg(
            "{player} removed {cell}, and {cells} with it",
            player=state.torch,
            cell=tile(name),
            cells=map(pyramid, floe.pyramids),
        )
    return msg("{player} removed {cell}", player=state.torch, cell=tile(name))


def votes(state: State) -> Message:
    """Describe every vote, once none is hidden."""
    cast = (
        phrase("{player} for {text}", player=player, text=choice(vote))
        for player, vote in zip(state.players, state.votes, strict=True)
        if vote
    )
    return msg("All votes are shown: {text}.", text=cast)


def result_text(state: State) -> Message:
    """Who won, and every score."""
    score = dict(zip(state.players, state.scores, strict=True))
    others = [
        phrase("{player}'s {n}", player=player, n=score[player])
        for player in state.players
        if player not in state.winners
    ]
    won: dict[str, object] = {"players": state.winners, "n": score[state.winners[0]]}
    if not others:
        return phrase("{players} share the victory with {n} points", **won)
    won["text"] = phrases(*others, joint=",")
    if len(state.winners) > 1:
        return phrase("{players} share the victory with {n} points to {text}", **won)
    return phrase("{players} won with {n} points to {text}", **won)
