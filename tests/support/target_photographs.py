"""Photographs of a printed target through a known lens: every pixel is where the camera model has
it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import cv2
import numpy as np

from calibration.lens.synthetic_views import SQUARE_MM
from calibration.sheets.cards import TARGET_ROWS, charuco
from calibration.sheets.layout import PAPERS, lay_out
from calibration.sheets.pdf import read_pages, write_pdf
from calibration.table.bundle_adjustment import place_points
from table.table_config import Lens

LENS = Lens(
    width=1280,
    height=960,
    matrix=((1105.0, 0.0, 652.3), (0.0, 1104.2, 471.8), (0.0, 0.0, 1.0)),
    distortion=(-0.072, 0.031, 0.0006, -0.0004, 0.0),
)
WIDE = Lens(
    width=1280,
    height=720,
    matrix=((640.0, 0.0, 644.2), (0.0, 640.0, 357.1), (0.0, 0.0, 1.0)),
    distortion=(0.05, -0.01, 0.002, 0.0),
    model="fisheye",
)
PX_A_MM = 5.0
FINER = 2
"""Samples across and down a pixel."""


@cache
def sheet() -> tuple[np.ndarray, np.ndarray]:
    """The target's A4 page as a picture, and the 3 x 3 matrix that leads from mm of the target (y
    down) to its pixels.
    """
    target, paper = charuco(PAPERS["A4"]), PAPERS["A4"]
    layout = lay_out(target, paper)
    (image,) = read_pages(write_pdf(target, layout), 25.4 * PX_A_MM)
    page = layout.pages[0]
    across, down = image.shape[1] / page.width_mm, image.shape[0] / page.depth_mm
    top = page.depth_mm - page.origin_mm[1] - TARGET_ROWS * SQUARE_MM
    matrix = np.array(
        [[across, 0, across * page.origin_mm[0] - 0.5], [0, down, down * top - 0.5], [0, 0, 1]]
    )
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)), matrix


@cache
def chess_sheet() -> tuple[np.ndarray, np.ndarray]:
    """A chessboard of 6 x 9 inner corners, squares of 24.8 mm, no larger than the target and in its
    middle.
    """
    square = round(24.8 * PX_A_MM)
    cells = (np.add.outer(np.arange(10), np.arange(7)) % 2 * 255).astype(np.uint8)
    board = np.kron(cells, np.ones((square, square), np.uint8))
    board = cv2.copyMakeBorder(
        board, square, square, square, square, cv2.BORDER_CONSTANT, value=255
    )
    return np.asarray(board), np.array(
        [
            [PX_A_MM, 0, square - 0.5 - 3 * PX_A_MM],
            [0, PX_A_MM, square - 0.5 - 6 * PX_A_MM],
            [0, 0, 1],
        ]
    )


CARD_PX_A_MM, TABLE_MM = 4.0, (1100, 820)


@lru_cache(maxsize=64)
def _card(
    number: int, place: tuple[float, float, float], side_mm: float
) -> tuple[int, int, np.ndarray]:
    """A corner card and the table around it: where its picture goes, and that, (n, n)."""
    codes = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    (x, y, heading), marker = place, cv2.aruco.generateImageMarker(codes, number, 6)
    white = np.pad(np.asarray(marker) > 0, 1, constant_values=True)
    left, top, count = (
        int((x - 75) * CARD_PX_A_MM),
        int((TABLE_MM[1] - y - 75) * CARD_PX_A_MM),
        int(150 * CARD_PX_A_MM),
    )
    steps = (np.arange(4 * count) + 0.5) / 4
    across, up = np.meshgrid(
        (left + steps) / CARD_PX_A_MM - x, TABLE_MM[1] - (top + steps) / CARD_PX_A_MM - y
    )
    c, s = np.cos(heading), np.sin(heading)
    right, ahead = c * across + s * up, c * up - s * across
    columns, rows = (
        np.clip(np.floor(at * 6 / side_mm + 3).astype(int) + 1, 0, 7) for at in (right, -ahead)
    )
    paper = (np.abs(right) < 42) & (ahead < 42) & (ahead > -58)
    levels = (
        np.where(paper, np.where(white[rows, columns], 240, 20), 120)
        .reshape(count, 4, count, 4)
        .mean(axis=(1, 3))
    )
    return left, top, np.rint(levels).astype(np.uint8)


def cards_on_a_table(
    places: list[tuple[float, float, float]], side_mm: float = 60.0, ids=(0, 1, 2, 3)
) -> tuple[np.ndarray, np.ndarray]:
    """A table with corner cards at places (x mm, y mm, heading in radians), 16 samples a pixel, and
    what leads from mm to its pixels.
    """
    picture = np.full(
        [round(length * CARD_PX_A_MM) for length in reversed(TABLE_MM)], 120, np.uint8
    )
    for number, place in zip(ids, places, strict=True):
        left, top, levels = _card(number, tuple(map(float, place)), side_mm)
        picture[top : top + len(levels), left : left + len(levels)] = levels
    return picture, np.array(
        [[CARD_PX_A_MM, 0, -0.5], [0, -CARD_PX_A_MM, TABLE_MM[1] * CARD_PX_A_MM - 0.5], [0, 0, 1]]
    )


def board_on_a_table(
    outline: np.ndarray, dark: list[np.ndarray], lines: list[np.ndarray], place
) -> tuple[np.ndarray, np.ndarray]:
    """A pale board with dark patches and dark lines, its polygons (n, 2) mm laid at a place [x, y,
    heading]: its picture, and where it is (255).
    """
    width, depth = (round(length * CARD_PX_A_MM) for length in TABLE_MM)
    picture, covered = np.full((depth, width), 200, np.uint8), np.zeros((depth, width), np.uint8)

    def pixels(points: np.ndarray) -> np.ndarray:
        x, y = place_points(np.asarray(place), points).T
        return np.rint(
            16 * np.column_stack([x * CARD_PX_A_MM - 0.5, (TABLE_MM[1] - y) * CARD_PX_A_MM - 0.5])
        ).astype(np.int32)

    cv2.fillPoly(covered, [pixels(outline)], 255, cv2.LINE_AA, 4)
    for patch in dark:
        cv2.fillPoly(picture, [pixels(patch)], 60, cv2.LINE_AA, 4)
    for line in lines:
        cv2.polylines(
            picture,
            [pixels(line)],
            isClosed=True,
            color=80,
            thickness=3,
            lineType=cv2.LINE_AA,
            shift=4,
        )
    return picture, covered


def photograph_with_board(
    cards, board, thickness_mm: float, pose, rng: np.random.Generator
) -> np.ndarray:
    """As `photograph`, of cards on a table with a board that is so thick."""
    rotation = np.asarray(cv2.Rodrigues(pose[0])[0])
    face = pose[0], pose[1] + rotation @ np.array([0.0, 0.0, thickness_mm])
    around, seen, covered = (
        photograph(at, rng, 0.01, 0.0, printed=lambda scene=scene: (scene, cards[1])).astype(float)
        for scene, at in ((cards[0], pose), (board[0], face), (board[1], face))
    )
    share = np.clip((covered - 25) / (0.75 * 255), 0, 1)
    levels = cv2.GaussianBlur((1 - share) * around + share * seen, (0, 0), 0.7)
    return np.clip(levels + rng.normal(0, 2.0, levels.shape), 0, 255).astype(np.uint8)


def pose_above_table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A camera over the middle of the table, tilted by up to 30 degrees."""
    turn = np.array([rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4), rng.normal(0, 0.1)])
    rotation = np.asarray(cv2.Rodrigues(turn)[0]) @ np.diag([1.0, -1.0, -1.0])
    shift = np.array([*rng.normal(0, 15, 2), rng.uniform(1150, 1210)]) - rotation @ np.array(
        [TABLE_MM[0] / 2, TABLE_MM[1] / 2, 0]
    )
    return np.asarray(cv2.Rodrigues(rotation)[0]).reshape(3), shift


