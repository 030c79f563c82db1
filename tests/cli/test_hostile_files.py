"""Commands on hostile files: no traceback, one line, and little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.attacks.good_files import make_good_files
from benchmarks.attacks.hostile_files import CONTROL, FORMATS, MOST_BYTES, Case
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

MB = 1 << 20


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good file of each format."""
    folder = tmp_path_factory.mktemp("good")
    make_good_files(folder)
    return folder


def unchanged(data: bytes, _rng: object) -> bytes:
    return data


@pytest.mark.parametrize("format_", FORMATS, ids=lambda one: one.name)
def test_good_files_are_read_by_every_command_that_is_tried(
    format_, good: Path, tmp_path: Path
) -> None:
    """Else nothing of what follows would be reached."""
    for words in format_.commands:
        folder = tmp_path / str(format_.commands.index(words))
        folder.mkdir()
        tried = Case(0, type(format_)(format_.name, (words,), (unchanged,)), good, 1)
        assert tried.run(folder) == ("done", ""), words


def test_hundreds_of_changed_files_leave_no_traceback() -> None:
    """`make bench-chaos` does this with thousands."""
    words = ["-m", "benchmarks.attacks.hostile_files", "--count", "150", "--seed", "3", "--json"]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    outcome = json.loads(done.stdout)
    assert outcome["faults"] == []
    assert sum(outcome["files"].values()) == 150
    assert outcome["exits"]["done"] > 5
    assert outcome["exits"]["refused"] > 50
    assert outcome["peak_bytes"] < MOST_BYTES


LIMITED = f"""
import json, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, ({MOST_BYTES}, {MOST_BYTES}))
from click.testing import CliRunner
from cli.main import main
ran = [CliRunner().invoke(main, words) for words in json.loads(sys.argv[1])]
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([int(peak), [[one.exit_code, one.stderr, repr(one.exception)] for one in ran]]))
"""
"""Command lines with 600 MB for data: what is allocated for writing, touched or not, stacks of
threads included.  Not the address space (RLIMIT_AS): a good picture needs 970 MB of that, as ONNX
Runtime, OpenCV and SciPy map 440 MB when they are imported, most of it never read. The most that
was in memory the process says itself: what the system tells of a child begins with the memory of
its parent.
"""


def limited(*commands: tuple[object, ...]) -> list[tuple[int, str]]:
    """How each command ends in a process that may have 600 MB, and what it says on stderr."""
    words = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, words], capture_output=True, text=True, check=True
    )
    peak_kb, ran = json.loads(done.stdout)
    assert peak_kb << 10 < MOST_BYTES
    assert not [
        exception
        for _, _, exception in ran
        if exception != "None" and not exception.startswith("SystemExit")
    ]
    return [(code, message) for code, message, _ in ran]


def refused(*commands: tuple[object, ...]) -> list[str]:
    """What is said of commands each of which is refused in one line."""
    lines = []
    for code, message in limited(*commands):
        assert code == 2, message
        assert message.startswith("rinkside: ")
        assert message.count("\n") == 1
        assert not CONTROL.search(message)
        lines.append(message)
    return lines


