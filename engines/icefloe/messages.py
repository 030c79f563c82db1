"""Sentences for people, as a calm umpire would say them."""

from __future__ import annotations

from typing import assert_never

from engines.icefloe.board import SUITS, VALUES
from engines.icefloe.moves import SHARED
from engines.icefloe.state import State
from table.listing import listed


def choice(name: str) -> str:
    """A choice as people say it: `null`, `4`, `suns`, `blue`, `a shared victory`."""
    return {**VALUES, **SUITS, SHARED: "a shared victory"}.get(name, name)


def open_now(state: State) -> str:
    """What a vote may be for: `2, 3 or ace`."""
    return listed(map(choice, state.open_choices), "or")


def turn(state: State) -> str:
    """What comes next, and who does it, in a sentence; an open objection comes before it."""
    return f"{objection(state)} {_turn(state)}" if state.objection else _turn(state)


def objection(state: State) -> str:
    """Who is said to have broken the commentary rules, and who decides that."""
    if state.objection is None:
        return ""
    accused, by = state.objection.accused, capital(state.objection.by)
    if len(state.objection.ballot) < len(state.others(accused)):
        return (
            f"{by} says that {accused} broke the commentary rules: {listed(state.asked)} may say"
            " yes or no, in the open."
        )
    return (
        f"{by} says that {accused} broke the commentary rules, and the others are level:"
        f" {state.torch}, the torch bearer, decides."
    )


def comments(state: State) -> str:
    """What the torch bearer should say before each vote; empty while none may be cast."""
    if not state.awaited or not (state.phase == "vote" or state.last_to_move):
        return ""
    return f"Before the vote: {state.torch}, the torch bearer, asks for comments."


def _turn(state: State) -> str:
    match state.phase:
        case "place":
            due = state.placing_order[len(state.board.pyramids)]
            return f"{capital(state.mover)} places {due} next, on a tile without a pyramid."
        case "move":
            return f"{capital(state.mover)} moves a pyramid or slides a tile next."
        case "vote":
            if not state.awaited:
                return "All have voted, and the votes are shown once that is settled."
            on = (
                f"The suit of the {choice(state.value)} to remove"
                if state.value
                else "The value of the tile to remove"
            )
            return f"{on} is voted on: {open_now(state)}; {listed(state.awaited)} may still vote."
        case "coins":
            left = [player for player in state.left if player not in state.done]
            return f"Coins may be laid on votes until everybody is done; {listed(left)} may say so."
        case "decide":
            between = listed(map(choice, state.leading_choices), "or")
            why = "No vote counts" if not state.tally else "The vote is tied"
            return f"{why}; {state.torch}, the torch bearer, decides: {between}."
        case "remove":
            return f"{capital(state.torch)}, the torch bearer, removes {state.tile}."
        case "extra":
            empty = listed((floe.tile for floe in state.board.empty), "or")
            return (
                f"{capital(state.torch)}, the torch bearer, may remove one empty tile: {empty}, or"
                " none."
            )
        case "score":
            return f"{capital(state.mover)} selects a tile to score on next."
        case "torch":
            return f"The round is over; the torch goes to {state.after(state.torch)}."
        case "name":
            return (
                f"{capital(listed(state.best))} are tied; {state.torch}, the torch bearer, names"
                " the winner or a shared victory."
            )
        case "over":
            return f"The game is over: {ended(state)}."
        case _:
            assert_never(state.phase)


def after_move(state: State) -> str:
    """What comes next, with the votes where all were set before the last move, and with what is
    said before a vote that is now open.
    """
    if state.cast and state.phase in ("coins", "decide"):
        return f"{votes(state)} {turn(state)}"
    return (
        f"{turn(state)} {comments(state)}"
        if state.phase == "vote" and comments(state)
        else turn(state)
    )


def removed(state: State, tile: str | None) -> str:
    """What the torch bearer took off, with all that stood on it."""
    floe = state.board.of(tile)
    lost = listed(floe.pyramids) if floe and floe.pyramids else ""
    return f"{capital(state.torch)} removed {tile}" + (f", and {lost} with it" if lost else "")


def votes(state: State) -> str:
    """Every vote, now that none is hidden any more."""
    cast = (
        f"{player} for {choice(vote)}"
        for player, vote in zip(state.players, state.votes, strict=True)
        if vote
    )
    return f"All votes are shown: {listed(cast)}."


def ended(state: State) -> str:
    """Who won, and every score."""
    score = dict(zip(state.players, state.scores, strict=True))
    points = score[state.winners[0]]
    won = (
        f"{listed(state.winners)} won"
        if len(state.winners) == 1
        else f"{listed(state.winners)} share the victory"
    )
    others = ", ".join(
        f"{player}'s {score[player]}" for player in state.players if player not in state.winners
    )
    return f"{won} with {points} points" + (f" to {others}" if others else "")


def capital(name: str | None) -> str:
    """The first letter as at the start of a sentence."""
    return (name or "").capitalize()
