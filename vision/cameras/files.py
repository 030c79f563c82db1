"""Pictures from files: one photograph, or a folder of frames named by their time."""

from __future__ import annotations

from pathlib import Path

from table.setup import Setup
from vision.cameras import CameraPort
from vision.frame import Frame


def read_image(path: Path, setup: Setup | None = None) -> Frame:
    """A JPEG or PNG as a frame (seq 0, at 0 ms); EXIF rotation is ignored, pixels stay where the sensor had them.

    Raises InputError for a file that cannot be read, is no picture, is cut short or damaged, or, with `setup`, is of
    another size than `table.json` says.
    """
    raise NotImplementedError


def open_camera(argument: str, setup: Setup) -> CameraPort:
    """`folder:PATH`: every JPEG and PNG of a folder in order of time; file names are milliseconds, `000010250.jpg`."""
    raise NotImplementedError
