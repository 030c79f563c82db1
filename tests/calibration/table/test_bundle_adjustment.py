"""`rinkside calibrate table` on photographs of four cards at unknown places."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration.lens.file import LensFile, save_lens
from calibration.table.marker_edges import edge_samples
from calibration.table.placement import place_cards
from cli.main import main
from table.table_config import Lens, load_table
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow

PLACES = ((100, 720), (1000, 720), (1000, 100), (100, 100))


def laid(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """Cards at the corners of a table, laid down carelessly."""
    return [(x + rng.uniform(-8, 8), y + rng.uniform(-8, 8), rng.normal(0, 0.1)) for x, y in PLACES]


def true_corners(places: list[tuple[float, float, float]]) -> np.ndarray:
    """Corners (4, 4, 2) in the frame that the table is to have: from the inner corner of card 3
    along to that of card 2.
    """
    square = 30 * np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]])
    turned = [
        square @ np.array([[np.cos(h), np.sin(h)], [-np.sin(h), np.cos(h)]]) + (x, y)
        for x, y, h in places
    ]
    origin, along = turned[3][1], turned[2][0] - turned[3][1]
    x = along / np.hypot(*along)
    return (np.array(turned) - origin) @ np.column_stack([x, (-x[1], x[0])])


def lens_json(photographs, folder: Path, lens: Lens | None = None) -> Path:
    """A calibrated lens in a file: the one that took the photographs, or another."""
    nothing = {
        "sigma": {},
        "rms_px": 0.05,
        "held_out_px": {},
        "coverage": 1.0,
        "target": "",
        "square_mm": 20.0,
        "views": (),
        "left_out": (),
    }
    save_lens(
        LensFile(camera=lens or photographs.LENS, model="k1 k2 p1 p2", **nothing),
        folder / "lens.json",
    )
    return folder / "lens.json"


def shoot(photographs, folder: Path, scenes, rng: np.random.Generator) -> Path:
    """One photograph of each of these tables."""
    folder.mkdir()
    for index, scene in enumerate(scenes):
        photographs.save(
            photographs.photograph(
                photographs.pose_above_table(rng), rng, printed=lambda scene=scene: scene
            ),
            folder / f"{index}.jpg",
        )
    return folder


def rinkside(lens: Path, folder: Path, out: Path, *words: object) -> Result:
    return CliRunner().invoke(
        main,
        [
            "calibrate",
            "table",
            "--lens",
            str(lens),
            "--from",
            str(folder),
            "--out",
            str(out),
            *map(str, words),
        ],
    )


def test_cards_laid_down_anywhere_are_placed_to_tenths_of_a_millimetre(
    photographs, tmp_path: Path
) -> None:
    rng = np.random.default_rng(21)
    places = laid(rng)
    folder = shoot(photographs, tmp_path / "table", [photographs.cards_on_a_table(places)] * 4, rng)
    out = tmp_path / "table.json"
    out.write_text("the one before")
    message = rinkside(lens_json(photographs, tmp_path), folder, out, "--thickness-mm", "3")
    assert message.exit_code == 0, message.output
    setup, true = load_table(out), true_corners(places)
    corners = np.array([marker.corners_mm for marker in setup.fiducials.markers])
    assert np.abs(corners - true).max() < 0.3
    inner = np.array([true[3][1], true[2][0], true[1][3], true[0][2]])
    assert np.abs(setup.outline_mm() - inner).max() < 0.3
    assert setup.fiducials.z_mm == -3
    assert setup.camera == photographs.LENS
    assert "cards 0 and 1: " in message.stdout
    assert "4 of 4 pictures show all four corner cards; edges are 0." in message.stdout
    assert (tmp_path / "table.json.bak").read_text() == "the one before"
    picture = cv2.imread(str(folder / "1.jpg"))[:, :, ::-1]
    assert locate(np.ascontiguousarray(picture), setup)


def test_a_table_is_placed_by_pictures_as_its_lens_was_calibrated(
    photographs, tmp_path: Path
) -> None:
    """Pictures that lie upside down with a flag that says so, and a lens for upright ones; and the
    other way round.
    """
    rng = np.random.default_rng(22)
    places = laid(rng)
    folder = shoot(photographs, tmp_path / "table", [photographs.cards_on_a_table(places)] * 2, rng)
    lens, out = lens_json(photographs, tmp_path), tmp_path / "table.json"
    assert rinkside(lens, folder, out).exit_code == 0
    expected = load_table(out)
    for orientation, turn in (("sensor", False), ("upright", True)):
        lens.write_text(
            lens.read_text().replace('"width"', f'"orientation": "{orientation}", "width"', 1)
        )
        flagged = tmp_path / orientation
        flagged.mkdir()
        for path in folder.iterdir():
            image = cv2.imread(str(path))
            _, data = cv2.imencode(".png", cv2.rotate(image, cv2.ROTATE_180) if turn else image)
            (flagged / f"{path.stem}.png").write_bytes(upside_down(data.tobytes()))
        assert rinkside(lens, flagged, out).exit_code == 0
        placed = load_table(out)
        assert placed.camera.orientation == orientation
        corners, others = (
            np.array([marker.corners_mm for marker in setup.fiducials.markers])
            for setup in (placed, expected)
        )
        assert np.abs(corners - others).max() < 0.01
        lens.write_text(lens.read_text().replace(f'"orientation": "{orientation}", ', ""))


def upside_down(png: bytes) -> bytes:
    """A PNG with a flag that says that it is to be turned by 180 degrees."""
    chunk = b"eXIf" + b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0\0\0\0\0"
    return (
        png[:33]
        + struct.pack(">I", len(chunk) - 4)
        + chunk
        + struct.pack(">I", zlib.crc32(chunk))
        + png[33:]
    )


def test_a_film_is_not_taken_for_a_lens_of_upright_pictures(photographs, tmp_path: Path) -> None:
    lens = lens_json(photographs, tmp_path)
    lens.write_text(lens.read_text().replace('"width"', '"orientation": "upright", "width"', 1))
    out = str(tmp_path / "table.json")
    message = CliRunner().invoke(
        main,
        ["calibrate", "table", "--lens", str(lens), "--camera", "video:cards.mp4", "--out", out],
    )
    assert message.exit_code == 2
    assert "expected --from FOLDER, because the lens is for upright pictures" in message.stderr


def test_a_camera_takes_the_pictures_as_soon_as_all_cards_show(photographs, tmp_path: Path) -> None:
    rng, out = np.random.default_rng(24), tmp_path / "table.json"
    places, lens = laid(rng), lens_json(photographs, tmp_path)
    scenes = [photographs.cards_on_a_table(places[:3], ids=(0, 1, 2))] + [
        photographs.cards_on_a_table(places)
    ] * 2
    folder = shoot(photographs, tmp_path / "frames", scenes, rng)
    words = [
        "calibrate",
        "table",
        "--lens",
        str(lens),
        "--out",
        str(out),
        "--camera",
        f"folder:{folder}",
    ]
    message = CliRunner().invoke(main, words)
    assert message.exit_code == 0, message.output
    assert (
        message.stderr
        == "waiting: expected a photo of all four corner cards, 0 to 3, but none shows"
        " 3 (near left) with the others\n"
    )
    assert "2 of 2 pictures show all four corner cards" in message.stdout
    corners = np.array([marker.corners_mm for marker in load_table(out).fiducials.markers])
    assert np.abs(corners - true_corners(places)).max() < 0.3
    for index in (1, 2):
        (folder / f"{index}.jpg").unlink()
    never = CliRunner().invoke(main, words)
    assert never.exit_code == 2
    assert (
        f"folder:{folder}: expected a photo of all four corner cards, 0 to 3, but none"
        " shows 3 (near left)" in never.stderr
    )
    for more in (["--from", str(folder)], []):
        both = CliRunner().invoke(main, [*(words if more else words[:-2]), *more])
        assert (
            "expected photos of the corner cards: either --from FOLDER or --camera SPEC"
            in both.stderr
        )


def test_distances_are_as_sure_as_they_are_said_to_be(photographs) -> None:
    scores = []
    for seed in range(3):
        rng = np.random.default_rng([22, seed])
        places, frames = laid(rng), {}
        scene = photographs.cards_on_a_table(places)
        for index in range(3):
            taken = photographs.photograph(
                photographs.pose_above_table(rng), rng, printed=lambda scene=scene: scene
            )
            frames[str(index)] = np.dstack([taken] * 3)
        placed = place_cards(frames, photographs.LENS, 60.0)
        middles = np.array(places)[:, :2]
        for (one, other), apart in placed.apart_mm.items():
            scores.append(
                (apart - np.hypot(*(middles[one] - middles[other]))) / placed.sigma_mm[one, other]
            )
            assert placed.sigma_mm[one, other] < 0.25
    assert np.abs(scores).max() < 4
    assert 0.2 < np.sqrt(np.mean(np.square(scores))) < 2


def refused(message: Result, out: Path, *parts: str) -> None:
    assert message.exit_code == 2, message.output
    assert message.stderr.count("\n") == 1
    for part in parts:
        assert part in message.stderr
    assert out.read_text() == "the last good one"
    assert not out.with_name("table.json.bak").exists()


def test_of_a_wrong_lens_no_card_is_blamed(photographs, tmp_path: Path) -> None:
    rng, out = np.random.default_rng(25), tmp_path / "table.json"
    folder = shoot(
        photographs, tmp_path / "table", [photographs.cards_on_a_table(laid(rng))] * 3, rng
    )
    (fx, _, cx), (_, fy, cy), _ = photographs.LENS.matrix
    longer = msgspec.structs.replace(
        photographs.LENS, matrix=((1.15 * fx, 0.0, cx), (0.0, 1.15 * fy, cy), (0.0, 0.0, 1.0))
    )
    message = rinkside(lens_json(photographs, tmp_path, longer), folder, out)
    assert message.exit_code == 2
    assert "expected corner cards that fit the lens, but all are up to " in message.stderr
    assert "is this the lens of this camera, at this focus?" in message.stderr
    assert not out.exists()


def test_tables_that_cannot_be_used_are_named_and_nothing_is_overwritten(
    photographs, tmp_path: Path
) -> None:
    rng, out = np.random.default_rng(23), tmp_path / "table.json"
    out.write_text("the last good one")
    lens, places = lens_json(photographs, tmp_path), laid(rng)
    on_table = photographs.cards_on_a_table

    three = shoot(photographs, tmp_path / "three", [on_table(places[:3], ids=(0, 1, 2))] * 2, rng)
    refused(
        rinkside(lens, three, out),
        out,
        "expected a photo of all four corner cards, 0 to 3, but none shows 3 (near"
        " left) with the others",
    )
    twice = shoot(photographs, tmp_path / "twice", [on_table(places, ids=(0, 1, 2, 2))], rng)
    refused(
        rinkside(lens, twice, out),
        out,
        "0.jpg: expected each corner card once, but corner card 2 is seen twice",
    )
    order = shoot(photographs, tmp_path / "order", [on_table(places, ids=(1, 0, 3, 2))] * 2, rng)
    refused(
        rinkside(lens, order, out), out, "expected corner cards 0 to 3 clockwise from the far left"
    )
    moved = [places[0], (places[1][0] + 5, places[1][1] - 4, places[1][2] + 0.03), *places[2:]]
    knocked = shoot(
        photographs,
        tmp_path / "knocked",
        [on_table(places), on_table(places), on_table(moved)],
        rng,
    )
    refused(
        rinkside(lens, knocked, out),
        out,
        "expected four flat corner cards that lie still; ",
        "corner card 1 (far right) most; is it bent",
    )
    (tmp_path / "small").mkdir()
    photographs.save(np.full((480, 640), 90, np.uint8), tmp_path / "small" / "a.jpg")
    refused(
        rinkside(lens, tmp_path / "small", out),
        out,
        "a.jpg: expected 1280 x 960 px, the size that the lens is calibrated for, got 640 x 480 px",
    )
    good = shoot(photographs, tmp_path / "good", [on_table(places)] * 2, rng)
    refused(
        rinkside(lens, good, out, "--colours", "mauve"),
        out,
        "table.json: game.colours[0]: expected a colour",
    )
    refused(
        rinkside(lens, good, out, "--card-mm", "nan"),
        out,
        "--card-mm: expected 5 to 1000 mm, got nan",
    )
    refused(rinkside(lens, tmp_path / "nowhere", out), out, "--from: expected a folder of photos")


@pytest.mark.parametrize("number", range(4))
def test_edges_lie_between_black_and_white(number: int) -> None:
    codes = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    picture = np.pad(
        np.asarray(cv2.aruco.generateImageMarker(codes, number, 240)), 40, constant_values=255
    )
    points, normals = edge_samples(number, "DICT_4X4_50")
    for way, level in ((0.03, 255), (-0.03, 0)):
        places = (points + way * normals) * (240, -240) + 160 - 0.5
        columns, rows = np.rint(places).astype(int).T
        assert (picture[rows, columns] == level).all()
    assert len(points) > 100
