"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from cli.terminal import in_language, say

table_option = click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    required=True,
    help="table.json of the calibrated table.",
)
camera_option = click.option(
    "--camera",
    "spec",
    required=True,
    help="Where the pictures come from: rpicam:0, v4l2:0, video:PATH, ... (docs/CAMERAS.md).",
)
empty_option = click.option(
    "--empty", type=click.Path(path_type=Path), help="A picture of the same table before play."
)
settings_option = click.option(
    "--settings",
    type=click.Path(path_type=Path),
    help="TOML file that names lamps, dice, buttons: docs/HARDWARE.md.",
)


def complain(text: str) -> None:
    """Tell people on stderr what does not work, or works again, while a game goes on."""
    say(f"rinkside: {in_language(text)}", err=True)
