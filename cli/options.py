"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from cli.terminal import in_language, say
from table.errors import InputError
from table.messages import msg
from webui.security.host_names import is_name

if TYPE_CHECKING:
    from engines.computer_player import Strength

Options = Callable[..., Any]


class GameName(click.ParamType):  # type: ignore[type-arg]  # older versions of click take none
    """Parameter type: a game's name as typed, converted to its internal name."""

    name = "game"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,  # noqa: ARG002 - click's signature
    ) -> str:
        """The game's internal name; raises InputError for an unknown game."""
        from table.games import found_games, game_called  # loads every game

        if (name := game_called(value)) is not None:
            return name
        where = f"{param.opts[0]}: " if isinstance(param, click.Option) else ""
        raise InputError(
            msg(
                "{raw}expected a game ({raw2}), got {raw3}",
                raw=where,
                raw2=", ".join(found_games().games),
                raw3=repr(value),
            )
        )

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Names with this prefix."""
        from table.games import found_games

        begun = incomplete.replace("-", "_")
        return [CompletionItem(name) for name in found_games().games if name.startswith(begun)]


table_option = click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    required=True,
    help="table.json of the calibrated table.",
)
camera_option = click.option(
    "--camera",
    "spec",
    required=True,
    help="Where the pictures come from: rpicam:0, v4l2:0, video:PATH, ... (docs/CAMERAS.md).",
)
empty_option = click.option(
    "--empty", type=click.Path(path_type=Path), help="A picture of the same table before play."
)


def _read_computers(
    _context: click.Context, _option: click.Parameter, words: tuple[str, ...]
) -> dict[str, Strength]:
    from referee.sessions.start import parse_computers  # loads every game

    return parse_computers(words)


computer_option = click.option(
    "--computer",
    "computers",
    multiple=True,
    metavar="COLOUR[:STRENGTH]",
    callback=_read_computers,
    help="A computer plays this colour: beginner, club (the usual) or strong; may be repeated.",
)
settings_option = click.option(
    "--settings",
    type=click.Path(path_type=Path),
    help="TOML file that names lamps, dice, buttons: docs/HARDWARE.md.",
)


def _read_names(
    _context: click.Context, _option: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    for name in names:
        if not is_name(name):
            raise InputError(
                msg(
                    "--public-name: expected a name such as rinkside.example.org, without"
                    " https:// and port, got {raw}",
                    raw=repr(name),
                )
            )
    return tuple(name.lower() for name in names)


def address_options(command: Options) -> Options:
    """--host, --port, and --public-name, which a command is given as `public_names`."""
    for option in (
        click.option(
            "--public-name",
            "public_names",
            metavar="NAME",
            multiple=True,
            callback=_read_names,
            help=(
                "Also answer to this name, such as that of a TLS proxy on this machine; may be"
                " repeated."
            ),
        ),
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            help="Address to serve on; 0.0.0.0 lets other devices connect.",
        ),
        click.option(
            "--port",
            type=click.IntRange(0, 65535),
            default=8000,
            show_default=True,
            help="Port of the panel; 0 takes a free one.",
        ),
    ):
        command = option(command)
    return command


def complain(text: str) -> None:
    """Report on stderr, during a game, that something has failed or recovered."""
    say(f"rinkside: {in_language(text)}", err=True)


def max_mb_option(most_bytes: int) -> Options:
    """`--max-mb`: limit of a file's unpacked size."""
    return click.option(
        "--max-mb",
        type=click.IntRange(1),
        default=most_bytes // 10**6,
        show_default=True,
        help="Refuse a file that unpacks to more.",
    )
