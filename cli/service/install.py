"""Install, describe and remove the systemd service. Every step may be repeated."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.paths import data_folder
from cli.service.unit import NAME
from referee.sessions.private_files import OWNER_FOLDER
from table.errors import InputError
from table.files import MOST_TEXT_BYTES, keep_previous, read_bytes, write_whole
from table.messages import msg, phrase

MOST_PICTURE_BYTES = 100 << 20
"""Maximum size of a copied picture of the empty table."""
OWNER_FILE = 0o600
BOOTED = Path("/run/systemd/system")
"""Exists if systemd is the init system; source: sd_booted(3)."""
READ, EXECUTE = stat.S_IROTH, stat.S_IXOTH
"""Permissions of users other than owner and group."""
PATIENCE_S = 200.0
"""Timeout of a systemd command; a start may take `unit.START_S`."""
SHOWN = ("LoadState", "UnitFileState", "ActiveState", "SubState", "StatusText", "NRestarts")
"""Properties queried with `systemctl show`."""

Run = Callable[[Sequence[str]], str]
"""Runs a program and returns its output; raises InputError with the reason if it fails."""


def run(words: Sequence[str]) -> str:
    """Run a system program without a terminal.

    Raises InputError if it is missing, fails, or exceeds the timeout.
    """
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            msg("{raw}: expected a program that runs ({raw2})", raw=words[0], raw2=reason)
        ) from error
    if done.returncode:
        reason = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise InputError(msg("{raw} failed: {raw2}", raw=" ".join(words[:4]), raw2=reason[:300]))
    return done.stdout


@dataclass(frozen=True, slots=True)
class Place:
    """Target of an installation: the whole computer, or (`user`) one user.

    `root` is the root of the file system, other than / for an SD card image or a test.
    """

    user: bool
    root: Path = Path("/")

    @property
    def unit(self) -> Path:
        """The unit's file."""
        folder = _config_folder() if self.user else self.root / "etc"
        return folder / "systemd" / ("user" if self.user else "system") / f"{NAME}.service"

    @property
    def data(self) -> Path:
        """The folder of the log, the codes, and the service's own files."""
        return data_folder() if self.user else self.root / "var" / "lib" / NAME

    @property
    def wanted(self) -> Path:
        """The symbolic link that enables the unit."""
        target = "default.target" if self.user else "multi-user.target"
        return self.unit.parent / f"{target}.wants" / self.unit.name

    def systemctl(self, *words: str) -> list[str]:
        """The systemctl command for this target."""
        return ["systemctl", *(["--user"] if self.user else []), *words]


def _config_folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(base) if os.path.isabs(base) else Path.home() / ".config"


def check_possible(place: Place) -> None:
    """Raise InputError if this computer or user cannot run the service."""
    if not BOOTED.is_dir():
        raise InputError(
            msg(
                "expected a computer that was started by systemd, such as one with Raspberry Pi OS;"
                " --dry-run shows the unit, to install it elsewhere by hand"
            )
        )
    if not place.user and os.geteuid() != 0:
        raise InputError(
            msg(
                "this needs administrator rights: run it with sudo, or use --user"
                " for a service of your own"
            )
        )


def check_readable(paths: Sequence[Path]) -> None:
    """Raise InputError if the service's user could not read one of these files or folders."""
    for path in paths:
        real = path.resolve()
        closed = [folder for folder in real.parents if not _allows(folder, EXECUTE)]
        closed += [] if _allows(real, READ | EXECUTE if real.is_dir() else READ) else [real]
        if closed:
            raise InputError(
                msg(
                    "{path}: expected a place that the service can read, but {raw}"
                    " is closed to it: put Rinkside and its Python into /opt, or"
                    " use --user",
                    path=path,
                    raw=closed[-1],
                )
            )


def _allows(path: Path, rights: int) -> bool:
    return path.stat().st_mode & rights == rights


def make_user(run: Run) -> None:
    """Create the service's user if it is missing."""
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        home = f"/var/lib/{NAME}"
        options = ["--system", "--user-group", "--no-create-home", "--home-dir", home]
        run(["useradd", *options, "--shell", "/usr/sbin/nologin", NAME])


def copy_file(source: Path, target: Path, owner: tuple[int, int] | None) -> None:
    """Copy a file for the service atomically; a different old one is kept as `.bak`.

    `owner` are the user and group ids of the copy.
    """
    if target.exists() and source.samefile(target):
        return
    data = read_bytes(source, phrase("a file for the service"), MOST_PICTURE_BYTES)
    same = target.exists() and read_bytes(target, phrase("a file"), MOST_PICTURE_BYTES) == data
    if not same:
        if target.exists() and target.stat().st_size <= MOST_TEXT_BYTES:
            keep_previous(target)
        write_whole(target, data, OWNER_FILE)
    if owner is not None:
        os.chown(target, *owner)


def make_data_folder(place: Place) -> tuple[int, int] | None:
    """Create the service's folder; returns its owner, None if that is the calling user."""
    place.data.mkdir(parents=True, exist_ok=True)
    if place.user:
        return None
    user = pwd.getpwnam(NAME)
    place.data.chmod(OWNER_FOLDER)
    os.chown(place.data, user.pw_uid, user.pw_gid)
    return user.pw_uid, user.pw_gid


def write_unit(place: Place, text: str) -> bool:
    """Write the unit; False if the same text was there already."""
    place.unit.parent.mkdir(parents=True, exist_ok=True)
    expected = phrase("a systemd unit")
    if place.unit.is_file() and read_bytes(place.unit, expected, MOST_TEXT_BYTES) == text.encode():
        return False
    write_whole(place.unit, text.encode())
    return True


def start(place: Place, run: Run) -> None:
    """Reload systemd, then start the unit now and at every boot."""
    run(place.systemctl("daemon-reload"))
    run(place.systemctl("enable", NAME))
    try:
        run(place.systemctl("restart", NAME))
    except InputError as error:
        raise InputError(
            msg(
                "the service is installed but does not start, and systemd tries it again; read"
                " why with {raw} ({text})",
                raw=journal(place),
                text=error.message,
            )
        ) from error


def remove(place: Place, run: Run) -> bool:
    """Stop the service and delete its unit; False if there was none.

    Handles partial installations. The data and the user stay.
    """
    there = [path for path in (place.wanted, place.unit) if path.is_symlink() or path.exists()]
    if not there:
        return False
    if place.unit.exists():
        run(place.systemctl("disable", "--now", NAME))
    for path in there:
        path.unlink(missing_ok=True)
    run(place.systemctl("daemon-reload"))
    return True


def state(place: Place, run: Run) -> dict[str, str]:
    """The service's properties by systemd, by the names in SHOWN."""
    text = run(place.systemctl("show", NAME, *(f"--property={name}" for name in SHOWN)))
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value for name, _, value in pairs if name in SHOWN}


def journal(place: Place) -> str:
    """The command that shows the service's log."""
    return f"journalctl --user -u {NAME}" if place.user else f"sudo journalctl -u {NAME}"
