"""The Raspberry Pi's camera through `rpicam-vid`, a program of Raspberry Pi OS.

Works in any virtual environment.  rpicam-vid takes settings only when it starts: the camera is
locked by starting it again with the values that it reported.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from table.errors import InputError
from table.messages import msg, phrase
from table.table_config import Setup
from vision.cameras.base import CameraLost
from vision.cameras.frame import Image
from vision.cameras.i420 import RawVideo
from vision.cameras.live import CLOSING_S, Feed, LiveCamera, Picture, wanted_size
from vision.cameras.picamera import LOCKED_AFTER, USUAL_PX

PROGRAMS = ("rpicam-vid", "libcamera-vid")
"""Name of the program, and its name before 2023."""
RATE_HZ = 10.0
FASTEST_HZ = 120.0
SILENT_S = 4.0
"""Time without output after which the program hangs and is ended. It is shorter than the patience
with a live camera, so that the device is free when it is opened again.
"""
PIPE_BYTES = 1 << 20
"""Size of the pipe, the most that Linux allows without privileges; a frame then takes few reads."""
SHORT = {
    "b": "bitrate",
    "c": "config",
    "f": "fullscreen",
    "g": "intra",
    "h": "help",
    "i": "initial",
    "k": "keypress",
    "l": "listen",
    "n": "nopreview",
    "o": "output",
    "p": "preview",
    "q": "quality",
    "s": "signal",
    "t": "timeout",
    "v": "verbose",
}
"""Short names of rpicam-vid's options."""
SYNONYMS = {"analoggain": "gain"}
OURS = frozenset(
    {
        *("camera", "width", "height", "framerate", "codec", "timeout", "nopreview", "flush"),
        *("output", "metadata", "metadata-format"),
        *("frames", "segment", "split", "circular", "initial", "keypress", "signal"),
        *("listen", "help", "version", "list-cameras", "fullscreen", "qt-preview", "preview"),
    }
)
"""Options that this module sets, or that would change the data in the pipe."""
FOCUS = frozenset({"autofocus-mode", "lens-position"})
AF_SCANNING = 1
"""libcamera's AfStateScanning."""
BAD_OPTION = re.compile(r"ERROR: \*\*\* (.*\boptions?\b.*|(?:Invalid|illegal) .*?) \*\*\*")
"""Messages of rpicam-vid and Boost.Program_options about options, not about cameras."""
STREAM = re.compile(rb"configuring streams: \(0\) (\d+)x(\d+)-YUV420")
"""Line of libcamera's log with the camera's actual size, which may differ from the wanted one."""
NEWS = re.compile(r"\[[\d:. ]+\] +\[\d+\] +(?:DEBUG|INFO|WARN) ")
"""Lines of libcamera's log that do not state why the program ended."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass
class Request:
    """Parameters of rpicam-vid; `locked` are options, None before anything is locked.

    They stay while the camera is open, so that the table looks the same after a restart.
    """

    program: str
    number: str
    size: tuple[int, int]
    rate_hz: float
    options: Sequence[str]
    focus_dpt: float | None
    """Focus that the lens was calibrated at, if known."""
    locked: list[str] | None = None

    @property
    def given_options(self) -> frozenset[str]:
        """Names of the options that the user gave."""
        return frozenset(option_names(self.options))

    def command(self) -> list[str]:
        """The command line."""
        width, height = self.size
        return [
            *(self.program, "--camera", self.number),
            *("--width", str(width), "--height", str(height), "--framerate", f"{self.rate_hz:g}"),
            *("--codec", "yuv420", "--timeout", "0", "--nopreview", "--flush", "--output", "-"),
            *("--metadata", "-", "--metadata-format", "json"),
            *(self._first_focus() if self.locked is None else self.locked),
            *self.options,
        ]

    def _first_focus(self) -> list[str]:
        """The calibration's focus, or one autofocus search; nothing if the user set the focus."""
        if self.given_options & FOCUS:
            return []
        if self.focus_dpt is not None:
            return ["--autofocus-mode", "manual", "--lens-position", f"{self.focus_dpt:g}"]
        return ["--autofocus-mode", "auto"]

    def lock(self, reported: Mapping[str, str]) -> bool:
        """Lock the reported values that the user did not give; True if there are any."""
        given_options = self.given_options
        values = {name: NUMBER.findall(text) for name, text in reported.items()}
        options = []
        for option, name, count in (
            ("shutter", "ExposureTime", 1),
            ("gain", "AnalogueGain", 1),
            ("awbgains", "ColourGains", 2),
        ):
            if option not in given_options and len(numbers := values.get(name, [])) == count:
                options += [f"--{option}", ",".join(numbers)]
        if not given_options & FOCUS and (position := values.get("LensPosition", [])):
            options += ["--autofocus-mode", "manual", "--lens-position", position[0]]
        self.locked = options
        return bool(options)


