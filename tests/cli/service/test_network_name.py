"""A name in the network, over real multicast on this computer's own loopback interface."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from cli.service.manager import ServiceManager
from cli.service.network_name import KIND, Publisher, name_in_network
from tests.support.service_manager import service_manager
from webui.server import listen

zeroconf = pytest.importorskip("zeroconf", reason="zeroconf is not installed: rinkside[service]")

pytestmark = pytest.mark.slow

HERE = "127.0.0.1"
WAIT_MS = 10_000


@contextmanager
def responder() -> Iterator[zeroconf.Zeroconf]:
    """Another computer in the network."""
    try:
        other = zeroconf.Zeroconf(interfaces=[HERE])
    except OSError as error:
        pytest.skip(f"this computer has no multicast on its loopback interface ({error})")
    with closing(other):
        yield other


@contextmanager
def published(port: int, messages: list[str]) -> Iterator[Publisher]:
    stopping = Event()
    publisher = Publisher(port, lambda: [HERE], stopping, messages.append)
    publisher.look()
    yield publisher
    stopping.set()
    publisher.run()


def entries(other: zeroconf.Zeroconf) -> list[str]:
    """Names of the web pages that another computer finds."""
    found, come = [], Event()

    class Listener(zeroconf.ServiceListener):
        def add_service(self, _zc: zeroconf.Zeroconf, _type: str, name: str) -> None:
            found.append(name)
            come.set()

        update_service = remove_service = add_service

    browser = zeroconf.ServiceBrowser(other, KIND, Listener())
    come.wait(WAIT_MS / 1000)
    browser.cancel()
    return found


def test_other_computers_find_the_panel_and_its_name() -> None:
    messages: list[str] = []
    with responder() as other, published(8123, messages):
        (name,) = {name for name in entries(other) if name.startswith("Rinkside on ")}
        info = other.get_service_info(KIND, name, WAIT_MS)
        assert info is not None
        assert (info.port, info.parsed_addresses()) == (8123, [HERE])
        assert f"http://{info.server.rstrip('.')}:8123" in messages[0]
        resolver = zeroconf.AddressResolver(info.server)
        assert resolver.request(other, WAIT_MS)
        assert resolver.parsed_addresses() == [HERE]


def test_a_name_that_another_computer_has_is_left_to_it() -> None:
    messages: list[str] = []
    with responder() as other:
        entry = zeroconf.ServiceInfo(
            KIND, f"Another.{KIND}", port=80, parsed_addresses=[HERE], server="rinkside.local."
        )
        other.register_service(entry)
        with published(8000, messages):
            assert messages == ["In this network also: http://rinkside-2.local:8000"]


def test_addresses_that_change_are_published_anew_and_a_network_that_is_gone_is_waited_for() -> (
    None
):
    messages: list[str] = []
    answers = iter([[], [HERE], [HERE], None, [HERE]])

    def addresses() -> list[str]:
        if (now := next(answers)) is None:
            raise OSError("the network is gone")
        return now

    stopping = Event()
    publisher = Publisher(8000, addresses, stopping, messages.append)
    counts = []
    with responder():
        for _ in range(5):
            publisher.look()
            counts.append(len(messages))
        stopping.set()
        publisher.run()
    assert counts == [0, 1, 1, 1, 2]


def publishing() -> bool:
    return any(thread.name == "network name" for thread in threading.enumerate())


def test_only_a_service_has_a_name(tmp_path: Path) -> None:
    with closing(listen(HERE, 0)) as listening:
        with name_in_network(listening, ServiceManager({})):
            assert not publishing()
        with (
            service_manager(tmp_path / "notify"),
            name_in_network(listening, ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify")})),
        ):
            assert publishing()
        assert not publishing()


def test_without_the_extra_it_says_so_and_everything_else_works(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['zeroconf'] = None\n"
        "from cli.service.manager import ServiceManager\n"
        "from cli.service.network_name import name_in_network\n"
        "from webui.server import listen\n"
        "with listen('127.0.0.1', 0) as end, name_in_network(end, ServiceManager()):\n"
        "    print('serves')"
    )
    own = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=own, check=True
    )
    assert done.stdout == "serves\n"
    assert done.stderr.startswith("rinkside: no name in the network (mDNS), as zeroconf is missing")
    assert done.stderr.count("\n") == 1
