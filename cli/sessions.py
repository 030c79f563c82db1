"""`rinkside sessions`: the sessions of a log in the browser, with no game running."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import click

from cli.log import which_log
from cli.options import address_options
from cli.paths import codes_path, log_path
from cli.serve_options import tell_codes
from cli.shutdown import stop_signal
from referee.sessions.event_store import LogReader
from referee.statistics.history import HistoryCache
from table.messages import phrase
from webui import create_history_app
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serve


@click.command()
@which_log
@address_options
def sessions(path: Path | None, host: str, port: int, public_names: tuple[str, ...]) -> None:
    """Browse past sessions: every ruling with its board and picture, and statistics."""
    path = path or log_path()
    codes = codes_path(
        path.parent
    )  # the panel's, if it was ever shown; a folder that is only read gets none
    LogReader(path).close()  # said at once, and not on the first page
    with closing(listen(host, port)) as listening, stop_signal() as stopping, stopping.watched():
        access = Access(Codes(codes if codes.exists() else None))
        tell_codes(phrase("The sessions are"), listening, access)
        app = create_history_app(HistoryCache(path), (socket.gethostname(), *public_names), access)
        serve(app, listening, stopping=stopping, behind_proxy=bool(public_names))
