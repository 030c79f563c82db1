"""Cameras are found by what the kernel and rpicam-hello say of them."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from vision.cameras.found import (
    CAPABILITIES,
    STREAMING,
    VIDEO_CAPTURE,
    FoundCamera,
    found_cameras,
    listed_cameras,
    usb_cameras,
)

METADATA = 0x00800000
LISTED = """Available cameras
-----------------
0 : imx708 [4608x2592 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a)
    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]
                             4608x2592 [14.35 fps - (0, 0)/4608x2592 crop]
1 : imx219 [3280x2464 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@80000/imx219@10)
"""


def node(driver: bytes, card: bytes, can: int) -> bytes:
    return CAPABILITIES.pack(driver, card, b"usb-1", 0x060C00, can | 0x80000000, can)


def test_of_the_nodes_those_that_take_pictures_are_cameras() -> None:
    nodes = {
        "video0": node(b"uvcvideo", b"HD Pro Webcam C920\0", VIDEO_CAPTURE | STREAMING),
        "video1": node(b"uvcvideo", b"HD Pro Webcam C920\0", METADATA | STREAMING),
        "video2": node(b"bcm2835-codec", b"bcm2835-codec-decode\0", VIDEO_CAPTURE | STREAMING),
        "video3": node(b"rp1-cfe", b"rp1-cfe\0", VIDEO_CAPTURE | STREAMING),
        "video9": node(b"uvcvideo", b"\xff\0", VIDEO_CAPTURE | STREAMING),
    }
    paths = [Path("/dev", name) for name in (*nodes, "video4")]

    def query(path: Path) -> bytes:
        if path.name not in nodes:
            raise OSError(errno.ENODEV, "No such device")
        return nodes[path.name]

    assert list(usb_cameras(paths, query)) == [
        FoundCamera("v4l2:/dev/video0", "HD Pro Webcam C920"),
        FoundCamera("v4l2:/dev/video9", "\N{REPLACEMENT CHARACTER}"),
    ]


def test_what_is_no_camera_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "video0").write_text("no device")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found_cameras(tmp_path) == ()


def test_cameras_of_a_raspberry_pi_have_the_name_of_their_sensor() -> None:
    first, second = listed_cameras(LISTED)
    assert (first.spec, first.sensor) == ("rpicam:0", "imx708")
    assert second == FoundCamera("rpicam:1", "Raspberry Pi, imx219 (3280 x 2464 px)", "imx219")
    assert listed_cameras("No cameras available!") == ()


@pytest.mark.parametrize("script", [f"cat <<'END'\n{LISTED}END", "exit 1"])
def test_rpicam_hello_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    program = tmp_path / "rpicam-hello"
    program.write_text(f'#!/bin/sh\n[ "$*" = "--list-cameras" ] || exit 2\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = found_cameras(tmp_path)
    assert [one.spec for one in found] == (["rpicam:0", "rpicam:1"] if "END" in script else [])