class Program:
    """A running rpicam-vid."""

    def __init__(self, request: Request) -> None:
        command = request.command()
        self._name, self._size = Path(command[0]).name, request.size
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, bufsize=0
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        with suppress(OSError):
            fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)

    def read(self, into: memoryview) -> int:
        """Wait for some bytes.

        Raises CameraLost with the program's last words, or InputError if it refuses its options.
        """
        if not self._poll.poll(1000 * SILENT_S):
            raise CameraLost(msg("no picture arrived for {mm} s", mm=f"{SILENT_S:g}"))
        count: int = self._pipe.readinto(into)  # type: ignore[attr-defined]  # unbuffered: FileIO
        if not count:
            raise self._exit_error()
        return count

    def check_size(self) -> None:
        """Raise InputError if the camera gives another size than the wanted one."""
        if (found := STREAM.findall(self._stderr_bytes())) and found[-1] != tuple(
            str(side).encode() for side in self._size
        ):
            width, height = (int(side) for side in found[-1])
            raise InputError(
                msg(
                    "expected pictures of {width} x {height} px, got {width2} x {height2} px;"
                    " choose a size that the camera has",
                    width=self._size[0],
                    height=self._size[1],
                    width2=width,
                    height2=height,
                )
            )

    def close(self) -> None:
        """End the program."""
        self._process.terminate()
        self._exit_code()
        self._pipe.close()
        self._log.close()

    def _exit_code(self) -> int:
        """Wait for the end; kill the program if it does not end."""
        try:
            return self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _stderr_bytes(self) -> bytes:
        """Its stderr so far; writing continues at the same position."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0)

    def _exit_error(self) -> CameraLost | InputError:
        code = self._exit_code()
        lines = [
            line
            for line in self._stderr_bytes().decode(errors="replace").splitlines()
            if line.strip() and not NEWS.match(line)
        ]
        if not lines:
            return CameraLost(msg("{name} ended with code {n}", name=self._name, n=code))
        last = lines[-1].strip()
        if why := BAD_OPTION.match(last):
            return InputError(msg("{name} refuses its options: {raw}", name=self._name, raw=why[1]))
        return CameraLost(
            msg("{name} ended with code {n}: {raw}", name=self._name, n=code, raw=last)
        )


class RpicamFeed:
    """Images of rpicam-vid.

    The program is started once more as soon as there are values to lock.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._taken = 0
        self._again = False
        self._start()

    def picture(self) -> Picture:
        """The next image; raises CameraLost, or InputError if its options or sizes are wrong."""
        if self._again:
            self._again = False
            self._program.close()
            self._start()
        image, reported = self._next()
        self._taken += 1
        if self._request.locked is None and self._is_settled(reported):
            self._again = self._request.lock(reported)
        focus = NUMBER.findall(reported.get("LensPosition", ""))
        return Picture(image, float(focus[0]) if focus else None)

    def close(self) -> None:
        """End the program."""
        self._program.close()

    def _start(self) -> None:
        self._program = Program(self._request)
        self._video = RawVideo(self._program.read, *self._request.size)

    def _next(self) -> tuple[Image, Mapping[str, str]]:
        try:
            taken = self._video.next()
        except InputError:
            self._program.check_size()  # its error gives the sizes in pixels
            raise
        if self._taken == 0:
            self._program.check_size()
        return taken

    def _is_settled(self, reported: Mapping[str, str]) -> bool:
        """True after LOCKED_AFTER frames, or three times as many while the lens seeks its focus."""
        searching = reported.get("AfState") == str(AF_SCANNING)
        return self._taken >= LOCKED_AFTER * (3 if searching else 1)


