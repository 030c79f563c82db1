"""`rinkside hub`: gather what many tables send, and show it."""

from __future__ import annotations

import resource
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.garbage_collection import short_collections
from cli.options import address_options
from cli.paths import ready_folder
from cli.serve_options import tell_address
from cli.shutdown import stop_signal
from cli.terminal import language, say
from table.errors import InputError
from table.languages import CODES, Language
from table.messages import msg, phrase
from webui.server import listen, serve

if TYPE_CHECKING:
    from hub.store import Store

HUB_NAME = "hub.sqlite"


def database_option(command: Callable[..., None]) -> Callable[..., None]:
    """`--database URL`."""
    return click.option(
        "--database",
        metavar="URL",
        envvar="RINKSIDE_HUB_DATABASE",
        help=(
            "postgresql://USER@HOST/NAME, or sqlite:///PATH [default: a file in the user's data"
            " folder]."
        ),
    )(command)


@click.group(invoke_without_command=True)
@address_options
@database_option
@click.option(
    "--webhook",
    "webhooks",
    metavar="URL",
    multiple=True,
    help="Tell this address when results of a club change; may be repeated.",
)
@click.option(
    "--webhook-secret",
    envvar="RINKSIDE_HUB_WEBHOOK_SECRET",
    default="",
    help="What these messages are signed with; better in RINKSIDE_HUB_WEBHOOK_SECRET.",
)
@click.pass_context
def hub(
    ctx: click.Context,
    host: str,
    port: int,
    public_names: tuple[str, ...],
    database: str | None,
    webhooks: tuple[str, ...],
    webhook_secret: str,
) -> None:
    """Gather what many tables send, and show it in the browser.

    rinkside hub organiser NAME makes the first account.
    """
    if ctx.invoked_subcommand is not None:
        return
    with (
        closing(listen(host, port)) as listening,
        closing(_open_store(database)) as store,
        stop_signal() as stopping,
        stopping.watched(),
    ):
        from hub.app import create_hub_app, wall_ms
        from hub.webhooks import Webhook

        _ask_for_sockets()
        app = create_hub_app(store, (socket.gethostname(), *public_names))
        results = app.extensions["results"].now
        telling = [Webhook(url, webhook_secret, results, wall_ms) for url in webhooks]
        running = [
            threading.Thread(target=one.run, args=(stopping,), name=type(one).__name__)
            for one in (app.extensions["hall"], *telling)
        ]
        for thread in running:
            thread.start()
        tell_address(phrase("The hub is"), listening)
        try:
            with short_collections():
                serve(app, listening, stopping=stopping, behind_proxy=bool(public_names))
        finally:
            stopping.set()
            for thread in running:
                thread.join()


@hub.command()
@click.argument("name")
@click.option("--club", default="Club", show_default=True, help="The club that they organise for.")
@click.option(
    "--role",
    type=click.Choice(["admin", "organiser"]),
    default="admin",
    show_default=True,
    help="An admin also manages organisers.",
)
@click.option("--new-password", is_flag=True, help="Give somebody who has an account another one.")
@database_option
def organiser(name: str, club: str, role: str, new_password: bool, database: str | None) -> None:
    """Make an account for an organiser, and print its password."""
    with closing(_open_store(database)) as store:
        from hub.accounts import Accounts
        from hub.app import wall_ms
        from webui.security.requests import Refusal

        accounts, password = Accounts(store, wall_ms), secrets.token_urlsafe(12)
        try:
            if new_password:
                accounts.set_password(name, password)
            else:
                accounts.add(club, name, password, "admin" if role == "admin" else "organiser")
        except Refusal as refusal:
            raise InputError(refusal.message) from refusal
    say(msg("{name} logs in with the password {raw}", name=name, raw=password))


@hub.command("export-site")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--club", metavar="NAME", help="The club, where the hub has several.")
@click.option(
    "--event",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="This event alone, by the number in its page's address.",
)
@click.option(
    "--language",
    "code",
    type=click.Choice(CODES),
    help="The language of the pages [default: that of the terminal].",
)
@click.option("--simulated", is_flag=True, help="Count simulated games in standings too.")
@database_option
def export_site(
    folder: Path,
    club: str | None,
    event: int | None,
    code: Language | None,
    simulated: bool,
    database: str | None,
) -> None:
    """Write a club or an event as plain pages into FOLDER, for any web server or a USB stick.

    The folder is written whole or not at all, in place of an earlier export.
    """
    with closing(_open_store(database)) as store:
        from hub.app import create_hub_app, wall_ms
        from hub.site_folder import check_folder, write_folder
        from webui.security.requests import Refusal

        check_folder(folder)
        app = create_hub_app(store)
        try:
            club_id, name = club_called(store, club)
            files = app.extensions["site"].files(
                club_id, name, code or language(), wall_ms(), event, simulated
            )
        except Refusal as refusal:
            raise InputError(refusal.message) from refusal
        write_folder(folder, files)
    say(msg("{path}: {n} files are written.", path=folder, n=len(files)))


def club_called(store: Store, name: str | None) -> tuple[int, str]:
    """Id and name of a club; without a name, of the only club.  Raises InputError."""
    from hub.store import clubs_of

    known = clubs_of(store)
    found = [one for one in known if name in (None, one[1])]
    if len(found) != 1:
        raise InputError(
            msg(
                "--club: expected one of {raw}, got {raw2}",
                raw=", ".join(called for _, called in known) or "-",
                raw2=repr(name or ""),
            )
        )
    return found[0]


def _ask_for_sockets() -> None:
    """Raise the limit of open files to the system's maximum; each wall uses one."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _open_store(database: str | None) -> Store:
    """Open and migrate the database; raises InputError."""
    try:
        import argon2  # noqa: F401 - asked for here, so that nothing is half begun

        from hub.store import Store
    except ImportError as error:
        raise InputError(
            msg(
                "expected {raw} in this environment, but it is not installed; run: pip install"
                " '{program}'",
                raw=error.name or "sqlalchemy",
                program="rinkside[hub]",
            )
        ) from error
    store = Store(database or f"sqlite:///{ready_folder() / HUB_NAME}")
    try:
        store.upgrade()
    except BaseException:
        store.close()
        raise
    return store
