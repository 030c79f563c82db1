"""`rinkside service`: run Rinkside as a systemd service."""

from __future__ import annotations

import grp
import shlex
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import cli
from cli.play import play
from cli.serve_options import tell_other_networks
from cli.service import install as steps
from cli.service.install import Place
from cli.service.unit import GROUPS, HOME, NAME, PLAY, Unit, may_hide_homes
from cli.terminal import language, say
from hardware.settings import load_settings
from table.errors import InputError
from table.files import read_text
from table.messages import msg, phrase
from table.table_config import load_table
from vision.cameras.image_files import read_image
from webui.addresses import LOCAL, urls_on

NOT_RUNNING = 3
"""Exit code of `status` for a stopped service, as in systemctl."""
FILE_OPTIONS = {"--table": "table_path", "--settings": "settings", "--empty": "empty"}
"""Options of the home page and of `rinkside play` that name files, and their parameters."""

user_option = click.option(
    "--user", is_flag=True, help="A service of your own user, not of the whole computer."
)


@click.group()
def service() -> None:
    """Run Rinkside whenever this computer is on, as a systemd service.

    docs/SERVICE.md explains it.
    """


@service.command()
@user_option
@click.option("--dry-run", is_flag=True, help="Print the unit and do nothing.")
@click.argument("arguments", nargs=-1)
def install(user: bool, dry_run: bool, arguments: tuple[str, ...]) -> None:
    """Install or update the service, and start it.

    It opens the home page. ARGUMENTS come after -- and are options of the home page, such as
    --settings and --port. With --table it plays on that table instead, and they are options of
    rinkside play. Without any, those of the last time are used again. The service has its own
    copies of the files that they name.
    """
    place = Place(user)
    wanted = _check_arguments(place, arguments)
    if not dry_run:
        steps.check_possible(place)
    unit, needed = _unit(place, wanted)
    text = unit.user() if user else unit.system()
    if dry_run:
        say(*text.rstrip("\n").split("\n"))
        return
    if not user:
        steps.check_readable(needed)
        steps.make_user(steps.run)
    owner = steps.make_data_folder(place)
    for source, target in wanted.copies:
        steps.copy_file(source, target, owner)
    changed = steps.write_unit(place, text)
    steps.start(place, steps.run)
    say(
        msg("{path}: written; the service runs.", path=place.unit)
        if changed
        else msg("{path}: is as it should be; the service runs.", path=place.unit)
    )
    _say_where(wanted.host, wanted.port)
    _say_journal(place)
    if user:
        say(msg("To start it without a login: {raw}", raw="loginctl enable-linger"))


@service.command()
@user_option
def status(user: bool) -> None:
    """Say whether the service runs, what it does, and where it listens."""
    place = Place(user)
    if not place.unit.exists():
        say(msg("The service is not installed: {raw}", raw="rinkside service install"))
        raise SystemExit(NOT_RUNNING)
    found = steps.state(place, steps.run)
    running = found.get("ActiveState") == "active"
    state = f"{found.get('ActiveState', 'unknown')} ({found.get('SubState', 'unknown')})"
    say(
        msg("The service is {raw} and starts with the computer.", raw=state)
        if found.get("UnitFileState") == "enabled"
        else msg("The service is {raw} and does not start with the computer.", raw=state)
    )
    if text := found.get("StatusText"):
        say(text)
    if found.get("NRestarts", "0") != "0":
        restarts = found["NRestarts"]
        say(msg("systemd has restarted it since it was started: {raw} times.", raw=restarts))
    if running:
        with suppress(ValueError):  # an edited unit
            _say_where(*_listening_address(place))
    _say_journal(place)
    if not running:
        raise SystemExit(NOT_RUNNING)


@service.command()
@user_option
def remove(user: bool) -> None:
    """Stop the service and remove it. Sessions, table and settings stay."""
    place = Place(user)
    if not place.unit.exists() and not place.wanted.is_symlink():
        say(msg("The service is not installed; nothing was done."))
        return
    steps.check_possible(place)
    steps.remove(place, steps.run)
    say(msg("The service is removed. {path} with all sessions is left.", path=place.data))
    if not user:
        command = f"sudo rm -r {place.data} && sudo userdel {NAME}"
        say(msg("To delete that too: {raw}", raw=command))


def _say_journal(place: Place) -> None:
    say(msg("The host code and the log of the program: {raw}", raw=steps.journal(place)))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The requested service: its arguments, and files to copy as (source, target)."""

    arguments: tuple[str, ...]
    copies: tuple[tuple[Path, Path], ...]
    host: str
    port: int


def _check_arguments(place: Place, arguments: tuple[str, ...]) -> _Wanted:
    """Check the arguments as `rinkside play` does, and the files that they name.

    Raises InputError or click's UsageError.
    """
    arguments = arguments or _installed_arguments(place)
    start = _start(arguments)
    words = (*start, *arguments)
    chosen = _chosen(words)
    if chosen["data"] is not None and not place.user:
        raise InputError(
            msg("--data: expected none; the service keeps everything in {path}", path=place.data)
        )
    _check_files(chosen)
    copies = _own_files(place, chosen)
    given = {name: str(path) for name, (_, path) in copies.items()}
    moved = tuple(pair for pair in copies.values() if pair[0] != pair[1])
    return _Wanted(tuple(_with_files(words, given)), moved, chosen["host"], chosen["port"])


def _start(arguments: Sequence[str]) -> tuple[str, ...]:
    """The service's command: a game if a table is named, else the home page."""
    named = any(word.partition("=")[0] == "--table" for word in arguments)
    return PLAY if named else HOME


