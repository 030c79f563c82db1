"""Protocol between the home page and the processes that it starts, which share one address.

The home page holds the listening socket.  A game is a separate process that inherits this socket
and a connection, on which both send one word per line:

- the game: `ready` once it can serve pages; `home`, `again` or `play` when it is ended on its page,
  for the next action
- the home page: `go` once it has stopped serving pages; `end` to end the game

If either process dies, its end of the connection closes, which the other one detects.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import click

from table.errors import InputError
from table.messages import msg
from webui.interfaces import Next

READY, GO, END, HOME, AGAIN, PLAY = "ready", "go", "end", "home", "again", "play"
WORDS = frozenset({READY, GO, END, HOME, AGAIN, PLAY})


class Door:
    """The game's side: the listening socket, and the connection to the home page."""

    def __init__(self, listening: socket.socket, control: socket.socket, data: Path) -> None:
        """`data` is the home page's folder, whose codes are also valid for the game."""
        self.listening, self.data = listening, data
        self._control = control
        self._changed = threading.Condition()
        self._go = self._closed = False
        threading.Thread(target=self._listen, name="door", daemon=True).start()

    def ready(self) -> None:
        """Report readiness, and wait until the home page has stopped serving pages.

        Later calls return at once.
        """
        with self._changed:
            if self._go or self._closed:
                return
            self._say(READY)
            while not (self._go or self._closed):
                self._changed.wait(1.0)

    def leave(self, then: Next = "home") -> None:
        """End this process as Ctrl-C would; `then` is the home page's next action."""
        self._say(then)
        os.kill(os.getpid(), signal.SIGTERM)

    def _say(self, word: str) -> None:
        try:
            self._control.sendall(f"{word}\n".encode())
        except OSError:
            self._closed = True

    def _listen(self) -> None:
        for word in words(self._control):
            with self._changed:
                self._go = self._go or word == GO
                self._changed.notify_all()
            if word == END:
                break
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        os.kill(os.getpid(), signal.SIGTERM)


def words(control: socket.socket) -> Any:
    """Yield known words from a connection until it is closed; others are skipped."""
    with control.makefile("r", encoding="ascii", errors="replace") as lines:
        try:
            for line in lines:
                if (word := line.strip()) in WORDS:
                    yield word
        except OSError:
            return


def _open_door(
    _context: click.Context, _option: click.Parameter, given: tuple[int, int, Path] | None
) -> Door | None:
    if given is None:
        return None
    listening, control, data = given
    try:
        return Door(socket.socket(fileno=listening), socket.socket(fileno=control), data)
    except OSError as error:
        raise InputError(
            msg("--door: expected two sockets that the home page hands over ({raw})", raw=error)
        ) from error


door_option = click.option(
    "--door", type=(int, int, Path), hidden=True, callback=_open_door, metavar="SOCKET CONTROL DATA"
)
"""Hidden option with which the home page starts a command."""
