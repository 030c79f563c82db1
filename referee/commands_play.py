"""`rinkside demo` and `rinkside play`: everything put together, with the panel in the browser.  The one place that knows `webui`."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import engines
from calibration.recheck import recheck
from calibration.redo import redo
from hardware.rig import Rig
from hardware.settings import PARTS
from referee.commands_pages import LAST_LOOK_S, address_for_others, address_options, tell_codes
from referee.companion import Companion
from referee.events import SessionStarted
from referee.folders import codes_path, log_path, ready_folder
from referee.frames import kept_jpeg
from referee.garbage import short_collections
from referee.log import Log
from referee.loop import Referee
from referee.moved import TableWatch
from referee.opening import as_played, opening, parse_names, parse_rulings, reopened
from referee.preparing import Preparing
from referee.rolled import dice_corner_watch
from referee.session import Session
from referee.setting_up import Choice, SettingUp
from referee.settings import complain, rig_of, settings_option
from referee.simulated_table import demo_setup
from referee.simulated_tables import camera_over, game_table, seat
from referee.simulation import simulated_table
from referee.stopping import stopped_by_one_signal
from referee.story import Stories
from referee.terminal import say
from table.errors import InputError
from table.setup import Setup, load_table
from vision.cameras import CameraPort, open_camera
from vision.cameras.files import read_image
from vision.cameras.simulated import real_time
from vision.watch import Watch
from webui import create_app, create_set_up_app
from webui.access import Access
from webui.codes import Codes
from webui.serve import listen, serve, serving

STOP_S = 30.0
"""How long a stop waits for the frame at hand, deaf to further signals; a small board may need seconds to read it."""


def _panel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        settings_option,
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
        rig = stack.enter_context(closing(rig_of(settings, setup)))
        log = stack.enter_context(closing(Log(log_path(ready_folder(data)))))
        access = Access(Codes(codes_path(data)))
        rulings = {} if table is None else table.rulings
        started = opening(game, setup.game.colours, rulings, setup, f"simulated table {seed}", datetime.now(UTC), simulated=True)
        session = stack.enter_context(closing(Session.begin(log, started, start_ms)))
        pace = real_time(start_ms)
        if table is None:
            camera = simulated_table(session, seed, start_ms=start_ms, pace=pace)
        else:
            camera = camera_over(table, seat(session, table), start_ms=start_ms, pace=pace)
        stack.enter_context(closing(camera))
        eyes = Referee(camera, setup, Watch(), session, table.empty if table else None, dice=dice_corner_watch(setup))
        _referee(session, eyes, listening, rig, access, log.path)


@click.command()
@_panel_options
@click.option("--table", "table_path", type=click.Path(path_type=Path), required=True, help="table.json of the calibrated table.")
@click.option("--camera", "spec", required=True, help="Where the pictures come from: folder:PATH, ...")
@click.option("--empty", type=click.Path(path_type=Path), help="A picture of the same table before play.")
@click.option("--game", default="ice_boule", show_default=True, help="The game that is played.")
@click.option("--players", help="Colours in turn order, as in blue,yellow [default: those in table.json].")
@click.option(
    "--resume",
    metavar="SESSION",
    type=click.IntRange(1),
    help="Go on with a session of the log, ended or cut off, as it was begun.",
)
@click.option("--ruling", "rulings", multiple=True, metavar="NAME=VALUE", help="An option of the game, see rinkside rules GAME; may be repeated.")
@click.option("--names", metavar="COLOUR=NAME,...", help="People's names by colour, as in blue=Anna,yellow=Ben.")
@click.option("--set-up", is_flag=True, help="Choose game, players, names and options on a page before it begins.")
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
    set_up: bool,
) -> None:
    """Referee a game on a real table, with its panel in the browser."""
    if set_up and resume is not None:
        raise InputError("--set-up: expected a session that begins; one that is resumed is played on as it was begun")
    setup = load_table(table_path)
    reference = read_image(empty, setup) if empty else None
    colours = tuple(players.split(",")) if players else setup.game.colours
    with ExitStack() as stack:
        listening = stack.enter_context(closing(listen(host, port)))
        rig = stack.enter_context(closing(rig_of(settings, setup)))
        camera = None if set_up else stack.enter_context(closing(open_camera(spec, setup)))  # before anything is written
        log = stack.enter_context(closing(Log(log_path(ready_folder(data)))))
        access = Access(Codes(codes_path(data)))
        choice = Choice(game, colours, parse_rulings(rulings), parse_names(names) if names else {})
        started = None
        if camera is None:
            table = Preparing(setup, table_path, lambda setup: open_camera(spec, setup))
            started = _chosen(listening, table, access)
            reference = reference if table.setup is setup else None  # it has cards where they were
            setup = table.setup
            camera = stack.enter_context(closing(open_camera(spec, setup)))
        if resume is None:
            session = Session.begin(log, started or _opening(choice, setup, camera), empty_jpeg=kept_jpeg(reference) if reference else None)
        else:
            session = reopened(log, resume, setup, camera.name, datetime.now(UTC), kept_jpeg(reference) if reference else None)
        stack.enter_context(closing(session))
        setup = as_played(setup, session.ledger.started.rulings)
        watch = TableWatch(setup, table_path, recheck, redo)
        eyes = Referee(camera, setup, Watch(), session, reference, table=watch, dice=dice_corner_watch(setup))
        _referee(session, eyes, listening, rig, access, log.path)


def _opening(choice: Choice, setup: Setup, camera: CameraPort | Preparing) -> SessionStarted:
    return opening(choice.game, choice.players, dict(choice.rulings), setup, camera.name, datetime.now(UTC), camera.simulated, choice.names)


def _chosen(listening: socket.socket, table: Preparing, access: Access) -> SessionStarted:
    """What people begin on a page once the table is ready; the address stays taken, so that who looks just waits a moment for the panel."""

    def opened(choice: Choice) -> SessionStarted:
        if table.busy:
            raise InputError("the table is being made ready: wait until that is done, then begin")
        return _opening(choice, table.setup, table)

    setting = SettingUp(opened)
    looking = threading.Thread(target=table.run, name="preparing", daemon=True)
    looking.start()
    try:
        with serving(create_set_up_app(setting, table, access, (socket.gethostname(),)), listening.dup()):
            tell_codes("The game is set up", listening, access)
            return setting.wait(LAST_LOOK_S)
    finally:
        table.stop()
        looking.join(STOP_S)


def _devices(rig: Rig) -> dict[str, str]:
    """What is wrong with each part that is connected; nothing where it works."""
    connected = (name for name in PARTS if getattr(rig, name) is not None)
    return {name: rig.troubles.get(name, "") for name in connected}


def _referee(session: Session, referee: Referee, listening: socket.socket, rig: Rig, access: Access, log: Path) -> None:
    """Referee in a thread and serve the panel until Ctrl-C or SIGTERM.

    A mistake that ends the refereeing is said at once; the panel stays, so that the players see where they were.
    """
    failed: list[Exception] = []

    def work() -> None:
        try:
            referee.run()
        except Exception as error:
            failed.append(error)
            say(f"rinkside: the referee had to stop: {error}", err=True)

    worker = threading.Thread(target=work, name="referee", daemon=True)
    companion = Companion(rig, session, referee, referee.setup.board, complain)
    with short_collections(), stopped_by_one_signal() as stopping:
        worker.start()
        companion.start()
        app = create_app(session, referee, (socket.gethostname(),), access, address_for_others(listening), lambda: _devices(rig), Stories(log))
        tell_codes("The panel is", listening, access)
        # Ctrl-C may come before the panel is ready to take it.
        with suppress(KeyboardInterrupt):
            serve(app, listening, stopping=stopping)
        companion.stop()
        referee.stop()
        worker.join(STOP_S)
        if not (worker.is_alive() or failed):
            session.end("Rinkside was ended")
    if worker.is_alive():
        # Python cannot end while a thread is inside a device or OpenCV; the log survives a process that is cut off.
        say("rinkside: the camera does not answer and was left; everything that was shown is in the log", err=True)
        os._exit(2)
    if failed:
        raise SystemExit(2)
