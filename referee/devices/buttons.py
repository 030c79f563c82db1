"""Map presses of buttons to commands: a pure function of the press and the session."""

from __future__ import annotations

from hardware.interfaces import Press
from referee.presentation.shown_games import next_button_command
from referee.sessions.commands import Command, Hear, NextGame, Pause, Resume, Roll, Undo
from referee.sessions.secret_votes import affected_votes
from referee.sessions.state import SessionState


def commands_of(press: Press, ledger: SessionState, dice: int) -> tuple[Command, ...]:
    """Return the commands of a press, in the name of its `by`; none if it has no meaning now.

    `rule`: judge the table again, or resume; held: pause. `appeal`: undo the last ruling, or
    withdraw the open question. `next`: the next game after the end, before it what the game
    defines. `pause` and `resume` do so. `die`: roll the game's die when it is due; held: roll all
    `dice` without effect on the game.
    """
    by = press.by
    match press.button, press.kind:
        case "rule", "short":
            again = Resume(decided_by=by)
            return (again,) if ledger.paused else (Pause(decided_by=by), again)
        case ("rule", "long") | ("pause", "short"):
            return () if ledger.paused else (Pause(decided_by=by),)
        case "resume", "short":
            return (Resume(decided_by=by),) if ledger.paused else ()
        case "appeal", "short":
            undo = Undo(decided_by=by)
            # Anybody can press it, but only the voter may take back a hidden vote.
            return () if affected_votes(ledger, undo).voters else (undo,)
        case "next", "short":
            return _next(ledger, by)
        case "die", "down":
            player = roller(ledger)
            return () if player is None else (Roll(player=player, decided_by=by),)
        case "die", "long":
            return (Roll(dice=dice, decided_by=by),)
        case _:
            return ()


def _next(ledger: SessionState, by: str) -> tuple[Command, ...]:
    if ledger.outcome is not None:
        return (NextGame(decided_by=by),)
    message = next_button_command(ledger.engine, ledger.state)
    return () if message is None else (Hear(heard=message, decided_by=by),)


def roller(ledger: SessionState) -> str | None:
    """Player whose roll is due; None if there is none, or during a pause or a question."""
    if ledger.paused or ledger.question is not None:
        return None
    sayings = ledger.engine.state_document(ledger.state).get("may_say", ())
    rolling = (one for one in sayings if "die" in one["said"] and not one.get("aside"))
    return next((str(one["said"]["player"]) for one in rolling), None)
