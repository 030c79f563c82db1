"""A game that another package brings is played as those of this one; one that is broken is named
and stops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import msgspec
import pytest

import engines
from calibration.sheets.boards import board_sheet
from engines.rule_texts import explain
from hardware.cues import Mark
from hardware.interfaces import Press
from referee.devices.buttons import commands_of
from referee.presentation.lamp_cues import standing
from referee.presentation.session_view import Clause
from referee.presentation.shown_games import title
from referee.sessions.commands import Hear, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from referee.statistics.throws import hits
from simulation.players.ice_boule_table import demo_setup
from table.boards import Chessboard, Hex
from table.errors import InputError
from table.games import find_games, table_facts
from table.table_config import load_table, table_document
from tests.support.installed_packages import announce, on_the_path, rinkside
from tests.support.panel_standins import FakeLive
from webui import create_app

HERE = Path(__file__).parent
BROKEN = {
    "away": ("heap_nowhere", "No module named 'heap_nowhere'"),
    "exits": ("broken_heaps:exits", "SystemExit"),
    "other": ("heap_game", "expected this name, got 'heap'"),
    "raises": ("broken_heaps.raises", "ValueError: two lines"),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package of a game, as it lies after it was installed."""
    folder = tmp_path / "site"
    copytree(HERE / "installed" / "heap_game", folder / "heap_game")
    announce(folder, "heap_game", "1.0", {"rinkside.games": {"heap": "heap_game"}})
    return folder


@pytest.fixture
def heap(site: Path) -> Iterator[engines.Game]:
    """The game, installed for one test."""
    with on_the_path(site, "heap_game"):
        yield engines.GAMES["heap"]


def test_the_command_line_knows_a_game_that_is_installed(site: Path) -> None:
    result = rinkside(site, "rules", "heap")
    assert result.returncode == 0, result.stderr
    assert "wins, loses" in result.stdout
    assert result.stderr == ""
    assert "heap" in rinkside(site, "demo", "--help").stdout


def test_its_board_is_printed_and_becomes_a_table(site: Path, tmp_path: Path) -> None:
    result = rinkside(site, "print", "heap", "--out", str(tmp_path / "heap.pdf"), "--json")
    assert result.returncode == 0, result.stderr
    (tmp_path / "board.json").write_text(result.stdout)
    lens = ("--lens", "camera-module-3", "--size", "2304x1296")
    names = {}
    for game in ("heap", ""):
        out = tmp_path / f"table{game}.json"
        wanted = ("--game", game) if game else ()
        result = rinkside(
            site,
            *("calibrate", "printed", str(tmp_path / "board.json"), *lens, *wanted),
            *("--out", str(out)),
        )
        assert result.returncode == 0, result.stderr
        names[game] = (load_table(out).game.name, load_table(out).game.sizes)
    assert names == {"heap": ("heap", ("small",)), "": ("ice_storm", ("medium",))}
    result = rinkside(
        site,
        *("calibrate", "printed", str(tmp_path / "board.json"), *lens, "--game", "icefloe"),
        *("--out", str(tmp_path / "no.json")),
    )
    assert result.returncode == 2
    expected = "--game: expected a game for this board (ice_storm, heap), got 'icefloe'"
    assert result.stderr == f"rinkside: {expected}\n"


