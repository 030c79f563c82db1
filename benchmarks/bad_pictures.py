"""Degraded pictures of a table, each kind at several strengths, with the true camera place.

The place is the one after the change. Blur, exposure and glare act on linear light, as in a camera.
Every change takes a random generator; the same seed gives the same picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from simulation.generate.cases import resized
from table.observation import Camera
from table.solids import Array
from table.table_config import Lens, Marker, Setup
from vision.cameras.frame import Image, swapped
from vision.geometry.camera_model import on_plane, project
from vision.geometry.srgb import Light, linear


@dataclass(frozen=True, slots=True, eq=False)
class TakenPicture:
    """A picture (h, w, 3), the table and lens it shows, and where its camera truly is."""

    image: Image
    setup: Setup
    camera: Camera

    def corners_px(self, marker: Marker, times: float = 1.0) -> Array:
        """Corners (4, 2) of a square about a marker, so many times as large."""
        around = marker.around_mm(times)
        return project(
            np.column_stack([around, np.full(4, self.setup.fiducials.z_mm)]),
            self.camera,
            self.setup.camera,
        )


def off_mm(camera: Camera, taken: TakenPicture) -> float:
    """Largest error, in mm, at which a found camera sees a corner of the play area."""
    outline = taken.setup.outline_mm()
    there = project(
        np.column_stack([outline, np.zeros(len(outline))]), taken.camera, taken.setup.camera
    )
    return float(
        np.linalg.norm(on_plane(there, camera, taken.setup.camera) - outline, axis=1).max()
    )


Change = Callable[[TakenPicture, np.random.Generator], TakenPicture]


_STEPS = 16383
_LIGHT = np.linspace(0, 1, _STEPS + 1)
_ENCODE = np.rint(
    255 * np.where(_LIGHT <= 0.0031308, 12.92 * _LIGHT, 1.055 * _LIGHT ** (1 / 2.4) - 0.055)
).astype(np.uint8)


def encode_srgb(light: Light) -> Image:
    """Linear light 0..1 as sRGB levels (IEC 61966-2-1); clipped."""
    return np.asarray(
        np.take(_ENCODE, np.clip(_STEPS * light + 0.5, 0, _STEPS).astype(np.uint16)), np.uint8
    )


def with_light(taken: TakenPicture, change: Callable[[Light], Light]) -> TakenPicture:
    """The picture with its linear light (h, w, 3) changed."""
    return replace(taken, image=encode_srgb(np.asarray(change(linear(taken.image)), np.float32)))


def unchanged(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
    return taken


def motion_blur(length_px: float) -> Change:
    """The camera moves evenly along a line while the shutter is open, in any direction."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        kernel = _path_kernel(_line(length_px, float(rng.uniform(0, np.pi))))
        return with_light(
            taken, lambda light: np.asarray(cv2.filter2D(light, -1, kernel), np.float32)
        )

    return change


def shake_blur(length_px: float) -> Change:
    """The camera trembles along a crooked path of three parts, each as long."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        first = float(rng.uniform(0, 2 * np.pi))
        turns = first + np.concatenate([[0.0], np.cumsum(rng.uniform(-2.0, 2.0, 2))])
        ends = np.cumsum(
            [[0.0, 0.0], *(length_px * np.column_stack([np.cos(turns), np.sin(turns)]))], axis=0
        )
        path = np.concatenate(
            [
                start + np.linspace(0, 1, 40)[:, None] * (end - start)
                for start, end in pairwise(ends)
            ]
        )
        kernel = _path_kernel(path - path.mean(axis=0))
        return with_light(
            taken, lambda light: np.asarray(cv2.filter2D(light, -1, kernel), np.float32)
        )

    return change


def roll_blur(degrees: float) -> Change:
    """The camera rolls about its axis by so much while the shutter is open."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        lens = taken.setup.camera
        centre = (lens.matrix[0][2], lens.matrix[1][2])

        def turn(light: Light) -> Light:
            angles = np.linspace(-degrees / 2, degrees / 2, 15)
            turned = [
                cv2.warpAffine(
                    light, cv2.getRotationMatrix2D(centre, angle, 1.0), light.shape[1::-1]
                )
                for angle in angles
            ]
            return np.asarray(np.mean(turned, axis=0), np.float32)

        return with_light(taken, turn)

    return change


