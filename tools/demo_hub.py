"""Run a demonstration hall: a database, a hub and four simulated tables (`make demo-hub`).

The tables play two events, match after match, with the players' names; results are confirmed
automatically. It uses PostgreSQL if that is installed, else SQLite. All data are deleted at the
end.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from engines import facts_of
from hub.accounts import Accounts
from hub.app import wall_ms
from hub.audit import Actor
from hub.events import Event, Events
from hub.match_desk import MatchDesk
from hub.matches import OPEN, Match, result_text
from hub.standings import Results
from hub.store import Store
from hub.tables import Tables
from simulation.tables import demo_table
from tools.postgres import NoPostgres, Postgres

EVENTS = {
    "icebreaker": ("Ana", "Ben", "Cleo", "Dario", "Eva", "Finn"),
    "ice_boule": ("Greta", "Hugo", "Iris", "Jan", "Kim", "Luis"),
}
"""The events' games and players. There are more players than seats, so that some wait."""
TABLES_EACH = 2
LOOK_S = 2.0
"""Interval for polling whether a match is over."""


@dataclass(slots=True, eq=False)
class Table:
    """A table of the hall: folder, forwarder, and current match."""

    id: int
    data: Path
    forwarder: subprocess.Popen[bytes]
    match: int = 0
    game: subprocess.Popen[bytes] | None = None


def main() -> None:
    """Run until Ctrl-C."""
    options = argparse.ArgumentParser(description="A hub and four simulated tables.")
    options.add_argument("--port", type=int, default=8080, help="of the hub (default: 8080)")
    options.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets others look")
    chosen = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rinkside-hall-")))
        url = database(stack, folder)
        store = Store(url)
        stack.callback(store.close)
        hall = Hall(store)
        address = f"http://127.0.0.1:{chosen.port}"
        words = ("hub", "--host", chosen.host, "--port", str(chosen.port), "--database", url)
        hub = start(*words)
        stack.callback(end, [hub])
        stack.callback(hall.end)
        wait_for(hub, chosen.port)
        for number in range(1, TABLES_EACH * len(EVENTS) + 1):
            hall.add_table(number, folder, address)
        for game in EVENTS:
            print(f"The {hall.begin(game)} begins.")
        print(f"The wall: {address}/   Organiser: demo, password {hall.password}   Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            while hub.poll() is None:
                hall.look()
                time.sleep(LOOK_S)


def database(stack: ExitStack, folder: Path) -> str:
    """URL of an empty database."""
    try:
        server = stack.enter_context(Postgres())
    except NoPostgres as missing:
        print(f"SQLite: {missing}.")
        return f"sqlite:///{folder / 'hub.sqlite'}"
    print(f"PostgreSQL on port {server.port}.")
    return server.new_url()


class Hall:
    """A club with its tables and events, and an automatic organiser."""

    def __init__(self, store: Store) -> None:
        store.upgrade()
        self._store, self.password = store, secrets.token_urlsafe(9)
        accounts = Accounts(store, wall_ms)
        accounts.add("Demo hall", "demo", self.password, "admin")
        who = accounts.logged_in(accounts.log_in("demo", self.password, "demo"))
        assert who is not None
        self._actor = Actor("demo", who.club_id, "demo")
        self._events = Events(store, Results(store), wall_ms)
        self._desk = MatchDesk(store, self._events, wall_ms)
        self._tables: dict[int, Table] = {}
        self._begun = 0

    def add_table(self, number: int, folder: Path, hub: str) -> None:
        """Enrol a table, and start its forwarder."""
        tables = Tables(self._store, wall_ms)
        asked = tables.ask(f"table {number}")
        tables.enrol(self._actor, asked.code, f"Table {number}")
        token = tables.claim(asked.secret).token
        table = tables.known(token).id
        data = folder / f"table{number}"
        data.mkdir()
        words = ("forward", "--hub", hub, "--data", str(data))
        self._tables[table] = Table(table, data, start(*words, token=token, quiet=True))

    def begin(self, game: str) -> str:
        """Begin an event of a game at its tables, and pair all its rounds; returns its name."""
        self._begun += 1
        name = f"{facts_of(game).title} evening {(self._begun - 1) // len(EVENTS) + 1}"
        event_id = self._events.make(self._actor, name, game, "round_robin")
        self._events.add_players(self._actor, event_id, EVENTS[game])
        first = TABLES_EACH * list(EVENTS).index(game)
        self._events.use_tables(
            self._actor, event_id, sorted(self._tables)[first : first + TABLES_EACH]
        )
        self._events.pair(self._actor, event_id, 0)
        return name

    def look(self) -> None:
        """Confirm results, end games of finished matches, and begin the next ones."""
        club = self._actor.club_id
        for event in self._events.running(club):
            for one in event.matches:
                if one.status == "reported":
                    self._desk.confirm(self._actor, event.id, one.match.id, result_text(one.result))
        running = self._events.running(club)
        open_ = {one.match.id for event in running for one in event.matches if one.status in OPEN}
        for table in self._tables.values():
            if table.game is not None and (
                table.match not in open_ or table.game.poll() is not None
            ):
                end([table.game])
                table.game = None
        for number, (event, match) in self._events.next_matches(club).items():
            if (table := self._tables[number]).game is None:
                self._play(table, event, match)
        for event in running:
            if not event.unconfirmed:
                self._events.end(self._actor, event.id)
                self.begin(event.game)

    def _play(self, table: Table, event: Event, match: Match) -> None:
        """Begin a match with its players' names; the first player begins."""
        colours = demo_table(event.game, match.id).setup.game.colours
        pairs = zip(colours, match.seats, strict=True)
        names = ",".join(f"{colour}={seat.name}" for colour, seat in pairs)
        words = ("--game", event.game, "--names", names, "--seed", str(match.id), "--port", "0")
        table.match = match.id
        table.game = start("demo", "--data", str(table.data), *words, quiet=True)

    def end(self) -> None:
        """End the games and the forwarders."""
        tables = self._tables.values()
        end([one for table in tables for one in (table.game, table.forwarder) if one is not None])


def wait_for(hub: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the hub answers, before its tables load the machine, or until it has exited."""
    while hub.poll() is None:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), LOOK_S)):
            return
        time.sleep(LOOK_S / 10)


def start(*words: str, token: str = "", quiet: bool = False) -> subprocess.Popen[bytes]:
    """Start a Rinkside command."""
    return subprocess.Popen(
        [sys.executable, "-c", "from cli.main import run; run()", *words],
        env=os.environ | ({"RINKSIDE_HUB_TOKEN": token} if token else {}),
        stdout=subprocess.DEVNULL if quiet else None,
    )


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Terminate all processes, then wait for them."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
