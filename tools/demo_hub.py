"""A hall on this computer: a database, a hub, four simulated tables that play (`make demo-hub`).

PostgreSQL is used where it is installed, SQLite otherwise. All of it is thrown away at the end.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from engines import GAMES, facts_of
from hub.accounts import Accounts
from hub.app import wall_ms
from hub.audit import Actor
from hub.store import Store
from hub.tables import Tables
from tools.postgres import NoPostgres, Postgres

TABLES = 4


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
        password, tokens = enrol(url)
        hub = f"http://127.0.0.1:{chosen.port}"
        words = ("hub", "--host", chosen.host, "--port", str(chosen.port), "--database", url)
        processes = [start(*words)]
        stack.callback(end, processes)
        for number, (token, game) in enumerate(zip(tokens, GAMES, strict=False), 1):
            data = folder / f"table{number}"
            data.mkdir()
            words = ("demo", "--game", game, "--data", str(data), "--port", "0")
            processes += [
                start(*words, "--seed", str(number), quiet=True),
                start("forward", "--hub", hub, "--data", str(data), token=token, quiet=True),
            ]
            print(f"Table {number} plays {facts_of(GAMES[game].NAME).title}.")
        print(f"The wall: {hub}/   Organiser: demo, password {password}   Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            processes[0].wait()


def database(stack: ExitStack, folder: Path) -> str:
    """The address of an empty database."""
    try:
        server = stack.enter_context(Postgres())
    except NoPostgres as missing:
        print(f"SQLite: {missing}.")
        return f"sqlite:///{folder / 'hub.sqlite'}"
    print(f"PostgreSQL on port {server.port}.")
    return server.new_url()


def enrol(url: str) -> tuple[str, list[str]]:
    """A club with an organiser and tables; the organiser's password, and the tables' tokens."""
    store = Store(url)
    store.upgrade()
    accounts, tables = Accounts(store, wall_ms), Tables(store, wall_ms)
    password = secrets.token_urlsafe(9)
    accounts.add("Demo hall", "demo", password, "admin")
    organiser = accounts.logged_in(accounts.log_in("demo", password, "demo"))
    assert organiser is not None
    actor = Actor("demo", organiser.club_id, "demo")
    tokens = []
    for number in range(1, TABLES + 1):
        asked = tables.ask(f"table {number}")
        tables.enrol(actor, asked.code, f"Table {number}")
        tokens.append(tables.claim(asked.secret).token)
    store.close()
    return password, tokens


def start(*words: str, token: str = "", quiet: bool = False) -> subprocess.Popen[bytes]:
    """A command of Rinkside's."""
    return subprocess.Popen(
        [sys.executable, "-c", "from cli.main import run; run()", *words],
        env=os.environ | ({"RINKSIDE_HUB_TOKEN": token} if token else {}),
        stdout=subprocess.DEVNULL if quiet else None,
    )


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End them all at once, and wait for them."""
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
