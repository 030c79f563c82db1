"""`rinkside demo` and `rinkside play`: everything put together, with the panel in the browser.  The one place that knows `webui`."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click

import engines
from calibration.recheck import recheck
from hardware.rig import Rig, open_rig
from hardware.settings import load_settings
from referee.commands_pages import address_options, url
from referee.companion import Companion
from referee.folders import log_path, ready_folder
from referee.log import Log
from referee.loop import Referee, kept_jpeg
from referee.opening import opening, parse_names, parse_rulings, reopened
from referee.rolled import dice_corner_watch
from referee.session import Session
from referee.simulated_table import demo_setup
from referee.simulated_tables import camera_over, game_table, seat
from referee.simulation import simulated_table
from table.setup import Setup, load_table
from vision.cameras import open_camera
from vision.cameras.files import read_image
from vision.cameras.simulated import real_time
from vision.watch import Watch
from webui import create_app
from webui.serve import listen, serve

STOP_S = 30.0
"""How long a stop waits for the frame at hand, deaf to further signals; a small board may need seconds to read it."""


def _panel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--settings", type=click.Path(path_type=Path), help="TOML file that names lamps, dice, buttons: docs/HARDWARE.md."),
        click.option("--data", type=click.Path(path_type=Path, file_okay=False), help="Folder of the log [default: the user's data folder]."),
    ):
        command = option(command)
    return address_options(command)


@click.command()
@_panel_options
@click.option("--game", type=click.Choice([*engines.GAMES]), default="ice_boule", show_default=True, help="The game that is played.")
@click.option("--seed", type=click.IntRange(0), help="Number that the simulated game follows from [default: another one each time].")
def demo(port: int, host: str, data: Path | None, settings: Path | None, game: str, seed: int | None) -> None:
    """Referee a simulated game, with its panel in the browser."""
    start_ms = round(1000 * time.time())
    seed = random.SystemRandom().randrange(1000) if seed is None else seed
    table = None if game == "ice_boule" else game_table(game, seed)
    setup = demo_setup() if table is None else table.setup
    with ExitStack() as stack:
        listening = stack.enter_context(closing(listen(host, port)))
        rig = stack.enter_context(closing(_rig(settings, setup)))
        log = stack.enter_context(closing(Log(log_path(ready_folder(data)))))
        started = opening(game, setup.game.colours, {}, setup, f"simulated table {seed}", datetime.now(UTC), simulated=True)
        session = stack.enter_context(closing(Session.begin(log, started, start_ms)))
        pace = real_time(start_ms)
        if table is None:
            camera = simulated_table(session, seed, start_ms=start_ms, pace=pace)
        else:
            camera = camera_over(table, seat(session, table), start_ms=start_ms, pace=pace)
        stack.enter_context(closing(camera))
        _referee(session, Referee(camera, setup, Watch(), session, table.empty if table else None, dice=dice_corner_watch(setup)), listening, rig)


@click.command()
@_panel_options
@click.option("--table", "table_path", type=click.Path(path_type=Path), required=True, help="table.json of the calibrated table.")
@click.option("--camera", "spec", required=True, help="Where the pictures come from: folder:PATH, ...")
@click.option("--empty", type=click.Path(path_type=Path), help="A picture of the same table before play.")
@click.option("--game", default="ice_boule", show_default=True, help="The game that is played.")
@click.option("--players", help="Colours in turn order, as in blue,yellow [default: those in table.json].")
@click.option("--resume", metavar="SESSION", type=click.IntRange(1), help="Go on with a session of the log: as it was begun, so it is played on.")
@click.option("--ruling", "rulings", multiple=True, metavar="NAME=VALUE", help="An option of the game, see rinkside rules GAME; may be repeated.")
@click.option("--names", metavar="COLOUR=NAME,...", help="People's names by colour, as in blue=Anna,yellow=Ben.")
def play(
    port: int,
    host: str,
    data: Path | None,
    settings: Path | None,
    table_path: Path,
    spec: str,
    empty: Path | None,
    game: str,
    players: str | None,
    resume: int | None,
    rulings: tuple[str, ...],
    names: str | None,
) -> None:
    """Referee a game on a real table, with its panel in the browser."""
    setup = load_table(table_path)
    reference = read_image(empty, setup) if empty else None
    colours = tuple(players.split(",")) if players else setup.game.colours
    empty_jpeg = kept_jpeg(reference) if reference else None
    with ExitStack() as stack:
        listening = stack.enter_context(closing(listen(host, port)))
        camera = stack.enter_context(closing(open_camera(spec, setup)))
        rig = stack.enter_context(closing(_rig(settings, setup)))
        log = stack.enter_context(closing(Log(log_path(ready_folder(data)))))
        if resume is None:
            chosen, people, now = parse_rulings(rulings), parse_names(names) if names else {}, datetime.now(UTC)
            session = Session.begin(log, opening(game, colours, chosen, setup, camera.name, now, camera.simulated, people), empty_jpeg=empty_jpeg)
        else:
            session = reopened(log, resume, setup, camera.name, datetime.now(UTC), empty_jpeg)
        stack.enter_context(closing(session))
        _referee(session, Referee(camera, setup, Watch(), session, reference, recheck=recheck, dice=dice_corner_watch(setup)), listening, rig)


def _rig(path: Path | None, setup: Setup) -> Rig:
    """Lamps and all else that settings name; nothing without any."""
    return open_rig(load_settings(path), setup.outline_mm(), lambda text: click.echo(text, nl=False)) if path else Rig()


def _referee(session: Session, referee: Referee, listening: socket.socket, rig: Rig) -> None:
    """Referee in a thread and serve the panel until Ctrl-C or SIGTERM.

    A mistake that ends the refereeing is said at once; the panel stays, so that the players see where they were.
    """
    failed: list[Exception] = []

    def work() -> None:
        try:
            referee.run()
        except Exception as error:
            failed.append(error)
            click.echo(f"rinkside: the referee had to stop: {error}", err=True)

    worker = threading.Thread(target=work, name="referee", daemon=True)
    companion = Companion(rig, session, referee, referee.setup.board)
    with _stopped_by_one_signal():
        worker.start()
        companion.start()
        click.echo(f"The panel is on {url(listening)} - Ctrl-C ends it.")
        # Ctrl-C may come before the panel is ready to take it.
        with suppress(KeyboardInterrupt):
            serve(create_app(session, referee, hosts=(socket.gethostname(),)), listening)
        companion.stop()
        referee.stop()
        worker.join(STOP_S)
        if not (worker.is_alive() or failed):
            session.end("Rinkside was ended")
    if worker.is_alive():
        # Python cannot end while a thread is inside a device or OpenCV; the log survives a process that is cut off.
        click.echo("rinkside: the camera does not answer and was left; everything that was shown is in the log", err=True)
        os._exit(2)
    if failed:
        raise SystemExit(2)


@contextmanager
def _stopped_by_one_signal() -> Iterator[None]:
    """Take SIGTERM, which systemd and `kill` send, as Ctrl-C, and only the first of either: a stop is not to be stopped."""
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        if not stopped:
            stopped = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
