"""`rinkside referee`: a film of a few frames, observed by hand, refereed to the end."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from cli.referee import verdict_document
from hardware.testing.fake_serial import SerialDouble, WledFirmware
from referee.live.supervisor import Supervisor
from referee.sessions.event_store import LogReader
from referee.sessions.events import ComputerChose, Record
from table.messages import msg
from table.observation import Observation
from table.table_config import Setup, save_table
from tests.support.films import cut, film
from tests.support.observed_boule import SETUP, observe
from vision.cameras.frame import Frame


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("referee.live.referee_factory.Watch", lambda: observe)
    save_table(SETUP, tmp_path / "table.json")
    (tmp_path / "frames").mkdir()
    (tmp_path / "inputs.jsonl").write_text("\n")
    for at_ms in range(0, 5000, 250):
        assert cv2.imwrite(
            str(tmp_path / "frames" / f"{at_ms:09d}.jpg"),
            np.full((64, 64, 3), at_ms // 40, np.uint8),
        )
    return tmp_path


def referee(folder: Path, *words: str) -> Result:
    table, frames, inputs = (
        str(folder / name) for name in ("table.json", "frames", "inputs.jsonl")
    )
    game = ["--game", "ice_boule", "--players", "red,green"]
    return CliRunner().invoke(
        main,
        [
            "referee",
            "--table",
            table,
            "--camera",
            f"folder:{frames}",
            *game,
            "--inputs",
            inputs,
            *words,
        ],
    )


def test_prints_a_record_a_line_on_the_films_own_clock(folder: Path) -> None:
    result = referee(folder, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [
        (record["verdict"], record["code"].split(".")[0], record["t_ms"]) for record in records
    ] == [
        ("accepted", "boule", 1500),
        ("accepted", "boule", 2500),
        ("accepted", "boule", 3500),
        ("ambiguous", "boule", 4500),
    ]
    assert [record["player"] for record in records[1:3]] == ["red", "green"]
    throw = records[2]
    assert throw["played"].startswith("throw green large 30.0")
    assert (
        throw["state"]["leading"],
        throw["state"]["next"],
        throw["state"]["points_if_over"],
    ) == ("green", "red", 1)
    assert len(records[3]["choices"]) >= 2


def test_says_it_in_words(folder: Path) -> None:
    result = referee(folder)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 4
    assert "3.50 s  accepted: " in result.stdout


def test_keeps_the_log_where_it_is_told(folder: Path) -> None:
    assert referee(folder, "--log", str(folder / "kept.sqlite")).exit_code == 0
    with LogReader(folder / "kept.sqlite") as log:
        (session,) = log.sessions()
        assert (session.rulings, session.frames, session.ended) == (3, 4, True)
        started, *_ = log.records()
        assert started.event.table == json.loads((folder / "table.json").read_text())


def test_a_film_cut_short_is_refereed_to_its_end_and_ends_with_exit_code_3(folder: Path) -> None:
    words = ["referee", "--table", str(folder / "table.json"), "--players", "red,green"]
    whole = film(folder / "whole.avi", "MJPG", frames=20, size=(64, 64), rate=4.0)
    done = CliRunner().invoke(main, [*words, "--camera", f"video:{whole}"])
    assert (done.exit_code, done.stderr, len(done.stdout.splitlines())) == (0, "", 4)
    short = cut(film(folder / "short.avi", "MJPG", frames=20, size=(64, 64), rate=4.0), 0.65)
    message = "short.avi: expected 20 pictures, as the video says, could read only "
    in_words = CliRunner().invoke(main, [*words, "--camera", f"video:{short}"])
    assert in_words.exit_code == 3
    assert in_words.stdout.splitlines() == done.stdout.splitlines()[:2]
    assert message in in_words.stderr
    assert len(in_words.stderr.splitlines()) == 1
    in_json = CliRunner().invoke(main, [*words, "--camera", f"video:{short}", "--json"])
    *records, last = [json.loads(line) for line in in_json.stdout.splitlines()]
    assert (in_json.exit_code, [record["verdict"] for record in records], list(last)) == (
        3,
        ["accepted", "accepted"],
        ["incomplete"],
    )
    assert message in last["incomplete"]


def test_a_broken_picture_in_the_film_is_one_line_after_what_was_ruled_before(folder: Path) -> None:
    (folder / "frames" / "000002750.jpg").write_bytes(b"not a picture")
    result = referee(folder, "--json")
    assert (result.exit_code, len(result.stdout.splitlines()), result.stderr.count("\n")) == (
        2,
        2,
        1,
    )
    assert "000002750.jpg" in result.stderr


def fails(monkeypatch: pytest.MonkeyPatch, *at_ms: int) -> None:
    """Eyes that fail at these pictures, with what no code expects."""

    def look(frame: Frame, *_: object) -> Observation:
        if frame.at_ms in at_ms:
            raise ZeroDivisionError("no such table")
        return observe(frame, SETUP)

    monkeypatch.setattr("referee.live.referee_factory.Watch", lambda: look)


def test_a_referee_that_fails_in_the_middle_rules_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [json.loads(line)["code"] for line in referee(folder, "--json").stdout.splitlines()]
    fails(monkeypatch, 2750)
    result = referee(folder, "--json")
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    assert (
        "rinkside: the referee failed (ZeroDivisionError: no such table, test_referee.py:"
        in result.stderr
    )
    assert [json.loads(line)["code"] for line in result.stdout.splitlines()] == expected


def test_a_referee_that_fails_again_and_again_ends_with_exit_code_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails(monkeypatch, 2750, 3000, 3250)
    result = referee(folder, "--json", "--log", str(folder / "log.sqlite"))
    assert (result.exit_code, len(result.stdout.splitlines())) == (2, 2)
    *failed, halted = result.stderr.splitlines()
    assert len(failed) == 2
    assert (
        "failed 3 times within a minute (ZeroDivisionError: no such table) and has stopped"
        in halted
    )
    with LogReader(folder / "log.sqlite") as log:
        assert [type(record.event).__name__ for record in log.records()] == [
            "SessionStarted",
            "VerdictReached",
            "VerdictReached",
            "Reopened",
            "Reopened",
        ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"t_ms": 5200, "player": "red", "die": 5}', "the keys player, stop"),
        ('{"t_ms": 1, "player": "red", "stop": 1}', "true"),
        ('{"player": "red", "stop": true}', "t_ms"),
        ('{"t_ms": "soon", "player": "red", "stop": true}', "a whole number"),
        ("stop", "expected JSON"),
        ("[1]", "a JSON object"),
    ],
)
def test_inputs_that_the_game_does_not_understand_are_one_line(
    folder: Path, line: str, expected: str
) -> None:
    (folder / "inputs.jsonl").write_text(f"\n{line}\n")
    result = referee(folder, "--json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "inputs.jsonl: line 2" in result.stderr
    assert expected in result.stderr


def test_what_was_heard_is_judged_at_its_own_time(folder: Path) -> None:
    (folder / "inputs.jsonl").write_text(
        '{"t_ms": 3300, "player": "green", "stop": true}\n{"t_ms": 2900, "player": "red", "stop":'
        " true}\n"
    )
    records = [json.loads(line) for line in referee(folder, "--json").stdout.splitlines()]
    assert [(record["t_ms"], record["verdict"], record["player"]) for record in records[2:4]] == [
        (2900, "refused", "red"),
        (3300, "refused", "green"),
    ]


def test_lamps_follow_what_settings_name(folder: Path, tmp_path: Path) -> None:
    strip = SerialDouble(tmp_path / "tty", WledFirmware(60))
    (tmp_path / "rinkside.toml").write_text(
        f'[hardware.lamps]\nkind = "wled"\ndevice = "{strip.path}"\nleds = 60\n'
    )
    result = referee(folder, "--json", "--settings", str(tmp_path / "rinkside.toml"))
    strip.pump()
    strip.unplug()
    assert (result.exit_code, result.stderr, len(result.stdout.splitlines())) == (0, "", 4)
    assert strip.firmware.shown >= 2
    assert set(strip.firmware.pixels) == {(0, 0, 0)}, "dark in the end"


def test_a_collection_of_garbage_holds_no_game_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was loaded before is not gone through again while the referee looks on."""
    through: list[int] = []

    def observe_and_count(
        frame: Frame, setup: Setup, reference: Frame | None = None
    ) -> Observation:
        through.append(len(gc.get_objects()))
        return observe(frame, setup, reference)

    before = len(gc.get_objects())
    monkeypatch.setattr("referee.live.referee_factory.Watch", lambda: observe_and_count)
    assert referee(folder, "--json").exit_code == 0
    assert max(through) < before / 5
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_the_log_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    stopped = threading.Event()

    def observe_and_wait(frame: Frame, setup: Setup, reference: Frame | None = None) -> Observation:
        """The fifteenth picture comes only when the signal was taken."""
        if frame.seq == 14:
            os.kill(os.getpid(), number)
            assert stopped.wait(20)
        return observe(frame, setup, reference)

    def stop(self: Supervisor) -> None:
        stopped.set()
        usual(self)

    usual = Supervisor.stop
    monkeypatch.setattr(Supervisor, "stop", stop)
    monkeypatch.setattr("referee.live.referee_factory.Watch", lambda: observe_and_wait)
    result = referee(folder, "--json", "--log", str(folder / "log.sqlite"))
    assert (result.exit_code, result.stderr, len(result.stdout.splitlines())) == (0, "", 3)
    with LogReader(folder / "log.sqlite") as log:
        assert log.records(1)[-1].event.reason == "Rinkside was ended"


