"""Games of other packages that fail: each is named and contained; the session and its log stay
whole, and the other games go on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest

import engines
from engines.rule_texts import explain
from engines.verdict import Accepted
from referee.live.computer_seats import ComputerSeats
from referee.presentation.lamp_cues import cue_of_record
from referee.presentation.shown_games import declarations, headline, next_button_command, on_board
from referee.sessions.commands import Declare, Hear, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.statistics.history import HistoryCache
from referee.statistics.throws import hits, squares_hit
from simulation.players.ice_boule_table import demo_setup
from table.boards import Chessboard
from table.errors import InputError
from table.game_words import game_words
from table.games import find_games, found_games
from table.observation import Observation
from table.table_config import table_document
from tests.support.ice_boule import CAMERA, Tables
from tests.support.installed_packages import announce, on_the_path, rinkside
from tests.support.panel_standins import FakeLive
from tests.support.scripted_eyes import referee
from webui import create_app
from webui.pages.help import games_pages

INSTALLED = Path(__file__).parent / "installed"
NOW = datetime(2026, 5, 1, tzinfo=UTC)
BOARD = Chessboard(square_mm=40.0)
HEAP = (
    "import heap_game\n"
    "globals().update({k: v for k, v in vars(heap_game).items() if k[0] != '_'})\n"
)
BROKEN = {
    "away": ("import heap_nowhere", "ModuleNotFoundError: No module named 'heap_nowhere'"),
    "garbled": ("def (", "SyntaxError: "),
    "exits": ("raise SystemExit(1)", "it raised SystemExit: 1"),
    "raises": ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    "shouts": ("raise ValueError('x' * 10_000_000)", "ValueError: xxx"),
    "steers": ("raise ValueError('\\x1b[2J')", "ValueError: "),
    "bottomless": ("def f():\n    f()\nf()", "RecursionError"),
    "hangs": ("from threading import Event\nEvent().wait()", "no answer within 1 s"),
    "lies": (f"{HEAP}NAME = 'heap'", "expected this name, got 'heap'"),
    "empty": ("NAME = 'empty'", "it has no RULINGS"),
    "odd": (f"{HEAP}NAME, FACTS = 'odd', 7", "FACTS: expected GameFacts, got int"),
    "future": (
        f"{HEAP}from dataclasses import replace\n"
        "NAME, FACTS = 'future', replace(heap_game.FACTS, interface=99)",
        "it is made for interface 99 of games, this one is 1",
    ),
    "vast": (
        f"{HEAP}from dataclasses import replace\nfrom table.boards import Chessboard\n"
        "wide = replace(heap_game.FACTS.table.default, board=lambda mm: Chessboard("
        "square_mm=mm, files=10**6))\n"
        "table = replace(heap_game.FACTS.table, default=wide)\n"
        "NAME, FACTS = 'vast', replace(heap_game.FACTS, table=table)",
        "FACTS.table.default.board: Expected `int` <= 26",
    ),
    "boundless": (
        f"{HEAP}from dataclasses import replace\n"
        "NAME, FACTS = 'boundless', replace(heap_game.FACTS, title='x' * 10_000_000)",
        "FACTS.title: expected 1 to 60 characters",
    ),
    "ruled": (
        f"{HEAP}NAME, RULINGS = 'ruled', heap_game.RULINGS * 1000",
        "RULINGS: expected a tuple of at most 50 HouseRule",
    ),
    "n" * 1000: ("NAME = 'n' * 1000", "expected a name such as 'my_game'"),
    "Two Words": ("NAME = 'Two Words'", "expected a name such as 'my_game'"),
}
"""What stands in the module of a game, and what is said of it."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for name in ("heap_game", "moody_game"):
        copytree(INSTALLED / name, folder / name)
    announce(folder, "heap_game", "1.0", {"rinkside.games": {"heap": "heap_game"}})
    return folder


