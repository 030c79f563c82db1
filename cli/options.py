"""Lamps, dice and buttons from settings, for every command that referees."""

from __future__ import annotations

from pathlib import Path

import click

from cli.terminal import ring, say
from hardware.factory import Rig, open_rig
from hardware.settings import load_settings
from table.table_config import Setup

settings_option = click.option(
    "--settings",
    type=click.Path(path_type=Path),
    help="TOML file that names lamps, dice, buttons: docs/HARDWARE.md.",
)


def rig_of(path: Path | None, setup: Setup) -> Rig:
    """Everything that the settings name, opened, for this table; nothing without any settings.  The
    terminal's bell goes to stderr.

    Raises InputError that names the setting.
    """
    return (
        open_rig(load_settings(path), setup.outline_mm(), lambda text: ring(text, err=True))
        if path
        else Rig()
    )


def complain(text: str) -> None:
    """Tell people on stderr what does not work, or works again, while a game goes on."""
    say(f"rinkside: {text}", err=True)
