"""`rinkside` as a process of its own, and a host in it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path

PROGRAM = "from cli.main import run; run()"
WAIT_S = 120
"""A generous limit for a start on a small and busy board; nothing is measured by it."""


class HomePage(ABC):
    """A home page that runs, as its host sees it."""

    url: str
    code: str
    """The host's; it is another one after each start."""

    @abstractmethod
    def until(self, text: str, path: str = "/") -> str:
        """The page once it has this text."""

    def get(self, path: str = "/", form: dict[str, str] | None = None) -> str:
        """A page; with a form, what sending it answers."""
        headers = {
            "Accept": "text/html",
            "Authorization": f"Bearer {self.code}",
            "Sec-Fetch-Site": "same-origin",
        }
        data = None if form is None else urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            text: str = answer.read().decode()
            return text

    def begin(self) -> None:
        """Begin a game of Ice Boule on the table of the data folder."""
        self.get("/start", {"activity": "play"})
        self.until("The corner cards and the board are where table.json says.")
        seats = {"plays red": "on", "plays blue": "on", "place red": "1", "place blue": "2"}
        self.get("/begin", {"game": "ice_boule", **seats})
        self.until("data-stream")


class HomeProcess(HomePage):
    """The home page of a data folder on a free port; a context manager that kills what is left."""

    def __init__(self, data: Path, *words: str, program: str = PROGRAM) -> None:
        """`program` is Python that runs Rinkside; it finds itself and a file in its environment."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "--port", "0", "--data", str(data), *words],
            env=os.environ | {"HANGS": program, "HANG": str(data / "hang")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first, self.process.communicate()[1]
        self.url = next(word for word in first.split() if word.startswith("http://"))
        self.code = self.process.stdout.readline().split()[-1]
        self.link = self.process.stdout.readline().split()[-1]

    def __enter__(self) -> HomeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def until(self, text: str, path: str = "/") -> str:
        """The page once it has this text; it may be handed over just now."""
        for _ in range(20 * WAIT_S):
            try:
                if text in (page := self.get(path)):
                    return page
            except (urllib.error.URLError, ConnectionError):
                pass
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)
        raise AssertionError(f"{path} never had {text!r}, but {page[-2000:]}")

    def game(self) -> int:
        """The process id of the game that runs, or starts."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        (child,) = children.read_text().split()
        return int(child)


def gone(pid: int) -> bool:
    """Wait until a process is gone; False if it stays."""
    for _ in range(20 * WAIT_S):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False