def _chosen(words: tuple[str, ...]) -> Mapping[str, Any]:
    """Parameters of the service's command; raises click's UsageError."""
    if words[0] == PLAY[0]:
        return play.make_context("rinkside play", list(words[1:])).params
    from cli.main import COMMANDS, main  # avoids a circular import

    if commands := [word for word in words if word in COMMANDS]:
        raise InputError(
            msg(
                "{raw}: expected options only: those of the home page, or with --table those of"
                " rinkside play",
                raw=commands[0],
            )
        )
    return main.make_context("rinkside", list(words)).params


def _installed_arguments(place: Place) -> tuple[str, ...]:
    """The arguments in the installed unit; none without a unit.

    Raises InputError for a unit that was edited to run something else.
    """
    if not place.unit.exists():
        return ()
    before = _command(place)[1:]
    for start in (PLAY, HOME):
        if before[: len(start)] == start:
            return before[len(start) :]
    raise InputError(
        msg(
            "{path}: expected a unit that this command wrote; give the arguments after --, or"
            " remove it first: rinkside service remove",
            path=place.unit,
        )
    )


def _check_files(chosen: Mapping[str, Any]) -> None:
    """Read the files named in the arguments; raises InputError for an invalid one."""
    if chosen["settings"]:
        load_settings(chosen["settings"])
    if table := chosen.get("table_path"):
        setup = load_table(table)
        if chosen["empty"]:
            read_image(chosen["empty"], setup)


def _own_files(place: Place, chosen: Mapping[str, Any]) -> dict[str, tuple[Path, Path]]:
    """The service's files by option: the named file, and the service's own copy.

    A user's service reads the named files directly. The key `pieces` is a custom piece set.
    """
    named: dict[str, Path] = {
        option: chosen[parameter].absolute()
        for option, parameter in FILE_OPTIONS.items()
        if chosen.get(parameter)
    }
    names = {"--table": "table.json", "--settings": "rinkside.toml"}
    if "--empty" in named:
        names["--empty"] = f"empty{named['--empty'].suffix.lower()}"
    pieces = load_table(named["--table"]).game.pieces if "--table" in named else ""
    if pieces.endswith(".toml"):
        if Path(pieces).name != pieces:
            raise InputError(
                msg(
                    "{path}: game.pieces: expected a file in the same folder, got {raw}",
                    path=named["--table"],
                    raw=repr(pieces),
                )
            )
        named["pieces"], names["pieces"] = named["--table"].with_name(pieces), pieces
    if place.user:
        return {option: (path, path) for option, path in named.items()}
    return {option: (path, place.data / names[option]) for option, path in named.items()}


def _with_files(words: Sequence[str], files: Mapping[str, str]) -> list[str]:
    """Arguments with the options for files replaced, at the end."""
    rest, following = [], iter(words)
    for word in following:
        option, equals, _ = word.partition("=")
        if option not in FILE_OPTIONS:
            rest.append(word)
        elif not equals:
            next(following)
    return [
        *rest,
        *(part for name in FILE_OPTIONS if name in files for part in (name, files[name])),
    ]


def _unit(place: Place, wanted: _Wanted) -> tuple[Unit, tuple[Path, ...]]:
    """The unit, and the paths that its user must be able to read."""
    program = Path(sysconfig.get_path("scripts")) / NAME
    if not program.is_file():
        raise InputError(
            msg(
                "{path}: expected the command rinkside of this environment; install it there first",
                path=program,
            )
        )
    needed = (program, Path(sys.executable), Path(cli.__file__).parent)
    groups = () if place.user else tuple(name for name in GROUPS if _is_group(name))
    hidden = may_hide_homes([path for one in needed for path in (one.absolute(), one.resolve())])
    return Unit(program, wanted.arguments, groups, wanted.port, language(), hidden), needed


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def _command(place: Place) -> tuple[str, ...]:
    """Command of the installed unit; empty if it cannot be parsed."""
    text = read_text(place.unit, phrase("a systemd unit"))
    lines = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    try:
        return tuple(
            word.replace("%%", "%").replace("$$", "$")
            for line in lines[-1:]
            for word in shlex.split(line.removeprefix("ExecStart="))
        )
    except ValueError:  # quotes that do not match
        return ()


def _listening_address(place: Place) -> tuple[str, int]:
    """Address and port in the unit; raises ValueError for an invalid port."""
    words = _command(place)
    return _last_value(words, "--host", "127.0.0.1"), int(_last_value(words, "--port", "8000"))


def _last_value(words: Sequence[str], option: str, otherwise: str) -> str:
    """The effective value of an option: the last one given."""
    value = otherwise
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == option:
            value = after
        elif word.startswith(f"{option}="):
            value = word.removeprefix(f"{option}=")
    return value


def _say_where(host: str, port: int) -> None:
    reachable = urls_on(host, port)
    if reachable:
        say(msg("It listens on {raw}", raw=reachable[0]))
        tell_other_networks(reachable)
    elif host in LOCAL:
        url = f"http://localhost:{port}"
        say(msg("It listens on {raw}, for this computer only.", raw=url))
    else:
        say(msg("It listens, but there is no network. Connect to one, or start a hotspot."))