def large_png(folder: Path, width: int, height: int) -> Path:
    """A PNG whose rows are all there: 3 MB of zeros unpack to as many bytes as its header says."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
        )

    packer, packed, row = zlib.compressobj(9), bytearray(), bytes(1 + 3 * width)
    for _ in range(height):
        packed += packer.compress(row)
    packed += packer.flush()
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    path = folder / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", bytes(packed))
        + chunk(b"IEND", b"")
    )
    return path


def large_jpeg(folder: Path) -> Path:
    """A JPEG of a few kB that says it is 30000 x 30000."""
    _, data = cv2.imencode(".jpg", np.full((64, 64, 3), 120, np.uint8))
    text = data.tobytes()
    at = text.index(b"\xff\xc0")
    path = folder / "bomb.jpg"
    path.write_bytes(text[: at + 5] + (30000).to_bytes(2, "big") * 2 + text[at + 9 :])
    return path


@pytest.mark.parametrize(
    "bomb", [large_jpeg, lambda folder: large_png(folder, 20000, 2000)], ids=["JPEG", "PNG"]
)
def test_a_picture_that_unpacks_to_gigabytes_is_refused_by_every_command(
    bomb: Callable[[Path], Path], good: Path, tmp_path: Path
) -> None:
    path, frames = bomb(tmp_path), tmp_path / "frames"
    frames.mkdir()
    (frames / f"0{path.suffix}").write_bytes(path.read_bytes())
    table, out = good / "table.json", tmp_path / "out.json"
    message = refused(
        ("measure", path, "--table", table),
        ("observe", good / "photo.jpg", "--table", table, "--empty", path),
        ("referee", "--table", table, "--camera", f"folder:{frames}", "--players", "red,blue"),
        ("calibrate", "frame", path, "--table", table, "--out", out),
        ("calibrate", "recheck", path, "--table", table),
        ("calibrate", "colours", "--table", table, "--picture", path, "--out", out),
        ("calibrate", "table", "--lens", good / "lens.json", "--from", frames, "--out", out),
        ("calibrate", "check", "--table", table, "--from", frames, "--out", tmp_path / "out.html"),
    )
    assert all(
        "expected a picture of at most " in line
        or "as in table.json" in line
        or "the size that the lens is calibrated for" in line
        for line in message
    ), message
    assert not out.exists()


def test_a_film_of_huge_frames_is_refused_before_one_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "bomb.avi"
    film = cv2.VideoWriter(
        str(path), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*"MJPG"), 4.0, (9000, 8000)
    )
    film.write(np.zeros((8000, 9000, 3), np.uint8))
    film.release()
    (message,) = refused(
        ("calibrate", "lens", "--camera", f"video:{path}", "--out", tmp_path / "lens.json")
    )
    assert "at most 13 megapixels" in message


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 30)


def endless_line(path: Path) -> None:
    path.write_bytes(b'{"t_ms": 1, "said": "' + b"x" * (4 * MB - 40) + b'"}')


def a_million_lists(path: Path) -> None:
    path.write_bytes(b"[" + b"[]," * (4 * MB // 3 - 2) + b"[]]")


def a_million_numbers(path: Path) -> None:
    path.write_bytes(b'{"t_ms": [' + b"1.5," * (MB - 10) + b"1]}")


def huge_keys(path: Path) -> None:
    path.write_bytes(b"".join(b'"%d%s" = 1\n' % (number, b"k" * 60) for number in range(3700)))


def long_key(path: Path) -> None:
    path.write_bytes(b"a." * 130_000 + b"a = 1")


def loop(path: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


MADE = (
    sparse,
    endless_line,
    a_million_lists,
    a_million_numbers,
    huge_keys,
    long_key,
    loop,
    pipe,
    zeros,
    Path.mkdir,
)


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_what_is_handed_in_the_place_of_a_file_is_refused_in_one_line(
    make: Callable[[Path], None], good: Path, tmp_path: Path
) -> None:
    table, path, own = good / "table.json", tmp_path / "x.toml", tmp_path / "own.json"
    make(path)
    own.write_text(
        json.dumps(
            json.loads(table.read_text())
            | {"game": json.loads(table.read_text())["game"] | {"pieces": "x.toml"}}
        )
    )
    refused(
        ("calibrate", "recheck", good / "photo.jpg", "--table", path),
        ("calibrate", "recheck", good / "photo.jpg", "--table", own),
        ("calibrate", "recheck", path, "--table", table),
        ("hardware", "list", "--settings", path),
        (
            "referee",
            "--table",
            table,
            "--camera",
            f"folder:{good / 'frames'}",
            "--players",
            "red,blue",
            "--inputs",
            path,
        ),
    )


def test_the_largest_pictures_that_are_allowed_take_less_than_600_mb(
    good: Path, tmp_path: Path
) -> None:
    """Noise, of which every grain is an edge to who looks for fiducials, in a progressive JPEG,
    which is decoded with all of it in memory.
    """
    table = json.loads((good / "table.json").read_text())
    height, width = 3000, 4000
    rng = np.random.default_rng(5)
    image = cv2.resize(cv2.imread(str(good / "photo.jpg")), (width, height)).astype(np.int16)
    image += rng.integers(-60, 60, image.shape, np.int16)
    words = [
        cv2.IMWRITE_JPEG_PROGRESSIVE,
        1,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    ]
    assert cv2.imwrite(str(tmp_path / "photo.jpg"), np.clip(image, 0, 255).astype(np.uint8), words)
    lens, scale = table["camera"], width / table["camera"]["width"]
    (fx, _, cx), (_, fy, cy), last = lens["matrix"]
    lens |= {
        "width": width,
        "height": height,
        "matrix": [[fx * scale, 0, cx * scale], [0, fy * scale, cy * scale], last],
    }
    (tmp_path / "table.json").write_text(json.dumps(table))
    photo, out = tmp_path / "photo.jpg", tmp_path / "out.png"
    assert limited(
        ("observe", photo, "--empty", photo, "--table", tmp_path / "table.json", "--picture", out)
    ) == [(0, "")]
    assert out.exists()
