"""Pictures in files: one photograph, or a folder of frames named by their time.  The place where B-G-R becomes R-G-B."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from table.errors import InputError
from table.setup import Setup
from vision.cameras import other_size
from vision.cameras.jpeg import JPEG, whole_jpeg
from vision.frame import Frame, Image, swapped

PNG = b"\x89PNG\r\n\x1a\n"
MOST_DIGITS = 15
"""Milliseconds beyond these are 30,000 years; what reads them as JSON, or keeps them in 64 bits, must not have to round."""
_SUFFIXES = (".jpg", ".jpeg", ".png")


def read_image(path: Path, setup: Setup | None = None) -> Frame:
    """A JPEG or PNG as a frame (seq 0, at 0 ms); EXIF rotation is ignored, pixels stay where the sensor had them.

    Raises InputError for a file that cannot be read, is no picture, is cut short or damaged, or, with `setup`, is of
    another size than `table.json` says.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: expected a picture, but it cannot be read ({error.strerror})") from error
    image = decode_image(data, str(path))
    height, width = image.shape[:2]
    if setup is not None and (wrong := other_size(width, height, setup)):
        raise InputError(f"{path}: {wrong}")
    return Frame(0, 0, image)


def decode_image(data: bytes, where: str) -> Image:
    """The pixels of a JPEG or PNG file, R-G-B; `where` names it in messages.  Raises InputError as `read_image` does."""
    checks: dict[bytes, Callable[[bytes], bool]] = {JPEG: whole_jpeg, PNG: _whole_png}
    whole = next((check for start, check in checks.items() if data.startswith(start)), None)
    if whole is None:
        raise InputError(f"{where}: expected a picture (JPEG or PNG), got {'an empty file' if not data else 'something else'}")
    if not whole(data):
        raise InputError(f"{where}: expected a whole picture, but it is cut short or damaged; take or copy it again")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error as error:
        raise InputError(f"{where}: expected a picture that can be decoded: {error.err}") from error
    if image is None:
        raise InputError(f"{where}: expected a whole picture, but it cannot be decoded; take or copy it again")
    return swapped(image)


def encode_jpeg(image: Image, quality: int) -> bytes:
    """An R-G-B image as a JPEG file with the colour of every pixel (4:4:4), as pieces are found by it; `quality` is 1 to 100."""
    words = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    done, data = cv2.imencode(".jpg", swapped(image), words)
    assert done
    return data.tobytes()


class FolderCamera:
    """Frames from the files of a folder, in order of the milliseconds that are their names; reads them one by one."""

    simulated = False

    def __init__(self, folder: Path, setup: Setup | None) -> None:
        """Raises InputError for no such folder, no pictures in it, or a picture whose name is no time of its own."""
        if not folder.is_dir():
            raise InputError(f"camera: expected a folder of pictures, got {folder}")
        self.name = f"folder {folder.name}"
        self._setup = setup
        self._closed = False
        self._seq = 0
        paths: dict[int, Path] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() not in _SUFFIXES or path.name.startswith("."):
                continue
            if not (path.stem.isascii() and path.stem.isdigit() and len(path.stem.lstrip("0")) <= MOST_DIGITS):
                raise InputError(f"{path}: expected a file name of milliseconds such as 000010250.jpg, of {MOST_DIGITS} digits at most")
            if (at_ms := int(path.stem)) in paths:
                raise InputError(f"{path}: expected a time of its own, but {paths[at_ms].name} has the same")
            paths[at_ms] = path
        if not paths:
            raise InputError(f"{folder}: expected pictures such as 000010250.jpg, found none")
        self._frames = sorted(paths.items())

    def read(self) -> Frame | None:
        """The next picture; None after the last.  Raises InputError for one that is broken or of the wrong size."""
        if self._closed:
            raise ValueError("the camera was closed")
        if self._seq == len(self._frames):
            return None
        at_ms, path = self._frames[self._seq]
        frame = Frame(self._seq, at_ms, read_image(path, self._setup).image)
        self._seq += 1
        return frame

    def close(self) -> None:
        """No more reading."""
        self._closed = True


def open_camera(argument: str, setup: Setup | None) -> FolderCamera:
    """`folder:PATH`: every JPEG and PNG of a folder in order of time; file names are milliseconds, `000010250.jpg`."""
    return FolderCamera(Path(argument), setup)


def _whole_png(data: bytes) -> bool:
    """Do its chunks lead, checksums and all, to IEND?  (PNG specification, 5.3)"""
    at = len(PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        body = data[at + 4 : at + 8 + length]
        if zlib.crc32(body) != int.from_bytes(data[at + 8 + length : at + 12 + length], "big"):
            return False
        if body[:4] == b"IEND":
            return True
        at += 12 + length
    return False