@cache
def rays(lens: Lens = LENS) -> np.ndarray:
    """Where FINER x FINER samples of each pixel look, (h, w, 2) in units of the distance."""
    (fx, _, cx), (_, fy, cy), _ = lens.matrix
    along = [
        (np.arange(length * FINER) + 0.5) / FINER - 0.5 for length in (lens.width, lens.height)
    ]
    u, v = np.meshgrid(*along)
    xd, yd = (u - cx) / fx, (v - cy) / fy
    if lens.model == "fisheye":
        return _fisheye_rays(xd, yd, lens.distortion)
    k1, k2, p1, p2, k3 = lens.distortion
    x, y = xd.copy(), yd.copy()
    for _ in range(12):
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        x, y = (
            (xd - 2 * p1 * x * y - p2 * (r2 + 2 * x * x)) / radial,
            (yd - p1 * (r2 + 2 * y * y) - 2 * p2 * x * y) / radial,
        )
    return np.dstack([x, y])


def _fisheye_rays(xd: np.ndarray, yd: np.ndarray, distortion: tuple[float, ...]) -> np.ndarray:
    """theta (1 + k1 theta^2 + k2 theta^4 ...) = distance from the middle, solved for the angle
    theta.
    """
    k1, k2, k3, k4 = distortion
    bent = np.hypot(xd, yd)
    theta = bent.copy()
    for _ in range(30):
        t2 = theta * theta
        theta = bent / (1 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4))))
    reach = np.tan(theta) / np.maximum(bent, 1e-12)
    return np.dstack([xd * reach, yd * reach])


def photograph(
    pose,
    rng: np.random.Generator,
    blur_px: float = 0.7,
    noise: float = 2.0,
    printed=sheet,
    lens: Lens = LENS,
) -> np.ndarray:
    """A grey picture (h, w) of a sheet that lies at a pose (rotation vector, translation mm)."""
    image, mm2px = printed()
    rotation = np.asarray(cv2.Rodrigues(pose[0])[0])
    ray2px = mm2px @ np.linalg.inv(np.column_stack([rotation[:, 0], rotation[:, 1], pose[1]]))
    towards = rays(lens)
    places = np.asarray(
        cv2.perspectiveTransform(towards.reshape(-1, 1, 2), ray2px), np.float32
    ).reshape(*towards.shape)
    fine = cv2.remap(
        image, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=110
    )
    levels = (
        cv2.resize(fine, (lens.width, lens.height), interpolation=cv2.INTER_AREA).astype(np.float32)
        * 0.75
        + 25
    )
    blurred = cv2.GaussianBlur(levels, (0, 0), blur_px)
    return np.clip(blurred + rng.normal(0, noise, blurred.shape), 0, 255).astype(np.uint8)


def save(picture: np.ndarray, path: Path) -> None:
    assert cv2.imwrite(str(path), picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
