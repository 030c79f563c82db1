"""`rinkside sessions`: the sessions of a log in the browser, with no game running."""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from pathlib import Path

import click

from referee.commands_log import which_log
from referee.commands_pages import address_options, url
from referee.folders import log_path
from referee.log import LogReader
from referee.story import Stories
from webui import create_later_app
from webui.serve import listen, serve


@click.command()
@which_log
@address_options
def sessions(path: Path | None, host: str, port: int) -> None:
    """Look back on the sessions of a log in the browser: every verdict with its board and picture, and statistics."""
    path = path or log_path()
    LogReader(path).close()  # said at once, and not on the first page
    with closing(listen(host, port)) as listening:
        click.echo(f"The sessions are on {url(listening)} - Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            serve(create_later_app(Stories(path), hosts=(socket.gethostname(),)), listening)
