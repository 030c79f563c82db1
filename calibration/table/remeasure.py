"""Measure a table anew during a game, from one image with pieces on the table."""

from __future__ import annotations

import msgspec
import numpy as np

from calibration.table.alignment import MOVED_MM, find_unmoved_cards
from calibration.table.bundle_adjustment import CARDS, place_points
from calibration.table.drift import DriftCheck, recheck
from calibration.table.placement import place_cards
from table.boards import Open, Tiles
from table.errors import InputError
from table.messages import msg
from table.printed_boards import DICTIONARY
from table.solids import Array
from table.table_config import Fiducials, Setup
from vision.cameras.frame import Image

ALIKE_SIDES = 0.01
"""Largest relative difference between the sides of cards."""


def remeasure_cards(image: Image, setup: Setup) -> tuple[Setup, DriftCheck]:
    """The table with its cards at their places in an image (h, w, 3), and the earlier drift.

    The table's frame stays: it is the board's. On open ground and around tiles, which slide and
    sink, it is that of the cards whose relative places are unchanged. Raises InputError if a card
    is covered, something does not fit, or these are no corner cards.
    """
    before_mm, side_mm = _corner_cards(setup.fiducials)
    board = None if isinstance(setup.board, Open | Tiles) else setup.board
    placed = place_cards(
        {"the picture": image},
        setup.camera,
        side_mm,
        board,
        -setup.fiducials.z_mm,
        before_mm=before_mm,
    )
    fiducials = msgspec.structs.replace(placed.fiducials, z_mm=setup.fiducials.z_mm)
    renewed = msgspec.structs.replace(setup, fiducials=fiducials)
    left = recheck(image, renewed)
    if left.elsewhere or left.camera is None:
        raise InputError(
            msg(
                "expected the corner cards and the board to fit together, but {text}",
                text=left.message,
            )
            if left.message
            else msg("expected the corner cards and the board to fit together, but they do not")
        )
    stayed = find_unmoved_cards(before_mm, placed.corners_mm)
    there = np.array([place_points(stayed.place, card) for card in before_mm])
    away = np.hypot(*(placed.corners_mm - there).mean(axis=1).T)
    middle = setup.outline_mm().mean(axis=0)
    board_mm = float(np.hypot(*(place_points(stayed.place, middle[None])[0] - middle)))
    cards_mm = {card: float(away[card]) for card in CARDS if card not in stayed.cards}
    return renewed, DriftCheck(
        cards_mm,
        board_mm if board is not None and board_mm > MOVED_MM else None,
        camera=left.camera,
    )


def _corner_cards(fiducials: Fiducials) -> tuple[Array, float]:
    """Earlier corners (4, 4, 2) of cards 0 to 3, and their side.

    Raises InputError for other fiducials.
    """
    corners = {marker.id: np.array(marker.corners_mm) for marker in fiducials.markers}
    sides = np.array(
        [
            np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1).mean()
            for quad in corners.values()
        ]
    )
    if (
        sorted(corners) != list(CARDS)
        or fiducials.dictionary != DICTIONARY
        or np.ptp(sides) > ALIKE_SIDES * sides.mean()
    ):
        raise InputError(
            msg(
                "expected a table with four corner cards 0 to 3 ({raw}) of one size; put"
                " back what was moved, or calibrate the table again",
                raw=DICTIONARY,
            )
        )
    return np.array([corners[card] for card in CARDS]), float(sides.mean())
