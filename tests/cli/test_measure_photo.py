"""`rinkside measure` on a photograph of the printed mat: no table.json, no calibrated lens."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration.photo_table import printed_mat
from cli.main import main
from cli.photo import Reading, read_mat, sample_photo
from cli.photo_page import photo_reader
from simulation.photographs import draw_photograph
from tests.support.pictures import exif
from tools.mat_photograph import SEED, mat_in_play, with_focal
from vision.cameras.frame import Image
from vision.cameras.image_files import decode_image, encode_jpeg
from webui.interfaces import InPhoto

pytestmark = pytest.mark.slow

Gaps = list[dict[str, Any]]
Z95 = 1.96


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["measure", *map(str, words)], env={"COLUMNS": "120"})


def gaps(*words: str | Path) -> Gaps:
    result = run(*words, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found: Gaps = json.loads(result.stdout)["gaps"]
    return found


def refusal(*words: str | Path) -> str:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("rinkside: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def pixels() -> Image:
    return decode_image(sample_photo(), "sample")


@pytest.fixture(scope="module")
def plain() -> Gaps:
    return gaps("--sample")


@pytest.fixture(scope="module")
def truth() -> list[tuple[str, float]]:
    drawn = draw_photograph(mat_in_play(), SEED).truth["gaps"]
    return sorted(((gap["colour"], gap["gap_mm"]) for gap in drawn), key=lambda gap: gap[1])


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def png(image: Image) -> bytes:
    return bytes(cv2.imencode(".png", image[..., ::-1])[1])


def enlarged(image: Image, times: float) -> Image:
    return np.asarray(
        cv2.resize(image, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC), np.uint8
    )


def with_orientation(image: Image, orientation: int) -> bytes:
    data = encode_jpeg(image, 90)
    return data[:2] + exif(orientation) + data[2:]


def assert_same(found: Gaps, expected: Gaps) -> None:
    """Same pieces in the same order, and each gap within the ± of both."""
    assert [gap["colour"] for gap in found] == [gap["colour"] for gap in expected]
    for one, other in zip(found, expected, strict=True):
        within = Z95 * max(one["sigma_mm"], other["sigma_mm"])
        assert abs(one["gap_mm"] - other["gap_mm"]) <= within


def test_the_sample_has_its_true_gaps_within_their_margins(
    plain: Gaps, truth: list[tuple[str, float]]
) -> None:
    assert [gap["colour"] for gap in plain] == [colour for colour, _ in truth]
    for gap, (_, gap_mm) in zip(plain, truth, strict=True):
        assert abs(gap["gap_mm"] - gap_mm) <= Z95 * gap["sigma_mm"]
        assert gap["sigma_mm"] < 0.5


def test_what_nobody_named_is_said(tmp_path: Path) -> None:
    picture = tmp_path / "out.jpg"
    result = run("--sample", "--picture", picture)
    assert "red leads and would score 1 point" in result.stdout
    assert "--target yellow --colours red,blue --sizes medium" in result.stdout
    assert cv2.imread(str(picture)) is not None
    named = run("--sample", "--target", "yellow", "--colours", "red,blue", "--sizes", "medium")
    assert "red leads and would score 1 point" in named.stdout
    assert "Read from the photo" in result.stdout
    assert "Read from the photo" not in named.stdout


HAND = "What looks like a hand is in the photo; pieces under it may be missing."


@pytest.mark.parametrize("there", [True, False])
def test_a_hand_in_the_photo_is_said_by_command_and_page(
    monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    def read(*args: Any) -> Reading:
        reading = read_mat(*args)
        return replace(reading, seen=replace(reading.seen, hand=there))

    monkeypatch.setattr("cli.measure.read_mat", read)
    monkeypatch.setattr("cli.photo_page.read_mat", read)
    result = run("--sample")
    assert (result.exit_code, HAND in result.stderr) == (0, there)
    page = photo_reader()(sample_photo(), "mat.jpg", InPhoto())
    assert (HAND in page.sentence) == there


def test_a_photo_with_glare_on_the_mat_is_said_to_have_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(*args: Any) -> Reading:
        reading = read_mat(*args)
        image, (h, w) = reading.image.copy(), reading.image.shape[:2]
        cv2.circle(image, (w // 2, h // 2), h // 5, (255, 255, 255), -1)
        return replace(reading, image=image)

    assert "too bright" not in run("--sample").stderr
    monkeypatch.setattr("cli.measure.read_mat", read)
    assert "percent of the play area is too bright to show anything" in run("--sample").stderr


COPIES: dict[str, Callable[[Image], bytes]] = {
    "a PNG": png,
    "turned by its EXIF data": lambda image: with_orientation(np.rot90(image, 1), 6),
    "mirrored by its EXIF data": lambda image: with_orientation(image[:, ::-1], 2),
    "held on its side": lambda image: encode_jpeg(np.ascontiguousarray(np.rot90(image)), 90),
    "enlarged twice": lambda image: encode_jpeg(enlarged(image, 2), 90),
    "50 megapixels": lambda image: encode_jpeg(enlarged(image, 8160 / image.shape[1]), 90),
    "soft": lambda image: encode_jpeg(np.asarray(cv2.GaussianBlur(image, (0, 0), 2), np.uint8), 90),
    "with a focal length that is wrong": lambda image: with_focal(encode_jpeg(image, 90), 80),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_has_the_same_gaps(how: str, tmp_path: Path, pixels: Image, plain: Gaps) -> None:
    photo = write(tmp_path / "copy", COPIES[how](pixels))
    assert_same(gaps(photo), plain)


def test_a_picture_enlarged_five_times_has_the_same_gaps(tmp_path: Path, pixels: Image) -> None:
    small = np.asarray(cv2.resize(pixels, (1344, 1008), interpolation=cv2.INTER_AREA), np.uint8)
    words = ("--target", "yellow", "--colours", "red,blue", "--sizes", "medium")
    photo = write(tmp_path / "small.png", png(small))
    large = write(tmp_path / "large.jpg", encode_jpeg(enlarged(small, 5), 95))
    assert_same(gaps(large, *words), gaps(photo, *words))


def test_heic_has_the_same_gaps(tmp_path: Path, pixels: Image, plain: Gaps) -> None:
    heif = pytest.importorskip("pillow_heif", reason="pillow-heif is not installed")
    file = io.BytesIO()
    height, width = pixels.shape[:2]
    heif.from_bytes("RGB", (width, height), pixels.tobytes()).save(file, quality=90)
    assert_same(gaps(write(tmp_path / "photo.heic", file.getvalue())), plain)
    cut = write(tmp_path / "cut.heic", file.getvalue()[: len(file.getvalue()) // 2])
    assert "cut short or damaged" in refusal(cut)


def test_heic_without_its_reader_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pillow_heif", None)
    photo = write(tmp_path / "photo.heic", b"\0\0\0\x18ftypheic" + bytes(40))
    assert "pip install 'rinkside[heic]'" in refusal(photo)


def test_pages_that_are_joined_badly_are_within_the_margins(tmp_path: Path) -> None:
    mat = mat_in_play()
    shifts = [(0.6, -0.3), (-0.5, 0.4), (0.2, 0.5), (-0.4, -0.6)]
    markers = tuple(
        msgspec.structs.replace(
            marker, corners_mm=tuple((x + dx, y + dy) for x, y in marker.corners_mm)
        )
        for marker, (dx, dy) in zip(mat.fiducials.markers, shifts, strict=True)
    )
    fiducials = msgspec.structs.replace(mat.fiducials, markers=markers)
    drawn = draw_photograph(msgspec.structs.replace(mat, fiducials=fiducials), 8)
    photo = write(tmp_path / "photo.jpg", encode_jpeg(drawn.image, 90))
    found = gaps(photo, "--target", "yellow", "--colours", "red,blue", "--sizes", "medium")
    true_mm = sorted(gap["gap_mm"] for gap in drawn.truth["gaps"])
    assert len(found) == len(true_mm)
    for gap, gap_mm in zip(found, true_mm, strict=True):
        assert abs(gap["gap_mm"] - gap_mm) <= 3 * gap["sigma_mm"]


def test_the_check_bar_scales_every_gap(plain: Gaps) -> None:
    smaller = gaps("--sample", "--bar-mm", "98")
    for one, other in zip(smaller[1:], plain[1:], strict=True):
        assert one["gap_mm"] == pytest.approx(0.98 * other["gap_mm"], abs=1.5)
    assert "--bar-mm" in refusal("--sample", "--bar-mm", "80")


def test_a_table_without_its_lens_is_measured(tmp_path: Path, plain: Gaps) -> None:
    mat = mat_in_play()
    document = {
        "format": "rinkside-table/1",
        "fiducials": msgspec.to_builtins(mat.fiducials),
        "board": msgspec.to_builtins(mat.board),
        "game": msgspec.to_builtins(mat.game),
    }
    table = write(tmp_path / "table.json", json.dumps(document).encode())
    photo = write(tmp_path / "photo.jpg", sample_photo())
    assert_same(gaps(photo, "--table", table), plain)
    result = CliRunner().invoke(main, ["observe", str(photo), "--table", str(table), "--json"])
    assert len(json.loads(result.stdout)["pieces"]) == len(plain) + 1


def tiny_png(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and has nothing in it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")


def blank(width: int, height: int) -> Image:
    return np.full((height, width, 3), 128, np.uint8)


UNUSABLE: dict[str, tuple[Callable[[Image], bytes], str]] = {
    "no mat": (lambda _: encode_jpeg(blank(640, 480), 90), "markers in the picture, got 0"),
    "half a mat": (
        lambda image: encode_jpeg(np.ascontiguousarray(image[:, : image.shape[1] // 2]), 90),
        "markers in the picture, got 2",
    ),
    "not a picture": (lambda _: b"hello", "JPEG or PNG"),
    "empty": (lambda _: b"", "empty file"),
    "cut short": (lambda _: sample_photo()[:100_000], "cut short or damaged"),
    "one pixel": (lambda _: png(blank(1, 1)), "markers in the picture, got 0"),
    "giant": (lambda _: tiny_png(30_000, 30_000), "64 megapixels"),
    "a bomb": (lambda _: tiny_png(8000, 6000), "cut short or damaged"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_cannot_be_measured_is_one_line(what: str, tmp_path: Path, pixels: Image) -> None:
    make, named = UNUSABLE[what]
    photo = write(tmp_path / "photo.jpg", make(pixels))
    line = refusal(photo, "--picture", tmp_path / "out.png")
    assert named in line
    assert "photo.jpg" in line
    assert not (tmp_path / "out.png").exists()


def test_no_target_or_two_is_one_line() -> None:
    assert "no green piece was seen" in refusal("--sample", "--target", "green")
    assert "4 blue pieces lie" in refusal("--sample", "--target", "blue")


def test_a_mat_without_pieces_is_one_line(tmp_path: Path) -> None:
    mat = printed_mat()
    drawn = draw_photograph(mat_in_play(), SEED, pieces=False)
    assert drawn.setup.board == mat.board
    photo = write(tmp_path / "photo.jpg", encode_jpeg(drawn.image, 90))
    assert "no piece was found" in refusal(photo)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "--sample"),
        (("photo.jpg", "--sample"), "--sample"),
        (("--sample", "--colours", "mauve"), "mauve"),
        (("--sample", "--colours", ""), "--colours"),
        (("--sample", "--target", "mauve"), "mauve"),
        (("--sample", "--sizes", "giant"), "giant"),
        (("--sample", "--table", "table.json"), "--table"),
        (("--sample", "--empty", "empty.jpg"), "--empty"),
        (("none.jpg",), "none.jpg"),
    ],
)
def test_options_that_make_no_sense_are_one_line(words: tuple[str, ...], named: str) -> None:
    assert named in refusal(*words)
