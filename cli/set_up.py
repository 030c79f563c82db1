"""`rinkside set-up`: first set-up of a table, on a page in the browser."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import click

from calibration.first_setup import CameraChoice, FirstSetUp
from calibration.lens.file import load_lens
from cli.door import Door, door_option
from cli.home_settings import LENS_NAME, TABLE_NAME, HomeSettings, load_home, save_home
from cli.options import address_options
from cli.paths import codes_path, ready_folder
from cli.serve_options import tell_codes
from cli.shutdown import stop_signal
from cli.terminal import say, say_written
from table.errors import InputError
from table.messages import msg, phrase
from table.table_config import Lens
from table.table_file import replace_table
from vision.cameras.base import open_camera
from vision.cameras.found import found_cameras
from webui.interfaces import Next
from webui.pages.door import add_door
from webui.pages.first_setup import create_first_set_up_app
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serve

STOP_S = 30.0
"""Longest wait at a stop for the picture being processed."""


@click.command("set-up")
@address_options
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that the table is written to [default: the user's data folder].",
)
@click.option(
    "--camera", "spec", help="Offer only this camera: rpicam:0, v4l2:0, stream:URL, simulated:mat."
)
@door_option
def set_up(
    host: str,
    port: int,
    public_names: tuple[str, ...],
    data: Path | None,
    spec: str | None,
    door: Door | None,
) -> None:
    """Set up a new table on a page: camera, printed board, one picture.

    Writes table.json into the data folder; the one that was there is kept as table.json.bak.
    """
    folder = ready_folder(door.data if door else data)
    first = FirstSetUp(_cameras(spec), lambda one: open_camera(one, None), _lens_in(folder))
    with (
        stop_signal() as stopping,
        closing(door.listening if door else listen(host, port)) as listening,
    ):
        access = Access(Codes(codes_path(folder)))
        done = Event()

        def save() -> None:
            replace_table(first.setup, folder / TABLE_NAME)
            save_home(HomeSettings(camera=first.look().camera), folder)
            done.set()

        def leave(then: Next) -> None:
            stopping.set()
            if door:
                door.leave(then)

        hosts = (socket.gethostname(), *public_names)
        app = create_first_set_up_app(first, save, leave, access, hosts)
        watching = Thread(target=first.run, name="set-up", daemon=True)
        with stopping.watched():
            watching.start()
            if door:
                add_door(app, door)
                door.ready()
            else:
                tell_codes(phrase("The table is set up"), listening, access)
            serve(app, listening, stopping=stopping, behind_proxy=bool(public_names))
        first.stop()
        watching.join(STOP_S)
    if done.is_set() and not door:
        table = folder / TABLE_NAME
        command = f"rinkside play --table {table} --camera {first.look().camera} --set-up"
        say_written(table)
        say(msg("To play: {raw}", raw=command))


def _cameras(spec: str | None) -> tuple[CameraChoice, ...]:
    if spec is not None:
        return (CameraChoice(spec, spec),)
    return tuple(CameraChoice(found.spec, found.name) for found in found_cameras())


def _lens_in(folder: Path) -> Callable[[str], Lens | None]:
    """The stored lens of the camera that was set up last; None for other cameras."""

    def lens_of(spec: str) -> Lens | None:
        path = folder / LENS_NAME
        try:
            if not path.exists() or load_home(folder).camera != spec:
                return None
            lens = load_lens(path).camera
        except InputError:
            return None
        return lens

    return lens_of
