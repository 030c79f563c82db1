"""Entry point of vision: from a photograph to pieces in millimetres."""

from __future__ import annotations

import cv2
import numpy as np

from table.boards import within
from table.messages import phrase
from table.observation import Camera, Observation, SeenPiece, Unusable
from table.solids import REPEATS_DEG, Array
from table.table_config import Setup
from vision.cameras.frame import Frame, Image
from vision.geometry.camera_model import place_covariances, refocused
from vision.geometry.rectified_view import Photo
from vision.geometry.uncertainty import inflate_covariance, most_size_probability
from vision.pipeline import TableReader
from vision.results import Reading

GREY_LEVELS, COLOURED_SHARE = 6, 0.002
"""Largest difference between red, green and blue of a grey pixel, and least share of other pixels
in a colour picture.
"""
BURNT_OUT, BURNT_OUT_SHARE = 250, 0.05
"""Level of all three channels from which a pixel is over-exposed, and least share of over-exposed
pixels in the play area that is reported.
"""
EVERY_PX = 8
"""Subsampling step, in both directions, of these checks."""
FIRST_ESTIMATE = phrase(
    "the lens is a first estimate: ± is larger than it would be with a calibrated one"
)


def observe(
    frame: Frame, setup: Setup, reference: Frame | None = None, reader: TableReader | None = None
) -> Observation | Unusable:
    """Read the pieces on the table, in the table frame.

    `reference` is the empty table from the same camera pose, if there is an image of it. `reader`
    has read the camera's last frame and is faster if little has changed. Without a reader, `frame`
    is a photograph on which every colour in play should show (`TableReader`). Returns Unusable,
    with the reason, if the camera cannot be located or the picture has no colours. A camera's
    frames are read through `vision.change_gate.Watch`.
    """
    size = (setup.camera.width, setup.camera.height)
    if frame.image.shape[1::-1] != size:
        got = "x".join(map(str, frame.image.shape[1::-1]))
        return Unusable(
            frame.seq,
            frame.at_ms,
            phrase(
                "expected a picture of {raw} pixels, as in table.json, got {raw2}",
                raw=f"{size[0]}x{size[1]}",
                raw2=got,
            ),
        )
    reader = reader or TableReader(every_colour=True)
    camera = reader.camera(frame.image, setup)
    if not isinstance(camera, Camera):
        return Unusable(frame.seq, frame.at_ms, camera.reason)
    if _has_no_colours(frame.image):
        return Unusable(
            frame.seq,
            frame.at_ms,
            phrase("the picture has no colours; switch the camera from black and white to colour"),
        )
    photo = Photo(frame.image, camera, setup)
    read = reader(photo, reference)
    outline = setup.outline_mm()
    on_board = [one for one in read.pieces if _inside(one, outline)]
    strays = [one for one in read.pieces if not _inside(one, outline)]
    return Observation(
        frame.seq,
        frame.at_ms,
        camera,
        _seen_pieces(on_board, photo),
        _seen_pieces(strays, photo),
        counters=read.counters,
        hand=read.hand,
        unread_mm=read.unread_mm,
        tiles=read.tiles,
        dice=read.dice,
        notes=(*camera.notes, *_notes(frame, photo)),
    )


def _notes(frame: Frame, photo: Photo) -> tuple[str, ...]:
    """Warnings about the lens and the light."""
    lens = photo.setup.camera
    notes: list[str] = []
    if message := refocused(frame.focus_dpt, lens):
        notes.append(message)
    if lens.first_estimate:
        notes.append(FIRST_ESTIMATE)
    if percent := burnt_out_percent(photo):
        notes.append(
            phrase(
                "{n} percent of the play area is too bright to show anything; lower the exposure or"
                " move the lamp",
                n=percent,
            )
        )
    return tuple(notes)


def _has_no_colours(image: Image) -> bool:
    """True for a monochrome picture, on which colours of pieces would be wrong."""
    pixels = image[::EVERY_PX, ::EVERY_PX]
    coloured = pixels.max(axis=2) - pixels.min(axis=2) > GREY_LEVELS
    return bool(coloured.mean() < COLOURED_SHARE)


def burnt_out_percent(photo: Photo) -> int:
    """Percent of the play area that is over-exposed; 0 below BURNT_OUT_SHARE."""
    corners = photo.setup.outline_mm()
    outline = photo.pixels(np.column_stack([corners, np.zeros(len(corners))])) / EVERY_PX
    few = photo.image[::EVERY_PX, ::EVERY_PX]
    inside = cv2.fillPoly(np.zeros(few.shape[:2], np.uint8), [outline.astype(np.int32)], 1) > 0
    share = float((few[inside].min(axis=1) >= BURNT_OUT).mean()) if inside.any() else 0.0
    return round(100 * share) if share >= BURNT_OUT_SHARE else 0


def _inside(one: Reading, outline: Array) -> bool:
    footprint = one.guess.solid.footprint_mm()
    return within(
        outline,
        footprint.mean(axis=0) if len(footprint) else np.array([one.guess.x_mm, one.guess.y_mm]),
    )


def _seen_pieces(readings: list[Reading], photo: Photo) -> tuple[SeenPiece, ...]:
    """Reported pieces, each followed by the one that stands on it."""
    if not readings:
        return ()
    reported: list[tuple[Reading, int | None]] = []
    for one in readings:
        if one.under is not None:
            reported.append((one.under, None))
        reported.append((one, None if one.under is None else len(reported) - 1))
    middles = np.array([one.guess.solid.vertices_mm.mean(axis=0) for one, _ in reported]).reshape(
        -1, 3
    )
    of_place = place_covariances(middles, photo.camera, photo.setup.camera)
    return tuple(
        _piece(one, on, by_place, photo.setup)
        for (one, on), by_place in zip(reported, of_place, strict=True)
    )


def _piece(one: Reading, on: int | None, by_place: Array, setup: Setup) -> SeenPiece:
    guess, best = one.guess, int(one.chances.argmax())
    left_by_edges = inflate_covariance(one.covariance[:3, :3])
    return SeenPiece(
        setup.colours[best],
        guess.size.name,
        guess.pose,
        np.array([guess.x_mm, guess.y_mm]),
        guess.heading_deg % REPEATS_DEG[guess.pose],
        guess.solid,
        _add_place_covariance(left_by_edges, by_place),
        colour_probability=float(one.chances[best]),
        size_probability=min(
            one.size_probability, most_size_probability(guess.size, setup.sizes, left_by_edges)
        ),
        pose_probability=one.probability,
        on=on,
        rivals=tuple(_piece(other, on, by_place, setup) for other in one.rivals),
        if_right=None
        if one.if_right is None
        else _add_place_covariance(inflate_covariance(one.if_right), by_place),
    )


def _add_place_covariance(covariance: Array, by_place: Array) -> Array:
    """Covariance (3, 3) of a piece plus (2, 2) mm^2 by the camera's pose at its place."""
    summed = covariance.copy()
    summed[:2, :2] += by_place
    return summed
