"""The way between the home page and what it starts: one address, handed on.

The home page holds the listening socket.  A game is a process of its own that is given this socket
and a connection, on which both say one word a line:

- the game: `ready` once it can serve pages; `home`, `again` or `play` when people end it on its
  page, and what comes next
- the home page: `go` once it serves no pages any more; `end` to end the game

Whichever of them dies closes the connection, and the other one notices.
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
    """The game's side: the address that it serves on, and the way back to the home page."""

    def __init__(self, listening: socket.socket, control: socket.socket, data: Path) -> None:
        """`data` is the folder of the home page, whose codes count for the game too."""
        self.listening, self.data = listening, data
        self._control = control
        self._changed = threading.Condition()
        self._go = self._closed = False
        threading.Thread(target=self._listen, name="door", daemon=True).start()

    def ready(self) -> None:
        """Say that pages can be served, and wait until the home page has stopped serving its own.

        Later calls return at once.
        """
        with self._changed:
            if self._go or self._closed:
                return
            self._say(READY)
            while not (self._go or self._closed):
                self._changed.wait(1.0)

    def leave(self, then: Next = "home") -> None:
        """End this process as Ctrl-C would; the home page then starts the same again, or a game."""
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
    """The words that come through a connection, until it is closed; others are skipped."""
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
"""How the home page starts a command; nobody types it."""
