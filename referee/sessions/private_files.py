"""Files that only their owner may read.

The log contains pictures of people's tables, and their secret inputs.
"""

from __future__ import annotations

import fcntl
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from table.errors import InputError
from table.messages import msg, phrase

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700

logger = logging.getLogger(__name__)


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can open, before anything is written.

    Raises FileExistsError, and OSError if it cannot be created.
    """
    os.close(
        os.open(
            os.path.realpath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_FILE
        )
    )


def tighten(path: Path, mode: int) -> bool:
    """Remove other users' rights beyond those of `mode`.

    False for a file of another user: it is left as it is, with a logged warning. Missing files and
    narrow rights are left as they are.
    """
    try:
        now = stat.S_IMODE(path.stat().st_mode)
        if now & ~mode & 0o777:
            path.chmod(now & mode)
    except FileNotFoundError:
        return True
    except OSError as error:
        logger.warning(
            "%s: other users of this machine can read it (%s): give it to this user",
            path,
            error.strerror,
        )
        return False
    return True


def claim(path: Path) -> int:
    """Take the lock for writing a log; the kernel releases it when the process ends.

    The lock is a file of its own, as closing any handle to the database would drop SQLite's locks
    on it. It contains the process id.
    """
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_FILE)
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a log in a writable folder ({raw})", path=path, raw=error.strerror
            )
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        pid = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        os.close(handle)
        other = (
            phrase("another Rinkside (process {n})", n=pid)
            if pid.isdecimal()
            else phrase("another Rinkside")
        )
        raise InputError(
            msg(
                "{path}: {text} is writing to this log; stop it, or use another place:"
                " --data FOLDER, or --log FILE",
                path=path,
                text=other,
            )
        ) from error
    except OSError as error:
        os.close(handle)
        raise InputError(
            msg(
                "{path}.lock: expected a file that can be locked ({raw})",
                path=path,
                raw=error.strerror,
            )
        ) from error
    # Only for that message: on a full disk the id is left out.
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle
