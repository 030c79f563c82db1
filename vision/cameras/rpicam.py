"""The Raspberry Pi's camera through `rpicam-vid`, a program of Raspberry Pi OS.

Works in any virtual environment.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from table.errors import InputError
from table.messages import Message, msg, phrase
from table.table_config import Orientation, Setup
from vision.cameras.base import CameraLost
from vision.cameras.live import CLOSING_S, Feed, LiveCamera, Picture
from vision.cameras.mjpeg import MjpegPictures
from vision.cameras.picamera import USUAL_PX

PROGRAMS = ("rpicam-vid", "libcamera-vid")
"""Name of the program, and its name before 2023."""
RATE_HZ, QUALITY = 10, 93
CHUNK = 1 << 16


class PipeFeed:
    """Images from the standard output of a program that writes JPEGs one after the other."""

    def __init__(self, command: list[str], orientation: Orientation) -> None:
        self._name = Path(command[0]).name
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the feed
        self._program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
        )
        self._pictures = MjpegPictures(self._more, orientation)

    def picture(self) -> Picture:
        """The next whole image; raises CameraLost, with the program's last output, when it ends."""
        return Picture(self._pictures.next())

    def _more(self) -> bytes:
        assert self._program.stdout is not None
        chunk = self._program.stdout.read(CHUNK)
        if not chunk:
            raise CameraLost(self._last_words())
        return bytes(chunk)

    def close(self) -> None:
        """End the program."""
        self._program.terminate()
        try:
            self._program.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        assert self._program.stdout is not None
        self._program.stdout.close()
        self._said.close()

    def _last_words(self) -> Message:
        code = self._program.wait()
        self._said.seek(0)
        lines = [
            line for line in self._said.read().decode(errors="replace").splitlines() if line.strip()
        ]
        if not lines:
            return msg("{name} ended with code {n}", name=self._name, n=code)
        last = lines[-1].strip()
        return msg("{name} ended with code {n}: {raw}", name=self._name, n=code, raw=last)


def open_camera(argument: str, setup: Setup | None) -> LiveCamera:
    """`rpicam:` or `rpicam:OPTIONS`: with options of rpicam-vid.

    As in `rpicam:--lens-position 4.2 --shutter 8000 --gain 2 --awbgains 1.9,1.6`.  The camera
    adjusts continuously whatever such options do not lock.
    """
    try:
        options = shlex.split(argument)
    except ValueError as error:
        raise InputError(
            msg(
                "camera: rpicam: expected options of rpicam-vid, got {raw} ({raw2})",
                raw=repr(argument),
                raw2=error,
            )
        ) from error
    if options and not options[0].startswith("-"):
        raise InputError(
            msg(
                "camera: rpicam: expected options of rpicam-vid such as --shutter 8000, got {raw}",
                raw=repr(options[0]),
            )
        )
    orientation: Orientation = setup.camera.orientation if setup is not None else "sensor"
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        raise InputError(
            msg(
                "camera: rpicam: expected the program rpicam-vid, which is not"
                " installed; on Raspberry Pi OS: sudo apt install rpicam-apps"
            )
        )
    width, height = (setup.camera.width, setup.camera.height) if setup is not None else USUAL_PX
    size = ["--width", str(width), "--height", str(height)]
    fixed = [
        "--codec",
        "mjpeg",
        "--quality",
        str(QUALITY),
        "--framerate",
        str(RATE_HZ),
        "--timeout",
        "0",
        "--nopreview",
        "--flush",
        "--output",
        "-",
    ]

    def connect() -> Feed:
        return PipeFeed([program, *size, *fixed, *options], orientation)

    return LiveCamera(phrase("Raspberry Pi camera"), connect, setup)
