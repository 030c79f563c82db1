"""`rinkside log` on a log written through its own door."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Answered,
    Choice,
    Corrected,
    QuestionAsked,
    Reopened,
    SessionEnded,
    SessionStarted,
    VerdictReached,
)
from table.messages import msg
from tests.support.hubs import play

JPEG = b"\xff\xd8 a picture \xff\xd9"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two sessions: the first with a ruling, a question, its answer and a correction, the second
    just begun.
    """
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        started = SessionStarted(
            game="ice_boule",
            players=("blue", "yellow"),
            started_utc="2026-11-21T14:00:00+00:00",
            simulated=True,
        )
        first = log.append(started, 0).session
        ruled = VerdictReached(
            verdict="accepted",
            code="boule.throw",
            message="blue throws and leads",
            rests_on="Play",
            player="blue",
            moves=("blue",),
        )
        log.append(ruled, 3250, first, JPEG)
        choices = (Choice(label="blue"), Choice(label="yellow"))
        asked = QuestionAsked(
            code="boule.too_close",
            message="Which is nearer?",
            choices=choices,
            rests_on="ruling ice_boule.2",
        )
        log.append(asked, 4500, first, JPEG)
        log.append(
            Answered(question=3, label="blue is nearer", how="order", decided_by="all [of us]"),
            9000,
            first,
        )
        log.append(
            Corrected(corrects=2, moves=(), decided_by="blue", message="nothing was thrown"),
            9500,
            first,
        )
        log.append(SessionEnded(reason="everybody went home"), 60000, first)
        log.append(SessionStarted(game="ice_boule", players=("red", "green")), 0)
    return path


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "160"})


def test_lists_every_session(log: Path) -> None:
    result = rinkside("log", "list", "--log", log)
    assert (result.exit_code, result.stderr) == (0, "")
    first, second = (line for line in result.stdout.splitlines() if "ice_boule" in line)
    assert all(word in first for word in ("1", "blue, yellow", "simulated", "0.9 min"))
    assert all(word in second for word in ("7", "red, green", "not ended"))


def test_list_as_json_is_one_document(log: Path) -> None:
    sessions = json.loads(rinkside("log", "list", "--log", log, "--json").stdout)
    assert [(row["session"], row["records"], row["frames"], row["ended"]) for row in sessions] == [
        (1, 6, 2, True),
        (7, 1, 0, False),
    ]


def test_shows_what_was_ruled_and_what_it_rests_on(log: Path) -> None:
    result = rinkside("log", "show", 1, "--log", log)
    assert (result.exit_code, result.stderr) == (0, "")
    for words in (
        "blue throws and leads",
        "ruling ice_boule.2",
        "3.25 s",
        "all [of us]",
        "nothing was thrown",
        "everybody went home",
    ):
        assert words in result.stdout


def test_shows_the_latest_session_unless_told_another(log: Path) -> None:
    assert [
        record["seq"]
        for record in json.loads(rinkside("log", "show", "--log", log, "--json").stdout)
    ] == [7]


def test_shows_records_whole_as_json(log: Path) -> None:
    records = json.loads(rinkside("log", "show", 1, "--log", log, "--json").stdout)
    assert [record["fact"] for record in records] == [
        "session_started",
        "ruled",
        "asked",
        "answered",
        "corrected",
        "session_ended",
    ]


