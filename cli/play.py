"""`rinkside demo` and `rinkside play`: the whole program, with the panel in the browser."""

from __future__ import annotations

import logging
import os
import random
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import click
import numpy as np
from flask import Flask

from calibration.table.drift import recheck
from calibration.table.ground_colours import colour_warnings
from calibration.table.remeasure import remeasure_cards
from calibration.wizard import TableWizard
from cli.devices import open_configured_devices
from cli.door import Door, door_option
from cli.garbage_collection import short_collections
from cli.home_settings import remember_running
from cli.options import (
    GameName,
    address_options,
    camera_option,
    complain,
    computer_option,
    empty_option,
    settings_option,
    table_option,
)
from cli.paths import codes_path, log_path, ready_folder
from cli.serve_options import LAST_LOOK_S, tell_codes
from cli.service.manager import FedCamera, ServiceManager
from cli.service.network_name import name_in_network
from cli.shutdown import StopSignal, stop_signal
from engines.computer_player import Strength
from hardware.factory import Devices
from hardware.settings import PARTS
from referee.devices.controller import Companion
from referee.live.computer_seats import ComputerSeats
from referee.live.game_setup import Choice, SettingUp
from referee.live.patient_session import PatientSession
from referee.live.referee import Referee
from referee.live.referee_factory import RefereeFactory
from referee.live.supervisor import Supervisor
from referee.live.table_monitor import TableMonitor
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.start import (
    opening,
    parse_names,
    parse_rulings,
    played_setup,
    reopened,
    resumable_session,
)
from referee.sessions.status import LiveState
from referee.statistics.history import HistoryCache
from simulation.camera import SeatsPlayers, SimulatedCamera, real_time
from simulation.tables import demo_table, lessons_table
from simulation.tutor import Tutor, lessons_of
from simulation.virtual_table import VirtualTable
from table.errors import InputError, message_of
from table.games import found_games, usual_game
from table.messages import Message, msg, phrase
from table.table_config import Setup, load_table
from table.table_file import TableFile
from vision.cameras.base import CameraPort, open_camera
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import AnnouncedCamera, frame_jpeg
from webui import create_app, create_set_up_app
from webui.addresses import reachable_urls
from webui.pages.door import add_door
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serve, serving

logger = logging.getLogger(__name__)

SIMULATED_FRAMES_BYTES = 200_000_000
"""Size limit in bytes for pictures of simulated games, as the temporary folder may be in memory."""
LATEST = "latest"
"""Value of `--resume` in place of a number."""
STOP_S = 30.0
"""Longest wait at a stop for the current frame, which a small board reads in seconds.

Further signals are ignored meanwhile.
"""


SET_UP = msg("The game is being set up on its page.")


class _SessionNumber(click.IntRange):
    """A number from `rinkside log list`, or `latest`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click's: `latest` or a whole number; anything else is refused."""
        return value if value == LATEST else super().convert(value, param, ctx)


def _panel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return address_options(settings_option(command))


def _data_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        help=f"Folder of the log [default: {default}].",
    )


names_option = click.option(
    "--names",
    metavar="COLOUR=NAME,...",
    help="People's names by colour, as in blue=Anna,yellow=Ben.",
)


@click.command()
@_panel_options
@_data_option("a temporary one that is thrown away at the end")
@click.option(
    "--game",
    type=GameName(),
    metavar="|".join(found_games().games),
    default=usual_game(),
    show_default=True,
    help="The game that is played.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Number that decides the simulated game [default: random].",
)
@names_option
@click.option("--lessons", is_flag=True, help="Learn the game: one task after the other.")
@door_option
def demo(
    port: int,
    host: str,
    public_names: tuple[str, ...],
    data: Path | None,
    settings: Path | None,
    game: str,
    seed: int | None,
    names: str | None,
    lessons: bool,
    door: Door | None,
) -> None:
    """Referee a simulated game, with its panel in the browser."""
    start_ms = round(1000 * time.time())
    seed = random.SystemRandom().randrange(1000) if seed is None else seed
    table = lessons_table(game) if lessons else demo_table(game, seed)
    setup = table.setup
    with ExitStack() as stack:
        ending = stack.enter_context(stop_signal())
        listening = stack.enter_context(closing(_address(door, host, port)))
        devices = stack.enter_context(closing(open_configured_devices(settings, setup)))
        log, access = _log_and_access(stack, data, data is None, door)
        started = opening(
            game,
            setup.game.colours,
            table.rulings,
            setup,
            phrase("simulated table {n}", n=seed),
            datetime.now(UTC),
            simulated=True,
            names=parse_names(names) if names else None,
        )
        session = stack.enter_context(closing(Session.begin(log, started, start_ms)))
        live, stopping = LiveState(), Event()
        patient, pace = PatientSession(session, live, stopping, complain), real_time(start_ms)
        manager = ServiceManager()
        manager.status = lambda: live.latest.message
        players, rng = table.seated(patient, setup), np.random.default_rng([seed, 7])
        virtual = VirtualTable(players, patient, setup, rng)
        tutor = Tutor(lessons_of(game, setup), patient, virtual) if lessons else None
        simulated = SimulatedCamera(
            setup, table.place, virtual.scene_at, seed, start_ms=start_ms, pace=pace
        )
        camera = stack.enter_context(closing(FedCamera(simulated, manager.feed)))
        maker = RefereeFactory(camera, patient, live, stopping)
        panel = _Panel(
            listening,
            access,
            devices,
            log.path,
            ending,
            public_names,
            door,
            manager,
            virtual,
            tutor,
        )
        _referee(session, maker, maker.referee(setup, table.empty), panel)


