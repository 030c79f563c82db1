"""Render the photograph of `rinkside measure --sample`: `make sample-photo`."""

from __future__ import annotations

import struct
from pathlib import Path

import msgspec

from calibration.photo_table import printed_mat
from simulation.photographs import PHONE_FILM_MM, draw_photograph
from table.files import write_whole
from table.json_data import JsonObject
from table.table_config import Setup
from vision.cameras.exif import EXIF_DIRECTORY, EXIF_START, FOCAL_35MM, LONG, SHORT
from vision.cameras.image_files import encode_jpeg

PATH = Path(__file__).parents[1] / "calibration" / "data" / "mat.jpg"
SEED, QUALITY = 2, 85


def mat_in_play() -> Setup:
    """The printed mat with medium pieces of two players, and a yellow target."""
    mat = printed_mat()
    game = msgspec.structs.replace(
        mat.game, colours=("red", "blue"), target="yellow", sizes=("medium",)
    )
    return msgspec.structs.replace(mat, game=game)


def mat_jpeg() -> tuple[bytes, JsonObject]:
    """The photograph as a JPEG with EXIF data, and its ground truth."""
    photograph = draw_photograph(mat_in_play(), SEED)
    jpeg = encode_jpeg(photograph.image, QUALITY)
    return with_focal(jpeg, PHONE_FILM_MM), photograph.truth


def with_focal(jpeg: bytes, film_mm: int) -> bytes:
    """A JPEG with a 35 mm equivalent focal length in its EXIF data."""
    first, second = 8, 8 + 2 + 12 + 4
    tiff = b"II*\0" + struct.pack("<I", first)
    tiff += struct.pack("<HHHIII", 1, EXIF_DIRECTORY, LONG, 1, second, 0)
    tiff += struct.pack("<HHHIII", 1, FOCAL_35MM, SHORT, 1, film_mm, 0)
    body = EXIF_START + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    write_whole(PATH, mat_jpeg()[0])
    print(PATH)
