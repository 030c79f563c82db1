"""Warn of pieces that will be hard to see, because the board has their colour."""

from __future__ import annotations

from table.messages import msg, sentences
from table.observation import Camera
from table.table_config import Setup
from vision.assignment.colour import colours_of_ground
from vision.cameras.frame import Image


def colour_warnings(image: Image, camera: Camera, setup: Setup) -> tuple[str, ...]:
    """Sentences on colours in play that the board has too; empty if there are none."""
    return tuple(
        sentences(
            msg(
                "About {n} percent of the play area is {colour}, so {colour} pieces are easily"
                " missed or misread.",
                n=percent,
                colour=colour,
            ),
            msg("If you can, play with another colour or on another board."),
        )
        for colour, percent in colours_of_ground(image, camera, setup).items()
    )
