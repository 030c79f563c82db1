"""Create the referee of a session, and a new one after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from referee.live.dice_monitor import monitor_dice
from referee.live.patient_session import RefereedSession
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.live.table_monitor import TableMonitor
from referee.sessions.start import reopening
from referee.sessions.status import LiveState
from table.table_config import Setup
from vision.cameras.base import CameraPort
from vision.cameras.frame import Frame
from vision.cameras.reconnect import frame_jpeg
from vision.change_gate import Watch


def _no_monitor(_setup: Setup) -> None:
    """Create no monitor: cards, board and camera are not checked."""


@dataclass(frozen=True, slots=True)
class RefereeFactory:
    """Creates referees for one camera and one session.

    `watch` creates the monitor of a table; with `reads_dice` a die in the table's dice corner is
    read.
    """

    camera: CameraPort
    session: RefereedSession
    live: LiveState
    stopping: threading.Event
    watch: Callable[[Setup], TableMonitor | None] = _no_monitor
    reads_dice: bool = True

    def referee(
        self, setup: Setup, reference: Frame | None, inputs: Sequence[Input] = ()
    ) -> Referee:
        """Create a referee without memory; `reference` and `inputs` as in `Referee`."""
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

    def renew(self, before: Referee, message: str) -> Referee:
        """Create a referee in place of a failed one; `message`, the reason, is recorded.

        Raises LogFailed.
        """
        if not self.session.ledger.ended:
            event = reopening(before.setup, self.camera.name, datetime.now(UTC), message)
            self.session.append(event, frame_jpeg(before.reference) if before.reference else None)
        return self.referee(before.setup, before.reference, before.inputs)
