"""Read images from files: one photograph, or a folder of frames named by their time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cv2

from table.errors import InputError
from table.files import read_bytes
from table.messages import msg, phrase
from table.table_config import Orientation, Setup
from vision.cameras.base import other_size
from vision.cameras.exif import jpeg_exif
from vision.cameras.frame import Frame, Image, swapped
from vision.cameras.jpeg import JPEG, damage_error, decode_jpeg, jpeg_size
from vision.cameras.orientation import exif_flag, half_turned, is_half_turned
from vision.cameras.png import PNG, decode_png, png_exif

MOST_DIGITS = 15
"""Most digits of a time in ms (30,000 years), so that JSON and 64-bit readers do not round it."""
_SUFFIXES = (".jpg", ".jpeg", ".png")
MOST_MEGAPIXELS = 13.0
"""Size limit of one image, unless RINKSIDE_MOST_MEGAPIXELS is set.  Reading one with another of the
empty table, and drawing the result, has to stay under 600 MB even for pure noise; phones have 12 or
more, the largest camera for the Raspberry Pi in common use 12.3.
"""
MOST_MEGAPIXELS_TOGETHER = 52.0
"""Size limit of all images of a folder that have to be in memory at once."""
MEGAPIXELS_NAME = "RINKSIDE_MOST_MEGAPIXELS"


def read_image(path: Path, setup: Setup | None = None) -> Frame:
    """Read a JPEG or PNG as a frame (seq 0, at 0 ms), rotated as `setup` says.

    Without `setup`, pixels stay as in the sensor.  Raises InputError for a file that cannot be
    read, is no image, is cut short or damaged, is rotated, is larger than MOST_MEGAPIXELS, or, with
    `setup`, is of another size than `table.json` says.  The size is checked in the file's header,
    before decoding.
    """
    data = _read(path)
    width, height = _size(data, str(path))
    if setup is not None and (wrong := other_size(width, height, setup)):
        raise InputError(msg("{path}: {text}", path=path, text=wrong))
    orientation = setup.camera.orientation if setup is not None else "sensor"
    return Frame(0, 0, decode_image(data, str(path), orientation))


def image_size(path: Path) -> tuple[int, int]:
    """Width and height of a JPEG or PNG by its header, without decoding it.

    Raises InputError as `read_image` does.
    """
    return _size(_read(path), str(path))


def read_pixels(path: Path, orientation: Orientation) -> Image:
    """The pixels of a JPEG or PNG file, R-G-B; raises InputError as `read_image` does."""
    return decode_image(_read(path), str(path), orientation)


def decode_image(data: bytes, where: str, orientation: Orientation = "sensor") -> Image:
    """Decode a JPEG or PNG to R-G-B; `where` names it in messages.

    Raises InputError as `read_image` does.
    """
    _size(data, where)
    exif, decode = (
        (jpeg_exif(data), decode_jpeg) if data.startswith(JPEG) else (png_exif(data), decode_png)
    )
    image = decode(data, where)
    return half_turned(image) if is_half_turned(*exif_flag(exif), orientation, where) else image


def most_pixels() -> int:
    """Largest number of pixels of an image.

    Raises InputError if RINKSIDE_MOST_MEGAPIXELS is not a number from 1 to 1000.
    """
    text = os.environ.get(MEGAPIXELS_NAME, "")
    try:
        megapixels = float(text) if text else MOST_MEGAPIXELS
    except ValueError:
        megapixels = 0.0
    if not 1 <= megapixels <= 1000:
        raise InputError(
            msg(
                "{raw}: expected a number of megapixels from 1 to 1000, got {raw2}",
                raw=MEGAPIXELS_NAME,
                raw2=repr(text),
            )
        )
    return round(megapixels * 1e6)


def _read(path: Path) -> bytes:
    return read_bytes(path, phrase("a picture"), 3 * most_pixels() + (1 << 20))


def _size(data: bytes, where: str) -> tuple[int, int]:
    """Width and height in the header.

    Raises InputError for other files than JPEG and PNG, and for an image with too many pixels.
    """
    size = file_size(data, where)
    check_pixels(*size, where)
    return size


def file_size(data: bytes, where: str) -> tuple[int, int]:
    """Width and height in the header, however large; raises InputError for other files."""
    sizes: dict[bytes, Callable[[bytes], tuple[int, int] | None]] = {
        JPEG: jpeg_size,
        PNG: _png_size,
    }
    size_of = next((size for start, size in sizes.items() if data.startswith(start)), None)
    if size_of is None:
        raise InputError(
            msg(
                "{where}: expected a picture (JPEG or PNG), got {text}",
                where=where,
                text=_other_kind(data),
            )
        )
    size = size_of(data)
    if size is None or 0 in size:
        raise damage_error(where)
    return size


def check_pixels(width: int, height: int, where: str) -> None:
    """Raise InputError for an image with too many pixels."""
    if width * height > (most := most_pixels()):
        raise InputError(
            msg(
                "{where}: expected a picture of at most {mm} megapixels ({raw}), got"
                " {width} x {height} px",
                where=where,
                mm=f"{most / 1e6:g}",
                raw=MEGAPIXELS_NAME,
                width=width,
                height=height,
            )
        )


def _other_kind(data: bytes) -> str:
    """Kind of a file that is neither JPEG nor PNG, and advice."""
    if not data:
        return phrase("an empty file")
    if data[4:8] == b"ftyp":
        if any(brand in data[8:64] for brand in (b"heic", b"heix", b"mif1", b"avif")):
            return phrase(
                "HEIC or AVIF; let the phone take JPEGs (iPhone: Settings, Camera,"
                " Formats, Most Compatible)"
            )
        return phrase("a video; give it as --camera video:FILE")
    known = {
        b"GIF8": "GIF",
        b"BM": "BMP",
        b"II*\0": "TIFF",
        b"MM\0*": "TIFF",
        b"RIFF": phrase("WebP or another RIFF file"),
    }
    kind = next((name for start, name in known.items() if data.startswith(start)), "")
    return phrase("{text}; save it as JPEG or PNG", text=kind) if kind else phrase("something else")


def encode_jpeg(image: Image, quality: int) -> bytes:
    """Encode an R-G-B image as JPEG without chroma subsampling (4:4:4); `quality` is 1 to 100.

    Pieces are found by their colour, so every pixel keeps its own.
    """
    words = [
        cv2.IMWRITE_JPEG_QUALITY,
        quality,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    ]
    done, data = cv2.imencode(".jpg", swapped(image), words)
    assert done
    return data.tobytes()


class FolderCamera:
    """Frames from the files of a folder, one by one, ordered by their names in milliseconds."""

    simulated = False

    def __init__(self, folder: Path, setup: Setup | None) -> None:
        """List the folder.

        Raises InputError if it does not exist, has no images, or one whose name is no unique time.
        """
        if not folder.is_dir():
            raise InputError(
                msg("camera: expected a folder of pictures, got {folder}", folder=folder)
            )
        self.name: str = phrase("folder {name}", name=folder.name)
        self._setup = setup
        self._closed = False
        self._seq = 0
        paths: dict[int, Path] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix.lower() not in _SUFFIXES or path.name.startswith("."):
                continue
            if not (
                path.stem.isascii()
                and path.stem.isdigit()
                and len(path.stem.lstrip("0")) <= MOST_DIGITS
            ):
                raise InputError(
                    msg(
                        "{path}: expected a file name in milliseconds such as"
                        " 000010250.jpg, with at most {n} digits",
                        path=path,
                        n=MOST_DIGITS,
                    )
                )
            if (at_ms := int(path.stem)) in paths:
                raise InputError(
                    msg(
                        "{path}: expected a unique time, but {name} has the same one",
                        path=path,
                        name=paths[at_ms].name,
                    )
                )
            paths[at_ms] = path
        if not paths:
            raise InputError(
                msg("{folder}: expected pictures such as 000010250.jpg, found none", folder=folder)
            )
        self._frames = sorted(paths.items())

    def read(self) -> Frame | None:
        """The next frame; None after the last.

        Raises InputError for a file that is broken or of the wrong size.
        """
        if self._closed:
            raise ValueError("the camera was closed")
        if self._seq == len(self._frames):
            return None
        at_ms, path = self._frames[self._seq]
        frame = Frame(self._seq, at_ms, read_image(path, self._setup).image)
        self._seq += 1
        return frame

    def close(self) -> None:
        """Stop reading."""
        self._closed = True


def open_camera(argument: str, setup: Setup | None) -> FolderCamera:
    """`folder:PATH`: every JPEG and PNG of a folder in order of time.

    File names are milliseconds, `000010250.jpg`.
    """
    return FolderCamera(Path(argument), setup)


def _png_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in the first chunk, IHDR; None where that is another.

    Source: PNG specification, 11.2.1.
    """
    if data[12:16] != b"IHDR" or len(data) < 24:
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