def option_names(words: Sequence[str]) -> list[str]:
    """Names of the options on a command line; synonyms and short names become one name."""
    names = []
    for word in words:
        if word.startswith("--"):
            name = word[2:].partition("=")[0]
        elif word[:1] == "-" and word[1:2].isalpha():
            name = SHORT.get(word[1], word[1])
        else:
            continue
        names.append(SYNONYMS.get(name, name))
    return names


def open_camera(argument: str, setup: Setup | None) -> LiveCamera:
    """`rpicam:0`, `rpicam:0@1640x1232` or `rpicam:0@1640x1232:15`: number, size, pictures a second.

    All may be left out.  Options of rpicam-vid may follow, as in `rpicam:0 --shutter 8000`.  What
    they do not set is locked after some seconds: focus, exposure and white balance.
    """
    words = _words(argument)
    place, options = ("", words) if not words or words[0][0] == "-" else (words[0], words[1:])
    number, size, rate_hz = _place(place, setup)
    _check_options(options)
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        raise InputError(
            msg(
                "camera: rpicam: expected the program rpicam-vid, which is not"
                " installed; on Raspberry Pi OS: sudo apt install rpicam-apps"
            )
        )
    focus_dpt = setup.camera.focus_dpt if setup is not None else None
    request = Request(program, number, size, rate_hz, options, focus_dpt)

    def connect() -> Feed:
        return RpicamFeed(request)

    return LiveCamera(phrase("Raspberry Pi camera {n}", n=number), connect, setup)


def _words(argument: str) -> list[str]:
    try:
        return [word for word in shlex.split(argument) if word]
    except ValueError as error:
        raise InputError(
            msg(
                "camera: rpicam: expected options of rpicam-vid, got {raw} ({raw2})",
                raw=repr(argument),
                raw2=error,
            )
        ) from error


def _place(place: str, setup: Setup | None) -> tuple[str, tuple[int, int], float]:
    """Number, size and rate, from `0@1640x1232:15` or a part of it."""
    device, colon, rate = place.partition(":")
    number, size = wanted_size(device, setup, USUAL_PX)
    if number and not (number.isascii() and number.isdecimal()):
        raise InputError(
            msg(
                "camera: rpicam: expected a camera such as rpicam:0 or rpicam:0@1640x1232:10,"
                " got {raw}",
                raw=repr(place),
            )
        )
    if size[0] % 2 or size[1] % 2:
        raise InputError(
            msg(
                "camera: rpicam: expected an even width and height, got {width} x {height} px;"
                " calibrate the lens at an even size",
                width=size[0],
                height=size[1],
            )
        )
    return number or "0", size, _rate(rate, place) if colon else RATE_HZ


def _rate(text: str, place: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII) and 1 <= float(text) <= FASTEST_HZ:
        return float(text)
    raise InputError(
        msg(
            "camera: rpicam: expected 1 to {n} pictures a second, such as rpicam:0@1640x1232:10,"
            " got {raw}",
            n=f"{FASTEST_HZ:g}",
            raw=repr(place),
        )
    )


def _check_options(options: Sequence[str]) -> None:
    """Raise InputError for an option that this module sets, or that is given twice."""
    names = option_names(options)
    for index, name in enumerate(names):
        if name in OURS:
            raise InputError(
                msg(
                    "camera: rpicam: expected no {raw}, which Rinkside sets itself; number, size"
                    " and rate are written rpicam:0@1640x1232:10",
                    raw=f"--{name}",
                )
            )
        if name in names[:index]:
            raise InputError(
                msg("camera: rpicam: expected {raw} once, got it twice", raw=f"--{name}")
            )
