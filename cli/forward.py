"""`rinkside forward`: send what is refereed at this table to a hub, as it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import click

from cli.options import complain
from cli.paths import data_folder, log_path, ready_folder
from cli.shutdown import stop_signal
from cli.terminal import draw_qr, say
from hub.client import HubClient, HubRefused
from hub.enrolling import enrolled, forget_token, keep_token, stored_token
from hub.forwarder import Forwarder
from hub.next_match import follow
from hub.wire import Asked
from table.errors import InputError
from table.messages import msg


@click.command()
@click.option("--hub", "url", required=True, help="Address of the hub: https://hub.example.org.")
@click.option(
    "--token",
    envvar="RINKSIDE_HUB_TOKEN",
    help="Token of this table [default: the one that it was given when it was enrolled].",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the log and the token [default: the user's data folder].",
)
@click.option(
    "--ca-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Certificates (PEM) that the hub's may be signed by, beside the system's.",
)
def forward(url: str, token: str | None, data: Path | None, ca_file: Path | None) -> None:
    """Send what is refereed at this table to a hub, as it happens.

    The log is only read; a game never waits for this. Without a token it shows a code that an
    organiser enters at the hub.
    """
    folder = data or data_folder()
    hub = HubClient(url, token or stored_token(folder, url.rstrip("/")), ca_file)
    with stop_signal() as stopping, stopping.watched(), closing(hub):
        if not hub.token:
            _enrol(hub, ready_folder(data), stopping)
        if stopping.is_set():
            return
        path = log_path(folder)
        say(msg("{path} is sent to {raw} - Ctrl-C ends it.", path=path, raw=hub.url))
        with (
            _asking(HubClient(url, hub.token, ca_file), folder, stopping),
            closing(Forwarder(log_path(folder), hub, complain)) as forwarder,
        ):
            try:
                forwarder.run(stopping)
            except HubRefused as refused:
                if refused.status == 401 and not token:
                    forget_token(folder)
                raise InputError(msg("{raw}: {text}", raw=hub.url, text=refused.message)) from None


@contextmanager
def _asking(hub: HubClient, folder: Path, stopping: Event) -> Iterator[None]:
    """Poll for this table's next match in parallel, on a separate connection."""
    asking = Thread(target=follow, args=(hub, folder, stopping), name="next match")
    asking.start()
    try:
        yield
    finally:
        stopping.set()
        asking.join()
        hub.close()


def _enrol(hub: HubClient, folder: Path, stopping: Event) -> None:
    token = enrolled(hub, lambda asked: _show(hub, asked), complain, stopping)
    if token is None:
        return
    keep_token(folder, token)
    hub.token = token.token
    say(msg("This table is {raw} at the hub.", raw=token.table))


def _show(hub: HubClient, asked: Asked) -> None:
    link = f"{hub.url}/tables?code={asked.code}"
    page = f"{hub.url}/tables"
    say(msg("Enrol this table at {raw} with the code {raw2}", raw=page, raw2=asked.code))
    draw_qr(link)
