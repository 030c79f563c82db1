"""Set up a table from nothing: camera, printed board, one picture. No files are needed.

The lens is estimated from that picture unless it was calibrated before; the table says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, get_args

import cv2
import msgspec
import numpy as np

from calibration.quality.error_model import EDGE_PX, Errors
from calibration.quality.gap_error import gap_accuracy
from calibration.sheets.pdf import BAR_MM
from calibration.table.drift import recheck
from calibration.table.ground_colours import colour_warnings
from calibration.table.marker_edges import refuse_mirrored
from calibration.table.printed import LEAST_BAR_MM, MOST_BAR_MM, scale_printed, unknown_lens
from calibration.table.single_image import HIGH_MM, first_lens, worst_sigma_mm
from table.errors import InputError, MessageError, error_summary, message_of
from table.games import table_facts
from table.measured_text import Z_95
from table.messages import in_a_row, msg, phrase, sentences
from table.observation import Camera
from table.pieces import COLOURS
from table.printed_boards import default_game, printed_fiducials, printed_table
from table.table_config import FORMAT, Fiducials, Lens, Setup, parse_table
from vision.cameras.base import CameraLost, CameraPort
from vision.cameras.frame import Frame, Image
from vision.cameras.image_files import encode_jpeg
from vision.cameras.preview import LivePicture
from vision.cameras.reconnect import CannotGoOn, frames
from vision.geometry.camera_model import project
from vision.localization.fiducials import locate
from vision.localization.markers import Detected, detect_markers

logger = logging.getLogger(__name__)

LOOK_S = 0.1
"""Pause between pictures of a camera that delivers at the rate of the requests."""
GUIDE_MS = 500
"""Interval of the search for markers, on the camera's clock."""
WARM_UP = 3
"""Number of pictures that a camera takes for a thumbnail. The first ones are often dark."""
SMALL_SHARE = 0.5
"""Share of the picture's width or height that a board must span; below it the camera is too far
away.
"""
LEAST_MARKERS = 3
ANY_PX = (640, 480)
"""Size of pictures where it does not matter."""
OUTLINE_STEPS, PICTURE_QUALITY = 24, 85
DRAWN_RGB = (255, 190, 60)
CORNERS = {
    0: phrase("far left"),
    1: phrase("far right"),
    2: phrase("near right"),
    3: phrase("near left"),
}

Step = Literal["camera", "game", "print", "lay", "check"]
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True, slots=True)
class CameraChoice:
    """A camera that can be chosen: `spec` as --camera takes it, its name, and its error."""

    spec: str
    name: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class BoardChoice:
    """The printed board, and the measured length of its check bar.

    `colours` are the players', in turn order; `target` is ignored by games without one.
    """

    sheet: str
    bar_mm: float = BAR_MM
    colours: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class FirstSetUpNow:
    """Progress of the set-up.

    `step` is the present step; earlier ones are done. `guidance` describes the visible markers,
    `good` is true if they suffice to measure. `refusal` is why the last request failed, `outcome`
    the measured result.
    """

    step: Step
    cameras: tuple[CameraChoice, ...] = ()
    camera: str = ""
    trouble: str = ""
    board: BoardChoice | None = None
    guidance: str = ""
    good: bool = False
    seen: tuple[int, ...] = ()
    measuring: bool = False
    refusal: str = ""
    outcome: tuple[str, ...] = ()


