"""Find the cameras of this machine, without opening them and without OpenCV.

Linux lists USB cameras as /dev/video*; cameras of a Raspberry Pi are listed by `rpicam-hello`.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

QUERY_CAPABILITIES = 0x80685600
"""VIDIOC_QUERYCAP of the kernel's videodev2.h."""
CAPABILITIES = struct.Struct("=16s32s32sIII12x")
"""struct v4l2_capability: driver, card, bus, version, capabilities, those of this node."""
VIDEO_CAPTURE, STREAMING = 0x00000001, 0x04000000
NO_CAMERAS = re.compile(r"^(?:bcm2835|pispbe|rp1-cfe|unicam|rpi|hantro)")
"""Drivers of a Raspberry Pi's codecs and raw sensors: its cameras are those of `rpicam-hello`."""
PROGRAMS = ("rpicam-hello", "libcamera-hello")
LISTED = re.compile(r"^(\d+) : (\w+) \[(\d+)x(\d+)", re.MULTILINE)
LIST_S = 10.0


@dataclass(frozen=True, slots=True)
class FoundCamera:
    """A camera: `spec` as --camera takes it, `name` for display, `sensor` of a Pi's camera."""

    spec: str
    name: str
    sensor: str = ""


def found_cameras(devices: Path = Path("/dev")) -> tuple[FoundCamera, ...]:
    """Cameras of a Raspberry Pi, then USB cameras in the order of their numbers."""
    nodes = sorted(devices.glob("video*"), key=lambda node: (len(node.name), node.name))
    return (*_pi_cameras(), *usb_cameras(nodes))


def usb_cameras(
    nodes: list[Path], query: Callable[[Path], bytes] | None = None
) -> Iterator[FoundCamera]:
    """The nodes that capture images, as cameras; `query` gives the capabilities of one."""
    for node in nodes:
        try:
            raw = (query or _query)(node)
        except OSError:
            continue  # no rights, unplugged just now, or no camera
        driver, card, _, _, _, node_can = CAPABILITIES.unpack(raw)
        if (
            node_can & VIDEO_CAPTURE
            and node_can & STREAMING
            and not NO_CAMERAS.match(_text(driver))
        ):
            yield FoundCamera(f"v4l2:{node}", _text(card) or node.name)


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace").strip()


def _query(node: Path) -> bytes:
    handle = os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(handle, QUERY_CAPABILITIES, bytes(CAPABILITIES.size))
    finally:
        os.close(handle)


def _pi_cameras() -> tuple[FoundCamera, ...]:
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        return ()
    try:
        done = subprocess.run(
            [program, "--list-cameras"], capture_output=True, timeout=LIST_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return listed_cameras(done.stdout.decode("utf-8", "replace"))


def listed_cameras(text: str) -> tuple[FoundCamera, ...]:
    """Cameras of the output of `rpicam-hello --list-cameras`."""
    return tuple(
        FoundCamera(f"rpicam:{number}", f"Raspberry Pi, {sensor} ({width} x {height} px)", sensor)
        for number, sensor, width, height in LISTED.findall(text)
    )
