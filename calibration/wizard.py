"""Prepare a table before a game: show and improve camera, lens, cards and colours on a page."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, assert_never, get_args

import msgspec
import numpy as np

from calibration.colours import assign_by_palette, close_pairs, learn, learned_setup, measure_pieces
from calibration.lens.capture import take_views
from calibration.lens.file import LensFile, lens_file, load_lens, save_lens
from calibration.lens.fit import calibrate_lens
from calibration.lens.target import Charuco
from calibration.progress import LensGuide
from calibration.quality.error_model import EDGE_PX, Errors
from calibration.quality.gap_error import gap_accuracy
from calibration.table.drift import DriftCheck, recheck
from calibration.table.remeasure import remeasure_cards
from table.errors import InputError, error_summary, message_of
from table.games import table_facts
from table.measured_text import Z_95, fine_margin
from table.messages import as_sentence, msg, sentences
from table.table_config import Lens, Setup
from table.table_file import TableFile
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame
from vision.cameras.preview import LivePicture
from vision.cameras.reconnect import CannotGoOn, frames

logger = logging.getLogger(__name__)

LOOK_S = 0.1
"""Pause between images of a camera that delivers at the rate of the requests."""
CHECK_MS = 2000
"""Interval of the check of cards and board, on the camera's clock."""
LENS_NAME = "lens.json"
SQUARE_MM = 20.0
"""Nominal square of the printed target; a lens does not depend on it."""

Job = Literal["lens", "table", "colours"]
JOBS: tuple[Job, ...] = get_args(Job)


@dataclass(frozen=True, slots=True)
class Step:
    """State of one part of the preparation.

    `good` is None while it is unknown; `message` are sentences, `when` an ISO 8601 time or empty.
    `doing` is set while work is in progress; `refusal` is why the last request failed.
    """

    good: bool | None
    message: tuple[str, ...]
    when: str = ""
    doing: bool = False
    refusal: str = ""