class FirstSetUp:
    """Watches the chosen camera, and measures the table when asked.

    Call `run` in a thread of its own; everything else is thread-safe.
    """

    def __init__(
        self,
        cameras: Sequence[CameraChoice],
        open_camera: Callable[[str], CameraPort],
        lens_of: Callable[[str], Lens | None],
        pause: Callable[[float], object] | None = None,
    ) -> None:
        """`lens_of` gives the calibrated lens of a camera, if there is one.

        `pause(seconds)` waits between attempts to reach a lost camera.
        """
        self._open, self._lens_of = open_camera, lens_of
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._other = threading.Event()
        """Set if another camera is wanted, or none."""
        self._now = FirstSetUpNow("camera", tuple(cameras))
        self._pictures = {one.spec: LivePicture() for one in cameras}
        self._frame: Frame | None = None
        self._guided_ms: int | None = None
        self._checked: bytes | None = None
        self._setup: Setup | None = None
        self._pause = pause or self._stopping.wait

    def look(self) -> FirstSetUpNow:
        """The present progress."""
        with self._changed:
            return self._now

    def jpeg(self, spec: str = "") -> bytes | None:
        """The newest picture of a camera, the chosen one unless another is named."""
        picture = self._pictures.get(spec or self.look().camera)
        return picture.jpeg() if picture else None

    def checked(self) -> bytes | None:
        """The picture that was measured, with the board drawn where it was found."""
        return self._checked

    @property
    def setup(self) -> Setup:
        """The table that was measured; raises InputError before that."""
        if self._setup is None:
            raise InputError(msg("the table is not measured yet: measure it first"))
        return self._setup

    def choose_camera(self, spec: str) -> None:
        """Choose this camera; raises InputError if it is not among the cameras found.

        A camera that the user names is added to them.
        """
        spec = spec.strip()
        name, colon, _ = spec.partition(":")
        if not (name and colon):
            raise InputError(
                msg("expected a camera such as rpicam:0 or v4l2:0, got {raw}", raw=repr(spec))
            )
        with self._changed:
            if spec not in self._pictures:
                self._pictures[spec] = LivePicture()
                others = (*self._now.cameras, CameraChoice(spec, spec))
                self._now = replace(self._now, cameras=others)
            self._update_state(step="game", camera=spec, trouble="")
            self._frame, self._guided_ms = None, None
            self._other.set()

    def choose_sheet(self, sheet: str) -> None:
        """Play on this printed board, with its usual colours; raises InputError for no sheet."""
        game, usual = printed_table(sheet)
        played = default_game(game, usual)
        board = BoardChoice(sheet, BAR_MM, played.colours, played.target or "")
        with self._changed:
            self._update_state(step="print", board=board)

    def printed(self, board: BoardChoice) -> None:
        """Store the printed board; raises InputError for an impossible bar or colours."""
        if not LEAST_BAR_MM <= board.bar_mm <= MOST_BAR_MM:
            raise InputError(
                msg(
                    "The bar should measure {mm} to {mm2} mm, got {mm3}: print again at 100 %"
                    " (actual size).",
                    mm=f"{LEAST_BAR_MM:g}",
                    mm2=f"{MOST_BAR_MM:g}",
                    mm3=f"{board.bar_mm:g}",
                )
            )
        _setup_of(board, unknown_lens(*ANY_PX))
        with self._changed:
            self._guided_ms = None
            self._update_state(step="lay", board=board)

    def measure(self) -> None:
        """Measure the table in the next picture; raises InputError while a measurement runs."""
        with self._changed:
            if self._now.step != "lay" or self._now.measuring:
                raise InputError(msg("the table is being measured, or no board lies there yet"))
            self._update_state(measuring=True)

    def back(self, step: Step) -> None:
        """Return to an earlier step."""
        with self._changed:
            if STEPS.index(step) < STEPS.index(self._now.step):
                self._update_state(step=step, camera="" if step == "camera" else self._now.camera)
                self._guided_ms = None
                if step == "camera":
                    self._other.set()

    def stop(self) -> None:
        """Make `run` return; does not wait."""
        self._stopping.set()
        self._other.set()

    def run(self) -> None:
        """Show all cameras until one is chosen, then watch that one, until `stop`."""
        while not self._stopping.is_set():
            self._other.clear()
            spec = self.look().camera
            if spec:
                self._watch(spec)
            else:
                self._show_all()

    def _update_state(self, **changed: object) -> None:
        self._now = replace(self._now, **{"refusal": "", "outcome": (), **changed})  # type: ignore[arg-type]
        self._changed.notify_all()

    def _show_all(self) -> None:
        """One picture of each camera in turn; a single camera stays open."""
        found = self.look().cameras
        for one in found:
            if self._other.is_set():
                return
            self._show(one.spec, WARM_UP if len(found) > 1 else None)
        self._other.wait(1.0)

    def _show(self, spec: str, most: int | None) -> None:
        """Show up to `most` pictures of a camera, or its error."""
        trouble = ""
        try:
            with closing(self._open(spec)) as camera:
                shown = 0
                while not self._other.is_set() and (most is None or shown < most):
                    frame = camera.read()
                    if frame is None:
                        break
                    self._pictures[spec].show(frame)
                    self._set_camera_trouble(spec, "")
                    shown += 1
                    self._other.wait(LOOK_S)
        except MessageError as error:
            trouble = error.message
        self._set_camera_trouble(spec, trouble)

    def _set_camera_trouble(self, spec: str, trouble: str) -> None:
        with self._changed:
            cameras = tuple(
                replace(one, trouble=trouble) if one.spec == spec else one
                for one in self._now.cameras
            )
            self._now = replace(self._now, cameras=cameras)

    def _watch(self, spec: str) -> None:
        """Show the chosen camera, guide, and measure, until another camera is chosen."""
        try:
            with closing(self._open(spec)) as camera:
                for frame in frames(camera, self._other, self._lose):
                    self._frame = frame
                    self._pictures[spec].show(frame)
                    self._set_trouble("")
                    self._see(frame)
                    self._other.wait(LOOK_S)
            trouble: str = msg("There are no more pictures.")
        except (CannotGoOn, InputError) as error:
            trouble = msg("The camera cannot be used: {text}", text=error.message)
        while not self._other.is_set():
            self._set_trouble(trouble)
            if self._frame is not None:
                self._see(self._frame)
            elif self.look().measuring:
                self._refuse(trouble)
            self._other.wait(1.0)

    def _lose(self, error: CameraLost, retry_s: float) -> None:
        why, wait_s = error.message, f"{retry_s:g}"
        self._set_trouble(msg("Camera lost ({text}); trying again in {mm} s.", text=why, mm=wait_s))
        self._pause(retry_s)

    def _set_trouble(self, trouble: str) -> None:
        with self._changed:
            self._now = replace(self._now, trouble=trouble)

    def _refuse(self, refusal: str) -> None:
        with self._changed:
            self._update_state(measuring=False, refusal=refusal)

    def _see(self, frame: Frame) -> None:
        """Guide the user by a frame, and measure in it if requested."""
        now = self.look()
        if now.step != "lay" or now.board is None:
            return
        try:
            if now.measuring:
                self._measure(frame.image, now.board, now.camera)
            elif self._guided_ms is None or not 0 <= frame.at_ms - self._guided_ms < GUIDE_MS:
                self._guided_ms = frame.at_ms
                seen, guidance = marker_guidance(frame.image, _fiducials(now.board))
                with self._changed:
                    good = len(seen) >= LEAST_MARKERS
                    self._now = replace(self._now, seen=seen, guidance=guidance, good=good)
        except InputError as error:
            self._refuse(error.message)
        except Exception as error:
            logger.info("the table could not be measured", exc_info=True)
            self._refuse(msg("something went wrong: {raw}", raw=error_summary(error)))

    def _measure(self, image: Image, board: BoardChoice, spec: str) -> None:
        lens = self._lens_of(spec)
        height, width = image.shape[:2]
        if lens is None or (lens.width, lens.height) != (width, height):
            draft = _setup_of(board, unknown_lens(width, height))
            lens = first_lens(image, draft.fiducials, draft.board).lens
        setup = _setup_of(board, lens)
        camera = locate(image, setup)
        if not isinstance(camera, Camera):
            raise InputError(camera.reason)
        if moved := recheck(image, setup).elsewhere:
            raise InputError(
                msg(
                    "The board does not fit together ({text}): lay it flat, join its pages at the"
                    " lines, and measure again.",
                    text=in_a_row(list(moved)),
                )
            )
        self._setup = setup
        self._checked = encode_jpeg(draw_outline(image, setup, camera), PICTURE_QUALITY)
        outcome = (*accuracy_sentences(setup, camera), *colour_warnings(image, camera, setup))
        with self._changed:
            self._update_state(step="check", measuring=False, outcome=outcome)


