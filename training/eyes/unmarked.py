"""The network on a photograph without fiducials: its detections, counted and drawn.

The camera was fitted by hand. `python -m training.eyes.unmarked NETWORK PICTURE CAMERA.json --out
seen.png`; CAMERA.json has `f` in pixels, and `R` and `t` (x_camera = R x_table + t, mm). `lo` and
`hi` are the corners of the part of the table to be read. These pictures are only inspected and
counted.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np
import torch

from table.observation import Camera
from table.pieces import COLOURS, PieceSize, load_piece_set
from table.solids import EDGES, Array
from table.table_config import Lens
from training.eyes.detections import detections
from training.eyes.evaluate import REPORTED_CHANCE
from training.eyes.photos import Look, PlacedDetection, look_at, place_detection
from vision.cameras.frame import Image
from vision.cameras.image_files import read_pixels
from vision.geometry.camera_model import project
from vision.geometry.srgb import linear

WHITE_PERCENT = 98.0
"""Percentile of light that counts as white, because there is no paper."""


@dataclass(frozen=True)
class Set:
    """Known properties of the pieces."""

    camera: Lens
    sizes: tuple[PieceSize, ...]
    colours: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Unmarked:
    """A photograph for `photos.look_at`."""

    image: Image
    camera: Camera
    setup: Set
    area_mm: tuple[Array, Array]

    def pixels(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of table points (n, 3)."""
        return project(points_mm, self.camera, self.setup.camera)

    @property
    def paper(self) -> Array:
        """Linear light (3,) that is taken for white."""
        return np.full(3, np.percentile(linear(self.image), WHITE_PERCENT))


def read(picture: Path, camera: Path, colours: tuple[str, ...]) -> Unmarked:
    """A photograph and its camera."""
    image = read_pixels(picture, "sensor")
    fitted = json.loads(camera.read_text())
    h, w = image.shape[:2]
    matrix = ((fitted["f"], 0.0, (w - 1) / 2), (0.0, fitted["f"], (h - 1) / 2), (0.0, 0.0, 1.0))
    lens = Lens(width=w, height=h, matrix=matrix, distortion=(0.0,) * 5)
    place = Camera(np.array(fitted["R"]), np.array(fitted["t"]), np.zeros((6, 6)), 0.0, ())
    area = (np.array(fitted["lo"]), np.array(fitted["hi"]))
    return Unmarked(image, place, Set(lens, load_piece_set("looney").sizes, colours), area)


def detections_in(photo: Unmarked, network: Any) -> tuple[Look, list[PlacedDetection]]:
    """The network's detections, placed on the table."""
    look = look_at(photo, None)
    network.setInput(look.picture, "image")
    reported = detections(torch.from_numpy(network.forward("answer")), REPORTED_CHANCE)[0]
    return look, [place_detection(one, look, photo) for one in reported if one.best[0] == 0]


def draw_detections(photo: Unmarked, look: Look, output: list[PlacedDetection]) -> Image:
    """The photograph, three times as large, with the detections."""
    picture = cv2.resize(photo.image, None, fx=3, fy=3, interpolation=cv2.INTER_CUBIC)
    for one in output:
        points = np.rint((look.pixels(one.find.points) + 0.5) * 3 - 0.5).astype(int)
        for i, j in EDGES:
            cv2.line(picture, points[i].tolist(), points[j].tolist(), (255, 0, 0), 1, cv2.LINE_AA)
        words = f"{one.colour[:2]} {one.size[:1]} {one.pose[:2]} {one.find.best[1]:.2f}"
        place = points[4].tolist()
        cv2.putText(picture, words, place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    return np.asarray(picture, np.uint8)


@click.command()
@click.argument("network", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("picture", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("camera", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--colour", "colours", multiple=True, default=COLOURS, help="Colours in play.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Draw it there.")
def main(
    network: Path, picture: Path, camera: Path, colours: tuple[str, ...], out: Path | None
) -> None:
    """What NETWORK sees on PICTURE, by colour, size and pose."""
    photo = read(picture, camera, colours)
    look, output = detections_in(photo, cv2.dnn.readNetFromONNX(str(network)))
    counts = Counter((one.colour, one.size, one.pose) for one in output)
    for kind, count in sorted(counts.items()):
        print(count, *kind)
    if out:
        cv2.imwrite(str(out), draw_detections(photo, look, output)[..., ::-1])


if __name__ == "__main__":
    main()
