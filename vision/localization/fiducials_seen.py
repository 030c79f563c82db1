"""Check that every fiducial is visible, before a table is learned from or checked by an image."""

from __future__ import annotations

from table.errors import InputError
from table.messages import msg
from table.observation import Camera
from table.table_config import Setup


def expect_every_fiducial(camera: Camera, setup: Setup) -> None:
    """Raise InputError if one of the table's fiducials was not seen."""
    missing = [
        marker.id for marker in setup.fiducials.markers if marker.id not in camera.fiducials_seen
    ]
    if missing:
        raise InputError(
            msg(
                "expected to see every marker, but marker {n} is covered, too dark"
                " or too small; uncover it or add light, and take another picture",
                n=missing[0],
            )
        )