def marker_guidance(image: Image, fiducials: Fiducials) -> tuple[tuple[int, ...], str]:
    """Visible markers, and advice for seeing them better."""
    detected = detect_markers(image, fiducials)
    seen = tuple(sorted(detected.corners_px))
    if detected.repeated_ids:
        return seen, msg(
            "Marker {n} is in view twice: take one of the sheets away.", n=detected.repeated_ids[0]
        )
    missing = [marker.id for marker in fiducials.markers if marker.id not in seen]
    if not seen:
        try:
            refuse_mirrored(image, fiducials)
        except InputError as error:
            return seen, message_of(error)
        return seen, msg("No marker is in view yet: point the camera at the board, in good light.")
    if missing:
        names = in_a_row([CORNERS[one] for one in missing])
        return seen, msg(
            "Not seen yet: the marker {text}. Is it covered, in glare, or out of the picture?"
            if len(missing) == 1
            else "Not seen yet: the markers {text}. Are they covered, in glare, or out of the"
            " picture?",
            text=names,
        )
    if _share(detected, image) < SMALL_SHARE:
        return seen, msg(
            "All markers are in view. Move the camera closer for a better measurement."
        )
    return seen, msg("All markers are in view. Clear the board and measure.")


def _share(detected: Detected, image: Image) -> float:
    """Larger one of the markers' extents, as shares of the picture's width and height."""
    corners = np.concatenate(list(detected.corners_px.values()))
    return float((np.ptp(corners, axis=0) / np.array(image.shape[1::-1])).max())


def draw_outline(image: Image, setup: Setup, camera: Camera) -> Image:
    """The picture with the located board's outline."""
    outline = setup.outline_mm()
    shares = np.linspace(0, 1, OUTLINE_STEPS, endpoint=False)[:, None]
    ends = zip(outline, np.roll(outline, -1, axis=0), strict=True)
    edges = [one + shares * (other - one) for one, other in ends]
    flat = np.concatenate(edges)
    pixels = project(np.column_stack([flat, np.zeros(len(flat))]), camera, setup.camera)
    picture = np.ascontiguousarray(image)
    line_px = max(2, image.shape[1] // 400)
    cv2.polylines(picture, [pixels.round().astype(np.int32)], True, DRAWN_RGB, line_px, cv2.LINE_AA)
    return picture


def accuracy_sentences(setup: Setup, camera: Camera) -> tuple[str, ...]:
    """Sentences on the accuracy of the table."""
    lines: list[str] = [
        msg(
            "Accuracy on the board: ± {mm} mm; at a height of {n} mm: ± {mm2} mm.",
            mm=f"{Z_95 * worst_sigma_mm(setup, camera, 0.0):.2f}",
            mm2=f"{Z_95 * worst_sigma_mm(setup, camera, HIGH_MM):.1f}",
            n=f"{HIGH_MM:g}",
        )
    ]
    if table_facts(setup.game.name).measuring is not None:
        gaps = gap_accuracy(Errors(camera, setup, EDGE_PX))
        if gaps:
            lines.append(
                msg("Gaps are accurate to ± {mm} mm here.", mm=f"{Z_95 * gaps.sigma_mm:.1f}")
            )
    if setup.camera.first_estimate:
        lines.append(
            sentences(
                msg("The lens was estimated from this one picture."),
                msg("Gap errors are 1.1 times those of a calibrated lens."),
                msg("You can calibrate it later."),
            )
        )
    return tuple(lines)


def _fiducials(board: BoardChoice) -> Fiducials:
    return printed_fiducials(printed_table(board.sheet)[1])


def _setup_of(board: BoardChoice, lens: Lens) -> Setup:
    """The table of a printed board before a camera with this lens; raises InputError."""
    game, usual = printed_table(board.sheet)
    played = default_game(game, usual)
    for colour in (*board.colours, *([board.target] if played.target else [])):
        if colour not in COLOURS:
            known = ", ".join(COLOURS)
            raise InputError(
                msg("expected a colour ({raw}), got {raw2}", raw=known, raw2=repr(colour))
            )
    if played.target and board.target in board.colours:
        raise InputError(
            msg(
                "The target needs a colour that is not in play; {player} is taken.",
                player=board.target,
            )
        )
    played = msgspec.structs.replace(
        played, colours=board.colours, target=board.target if played.target else None
    )
    document = {
        "format": FORMAT,
        "camera": lens,
        "fiducials": printed_fiducials(usual),
        "board": usual.board(usual.cell_mm),
        "game": played,
    }
    return scale_printed(parse_table(msgspec.to_builtins(document)), board.bar_mm / BAR_MM)
