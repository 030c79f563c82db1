"""Photographs as phones take them: JPEG, PNG or HEIC, oriented for display, of any size.

Unlike the pictures of a table's camera (`image_files`) they need not fit a calibrated lens.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from table.errors import InputError
from table.files import read_bytes
from table.messages import Message, msg, phrase
from vision.cameras.exif import EXIF_START, focal_px, jpeg_exif
from vision.cameras.frame import Image
from vision.cameras.image_files import file_size, most_pixels
from vision.cameras.jpeg import JPEG, damage_error, decode_jpeg
from vision.cameras.orientation import upright
from vision.cameras.png import decode_png, png_exif
from vision.resolution import scale_down

MOST_BYTES = 48 << 20
"""Size limit of a file."""
MOST_MEGAPIXELS = 64
"""Size limit of a picture; phones take up to 50."""
HEIC_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"heim", b"heis")


@dataclass(frozen=True, slots=True, eq=False)
class Photograph:
    """A photograph, R-G-B (h, w, 3), upright, and scaled down if it was large.

    `focal_px` is the focal length that the file states, scaled to `image`; None if it states none.
    """

    image: Image
    focal_px: float | None


def read_photograph(path: Path) -> bytes:
    """The content of a file that should be a photograph; raises InputError."""
    return read_bytes(path, phrase("a picture"), MOST_BYTES)


def decode_photograph(data: bytes, where: str) -> Photograph:
    """Decode a JPEG, PNG or HEIC; `where` names it in messages.

    Raises InputError for other files, and for one that is cut short, damaged, or larger than
    MOST_MEGAPIXELS. The size is checked in the header, before decoding.
    """
    if len(data) > MOST_BYTES:
        raise InputError(
            msg(
                "{where}: expected a picture of at most {n} MB, got {n2} MB",
                where=where,
                n=MOST_BYTES >> 20,
                n2=-(-len(data) >> 20),
            )
        )
    if data[4:8] == b"ftyp" and any(brand in data[8:64] for brand in HEIC_BRANDS):
        return _heic(data, where)
    width, height = file_size(data, where)
    _check_size(width, height, where)
    if data.startswith(JPEG):
        exif = jpeg_exif(data)
        image = decode_jpeg(data, where, shrink=2 if width * height > most_pixels() else 1)
    else:
        exif, image = png_exif(data), decode_png(data, where)
    return _photograph(upright(_bounded(image), exif), exif)


def _photograph(image: Image, exif: bytes) -> Photograph:
    height, width = image.shape[:2]
    return Photograph(np.ascontiguousarray(image), focal_px(exif, width, height))


def _bounded(image: Image) -> Image:
    """An image of at most `most_pixels` pixels."""
    return scale_down(image, max(1.0, (image.shape[0] * image.shape[1] / most_pixels()) ** 0.5))


def _check_size(width: int, height: int, where: str) -> None:
    if width * height > max(MOST_MEGAPIXELS * 1_000_000, most_pixels()):
        raise InputError(
            msg(
                "{where}: expected a picture of at most {n} megapixels, got {width} x {height} px;"
                " make it smaller",
                where=where,
                n=MOST_MEGAPIXELS,
                width=width,
                height=height,
            )
        )


def _heic(data: bytes, where: str) -> Photograph:
    try:
        import pillow_heif
    except ImportError as error:
        raise InputError(_without_heic(where)) from error
    try:
        opened = pillow_heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=True)
        width, height = opened.size
        _check_size(width, height, where)
        picture = opened[opened.primary_index]
        if picture.mode not in ("RGB", "RGBA"):
            raise InputError(
                msg("{where}: expected a picture in colour, got one without", where=where)
            )
        pixels = np.asarray(picture)[..., :3]
        exif = picture.info.get("exif")
    except InputError:
        raise
    except Exception as error:  # libheif's errors come as five kinds of exceptions
        raise damage_error(where) from error
    # libheif has already applied the rotation, which the file also states outside its EXIF data.
    return _photograph(_bounded(np.asarray(pixels, np.uint8)), _tiff(exif))


def _tiff(exif: object) -> bytes:
    """EXIF data from their TIFF header on; empty where there are none."""
    return exif.removeprefix(EXIF_START) if isinstance(exif, bytes) else b""


def _without_heic(where: str) -> Message:
    return msg(
        "{where}: HEIC pictures need pillow-heif: pip install 'rinkside[heic]'; or let the phone"
        " take JPEGs (iPhone: Settings, Camera, Formats, Most Compatible)",
        where=where,
    )
