"""What every referee of a session is made from: the first one, and each that takes the place of one
that failed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from referee.live.dice_monitor import monitor_dice
from referee.live.patient_session import Refereed
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.live.table_monitor import TableMonitor
from referee.sessions.start import reopening
from referee.sessions.status import LiveState
from table.table_config import Setup
from vision.cameras.base import CameraPort
from vision.cameras.frame import Frame
from vision.cameras.reconnect import kept_jpeg
from vision.change_gate import Watch


def _nobody_looks(_setup: Setup) -> None:
    """Nobody sees whether cards, board and camera are where they were."""


@dataclass(frozen=True, slots=True)
class RefereeMaker:
    """One camera and one session.  `watch` sees whether the table is where it was; `reads_dice`
    says whether a die in its corner is read.
    """

    camera: CameraPort
    session: Refereed
    live: LiveState
    stopping: threading.Event
    watch: Callable[[Setup], TableMonitor | None] = _nobody_looks
    reads_dice: bool = True

    def referee(
        self, setup: Setup, reference: Frame | None, inputs: Sequence[Input] = ()
    ) -> Referee:
        """One that remembers nothing; `reference` and `inputs` as in `Referee`."""
        return Referee(
            self.camera,
            setup,
            Watch(),
            self.session,
            reference,
            inputs=inputs,
            table=self.watch(setup),
            dice=monitor_dice(setup) if self.reads_dice else None,
            live=self.live,
            stopping=self.stopping,
        )

    def renew(self, before: Referee, said: str) -> Referee:
        """One in place of another that failed, as the log tells too; the sentence says why.  Raises
        LogFailed.
        """
        if not self.session.ledger.ended:
            event = reopening(before.setup, self.camera.name, datetime.now(UTC), said)
            self.session.append(event, kept_jpeg(before.reference) if before.reference else None)
        return self.referee(before.setup, before.reference, before.inputs)
