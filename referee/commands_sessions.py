"""`rinkside sessions`: the sessions of a log in the browser, with no game running."""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from pathlib import Path

import click

from referee.commands_log import which_log
from referee.commands_pages import address_options, tell_codes
from referee.folders import codes_path, log_path
from referee.log import LogReader
from referee.stopping import stopped_by_one_signal
from referee.story import Stories
from webui import create_later_app
from webui.access import Access
from webui.codes import Codes
from webui.serve import listen, serve


@click.command()
@which_log
@address_options
def sessions(path: Path | None, host: str, port: int, public_names: tuple[str, ...]) -> None:
    """Look back on the sessions of a log in the browser: every verdict with its board and picture, and statistics."""
    path = path or log_path()
    codes = codes_path(path.parent)  # the panel's, if it was ever shown; a folder that is only read gets none
    LogReader(path).close()  # said at once, and not on the first page
    with closing(listen(host, port)) as listening:
        access = Access(Codes(codes if codes.exists() else None))
        tell_codes("The sessions are", listening, access)
        with stopped_by_one_signal() as stopping, suppress(KeyboardInterrupt):
            app = create_later_app(Stories(path), (socket.gethostname(), *public_names), access)
            serve(app, listening, stopping=stopping, behind_proxy=bool(public_names))