def defocus(radius_px: float) -> Change:
    """Out of focus: light of a point spreads over a disc."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        reach = int(np.ceil(radius_px)) + 1
        fine = np.linspace(-reach - 0.5, reach + 0.5, 8 * (2 * reach + 1) + 1)
        fine = (fine[1:] + fine[:-1]) / 2
        inside = (fine[:, None] ** 2 + fine[None] ** 2 <= radius_px**2).astype(np.float32)
        kernel = inside.reshape(2 * reach + 1, 8, 2 * reach + 1, 8).sum(axis=(1, 3))
        return with_light(
            taken,
            lambda light: np.asarray(cv2.filter2D(light, -1, kernel / kernel.sum()), np.float32),
        )

    return change


def add_noise(levels: float) -> Change:
    """Noise of so many levels, 1 sigma, independent in each pixel and colour."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        noise = levels * rng.standard_normal(taken.image.shape, dtype=np.float32)
        return replace(
            taken, image=np.asarray(np.clip(np.rint(taken.image + noise), 0, 255), np.uint8)
        )

    return change


def shrink(width_px: int) -> Change:
    """A picture of so many pixels across, with a lens that says so."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        setup = resized(taken.setup, width_px)
        size = setup.camera.width, setup.camera.height
        # Width and height are rounded: the picture is sampled where the lens has its pixels.
        scale = setup.camera.width / taken.setup.camera.width
        smooth = cv2.GaussianBlur(taken.image, (0, 0), 0.4 / scale) if scale < 1 else taken.image
        matrix = np.array([[1 / scale, 0, 0.5 / scale - 0.5], [0, 1 / scale, 0.5 / scale - 0.5]])
        image = cv2.warpAffine(
            smooth,
            matrix,
            size,
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return TakenPicture(np.asarray(image, np.uint8), setup, taken.camera)

    return change


def recompress(quality: int) -> Change:
    """Packed as JPEG once more."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        _, data = cv2.imencode(".jpg", swapped(taken.image), [cv2.IMWRITE_JPEG_QUALITY, quality])
        return replace(
            taken, image=swapped(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8))
        )

    return change


def set_exposure(times: float, glow: float = 0.0) -> Change:
    """Exposure `times` as high, clipped; the share `glow` of light spreads around bright places.

    Less light has more noise.
    """

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        def expose(light: Light) -> Light:
            more = np.asarray(times * light, np.float32)
            if glow:
                more = (1 - glow) * more + glow * np.asarray(
                    cv2.GaussianBlur(more, (0, 0), 6.0), np.float32
                )
            grain = (
                rng.standard_normal(light.shape, dtype=np.float32) if times < 1 else np.float32(0)
            )
            return np.asarray(more + 0.004 * grain, np.float32)

        return with_light(taken, expose)

    return change


def add_glare(spots: int) -> Change:
    """Lamps mirrored in the cards: bright spots on the borders of so many fiducials."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        shine = np.zeros(taken.image.shape[:2], np.float32)
        v, u = np.mgrid[: shine.shape[0], : shine.shape[1]].astype(np.float32)
        for marker in _some_markers(taken, spots, rng):
            quad = taken.corners_px(marker)
            side = float(np.linalg.norm(quad[1] - quad[0]))
            corner = int(rng.integers(4))
            x, y = quad[corner] + rng.uniform(0, 1) * (quad[(corner + 1) % 4] - quad[corner])
            size = side * rng.uniform(0.12, 0.35)
            shine += 1.5 * np.exp(-((u - x) ** 2 + (v - y) ** 2) / (2 * size**2))
        return with_light(taken, lambda light: np.asarray(light + shine[..., None], np.float32))

    return change


def cover_markers(by: str, markers: int) -> Change:
    """Something lies over a part of so many fiducials: a hand, a sheet of paper or a piece."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        image = taken.image.copy()
        for marker in _some_markers(taken, markers, rng):
            quad = taken.corners_px(marker)
            middle, side = quad.mean(axis=0), float(np.linalg.norm(quad[1] - quad[0]))
            angle = float(rng.uniform(0, 2 * np.pi))
            out, along = (
                np.array([np.cos(angle), np.sin(angle)]),
                np.array([-np.sin(angle), np.cos(angle)]),
            )
            near = middle + side * rng.uniform(0.25, 0.6) * out
            if by == "piece":
                shape = near + side * np.array([[0, 0], [0.5, 0.35], [0.5, -0.35]]) @ np.array(
                    [out, along]
                )
            else:
                width, length = (0.7, 3.0) if by == "hand" else (1.6, 2.2)
                shape = near + side * np.array(
                    [[0, -width], [length, -width], [length, width], [0, width]]
                ) @ np.array([out, along])
            colour = {"hand": (168, 122, 98), "paper": (236, 234, 228), "piece": (150, 30, 28)}[by]
            cv2.fillConvexPoly(image, np.rint(16 * shape).astype(np.int32), colour, cv2.LINE_AA, 4)
        return replace(taken, image=image)

    return change


