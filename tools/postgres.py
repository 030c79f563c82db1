"""A temporary PostgreSQL server on a free local port."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

WHERE = "/usr/local/bin:/usr/bin:/usr/lib/postgresql/17/bin:/usr/lib/postgresql/15/bin"
INITDB, PG_CTL = (shutil.which(name, path=WHERE) for name in ("initdb", "pg_ctl"))


class NoPostgres(Exception):  # noqa: N818 - a state of the computer
    """PostgreSQL is not installed, or this user cannot run it; the message says which."""


def free_port() -> int:
    """A free local port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Postgres:
    """A server that can be killed and restarted on the same port; a context manager.

    PostgreSQL refuses to run as root, so under root the server runs as another user.
    """

    def __init__(self, where: Path | None = None) -> None:
        """Create an empty server, in a folder under `where` if given; raises NoPostgres."""
        if INITDB is None or PG_CTL is None:
            raise NoPostgres("PostgreSQL is not installed (apt install postgresql)")
        self._as: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="rinkside-postgres-", dir=where))
        """Folder of all files of the server."""
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("nobody")
            except KeyError:
                raise NoPostgres("it does not run as root, and there is no other user") from None
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.port = free_port()
        self._data = self.folder / "data"
        self._run(INITDB, "-D", self._data, "-U", "hub", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._databases = 0

    def _run(self, *words: object) -> None:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            **self._as,
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start it, and wait until it listens."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off"
        log = self.folder / "log"
        self._run(PG_CTL, "-D", self._data, "-l", log, "-o", options, "-w", "start")

    def kill(self) -> None:
        """Send SIGQUIT: immediate shutdown, like a crash of the server."""
        self._run(PG_CTL, "-D", self._data, "-m", "immediate", "-w", "stop")

    @property
    def pid(self) -> int:
        """Id of the parent process."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    @property
    def running(self) -> bool:
        """False if the server was stopped or has exited."""
        try:
            os.kill(self.pid, 0)
        except (FileNotFoundError, ProcessLookupError):
            return False
        return True

    def new_url(self) -> str:
        """URL of a new empty database."""
        import psycopg

        self._databases += 1
        name = f"hub{self._databases}"
        address = f"postgresql://hub@127.0.0.1:{self.port}"
        with psycopg.connect(f"{address}/postgres", autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        return f"{address}/{name}"

    def __enter__(self) -> Postgres:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if (self._data / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
