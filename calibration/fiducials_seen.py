"""A table is learned from and checked by pictures that show every fiducial."""

from __future__ import annotations

from table.errors import InputError
from table.observation import Camera
from table.setup import Setup
from vision.fiducials import SURE_MM


def expect_every_fiducial(camera: Camera, setup: Setup) -> None:
    """Raises InputError where one of the table's fiducials was not seen, or the camera's place is not surely known by them."""
    missing = [marker.id for marker in setup.fiducials.markers if marker.id not in camera.fiducials_seen]
    if missing:
        said = f"fiducial {missing[0]} is covered, too dark or too small"
        raise InputError(f"expected to see every fiducial, but {said}; uncover it or give it more light, and take another picture")
    if camera.sigma_mm > SURE_MM:
        got = f"the camera's place is known to ± {2 * camera.sigma_mm:.1f} mm only"
        raise InputError(f"expected a sharp picture of flat fiducials, but {got}; hold the camera still, focus it, and take another picture")
