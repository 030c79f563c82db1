"""Open lamps, dice and buttons from settings, for every command that referees."""

from __future__ import annotations

from pathlib import Path

from cli.terminal import language, ring
from hardware.factory import Devices, open_devices
from hardware.settings import load_settings
from table.table_config import Setup


def open_configured_devices(path: Path | None, setup: Setup) -> Devices:
    """Open all configured devices for this table; nothing without settings.

    The terminal's bell goes to stderr. Raises InputError that names the setting.
    """
    return (
        open_devices(
            load_settings(path), setup.outline_mm(), lambda text: ring(text, err=True), language()
        )
        if path
        else Devices()
    )
