"""What every camera must do, and pictures in files, good and bad."""

from __future__ import annotations

import io
import re
import struct
import zlib

import cv2
import numpy as np
import PIL.Image
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.cameras import *  # noqa: F403
from table.errors import InputError
from table.table_config import parse_table
from tests.support.pictures import HEIGHT, TABLE, WIDTH, exif, jpeg, picture
from vision.cameras.base import SOURCES, CameraPort, open_camera
from vision.cameras.exif import jpeg_exif
from vision.cameras.image_files import decode_image, encode_jpeg, image_size, read_image
from vision.cameras.jpeg import DamagedError
from vision.cameras.orientation import exif_flag


@pytest.fixture(scope="module")
def setup():
    return parse_table(TABLE)


def encoded(suffix, image=None, *flags):
    _, data = cv2.imencode(suffix, picture() if image is None else image, list(flags))
    return data.tobytes()


# --- the contract; tests of other cameras add theirs by the same questions ---


@pytest.fixture
def camera(tmp_path, setup):
    for at_ms in (250, 0, 10_250):
        (tmp_path / f"{at_ms:09d}.jpg").write_bytes(jpeg(seed=at_ms))
    (tmp_path / "notes.txt").write_text("not a picture")
    camera = open_camera(f"folder:{tmp_path}", setup)
    yield camera
    camera.close()


def test_a_camera_gives_frames_in_order_and_then_none(camera, setup):
    frames = []
    while frame := camera.read():
        frames.append(frame)
    assert camera.read() is None
    assert [frame.seq for frame in frames] == [0, 1, 2]
    assert [frame.at_ms for frame in frames] == [0, 250, 10_250]
    for frame in frames:
        assert frame.image.shape == (setup.camera.height, setup.camera.width, 3)
        assert frame.image.dtype == np.uint8


def test_a_folder_is_named_and_not_simulated(camera: CameraPort):
    assert camera.name.startswith("folder ")
    assert camera.simulated is False


@pytest.mark.parametrize("spec", ["", "folder", "webcam:0", ":x", "FOLDER:/tmp"])
def test_an_unknown_camera_is_refused_with_the_names_that_there_are(spec, setup):
    with pytest.raises(InputError) as error:
        open_camera(spec, setup)
    assert "\n" not in str(error.value)
    assert all(name in str(error.value) for name in SOURCES)


# --- folders ---


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "expected pictures such as 000010250.jpg, found none"),
        (["holiday.jpg"], "holiday.jpg: expected a file name in milliseconds"),
        (["-250.jpg"], "expected a file name in milliseconds"),
        (["²50.jpg"], "expected a file name in milliseconds"),
        (["250.jpg", "0250.jpg"], "expected a unique time"),
    ],
)
def test_a_folder_that_is_no_film_is_refused(tmp_path, setup, names, message):
    for name in names:
        (tmp_path / name).write_bytes(jpeg())
    with pytest.raises(InputError, match=message):
        open_camera(f"folder:{tmp_path}", setup)


def test_no_folder_is_said(tmp_path, setup):
    with pytest.raises(InputError, match="expected a folder of pictures"):
        open_camera(f"folder:{tmp_path / 'nowhere'}", setup)


def test_a_broken_picture_in_a_folder_is_said_when_its_turn_comes(tmp_path, setup):
    (tmp_path / "000.jpg").write_bytes(jpeg())
    (tmp_path / "250.jpg").write_bytes(jpeg()[:-200])
    camera = open_camera(f"folder:{tmp_path}", setup)
    assert camera.read() is not None
    with pytest.raises(InputError, match=r"250\.jpg: expected a whole picture"):
        camera.read()


# --- pictures ---


def test_colours_are_red_green_blue(tmp_path):
    for suffix in (".png", ".jpg"):
        path = tmp_path / f"picture{suffix}"
        path.write_bytes(encoded(suffix, np.ascontiguousarray(picture()[:, :, ::-1])))
        image = read_image(path).image
        assert np.abs(image.astype(int) - picture()).mean() < 5
    assert np.array_equal(read_image(tmp_path / "picture.png").image, picture())


def test_a_jpeg_that_was_encoded_here_is_read_here():
    assert (
        np.abs(decode_image(encode_jpeg(picture(), 95), "here").astype(int) - picture()).mean() < 3
    )