@pytest.mark.parametrize("name", BROKEN)
def test_a_game_that_cannot_be_used_is_named_and_stops_no_other(
    site: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, why = BROKEN[name]
    if name == "hangs":
        monkeypatch.setattr("table.plugins.LOAD_S", 1.0)
    module = f"broken_{[*BROKEN].index(name)}"  # what hangs while it is imported holds its name
    (site / f"{module}.py").write_text(code)
    announce(site, "broken-heap", "2.1", {"rinkside.games": {name: module}})
    with on_the_path(site, "heap_game", module):
        found = find_games()
        games, unusable = engines.usable_games(found)
        (broken,) = (*found.broken, *unusable)
        assert {*games} == {*engines.GAMES}
        assert {"heap", "icefloe"} <= {*games}
    line = broken.line("the game")
    assert line.isprintable()
    assert len(line) < 500
    assert f"the game '{name[:60]}' of broken-heap 2.1 cannot be used: " in line
    assert why in line


def test_entry_points_that_cannot_be_read_hide_no_other_game(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    announce(site, "garbled", "1.0", {})
    (site / "garbled-1.0.dist-info" / "entry_points.txt").write_text("[rinkside.games]\nno value\n")
    with on_the_path(site, "heap_game"), caplog.at_level(logging.WARNING, "rinkside"):
        assert "heap" in find_games().games
    assert "the entry points of garbled cannot be read" in caplog.text


def test_texts_that_cannot_be_read_are_named_and_left_out(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (site / "heap_game" / "clauses.toml").write_text("Turns = ")
    (site / "heap_game" / "translations.toml").write_bytes(b"\xff")
    (site / "heap_game" / "guide.md").write_bytes(b"x" * (2 << 20))
    with on_the_path(site, "heap_game"), caplog.at_level(logging.WARNING, "rinkside"):
        assert explain("heap", "Turns") == (("Turns", ""),)
        assert game_words("de") == {}
        assert games_pages() == {}
    for what in ("clauses", "translations", "guide"):
        assert f"the {what} of 'heap' of heap_game cannot be used" in caplog.text


def test_plugins_list_names_every_part_its_package_and_what_is_wrong(site: Path) -> None:
    (site / "broken_heap.py").write_text(BROKEN["future"][0])
    players = {"heap": "heap_game:NAME"}
    groups = {"rinkside.games": {"future": "broken_heap"}, "rinkside.players": players}
    announce(site, "broken-heap", "2.1", groups)
    result = rinkside(site, "plugins", "list", "--json")
    assert result.returncode == 0, result.stderr
    rows = {(row["group"], row["name"]): row for row in json.loads(result.stdout)}
    heap = rows["rinkside.games", "heap"]
    assert (heap["package"], heap["version"], heap["interface"]) == ("heap_game", "1.0", 1)
    assert heap["wrong"] == ""
    assert rows["rinkside.games", "icefloe"]["package"] == "rinkside"
    assert "interface 99" in rows["rinkside.games", "future"]["wrong"]
    assert rows["rinkside.players", "heap"]["wrong"] == (
        "ValueError: expected BoardPlayers, got str"
    )
    assert "future" in rinkside(site, "plugins", "list").stdout


# --- while a game is played


@pytest.fixture
def moods(site: Path) -> Iterator[dict[str, str]]:
    """The game is installed; what fails from now on."""
    announce(site, "moody-game", "3.0", {"rinkside.games": {"moody": "moody_game"}})
    with on_the_path(site, "heap_game", "moody_game"):
        import moody_game  # type: ignore[import-not-found]

        yield moody_game.FAILS


@pytest.fixture
def session(moods: dict[str, str], tmp_path: Path) -> Iterator[Session]:
    assert not moods
    table = table_document(demo_setup())
    table["board"] = {"kind": "chessboard", "square_mm": BOARD.square_mm}
    started = SessionStarted(
        game="moody",
        players=("red", "blue"),
        rulings={},
        camera="a test",
        simulated=True,
        started_utc="2026-05-01T18:00:00+00:00",
        table=table,
        computers={"blue": "club"},
    )
    with Log(tmp_path / "log.sqlite") as log, closing(Session.begin(log, started)) as session:
        put(session, "red 2")
        yield session
        moods.clear()
        state = session.ledger.state
        games, _ = engines.usable_games(found_games())  # as after a new start
        with closing(Session.reopen(log, session.id, games)) as again:
            assert again.ledger.state == state, "the log leads to another state"
        (played,) = HistoryCache(tmp_path / "log.sqlite", games).of(session.id).games
        assert played.players == ("red", "blue")


def put(session: Session, move: str) -> None:
    ruled = VerdictReached(
        verdict="accepted", code="heap.put", message="Put.", moves=(move,), rests_on="Turns"
    )
    assert session.append(ruled)


def look(session: Session) -> None:
    """Everything that shows, draws, sounds or counts something."""
    ledger, game = session.ledger, session.ledger.started.game
    page = create_app(session, FakeLive()).test_client().get("/")
    assert page.status_code == 200
    assert "The Moody Heap" in page.text
    view = session.view()
    with suppress(InputError):  # lamps skip it (`referee.devices.controller`)
        cue_of_record(ledger, session.records()[-1], BOARD)
        next_button_command(ledger.engine, ledger.state)
    for shown in (on_board, declarations):
        shown(game, view.state)
    headline(game, "red", "heap.put", view.state)
    hits(ledger, session.records())
    squares_hit(ledger, session.records())


def seen(at_ms: int, *colours: str) -> Observation:
    pieces = [Tables.piece(colour, 100.0 * n, 0.0) for n, colour in enumerate(colours)]
    return Observation(at_ms // 250, at_ms, CAMERA, tuple(pieces))


def watched(session: Session, *colours: str) -> str:
    """The referee sees these pieces for two seconds; what it tells then."""
    messages: list[str] = []
    watching = referee(
        session,
        *(seen(at_ms, *colours) for at_ms in range(0, 2000, 250)),
        meanwhile=lambda _: messages.append(watching.latest.message),
    )
    watching.run()
    return messages[-1]


JUDGING = ("judge", "play", "parse_move", "state_document")
SHOWN = ("outcome", "options", "trace", "hidden_voters", "State.parse", "alternatives")
FACTS = ("marks", "on_board", "sound", "headline", "declarations", "throws", "squares", "hits")
FAULTS = ("raises", "exits", "garbage", "huge")


@pytest.mark.parametrize("mood", FAULTS[::2])
@pytest.mark.parametrize("name", [*SHOWN, *(f"FACTS.{fact}" for fact in FACTS)])
def test_what_is_only_shown_is_left_out_where_it_fails(
    session: Session, moods: dict[str, str], name: str, mood: str
) -> None:
    moods[name] = mood
    look(session)
    put(session, "blue 1")
    look(session)
    session.alternatives(session.seq)
    session.command(Undo(decided_by="somebody"))
    look(session)
    assert session.ledger.state.put == (2, 0)


@pytest.mark.parametrize("mood", FAULTS)
@pytest.mark.parametrize("name", JUDGING)
def test_a_table_that_a_game_fails_to_judge_is_not_ruled_on(
    session: Session, moods: dict[str, str], name: str, mood: str
) -> None:
    assert "Blue put 1 on." in watched(session, "red", "red", "blue")
    moods[name] = mood
    before = session.ledger.state
    message = watched(session, "red", "red", "blue", "red")
    assert "The part moody of the package moody-game 3.0 failed in judge: " in message
    assert "Nothing was ruled; people can rule by hand." in message
    look(session)
    assert session.ledger.state is before
    moods.clear()
    assert "Red put 1 on." in watched(session, "red", "red", "blue", "red")


@pytest.mark.parametrize("mood", FAULTS)
@pytest.mark.parametrize("name", ["hear", *JUDGING[1:]])
def test_an_input_that_a_game_fails_to_hear_is_refused_in_a_line(
    session: Session, moods: dict[str, str], name: str, mood: str
) -> None:
    moods[name] = mood
    with pytest.raises(InputError, match="of the package moody-game"):
        session.command(Hear(heard={"player": "blue", "put": 1}, decided_by="somebody"))
    if name != "hear":
        with pytest.raises(InputError, match="failed in"):
            session.command(Declare(moves=("blue 1",), decided_by="somebody"))
    moods.clear()
    session.command(Hear(heard={"player": "blue", "put": 1}, decided_by="somebody"))
    assert session.ledger.state.put == (2, 1)


@pytest.mark.parametrize("mood", FAULTS)
@pytest.mark.parametrize("name", ["asked", "choose", "wants", "announced"])
def test_a_computer_player_that_fails_wants_nothing_and_is_named(
    session: Session, moods: dict[str, str], name: str, mood: str
) -> None:
    messages: list[str] = []
    seats = ComputerSeats(session, messages.append, lambda: 0.0)
    assert session.ledger.started.computers == {"blue": "club"}
    moods[f"FACTS.{name}"] = mood
    assert not seats.act()
    assert session.ledger.wish is None
    (line,) = messages
    assert "moody" in line
    assert "\n" not in line
    assert not seats.act(), "it is not asked again in this state"
    assert len(messages) == 1
    look(session)
    moods.clear()
    put(session, "blue 1")
    put(session, "red 1")
    assert seats.act()
    assert str(session.ledger.wish and session.ledger.wish.message).startswith("Blue puts ")
    look(session)


def test_a_game_that_accepts_what_its_rules_forbid_is_named(
    session: Session, moods: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Accepted(code="heap.put", message="Put.", rests_on="Turns", moves=("red 2",))
    assert not moods
    monkeypatch.setattr("moody_game.MOODS", {"wrong": lambda: wrong})
    moods["judge"] = "wrong"
    message = watched(session, "red", "red", "blue")
    assert "its rules do not allow what it accepts: 'red 2': It is blue's turn." in message


@pytest.mark.parametrize("name", ["judge", "play", "state_document"])
def test_a_game_that_hangs_is_switched_off_and_everybody_else_goes_on(
    session: Session, moods: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.contained.CALL_S", 1.0)
    moods[name] = "hangs"
    message = watched(session, "red", "red", "blue")
    assert "no answer within 1 s. It is switched off until Rinkside starts again." in message
    moods.clear()
    assert "switched off" in watched(session, "red", "red", "blue", "blue")
    look(session)
    with pytest.raises(InputError, match="switched off"):
        session.command(Declare(moves=("blue 1",), decided_by="somebody"))
    assert session.ledger.state.put == (2, 0)
    assert engines.GAMES["heap"].parse_move("red 1")


@pytest.mark.parametrize("mood", FAULTS)
def test_a_game_that_cannot_be_set_up_begins_no_session(
    moods: dict[str, str], tmp_path: Path, mood: str
) -> None:
    moods["set_up"] = mood
    setup = demo_setup()
    with Log(tmp_path / "log.sqlite") as log:
        started = opening("moody", ("red", "blue"), {}, setup, "a test", NOW)
        with pytest.raises(InputError, match="failed in set_up"):
            Session.begin(log, started)
        assert log.sessions() == ()


def test_games_of_this_project_are_not_wrapped() -> None:
    assert engines.GAMES["icefloe"] is found_games().games["icefloe"]
