"""What commands with a page in the browser share: options, and serving the page while they work."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, TypeVar

import click
from flask import Flask

from cli.options import Options, address_options
from cli.terminal import say
from table.errors import InputError
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serving

if TYPE_CHECKING:
    from calibration.progress import Guide

LOCAL, ANY = ("127.0.0.1", "::1"), ("0.0.0.0", "::")
SOMEWHERE = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}
"""Addresses that lead out of this machine, and to nobody (kept for documentation by RFC 5737 and
3849).
"""
LAST_LOOK_S = 5.0
"""Longest wait for a page to show how a calibration ended."""

AGuide = TypeVar("AGuide", bound="Guide")


def page_options(message: str) -> Callable[[Options], Options]:
    """--panel, which says what it does, and `address_options`."""

    def add(command: Options) -> Options:
        return click.option("--panel", is_flag=True, help=message)(address_options(command))

    return add


def url(listening: socket.socket) -> str:
    """Where people find what is served."""
    host, port = listening.getsockname()[:2]
    name = (
        "localhost"
        if host in LOCAL
        else socket.gethostname()
        if host in ANY
        else f"[{host}]"
        if ":" in host
        else host
    )
    return f"http://{name}:{port}"


def address_for_others(listening: socket.socket) -> str:
    """The address at which other machines of the network find what is served.

    Empty where only this machine is answered, or there is no network.
    """
    host, port = listening.getsockname()[:2]
    if host in LOCAL:
        return ""
    if host not in ANY:
        return url(listening)
    with socket.socket(listening.family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(SOMEWHERE[listening.family])  # sends nothing; it only chooses the way out
        except OSError:
            return ""
        own = probe.getsockname()[0]
    return f"http://[{own}]:{port}" if ":" in own else f"http://{own}:{port}"


def tell_codes(what: str, listening: socket.socket, access: Access) -> None:
    """Say in the terminal where a page is, and how one becomes its host."""
    say(f"{what} on {url(listening)} - Ctrl-C ends it.")
    say(f"Anyone can watch. Host code: {access.codes.now.host}")
    if access.link:
        say(f"Host link (one use): {url(listening)}/join#{access.link}")


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
        say(f"The page is on {url(listening)}/join#{access.link} - Ctrl-C ends it.", err=True)
        say(
            f"This link works once. On another device, open {url(listening)} and enter"
            f" {access.codes.now.host}.",
            err=True,
        )
        try:
            yield
        except InputError as error:
            guide.fail(error.message)
            guide.wait_until_seen(LAST_LOOK_S)
            raise
        guide.wait_until_seen(LAST_LOOK_S)
