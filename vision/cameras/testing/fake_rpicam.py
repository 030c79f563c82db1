"""A program that stands in for rpicam-vid: its options, its raw video and its metadata.

Options are those of rpicam-apps 1.9 (core/options.cpp, core/video_options.hpp), parsed as by
Boost.Program_options. An unknown one, one that is given twice and a missing value end the program.
Raw video is written as by encoder/null_encoder.cpp and output/output.cpp, with padded rows and an
object of metadata after each frame. The simulated camera is a `Behaviour` in the program's folder.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

WITHOUT_VALUE = """
help version list-cameras nopreview fullscreen qt-preview hflip vflip flush no-raw inline listen
keypress signal split libav-audio low-latency
"""
WITH_VALUE = """
camera verbose config info-text width height timeout output post-process-file preview rotation roi
shutter analoggain gain metering exposure ev awb awbgains ccm wrap brightness contrast saturation
sharpness framerate denoise viewfinder-width viewfinder-height tuning-file lores-width lores-height
mode viewfinder-mode buffer-count viewfinder-buffer-count autofocus-mode autofocus-range
autofocus-speed autofocus-window lens-position hdr metadata metadata-format flicker-period bitrate
profile level intra codec save-pts quality initial segment circular frames libav-video-codec
libav-format audio-codec sync
"""
SWITCHES, VALUES = tuple(WITHOUT_VALUE.split()), tuple(WITH_VALUE.split())
WITH_SHORT_NAME = """
help verbose config timeout output nopreview preview fullscreen bitrate quality listen keypress
signal initial
"""
SHORT = {"g": "intra"} | {name[0]: name for name in WITH_SHORT_NAME.split()}
FOCUS_MODES = ("default", "manual", "auto", "continuous")
PROGRAM = "rpicam-vid"


@dataclass(frozen=True)
class Behaviour:
    """Behaviour of the simulated camera.

    `pictures` are files of I420 without padding, or JPEGs, of `size`, shown in turn. After `frames`
    of them `ends` follows.
    """

    size: tuple[int, int]
    pictures: tuple[str, ...]
    frames: int = 10**9
    ends: Literal["waits", "exits", "half"] = "exits"
    row_bytes: int = 64
    """Rows are padded to a multiple of this."""
    period_s: float = 0.0
    scanning: int = 0
    """Number of frames for which the lens searches for its focus."""
    lens: bool = True
    error: str = ""
    """Ends the program at once with this message, as if there were no camera."""


class OptionError(Exception):
    """Message of Boost.Program_options."""


def install(folder: Path, behaviour: Behaviour) -> None:
    """Put the program into a folder, which then goes on PATH."""
    (folder / "behaviour.json").write_text(json.dumps(asdict(behaviour)))
    program = folder / PROGRAM
    lines = (
        f"#!{sys.executable}",
        "import sys",
        f"sys.path.insert(0, {str(Path(__file__).parents[3])!r})",
        f"from {__name__} import main",
        f"sys.exit(main({str(folder)!r}, sys.argv[1:]))",
    )
    program.write_text("\n".join(lines) + "\n")
    program.chmod(0o755)


class Start(NamedTuple):
    """One start of the program: its process and its arguments."""

    pid: int
    words: list[str]


def starts(folder: Path) -> list[Start]:
    """All starts of the program so far."""
    log = folder / "starts.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    return [Start(*json.loads(line)) for line in lines]


def main(folder: str, words: Sequence[str]) -> int:
    """The exit code of rpicam-vid."""
    place = Path(folder)
    with (place / "starts.jsonl").open("a") as log:
        log.write(json.dumps((os.getpid(), words)) + "\n")
    stored = json.loads((place / "behaviour.json").read_text())
    behaviour = Behaviour(**stored | {"size": tuple(stored["size"])})
    try:
        options = parse(words)
        check(options)
        if behaviour.error:
            raise OptionError(behaviour.error)
        return film(options, behaviour)
    except OptionError as error:
        sys.stderr.write(f"ERROR: *** {error} ***\n")
        return 255


def parse(words: Sequence[str]) -> dict[str, str]:
    """Options by their long names, parsed like Boost's unix style, with guessing."""
    options: dict[str, str] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if word.startswith("--"):
            given, equals, value = word[2:].partition("=")
            name = _guessed(given)
        elif word.startswith("-") and len(word) > 1:
            if word[1] not in SHORT:
                raise OptionError(f"unrecognised option '{word}'")
            name, value = SHORT[word[1]], word[2:]
            equals = value
        else:
            raise OptionError("too many positional options have been specified on the command line")
        if name in VALUES and not equals:
            if not left:
                raise OptionError(f"the required argument for option '--{name}' is missing")
            value = left.pop(0)
        if name in options:
            raise OptionError(f"option '--{name}' cannot be specified more than once")
        options[name] = value
    return options


