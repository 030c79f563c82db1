"""What buttons mean: a pure function from a press and the session's ledger to commands."""

from __future__ import annotations

from hardware.interfaces import Press
from referee.presentation.shown_games import next_button_command
from referee.sessions.commands import Command, Hear, NextGame, Pause, Resume, Roll, Undo
from referee.sessions.secret_votes import affected_votes
from referee.sessions.state import SessionState


def commands_of(press: Press, ledger: SessionState, dice: int) -> tuple[Command, ...]:
    """What to tell the referee, in the name of who pressed; nothing for a press without meaning.

    `rule`: look at the table and rule afresh, or go on after a pause; held, pause.  `appeal`: take
    back the last ruling, or the open question.  `next`: the next game once one is over; in
    one that is not over, what the game has for it.  `pause` and `resume` do what they say.
    `die`: the game's die, at once, where it waits for one; held, all `dice`, for nothing.
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
            # Anybody can press it, and a vote that is not revealed is taken back by its voter only.
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
    """Whose die the game waits for; None where it waits for none, or stands still."""
    if ledger.paused or ledger.question is not None:
        return None
    sayings = ledger.engine.state_document(ledger.state).get("may_say", ())
    rolling = (one for one in sayings if "die" in one["said"] and not one.get("aside"))
    return next((str(one["said"]["player"]) for one in rolling), None)