def test_bad_settings_are_told_before_anything_begins(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "rinkside.toml").write_text('[hardware.lamps]\nkind = "lava"\n')
    result = referee(
        folder, "--settings", str(tmp_path / "rinkside.toml"), "--log", str(tmp_path / "log.sqlite")
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        "rinkside: rinkside.toml: hardware.lamps.kind: expected gpio, board, wled, wled-presets,"
        " wled-network, wled-network-presets, fake, got"
    )
    assert not (tmp_path / "log.sqlite").exists()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("red", "--computer: Ice Boule has no computer player"),
        ("red:genius", "--computer: expected a colour and a strength (beginner, club, strong)"),
        (":club", "--computer: expected a colour and a strength"),
    ],
)
def test_a_computer_player_that_cannot_be_is_one_line(
    folder: Path, word: str, message: str
) -> None:
    result = referee(folder, "--computer", word)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_a_computer_player_wants_is_a_line_with_its_move() -> None:
    wish = ComputerChose(
        player="red", strength="club", move="A1-B2", message=msg("It moves."), seed=3
    )
    assert verdict_document(Record(seq=4, session=1, at_ms=250, event=wish)) == {
        "t_ms": 250,
        "verdict": "wish",
        "player": "red",
        "strength": "club",
        "move": "A1-B2",
        "said": "It moves.",
        "rests_on": "",
    }
