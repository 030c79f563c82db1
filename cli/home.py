"""`rinkside` without a command: the home page, which starts games one at a time.

A game is a separate process on the same address (`cli.door`). If it crashes or hangs, the home page
continues and the memory is freed.
"""

from __future__ import annotations

import http.client
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flask import Flask

from cli.door import AGAIN, END, GO, HOME, PLAY, READY, words
from cli.home_settings import TABLE_NAME, forget_running, load_home, running_session
from cli.paths import codes_path, log_path, ready_folder
from cli.serve_options import tell_codes
from cli.service.heartbeat import Heartbeat
from cli.service.manager import ServiceManager
from cli.service.network_name import name_in_network
from cli.service.unit import WATCHDOG_S
from cli.shutdown import stop_signal
from cli.terminal import language, say
from engines import GAMES
from engines.game import facts
from engines.lessons import no_lessons
from hub.next_match import stored_match
from table.errors import InputError
from table.games import usual_game
from table.messages import msg, phrase
from table.table_config import Setup, load_table
from table.text import printable
from vision.cameras.found import found_cameras
from webui.interfaces import Activity, DeviceFound, HomeNow, MatchHere, TableInUse
from webui.pages.home import create_home_app
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serving

logger = logging.getLogger(__name__)

PROGRAM = [sys.executable, "-c", "from cli.main import run; run()"]
LOOK_S = 0.2
"""Interval for polling whether a game is ready or has ended."""
STOP_S = 45.0
"""Longest wait for a game to end, which includes its wait for the camera (`cli.play.STOP_S`)."""
PROBE_S, ANSWER_S, MOST_SILENT = 15.0, 20.0, 4
"""Watchdog: a page of the game is requested every PROBE_S. After MOST_SILENT requests without an
answer within ANSWER_S the game counts as hung, and is ended.
"""
LASTED_S = 10.0
"""Minimum run time for restarting a game that stopped unexpectedly. After a shorter run it might
stop again at once, so the reason is shown instead.
"""
PICTURE_S = 20.0
"""Longest wait for a camera's picture on the devices page."""
POWER_OFF = ("systemctl", "poweroff")
HOME_STATUS = msg("The home page is open; no game is running.")
"""Status line in `systemctl status` while no game runs."""


@dataclass(frozen=True, slots=True)
class HomeOptions:
    """Options of `rinkside` without a command.

    `data` is the folder of log, codes and table; `camera` overrides the one stored by the set-up.
    `resume`: continue an interrupted game without asking.
    """

    host: str
    port: int
    public_names: tuple[str, ...]
    data: Path | None
    camera: str | None
    settings: Path | None
    power_off: bool
    resume: bool


def open_home(options: HomeOptions) -> None:
    """Serve the home page and start games, until Ctrl-C, SIGTERM or *Shut down*."""
    folder, manager = ready_folder(options.data).absolute(), ServiceManager()
    with (
        stop_signal() as ending,
        closing(listen(options.host, options.port)) as listening,
        name_in_network(listening, manager),
    ):
        access = Access(Codes(codes_path(folder)))
        home = Home(options, folder, listening, ending, manager)
        hosts = (socket.gethostname(), *options.public_names)
        others = dict.fromkeys(
            ("/sessions", "/statistics"), _build_once(partial(_sessions, folder, access, hosts))
        )
        others["/measure"] = partial(_measuring, hosts)
        app = create_home_app(home, access, hosts, others)
        tell_codes(phrase("Rinkside is"), listening, access)
        with suppress(KeyboardInterrupt):
            home.serve(app, access)
        manager.stopping()
    if options.power_off and home.wanted_off:
        subprocess.run(POWER_OFF, check=False)


def _build_once(make: Callable[[], Flask]) -> Callable[[], Flask]:
    """A factory that builds the application once, for all of its paths."""
    made: list[Flask] = []

    def app() -> Flask:
        if not made:
            made.append(make())
        return made[0]

    return app


def _sessions(folder: Path, access: Access, hosts: Sequence[str]) -> Flask:
    """The application for the log's sessions; creates a log if there is none."""
    from referee.sessions.event_store import Log
    from referee.statistics.history import HistoryCache
    from webui import create_history_app

    Log(log_path(folder)).close()
    app: Flask = create_history_app(HistoryCache(log_path(folder)), hosts, access)
    app.jinja_env.globals["has_home"] = True
    return app