def _address(door: Door | None, host: str, port: int) -> socket.socket:
    """The listening socket: the home page's, or a new one."""
    return door.listening if door else listen(host, port)


def _log_and_access(
    stack: ExitStack, data: Path | None, throw_away: bool, door: Door | None
) -> tuple[Log, Access]:
    """The log and the codes of a data folder; None for the user's own.

    Simulated games use a temporary folder (`throw_away`), removed with the stack. The codes are
    those of the home page if there is one, so that visitors keep their roles.
    """
    if throw_away:
        data = Path(stack.enter_context(TemporaryDirectory(prefix="rinkside-")))
        log = Log(log_path(data), SIMULATED_FRAMES_BYTES)
    else:
        log = Log(log_path(ready_folder(data)))
    stack.enter_context(closing(log))
    return log, Access(Codes(codes_path(door.data if door else data)))


@click.command()
@_panel_options
@_data_option("the user's data folder, a temporary one for a simulated camera")
@table_option
@camera_option
@empty_option
@click.option(
    "--game",
    type=GameName(),
    default=usual_game(),
    show_default=True,
    help="The game that is played.",
)
@click.option(
    "--players", help="Colours in turn order, as in blue,yellow [default: those in table.json]."
)
@click.option(
    "--resume",
    metavar="SESSION|latest",
    type=_SessionNumber(1),
    help=(
        "Go on with a session of the log, ended or cut off, as it was begun. latest: the newest one"
        " unless its game is over; if there is none, a new one begins as the other options say."
    ),
)
@click.option(
    "--new-lens", is_flag=True, help="With --resume: go on although the lens is a different one."
)
@click.option(
    "--rule",
    "--ruling",
    "rulings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A house rule, see rinkside rules GAME; may be repeated.",
)
@names_option
@computer_option
@click.option(
    "--begins",
    metavar="lot|roll|COLOUR",
    default="",
    help="Who begins: at random, by dice, or a colour [default: the first of --players].",
)
@click.option(
    "--set-up",
    is_flag=True,
    help="Choose game, players, names and house rules on a page before it begins.",
)
@door_option
def play(
    port: int,
    host: str,
    public_names: tuple[str, ...],
    data: Path | None,
    settings: Path | None,
    table_path: Path,
    spec: str,
    empty: Path | None,
    game: str,
    players: str | None,
    resume: int | str | None,
    new_lens: bool,
    rulings: tuple[str, ...],
    names: str | None,
    computers: dict[str, Strength],
    begins: str,
    set_up: bool,
    door: Door | None,
) -> None:
    """Referee a game on a real table, with its panel in the browser."""
    _check_together(set_up, resume, new_lens, begins)
    setup, manager = load_table(table_path), ServiceManager()
    reference = read_image(empty, setup) if empty else None
    colours = tuple(players.split(",")) if players else setup.game.colours
    throw_away = data is None and resume is None and spec.startswith("simulated:")
    with ExitStack() as stack:
        ending = stack.enter_context(stop_signal())
        listening = stack.enter_context(closing(_address(door, host, port)))
        if door is None:  # the home page has published a name already
            stack.enter_context(name_in_network(listening, manager))
        devices = stack.enter_context(closing(open_configured_devices(settings, setup)))
        number = _latest(data, setup, spec) if isinstance(resume, str) else resume
        set_up = set_up and number is None
        camera = None if set_up else _open_camera(stack, spec, setup, manager)  # before any writing
        people = parse_names(names) if names else {}
        choice = Choice(game, colours, parse_rulings(rulings), people, begins, computers)
        started = _opening(choice, setup, camera) if camera is not None and number is None else None
        log, access = _log_and_access(stack, data, throw_away, door)
        panel = _Panel(listening, access, devices, log.path, ending, public_names, door, manager)
        if camera is None:
            table = TableWizard(TableFile(table_path, setup), partial(_fed_camera, spec, manager))
            started = _chosen(table, panel)
            reference = reference if table.setup is setup else None  # it has cards where they were
            setup = table.setup
            camera = _open_camera(stack, spec, setup, manager)
        session = _session(log, started, number, setup, camera.name, reference, new_lens)
        stack.enter_context(closing(session))
        setup = played_setup(session.ledger.started.game, setup, session.ledger.started.rulings)
        live, stopping = LiveState(), Event()
        manager.status = lambda: live.latest.message
        patient = PatientSession(session, live, stopping, complain, _pause(manager, stopping))
        if isinstance(seats := _innermost(camera), SeatsPlayers):
            seats.seat(patient, session.ledger.started)
        maker = RefereeFactory(camera, patient, live, stopping, partial(_monitor, table_path))
        _referee(session, maker, maker.referee(setup, reference), panel)


