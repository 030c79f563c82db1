"""A photograph in, pieces in millimetres out: the one door of vision."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from table.boards import Chessboard, Open, within
from table.observation import Camera, Observation, SeenPiece, Unusable
from table.setup import Setup
from table.solids import Array
from vision.background import Background, Mask, background
from vision.camera import on_plane, project
from vision.candidates import Candidate, candidates, unread
from vision.census import Coloured, with_one_target
from vision.choose import Choice, choose
from vision.colours import colour_probabilities
from vision.fiducials import locate
from vision.frame import Frame
from vision.light import linear
from vision.paper import paper_light
from vision.solidfit import Hypothesis, silhouette
from vision.tableview import TableView, flatten

READ_BOARDS = (Open, Chessboard)
"""What is printed on other boards would be taken for pieces."""
LEAST_EVIDENCE = 3.0
"""Looks by which a piece must explain its place better than bare ground in shadow."""
WELL_INSIDE = 0.98
"""Pixels covered this far by a piece tell its colour."""
FLOOR_MM, FLOOR_DEG = 0.06, 0.1
"""What the model of a pyramid leaves out (wall, rounded edges): added to every covariance, 1 sigma."""
MISFIT = 4.0
"""What edges say errs together along an edge and between edges; sigmas are this much larger, by what photographs with known truth show."""


def observe(frame: Frame, setup: Setup, reference: Frame | None = None) -> Observation | Unusable:
    """Read the pieces on the table, in the table frame.

    `reference` is the empty table from the same camera place, if there is a picture of it.  Returns Unusable, with the
    reason, where the camera's place cannot be found, or the board cannot be read.  A camera's frames are read through `vision.watch.Watch`.
    """
    size = (setup.camera.width, setup.camera.height)
    if frame.image.shape[1::-1] != size:
        got = "x".join(map(str, frame.image.shape[1::-1]))
        return Unusable(frame.seq, frame.at_ms, f"expected a picture of {size[0]}x{size[1]} pixels, as table.json says, got {got}")
    if not isinstance(setup.board, READ_BOARDS):
        kind = type(setup.board).__name__.lower()
        return Unusable(frame.seq, frame.at_ms, f"expected open ground or a chessboard, got a board of {kind}, which cannot be read yet")
    camera = _camera(frame, setup)
    if isinstance(camera, Unusable):
        return camera
    view = flatten(frame.image, camera, setup)
    empty = None
    if reference is not None and reference.image.shape == frame.image.shape:
        place = _camera(reference, setup)
        empty = flatten(reference.image, place, setup, like=view) if isinstance(place, Camera) else None
    paper = paper_light(frame.image, camera, setup)
    ground = background(view, setup, empty)
    search = candidates(view, ground, setup, paper)
    near = [one for one in search.found if _in_view(one, view)]
    choices = [choice for choice in _choose_all(near, view, ground) if choice.over_ground > LEAST_EVIDENCE]
    outline = setup.outline_mm()
    on_board = [_coloured(choice, setup, paper) for choice in choices if _on_board(choice, outline)]
    strays = [_coloured(choice, setup, paper) for choice in choices if not _on_board(choice, outline)]
    outlines = [silhouette(choice.guess.solid, view.eye_mm) for choice in choices]
    left = tuple(place for place in unread(search, outlines, view, setup) if within(outline, place))
    if setup.game.target is not None:
        on_board = with_one_target(on_board, setup.colours.index(setup.game.target), view, ground)
    notes = tuple(f"fiducial {marker.id} is covered" for marker in setup.fiducials.markers if marker.id not in camera.fiducials_seen)
    return Observation(
        frame.seq,
        frame.at_ms,
        camera,
        _seen(on_board, camera, setup),
        _seen(strays, camera, setup),
        hand=search.hand,
        unread_mm=left,
        notes=notes,
    )


def _camera(frame: Frame, setup: Setup) -> Camera | Unusable:
    grey = np.asarray(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY), np.uint8)
    light = np.asarray(cv2.cvtColor(linear(frame.image), cv2.COLOR_RGB2GRAY), np.float32)
    camera = locate(grey, light, setup)
    return camera if isinstance(camera, Camera) else Unusable(frame.seq, frame.at_ms, camera.reason)


def _in_view(candidate: Candidate, view: TableView) -> bool:
    """Is the whole silhouette inside the view?  What the border cuts cannot be fitted, and is far off the board."""
    pixels = view.pixels(silhouette(candidate.guesses[0].solid, view.eye_mm))
    h, w = view.light.shape[:2]
    return bool((pixels > 2).all() and (pixels[:, 0] < w - 3).all() and (pixels[:, 1] < h - 3).all())


def _choose_all(found: list[Candidate], view: TableView, ground: Background) -> list[Choice]:
    """Choose at every place, neighbours left out; then once more where neighbours moved after they had been left out."""
    guesses = [one.guesses[0] for one in found]
    choices = []
    for k, one in enumerate(found):
        choices.append(choose(one, view, ground, _stamp(guesses[:k] + guesses[k + 1 :], guesses[k], view)))
        guesses[k] = choices[k].guess
    for k, choice in enumerate(choices):
        others = guesses[:k] + guesses[k + 1 :]
        if _touched(guesses[k], others):
            again = Candidate((choice.guess,), (0.0,), found[k].share)
            choices[k] = replace(choose(again, view, ground, _stamp(others, guesses[k], view)), probability=choice.probability)
    return choices


def _touched(guess: Hypothesis, others: list[Hypothesis]) -> bool:
    """Is another piece so near that its silhouette may reach into the band around this one?"""
    middle = guess.solid.vertices_mm[:, :2].mean(axis=0)
    return any(np.hypot(*(other.solid.vertices_mm[:, :2].mean(axis=0) - middle)) < 1.2 * guess.size.slant_mm for other in others)


def _stamp(others: list[Hypothesis], own: Hypothesis, view: TableView) -> Mask | None:
    """Pixels (h, w) that belong to other pieces near this one, grown by a pixel; None where there are none."""
    near = [other for other in others if _touched(own, [other])]
    if not near:
        return None
    mask = np.zeros(view.light.shape[:2], np.uint8)
    for other in near:
        outline = view.pixels(silhouette(other.solid, view.eye_mm))
        cv2.fillConvexPoly(mask, np.rint(outline * 16).astype(np.int32), 1, shift=4)
    return np.asarray(cv2.dilate(mask, np.ones((3, 3), np.uint8)) > 0)


def _on_board(choice: Choice, outline: Array) -> bool:
    solid = choice.guess.solid
    return within(outline, solid.footprint_mm().mean(axis=0))


def _coloured(choice: Choice, setup: Setup, paper: Array) -> Coloured:
    where = choice.fit.where
    inside = choice.fit.explained.membership[: len(choice.fit.explained.face_light)].sum(axis=0) > WELL_INSIDE
    return Coloured(choice, colour_probabilities(where.light[inside], where.ground[inside], paper, setup.colours))


def _seen(found: list[Coloured], camera: Camera, setup: Setup) -> tuple[SeenPiece, ...]:
    """Pieces as they are told, one that stands on another right after it."""
    pieces: list[SeenPiece] = []
    for one in found:
        if one.under is not None:
            pieces.append(_piece(one.under, camera, setup, None))
        pieces.append(_piece(one, camera, setup, None if one.under is None else len(pieces) - 1))
    return tuple(pieces)


def _piece(one: Coloured, camera: Camera, setup: Setup, on: int | None) -> SeenPiece:
    guess = one.choice.guess
    best = int(one.chances.argmax())
    covariance = MISFIT**2 * one.choice.covariance + np.diag([FLOOR_MM**2, FLOOR_MM**2, FLOOR_DEG**2])
    covariance[:2, :2] += _camera_covariance(guess, camera, setup)
    return SeenPiece(
        setup.colours[best],
        guess.size.name,
        guess.pose,
        np.array([guess.x_mm, guess.y_mm]),
        guess.heading_deg % (90.0 if guess.pose == "upright" else 360.0),
        guess.solid,
        covariance,
        colour_probability=float(one.chances[best]),
        pose_probability=one.choice.probability,
        on=on,
    )


def _camera_covariance(guess: Hypothesis, camera: Camera, setup: Setup) -> Array:
    """How the uncertainty of the camera's place moves a piece there: (2, 2) mm2, at half the piece's height."""
    middle = guess.solid.vertices_mm.mean(axis=0)
    pixel = project(middle[None], camera, setup.camera)
    columns = []
    for k, step in enumerate(np.sqrt(np.diag(camera.covariance))):
        turn, shift = np.zeros(3), np.zeros(3)
        (turn if k < 3 else shift)[k % 3] = step
        rvec, _ = cv2.Rodrigues(camera.rotation)
        rotation, _ = cv2.Rodrigues(rvec.reshape(3) + turn)
        moved = replace(camera, rotation=np.asarray(rotation, float), translation_mm=camera.translation_mm + shift)
        columns.append((on_plane(pixel, moved, setup.camera, float(middle[2]))[0] - middle[:2]) / step)
    jacobian = np.stack(columns, axis=1)
    return np.asarray(jacobian @ camera.covariance @ jacobian.T)
