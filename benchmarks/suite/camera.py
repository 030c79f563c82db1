"""What a picture of the Raspberry Pi's camera costs while nothing moves on the table.

A double of rpicam-vid writes pictures of a still table to a pipe, ten a second: raw, as `rpicam:`
reads them, or as JPEGs, as it did before.  Measured is the processor time of this process, for the
camera alone and with the change gate that looks at every picture; that of rpicam-vid is not in it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import cv2
import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs
from simulation.generate.cases import resized
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.observation import Observation
from table.solids import upright
from table.table_config import Setup
from vision.cameras.base import CameraLost, CameraPort, open_camera
from vision.cameras.frame import Frame, Image
from vision.cameras.i420 import CHROMA, LUMA
from vision.cameras.image_files import encode_jpeg
from vision.cameras.live import LiveCamera, Picture
from vision.cameras.mjpeg import MjpegPictures
from vision.cameras.testing.fake_rpicam import PROGRAM, Behaviour, install
from vision.change_gate import Watch

WIDTH_PX, PERIOD_S = 1640, 0.1
SEED, GRAINS = 1, 3
"""A still table is drawn with the camera's noise so often, and these pictures shown in turn."""
PIECES = (("yellow", 300, 225), ("red", 250, 200), ("blue", 380, 260), ("red", 350, 160))
"""Colour and place in mm."""
QUALITY = 93
"""Of the JPEGs that `rpicam:` asked for before."""
WARM_FRAMES = 15
"""The table is read in the first of them."""
CHUNK = 1 << 16
AIM = 0.15
"""Of one core, at most, with raw pictures and the change gate."""
LOCKED = "--shutter 8000 --gain 2 --awbgains 1.9,1.6 --lens-position 1"


class JpegFeed:
    """Images from the standard output of a program that writes JPEGs one after the other."""

    def __init__(self) -> None:
        command = [PROGRAM, "--codec", "mjpeg", "--output", "-"]
        self._program = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._pictures = MjpegPictures(self._more, "sensor")

    def picture(self) -> Picture:
        return Picture(self._pictures.next())

    def close(self) -> None:
        self._program.kill()
        self._program.communicate()

    def _more(self) -> bytes:
        assert self._program.stdout is not None
        if not (chunk := self._program.stdout.read(CHUNK)):
            raise CameraLost("the double ended")
        return bytes(chunk)


def full_range_i420(image: Image) -> bytes:
    """R-G-B as I420 of the range that rpicam-vid writes."""
    rows = cv2.cvtColor(image, cv2.COLOR_RGB2YUV_I420)
    levels = np.arange(256)
    for part, (factor, offset) in ((rows[: len(image)], LUMA), (rows[len(image) :], CHROMA)):
        wide = (levels - offset) / factor
        cv2.LUT(part, wide.clip(0, 255).round().astype(np.uint8), dst=part)
    return np.asarray(rows).tobytes()


def still_setup() -> Setup:
    """The demo's table before a sensor of this width."""
    return resized(demo_setup(), WIDTH_PX)


def still_images(setup: Setup) -> Iterator[Image]:
    """A table with a few pieces, as the camera sees it again and again."""
    rng = np.random.default_rng(SEED)
    large = setup.pieces["large"]
    pieces = tuple(ScenePiece(upright(large, x, y, 0.0), colour) for colour, x, y in PIECES)
    renderer = Renderer(setup, demo_place())
    for _ in range(GRAINS):
        yield renderer.picture(Scene(demo_stage(SEED), pieces), rng)


@contextmanager
def camera_of(kind: str, setup: Setup) -> Iterator[CameraPort]:
    """A camera before the still table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, image in enumerate(still_images(setup)):
            data = full_range_i420(image) if kind == "raw" else encode_jpeg(image, QUALITY)
            (folder / f"{number}").write_bytes(data)
        pictures = tuple(str(folder / f"{number}") for number in range(GRAINS))
        size = (setup.camera.width, setup.camera.height)
        install(folder, Behaviour(size=size, pictures=pictures, period_s=PERIOD_S))
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{folder}:{path}"
        try:
            camera = (
                open_camera(f"rpicam:0 {LOCKED}", setup)
                if kind == "raw"
                else LiveCamera("JPEGs", JpegFeed, setup)
            )
            with closing(camera):
                yield camera
        finally:
            os.environ["PATH"] = path


def frame_ms(camera: CameraPort, look: Callable[[Frame], object], count: int) -> float:
    """Processor time of this process for a frame, in ms."""
    for turn in range(WARM_FRAMES + count):
        if turn == WARM_FRAMES:
            begun = time.process_time()
        frame = camera.read()
        assert frame is not None
        look(frame)
    return 1000 * (time.process_time() - begun) / count


class Cost(msgspec.Struct, frozen=True):
    """Processor time of a frame in ms, of the camera and with the change gate."""

    camera_ms: float
    gate_ms: float


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[int, "How long each kind is watched, twice."] = 20


class Row(msgspec.Struct, frozen=True):
    kind: str
    camera_ms: float
    gate_ms: float
    core: float
    """Share of one core, with the change gate."""


class Summary(msgspec.Struct, frozen=True):
    size: tuple[int, int]
    frames_per_s: float
    aim: float
    rows: tuple[Row, ...]


def cases(options: Options) -> Iterator[tuple[str, int]]:
    return ((kind, options.seconds) for kind in ("raw", "JPEG"))


def run(case: tuple[str, int]) -> Cost:
    kind, seconds = case
    setup, count = still_setup(), round(seconds / PERIOD_S)
    with camera_of(kind, setup) as camera:
        alone = frame_ms(camera, lambda _frame: None, count)
        watch = Watch()
        seen = watch(camera.read(), setup)
        assert isinstance(seen, Observation)
        assert len(seen.pieces) == len(PIECES)
        return Cost(alone, frame_ms(camera, lambda frame: watch(frame, setup), count))


def summarise(_options: Options, pairs: Pairs) -> Summary:
    lens = still_setup().camera
    rows = tuple(
        Row(kind, cost.camera_ms, cost.gate_ms, cost.gate_ms / 1000 / PERIOD_S)
        for (kind, _), cost in pairs
    )
    return Summary((lens.width, lens.height), 1 / PERIOD_S, AIM, rows)


def broken(summary: Summary) -> Iterator[str]:
    for row in summary.rows:
        if row.kind == "raw" and row.core > AIM:
            yield f"raw pictures take {row.core:.0%} of a core at rest, aim: {AIM:.0%}"


BENCHMARK = Benchmark("CAMERAS.md", cases, run, summarise, Options, section=True, broken=broken)
