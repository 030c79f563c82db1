"""First estimates of common cameras' lenses, from their makers' data sheets (lenses.toml).

They suffice as a start; messages say that they are only estimates.
"""

from __future__ import annotations

import functools
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from calibration.lens.file import load_lens
from table.errors import InputError
from table.files import quoted
from table.messages import NONE, in_a_row, msg, phrase
from table.table_config import Lens, rows_of

MIDDLE_SHARE = 0.01
"""Standard deviation of the principal point about the image centre, as a share of the image
width.
"""
SQUARE_SHARE = 0.001
"""Relative standard deviation of the difference between fx and fy."""


class KnownLens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A camera model.

    `modes` maps image sizes to the number of sensor pixels, across and down, per image pixel.
    """

    title: str
    pixel_um: float
    size_px: tuple[int, int]
    focal_mm: float
    focal_sigma_share: float
    modes: dict[str, int]
    model: Literal["pinhole", "fisheye"] = "pinhole"
    distortion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    distortion_sigma: tuple[float, float, float, float] = (0.08, 0.1, 0.001, 0.001)

    def lens(self, size_px: tuple[int, int]) -> Lens | None:
        """The lens for images of (width, height); None if their part of the sensor is unknown.

        It is known for the camera's modes, and for sizes in the sensor's own proportions, which are
        assumed to be the whole sensor scaled down.
        """
        width, height = size_px
        whole = width * self.size_px[1] == height * self.size_px[0] and width <= self.size_px[0]
        pixels = self.modes.get(f"{width}x{height}", self.size_px[0] / width if whole else None)
        if pixels is None:
            return None
        focal = 1000 * self.focal_mm / self.pixel_um / pixels
        sigma = np.array(
            [
                SQUARE_SHARE * focal,
                SQUARE_SHARE * focal,
                MIDDLE_SHARE * width,
                MIDDLE_SHARE * width,
                *self.distortion_sigma,
            ]
        )
        covariance = np.diag(sigma**2)
        covariance[:2, :2] += (self.focal_sigma_share * focal) ** 2
        return Lens(
            width=width,
            height=height,
            matrix=((focal, 0.0, width / 2 - 0.5), (0.0, focal, height / 2 - 0.5), (0.0, 0.0, 1.0)),
            distortion=self.distortion,
            model=self.model,
            covariance=rows_of(covariance),
            first_estimate=True,
        )


@functools.cache
def known_lenses() -> dict[str, KnownLens]:
    """All cameras of lenses.toml by name."""
    text = resources.files("calibration").joinpath("lenses.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, KnownLens])


def known_lens(name: str, size_px: tuple[int, int]) -> Lens:
    """The first estimate for a camera's images of (width, height).

    Raises InputError for an unknown camera or size.
    """
    if (known := known_lenses().get(name)) is None:
        raise InputError(
            msg(
                "--lens: expected the name of a camera ({raw}), got {raw2}",
                raw=", ".join(known_lenses()),
                raw2=quoted(name),
            )
        )
    if (lens := known.lens(size_px)) is None:
        sizes = in_a_row(
            [
                phrase(
                    "{raw} or smaller in the same proportions",
                    raw=f"{known.size_px[0]}x{known.size_px[1]}",
                ),
                *known.modes,
            ]
        )
        raise InputError(
            msg(
                "--size: expected a size of {raw} ({text}), got {raw2}; calibrate the lens"
                " for that size",
                raw=known.title,
                text=sizes,
                raw2=f"{size_px[0]}x{size_px[1]}",
            )
        )
    return lens


def lens_for(lens: str, size: str | None) -> Lens:
    """The lens of a user's input: a `lens.json`, or a camera and a size such as `2304x1296`.

    Raises InputError.
    """
    path = Path(lens)
    if path.suffix == ".json" or path.exists():
        if size is not None:
            raise InputError(
                msg(
                    "--size: expected only with the name of a camera; {name} has its own size",
                    name=path.name,
                )
            )
        return load_lens(path).camera
    if lens not in known_lenses():
        raise InputError(
            msg(
                "--lens: expected a lens.json, or one of {raw}, got {raw2}",
                raw=", ".join(known_lenses()),
                raw2=quoted(lens),
            )
        )
    numbers = re.fullmatch(r"([1-9]\d{1,4})x([1-9]\d{1,4})", size or "")
    if not numbers:
        usual = next(iter(known_lenses()[lens].modes))
        raise InputError(
            msg(
                "--size: expected the size of the camera's pictures, such as {raw}, got {text}",
                raw=usual,
                text=size or NONE,
            )
        )
    return known_lens(lens, (int(numbers[1]), int(numbers[2])))