def test_games_that_cannot_be_loaded_are_named_in_a_line_each_and_stop_no_other(site: Path) -> None:
    package = site / "broken_heaps"
    package.mkdir()
    (package / "__init__.py").write_text("def __getattr__(name):\n    raise SystemExit\n")
    (package / "raises.py").write_text("raise ValueError('two\\nlines')\n")
    (package / "empty.py").write_text("NAME = 'empty'\n")
    (package / "future.py").write_text(
        "from dataclasses import replace\nimport heap_game\nfrom heap_game import *\n"
        "globals().update({k: v for k, v in vars(heap_game).items() if k[0] != '_'})\n"
        "NAME, FACTS = 'future', replace(heap_game.FACTS, interface=99)\n"
    )
    (package / "facts.py").write_text(
        "import heap_game\n"
        "globals().update({k: v for k, v in vars(heap_game).items() if k[0] != '_'})\n"
        "NAME, FACTS = 'garbled', 7\n"
    )
    broken = {name: value for name, (value, _) in BROKEN.items()}
    whole = {"empty": "broken_heaps.empty", "future": "broken_heaps.future"}
    whole["garbled"] = "broken_heaps.facts"
    games = broken | whole | {"icefloe": "heap_game"}
    announce(site, "broken_heaps", "1.0", {"rinkside.games": games})
    result = rinkside(site, "rules", "heap")
    assert result.returncode == 0, result.stderr
    lines = result.stderr.splitlines()
    expected = {name: why for name, (_, why) in BROKEN.items()} | {
        "icefloe": "has this name already",
        "empty": "expected what a game offers, it has no RULINGS",
        "garbled": "FACTS: expected GameFacts, got int",
        "future": "it is made for interface 99 of games, this one is 1",
    }
    assert len(lines) == len(expected)
    for name, why in expected.items():
        (line,) = [line for line in lines if f"the game {name!r} of " in line]
        assert "cannot be used" in line
        assert why in line


def test_without_any_announcement_this_projects_games_are_found_in_their_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [*find_games().games]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert [*find_games().games] == names == sorted(engines.GAMES)


@pytest.fixture
def session(heap: engines.Game, tmp_path: Path) -> Iterator[Session]:
    board = heap.FACTS.table.default.board(40.0)
    table = table_document(demo_setup())
    table["board"] = {"kind": "chessboard", "square_mm": board.square_mm}
    started = SessionStarted(
        game="heap",
        players=("red", "blue"),
        rulings={"last": "loses"},
        camera="a test",
        simulated=True,
        started_utc="2026-05-01T18:00:00+00:00",
        table=table,
    )
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, started)
        yield session
        session.close()


def put(session: Session, move: str) -> None:
    ruled = VerdictReached(
        verdict="accepted", code="heap.put", message="Put.", moves=(move,), rests_on="Turns"
    )
    assert session.append(ruled)


def test_an_installed_game_is_played_shown_and_counted(session: Session, tmp_path: Path) -> None:
    put(session, "red 2")
    put(session, "blue 1")
    view = session.view()
    assert view.scores == {"red": 2, "blue": 1}
    assert view.verdicts[0].sound == "hit"
    assert view.verdicts[0].clauses == (
        Clause(name="Turns", text="Players in turn put one or two pieces on."),
    )
    assert title("heap") == "The Heap"
    board = Chessboard(square_mm=40.0)
    assert standing(session.ledger, board).marks == (Mark("spot", ((20.0, 20.0),)),)
    (next_up,) = commands_of(Press("next", "short", 0), session.ledger, 1)
    assert next_up == Hear(heard={"player": "red", "put": 1}, decided_by="a button")
    session.command(next_up)
    assert [hit.target for hit in hits(session.ledger, session.records())] == [
        "red 2",
        "blue 1",
        "red 1",
    ]
    session.command(Undo(decided_by="somebody"))
    for move in ("red 2", "blue 1", "red 1"):
        put(session, move)
    assert session.ledger.outcome == "blue won"
    (played,) = HistoryCache(tmp_path / "log.sqlite").of(session.id).games
    assert (played.winners, played.over) == (("blue",), True)


def test_the_panel_shows_an_installed_game(session: Session) -> None:
    put(session, "red 2")
    live = FakeLive()
    live.setup = msgspec.structs.replace(live.setup, board=Chessboard(square_mm=40.0))
    page = create_app(session, live).test_client().get("/").text
    for words in ("The Heap", "puts pieces on", "puts 2 on"):
        assert words in page


def test_what_lies_below_the_rules_knows_an_installed_game(heap: engines.Game) -> None:
    facts = table_facts("heap")
    assert facts.pieces.most == 7
    sheet = board_sheet(facts.default.sheet, facts.default.board(40.0))
    assert sheet.sizes.startswith("squares of 40 mm")
    assert [clause.text for clause in explain("heap", "Winning")] == [
        "Who puts the last piece on wins."
    ]
    with pytest.raises(InputError, match="expected a chessboard"):
        heap.set_up(("red", "blue"), {}, Hex(size=5, cell_mm=28))