def _measuring(hosts: Sequence[str]) -> Flask:
    """The application that measures photographs of the mat."""
    from cli.photo import sample_photo
    from cli.photo_page import photo_reader
    from webui import create_photo_app

    app: Flask = create_photo_app(photo_reader(), sample_photo, hosts)
    app.jinja_env.globals["has_home"] = True
    return app


class Home:
    """State and actions of the home page.  The main thread runs `serve`; others call the rest."""

    def __init__(
        self,
        options: HomeOptions,
        folder: Path,
        listening: socket.socket,
        ending: threading.Event,
        manager: ServiceManager,
    ) -> None:
        self._options, self._folder, self._listening = options, folder, listening
        self._ending, self._manager = ending, manager
        self._changed = threading.Condition()
        self._starting: tuple[Activity, str] | None = None
        if options.resume and running_session(folder) is not None:
            self._starting = ("resume", "")
        self._cancelled = False
        self._notice = ""
        self._cameras: set[str] = set()
        self._taking = threading.Lock()
        self._table: tuple[tuple[int, int], Setup] | None = None
        self._begun_match: MatchHere | None = None
        self.wanted_off = False

    def look(self) -> HomeNow:
        """As `HomePort.look`."""
        with self._changed:
            starting, notice = self._starting and self._starting[0], self._notice
        table, trouble = self._table_in_use()
        cut_off = running_session(self._folder) is not None
        can_end = self._options.power_off or not self._manager.present
        match = self._match() if table is not None else None
        return HomeNow(starting, notice, table, trouble, self.wanted_off, cut_off, can_end, match)

    def _match(self) -> MatchHere | None:
        """This table's next match by the hub, from the file that `rinkside forward` keeps."""
        kept = stored_match(self._folder, time.time)
        if kept is None or kept.game not in GAMES or len(kept.players) < 2:
            return None
        return MatchHere(kept.match, kept.table, kept.event, kept.game, kept.terms, kept.players)

    def games(self) -> Sequence[str]:
        """As `HomePort.games`."""
        return sorted(GAMES, key=lambda name: name != usual_game())

    def taught(self) -> Sequence[str]:
        """As `HomePort.taught`."""
        return [name for name in self.games() if facts(GAMES[name]).lessons is not no_lessons]

    def devices(self) -> Sequence[DeviceFound]:
        """As `HomePort.devices`."""
        cameras = [
            DeviceFound("camera", f"{found.name}, {found.spec}", camera=found.spec)
            for found in found_cameras()
        ]
        self._cameras = {one.camera for one in cameras}
        if self._options.settings is None:
            return cameras
        from cli.device_report import connected
        from hardware.settings import load_settings

        try:
            settings = load_settings(self._options.settings)
        except InputError as error:
            return [*cameras, DeviceFound("settings", str(self._options.settings), error.message)]
        parts = [part for part in connected(settings, time.sleep) if part.kind != "-"]
        return [
            *cameras,
            *(DeviceFound(one.part, f"{one.kind} {one.where}", one.wrong) for one in parts),
        ]

    def picture(self, camera: str) -> bytes | None:
        """As `HomePort.picture`, in a separate process, since OpenCV would stay in memory."""
        if camera not in self._cameras:
            return None
        with self._taking, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.jpg"
            command = [*PROGRAM, "hardware", "picture", camera]
            try:
                subprocess.run(
                    [*command, "--out", str(path)],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=PICTURE_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
            return path.read_bytes() if path.exists() else None

    def start(self, activity: Activity, game: str = "") -> None:
        """As `HomePort.start`."""
        known = {"demo": self.games, "lessons": self.taught}.get(activity)
        if known is not None and game not in known():
            raise InputError(
                msg("expected a game ({raw}), got {raw2}", raw=", ".join(known()), raw2=repr(game))
            )
        if activity in ("play", "match", "resume") and self._table_in_use()[0] is None:
            raise InputError(msg("no table is set up yet: set one up first"))
        if activity == "resume" and running_session(self._folder) is None:
            raise InputError(msg("expected a game that was cut off; there is none"))
        match = self._match() if activity == "match" else None
        if activity == "match" and (match is None or str(match.number) != game):
            raise InputError(msg("this table has another match now: look again"))
        with self._changed:
            if self._starting is not None:
                raise InputError(msg("something else is starting: wait until it is done"))
            self._begun_match = match
            self._starting, self._cancelled, self._notice = (activity, game), False, ""
            self._changed.notify_all()

    def cancel(self) -> None:
        """As `HomePort.cancel`."""
        with self._changed:
            self._cancelled = self._starting is not None

    def shut_down(self) -> None:
        """As `HomePort.shut_down`."""
        with self._changed:
            self.wanted_off = True
            self._changed.notify_all()

    def serve(self, app: Flask, access: Access) -> None:
        """Serve the page while no game runs, until *Shut down* or a signal."""
        while True:
            behind_proxy = bool(self._options.public_names)
            with serving(app, self._listening.dup(), behind_proxy):
                self._manager.status = lambda: HOME_STATUS
                self._manager.ready()
                game = self._next_game()
            if game is None:
                return
            try:
                game.say(GO)
                with self._changed:
                    begun, self._starting = self._starting, None
                began_s = time.monotonic()
                hung = self._watch(game)
            finally:
                game.end()
            if game.over:
                forget_running(self._folder)
            with self._changed:
                following = {AGAIN: begun, PLAY: ("play", "")}
                self._starting = following.get(game.left, self._starting)
                lasted = time.monotonic() - began_s >= LASTED_S
                cut_off = running_session(self._folder) is not None
                if cut_off and (hung or (game.failure and lasted)):
                    logger.warning("the game stopped unexpectedly: it is continued")
                    self._starting = ("resume", "")
                self._notice = game.failure
            access.codes.reload()

    def _next_game(self) -> Game | None:
        """Wait for the next start, and until it is ready; None at *Shut down*."""
        while not self.wanted_off:
            self._manager.feed()
            with self._changed:
                self._changed.wait_for(lambda: self._starting or self.wanted_off, 1.0)
                wanted = self._starting
            if wanted is None:
                continue
            game = Game(self._command(*wanted), self._listening, self._folder)
            if self._is_ready(game):
                return game
            with self._changed:
                self._starting, self._notice = None, "" if self._cancelled else game.failure
        return None

    def _is_ready(self, game: Game) -> bool:
        """Wait until a game is ready; False if it ended before, or was cancelled."""
        try:
            while game.running and not (self._cancelled or self.wanted_off):
                self._manager.feed()
                if game.ready.wait(LOOK_S):
                    return True
                if game.heartbeat.hangs():
                    game.kill()
        except BaseException:
            game.end()
            raise
        game.end()
        return False

    def _watch(self, game: Game) -> bool:
        """Wait until a game has ended; True if it hung and was killed.

        It counts as hung if its panel stops answering, or its loop stops reporting.
        """
        self._manager.status = lambda: game.heartbeat.status
        silent, asked_s, hung = 0, time.monotonic(), False
        while game.running:
            time.sleep(LOOK_S)
            self._manager.feed()
            if game.heartbeat.hangs() and not hung:
                logger.warning("the referee does not report: the game is ended")
                hung = True
                game.kill()
            if time.monotonic() - asked_s < PROBE_S:
                continue
            silent = 0 if answers(self._listening) else silent + 1
            asked_s = time.monotonic()
            if silent >= MOST_SILENT and not hung:
                logger.warning("the game does not answer: it is ended")
                hung = True
                game.kill()
        return hung

    def _command(self, activity: Activity, game: str) -> list[str]:
        """The command line for an activity."""
        programs = {"match": "play", "resume": "play", "lessons": "demo"}
        program = programs.get(activity, activity)
        command = ["--language", language(), program]
        settings = self._options.settings
        if program == "demo":
            command += ["--game", game] + ["--lessons"] * (activity == "lessons")
        elif program == "play":
            command += ["--table", str(self._folder / TABLE_NAME), "--camera", self._camera()]
            command += ["--data", str(self._folder)]
            number = running_session(self._folder) if activity == "resume" else None
            if activity == "match" and self._begun_match is not None:
                command += self._match_options(self._begun_match)
            else:
                command += ["--set-up"] if number is None else ["--resume", str(number)]
        elif self._options.camera is not None:
            command += ["--camera", self._options.camera]
        if settings is not None and activity != "set-up":
            command += ["--settings", str(settings)]
        for name in self._options.public_names:
            command += ["--public-name", name]
        return command

    def _match_options(self, match: MatchHere) -> list[str]:
        """Options that begin a match; its players get the table's first colours, in order."""
        colours = load_table(self._folder / TABLE_NAME).game.colours[: len(match.players)]
        names = [f"{colour}={name}" for colour, name in zip(colours, match.players, strict=False)]
        options = ["--game", match.game, "--players", ",".join(colours)]
        return [*options, "--names", ",".join(names)]

    def _camera(self) -> str:
        return self._options.camera or load_home(self._folder).camera

    def _table_in_use(self) -> tuple[TableInUse | None, str]:
        """The stored table, or why it cannot be used (empty if there is none)."""
        path = self._folder / TABLE_NAME
        try:
            about = path.stat()
        except OSError:
            return None, ""
        try:
            mark = (about.st_mtime_ns, about.st_size)
            if self._table is None or self._table[0] != mark:
                self._table = mark, load_table(path)
            setup, camera = self._table[1], self._camera()
        except InputError as error:
            return None, error.message
        if not camera:
            return None, msg("No camera is chosen yet: set the table up.")
        size_mm = setup.outline_mm().max(axis=0) - setup.outline_mm().min(axis=0)
        rough = setup.camera.first_estimate
        return TableInUse(setup.game.name, (size_mm[0], size_mm[1]), camera, rough), ""


class Game:
    """A started process: the home page's side of `cli.door`."""

    def __init__(self, command: Sequence[str], listening: socket.socket, folder: Path) -> None:
        """Start `rinkside COMMAND`."""
        self._control, theirs = socket.socketpair()
        self.ready = threading.Event()
        self.left = ""
        """HOME, AGAIN or PLAY if it was ended on its page."""
        self.heartbeat = Heartbeat(WATCHDOG_S)
        self._asked_to_end = False
        self._last_line = ""
        sockets = (listening.fileno(), theirs.fileno())
        with closing(theirs):
            self._process = subprocess.Popen(
                [*PROGRAM, *command, "--door", *map(str, (*sockets, folder))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                pass_fds=sockets,
                env=os.environ | self.heartbeat.environment,
                start_new_session=True,  # Ctrl-C must reach the home page only, which ends the game
            )
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._listen, self._read_output)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def running(self) -> bool:
        """False once it has ended."""
        return self._process.poll() is None

    @property
    def over(self) -> bool:
        """True if it was ended on its page, or exited normally."""
        return bool(self.left) or (self._process.poll() == 0 and not self._asked_to_end)

    @property
    def failure(self) -> str:
        """Why it stopped unexpectedly; empty if it was ended or is running."""
        status = self._process.poll()
        if status in (None, 0) or self.left or self._asked_to_end:
            return ""
        why = self._last_line.removeprefix("rinkside: ") or f"exit code {status}"
        return msg("It stopped unexpectedly: {text}", text=why)

    def say(self, word: str) -> None:
        """Send a word of `cli.door`; ignored by an ended process."""
        with suppress(OSError):
            self._control.sendall(f"{word}\n".encode())

    def kill(self) -> None:
        """Kill it; its log contains everything that was shown."""
        self._process.kill()

    def end(self) -> None:
        """Ask it to end, wait, and kill it on timeout."""
        self._asked_to_end = self._asked_to_end or self.running
        self.say(END)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(LOOK_S)
        self._control.close()
        self.heartbeat.close()

    def _listen(self) -> None:
        for word in words(self._control):
            if word == READY:
                self.ready.set()
            elif word in (HOME, AGAIN, PLAY):
                self.left = word

    def _read_output(self) -> None:
        assert self._process.stdout is not None, "it was opened as a pipe"
        for line in self._process.stdout:
            if text := printable(line).rstrip():
                self._last_line = text.strip()
                say(text, err=True)


def answers(listening: socket.socket) -> bool:
    """True if the server at this address answers within the time limit."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_S)
    try:
        connection.request("GET", "/api/v1/me")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