def smear_lens(share: float) -> Change:
    """Grease on the lens: in a part of the picture so much of the light is spread widely."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        height, width = taken.image.shape[:2]
        centre = rng.uniform(0, 1, 2) * [width, height]
        v, u = np.mgrid[:height, :width].astype(np.float32)
        away = np.hypot(u - centre[0], v - centre[1]) / (0.35 * width)
        mask = (share / (1 + np.exp((away - 1) / 0.1)))[..., None]
        angle = float(rng.uniform(0, np.pi))
        kernel = _path_kernel(_line(0.02 * width, angle))

        def smear(light: Light) -> Light:
            return np.asarray(
                (1 - mask) * light + mask * cv2.filter2D(light, -1, kernel), np.float32
            )

        return with_light(taken, smear)

    return change


def add_shadows(bars: int) -> Change:
    """So many bars of shadow with soft edges across the table."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        height, width = taken.image.shape[:2]
        v, u = np.mgrid[:height, :width].astype(np.float32)
        angle, phase, soft = (
            float(rng.uniform(0, np.pi)),
            float(rng.uniform(0, 1)),
            float(rng.uniform(0.02, 0.2)),
        )
        wave = np.sin(2 * np.pi * (bars * (u * np.cos(angle) + v * np.sin(angle)) / width + phase))
        shade = 1 - 0.75 / (1 + np.exp(-wave / soft))
        return with_light(taken, lambda light: np.asarray(light * shade[..., None], np.float32))

    return change


def rotate(quarters: int) -> Change:
    """The camera is held turned by so many quarters, and its lens with it."""

    def change(taken: TakenPicture, _: np.random.Generator) -> TakenPicture:
        for _quarter in range(quarters):
            taken = _rotate_quarter(taken)
        return taken

    return change


def bend_card(share: float) -> Change:
    """One side of a card stands up.

    In the picture it is displaced by `share` of the marker's side.
    """

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        marker = _some_markers(taken, 1, rng)[0]
        quad = taken.corners_px(marker, 1.5).astype(np.float32)
        side = float(np.linalg.norm(quad[1] - quad[0])) / 1.5
        angle, first = float(rng.uniform(0, 2 * np.pi)), int(rng.integers(4))
        lifted = quad.copy()
        lifted[[first, (first + 1) % 4]] += (
            share * side * np.array([np.cos(angle), np.sin(angle)], np.float32)
        )
        return replace(taken, image=_paste(taken.image, taken.image, quad, lifted))

    return change


