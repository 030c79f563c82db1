"""Devices of other packages: what they are given, and how long they may take."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.cues import Cue
from hardware.factory import open_devices
from hardware.plugins import DevicePlugin
from hardware.settings import parse_settings
from table import plugins
from table.errors import InputError
from tests.support.installed_packages import announce, on_the_path

OUTLINE = np.array([[0.0, 0.0], [400.0, 0.0], [400.0, 300.0], [0.0, 300.0]])


class Lamps:
    """Remembers what it is given."""

    error = ""

    def __init__(self, options, place):
        self.options, self.place, self.shown = options, place, []

    def show(self, cue):
        self.shown.append(cue)

    def close(self):
        pass


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """opened(interface): lamps of another package, made for this interface, and themselves."""
    (tmp_path / "other_lamps.py").write_text("")
    announce(tmp_path, "other-lamps", "1.0", {"rinkside.lamps": {"other": "other_lamps:OTHER"}})
    with on_the_path(tmp_path, "other_lamps"):
        import other_lamps

        def make(interface, **settings):
            made = []

            def open_lamps(options, place):
                made.append(Lamps(options, place))
                return made[-1]

            plugin = DevicePlugin(open_lamps, interface)
            monkeypatch.setattr(other_lamps, "OTHER", plugin, raising=False)
            table = {"hardware": {"lamps": {"kind": "other"} | settings}}
            return open_devices(parse_settings(table, ""), OUTLINE, lambda _text: None), made

        yield make


def test_a_device_is_given_its_own_settings_and_where_it_stands(opened):
    devices, [lamps] = opened(1, path="lamps.txt", level=3)
    assert lamps.options == {"path": "lamps.txt", "level": 3}
    assert np.array_equal(lamps.place.outline_mm, OUTLINE)
    assert lamps.place.language == "en"
    devices.lamps.show(Cue("hand"))
    assert lamps.shown == [Cue("hand")]
    assert devices.errors == {}
    devices.close()


@pytest.mark.parametrize("interface", [0, 2, 3])
def test_a_device_of_another_interface_is_named_and_not_used(opened, interface):
    with pytest.raises(InputError, match=r"hardware\.lamps: .*other.* interface"):
        opened(interface)


def test_nobody_waits_for_a_device_for_long(opened, monkeypatch):
    """And one that talks to a slow bus is waited for."""
    waited_s, within = [], plugins.within

    def noted(seconds, call):
        waited_s.append(seconds)
        return within(60.0, call)

    monkeypatch.setattr(plugins, "within", noted)
    devices, _ = opened(1)
    devices.lamps.show(Cue("hand"))
    devices.close()
    assert waited_s
    assert all(1 <= seconds <= 4 for seconds in waited_s[-2:])