def test_exports_records_and_pictures(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "session.zip"
    assert rinkside("log", "export", 1, target, "--log", log).exit_code == 0
    with zipfile.ZipFile(target) as archive:
        assert archive.read("frames/000002.jpg") == JPEG
        assert len(archive.read("records.jsonl").splitlines()) == 6


def test_an_export_that_cannot_be_written_leaves_nothing(log: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "none" / "session.zip", tmp_path / "session.tar"):
        result = rinkside("log", "export", 1, target, "--log", log)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert [
        path.name for path in tmp_path.iterdir() if not path.name.startswith("log.sqlite")
    ] == []


def test_takes_in_what_was_exported(tmp_path: Path) -> None:
    here, there, target = (
        tmp_path / "here.sqlite",
        tmp_path / "there.sqlite",
        tmp_path / "session.zip",
    )
    with Log(here) as log:
        first = log.append(SessionStarted(game="ice_boule", players=("blue", "yellow")), 0).session
        log.append(
            VerdictReached(verdict="refused", code="boule.throw", message="not yellow's turn"),
            250,
            first,
            JPEG,
        )
    rinkside("log", "export", 1, target, "--log", here)
    result = rinkside("log", "import", target, "--log", there)
    assert (result.exit_code, result.stdout) == (0, f"{target} is session 1 in {there}\n")
    assert json.loads(rinkside("log", "show", "--log", there, "--json").stdout) == json.loads(
        rinkside("log", "show", "--log", here, "--json").stdout
    )
    again = rinkside("log", "import", target, "--log", there)
    assert (again.exit_code, again.stdout, again.stderr.count("\n")) == (2, "", 1)


def test_an_unknown_session_is_refused_with_those_there_are(log: Path) -> None:
    result = rinkside("log", "show", 5, "--log", log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "1, 7" in result.stderr


def test_reads_the_log_in_the_data_folder_unless_told_another(log: Path, tmp_path: Path) -> None:
    (tmp_path / "rinkside").mkdir()
    log.rename(tmp_path / "rinkside" / "log.sqlite")
    result = CliRunner().invoke(
        main, ["log", "list", "--json"], env={"XDG_DATA_HOME": str(tmp_path)}
    )
    assert len(json.loads(result.stdout)) == 2


def test_a_session_that_went_on_after_a_restart_says_so_and_who_plays(tmp_path: Path) -> None:
    with Log(tmp_path / "log.sqlite") as opened:
        session = opened.append(
            SessionStarted(game="ice_boule", players=("red", "green"), names={"red": "Anna [A]"}), 0
        ).session
        opened.append(Reopened(camera="v4l2 0"), 10, session)
    shown = rinkside("log", "show", "--log", tmp_path / "log.sqlite").stdout
    assert "Rinkside was started again" in shown
    assert (
        "Anna [A] (red), green" in rinkside("log", "list", "--log", tmp_path / "log.sqlite").stdout
    )


def test_the_sessions_of_no_log_are_refused_before_a_page_is_served(tmp_path):
    result = rinkside("sessions", "--log", tmp_path / "log.sqlite", "--port", 0)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"rinkside: {tmp_path}")
    assert "there is no such file" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "environment"), [(("--language", "de"), {}), ((), {"RINKSIDE_LANGUAGE": "de"})]
)
def test_rulings_are_told_in_the_language_that_is_set(tmp_path, arguments, environment):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        session = log.append(SessionStarted(game="ice_boule", players=("blue", "red")), 0).session
        throws = msg("{player} throws next.", player="blue")
        ruled = VerdictReached(verdict="accepted", code="boule.throw", message=throws)
        log.append(ruled, 1000, session)
    shown = CliRunner().invoke(
        main, [*arguments, "log", "show", "--log", str(path)], env=environment | {"COLUMNS": "160"}
    )
    assert "Blau wirft als Nächstes." in shown.output
    documents = CliRunner().invoke(
        main, [*arguments, "log", "show", "--json", "--log", str(path)], env=environment
    )
    assert json.loads(documents.output)[1]["said"] == "Blue throws next.", "for programs, English"
    english = CliRunner().invoke(main, ["log", "show", "--log", str(path)])
    assert "Blue throws next." in english.output


def test_games_are_written_as_text_and_played_again(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        play(log, "ice_storm", 3, 60)
        play(log, "icebreaker", 4, 60)
    out = tmp_path / "games.txt"
    written = rinkside("log", "games", str(out), "--log", str(tmp_path / "log.sqlite"))
    assert written.exit_code == 0, written.output
    text = out.read_text()
    assert text.count("[Result ") == int(written.output.split()[-1]) > 1
    assert '[Red "Anna"]' in text
    checked = rinkside("log", "check-games", str(out))
    assert checked.output == f"Games that come to what they say: {text.count('[Result ')}\n"
    out.write_text(text.replace('[Scores "', '[Scores "1', 1))
    wrong = rinkside("log", "check-games", str(out))
    assert (wrong.exit_code, wrong.output.count("\n")) == (2, 1)
    assert "games.txt: game 1: expected moves that come to" in wrong.output
    out.write_bytes(b"\xff\xfe")
    assert "it is not text" in rinkside("log", "check-games", str(out)).output