def _guessed(given: str) -> str:
    known = SWITCHES + VALUES
    if given in known:
        return given
    fits = [name for name in known if given and name.startswith(given)]
    if len(fits) > 1:
        listed = " and ".join(f"'--{name}'" for name in fits)
        raise OptionError(f"option '--{given}' is ambiguous and matches {listed}")
    if not fits:
        raise OptionError(f"unrecognised option '--{given}'")
    return fits[0]


def check(options: dict[str, str]) -> None:
    """Values that rpicam-vid refuses."""
    kinds: dict[str, Callable[[str], object]] = {
        **dict.fromkeys(("camera", "width", "height", "frames"), int),
        **dict.fromkeys(("framerate", "gain", "analoggain", "ev", "brightness"), float),
    }
    for name, value in options.items():
        try:
            kinds.get(name, str)(value)
        except ValueError:
            raise OptionError(
                f"the argument ('{value}') for option '--{name}' is invalid"
            ) from None
    if options.get("autofocus-mode", "default") not in FOCUS_MODES:
        raise OptionError(f"Invalid AfMode:{options['autofocus-mode']}")
    if len(options.get("awbgains", "0,0").split(",")) != 2:
        raise OptionError("Invalid AWB gains")
    try:
        float(options.get("lens-position", "0").replace("default", "0"))
    except ValueError:
        raise OptionError(f"Invalid lens position: {options['lens-position']}") from None
    if options.get("codec", "h264") not in ("h264", "mjpeg", "yuv420"):
        raise OptionError(f"Unrecognised codec {options['codec']}")


def film(options: dict[str, str], behaviour: Behaviour) -> int:
    """Write the frames that the options ask for."""
    width, height = behaviour.size
    raw = options.get("codec") == "yuv420"
    sys.stderr.write(
        "[0:00:01.000000000] [1]  INFO Camera camera.cpp:1197 configuring streams: (0)"
        f" {width}x{height}-YUV420/sYCC (1) 1640x1232-SBGGR10_CSI2P\n"
    )
    sys.stderr.flush()
    files = [Path(name).read_bytes() for name in behaviour.pictures]
    pictures = [padded(one, *behaviour.size, behaviour.row_bytes) if raw else one for one in files]
    begun = time.monotonic()
    rest = b""
    for number in range(behaviour.frames):
        time.sleep(max(0.0, begun + number * behaviour.period_s - time.monotonic()))
        _write(rest + pictures[number % len(pictures)])
        if raw and options.get("metadata") == "-":
            text = written(reported(options, behaviour, number), first=number == 0)
            _write(text[:-1])
            rest = text[-1:]  # the brace is not flushed before the next frame
    if behaviour.ends == "half":
        picture = pictures[behaviour.frames % len(pictures)]
        _write(rest + picture[: len(picture) // 2])
    if behaviour.ends == "waits":
        time.sleep(60)
    return 0


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view) :]


def padded(picture: bytes, width: int, height: int, row_bytes: int) -> bytes:
    """I420 with padded rows, chroma rows half as long."""
    stride = -(-width // row_bytes) * row_bytes
    planes = ((width, height, stride), *[(width // 2, height // 2, stride // 2)] * 2)
    rows, at = [], 0
    for used, count, length in planes:
        for _ in range(count):
            rows.append(picture[at : at + used].ljust(length, b"\xa5"))
            at += used
    return b"".join(rows)


def reported(options: dict[str, str], behaviour: Behaviour, number: int) -> dict[str, str | int]:
    """Metadata of a frame; values that no option fixes change from frame to frame."""
    gain = options.get("gain", options.get("analoggain"))
    gains = options.get("awbgains")
    values: dict[str, str | int] = {
        "SensorTimestamp": 1_000_000_000 + 100_000_000 * number,
        "ScalerCrop": '"(0, 0)/3280x2464"',
        "ExposureTime": int(options.get("shutter", 9000 + number)),
        "AnalogueGain": f"{float(gain) if gain else 1.5 + number / 100:.6f}",
        "ColourGains": "[ {}, {} ]".format(
            *(
                f"{float(one):.6f}"
                for one in (gains.split(",") if gains else (1.9 + number / 100, 1.6))
            )
        ),
        "Lux": "nan",
    }
    if behaviour.lens:
        mode = options.get("autofocus-mode", "manual" if "lens-position" in options else "auto")
        scanning = mode != "manual" and number < behaviour.scanning
        lens = options.get("lens-position") if mode == "manual" else 3.5 + scanning * number / 10
        values |= {
            "LensPosition": f"{float(lens or 1):.6f}",
            "AfState": 0 if mode == "manual" else 1 if scanning else 2,
        }
    return values


def written(values: Mapping[str, str | int], first: bool) -> bytes:
    """An object as rpicam-vid writes it, which not every JSON parser takes."""
    lines = ",".join(f'\n    "{name}": {value}' for name, value in values.items())
    return f"{'' if first else f',{os.linesep}'}{{{lines}\n}}".encode()
