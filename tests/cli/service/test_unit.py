"""The unit is one that systemd understands, hardened, and passes arguments on as they are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.service.unit import PRIVATE, Unit, may_hide_homes, quoted
from table.errors import InputError

ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(
    ANALYZE is None, reason="systemd-analyze is not installed: apt-get install systemd"
)
MOST_EXPOSURE = 40
"""systemd's tenths: under 4.0 it calls a service "OK"."""
UNIT = Unit(
    Path(sys.executable),
    ("play", "--table", "/var/lib/rinkside/my table.json", "--names", 'red="A;B",blue=50%$HOME\\'),
    ("video", "dialout"),
)


def analyzed(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    assert ANALYZE is not None
    path = folder / "rinkside.service"
    path.write_text(text)
    return subprocess.run(
        [ANALYZE, *words, str(path)], capture_output=True, text=True, timeout=60, check=False
    )


@needs_systemd
@pytest.mark.parametrize("scope", ["--system", "--user"])
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path, scope: str) -> None:
    text = UNIT.user() if scope == "--user" else UNIT.system()
    done = analyzed(tmp_path, text, "verify", "--man=no")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_systemd_would_find_a_fault(tmp_path: Path) -> None:
    wrong = UNIT.system().replace("Type=notify", "Type=notify\nWatchDogs=2")
    assert "WatchDogs" in analyzed(tmp_path, wrong, "verify", "--man=no").stderr


@needs_systemd
@pytest.mark.parametrize("port", [8000, 80])
def test_systemd_calls_the_unit_s_security_ok(tmp_path: Path, port: int) -> None:
    text = Unit(UNIT.program, UNIT.arguments, UNIT.groups, port, hides_homes=False).system()
    words = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}", "--no-pager")
    done = analyzed(tmp_path, text, *words)
    assert done.returncode == 0, done.stdout[-200:]
    assert "OK" in done.stdout.splitlines()[-1]
    assert analyzed(tmp_path, text, *words[:2], "--threshold=1", "--no-pager").returncode != 0


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("rpicam:0@1640x1232", "rpicam:0@1640x1232"),
        ("red=Anna,blue=Ben", "red=Anna,blue=Ben"),
        ("my table.json", '"my table.json"'),
        ('a"b', '"a\\"b"'),
        ("a\\b", '"a\\\\b"'),
        ("50%", "50%%"),
        ("$HOME", "$$HOME"),
        ("", '""'),
        (";", '";"'),
        ("#x", '"#x"'),
    ],
)
def test_systemd_passes_arguments_on_as_they_are(word: str, expected: str) -> None:
    assert quoted(word) == expected


@pytest.mark.parametrize("word", ["a\nExecStartPre=/bin/rm", "a\rb", "\x1b[2J", "a\0"])
def test_no_argument_adds_a_line_to_the_unit(word: str) -> None:
    with pytest.raises(InputError, match="control characters"):
        Unit(Path("/bin/true"), (word,)).system()


def test_what_a_system_unit_needs_is_in_it_and_in_a_user_s_what_that_can_have() -> None:
    system, user = UNIT.system().splitlines(), UNIT.user().splitlines()
    both = {"Type=notify", "Restart=always", "WatchdogSec=120", "NoNewPrivileges=yes"}
    assert both <= {*system} & {*user}
    assert {"User=rinkside", "SupplementaryGroups=video dialout", "StateDirectory=rinkside"} <= {
        *system
    }
    assert "WantedBy=multi-user.target" in system
    assert "WantedBy=default.target" in user
    assert not [line for line in user if line.startswith(("User=", "Protect", "StateDirectory"))]


def test_cameras_and_ports_are_not_hidden_from_the_service() -> None:
    """`ProtectClock=` allows one device, and by that hides all others."""
    text = UNIT.system()
    assert not [name for name in ("ProtectClock", "PrivateDevices", "DeviceAllow") if name in text]


def test_only_a_port_below_1024_gets_the_right_to_have_it() -> None:
    assert "CAP_NET" not in UNIT.system()
    low = Unit(UNIT.program, (), port=80).system()
    assert low.count("=CAP_NET_BIND_SERVICE\n") == 2


def test_groups_that_do_not_exist_are_not_named() -> None:
    assert "SupplementaryGroups" not in Unit(UNIT.program, ()).system()


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("/opt/rinkside/.venv/bin/rinkside", True),
        (f"{PRIVATE[0]}/pi/rinkside", False),
        ("/homes", True),
    ],
)
def test_home_folders_are_hidden_unless_rinkside_is_in_one(path: str, hidden: bool) -> None:
    assert may_hide_homes([Path("/usr/bin/python3"), Path(path)]) is hidden
    text = Unit(UNIT.program, (), hides_homes=hidden).system()
    assert f"ProtectHome={'yes' if hidden else 'read-only'}\n" in text


def test_the_language_of_the_terminal_is_the_service_s() -> None:
    assert "RINKSIDE_LANGUAGE" not in UNIT.system()
    german = Unit(UNIT.program, (), language="de").system()
    assert "Environment=RINKSIDE_LANGUAGE=de\n" in german
