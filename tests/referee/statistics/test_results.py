"""Scores, gaps and statistics over the sessions of a log, by the commands that write and print
them.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from engines import GAMES
from referee.sessions.archive import export_session, import_session
from referee.sessions.commands import Answer, Correct, NextGame
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import Choice, QuestionAsked, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.results import games_of
from tests.support.boule_games import accepted, won_by_blue

BEGUN_MS = 1_795_000_000_000
BEGUN_UTC = "2026-11-18T10:26:40+00:00"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anna (blue) beats Ben (yellow); in their next game people decide and correct; then a demo,
    and a game of a colour without a name.
    """
    path = tmp_path_factory.mktemp("played") / "log.sqlite"
    with Log(path) as log:
        players = ("blue", "yellow")
        first = SessionStarted(
            game="ice_boule",
            players=players,
            started_utc=BEGUN_UTC,
            names={"blue": "Anna", "yellow": "=Ben()"},
        )
        session = Session.begin(log, first, BEGUN_MS)
        won_by_blue(session, 12.34)
        session.tick(BEGUN_MS + 3_600_000)
        session.command(NextGame())
        accepted(session, "target green")
        wrong = accepted(session, "throw blue large 40.00: blue 40.00", blue=0.2)
        session.command(Correct(record=wrong, moves=("throw blue large 41.50: blue 41.50",)))
        way = "throw yellow small 41.60: blue 41.50 < yellow 41.60"
        evidence = {"gaps": [{"colour": "yellow", "gap_mm": 41.6, "sigma_mm": 0.3}]}
        asked = session.append(
            QuestionAsked(
                code="boule.too_close",
                message="?",
                choices=(Choice(label="blue", moves=(way,)),),
                evidence=evidence,
            )
        )
        assert asked
        session.command(Answer(question=asked.seq, label="blue"))
        won_by_blue(
            Session.begin(log, SessionStarted(game="ice_boule", players=players, simulated=True)), 5
        )
        lone = Session.begin(
            log, SessionStarted(game="ice_boule", players=("blue",), started_utc=BEGUN_UTC)
        )
        accepted(lone, "target green")
        accepted(lone, "throw blue large touching: blue touching")
    return path


@pytest.fixture
def log(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(recorded, tmp_path))


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "160"})


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_scores_are_a_row_a_game(log: Path, tmp_path: Path) -> None:
    result = rinkside("log", "scores", tmp_path / "scores.csv", "--log", log)
    assert (result.exit_code, result.stderr) == (0, "")
    first, second, demo, lone = rows(tmp_path / "scores.csv")
    assert first == {
        "session": "1",
        "game": "ice_boule",
        "game_number": "1",
        "begun_utc": BEGUN_UTC,
        "players": "Anna (blue), =Ben() (yellow)",
        "winner": "Anna (blue)",
        "finished": "yes",
        "simulated": "no",
        "score_yellow_points": "0",
        "score_blue_points": "13",
    }
    assert (second["game_number"], second["begun_utc"], second["winner"], second["finished"]) == (
        "2",
        "2026-11-18T12:06:40+00:00",
        "",
        "no",
    )
    assert (demo["simulated"], demo["players"]) == ("yes", "blue, yellow")
    assert (lone["score_blue_points"], lone["score_yellow_points"]) == ("0", "")


def test_gaps_are_a_row_a_throw_with_their_sigma(log: Path, tmp_path: Path) -> None:
    assert rinkside("log", "gaps", tmp_path / "gaps.csv", "--log", log).exit_code == 0
    throws = rows(tmp_path / "gaps.csv")
    near, out = throws[0], throws[1]
    assert (
        near["player"],
        near["size"],
        near["came_to_rest"],
        near["gap_mm"],
        near["sigma_mm"],
    ) == ("Anna (blue)", "large", "in play", "12.34", "0.100")
    assert (near["leading"], near["decided_by"], near["time_utc"]) == (
        "Anna (blue)",
        "camera",
        "2026-11-18T11:06:40+00:00",
    )
    assert (out["player"], out["came_to_rest"], out["gap_mm"], out["sigma_mm"]) == (
        "'=Ben() (yellow)",
        "out of play",
        "",
        "",
    )
    corrected, answered = (
        throw for throw in throws if (throw["session"], throw["game_number"]) == ("1", "2")
    )
    assert (corrected["gap_mm"], corrected["sigma_mm"], corrected["decided_by"]) == (
        "41.50",
        "",
        "people",
    )
    assert (
        answered["gap_mm"],
        answered["sigma_mm"],
        answered["decided_by"],
        answered["leading"],
    ) == ("41.60", "0.300", "people", "Anna (blue)")
    assert (throws[-1]["came_to_rest"], throws[-1]["gap_mm"], throws[-1]["time_utc"]) == (
        "touching",
        "0.00",
        "",
    )


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a"])
def test_no_name_is_a_formula(tmp_path: Path, name: str) -> None:
    with Log(tmp_path / "log.sqlite") as log:
        log.append(
            SessionStarted(
                game="ice_boule", players=("blue",), names={"blue": name}, started_utc=name
            ),
            0,
        )
    for command in ("scores", "gaps"):
        assert (
            rinkside(
                "log", command, tmp_path / "out.csv", "--log", tmp_path / "log.sqlite"
            ).exit_code
            == 0
        )
        assert not [
            cell
            for row in rows(tmp_path / "out.csv")
            for cell in row.values()
            if cell.startswith(("=", "+", "-", "@"))
        ]


