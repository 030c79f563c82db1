"""Devices that are files: a camera, lamps, dice, buttons, a buzzer and a score."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from hardware.cues import DARK, Cue
from hardware.interfaces import Faces, Press, check_faces
from hardware.plugins import DevicePlugin, Place
from hardware.scoreboard import Scoreboard
from table.errors import InputError
from table.json_data import JsonObject
from table.table_config import Setup
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.cameras.plugins import CameraPlugin

PERIOD_S = 0.25
"""Frame period, and interval for polling buttons."""


class Still:
    """A camera that always sees the same picture."""

    simulated = False

    def __init__(self, path: Path) -> None:
        self.name = f"still {path.name}"
        self._image = read_image(path).image
        self._count, self._closed = 0, threading.Event()

    def read(self) -> Frame | None:
        """The picture once more."""
        if self._closed.wait(PERIOD_S if self._count else 0):
            raise ValueError("the camera was closed")
        self._count += 1
        return Frame(self._count - 1, int(1000 * monotonic()), self._image)

    def close(self) -> None:
        """Nothing is held."""
        self._closed.set()


def open_still(argument: str, _setup: Setup | None) -> Still:
    """Open `still:PICTURE`; raises InputError for an invalid picture."""
    return Still(Path(argument))


class Lines:
    """A file to which lines are appended."""

    error = ""

    def __init__(self, options: JsonObject, known: tuple[str, ...] = ("path",)) -> None:
        path = options.get("path")
        if not isinstance(path, str) or not {*options} <= {*known}:
            raise InputError(f"expected {', '.join(known)}, got {', '.join(options) or 'nothing'}")
        self.path = Path(path)
        self.path.touch()

    def write(self, line: str) -> None:
        """Add a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class FileLamps(Lines):
    """Lamps: a line for every changed cue."""

    def __init__(self, options: JsonObject, _place: Place) -> None:
        super().__init__(options)
        self._cue = DARK

    def show(self, cue: Cue) -> None:
        """Write the signal and the player concerned."""
        if cue != self._cue:
            self._cue = cue
            self.write(" ".join((cue.signal, *cue.of)))

    def close(self) -> None:
        """Go dark."""
        self.show(DARK)


class FileDice(Lines):
    """Dice: a line for every roll."""

    def __init__(self, options: JsonObject, _place: Place) -> None:
        super().__init__(options, ("path", "count"))
        self.count = options.get("count", 1)
        if self.count not in (1, 2):
            raise InputError(f"count: expected 1 or 2, got {self.count!r:.20}")

    def show(self, faces: Faces) -> None:
        """Write the values; a dark die is a dash."""
        check_faces(faces, self.count)
        self.write(" ".join("-" if face is None else str(face) for face in faces))

    def close(self) -> None:
        """Nothing is held."""


class FileSounds(Lines):
    """A buzzer: a line for every sound."""

    def __init__(self, options: JsonObject, _place: Place) -> None:
        super().__init__(options)

    def play(self, cue: Cue) -> None:
        """Write the signal."""
        self.write(cue.signal)

    def close(self) -> None:
        """Nothing is held."""


class FileScore:
    """Score: a small text file with the latest one, for a display that reads files."""

    error = ""

    def __init__(self, options: JsonObject, _place: Place) -> None:
        path = options.get("path")
        if not isinstance(path, str) or {*options} != {"path"}:
            raise InputError(f"expected path, got {', '.join(options) or 'nothing'}")
        self.path = Path(path)

    def show(self, board: Scoreboard) -> None:
        """Write the points of each player, the one to play marked, and the last ruling."""
        lines = [
            f"{'>' if one.player == board.player else ' '} {one.name} {one.points:g}"
            for one in board.scores
        ]
        news = board.trouble or board.outcome or board.headline
        text = "\n".join([board.game, *lines, news])
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{text}\n", encoding="utf-8")
        fresh.replace(self.path)  # atomic for readers

    def close(self) -> None:
        """The last score stays."""


class FileButtons(Lines):
    """Buttons: every line appended to the file is a short press of the named button."""

    def __init__(self, options: JsonObject, _place: Place) -> None:
        super().__init__(options)
        self._read = self.path.stat().st_size
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def listen(self, tell: Callable[[Press], None]) -> None:
        """Report presses from a thread that polls the file."""
        self._thread = threading.Thread(target=self._look, args=(tell,), daemon=True)
        self._thread.start()

    def _look(self, tell: Callable[[Press], None]) -> None:
        while not self._closed.wait(PERIOD_S):
            with self.path.open("rb") as file:
                file.seek(self._read)
                lines = file.read().splitlines(keepends=True)
            for line in lines:
                if line.endswith(b"\n"):
                    self._read += len(line)
                    at_ms = 1000 * monotonic()
                    button = line.decode("utf-8", "replace").strip()
                    tell(Press(button, "down", at_ms))
                    tell(Press(button, "short", at_ms))

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()


STILL = CameraPlugin(open_still, interface=1)
LAMPS = DevicePlugin(FileLamps, interface=1)
DICE = DevicePlugin(FileDice, interface=1)
BUTTONS = DevicePlugin(FileButtons, interface=1)
SOUNDS = DevicePlugin(FileSounds, interface=1)
SCORE = DevicePlugin(FileScore, interface=1)
