"""Whole games, watched by everybody at the table in real browsers, with all that goes wrong with
phones.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from contextlib import ExitStack, closing, suppress
from random import Random
from types import SimpleNamespace

import pytest

import engines
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from simulation.players.policies import RandomPlayer
from table.messages import Message, first_sentence
from webui import create_app
from webui.server import listen, serving

REMEMBER = """
window.heard = []; window.told = [];
const Native = window.EventSource;
window.EventSource = class extends Native {
  constructor(...words) {
    super(...words);
    this.addEventListener("live", (event) => told.push(event.data));
    this.addEventListener("record", (event) => { told.push(event.data); heard.push(Number(event.lastEventId)); });
  }
};"""  # noqa: E501
"""What the page's stream says is kept where a test can see it."""
PLAYERS = {
    "icebreaker": ("red", "black"),
    "zamboni_wars": ("yellow", "red", "blue", "green"),
    "ice_boule": ("blue", "yellow"),
}


class Wire:
    """A wire to a port of this machine that can be cut."""

    def __init__(self, port):
        self.port, self._cut, self._ends = port, False, []
        self.listening = listen(port=0)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def cut(self):
        self._cut = True
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self):
        self._cut = False

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)  # `accept` would wait on
        self.listening.close()
        self.cut()
        for end in self._ends:
            end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                if self._cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.port))
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, from_end, to_end):
        with suppress(OSError):
            while data := from_end.recv(65536):
                to_end.sendall(data)
        for end in (from_end, to_end):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Watcher:
    """A browser of its own, and all that the panel ever answered it."""

    def __init__(self, chromium, url, code=""):
        self.context = chromium.new_context(viewport={"width": 390, "height": 844})
        self.context.add_init_script(REMEMBER)
        self.page = self.context.new_page()
        self.answers, self.complaints = [], []
        self.page.on("response", self._keep)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{url}/join#{code}" if code else url)
        if code:
            self.page.wait_for_url(re.compile(r"/(play)?$"))

    def _keep(self, response):
        if (
            response.ok
            and "stream" not in response.url
            and "image" not in response.headers.get("content-type", "")
        ):
            self.answers.append(response)

    def sit(self, colour):
        self.page.locator(f"button[name=seat][value={colour}]").click()
        self.page.get_by_text("Leave the seat").wait_for(state="attached")
        return self

    def catch_up(self, newest):
        self.page.wait_for_function(f"() => heard.at(-1) === {newest}")

    def received(self):
        """Everything that it was ever told, by answers and by its stream."""
        bodies = []
        for response in self.answers:
            try:
                bodies.append(response.text())
            except Exception:  # the page was left before its answer came
                continue
        return "\n".join([*bodies, *self.page.evaluate("told")])


@pytest.fixture
def table(chromium, live, tmp_path):
    """table("icefloe"): a game on a panel of its own, with `open(code)` for another browser."""
    with ExitStack() as stack:

        def begin(name, games=engines.GAMES):
            log = stack.enter_context(Log(tmp_path / "rinkside.log"))
            session = Session.begin(
                log,
                SessionStarted(game=name, players=PLAYERS.get(name, ("red", "black", "blue"))),
                games=games,
            )
            app = create_app(session, live)
            listening = stack.enter_context(listen(port=0))
            stack.enter_context(serving(app, listening))
            stack.callback(session.close)
            codes = app.extensions["access"].codes.now
            port = listening.getsockname()[1]

            def open_page(code="", url=f"http://127.0.0.1:{port}"):
                watcher = Watcher(chromium, url, code)
                stack.callback(watcher.context.close)
                return watcher

            wire = stack.enter_context(closing(Wire(port)))
            return SimpleNamespace(
                session=session, open=open_page, host=codes.host, code=codes.table, wire=wire
            )

        yield begin


def play(session, player, most):
    """Play moves by chance, as if the referee had seen them; true when the game is over."""
    for _ in range(most):
        if session.ledger.outcome is not None:
            return True
        move = player.choose(session.ledger.state)
        session.append(
            VerdictReached(
                verdict="accepted",
                code="test.move",
                message=f"{move} was played.",
                moves=(str(move),),
            )
        )
    return session.ledger.outcome is not None


