"""A microcontroller on USB as lamps, dice, buttons and buzzer, for computers without pins.

Lines of JSON, ended by LF, at 115200 baud; whoever does not know a key leaves it be.
docs/HARDWARE.md describes them, and hardware/firmware has two such boards::

    computer -> board   {"hello": 1}                            who are you?
                        {"lamps": [[255, 0, 0], [0, 0, 0]]}      players in turn order, then the
                        verdict
                        {"dice": [5, 0]}                         0: dark
                        {"beeps": [[1, 130], [0, 130]]}          sound and silence, ms
    board -> computer   {"hello": "rinkside-board/1", "lamps": 3, "dice": 2, "buttons": ["die",
    "next"], "buzzer": true}
                        {"button": "next", "down": true}         every edge; bounces are sorted out
                        by the computer
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

from hardware.backends.serial_port import Port
from hardware.buzzer import beeps
from hardware.cues import Cue
from hardware.interfaces import DeviceLost, Faces, Press, check_faces
from hardware.lamp_levels import lanterns
from hardware.lamp_thread import LEAVE_S, RETRY_S, loss_reason
from hardware.press_reader import PressReader
from table.json_data import JsonValue
from table.messages import msg

BAUD = 115200
HELLO = "rinkside-board/1"
POLL_S = 0.01
"""Poll interval: longest delay of a press or of a line to send."""
ASK_S = 1.0
"""Interval of the question `hello` to a board that has not answered."""
STARTS_S = 3.0
"""Time without an answer after opening the port until it is an error. Many boards restart when
their port is opened.
"""
AGAIN_S = 2.0
"""Interval at which the whole state is sent again, to repair lines that were garbled."""


class Hello(msgspec.Struct, frozen=True):
    """A board's description of itself; `lamps` counts those of the players and of the verdict."""

    hello: str
    lamps: int = 0
    dice: int = 0
    buttons: tuple[str, ...] = ()
    buzzer: bool = False


def identify(port: Port, pause: Callable[[float], object]) -> Hello | None:
    """Ask what is on an open port; None if no board answers.

    Takes at most three seconds, as opening the port restarts many boards.
    """
    for turn in range(30):
        if turn % 10 == 0:
            port.write(b'\n{"hello": 1}\n')
        pause(0.1)
        for line in port.lines():
            with suppress(msgspec.MsgspecError):
                board = msgspec.json.decode(line, type=Hello)
                if board.hello == HELLO:
                    return board
    return None


class Link:
    """Connection to a board, shared by all its parts.

    Of each kind of line only the latest is sent. Button edges are passed on.
    """

    def __init__(self, open_port: Callable[[], Port]) -> None:
        """Open the port at once; raises InputError."""
        self._open = open_port
        self._port: Port | None = open_port()
        self._lock = threading.Lock()
        self._wanted: dict[str, JsonValue] = {}
        self._due: dict[str, JsonValue] = {}
        self._edge: Callable[[str, bool], None] = lambda _button, _down: None
        self._error = ""
        self._steps = 0
        """Polls since the port was opened."""
        self._known = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="board", daemon=True)
        self._thread.start()

    @property
    def error(self) -> str:
        """Reason why the board does not answer; empty if it does."""
        with self._lock:
            return self._error

    @property
    def has_answered(self) -> bool:
        """True if a board has identified itself since the port was opened."""
        return self._known

    def send(self, key: str, value: JsonValue, lasting: bool = True) -> None:
        """Queue a value, in place of an earlier one with this key; returns at once.

        A `lasting` value is sent again to a restarted board.
        """
        with self._lock:
            if not lasting:
                self._due[key] = value
            elif self._wanted.get(key) != value:
                self._wanted[key] = self._due[key] = value

    def listen(self, edge: Callable[[str, bool], None]) -> None:
        """Call `edge` with (button, is down) for every edge from now on."""
        self._edge = edge

    def close(self) -> None:
        """Send what is queued and close the port; returns after LEAVE_S at the latest."""
        self._closing.set()
        self._thread.join(LEAVE_S)

    def _run(self) -> None:
        wait_s = 0.0
        while not self._closing.wait(wait_s):
            try:
                self._step()
                wait_s = POLL_S
            except Exception as error:  # drivers raise anything; the port is reopened
                self._close_port(loss_reason(error))
                wait_s = RETRY_S
        if self._port is not None:
            with suppress(Exception):
                self._flush(self._port)
            with suppress(Exception):
                self._port.close()

    def _step(self) -> None:
        if self._port is None:
            self._port = self._open()
        if not self._known and self._steps % round(ASK_S / POLL_S) == 0:
            self._port.write(b'\n{"hello": 1}\n')
        self._steps += 1
        if not self._known and self._steps == round(STARTS_S / POLL_S):
            with self._lock:
                self._error = msg(
                    "{name}: the board does not answer; is its program installed?",
                    name=self._port.name,
                )
        for line in self._port.lines():
            self._hear(line)
        if self._known:
            if self._steps % round(AGAIN_S / POLL_S) == 0:
                self._send_all()
            self._flush(self._port)

    def _send_all(self) -> None:
        with self._lock:
            self._due = self._wanted | self._due

    def _flush(self, port: Port) -> None:
        with self._lock:
            due, self._due = self._due, {}
        for key, value in due.items():
            port.write(json.dumps({key: value}, separators=(",", ":")).encode() + b"\n")

    def _hear(self, line: str) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        match message:
            case {"hello": str(hello)} if hello == HELLO:
                # Sent at every start; a restarted board knows nothing.
                self._known = True
                self._send_all()
                with self._lock:
                    self._error = ""
            case {"button": str(button), "down": bool(down)}:
                self._edge(button, down)

    def _close_port(self, why: str) -> None:
        if self._port is not None:
            with suppress(Exception):
                self._port.close()
        self._port, self._known, self._steps = None, False, 0
        with self._lock:
            self._error = why


class BoardLamps:
    """Lamps of a board, as a device for `hardware.lamp_thread.LampThread`."""

    interval_s = 1 / 30

    def __init__(self, link: Link, players: int) -> None:
        self._link, self._players = link, players

    def step(self, cue: Cue, since_ms: float) -> None:
        """Send the lamps of this moment; raises DeviceLost if the board does not answer."""
        if error := self._link.error:
            raise DeviceLost(error)
        self._link.send(
            "lamps", [lantern.lit for lantern in lanterns(cue, since_ms, self._players)]
        )

    def close(self) -> None:
        """Do nothing: whoever opened the link closes it."""


class BoardDice:
    """Dice of a board."""

    def __init__(self, link: Link, count: int) -> None:
        self._link, self.count = link, count

    @property
    def error(self) -> str:
        return self._link.error

    def show(self, faces: Faces) -> None:
        check_faces(faces, self.count)
        self._link.send("dice", [face or 0 for face in faces])

    def close(self) -> None:
        self.show((None,) * self.count)


class BoardButtons:
    """Buttons of a board, by the names that the board gives them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._reader: PressReader | None = None

    @property
    def error(self) -> str:
        return self._link.error

    def listen(self, tell: Callable[[Press], None]) -> None:
        self._reader = PressReader(tell)
        self._link.listen(self._reader.edge)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()


class BoardBuzzer:
    """The buzzer of a board."""

    def __init__(self, link: Link) -> None:
        self._link = link

    @property
    def error(self) -> str:
        return self._link.error

    def play(self, cue: Cue) -> None:
        self._link.send("beeps", [[int(on), hold_ms] for on, hold_ms in beeps(cue)], lasting=False)

    def close(self) -> None:
        """Do nothing: whoever opened the link closes it."""
