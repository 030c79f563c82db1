"""Publish an mDNS name, `http://rinkside.local:8000`, and a service entry `_http._tcp`.

Source: RFC 6762 and 6763. python-zeroconf is an extra (`rinkside[service]`); without it no name is
published, and everything else works.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from cli.options import complain
from cli.service.manager import ServiceManager
from cli.terminal import say
from table.messages import msg
from webui.addresses import addresses_on

if TYPE_CHECKING:
    from zeroconf import Zeroconf

logger = logging.getLogger(__name__)

NAME, KIND = "rinkside", "_http._tcp.local."
MOST_NAMES = 9
"""Number of names to try: rinkside, rinkside-2, and so on."""
ANSWER_MS = 1500
"""Timeout for an answer from another computer that holds a name."""
LOOK_S = 30.0
"""Interval for polling this computer's addresses, which a router may change."""
CLOSING_S = 5.0
"""Longest wait for withdrawing the entry at the end."""


@contextmanager
def name_in_network(listening: socket.socket, manager: ServiceManager) -> Iterator[None]:
    """Publish the panel that `listening` serves, if this process is a service.

    This runs in a thread, so that a missing network delays nothing.
    """
    host, port = listening.getsockname()[:2]
    if not manager.present or not _installed():
        yield
        return
    stopping = Event()
    publisher = Publisher(port, lambda: addresses_on(host), stopping)
    thread = Thread(target=publisher.run, name="network name", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(CLOSING_S)


def _installed() -> bool:
    try:
        import zeroconf  # noqa: F401 - an extra
    except ImportError as error:
        complain(
            msg(
                "no name in the network (mDNS), as zeroconf is missing ({raw}); everything else"
                " works: docs/SERVICE.md",
                raw=error,
            )
        )
        return False
    return True


class Publisher:
    """Keeps the entry in step with this computer's addresses; `run` needs a thread of its own."""

    def __init__(
        self,
        port: int,
        addresses: Callable[[], Sequence[str]],
        stopping: Event,
        tell: Callable[[str], object] = say,
    ) -> None:
        """`addresses` returns those that phones can reach; `tell` shows a line to people."""
        self._port, self._addresses = port, addresses
        self._stopping, self._tell = stopping, tell
        self._published: tuple[str, ...] = ()
        self._responder: Zeroconf | None = None

    def run(self) -> None:
        """Publish, and republish when the addresses change, until `stopping` is set."""
        while not self._stopping.is_set():
            self.look()
            self._stopping.wait(LOOK_S)
        self._close()

    def look(self) -> None:
        """Compare current with published addresses, once."""
        try:
            now = tuple(self._addresses())
            if now == self._published:
                return
            self._close()
            if now:
                self._open(now)
            self._published = now
        except Exception as error:  # sockets, and zeroconf's own kinds; tried again
            logger.info("no name in the network for now", exc_info=error)
            self._close()

    def _open(self, addresses: tuple[str, ...]) -> None:
        from zeroconf import AddressResolver, ServiceInfo, Zeroconf  # type: ignore[attr-defined]

        self._responder = Zeroconf(interfaces=list(addresses))
        for number in range(1, MOST_NAMES + 1):
            name = NAME if number == 1 else f"{NAME}-{number}"
            if not AddressResolver(f"{name}.local.").request(self._responder, ANSWER_MS):
                break
        entry = ServiceInfo(
            KIND,
            f"Rinkside on {_plain(socket.gethostname())}.{KIND}",
            port=self._port,
            parsed_addresses=list(addresses),
            server=f"{name}.local.",
            properties={"path": "/"},
        )
        self._responder.register_service(entry, allow_name_change=True)
        self._tell(f"In this network also: http://{name}.local:{self._port}")

    def _close(self) -> None:
        """Withdraw the entry."""
        self._published = ()
        responder, self._responder = self._responder, None
        if responder is not None:
            with suppress(Exception):  # a network that is gone
                responder.unregister_all_services()
                responder.close()


def _plain(name: str) -> str:
    """A computer's name without dots, which would begin a domain in an entry's name."""
    return name.partition(".")[0][:40] or "this computer"
