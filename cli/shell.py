"""`rinkside completion` and `rinkside man`: completion script and manual page."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

import click
from click.shell_completion import get_completion_class

from cli.terminal import say_text

SHELLS = ("bash", "zsh", "fish")
COMPLETE_VARIABLE = "_RINKSIDE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: commands, options and names of games.

    For bash: rinkside completion bash > ~/.local/share/bash-completion/completions/rinkside
    """
    found = get_completion_class(shell)
    assert found is not None, "click knows these shells"
    say_text(found(ctx.find_root().command, {}, "rinkside", COMPLETE_VARIABLE).source())


@click.command()
@click.pass_context
def man(ctx: click.Context) -> None:
    """Print the manual page, to be kept as ~/.local/share/man/man1/rinkside.1."""
    say_text("\n".join(manual(ctx.find_root().command)) + "\n")


def manual(program: click.Command) -> Iterator[str]:
    """The manual page of a program and all its commands, as lines of roff (man 7)."""
    root = click.Context(program, info_name="rinkside")
    yield f'.TH RINKSIDE 1 "" "Rinkside {metadata.version("rinkside")}" "User Commands"'
    yield ".SH NAME"
    yield f"rinkside \\- {_escaped(program.get_short_help_str(200))}"
    yield ".SH SYNOPSIS"
    yield ".B rinkside"
    yield "[OPTIONS] [COMMAND [ARGS]...]"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(program)
    yield ".SH OPTIONS"
    yield from _options(program, root)
    yield ".SH COMMANDS"
    yield from _commands(program, root)


def _commands(group: click.Command, context: click.Context) -> Iterator[str]:
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join(command.collect_usage_pieces(inner))
        yield f'.SS "{_escaped(inner.command_path)} {_escaped(usage)}"'
        yield from _paragraphs(command)
        yield from _options(command, inner)
        yield from _commands(command, inner)


def _paragraphs(command: click.Command) -> Iterator[str]:
    for paragraph in (command.help or "").split("\n\n"):
        yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            names, said = record
            yield ".TP"
            yield f".B {_escaped(names)}"
            yield _escaped(" ".join(said.split()))


def _escaped(text: str) -> str:
    """Escape text for roff: dashes, and a leading dot."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{text}" if text.startswith((".", "'")) else text