class TableWizard:
    """Watches the camera of a table before a game, and runs jobs on request.

    Call `run` in a thread of its own; everything else is thread-safe.
    """

    def __init__(
        self,
        file: TableFile,
        open_camera: Callable[[Setup], CameraPort],
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """The table of a file, with its lens beside it.

        `pause(seconds)` waits between attempts to reach a lost camera. Raises InputError if the
        camera cannot be opened.
        """
        self._file = file
        self._camera = open_camera(file.setup)
        self.name, self.simulated = self._camera.name, self._camera.simulated
        self._picture = LivePicture()
        self._frame: Frame | None = None
        self._lost = ""
        self._checked: DriftCheck | None = None
        self._checked_ms = 0
        self._gap_mm: float | None = None
        self._new_lens: LensFile | None = None
        self._close = ""
        self._job: Job | None = None
        self._refusals: dict[Job, str] = {}
        self._done: dict[Job, str] = _times(file)
        self._lens: LensGuide | None = None
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._pause = pause or self._stopping.wait

    @property
    def setup(self) -> Setup:
        """The table as measured so far."""
        return self._file.setup

    @property
    def busy(self) -> bool:
        """True while a job runs that a game has to wait for."""
        with self._changed:
            return self._job is not None

    @property
    def lens(self) -> LensGuide | None:
        """The lens calibration that was started last; None before the first."""
        with self._changed:
            return self._lens

    def jpeg(self) -> bytes | None:
        """The newest picture; None before the first."""
        return self._picture.jpeg()

    @property
    def frame_seq(self) -> int:
        """The number of the newest picture; -1 before the first."""
        return self._frame.seq if self._frame is not None else -1

    def request_job(self, job: Job) -> None:
        """Request a job: calibrate the lens, measure cards and board anew, or learn colours.

        Raises InputError while another job runs.
        """
        with self._changed:
            if self._job is not None:
                raise InputError(msg("another job is running: wait until it is done"))
            self._job = job
            self._refusals.pop(job, None)
            self._lens = LensGuide() if job == "lens" else self._lens
            self._changed.notify_all()

    def stop(self) -> None:
        """Make `run` return after the present job; does not wait."""
        self._stopping.set()
        with self._changed:
            if self._lens is not None:
                self._lens.end()
            self._changed.notify_all()

    def run(self) -> None:
        """Watch, and do requested jobs, until `stop`; then close the camera.

        Jobs after the last image use that one. Failures are reported as the camera's error, or as
        the refusal of the job; the page stays available.
        """
        with closing(self._camera):
            no_more = msg("There are no more pictures.")
            try:
                for frame in frames(self._camera, self._stopping, self._lose):
                    self._lost = ""
                    self._see(frame)
                    self._stopping.wait(LOOK_S)
            except CannotGoOn as error:
                no_more = msg("The camera cannot be used: {text}", text=error.message)
            while not self._stopping.is_set():
                self._lost = no_more
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._job is not None or self._stopping.is_set(), 1.0
                    )
                self._work()

    def steps(self) -> dict[str, Step]:
        """State of each part: camera, lens, table, colours."""
        with self._changed:
            return {
                "camera": self._camera_step(),
                "lens": self._lens_step(),
                "table": self._table_step(),
                "colours": self._colours_step(),
            }

    def _lose(self, error: CameraLost, retry_s: float) -> None:
        self._lost = msg(
            "Camera lost ({text}); trying again in {mm} s.", text=error.message, mm=f"{retry_s:g}"
        )
        self._end(msg("camera lost: try again when it is back"))
        self._pause(retry_s)

    def _see(self, frame: Frame) -> None:
        self._frame = frame
        self._picture.show(frame)
        if self._checked is None or not 0 <= frame.at_ms - self._checked_ms < CHECK_MS:
            try:
                self._check(frame)
            except Exception as error:
                logger.info("a picture of %s cannot be looked at", self.name, exc_info=True)
                self._lost = msg(
                    "The picture could not be checked ({raw}).", raw=error_summary(error)
                )
        self._work()

    def _check(self, frame: Frame) -> None:
        """Check the table against this frame.

        Once the camera is located, the accuracy of gaps is predicted for its pose.
        """
        checked = recheck(frame.image, self._file.setup)
        measures = (
            self._gap_mm is None and table_facts(self._file.setup.game.name).measuring is not None
        )
        gaps = (
            gap_accuracy(Errors(checked.camera, self._file.setup, EDGE_PX))
            if measures and checked.camera
            else None
        )
        with self._changed:
            self._checked, self._checked_ms = checked, frame.at_ms
            self._gap_mm = Z_95 * gaps.sigma_mm if gaps else self._gap_mm

    def _work(self) -> None:
        """Do the requested job on the newest image."""
        job, frame = self._job, self._frame
        if job is None:
            return
        try:
            if frame is None:
                raise InputError(
                    msg("{text}: expected a picture, but there is none yet", text=self.name)
                )
            match job:
                case "lens":
                    self._calibrate()
                case "table":
                    self._measure(frame)
                case "colours":
                    self._learn(frame)
                case _:
                    assert_never(job)
        except InputError as error:
            self._end(message_of(error))
        except Exception as error:
            logger.info("%s went wrong", job, exc_info=True)
            self._end(msg("something went wrong: {raw}", raw=error_summary(error)))
        else:
            self._end("")

    def _end(self, refusal: str) -> None:
        """Finish the job, if any; `refusal` is why it failed, or empty."""
        with self._changed:
            job, self._job = self._job, None
            if job and refusal:
                self._refusals[job] = refusal
            elif job:
                self._done[job] = datetime.now(UTC).isoformat(timespec="seconds")

    def _calibrate(self) -> None:
        guide, target = self._lens, Charuco(SQUARE_MM)
        assert guide is not None, "a request for a lens begins with its guide"
        try:
            views = take_views(self._camera, target, guide)
            file = lens_file(
                calibrate_lens(views.views, views.size_px),
                views,
                target.description,
                target.square_mm,
            )
            path = self._file.path.with_name(LENS_NAME)
            save_lens(file, path)
        except InputError as error:
            guide.fail(message_of(error))
            raise
        with self._changed:
            self._new_lens = file
        guide.finish(
            (
                msg("{path}: written.", path=path.name),
                *file.advice,
                msg(
                    "Put the target away, go back, and measure the corner cards and the board"
                    " again."
                ),
            )
        )

    def _measure(self, frame: Frame) -> None:
        """Measure cards and board anew, through the new lens if there is one.

        On failure the table stays as it was.
        """
        lens = self._new_lens.camera if self._new_lens else self._file.setup.camera
        setup, _ = remeasure_cards(
            frame.image, msgspec.structs.replace(self._file.setup, camera=lens)
        )
        self._file.replace(setup)
        self._new_lens = self._gap_mm = None
        self._check(frame)

    def _learn(self, frame: Frame) -> None:
        shown = measure_pieces(frame.image, self._file.setup)
        learned = tuple(
            learn(colour, [one])
            for colour, one in assign_by_palette(shown, self._file.setup).items()
        )
        setup = learned_setup(self._file.setup, learned)
        pairs = close_pairs(setup, np.median([one.ground for one in shown], axis=0))
        self._file.replace(setup)
        self._close = sentences(*(as_sentence(pair.message) for pair in pairs)) or msg(
            "No two colours look alike here: fewer than 1 of 100 pieces would be mistaken"
            " for another."
        )

    def _camera_step(self) -> Step:
        lens = self._file.setup.camera
        message = msg("{text}, {n} × {n2} px.", text=self.name, n=lens.width, n2=lens.height)
        seen = None if self._frame is None and not self._lost else not self._lost
        return Step(
            seen,
            (
                (message, self._lost)
                if self._lost
                else (message,)
                if self._frame
                else (message, msg("Waiting for the first picture."))
            ),
        )

    def _lens_step(self) -> Step:
        lens = self._file.setup.camera
        step = self._step(
            "lens",
            False if lens.first_estimate else True if lens.covariance else None,
            (_lens_sentence(lens),),
        )
        if self._new_lens is not None:
            return replace(
                step,
                good=True,
                message=(
                    _lens_sentence(self._new_lens.camera),
                    msg("It will be used once the corner cards and the board are measured again."),
                ),
            )
        return step

    def _table_step(self) -> Step:
        checked = self._checked
        if self._new_lens is not None:
            return self._step(
                "table",
                False,
                (
                    msg(
                        "The corner cards were measured with the previous lens: measure them again."
                    ),
                ),
            )
        if checked is None:
            return self._step("table", None, (msg("Not checked yet."),))
        if checked.message:
            return self._step("table", False, tuple(map(as_sentence, checked.message)))
        gap = (
            (msg("Gaps are accurate to ± {mm} mm here.", mm=f"{self._gap_mm:.1f}"),)
            if self._gap_mm
            else ()
        )
        return self._step(
            "table", True, (msg("The corner cards and the board are where table.json says."), *gap)
        )

    def _colours_step(self) -> Step:
        learned = [colour.colour for colour in self._file.setup.learned_colours]
        if not learned:
            return self._step(
                "colours",
                None,
                (msg("Standard colours, as sold: {players}.", players=self._file.setup.colours),),
            )
        return self._step(
            "colours",
            True,
            (
                msg("Learned in this light: {players}.", players=learned),
                *((self._close,) if self._close else ()),
            ),
        )

    def _step(self, job: Job, good: bool | None, message: Sequence[str]) -> Step:
        return Step(
            good,
            tuple(message),
            self._done.get(job, ""),
            self._job == job,
            self._refusals.get(job, ""),
        )


def _times(file: TableFile) -> dict[Job, str]:
    """Modification times of the files of the table and its lens, if they exist."""
    times: dict[Job, str] = {}
    lens = file.path.with_name(LENS_NAME)
    with suppress(InputError, OSError):
        times["table"] = _modified_at(file.path)
        times |= {"lens": _modified_at(lens)} if load_lens(lens).camera == file.setup.camera else {}
    return times


def _modified_at(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _lens_sentence(lens: Lens) -> str:
    """A sentence on the accuracy of a lens."""
    if lens.first_estimate:
        return msg("First estimate only: lengths are rough until the lens is calibrated.")
    if lens.covariance:
        focal_px, sigma_px = lens.matrix[0][0], float(np.sqrt(lens.covariance[0][0]))
        return msg("Calibrated: focal length {mm} px.", mm=fine_margin(focal_px, sigma_px))
    return msg("Lens not calibrated here (no ± given); results may be off.")
