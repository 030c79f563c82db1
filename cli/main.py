"""The command line: `rinkside COMMAND`.

Documents go to stdout, everything else to stderr.  Errors are one line, `rinkside: ...`, with exit
code 2.
"""

from __future__ import annotations

import os
import sys
from gettext import gettext
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

from cli.logs import log_native_output, set_up
from cli.options import address_options, settings_option
from cli.terminal import in_language, ready, say, speak
from table.errors import InputError
from table.languages import CODES, Language
from table.messages import msg
from vision.memory import share_one_pool

# Vision solves thousands of small systems, for which threads cost more than they gain.
# Read when NumPy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# This program reports faults of pictures in one line; OpenCV and FFmpeg would add theirs.
os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")

COMMANDS = {
    "measure": ("cli.measure", "Rank the pieces in a photo by their gap to the target."),
    "observe": ("cli.measure", "List the pieces in a photo and where they are."),
    "ruler": (
        "cli.ruler",
        "Rank the pieces on the table by their gap to the target, live, on a page in the browser.",
    ),
    "demo": ("cli.play", "Referee a simulated game, with its panel in the browser."),
    "play": ("cli.play", "Referee a game on a real table, with its panel in the browser."),
    "set-up": ("cli.set_up", "Set up a new table on a page: camera, printed board, one picture."),
    "referee": (
        "cli.referee",
        "Referee what a camera saw, without a panel, and print every ruling.",
    ),
    "service": (
        "cli.service.command",
        "Run Rinkside whenever this computer is on, as a systemd service.",
    ),
    "calibrate": ("cli.calibrate.lens", "Calibrate a lens or a table."),
    "print": (
        "cli.print",
        "Make a sheet to print: a target, corner cards, or a board with its markers.",
    ),
    "rules": ("cli.rules", "List the house rules of a game, or of all games."),
    "hardware": ("cli.hardware", "List and try out lamps, dice, buttons, buzzer and calliper."),
    "plugins": ("cli.plugins", "List the games and devices that packages bring to Rinkside."),
    "new": ("cli.new", "Write the beginning of a package with a game of your own."),
    "dice": ("cli.hardware", "Roll electronic dice, or test whether they are fair."),
    "log": (
        "cli.log",
        (
            "List, show, export and import the sessions that were refereed; scores, gaps and"
            " statistics."
        ),
    ),
    "share": ("cli.share", "Pack pictures that were misread, without people and rooms, to share."),
    "bench": ("cli.bench", "Read pictures whose truth is known, and say what was read rightly."),
    "sessions": (
        "cli.sessions",
        ("Browse past sessions: every ruling with its board, and statistics."),
    ),
    "backup": (
        "cli.backup.command",
        "Write everything to one file: sessions, codes, table, lens and settings.",
    ),
    "restore": ("cli.backup.command", "Restore a backup to the data folder."),
    "hub": ("cli.hub", "Gather what many tables send, and show it in the browser."),
    "forward": ("cli.forward", "Send what is refereed at this table to a hub, as it happens."),
    "replay": (
        "cli.replay",
        "Judge a recorded session again with today's code and list what changes.",
    ),
    "completion": ("cli.shell", "Print the completion script for bash, zsh or fish."),
    "man": ("cli.shell", "Print the manual page."),
}
"""Module and summary of each command.  Modules are loaded on demand, since importing OpenCV and
SciPy takes seconds on a small board.
"""


class Refused(click.ClickException):
    """An error shown as one line on stderr."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Write the line to `file`, or stderr."""
        say(f"rinkside: {' '.join(self.format_message().split())}", file=file, err=True)


class _Commands(click.Group):
    """Looks up commands in COMMANDS, and turns every error into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            import_module(COMMANDS[cmd_name][0]), cmd_name.replace("-", "_")
        )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section(gettext("Commands")):
            formatter.write_dl([(name, message) for name, (_, message) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        speak(_language(os.environ.get("RINKSIDE_LANGUAGE", "")))  # before errors are reported
        try:
            return super().parse_args(ctx, args)
        except InputError as error:
            _refuse(error)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (InputError, OSError, click.UsageError) as error:
            _refuse(error)


def _refuse(error: InputError | OSError | click.UsageError) -> NoReturn:
    match error:
        case BrokenPipeError() | click.exceptions.NoArgsIsHelpError():
            raise error
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "rinkside"
            said = msg("{raw} See {raw2} --help", raw=error.format_message(), raw2=path)
            raise Refused(in_language(said)) from error
        case OSError():
            _drop_unwritable_output()
            place = f"{error.filename}: " if error.filename else ""
            raise Refused(f"{place}{error.strerror or error}") from error
        case _:
            raise Refused(in_language(error.message)) from error


def _drop_unwritable_output() -> None:
    """Point stdout at the null device if it cannot be flushed.

    Otherwise Python flushes it again at exit and prints its own error. Source: Python's
    documentation of SIGPIPE.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _language(code: str) -> Language:
    """The language with this code; English if it is unknown."""
    return next((one for one in CODES if one == code), CODES[0])


def _speak(_ctx: click.Context, _option: click.Parameter, code: Language) -> Language:
    speak(code)
    return code


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        say(f"rinkside {metadata.version('rinkside')}")
        ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.option("-v", "--verbose", count=True, help="Log to stderr; twice: every step.")
@click.option(
    "--language",
    is_eager=True,
    callback=_speak,
    expose_value=False,
    type=click.Choice(CODES),
    default="en",
    envvar="RINKSIDE_LANGUAGE",
    show_default=True,
    show_envvar=True,
    help="Language of the terminal and the loudspeaker.",
)
@address_options
@settings_option
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of table, log and codes [default: the user's data folder].",
)
@click.option("--camera", help="Camera to use instead of the one that the set-up stored.")
@click.option("--power-off", is_flag=True, help="Let the button Shut down switch this machine off.")
@click.option(
    "--resume", is_flag=True, help="Go on with the game that was cut off, if there is one."
)
@click.pass_context
def main(ctx: click.Context, /, verbose: int, **home: Any) -> None:
    """A referee for games played with pyramids on a real table.

    Without a command it opens the home page: set up a table, play, browse sessions.
    """
    ready()
    set_up(verbose)
    if ctx.invoked_subcommand is None:
        from cli.home import HomeOptions, open_home  # pages take a second to load

        open_home(HomeOptions(**home))
        return
    for name in home:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = name.replace("public_names", "public_name").replace("_", "-")
            raise click.UsageError(
                f"--{option} goes after the command: rinkside {ctx.invoked_subcommand} --{option}"
                " ...",
                ctx,
            )


def run() -> None:
    """Entry point of the installed program."""
    share_one_pool()
    log_native_output()
    main()
