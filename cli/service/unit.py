"""The text of the systemd unit that starts Rinkside.

Source: systemd.unit(5), systemd.service(5), systemd.exec(5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from table.errors import InputError
from table.messages import msg

NAME = "rinkside"
"""Name of the unit, its user and its folders."""
HOME = ("--resume", "--host", "0.0.0.0")
"""Default command of the service, the home page; the installation's arguments follow."""
PLAY = ("play", "--resume", "latest", "--host", "0.0.0.0")
"""Command of the service if the arguments name a table: that table's games, in sequence."""
GROUPS = ("video", "gpio", "dialout", "audio", "bluetooth")
"""Groups with access to devices: camera, GPIO, serial ports, loudspeaker, Bluetooth."""
WATCHDOG_S = 120
"""Watchdog timeout of a loop. systemd restarts the home page, and the home page the referee. A
round takes seconds on a small board.
"""
START_S, STOP_S, RESTART_S = 120, 45, 3
LOWEST_FREE_PORT = 1024
"""Lower ports need a capability."""
PRIVATE = (Path("/home"), Path("/root"), Path("/run/user"))
"""Folders that `ProtectHome=yes` hides."""

COMMON = """\
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
UMask=0077
"""
"""Sandboxing that a user's own systemd also supports. Netlink lists network addresses and, for
libcamera, devices.
"""
SYSTEM_ONLY = """\
ProtectSystem=strict
PrivateTmp=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
RemoveIPC=yes
"""
"""Sandboxing that needs rights of the system. `ProtectClock=` is excluded: it allows one device
only, which hides cameras and ports. `MemoryDenyWriteExecute=` is excluded: callbacks of C libraries
may need such memory.
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """Parameters of an installation.

    `program` is the command `rinkside`, `arguments` its arguments. `groups` are the groups of the
    service's user, which must exist. `port` is the panel's, `language` that of messages.
    `may_hide_homes` is True if the service reads no file in a home folder.
    """

    program: Path
    arguments: tuple[str, ...]
    groups: tuple[str, ...] = ()
    port: int = 8000
    language: str = "en"
    hides_homes: bool = True

    def system(self) -> str:
        """The system unit, which starts at boot."""
        capability = "CAP_NET_BIND_SERVICE" if self.port < LOWEST_FREE_PORT else ""
        groups = f"SupplementaryGroups={' '.join(self.groups)}\n" if self.groups else ""
        own = (
            f"User={NAME}\nGroup={NAME}\n{groups}"
            f"StateDirectory={NAME}\nStateDirectoryMode=0700\n"
            f"Environment=XDG_DATA_HOME=%S\nWorkingDirectory=%S/{NAME}\n"
        )
        limits = (
            f"CapabilityBoundingSet={capability}\nAmbientCapabilities={capability}\n"
            f"ProtectHome={'yes' if self.hides_homes else 'read-only'}\n"
        )
        return self._text(own, f"{COMMON}{SYSTEM_ONLY}{limits}", "multi-user.target")

    def user(self) -> str:
        """The user unit, which starts at log-in, or at boot with lingering."""
        return self._text("", COMMON, "default.target")

    def _text(self, own: str, limits: str, wanted_by: str) -> str:
        line = " ".join(quoted(word) for word in (str(self.program), *self.arguments))
        language = f"Environment=RINKSIDE_LANGUAGE={self.language}\n" * (self.language != "en")
        return (
            f"# Written by `rinkside service install`, which overwrites it. Your own changes:\n"
            f"# systemctl edit {NAME}\n"
            f"[Unit]\n"
            f"Description=Rinkside, a referee for games played with pyramids\n"
            f"After=network.target sound.target bluetooth.target\n"
            f"StartLimitIntervalSec=0\n"
            f"\n[Service]\n"
            f"Type=notify\n"
            f"ExecStart={line}\n"
            f"Restart=always\nRestartSec={RESTART_S}\nWatchdogSec={WATCHDOG_S}\n"
            f"TimeoutStartSec={START_S}\nTimeoutStopSec={STOP_S}\n"
            f"RuntimeDirectory={NAME}\nEnvironment=LG_WD=%t/{NAME}\n"
            f"{language}{own}\n"
            f"{limits}"
            f"\n[Install]\n"
            f"WantedBy={wanted_by}\n"
        )


def quoted(word: str) -> str:
    """Quote a word of a command for systemd, so that nothing is expanded.

    Raises InputError for control characters.
    """
    if not word.isprintable():
        raise InputError(
            msg("{raw}: expected an argument without control characters", raw=repr(word)[:80])
        )
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if not plain or set(plain) & set(" \"'\\;#") else plain


def may_hide_homes(paths: Sequence[Path]) -> bool:
    """True if none of these paths is in a home folder."""
    return not any(path.is_relative_to(home) for path in paths for home in PRIVATE)