def _open_camera(
    stack: ExitStack, spec: str, setup: Setup, manager: ServiceManager
) -> AnnouncedCamera:
    """Open the camera; the stack closes it."""
    return stack.enter_context(
        closing(AnnouncedCamera(_fed_camera(spec, manager, setup), complain))
    )


def _innermost(camera: CameraPort) -> CameraPort:
    """The camera itself, without wrappers."""
    while (inner := getattr(camera, "inner", None)) is not None:
        camera = inner
    return camera


def _fed_camera(spec: str, manager: ServiceManager, setup: Setup) -> FedCamera:
    """A camera whose reads feed the service manager's watchdog."""
    return FedCamera(open_camera(spec, setup), manager.feed)


def _pause(manager: ServiceManager, stopping: Event) -> Callable[[float], object]:
    """The pause between two attempts to write the log; it feeds the watchdog.

    The loop is alive: it reports that the disk is full, and continues once there is room.
    """

    def pause(seconds: float) -> None:
        manager.feed()
        stopping.wait(seconds)

    return pause


def _latest(data: Path | None, setup: Setup, spec: str) -> int | None:
    """The session that `--resume latest` continues; None for a new one.

    If the newest session cannot be continued, the reason is shown. It stays in the log.
    """
    path = log_path(data)
    if not path.exists():
        return None
    try:
        with LogReader(path) as log:
            return resumable_session(log, setup, spec.startswith("simulated:"))
    except InputError as error:
        complain(
            msg("a new session begins, as the latest cannot go on: {text}", text=error.message)
        )
        return None


def _session(
    log: Log,
    started: SessionStarted | None,
    resume: int | None,
    setup: Setup,
    camera: str,
    reference: Frame | None,
    new_lens: bool,
) -> Session:
    """A new session that begins with `started`, or the resumed one."""
    empty_jpeg = frame_jpeg(reference) if reference else None
    if started is not None:
        return Session.begin(log, started, empty_jpeg=empty_jpeg)
    assert resume is not None, "what is not gone on with was begun"
    return reopened(log, resume, setup, camera, datetime.now(UTC), empty_jpeg, new_lens)


def _monitor(table_path: Path, setup: Setup) -> TableMonitor:
    """The monitor that detects a moved table."""
    return TableMonitor(TableFile(table_path, setup), recheck, remeasure_cards, colour_warnings)


def _check_together(set_up: bool, resume: int | str | None, new_lens: bool, begins: str) -> None:
    """Raise InputError for contradictory options."""
    if set_up and isinstance(resume, int):
        raise InputError(
            msg("--set-up: expected a new session; a resumed session continues as it began")
        )
    if new_lens and not isinstance(resume, int):
        raise InputError(
            msg(
                "--new-lens: expected together with --resume SESSION; a new session has no"
                " other lens"
            )
        )
    if begins and (set_up or isinstance(resume, int)):
        raise InputError(
            msg(
                "--begins: expected a new session that is not set up on a page; the page"
                " itself asks for it"
            )
        )


def _opening(choice: Choice, setup: Setup, camera: CameraPort | TableWizard) -> SessionStarted:
    now, rulings = datetime.now(UTC), dict(choice.rulings)
    return opening(
        choice.game,
        choice.players,
        rulings,
        setup,
        camera.name,
        now,
        camera.simulated,
        choice.names,
        choice.begins,
        computers=choice.computers,
    )


def _chosen(table: TableWizard, panel: _Panel) -> SessionStarted:
    """The session chosen on the set-up page once the table is ready.

    The socket stays open, so that browsers wait for the panel.
    """

    def opened(choice: Choice) -> SessionStarted:
        if table.busy:
            raise InputError(
                msg("the table is still being prepared: wait until that is done, then begin")
            )
        return _opening(choice, table.setup, table)

    setting = SettingUp(opened)
    looking = Thread(target=table.run, name="preparing", daemon=True)
    looking.start()
    try:
        app = create_set_up_app(setting, table, panel.access, panel.hosts)
        panel.open(phrase("The game is set up"), app)
        with serving(app, panel.listening.dup(), bool(panel.public_names)):
            panel.manager.status = lambda: SET_UP
            panel.manager.ready()
            return setting.wait(LAST_LOOK_S)
    finally:
        table.stop()
        looking.join(STOP_S)


def _device_errors(devices: Devices) -> dict[str, str]:
    """Fault of each connected part; empty if it works."""
    connected = (name for name in PARTS if getattr(devices, name) is not None)
    return {name: devices.errors.get(name, "") for name in connected}


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """Context of the panel beside the session: socket, codes, devices and log.

    `ending` is set by Ctrl-C or SIGTERM; `door` is the connection to the home page, if there is
    one.
    """

    listening: socket.socket
    access: Access
    devices: Devices
    log: Path
    ending: StopSignal
    public_names: tuple[str, ...]
    door: Door | None
    manager: ServiceManager
    virtual: VirtualTable | None = None
    tutor: Tutor | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Accepted host names."""
        return (socket.gethostname(), *self.public_names)

    def open(self, what: Message, app: Flask) -> None:
        """Print the address just before serving, or take over from the home page."""
        if self.door is None:
            tell_codes(what, self.listening, self.access)
            return
        add_door(app, self.door)
        self.door.ready()

    def app(self, session: Session, supervisor: Supervisor) -> Flask:
        """The panel of a session."""
        return create_app(
            session,
            supervisor,
            self.hosts,
            self.access,
            lambda: next(iter(reachable_urls(self.listening)), ""),
            lambda: _device_errors(self.devices),
            HistoryCache(self.log),
            self.virtual,
            self.tutor,
        )


def _referee(session: Session, maker: RefereeFactory, referee: Referee, panel: _Panel) -> None:
    """Referee in a thread and serve the panel until Ctrl-C or SIGTERM.

    An error that ends the refereeing is reported at once. The panel stays, so that the players see
    the last state.
    """
    supervisor = Supervisor(referee, maker.renew, session, maker.live, maker.stopping, complain)
    failed: list[Exception] = []

    def work() -> None:
        try:
            supervisor.run()
        except Exception as error:
            failed.append(error)
            logger.info("the referee had to stop", exc_info=True)
            complain(msg("the referee had to stop: {text}", text=message_of(error)))
        else:
            panel.manager.rest()

    worker = Thread(target=work, name="referee", daemon=True)
    companion = Companion(panel.devices, session, supervisor, supervisor.setup.board, complain)
    with short_collections():
        with panel.ending.watched():
            worker.start()
            companion.start()
            ComputerSeats(session, complain).start()
            app = panel.app(session, supervisor)
            panel.open(phrase("The panel is"), app)
            if panel.door is not None and panel.log == log_path(panel.door.data):
                remember_running(session.id, panel.door.data)
            behind_proxy = bool(panel.public_names)
            panel.manager.ready()
            serve(app, panel.listening, stopping=panel.ending, behind_proxy=behind_proxy)
        panel.manager.stopping()
        companion.stop()
        supervisor.stop()
        worker.join(STOP_S)
        if not (worker.is_alive() or failed):
            session.end("Rinkside was ended")
    if worker.is_alive():
        # Python cannot end while a thread is inside a device or OpenCV; the log survives a process
        # that is cut off.
        complain(
            msg(
                "the camera did not respond, so Rinkside stopped without it;"
                " everything shown is in the log"
            )
        )
        os._exit(2)
    if failed:
        raise SystemExit(2)
