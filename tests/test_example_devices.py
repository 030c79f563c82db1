"""Devices of other packages: the example passes the contract suites, and one that fails is named
and contained.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from hardware.cues import Cue
from hardware.factory import Devices, open_devices
from hardware.interfaces import Press
from hardware.plugins import INTERFACE, DevicePlugin, device_plugins
from hardware.scoreboard import Scoreboard
from hardware.settings import parse_settings
from table.errors import InputError
from tests.support.installed_packages import ROOT, announce, install, on_the_path, rinkside
from tests.support.setups import setup_of
from vision.cameras.base import CameraLost, CameraPort, open_camera
from vision.cameras.frame import Frame
from vision.cameras.plugins import CameraPlugin, camera_plugins

EXAMPLE = ROOT / "examples" / "devices"
OUTLINE = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [0.0, 400.0]])
TURN = Cue("turn", ("red", "blue"), of=("red",))


def test_the_example_passes_the_contract_suites(tmp_path: Path) -> None:
    install(EXAMPLE, tmp_path)
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "conformance.plugin",
        ],
        cwd=EXAMPLE,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:]
    assert "skipped" not in result.stdout
    rows = json.loads(rinkside(tmp_path, "plugins", "list", "--json").stdout)
    mine = [row for row in rows if row["package"] == "rinkside-file-devices"]
    assert [(row["group"], row["name"], row["interface"], row["wrong"]) for row in mine] == [
        ("rinkside.cameras", "still", 1, ""),
        ("rinkside.lamps", "file", 1, ""),
        ("rinkside.dice", "file", 1, ""),
        ("rinkside.buttons", "file", 1, ""),
        ("rinkside.sounds", "file", 1, ""),
        ("rinkside.outputs", "file", 1, ""),
    ]


class Moody:
    """A device, or a camera, that does what `mood` says."""

    error = ""
    count = 2
    name, simulated = "moody", False

    def __init__(self) -> None:
        self.mood: Callable[[], object] = lambda: None

    def show(self, _shown: object) -> object:
        return self.mood()

    play = listen = show

    def read(self) -> object:
        return self.mood()

    def close(self) -> object:
        return self.mood()


MOODY = Moody()
NOT_ONE = object()


def raises() -> object:
    raise RuntimeError("two\nlines")


def exits() -> object:
    raise SystemExit(3)


@pytest.fixture
def moody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Moody]:
    """A package with a camera and devices that have moods."""
    (tmp_path / "moody_device.py").write_text("PARTS = {}\n")
    groups = {
        f"rinkside.{group}": {"moody": "moody_device:MOODY", "old": "moody_device:OLD"}
        | {"bare": "moody_device:BARE", "away": "moody_nowhere", "odd": "moody_device:PARTS"}
        for group in ("cameras", "lamps", "dice", "buttons", "sounds", "outputs")
    }
    announce(tmp_path, "moody-device", "1.0", groups)
    device = Moody()
    with on_the_path(tmp_path, "moody_device"):
        import moody_device  # type: ignore[import-not-found]

        kinds = {"MOODY": (device, INTERFACE), "OLD": (device, 0), "BARE": (NOT_ONE, INTERFACE)}
        for name, (opened, interface) in kinds.items():
            plugin = DevicePlugin(lambda _options, _place, opened=opened: opened, interface)
            monkeypatch.setattr(moody_device, name, plugin, raising=False)
        yield device
        device.mood = lambda: None


@pytest.fixture
def cameras(moody: Moody, monkeypatch: pytest.MonkeyPatch) -> Moody:
    import moody_device

    for name, (opened, interface) in {"MOODY": (moody, 1), "OLD": (moody, 0)}.items():
        plugin = CameraPlugin(lambda _argument, _setup, opened=opened: opened, interface)
        monkeypatch.setattr(moody_device, name, plugin, raising=False)
    return moody


def opened(**table: object) -> Devices:
    settings = parse_settings({"hardware": table}, "rinkside.toml")
    return open_devices(settings, OUTLINE, lambda _text: None)


def use(part: str, device: object) -> None:
    {
        "lamps": lambda: device.show(TURN),  # type: ignore[attr-defined]
        "dice": lambda: device.show((1, 2)),  # type: ignore[attr-defined]
        "buttons": lambda: device.listen(lambda _press: None),  # type: ignore[attr-defined]
        "buzzer": lambda: device.play(TURN),  # type: ignore[attr-defined]
        "output": lambda: device.show(Scoreboard("Pegs", ())),  # type: ignore[attr-defined]
    }[part]()


PARTS = ("lamps", "dice", "buttons", "buzzer", "output")


@pytest.mark.parametrize("mood", [raises, exits])
@pytest.mark.parametrize("part", PARTS)
def test_a_device_that_fails_is_named_and_tried_again(
    moody: Moody, part: str, mood: object
) -> None:
    devices = opened(**{part: {"kind": "moody"}})
    use(part, getattr(devices, part))
    assert devices.errors == {}
    moody.mood = mood  # type: ignore[assignment]
    use(part, getattr(devices, part))
    assert devices.errors[part].startswith(
        "The part moody of the package moody-device 1.0 failed in "
    )
    assert devices.errors[part].isprintable()
    moody.mood = lambda: None
    use(part, getattr(devices, part))
    assert devices.errors == {}
    moody.mood = mood  # type: ignore[assignment]
    devices.close()


def test_a_device_that_hangs_is_switched_off(moody: Moody, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hardware.plugins.ANSWER_S", 0.5)
    devices = opened(lamps={"kind": "moody"}, buzzer={"kind": "fake"})
    moody.mood = Event().wait
    use("lamps", devices.lamps)
    moody.mood = lambda: None
    for _ in range(3):
        use("lamps", devices.lamps)
        use("buzzer", devices.buzzer)
    assert [*devices.errors] == ["lamps"]
    assert "It is switched off until Rinkside starts again." in devices.errors["lamps"]
    devices.close()


def test_what_is_no_press_is_told_as_an_error(moody: Moody) -> None:
    received: list[object] = []
    tellers: list[Callable[[object], None]] = []
    moody.listen = tellers.append  # type: ignore[method-assign, assignment]
    devices = opened(buttons={"kind": "moody"})
    assert devices.buttons is not None
    devices.buttons.listen(received.append)
    tellers[0]("die")
    assert received == []
    assert "expected a Press, got 'die'" in devices.errors["buttons"]
    tellers[0](Press("die", "down", 5.0))
    assert received == [Press("die", "down", 5.0)]
    devices.close()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("old", "it is made for interface 0 of devices, this one is 1"),
        ("away", "No module named 'moody_nowhere'"),
        ("odd", "expected a DevicePlugin, got dict"),
        ("bare", "failed in open: ValueError: expected "),
        ("nobody", 'got "nobody"'),
        ("plugin", 'got "plugin"'),
    ],
)
@pytest.mark.usefixtures("moody")
def test_a_device_that_cannot_be_used_is_never_replaced(part: str, kind: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        opened(**{part: {"kind": kind}})
    assert f"hardware.{part}" in str(raised.value)
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "moody" in device_plugins(part).parts


def frame(seq: int = 0, at_ms: int = 0, **changes: object) -> Frame:
    image = changes.get("image", np.zeros((80, 96, 3), np.uint8))
    return Frame(seq, at_ms, image)  # type: ignore[arg-type]


@pytest.fixture
def camera(cameras: Moody) -> Iterator[CameraPort]:
    assert cameras.error == ""
    camera = open_camera("moody:", setup_of())
    yield camera
    camera.close()


@pytest.mark.parametrize(
    ("mood", "why"),
    [
        (raises, "RuntimeError: two lines"),
        (exits, "it raised SystemExit: 3"),
        (lambda: 7, "expected a Frame, got int"),
        (lambda: frame(image=np.zeros((80, 96, 3))), "of uint8, got"),
        (lambda: frame(image=np.zeros((80, 96), np.uint8)), "of uint8, got"),
        (lambda: frame(image=np.zeros((1, 100_000, 3), np.uint8)), "of uint8, got"),
        (lambda: frame(image=np.zeros((8, 9, 3), np.uint8)), "expected 96 x 80 px as in table"),
        (lambda: frame(at_ms=5), "expected a time from 10 ms on, got 5"),
    ],
)
def test_a_camera_that_fails_is_lost_named_and_tried_again(
    cameras: Moody, camera: CameraPort, mood: Callable[[], object], why: str
) -> None:
    cameras.mood = lambda: frame(at_ms=10)
    assert camera.read() is not None
    cameras.mood = mood
    with pytest.raises(CameraLost) as raised:
        camera.read()
    assert str(raised.value).startswith(
        "The part moody of the package moody-device 1.0 failed in read: "
    )
    assert why in str(raised.value)
    cameras.mood = lambda: frame(seq=99, at_ms=20)
    again = camera.read()
    assert again is not None
    assert (again.seq, again.at_ms) == (1, 20)


def test_a_camera_that_hangs_is_switched_off(
    cameras: Moody, camera: CameraPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vision.cameras.plugins.READ_S", 0.5)
    held = open_camera("moody:", setup_of())
    cameras.mood = Event().wait
    with pytest.raises(CameraLost, match="switched off"):
        held.read()
    cameras.mood = frame
    with pytest.raises(CameraLost, match="switched off"):
        held.read()
    assert camera.read() is not None


@pytest.mark.usefixtures("cameras")
def test_a_camera_that_cannot_be_used_is_never_replaced() -> None:
    for name, why in {
        "old": "it is made for interface 0 of cameras, this one is 1",
        "away": "No module named 'moody_nowhere'",
        "odd": "expected a CameraPlugin, got dict",
        "nobody": "expected one of rpicam:..., ",
    }.items():
        with pytest.raises(InputError) as raised:
            open_camera(f"{name}:", None)
        assert why in str(raised.value)
    assert [*camera_plugins().parts] == ["moody"]
