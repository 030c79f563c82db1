"""`rinkside service`: written once, repeated without harm, half an installation is mended."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from cli.service import command, install
from cli.service.install import Place, check_readable, run
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.table_config import load_table, save_table

SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >>"$RECORD"
case " $* " in
  *" show "*) cat "$SHOWN";;
  *" restart "*) if [ -e "$BROKEN" ]; then echo "Job for rinkside.service failed." >&2; exit 1; fi;;
esac
"""
USERADD = """#!/bin/sh
echo "useradd $*" >>"$RECORD"
"""
RUNS = """LoadState=loaded
UnitFileState=enabled
ActiveState=active
SubState=running
StatusText=Waiting for the next throw or move.
NRestarts=2
"""


class Computer:
    """A computer that systemd started: its folder, and the commands that were given to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = folder / "desk" / "table.json"
        self.table.parent.mkdir()
        save_table(demo_setup(), self.table)
        for name, text in (("systemctl", SYSTEMCTL), ("useradd", USERADD)):
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(text)
            program.chmod(0o755)
        (folder / "shown").write_text(RUNS)

    def rinkside(self, *words: object) -> Result:
        return CliRunner().invoke(main, [*map(str, words)])

    def install(self, *words: object, user: bool = False) -> Result:
        scope = ["--user"] if user else []
        table = ["--", "--table", self.table, "--camera", "rpicam:0"]
        return self.rinkside("service", "install", *scope, *table, *words)

    def commands(self) -> list[str]:
        """What was run since the last time that this was asked."""
        record = self.folder / "record"
        lines = record.read_text().splitlines() if record.exists() else []
        record.unlink(missing_ok=True)
        return lines

    @property
    def unit(self) -> Path:
        return self.folder / "etc" / "systemd" / "system" / "rinkside.service"

    @property
    def data(self) -> Path:
        return self.folder / "var" / "lib" / "rinkside"


@pytest.fixture
def computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computer:
    """The administrator's view of it; the service's user is whoever runs the tests."""
    computer = Computer(tmp_path)
    own = pwd.getpwuid(os.geteuid())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda _name: own)
    monkeypatch.setattr(install, "BOOTED", tmp_path)
    monkeypatch.setattr(command, "Place", lambda user: Place(user, tmp_path))
    monkeypatch.setattr(command.steps, "check_readable", lambda _paths: None)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for name in ("RECORD", "SHOWN", "BROKEN"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return computer


STARTED = ["systemctl daemon-reload", "systemctl enable rinkside", "systemctl restart rinkside"]


def test_it_is_installed_with_its_own_copies_and_started(computer: Computer) -> None:
    said = computer.install("--set-up")
    assert said.exit_code == 0, said.output
    assert computer.commands() == STARTED
    (line,) = [
        line for line in computer.unit.read_text().splitlines() if line.startswith("ExecStart=")
    ]
    assert line.endswith(
        "rinkside play --resume latest --host 0.0.0.0 --camera rpicam:0 --set-up"
        f" --table {computer.data}/table.json"
    )
    assert load_table(computer.data / "table.json") == load_table(computer.table)
    assert stat.S_IMODE(computer.data.stat().st_mode) == 0o700
    assert stat.S_IMODE((computer.data / "table.json").stat().st_mode) == 0o600
    assert "journalctl -u rinkside" in said.output
    assert "It listens" in said.output


def test_without_a_table_the_service_opens_the_home_page(computer: Computer) -> None:
    said = computer.rinkside("service", "install")
    assert said.exit_code == 0, said.output
    (line,) = [
        line for line in computer.unit.read_text().splitlines() if line.startswith("ExecStart=")
    ]
    assert line.endswith("rinkside --resume --host 0.0.0.0")
    said = computer.rinkside("service", "install", "--", "--port", "8080")
    assert said.exit_code == 0, said.output
    assert "--resume --host 0.0.0.0 --port 8080\n" in computer.unit.read_text()
    before = computer.unit.read_bytes()
    assert computer.rinkside("service", "install").exit_code == 0
    assert computer.unit.read_bytes() == before


def test_installing_again_changes_nothing_and_starts_the_new_program(computer: Computer) -> None:
    computer.install("--set-up")
    before = computer.unit.stat().st_mtime_ns, computer.unit.read_bytes()
    computer.commands()
    for words in (["service", "install"], ["service", "install", "--", "--table", computer.table]):
        words += ["--camera", "rpicam:0", "--set-up"] if len(words) > 2 else []
        said = computer.rinkside(*words)
        assert "is as it should be" in said.output
        assert (computer.unit.stat().st_mtime_ns, computer.unit.read_bytes()) == before
        assert computer.commands() == STARTED


def test_a_table_that_was_measured_anew_by_the_service_is_kept_beside_another(
    computer: Computer,
) -> None:
    computer.install()
    own = computer.data / "table.json"
    measured = own.read_bytes() + b"\n"
    own.write_bytes(measured)
    assert computer.rinkside("service", "install").exit_code == 0
    assert own.read_bytes() == measured
    assert computer.install().exit_code == 0
    assert own.read_bytes() == computer.table.read_bytes()
    assert (computer.data / "table.json.bak").read_bytes() == measured


def test_settings_the_empty_table_and_a_piece_set_are_copied_too(computer: Computer) -> None:
    desk = computer.table.parent
    (desk / "lamps.toml").write_text('[hardware.buzzer]\nkind = "terminal"\n')
    (desk / "own.toml").write_bytes(
        (Path(__file__).parents[3] / "table" / "data" / "looney.toml").read_bytes()
    )
    text = computer.table.read_text().replace('"looney"', '"own.toml"')
    computer.table.write_text(text)
    said = computer.install("--settings", desk / "lamps.toml")
    assert said.exit_code == 0, said.output
    assert {path.name for path in computer.data.iterdir()} == {
        "table.json",
        "rinkside.toml",
        "own.toml",
    }
    assert load_table(computer.data / "table.json").game.pieces == "own.toml"
    assert f"--settings {computer.data}/rinkside.toml" in computer.unit.read_text()


@pytest.mark.parametrize("left", ["unit", "data", "link", "a unit cut off"])
def test_half_an_installation_is_mended_and_removed(computer: Computer, left: str) -> None:
    computer.install("--set-up")
    whole = computer.unit.read_bytes()
    wants = computer.unit.parent / "multi-user.target.wants"
    wants.mkdir()
    if left != "data":
        (wants / "rinkside.service").symlink_to(computer.unit)
    if left in ("data", "link"):
        computer.unit.unlink()
    if left == "a unit cut off":
        computer.unit.write_bytes(whole[:200])
    assert computer.install("--set-up").exit_code == 0
    assert computer.unit.read_bytes() == whole
    if left == "link":
        computer.unit.unlink()
    computer.commands()
    said = computer.rinkside("service", "remove")
    assert said.exit_code == 0, said.output
    assert not computer.unit.exists()
    assert not list(wants.iterdir())
    assert (computer.data / "table.json").exists()
    assert computer.commands()[-1] == "systemctl daemon-reload"
    assert "nothing was done" in computer.rinkside("service", "remove").output


def test_a_service_that_does_not_start_is_one_line_with_what_to_read(computer: Computer) -> None:
    (computer.folder / "broken").touch()
    said = computer.install()
    assert said.exit_code == 2
    assert "sudo journalctl -u rinkside" in said.output
    assert "Job for rinkside.service failed." in said.output
    assert said.output.count("\n") == 1
    (computer.folder / "broken").unlink()
    assert computer.install().exit_code == 0


def test_a_user_s_service_reads_the_files_themselves(computer: Computer) -> None:
    said = computer.install(user=True)
    assert said.exit_code == 0, said.output
    unit = computer.folder / "config" / "systemd" / "user" / "rinkside.service"
    assert f"--table {computer.table}\n" in unit.read_text()
    assert computer.commands() == [line.replace("ctl", "ctl --user") for line in STARTED]
    assert "enable-linger" in said.output
    assert computer.rinkside("service", "remove", "--user").exit_code == 0
    assert not unit.exists()


def test_a_dry_run_prints_the_unit_and_does_nothing(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "BOOTED", computer.folder / "no systemd")
    words = ("--dry-run", "--", "--table", computer.table, "--camera", "rpicam:0")
    said = computer.rinkside("service", "install", *words)
    assert said.exit_code == 0
    assert "\nType=notify\n" in said.output
    assert computer.commands() == []
    assert not computer.unit.exists()
    assert not computer.data.exists()


def test_status_says_what_runs_and_where(computer: Computer) -> None:
    said = computer.rinkside("service", "status")
    assert said.exit_code == 3
    assert "not installed" in said.output
    computer.install("--port", "8123", "--host", "192.0.2.7")
    said = computer.rinkside("service", "status")
    assert said.exit_code == 0
    for part in (
        "active (running) and starts with the computer",
        "Waiting for the next throw",
        "restarted it since it was started: 2 times",
        "http://192.0.2.7:8123",
        "journalctl",
    ):
        assert part in said.output
    (computer.folder / "shown").write_text("ActiveState=activating\nSubState=auto-restart\n")
    said = computer.rinkside("service", "status")
    assert said.exit_code == 3
    assert "activating (auto-restart) and does not start with the computer" in said.output


def test_status_lives_with_a_unit_that_somebody_edited(computer: Computer) -> None:
    computer.install()
    computer.unit.write_text('[Service]\nExecStart=rinkside "play --port x\n')
    assert computer.rinkside("service", "status").exit_code == 0
    assert "service remove" in computer.rinkside("service", "install").output
    assert computer.install().exit_code == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--", "demo"], "demo: expected options only"),
        (["--", "--camera"], "--camera"),
        (["--", "--port", "no"], "--port"),
        (["--", "--table", "{table}", "--camera", "rpicam:0", "--lamp", "x"], "--lamp"),
        (["--", "--table", "{table}", "--camera", "rpicam:0", "--data", "/x"], "--data"),
        (["--", "--table", "{table}.missing", "--camera", "rpicam:0"], "table.json.missing"),
        (["--", "--table", "{table}", "--camera", "c", "--settings", "{table}"], "TOML"),
        (["--", "--table", "{table}", "--camera", "a\nb"], "control characters"),
    ],
)
def test_bad_arguments_are_one_line_and_nothing_is_written(
    computer: Computer, words: list[str], named: str
) -> None:
    words = [word.replace("{table}", str(computer.table)) for word in words]
    said = computer.rinkside("service", "install", *words)
    assert said.exit_code == 2
    assert named in said.output
    assert said.output.count("\n") == 1
    assert computer.commands() == []
    assert not computer.unit.exists()
    assert not computer.data.exists()


def test_without_systemd_or_rights_it_says_so(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "sudo" in computer.install().output
    monkeypatch.setattr(install, "BOOTED", computer.folder / "no systemd")
    said = computer.install()
    assert said.exit_code == 2
    assert "started by systemd" in said.output
    assert computer.commands() == []


def test_a_user_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    own = pwd.getpwuid(os.getuid())
    made: list[Sequence[str]] = []

    def look_up(name: str) -> pwd.struct_passwd:
        if not made:
            raise KeyError(name)
        return own

    def note(words: Sequence[str]) -> str:
        made.append(words)
        return ""

    monkeypatch.setattr(pwd, "getpwnam", look_up)
    install.make_user(note)
    install.make_user(note)
    ((program, *options, name),) = made
    assert (program, name) == ("useradd", "rinkside")
    assert {"--system", "--user-group"} <= {*options}


def test_a_closed_folder_on_the_way_to_the_program_is_named() -> None:
    with TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        program = folder / "home" / "venv" / "rinkside"
        program.parent.mkdir(parents=True)
        program.touch()
        for path in (program, *program.parents[:2]):
            path.chmod(0o755)
        check_readable([program, program.parent])
        (folder / "home").chmod(0o750)
        with pytest.raises(InputError, match=rf"{folder}/home is closed to it"):
            check_readable([program])
        (folder / "home").chmod(0o711)
        program.chmod(0o700)
        with pytest.raises(InputError, match=r"rinkside is closed to it"):
            check_readable([program])


def test_a_program_that_is_missing_or_fails_is_one_line() -> None:
    with pytest.raises(InputError, match="no-such-program: expected a program"):
        run(["no-such-program"])
    with pytest.raises(InputError, match=r"exit 3 failed: a b$"):
        run(["sh", "-c", "echo a >&2; echo b >&2; exit 3"])
    with pytest.raises(InputError, match=r"failed: exit code 3"):
        run(["sh", "-c", "exit 3"])
