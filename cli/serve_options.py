"""What commands with a page in the browser share: options, and serving the page while they work."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import click
from flask import Flask

from calibration.progress import Guide
from cli.terminal import draw_qr, say
from table.errors import InputError
from table.messages import msg
from webui.addresses import ANY, reachable_urls, shown_url
from webui.security.codes import Codes
from webui.security.host_names import is_name
from webui.security.permissions import Access
from webui.server import listen, serving

LAST_LOOK_S = 5.0
"""Longest wait for a page to show how a calibration ended."""

Options = Callable[..., Any]
AGuide = TypeVar("AGuide", bound=Guide)


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
                "Answer to this name too, which a proxy with TLS on this machine has; may be"
                " repeated."
            ),
        ),
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            help="Address to serve on; 0.0.0.0 lets other machines look.",
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


def page_options(message: str) -> Callable[[Options], Options]:
    """--panel, which says what it does, and `address_options`."""

    def add(command: Options) -> Options:
        return click.option("--panel", is_flag=True, help=message)(address_options(command))

    return add


def tell_address(what: str, listening: socket.socket, err: bool = False) -> None:
    """Say in the terminal where a page is, for phones with a QR code.

    The code is drawn only on a terminal; in a file or a journal it would be noise.
    """
    say(f"{what} on {shown_url(listening)} - Ctrl-C ends it.", err=err)
    reachable = reachable_urls(listening)
    if not reachable and listening.getsockname()[0] in ANY:
        say("No network: phones cannot reach it. Connect to one, or start a hotspot.", err=err)
    for other in reachable[1:]:
        say(f"In another network: {other}", err=err)
    if reachable:
        draw_qr(reachable[0], err=err)


def tell_codes(what: str, listening: socket.socket, access: Access) -> None:
    """Say in the terminal where a page is, and how one becomes its host."""
    tell_address(what, listening)
    say(f"Anyone can watch. Host code: {access.codes.now.host}")
    if access.link:
        say(f"Host link (one use): {shown_url(listening)}/join#{access.link}")


@contextmanager
def served(
    guide: AGuide,
    create_app: Callable[[AGuide, tuple[str, ...], Access], Flask],
    host: str,
    port: int,
    public_names: tuple[str, ...],
) -> Iterator[None]:
    """Serve the page of a calibration while it is at work.

    It stays until somebody who has it open has seen how the calibration ended. Its code is not
    stored.
    """
    access = Access(Codes())
    app = create_app(guide, (socket.gethostname(), *public_names), access)
    with closing(listen(host, port)) as listening, serving(app, listening, bool(public_names)):
        tell_address("The page is", listening, err=True)
        say(f"This link works once: {shown_url(listening)}/join#{access.link}", err=True)
        say(
            f"On another device, open {shown_url(listening)} and enter {access.codes.now.host}.",
            err=True,
        )
        try:
            yield
        except InputError as error:
            guide.fail(error.message)
            guide.wait_until_seen(LAST_LOOK_S)
            raise
        guide.wait_until_seen(LAST_LOOK_S)
