"""Send hostile requests to all pages over sockets: `python -m benchmarks.attacks.hostile_requests`.

No answer may be 5xx (but 503 and 507, which say what is short), and nothing may be logged as a
mistake.
"""

from __future__ import annotations

import logging
import random
import socket
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask

import engines
from benchmarks.attacks.hostile import Hostile, hostile_requests
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from simulation.players.ice_boule_table import demo_setup
from tools import pages
from vision.change_gate import Watch
from webui import create_app, create_history_app
from webui.server import listen, serving

CLIENTS, PATIENCE_S = 6, 60.0
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
EXCUSED = (503, 507)
"""Answers that say what is short: pictures and streams, the disk."""


@dataclass
class Outcome:
    """Result of some requests.

    Answers by status (0: none), those that show a mistake of the panel, and what was logged as one.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)

    def count(self, status: int, asked: Hostile) -> None:
        """An answer came."""
        self.statuses[status] += 1
        if status >= 500 and status not in EXCUSED:
            self.mistakes.append(
                f"{status} {asked.method} {asked.target[:200]!r} {asked.headers!r:.400}"
                f" {asked.body[:200]!r}"
            )


class Mistakes(logging.Handler):
    """Keeps what is logged with an exception, or as an error."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(logging.WARNING)
        self._outcome = outcome

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or record.levelno >= logging.ERROR:
            self._outcome.logged.append(self.format(record))


def ask(address: tuple[str, int], asked: Hostile, source: str) -> int:
    """Send a request over a socket and return the status of the answer; 0 where there is none.

    The answer is read to its end, of a stream only the beginning.
    """
    with socket.create_connection(address, PATIENCE_S, (source, 0)) as connection:
        try:
            connection.sendall(asked.written())
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(65536):
                answer = (answer + part).removeprefix(CONTINUE)[:2000]
                if b"text/event-stream" in answer or len(answer) == 2000:
                    break
        except TimeoutError:
            raise
        except OSError:  # hung up
            return 0
    words = answer.split(None, 2)
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") else 0


@contextmanager
def applications() -> Iterator[dict[str, Flask]]:
    """All applications with pages.

    Panels of every game on real sessions, sessions to look back on, a ruler, calibrations, a
    set-up.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        boule, frame = stack.enter_context(pages.game(3))
        apps = {"ice_boule": boule}
        log = stack.enter_context(Log(folder / "rinkside.log"))
        players = {
            "icebreaker": ("red", "black"),
            "zamboni_wars": ("yellow", "red", "blue", "green"),
        }
        for game in engines.GAMES:
            session = Session.begin(
                log, SessionStarted(game=game, players=players.get(game, ("red", "black", "blue")))
            )
            stack.callback(session.close)
            live = Referee(pages.Film(frame, frame), demo_setup(), Watch(), session)
            apps[f"{game}, real session"] = create_app(
                session, live, histories=HistoryCache(log.path)
            )
        apps["sessions"] = create_history_app(HistoryCache(log.path))
        apps |= pages.guides(frame, folder / "table.json")[0]
        yield apps


def attack(count: int, seed: int = 1) -> Outcome:
    """Send so many hostile requests over sockets of loopback, to all applications in turn."""
    outcome, lock = Outcome(), threading.Lock()
    handler = Mistakes(outcome)
    logging.getLogger().addHandler(handler)
    thread_hook = threading.excepthook
    threading.excepthook = lambda failed: outcome.logged.append(
        f"{failed.thread}: {failed.exc_value!r}"
    )
    try:
        with applications() as apps, ExitStack() as stack:
            sources, addresses = [], []
            for number, app in enumerate(apps.values()):
                listening = stack.enter_context(listen(port=0))
                stack.enter_context(serving(app, listening))
                addresses.append(listening.getsockname())
                sources.append(hostile_requests(app, random.Random(f"{seed} {number}")))
            numbers = iter(range(count))

            def work(client: int) -> None:
                while True:
                    with lock:
                        number = next(numbers, None)
                        if number is None:
                            return
                        asked = next(sources[number % len(sources)])
                    status = ask(
                        addresses[number % len(addresses)],
                        asked,
                        f"127.0.{client + 1}.{number // 50 % 250 + 1}",
                    )
                    with lock:
                        outcome.count(status, asked)

            clients = [threading.Thread(target=work, args=(client,)) for client in range(CLIENTS)]
            for one in clients:
                one.start()
            for one in clients:
                one.join()
    finally:
        threading.excepthook = thread_hook
        logging.getLogger().removeHandler(handler)
    return outcome
