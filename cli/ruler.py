"""`rinkside ruler`: live ranking of all gaps on a page in the browser, without a game."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress
from pathlib import Path

import click

from cli.measure import retarget
from cli.options import address_options, camera_option, complain, table_option
from cli.serve_options import tell_address
from referee.live.live_measurement import Ruler
from table.messages import phrase
from table.table_config import load_table
from vision.cameras.base import open_camera
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import AnnouncedCamera
from vision.change_gate import Watch
from webui import create_ruler_app
from webui.server import listen, serving


@click.command()
@table_option
@camera_option
@click.option(
    "--empty", type=click.Path(path_type=Path), help="A picture of the same table without pieces."
)
@click.option(
    "--target", metavar="COLOUR", help="Colour of the target, if it differs from table.json."
)
@address_options
def ruler(
    table_path: Path,
    spec: str,
    empty: Path | None,
    target: str | None,
    host: str,
    port: int,
    public_names: tuple[str, ...],
) -> None:
    """Rank the pieces on the table by their gap to the target, live, on a page in the browser."""
    setup = retarget(load_table(table_path), target)
    reference = read_image(empty, setup) if empty else None
    with (
        closing(listen(host, port)) as listening,
        closing(AnnouncedCamera(open_camera(spec, setup), complain)) as camera,
    ):
        measuring = Ruler(camera, setup, Watch(), reference)
        app = create_ruler_app(measuring, (socket.gethostname(), *public_names))
        with serving(app, listening, bool(public_names)):
            tell_address(phrase("The ruler is"), listening)
            with suppress(KeyboardInterrupt):
                measuring.run()
                # The last picture of a recording stays on the page.
                threading.Event().wait()
