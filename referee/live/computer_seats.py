"""Computer players: choose a move whenever their seat is asked.

A move on the table is only announced, and people carry it out. What is only said, such as a vote,
is recorded at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from random import Random

from engines.computer_player import ComputerPlayer
from engines.game import facts
from referee.sessions.events import ComputerChose
from referee.sessions.session import Session
from referee.sessions.state import SessionState
from table.errors import InputError, LogFailed, message_of
from table.messages import Message, msg

THINK_S = 4.0
"""Time limit for choosing a move."""
AGAIN_S = 1.0
"""Longest wait for a record in s; also the retry interval after a failed write."""


class ComputerSeats:
    """Computer players of a session, as its start names them, in a thread of their own.

    It ends when the session is closed. `complain` reports errors: a player that fails in a state is
    asked again in the next one.
    """

    def __init__(
        self,
        session: Session,
        complain: Callable[[Message], object],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session, self._complain, self._clock_s = session, complain, clock_s
        self._failed_at = ""

    def start(self) -> None:
        """Start the thread, if any seat is a computer's."""
        if self._session.ledger.started.computers:
            threading.Thread(target=self.run, name="computer players", daemon=True).start()

    def run(self) -> None:
        """Act after every record, until the session is closed."""
        after = 0
        while not self._session.closed:
            for record in self._session.wait(after, AGAIN_S):
                after = record.seq
            while self.act():
                pass

    def act(self) -> bool:
        """Choose for a seat that is asked now, if any; true if it was recorded."""
        ledger = self._session.ledger
        computer = facts(ledger.engine).computer_player
        seats = _seats(ledger)
        situation = str(ledger.state)
        if computer is None or not seats or situation == self._failed_at:
            return False
        self._failed_at = ""
        try:
            asked = [player for player in computer.asked(ledger.state) if player in seats]
            if not asked:
                return False
            chosen = self._choose(ledger, computer, asked[0])
        except LogFailed:
            return False  # the referee reports it; this is tried again
        except ValueError as error:
            self._failed_at = situation
            if not self._session.closed:
                text = message_of(error)
                self._complain(msg("a computer player failed: {text}", text=text))
            return False
        now = self._session.ledger
        if chosen and now.state == ledger.state and now.wish is None:
            self._failed_at = situation  # the announcement changed nothing
        return chosen

    def _choose(self, ledger: SessionState, computer: ComputerPlayer, player: str) -> bool:
        """Choose a move and record it; false if another record came first.

        Raises ValueError if the game fails, or its move is not legal.
        """
        began_s, engine, seed = self._clock_s(), ledger.engine, ledger.seq
        strength = ledger.started.computers[player]

        def out_of_time() -> bool:
            return self._clock_s() - began_s > THINK_S

        move = computer.choose(ledger.state, player, strength, Random(seed), out_of_time)
        if (wrong := engine.violation(ledger.state, move)) is not None:
            raise InputError(wrong.message)
        thought_ms = round(1000 * (self._clock_s() - began_s))
        heard = computer.announced(ledger.state, move)
        if heard is not None:
            evidence = {"computer": {"strength": strength, "seed": seed, "thought_ms": thought_ms}}
            return self._session.announce(heard, evidence, ledger.seq) is not None
        wish = ComputerChose(
            player=player,
            strength=strength,
            move=str(move),
            message=computer.wants(ledger.state, move),
            seed=seed,
            thought_ms=thought_ms,
        )
        return self._session.append(wish, after=ledger.seq) is not None


def _seats(ledger: SessionState) -> list[str]:
    """Seats of computers; none if the game waits, or a wish is open."""
    waits = ledger.ended or ledger.paused or ledger.question or ledger.rolling
    if waits or ledger.outcome is not None or ledger.wish is not None:
        return []
    return [player for player in ledger.remaining_players if player in ledger.started.computers]
