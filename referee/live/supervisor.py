"""Restart a referee that fails from the log; halt one that fails repeatedly."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from time import monotonic

from referee.live.correction import CorrectedVerdict, PieceCorrection
from referee.live.referee import Referee
from referee.live.table_monitor import TableRequest
from referee.sessions.event_store import LogFailed
from referee.sessions.session import Session
from referee.sessions.status import LiveState, RefereeStatus, Seen
from table.errors import InputError, error_summary
from table.messages import msg, sentences
from table.observation import Observation
from table.table_config import Setup
from vision.cameras.reconnect import CannotGoOn

logger = logging.getLogger(__name__)

MOST_FAILURES, WITHIN_S = 3, 60.0
"""A referee that fails this often within this time in s is halted."""

Renew = Callable[[Referee, str], Referee]
"""Creates a referee without memory in place of one that failed, given the reason
(`RefereeFactory.renew`).
"""


class RefereeHalted(InputError):  # noqa: N818 - told to people in one line, like all that ends a command
    """The referee failed too often; every verdict is in the log."""


class Supervisor:
    """Runs a referee, and replaces it when it fails.

    `run` belongs to a thread of its own; everything else may be called from any. Pages and lamps
    use it as a referee: it passes calls on to the current one.
    """

    def __init__(
        self,
        referee: Referee,
        renew: Renew,
        session: Session,
        live: LiveState,
        stopping: Event,
        say: Callable[[str], object] = lambda _text: None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`live` and `stopping` are those of the referees.

        `say` is told of each failure in a line; `clock` returns seconds and never goes back.
        """
        self._referee, self._renew, self._session = referee, renew, session
        self._live, self._stopping, self._say, self._clock = live, stopping, say, clock
        self._failed_s: list[float] = []

    @property
    def setup(self) -> Setup:
        """The table that is watched."""
        return self._referee.setup

    @property
    def latest(self) -> RefereeStatus:
        """The current status."""
        return self._live.latest

    @property
    def seen(self) -> Seen:
        """Number of pictures so far."""
        return self._live.seen

    def wait(self, stamp: int, timeout_s: float) -> RefereeStatus:
        """As `LiveState.wait`."""
        return self._live.wait(stamp, timeout_s)

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG; None before the first."""
        return self._live.picture.jpeg()

    def point_at(self, question: int, label: str) -> None:
        """As `LiveState.point_at`."""
        self._live.point_at(question, label)

    def request_table(self, request: TableRequest) -> None:
        """As `Referee.request_table`."""
        self._referee.request_table(request)

    def last_table(self) -> tuple[int, Observation]:
        """As `Referee.last_table`."""
        return self._referee.last_table()

    def reread(self, pieces: Sequence[PieceCorrection]) -> CorrectedVerdict:
        """As `Referee.reread`."""
        return self._referee.reread(pieces)

    def stop(self) -> None:
        """Make `run` return after the frame at hand; returns at once."""
        self._stopping.set()

    def run(self) -> None:
        """Run until the camera or the session ends, or `stop`.

        Raises in one line what ends it earlier: CannotGoOn (unusable pictures or inputs),
        LogFailed, or RefereeHalted.
        """
        while True:
            try:
                self._referee.run()
            except LogFailed:
                if not self._stopping.is_set():
                    raise
            except CannotGoOn:
                raise
            except Exception as error:
                self._restart(error)
                continue
            return

    def _restart(self, error: Exception) -> None:
        now_s = self._clock()
        self._failed_s = [
            *(failed_s for failed_s in self._failed_s if now_s - failed_s < WITHIN_S),
            now_s,
        ]
        logger.info("the referee failed", exc_info=error)
        message = error_summary(error)
        place = traceback.extract_tb(error.__traceback__)[-1]
        if len(self._failed_s) >= MOST_FAILURES:
            halted = sentences(
                msg(
                    "The referee failed {n} times within a minute ({raw}) and has stopped.",
                    n=MOST_FAILURES,
                    raw=message,
                ),
                msg("All rulings are in the log."),
            )
            self._live.tell("ended", halted)
            raise RefereeHalted(
                sentences(halted, msg("Start Rinkside again with --resume {n}", n=self._session.id))
            ) from error
        self._say(
            msg(
                "the referee failed ({raw}, {where}) and restarts from the log",
                raw=message,
                where=f"{Path(place.filename).name}:{place.lineno}",
            )
        )
        restarted = sentences(
            msg("The referee failed ({raw}) and restarted from the log.", raw=message),
            msg("Check that the table matches the record."),
        )
        self._live.tell("stopped", msg("The referee failed and is restarting from the log."))
        self._live.fail(restarted)
        try:
            self._session.catch_up()
            self._referee = self._renew(self._referee, restarted)
        except Exception as again:
            self._restart(again)