@pytest.mark.parametrize(
    "data",
    [
        encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
        encoded(".jpg", None, cv2.IMWRITE_JPEG_RST_INTERVAL, 1),
        encoded(".jpg", picture()[:, :, 0]),
        encoded(".png", np.dstack([picture(), np.full((HEIGHT, WIDTH), 255, np.uint8)])),
        encoded(".png", picture().astype(np.uint16) * 257),
        jpeg() + b"what some cameras put after the picture",
    ],
    ids=["progressive", "restarts", "grey", "alpha", "16 bit", "trailer"],
)
def test_every_usual_kind_of_picture_becomes_three_bytes_a_pixel(data):
    image = decode_image(data, "here")
    assert image.shape == (HEIGHT, WIDTH, 3)
    assert image.dtype == np.uint8


def flagged(suffix, orientation):
    """A JPEG or PNG with an EXIF orientation."""
    if suffix == ".jpg":
        return jpeg()[:2] + exif(orientation) + jpeg()[2:]
    data, tiff = (
        encoded(".png", np.ascontiguousarray(picture()[:, :, ::-1])),
        exif(orientation)[10:],
    )
    return data[:33] + chunk(b"eXIf", tiff) + data[33:]


def chunk(kind, body):
    """A chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
@pytest.mark.parametrize("flag", [1, 3])
def test_pixels_stay_where_the_sensor_had_them_unless_the_table_is_from_turned_pictures(
    tmp_path, setup, suffix, flag
):
    path = tmp_path / f"0{suffix}"
    path.write_bytes(flagged(suffix, flag))
    upright = parse_table(TABLE | {"camera": TABLE["camera"] | {"orientation": "upright"}})
    for table, turned in ((None, False), (setup, False), (upright, flag == 3)):
        expected = picture()[::-1, ::-1] if turned else picture()
        assert np.abs(read_image(path, table).image.astype(int) - expected).mean() < 3
    frame = open_camera(f"folder:{tmp_path}", upright).read()
    assert np.array_equal(frame.image, read_image(path, upright).image)


@pytest.mark.parametrize("orientation", ["sensor", "upright"])
@pytest.mark.parametrize("suffix", [".jpg", ".png"])
@pytest.mark.parametrize(
    ("flag", "message"),
    [(6, "90°"), (8, "270°"), (2, "0° and mirrored"), (4, "180° and mir"), (5, "mir"), (7, "mir")],
)
def test_a_picture_on_its_side_or_mirrored_is_refused(orientation, suffix, flag, message):
    with pytest.raises(
        InputError,
        match=rf"^here: expected a picture that is not rotated, .*{message}.*; hold the camera",
    ):
        decode_image(flagged(suffix, flag), "here", orientation)


def test_big_endian_exif_is_read_too():
    tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    body = b"Exif\0\0" + tiff
    segment = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    with pytest.raises(InputError, match="rotated by 90°"):
        decode_image(jpeg()[:2] + segment + jpeg()[2:], "here")


@given(
    tiff=st.binary(max_size=60),
    start=st.sampled_from([b"", b"II*\0", b"MM\0*", b"II*\0\x08\0\0\0\xff\xff"]),
)
def test_broken_exif_never_stops_a_picture(start, tiff):
    body = b"Exif\0\0" + start + tiff
    data = jpeg()[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + jpeg()[2:]
    flag = jpeg_exif(data)
    assert flag == start + tiff
    turned, mirrored = exif_flag(flag)
    if turned in (90, 270) or mirrored:
        with pytest.raises(InputError, match="not rotated"):
            decode_image(data, "here")
    else:
        assert decode_image(data, "here").shape == (HEIGHT, WIDTH, 3)


# --- damage ---

LARGE = cv2.GaussianBlur(
    np.random.default_rng(3).integers(0, 255, (240, 320, 3), np.uint8), (7, 7), 2
)
KINDS = {
    "baseline": (),
    "restarts": (cv2.IMWRITE_JPEG_RST_INTERVAL, 1),
    "progressive": (cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "optimised": (cv2.IMWRITE_JPEG_OPTIMIZE, 1),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(share=st.floats(0.02, 0.2), at=st.floats(0, 1))
def test_a_jpeg_with_a_piece_cut_out_of_its_middle_is_refused(kind, share, at):
    data = encoded(".jpg", LARGE, *KINDS[kind])
    assert decode_image(data, "here").shape == LARGE.shape
    length, first = int(share * len(data)), data.index(b"\xff\xda") + 14
    cut = first + int(at * (len(data) - 2 - length - first))
    with pytest.raises(
        DamagedError, match=r"^here: expected a whole picture, but it is cut short or damaged"
    ):
        decode_image(data[:cut] + data[cut + length :], "here")


@pytest.mark.parametrize("kind", KINDS)
def test_a_jpeg_with_foreign_bytes_before_its_end_is_refused(kind):
    data = encoded(".jpg", LARGE, *KINDS[kind])
    with pytest.raises(DamagedError):
        decode_image(data[:-2] + bytes(64) + data[-2:], "here")


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_jpeg_has_the_pixels_that_opencv_gives_it(kind):
    data = encoded(".jpg", LARGE, *KINDS[kind])
    expected = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]
    assert np.array_equal(decode_image(data, "here"), expected)


def test_a_png_whose_image_data_are_too_short_is_refused():
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    rows = bytes((1 + 3 * WIDTH) * (HEIGHT - 1))
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    with pytest.raises(DamagedError):
        decode_image(data, "here")


# --- other kinds of picture ---


def pillow(mode, kind, **options):
    """A picture as Pillow writes it."""
    image, out = PIL.Image.fromarray(picture()).convert(mode), io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def translucent():
    image = PIL.Image.fromarray(picture())
    image.putalpha(128)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pillow("CMYK", "JPEG"), "expected a picture in RGB or grey, got one in CMYK"),
        (pillow("RGB", "GIF"), r"expected a picture \(JPEG or PNG\), got GIF"),
        (pillow("RGB", "BMP"), "got BMP"),
        (pillow("RGB", "TIFF"), "got TIFF"),
        (pillow("RGB", "WEBP"), "got WebP"),
        (
            pillow(
                "RGB", "PNG", save_all=True, append_images=[PIL.Image.new("RGB", (WIDTH, HEIGHT))]
            ),
            "got an animation",
        ),
        (translucent(), "expected a picture without transparent parts"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "got HEIC or AVIF; let the phone take JPEGs"),
        (b"\0\0\0\x18ftypisom\0\0\0\0isommp42", "got a video"),
        (b"", "got an empty file"),
    ],
    ids=["CMYK", "GIF", "BMP", "TIFF", "WebP", "animation", "transparent", "HEIC", "film", "empty"],
)
def test_a_kind_of_picture_that_is_not_read_is_named(data, message):
    with pytest.raises(
        InputError, match=f"^here: {message}" if message.startswith("expected") else message
    ) as error:
        decode_image(data, "here")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
@pytest.mark.parametrize("optimize", [False, True])
def test_every_png_that_is_no_photograph_of_24_bits_is_read_right(mode, optimize):
    expected = np.asarray(PIL.Image.fromarray(picture()).convert(mode).convert("RGB"))
    assert np.array_equal(decode_image(pillow(mode, "PNG", optimize=optimize), "here"), expected)


def test_what_a_file_holds_counts_and_not_its_name(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded(".png", np.ascontiguousarray(picture()[:, :, ::-1])))
    assert np.array_equal(read_image(path).image, picture())


PREVIEWED = jpeg()[:2] + exif(1, jpeg(width=32, height=32)) + jpeg(width=WIDTH)[2:]
WHOLE = {
    "jpeg": jpeg(),
    "with a preview": PREVIEWED,
    "progressive": encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "png": encoded(".png"),
}


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=150, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
@example(share=0.5)
@example(share=1 - 1e-9)
def test_a_picture_cut_short_anywhere_is_refused(kind, share):
    data = WHOLE[kind]
    assert decode_image(data, "here").shape == (HEIGHT, WIDTH, 3)
    with pytest.raises(
        InputError,
        match=r"^here: expected a (whole picture, but it is cut short|picture \(JPEG or PNG\))",
    ) as error:
        decode_image(data[: int(len(data) * share)], "here")
    assert "\n" not in str(error.value)


@given(
    data=st.binary(max_size=300),
    start=st.sampled_from(
        [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"\xff\xd8\xff\xd9"]
    ),
)
def test_what_is_no_picture_is_refused_in_one_line(start, data):
    with pytest.raises(InputError, match=r"^here: expected") as error:
        decode_image(start + data, "here")
    assert "\n" not in str(error.value)


def test_a_png_with_a_wrong_byte_is_refused():
    data = bytearray(encoded(".png"))
    data[len(data) // 2] ^= 0x40
    with pytest.raises(InputError, match="cut short or damaged"):
        decode_image(bytes(data), "here")


def test_a_picture_of_another_size_than_the_table_says_is_refused(tmp_path, setup):
    path = tmp_path / "small.jpg"
    path.write_bytes(jpeg(width=64, height=64))
    assert read_image(path).image.shape == (64, 64, 3)
    with pytest.raises(
        InputError, match=r"small\.jpg: expected 96 x 80 px as in table\.json, got 64 x 64 px"
    ):
        read_image(path, setup)


@pytest.mark.parametrize("content", [None, b"", b"hello"])
def test_what_cannot_be_read_is_said_with_its_path(tmp_path, content):
    path = tmp_path / "photo.jpg"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"photo\.jpg: expected a picture"):
        read_image(path)
    with pytest.raises(InputError, match="expected a picture"):
        read_image(tmp_path)


# --- sizes ---


def said_size(data, width, height):
    """A JPEG or PNG of a few hundred bytes whose header says that it is of another size, its
    checksum mended.
    """
    if data.startswith(b"\x89PNG"):
        header = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + data[24:29]
        return data[:12] + header + zlib.crc32(header).to_bytes(4, "big") + data[33:]
    at = next(match.start() for match in re.finditer(b"\xff[\xc0\xc1\xc2]", data))
    return data[: at + 5] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + data[at + 9 :]


PREVIEWED = (
    b"\xff\xd8\xff\xe1\x00\x10" + b"\xff\xd8\xff\xc0\x00\x08\x08\x00\x10\x00\x10\x00\x00\x00"
)
"""Where a picture begins that has another, small one in its EXIF segment."""
BOMBS = {
    "JPEG": said_size(jpeg(), 30000, 30000),
    "progressive": said_size(encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1), 65000, 65000),
    "behind a preview": said_size(jpeg(), 30000, 30000).replace(b"\xff\xd8", PREVIEWED, 1),
    "PNG": said_size(encoded(".png"), 30000, 30000),
    "a PNG of one row": said_size(encoded(".png"), 2**31 - 1, 1),
}


@pytest.mark.parametrize("data", BOMBS.values(), ids=BOMBS)
def test_a_picture_that_says_it_is_huge_is_refused_by_its_header(data, tmp_path, setup):
    path = tmp_path / "000.jpg"
    path.write_bytes(data)
    for door in (
        lambda: read_image(path),
        lambda: image_size(path),
        lambda: decode_image(data, "it"),
    ):
        with pytest.raises(
            InputError,
            match=(
                r"expected a picture of at most 13 megapixels \(RINKSIDE_MOST_MEGAPIXELS\), got \d+"
                r" x \d+ px"
            ),
        ):
            door()
    with pytest.raises(InputError, match="at most 13 megapixels"):
        open_camera(f"folder:{tmp_path}", setup).read()


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_larger_pictures_can_be_allowed(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"large{suffix}"
    path.write_bytes(encoded(suffix, np.zeros((1000, 1500, 3), np.uint8)))
    assert image_size(path) == (1500, 1000)
    monkeypatch.setenv("RINKSIDE_MOST_MEGAPIXELS", "1.4")
    with pytest.raises(InputError, match=r"at most 1\.4 megapixels"):
        read_image(path)
    monkeypatch.setenv("RINKSIDE_MOST_MEGAPIXELS", "1.5")
    assert read_image(path).image.shape == (1000, 1500, 3)


@pytest.mark.parametrize("message", ["0", "-3", "nan", "1e9", "many"])
def test_a_limit_that_is_none_is_refused(message, monkeypatch):
    monkeypatch.setenv("RINKSIDE_MOST_MEGAPIXELS", message)
    with pytest.raises(InputError, match="expected a number of megapixels from 1 to 1000"):
        decode_image(jpeg(), "it")


def test_a_picture_of_another_size_than_the_tables_is_refused_by_its_header(tmp_path, setup):
    """Cut short behind its header, it could not be decoded; its size is wrong all the same."""
    path = tmp_path / "other.jpg"
    path.write_bytes(jpeg(width=64)[:700])
    with pytest.raises(InputError, match=r"as in table\.json, got 64 x 80 px"):
        read_image(path, setup)


def test_a_picture_of_hundreds_of_scans_is_refused():
    """Each may be a few bytes, and takes as long as the whole picture."""
    data = encoded(".jpg", None, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    last = data.rindex(b"\xff\xda")
    assert decode_image(data, "it").shape == (HEIGHT, WIDTH, 3)
    with pytest.raises(InputError, match="cut short or damaged"):
        decode_image(data[:last] + 60 * data[last:-2] + data[-2:], "it")


def test_a_picture_without_any_pixels_is_refused():
    for data in (said_size(jpeg(), 0, 80), said_size(encoded(".png"), 96, 0)):
        with pytest.raises(InputError, match="cut short or damaged"):
            decode_image(data, "it")


def test_a_time_beyond_all_calendars_is_refused(tmp_path, setup):
    (tmp_path / "99999999999999999999.jpg").write_bytes(jpeg())
    with pytest.raises(InputError, match="with at most 15 digits"):
        open_camera(f"folder:{tmp_path}", setup)
