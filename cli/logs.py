"""Diagnostic log records of all modules, on stderr.

Messages for users go through `cli.terminal` instead.  Under systemd each line has a priority for
journald and no time stamp, as journald adds one.
Source: systemd.exec(5), JOURNAL_STREAM; sd-daemon(3), SD_DEBUG and the others.
"""

from __future__ import annotations

import atexit
import faulthandler
import logging
import os
import re
import sys
import threading
from io import TextIOWrapper, UnsupportedOperation

from cli.terminal import say

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""Log level by number of `--verbose` options."""
OF_OTHERS = (logging.WARNING, logging.WARNING, logging.INFO)
"""The same for other libraries."""
ROOMS = (
    "table",
    "vision",
    "calibration",
    "engines",
    "hardware",
    "referee",
    "simulation",
    "cli",
    "webui",
)
PRIORITIES = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3}
"""Priority of sd-daemon(3) for each level; 2 for higher levels."""
MOST_KINDS = 1000
"""Maximum number of remembered kinds of lines from native libraries."""

logger = logging.getLogger(__name__)


class StderrHandler(logging.Handler):
    """Writes records to stderr, one line each but for tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; errors in here are contained."""
        try:
            say(*self.format(record).split("\n"), err=True)
        except Exception:
            self.handleError(record)


class JournalFormatter(logging.Formatter):
    """`<4>vision.cameras.live: ...`, the priority before every line."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as journald reads it."""
        priority = PRIORITIES.get(record.levelno, 2)
        return "\n".join(f"<{priority}>{line}" for line in super().format(record).split("\n"))


def set_up(verbosity: int) -> None:
    """Direct log records to stderr, replacing any earlier configuration.

    Verbosity 0 is warnings, 1 adds events, 2 adds every step.
    """
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, StderrHandler)]:
        root.removeHandler(old)
    handler = StderrHandler()
    handler.setFormatter(_formatter(verbosity))
    root.addHandler(handler)
    step = min(verbosity, len(LEVELS) - 1)
    root.setLevel(OF_OTHERS[step])
    for room in ROOMS:
        logging.getLogger(room).setLevel(LEVELS[step])


def _formatter(verbosity: int) -> logging.Formatter:
    if is_under_journald():
        return JournalFormatter("%(name)s: %(message)s")
    if verbosity:
        return logging.Formatter(
            "%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s", "%H:%M:%S"
        )
    return logging.Formatter("rinkside: %(message)s")


def is_under_journald() -> bool:
    """True if stderr is journald's stream, which systemd identifies by device and inode."""
    try:
        status = os.fstat(sys.stderr.fileno())
    except (OSError, UnsupportedOperation, ValueError):
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def log_native_output() -> None:
    """Log what native libraries write to file descriptor 2, each kind of line once.

    libpng and libjpeg report damaged pictures there; libcamera also writes there. Python's stderr
    is unchanged. Call once, at the start of the program: the effect is process-wide.
    """
    try:
        shown = os.dup(2)
    except OSError:
        return  # no stderr
    lines, sink = os.pipe()
    # A library that writes a lot while it holds the interpreter's lock must not wait for a reader
    # that needs the lock: what does not fit is lost.
    os.set_blocking(sink, False)
    os.dup2(sink, 2)
    os.close(sink)
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    sys.stderr = TextIOWrapper(
        os.fdopen(shown, "wb", buffering=0),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=True,
        write_through=True,
    )
    faulthandler.enable(sys.stderr)
    thread = threading.Thread(target=_log_lines, args=(lines,), name="native output", daemon=True)
    thread.start()
    atexit.register(_restore_stderr, shown, thread)


def _restore_stderr(shown: int, thread: threading.Thread) -> None:
    os.dup2(shown, 2)  # closes the pipe, which ends its reader
    thread.join(1.0)


def _log_lines(lines: int) -> None:
    kinds: set[str] = set()
    with os.fdopen(lines, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            kind = re.sub(r"\d+", "0", text := line.strip())
            if text and kind not in kinds and len(kinds) < MOST_KINDS:
                kinds.add(kind)
                logger.info("native library: %s (told once)", text)
