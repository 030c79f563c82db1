"""`rinkside-lens/1`: a file with a calibrated lens and its accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.lens.fit import LensCalibration
from calibration.lens.next_view import WELL_COVERED, cells_of, uncovered_parts
from calibration.lens.views import Views, convergence
from table.files import convert, keep_previous, read_json, write_whole
from table.messages import msg, phrases
from table.table_config import Lens, rows_of

FORMAT: Literal["rinkside-lens/1"] = "rinkside-lens/1"
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(ge=0)]
POOR_FIT_PX = 0.5
"""RMS residual of corners above which a warning is given."""


class ViewRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One view that was used."""

    name: str
    corners: int
    rms_px: Positive
    worst_px: Positive
    tilt_deg: float
    away_mm: float


class RejectedViewRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One photograph that was left out."""

    name: str
    reason: str


class LensFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A calibrated lens as it is stored.

    `camera` is the part that `table.json` takes; `sigma` is the standard deviation (1 sigma) of
    each free parameter.
    """

    format: Literal["rinkside-lens/1"] = FORMAT
    camera: Lens
    model: str
    sigma: dict[str, Positive]
    rms_px: Positive
    held_out_px: dict[str, Positive]
    coverage: Share
    target: str
    square_mm: Positive
    views: tuple[ViewRow, ...]
    left_out: tuple[RejectedViewRow, ...]
    advice: tuple[str, ...] = ()


def lens_file(calibrated: LensCalibration, given: Views, target: str, square_mm: float) -> LensFile:
    """The file of a calibrated lens, from its fit and the views given."""
    views = tuple(judged.view for judged in calibrated.views)
    covered = cells_of(
        np.concatenate([view.pixels for view in views]),
        calibrated.lens.width,
        calibrated.lens.height,
    )
    return LensFile(
        camera=msgspec.structs.replace(
            calibrated.lens, focus_dpt=given.focus_dpt, covariance=rows_of(calibrated.covariance)
        ),
        model=calibrated.model,
        sigma=calibrated.sigma,
        rms_px=calibrated.rms_px,
        held_out_px=calibrated.held_out_px,
        coverage=float(covered.mean()),
        target=target,
        square_mm=square_mm,
        views=tuple(
            ViewRow(
                name=judged.view.name,
                corners=len(judged.view.pixels),
                rms_px=judged.rms_px,
                worst_px=float(np.hypot(*judged.residual_px.T).max()),
                tilt_deg=judged.tilt_deg,
                away_mm=judged.away_mm,
            )
            for judged in calibrated.views
        ),
        left_out=tuple(
            RejectedViewRow(name=out.name, reason=out.message)
            for out in sorted((*given.left_out, *calibrated.left_out), key=lambda out: out.name)
        ),
        advice=advice(calibrated, covered),
    )


def advice(calibrated: LensCalibration, covered: NDArray[np.bool_]) -> tuple[str, ...]:
    """Advice for a better calibration, one sentence each."""
    message = []
    if calibrated.rms_px > POOR_FIT_PX:
        message.append(
            msg(
                "This lens fits poorly: RMS {mm} px, under {mm2} px is usual. Mount the target"
                " flat, lock the focus, and calibrate again with sharp pictures.",
                mm=f"{calibrated.rms_px:.2f}",
                mm2=f"{POOR_FIT_PX:g}",
            )
        )
    if covered.mean() < WELL_COVERED:
        message.append(
            msg(
                "The target's corners cover {share} of the picture; also hold it at the {text}.",
                share=f"{100 * covered.mean():.0f} %",
                text=phrases(*uncovered_parts(covered), joint=","),
            )
        )
    views = [judged.view for judged in calibrated.views]
    strong = sum(convergence(view) > 1.25 for view in views)
    if strong < len(views) // 4:
        message.append(
            msg(
                "Few views are strongly tilted; tilt the target by 30 to 45 degrees in more"
                " of them."
            )
        )
    upright = sum(
        float(np.ptp(view.pixels[:, 1])) > float(np.ptp(view.pixels[:, 0])) for view in views
    )
    if upright in (0, len(views)):
        message.append(
            msg("The target is the same way round in all views; give it a quarter turn in some.")
        )
    return tuple(message)


def load_lens(path: Path) -> LensFile:
    """Read a lens; raises InputError with the place of the first mistake."""
    return convert(read_json(path), LensFile, path.name)


def save_lens(file: LensFile, path: Path) -> Path | None:
    """Write a lens file atomically.

    A file that was there before is kept beside it; returns the path of that copy.
    """
    kept = keep_previous(path)
    write_whole(
        path, msgspec.json.format(msgspec.json.encode(file, enc_hook=str), indent=1) + b"\n"
    )
    return kept