def show_on_screen(scale: float, tilt: float = 0.06) -> Change:
    """A telephone lies somewhere in view and shows the picture itself, so many times as large."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        height, width = taken.image.shape[:2]
        whole = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        angle = float(rng.uniform(-np.pi, np.pi))
        turn = scale * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        screen = (whole - whole.mean(axis=0)) @ turn * (1 + tilt * rng.uniform(-1, 1, (4, 1)))
        low, high = -screen.min(axis=0), np.array([width, height]) - screen.max(axis=0)
        screen = np.asarray(
            screen + (rng.uniform(low, high) if (low < high).all() else (low + high) / 2),
            np.float32,
        )
        frame = screen.mean(axis=0) + 1.08 * (screen - screen.mean(axis=0))
        image = taken.image.copy()
        cv2.fillConvexPoly(
            image, np.rint(16 * frame).astype(np.int32), (12, 12, 14), cv2.LINE_AA, 4
        )
        source = cv2.GaussianBlur(taken.image, (0, 0), 0.4 / scale)
        return replace(taken, image=_paste(image, np.asarray(source, np.uint8), whole, screen))

    return change


def chain(*changes: Change) -> Change:
    """One change after the other."""

    def change(taken: TakenPicture, rng: np.random.Generator) -> TakenPicture:
        for one in changes:
            taken = one(taken, rng)
        return taken

    return change


KINDS: dict[str, dict[str, Change]] = {
    "as it is": {"": unchanged},
    "moved while exposed": {f"{px} px": motion_blur(px) for px in (3, 5, 8, 12)},
    "shaken": {f"{px} px": shake_blur(px) for px in (2, 4, 6)},
    "rolled while exposed": {f"{deg}°": roll_blur(deg) for deg in (0.4, 1.0)},
    "out of focus": {f"{px} px": defocus(px) for px in (2, 4, 6, 9)},
    "noise": {f"{levels} levels": add_noise(levels) for levels in (10, 25, 50)},
    "small": {f"{px} px wide": shrink(px) for px in (820, 640, 480, 400)},
    "small and moved": {
        f"{px} px wide, {by} px": chain(shrink(px), motion_blur(by))
        for px, by in ((820, 3), (820, 5), (640, 3), (640, 5))
    },
    "small and out of focus": {
        f"640 px wide, {px} px": chain(shrink(640), defocus(px)) for px in (1.5, 3)
    },
    "JPEG": {f"quality {quality}": recompress(quality) for quality in (50, 20, 8)},
    "too bright": {"x 2": set_exposure(2.0, 0.1), "x 4": set_exposure(4.0, 0.2)},
    "too dark": {"x 0.15": set_exposure(0.15), "x 0.05": set_exposure(0.05)},
    "glare": {f"{spots} spots": add_glare(spots) for spots in (1, 2, 4)},
    "covered in part": {
        f"{by}, {count}": cover_markers(by, count)
        for by in ("hand", "paper", "piece")
        for count in (1, 2)
    },
    "smeared lens": {f"{share:.0%}": smear_lens(share) for share in (0.4, 0.8)},
    "bars of shadow": {f"{bars}": add_shadows(bars) for bars in (3, 8)},
    "turned": {f"{90 * quarters}°": rotate(quarters) for quarters in (1, 2, 3)},
    "bent card": {f"{share:.0%} of a side": bend_card(share) for share in (0.02, 0.05, 0.1)},
    "on a screen too": {f"x {scale}": show_on_screen(scale) for scale in (0.3, 0.4, 0.5)},
    "several": {
        "moved, noisy": chain(motion_blur(5), add_noise(20)),
        "small, dark, packed": chain(shrink(820), set_exposure(0.2), recompress(40)),
        "moved, covered": chain(cover_markers("hand", 2), motion_blur(6)),
        "smeared, bright": chain(smear_lens(0.6), set_exposure(2.0, 0.1)),
        "screen, moved": chain(show_on_screen(0.4), motion_blur(4)),
        "out of focus, shadow": chain(add_shadows(4), defocus(4)),
    },
}
"""Changes by kind and strength."""


def _line(length_px: float, angle: float) -> Array:
    return np.linspace(-length_px / 2, length_px / 2, 200)[:, None] * np.array(
        [np.cos(angle), np.sin(angle)]
    )


def _path_kernel(path: Array) -> NDArray[np.float32]:
    """What a path (n, 2) about the middle spreads a point's light over, as a kernel of sum 1."""
    reach = int(np.ceil(np.abs(path).max())) + 1
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    for x, y in path + reach:
        column, row = int(x), int(y)
        right, down = x - column, y - row
        kernel[row : row + 2, column : column + 2] += np.outer([1 - down, down], [1 - right, right])
    # cv2.filter2D correlates; a path seen backwards spreads light the same way.
    return np.asarray(kernel[::-1, ::-1] / kernel.sum(), np.float32)


def _some_markers(taken: TakenPicture, count: int, rng: np.random.Generator) -> list[Marker]:
    markers = taken.setup.fiducials.markers
    return [markers[index] for index in rng.permutation(len(markers))[: min(count, len(markers))]]


def _paste(
    image: Image, source: Image, quad: NDArray[np.floating], to: NDArray[np.floating]
) -> Image:
    """The part of a source inside `quad` (4, 2) drawn over the image inside `to`."""
    warp = cv2.getPerspectiveTransform(np.asarray(quad, np.float32), np.asarray(to, np.float32))
    drawn = cv2.warpPerspective(
        source, warp, image.shape[1::-1], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    mask = np.zeros(image.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.rint(16 * to).astype(np.int32), 255, cv2.LINE_8, 4)
    return np.where(mask[..., None] > 0, np.asarray(drawn, np.uint8), image)


def _rotate_quarter(taken: TakenPicture) -> TakenPicture:
    """The picture turned clockwise by 90°: pixel (u, v) goes to (height - 1 - v, u)."""
    lens, camera = taken.setup.camera, taken.camera
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    k1, k2, p1, p2, *more = lens.distortion
    distortion = lens.distortion if lens.model == "fisheye" else (k1, k2, p2, -p1, *more)
    matrix = ((fy, 0.0, lens.height - 1 - cy), (0.0, fx, cx), last)
    other: Lens = msgspec.structs.replace(
        lens, width=lens.height, height=lens.width, matrix=matrix, distortion=distortion
    )
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    there = replace(
        camera, rotation=turn @ camera.rotation, translation_mm=turn @ camera.translation_mm
    )
    image = np.asarray(cv2.rotate(taken.image, cv2.ROTATE_90_CLOCKWISE), np.uint8)
    return TakenPicture(image, msgspec.structs.replace(taken.setup, camera=other), there)
