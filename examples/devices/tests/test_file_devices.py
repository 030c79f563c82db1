"""The devices pass the contract tests, opened by name as Rinkside does."""

import numpy as np
import pytest

from conformance.buttons import *  # noqa: F403
from conformance.cameras import *  # noqa: F403
from conformance.dice import *  # noqa: F403
from conformance.lamps import *  # noqa: F403
from conformance.outputs import *  # noqa: F403
from conformance.sounds import *  # noqa: F403
from hardware.cues import DARK, Cue
from hardware.factory import open_devices
from hardware.settings import parse_settings
from table.errors import InputError
from vision.cameras.base import open_camera
from vision.cameras.image_files import encode_jpeg

OUTLINE = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 400.0], [0.0, 400.0]])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "device.txt"


@pytest.fixture
def opened(path):
    """Opens a device with its own settings."""
    held = []

    def make(part, **more):
        table = {part: {"kind": "file", "path": str(path), **more}}
        settings = parse_settings({"hardware": table}, "rinkside.toml")
        held.append(open_devices(settings, OUTLINE, lambda _text: None))
        return getattr(held[-1], part)

    yield make
    for devices in held:
        devices.close()


@pytest.fixture
def lamps(opened):
    return opened("lamps")


@pytest.fixture(params=[1, 2])
def dice(opened, request):
    return opened("dice", count=request.param)


@pytest.fixture
def buzzer(opened):
    return opened("buzzer")


@pytest.fixture
def output(opened):
    return opened("output")


@pytest.fixture
def buttons(opened, path):
    def contact(down):
        if down:
            with path.open("a") as file:
                file.write("die\n")

    return opened("buttons"), contact


@pytest.fixture
def camera(tmp_path):
    picture = tmp_path / "look.jpg"
    picture.write_bytes(encode_jpeg(np.full((48, 64, 3), 90, np.uint8), 90))
    camera = open_camera(f"still:{picture}", None)
    yield camera
    camera.close()


def test_lamps_write_what_they_show(lamps, path):
    lamps.show(Cue("turn", ("red", "blue"), of=("red",)))
    lamps.show(DARK)
    assert path.read_text().splitlines() == ["turn red", "dark"]


def test_settings_that_will_not_do_are_named(opened):
    with pytest.raises(InputError, match=r"hardware\.dice: count: expected 1 or 2, got 9"):
        opened("dice", count=9)
    with pytest.raises(InputError, match=r"hardware\.lamps: expected path, got path, colour"):
        opened("lamps", colour="red")