@pytest.mark.parametrize("command", ["scores", "gaps"])
def test_what_cannot_be_written_leaves_nothing(log: Path, tmp_path: Path, command: str) -> None:
    for target in (tmp_path / "none" / "out.csv", tmp_path / "out.txt"):
        result = rinkside("log", command, target, "--log", log)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert [
        path.name
        for path in tmp_path.iterdir()
        if path.name.startswith("out") or ".out" in path.name
    ] == []


def test_statistics_go_by_name_over_sessions_and_leave_demos_out(log: Path) -> None:
    anna, blue, ben = sorted(
        json.loads(rinkside("log", "players", "--log", log, "--json").stdout),
        key=lambda row: row["player"] == "=Ben()",
    )
    assert (
        anna["player"],
        anna["games"],
        anna["won"],
        anna["drawn"],
        anna["points_for"],
        anna["points_against"],
    ) == ("Anna", 1, 1, 0, 13, 0)
    assert (anna["throws"], anna["median_gap_mm"]) == (14, 12.34)
    assert anna["best"] == {"gap_mm": 12.34, "sigma_mm": 0.1, "on_target": False}
    assert (
        ben["games"],
        ben["won"],
        ben["points_against"],
        ben["throws"],
        ben["median_gap_mm"],
    ) == (1, 0, 13, 53, 41.6)
    assert (blue["player"], blue["games"], blue["throws"]) == ("blue", 0, 1)


def test_statistics_in_words(log: Path) -> None:
    result = rinkside("log", "players", "--log", log)
    anna, blue, ben = (
        next(line for line in result.stdout.splitlines() if f" {player} " in line)
        for player in ("Anna", "blue", "=Ben()")
    )
    assert anna.split() == [
        "ice_boule",
        "Anna",
        "1",
        "1",
        "0",
        "13",
        "0",
        "14",
        "12.3",
        "mm",
        "12.3",
        "±",
        "0.2",
        "mm",
    ]
    assert blue.split()[-1] == "touching"
    assert ben.split()[-5:] == ["mm", "41.6", "±", "0.6", "mm"]
    simulated = json.loads(rinkside("log", "players", "--simulated", "--log", log, "--json").stdout)
    assert next(row for row in simulated if row["player"] == "blue")["won"] == 1


def test_sessions_that_were_taken_in_count_too(log: Path, tmp_path: Path) -> None:
    with LogReader(log) as reader, Log(tmp_path / "other.sqlite") as other:
        export_session(reader, 1, tmp_path / "one.zip")
        number = import_session(other, tmp_path / "one.zip").session
        taken, original = games_of(other, number, GAMES), games_of(reader, 1, GAMES)
    assert [(game.scores, game.winners, len(game.throws)) for game in taken] == [
        (game.scores, game.winners, len(game.throws)) for game in original
    ]
    assert (
        json.loads(rinkside("log", "players", "--log", tmp_path / "other.sqlite", "--json").stdout)[
            0
        ]["player"]
        == "Anna"
    )


def test_a_session_that_todays_rules_cannot_read_is_said_and_left_out(
    log: Path, tmp_path: Path
) -> None:
    with Log(log) as opened:
        session = opened.append(SessionStarted(game="ice_boule", players=("red",)), 0).session
        opened.append(
            VerdictReached(
                verdict="accepted", code="", message="", moves=("throw red out: nothing",)
            ),
            5,
            session,
        )
    result = rinkside("log", "scores", tmp_path / "out.csv", "--log", log)
    assert (result.exit_code, len(rows(tmp_path / "out.csv"))) == (0, 4)
    assert (
        f"skipped: {log}: session {session}: record {session + 1}: expected moves that are legal"
        in result.stderr
    )


def test_players_share_a_game_that_is_drawn(tmp_path: Path) -> None:
    """A round of Ice Storm in which nothing was taken."""
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(
            log, SessionStarted(game="ice_storm", players=("red", "blue", "green"))
        )
        while GAMES["ice_storm"].outcome(session.ledger.state) is None:
            session.append(
                VerdictReached(
                    verdict="accepted",
                    code="",
                    message="",
                    moves=(f"throw {session.ledger.state.next} off",),
                )
            )
    rows = json.loads(rinkside("log", "players", "--log", tmp_path / "log.sqlite", "--json").stdout)
    assert [(row["player"], row["games"], row["won"], row["drawn"]) for row in rows] == [
        (player, 1, 0, 1) for player in ("blue", "green", "red")
    ]
