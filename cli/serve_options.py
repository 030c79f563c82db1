"""Options of commands with a page in the browser, and serving the page during the command."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, TypeVar

import click
from flask import Flask

from cli.options import Options, address_options
from cli.terminal import draw_qr, say
from table.errors import InputError
from table.messages import Message, msg, phrase
from webui.addresses import ANY, reachable_urls, shown_url
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serving

if TYPE_CHECKING:
    from calibration.progress import Guide

LAST_LOOK_S = 5.0
"""Longest wait for a page to fetch a calibration's result."""

AGuide = TypeVar("AGuide", bound="Guide")


def page_options(message: str) -> Callable[[Options], Options]:
    """--panel, which says what it does, and `address_options`."""

    def add(command: Options) -> Options:
        return click.option("--panel", is_flag=True, help=message)(address_options(command))

    return add


def tell_address(what: Message, listening: socket.socket, err: bool = False) -> None:
    """Print a page's URL in the terminal, with a QR code for phones.

    The code is drawn only on a terminal, not into a file or a journal.
    """
    say(msg("{text} on {raw} - Ctrl-C ends it.", text=what, raw=shown_url(listening)), err=err)
    reachable = reachable_urls(listening)
    if not reachable and listening.getsockname()[0] in ANY:
        message = msg("No network: phones cannot reach it. Connect to one, or start a hotspot.")
        say(message, err=err)
    tell_other_networks(reachable, err)


def tell_other_networks(reachable: Sequence[str], err: bool = False) -> None:
    """Print all URLs but the best one, and draw the best one as a QR code."""
    for other in reachable[1:]:
        say(msg("In another network: {raw}", raw=other), err=err)
    if reachable:
        draw_qr(reachable[0], err=err)


def tell_codes(what: Message, listening: socket.socket, access: Access) -> None:
    """Print a page's URL and the host's code in the terminal."""
    tell_address(what, listening)
    say(msg("Anyone can watch. Host code: {raw}", raw=access.codes.now.host))
    if access.link:
        link = f"{shown_url(listening)}/join#{access.link}"
        say(msg("Host link (one use): {raw}", raw=link))


@contextmanager
def served(
    guide: AGuide,
    create_app: Callable[[AGuide, tuple[str, ...], Access], Flask],
    host: str,
    port: int,
    public_names: tuple[str, ...],
) -> Iterator[None]:
    """Serve the page of a calibration while it runs.

    The page is served until an open browser has fetched the result. Its code is not stored.
    """
    access = Access(Codes())
    app = create_app(guide, (socket.gethostname(), *public_names), access)
    with closing(listen(host, port)) as listening, serving(app, listening, bool(public_names)):
        url, code = shown_url(listening), access.codes.now.host
        tell_address(phrase("The page is"), listening, err=True)
        say(msg("This link works once: {raw}", raw=f"{url}/join#{access.link}"), err=True)
        say(msg("On another device, open {raw} and enter {raw2}.", raw=url, raw2=code), err=True)
        try:
            yield
        except InputError as error:
            guide.fail(error.message)
            guide.wait_until_seen(LAST_LOOK_S)
            raise
        guide.wait_until_seen(LAST_LOOK_S)