@pytest.mark.parametrize("game", engines.GAMES)
def test_a_whole_game_reaches_everybody_with_nothing_missed_or_doubled(table, game):
    """One page is loaded again, one phone loses its network, another one sleeps, all in the middle
    of it.
    """
    here = table(game)
    player = RandomPlayer(engines.GAMES[game], Random(0))
    first, second = here.session.ledger.players[:2]
    screen, host = here.open(), here.open(here.host)
    lost, asleep = here.open(here.code, here.wire.url).sit(first), here.open(here.code).sit(second)
    play(here.session, player, 20)

    here.wire.cut()
    lost.page.locator("#link").wait_for(state="visible")
    protocol = asleep.context.new_cdp_session(asleep.page)
    protocol.send("Page.setWebLifecycleState", {"state": "frozen"})
    play(here.session, player, 20)
    screen.page.reload()
    protocol.send("Page.setWebLifecycleState", {"state": "active"})
    here.wire.mend()
    while not play(here.session, player, 100):
        pass

    newest, outcome = here.session.ledger.seq, here.session.ledger.outcome
    for watcher in (screen, host, lost, asleep):
        watcher.catch_up(newest)
        heard = watcher.page.evaluate("heard")
        assert heard == list(range(heard[0], newest + 1))
        watcher.page.get_by_text(outcome, exact=True).first.wait_for()
        assert watcher.complaints == []
    assert lost.page.evaluate("heard[0]") <= 20


VOTES = re.compile(r'"votes":(\{[^}]*\})')


def test_votes_from_phones_are_told_to_nobody_before_the_reveal(table):
    """Not to the host, not to who votes, not to who watches; changed votes neither; then to all."""
    here = table("icefloe")
    player = RandomPlayer(engines.GAMES["icefloe"], Random(0))
    while here.session.view().state["phase"] != "vote":
        play(here.session, player, 1)
    watchers = {"screen": here.open(), "host": here.open(here.host)}
    for colour in here.session.ledger.players:
        watchers[colour] = here.open(here.code).sit(colour)
    *early, last = here.session.ledger.players
    for colour in early:
        page = watchers[colour].page
        page.locator(".saying [name=said]").nth(1).click()
        page.get_by_text("Change my vote").click()
        page.locator(".saying [name=said]").nth(2).click()
        page.get_by_text("You have voted").wait_for()
    for watcher in watchers.values():
        watcher.catch_up(here.session.ledger.seq)
        watcher.page.reload()

    cast = [
        move
        for record in here.session.records()
        for move in getattr(record.event, "moves", ())
        if re.match(rf"vote ({'|'.join(early)})", move)
    ]
    assert len(cast) == 4
    before = {who: watcher.received() for who, watcher in watchers.items()}
    for message in before.values():
        assert not [move for move in cast if move in message]
        assert not re.search(rf"\b({'|'.join(early)}) for \w", message)
        assert {
            vote for votes in VOTES.findall(message) for vote in json.loads(votes).values()
        } <= {"?", None}
    assert "have voted" in before[early[0]] or "has voted" in before["screen"]

    newest = here.session.ledger.seq
    watchers[last].page.locator(".saying [name=said]").first.click()
    assert here.session.wait(newest, 30)
    for watcher in watchers.values():
        watcher.catch_up(here.session.ledger.seq)
        assert re.search(rf"\b{early[0]} for \w", watcher.received(), re.IGNORECASE)


def test_a_button_is_heard_though_the_page_changes_between_press_and_release(table):
    here = table("ice_boule")
    player = RandomPlayer(engines.GAMES["ice_boule"], Random(0))
    play(here.session, player, 4)
    host = here.open(here.host)
    host.page.locator("#pause").scroll_into_view_if_needed()
    box = host.page.locator("#pause").bounding_box()
    host.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    host.page.mouse.down()
    play(here.session, player, 1)
    newest = f"[data-record='{here.session.ledger.seq}']"
    host.page.locator(newest).wait_for(state="attached")
    host.page.mouse.up()
    host.page.locator("#resume").wait_for()
    play(here.session, player, 1)
    seen = f"[data-part=controls] [name=seen][value='{here.session.ledger.seq}']"
    host.page.locator(seen).first.wait_for(state="attached")
    assert host.complaints == []


def test_two_hosts_at_once_do_not_undo_twice(table):
    here = table("ice_boule")
    play(here.session, RandomPlayer(engines.GAMES["ice_boule"], Random(0)), 4)
    one, other = here.open(here.host), here.open(here.host)
    other.context.set_offline(True)  # what it shows is old by the time it is pressed
    one.page.locator("#undo").click()
    (fifth,) = here.session.records(4, 1)
    undid = f"undid this: {Message(first_sentence(fifth.event.message))}"
    one.page.get_by_text(undid).first.wait_for()
    token = other.page.locator("[name=token]").first.get_attribute("value")
    seen = other.page.locator("[data-part=controls] [name=seen]").get_attribute("value")
    other.context.set_offline(False)
    answer = other.context.request.post(
        f"{other.page.url}command", form={"command": "undo", "seen": seen, "token": token}
    )
    assert answer.status == 409
    other.page.get_by_text(undid).first.wait_for()
    one.page.locator("#pause").click()
    other.page.locator("#resume").click()
    one.page.locator("#pause").wait_for()
    assert [record.event.__class__.__name__ for record in here.session.records(5)] == [
        "Undone",
        "Paused",
        "Resumed",
    ]
    assert one.complaints == other.complaints == []
