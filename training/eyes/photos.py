"""The network on real photographs: `python -m training.eyes.photos NETWORK FOLDER...`.

The photographs are of tables with known truth; nothing is trained or tuned on them. The camera is
located as in the product. A detection is placed on the table by its corners alone, without the
product's fit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import click
import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from table.observation import Camera
from table.pieces import COLOURS, PieceSize
from table.solids import POSES, Array
from table.table_config import Lens, load_table
from training.eyes.cameras import scale_and_lean
from training.eyes.detections import COUNTER, Detection, detections
from training.eyes.evaluate import REPORTED_CHANCE, SURE, SURELY_THERE, UNITS, share_of, spread_of
from training.eyes.model import SCALE_MM, SCALE_PX, WHOLE
from vision.cameras.frame import Image
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import on_plane
from vision.geometry.rectified_view import Photo
from vision.localization.fiducials import locate
from vision.networks.detector import encode_light

BASE_PX = 18.0
"""Pixels per base of the smallest piece in play, at the middle of the table."""
EVERY_PX = 8
"""Step, in pixels, at which the view channels are computed."""
SAME_MM, SAME_COUNTER_MM = 15.0, 8.0
"""Largest distance between a piece or counter and its reading, as in the scorer of the photographs.
"""


class HasPixels(Protocol):
    """A camera that projects table points."""

    def pixels(self, points_mm: Array) -> Array: ...


class InPlay(Protocol):
    """Known lens and pieces."""

    @property
    def camera(self) -> Lens: ...
    @property
    def sizes(self) -> tuple[PieceSize, ...]: ...
    @property
    def colours(self) -> tuple[str, ...]: ...


class Shows(HasPixels, Protocol):
    """A photograph for `look_at`."""

    @property
    def image(self) -> Image: ...
    @property
    def camera(self) -> Camera: ...
    @property
    def setup(self) -> InPlay: ...
    @property
    def area_mm(self) -> tuple[Array, Array]: ...
    @property
    def paper(self) -> Array: ...


class Look(NamedTuple):
    """A network input cut from a photograph.

    `picture` is (1, CHANNELS_IN, h, w). `start` (2,) is the place of its pixel (0, 0) in the
    photograph. `zoom` is its pixels per pixel of the photograph.
    """

    picture: NDArray[np.float32]
    start: Array
    zoom: float

    def pixels(self, places: Array) -> Array:
        """Pixels (n, 2) of the photograph."""
        return np.asarray((places + 0.5) / self.zoom - 0.5 + self.start)


def look_at(photo: Shows, empty: NDArray[np.uint8] | None) -> Look:
    """The network's input for a photograph.

    It includes a picture of the empty table from the same place if there is one.
    """
    low, high = photo.area_mm
    edge = np.linspace(0, 1, 9)[:, None]
    corners = [low, np.array([high[0], low[1]]), high, np.array([low[0], high[1]])]
    outline = np.concatenate(
        [a + (b - a) * edge for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    )
    raised = [np.column_stack([outline, np.full(len(outline), z)]) for z in (0.0, 45.0)]
    seen = photo.pixels(np.concatenate(raised))
    h, w = photo.image.shape[:2]
    start = np.floor(np.clip(seen.min(axis=0), 0, [w - 64, h - 64]))
    stop = np.ceil(np.clip(seen.max(axis=0), start + 64, [w, h]))
    zoom = (
        BASE_PX
        / min(size.base_mm for size in photo.setup.sizes)
        / scale_at(photo, (low + high)[None] / 2)[0][0]
    )
    zoom = min(zoom, 2.0)
    x0, y0, x1, y1 = (int(v) for v in (*start, *stop))
    size = tuple(int(np.ceil(side * zoom / WHOLE) * WHOLE) for side in (x1 - x0, y1 - y0))
    shown = _scaled(encode_light(photo.image[y0:y1, x0:x1], photo.paper), zoom, size)
    difference, known = np.zeros_like(shown), np.zeros((*shown.shape[:2], 1), np.float32)
    if empty is not None:
        difference = shown - _scaled(encode_light(empty[y0:y1, x0:x1], photo.paper), zoom, size)
        known += 1.0
    look = Look(np.zeros((0,), np.float32), start, zoom)
    camera_channels = _view(photo, look, size)
    channels = np.concatenate([shown, difference, known, camera_channels], axis=2).transpose(
        2, 0, 1
    )[None]
    return look._replace(picture=np.ascontiguousarray(channels, np.float32))


def _scaled(code: NDArray[np.uint8], zoom: float, size: tuple[int, ...]) -> NDArray[np.float32]:
    """A picture (h, w, 3), 0..1, at another scale, with its border repeated up to a size (w, h)."""
    w, h = (
        min(side, round(there * zoom)) for side, there in zip(size, code.shape[1::-1], strict=True)
    )
    how = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
    small = cv2.resize(code, (w, h), interpolation=how).astype(np.float32) / 255
    return np.asarray(
        cv2.copyMakeBorder(small, 0, size[1] - h, 0, size[0] - w, cv2.BORDER_REPLICATE), np.float32
    )


def scale_at(photo: HasPixels, places: Array) -> tuple[Array, Array]:
    """Pixels of the photograph per millimetre (n,) and the lean (n, 2) at table points (n, 2)."""
    points = np.column_stack([places, np.zeros(len(places))])
    steps = [photo.pixels(points + step) - photo.pixels(points - step) for step in 0.5 * np.eye(3)]
    scale, lean = scale_and_lean(torch.from_numpy(np.stack(steps, axis=-1)))
    return scale.numpy(), lean.numpy()


def _view(photo: Shows, look: Look, size: tuple[int, ...]) -> NDArray[np.float32]:
    """The lean and the scale (h, w, 3) of every pixel of a picture of a size (w, h)."""
    columns, rows = (np.arange(EVERY_PX / 2, side, EVERY_PX) - 0.5 for side in size)
    x, y = np.meshgrid(columns, rows)
    pixels = look.pixels(np.column_stack([x.ravel(), y.ravel()]))
    scale, lean = scale_at(photo, on_plane(pixels, photo.camera, photo.setup.camera))
    channels = np.column_stack([lean, np.log(scale * look.zoom * SCALE_MM / SCALE_PX)]).reshape(
        len(rows), len(columns), 3
    )
    return np.asarray(
        cv2.resize(channels.astype(np.float32), size, interpolation=cv2.INTER_LINEAR), np.float32
    )


class PlacedDetection(NamedTuple):
    """A piece with its place on the table."""

    find: Detection
    pose: str
    base_mm: Array
    tip_mm: Array
    heading_deg: float
    middle_mm: Array
    size: str
    colour: str
    colour_chance: float


def place_detection(find: Detection, look: Look, photo: Shows) -> PlacedDetection:
    """A detection on the table, in the sizes and colours in play."""
    lens, camera, setup = photo.setup.camera, photo.camera, photo.setup
    pixels = look.pixels(find.points)
    pose = POSES[int(find.poses.argmax())]
    scale = (
        scale_at(photo, on_plane(look.pixels(find.points[:4].mean(axis=0)[None]), camera, lens))[0][
            0
        ]
        * look.zoom
    )
    names = sorted(setup.sizes, key=lambda size: abs(np.log(size.base_mm * scale / find.base_px)))
    down = on_plane(pixels, camera, lens)
    feet = down[:4] if pose == "upright" else down[1:3]
    base, tip = feet.mean(axis=0), down[4]
    way = down[1] - down[0] if pose == "upright" else tip - base
    chances = np.array([find.colours[COLOURS.index(name)] for name in setup.colours])
    middle = base if pose == "upright" else np.vstack([feet, tip]).mean(axis=0)
    heading = float(np.degrees(np.arctan2(way[1], way[0])))
    best = int(chances.argmax())
    return PlacedDetection(
        find,
        pose,
        base,
        base if pose == "upright" else tip,
        heading,
        middle,
        names[0].name,
        setup.colours[best],
        float(chances[best] / chances.sum()),
    )


def rows_of_case(case: Path, network: Any, with_empty: bool = False) -> list[dict[str, Any]]:
    """One row for each piece or counter of a case that is present or detected."""
    setup = load_table(case / "table.json")
    image = read_image(case / "image.jpg", setup).image
    camera = locate(image, setup)
    truth = json.loads((case / "truth.json").read_text())
    kind = case.name.rsplit("-", 1)[0]
    if not isinstance(camera, Camera):
        return [{"case": case.name, "kind": kind, "there": True} for _ in truth["pieces"]]
    photo = Photo(image, camera, setup)
    empty = (
        read_image(case / "empty.jpg", setup).image
        if with_empty and (case / "empty.jpg").exists()
        else None
    )
    look = look_at(photo, empty)
    network.setInput(look.picture, "image")
    reported = detections(torch.from_numpy(network.forward("answer")))[0]
    outline = setup.outline_mm()
    said = [
        place_detection(one, look, photo)
        for one in reported
        if one.best[0] == 0 and one.best[1] > REPORTED_CHANCE
    ]
    said = [one for one in said if _is_within(outline, one.middle_mm)]
    rows = _piece_rows(truth["pieces"], said)
    rows += _counter_rows(truth.get("counters") or [], reported, look, photo, outline)
    return [{"case": case.name, "kind": kind, **row} for row in rows]


def _is_within(outline: Array, place: Array) -> bool:
    return (
        cv2.pointPolygonTest(
            outline.astype(np.float32)[:, None], (float(place[0]), float(place[1])), True
        )
        > -2.0
    )


def _piece_rows(there: list[dict[str, Any]], said: list[PlacedDetection]) -> list[dict[str, Any]]:
    middles = [np.mean(one["footprint_mm"], axis=0) for one in there]
    far = np.array(
        [[np.hypot(*(one.middle_mm - middle)) for one in said] for middle in middles]
    ).reshape(len(there), len(said))
    pairs = [
        (i, j)
        for i, j in zip(*linear_sum_assignment(np.minimum(far, 1e3)), strict=True)
        if far[i, j] < SAME_MM
    ]
    rows = []
    for i, true in enumerate(there):
        match = [said[j] for k, j in pairs if k == i]
        rows.append({"there": True, **(_match_row(true, match[0]) if match else {})})
    rows += [
        {"there": False, "sure": _is_sure(one)}
        for j, one in enumerate(said)
        if j not in {j for _, j in pairs}
    ]
    return rows


def _is_sure(one: PlacedDetection) -> bool:
    return bool(
        one.find.best[1] >= SURELY_THERE
        and one.find.poses.max() >= SURE
        and one.colour_chance >= SURE
    )


def _match_row(true: dict[str, Any], said: PlacedDetection) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: true[name] == value
        for name, value in (("colour", said.colour), ("size", said.size), ("pose", said.pose))
    }
    row |= {
        "found": True,
        "sure": _is_sure(said),
        "true": [true["colour"], true["size"], true["pose"]],
        "said": [said.colour, said.size, said.pose],
    }
    if row["pose"] and said.pose != "leaning":
        row["base_mm"] = float(np.hypot(*(said.base_mm - true["base_mm"])))
        if said.pose == "lying":
            row["tip_mm"] = float(np.hypot(*(said.tip_mm - true["tip_mm"])))
            row["heading_deg"] = float(
                abs((said.heading_deg - true["heading_deg"] + 180) % 360 - 180)
            )
    return row


def _counter_rows(
    there: list[dict[str, Any]], reported: list[Detection], look: Look, photo: Photo, outline: Array
) -> list[dict[str, Any]]:
    counters = [one for one in reported if one.best[0] == COUNTER and one.best[1] > REPORTED_CHANCE]
    places = [
        on_plane(look.pixels(one.centre[None]), photo.camera, photo.setup.camera)[0]
        for one in counters
    ]
    places = [place for place in places if _is_within(outline, place)]
    far = np.array(
        [[np.hypot(one["x_mm"] - x, one["y_mm"] - y) for x, y in places] for one in there]
    ).reshape(len(there), len(places))
    pairs = [
        (i, j)
        for i, j in zip(*linear_sum_assignment(np.minimum(far, 1e3)), strict=True)
        if far[i, j] < SAME_COUNTER_MM
    ]
    got = {i for i, _ in pairs}
    rows: list[dict[str, Any]] = [
        {"counter": True, "there": True, "found": i in got} for i in range(len(there))
    ]
    return rows + [{"counter": True, "there": False}] * (len(places) - len(pairs))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures of rows."""
    pieces, counters = (
        [row for row in rows if bool(row.get("counter")) == which] for which in (False, True)
    )
    there = [row for row in pieces if row["there"]]
    found = [row for row in there if row.get("found")]
    out: dict[str, Any] = {"pieces": len(there), "recall": share_of(len(found), len(there))}
    out["precision"] = share_of(len(found), len(found) + sum(not row["there"] for row in pieces))
    out |= {
        name: share_of(sum(row[name] for row in found), len(found))
        for name in ("colour", "size", "pose")
    }
    wrong = [
        row
        for row in pieces
        if not (row["there"] and row.get("found") and row["colour"] and row["size"] and row["pose"])
    ]
    cases = {row["case"] for row in rows}
    bad = {row["case"] for row in wrong} | {
        row["case"] for row in counters if not (row["there"] and row.get("found"))
    }
    out["tables_without_a_mistake"] = f"{len(cases - bad)}/{len(cases)}"
    out["told_as_sure_and_wrong"] = sum(bool(row.get("sure")) for row in wrong)
    out |= {
        name: spread_of([row[name] for row in found if name in row], UNITS[name])
        for name in ("base_mm", "tip_mm", "heading_deg")
    }
    out["counters"] = [
        sum(row["there"] for row in counters),
        sum(bool(row.get("found")) for row in counters),
        sum(not row["there"] for row in counters),
    ]
    return out


@click.command()
@click.argument("network", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--with-empty", is_flag=True, help="Use the picture of the empty table where there is one."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write every row there."
)
def main(network: Path, folders: tuple[Path, ...], with_empty: bool, out: Path | None) -> None:
    """How well NETWORK does alone on the photographs in FOLDERS, by kind of table."""
    net = cv2.dnn.readNetFromONNX(str(network))
    rows: list[dict[str, Any]] = []
    for folder in folders:
        for path in sorted(folder.glob("*/truth.json")):
            rows += rows_of_case(path.parent, net, with_empty)
    figures = {
        kind: summary([row for row in rows if row["kind"] == kind])
        for kind in sorted({row["kind"] for row in rows})
    }
    figures["all"] = summary(rows)
    if out:
        out.write_text(json.dumps({"summary": figures, "rows": rows}, indent=1))
    for kind, one in figures.items():
        print(kind, json.dumps(one))


if __name__ == "__main__":
    main()
