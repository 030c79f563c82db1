"""What commands tell of cameras, devices and files on the terminal, in the language that is set."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cli import terminal
from cli.main import main
from cli.options import complain
from tests.support.live_cameras import Scripted, live
from tests.support.pictures import TABLE
from vision.cameras.base import CameraLost, open_camera
from vision.cameras.reconnect import AnnouncedCamera


@pytest.fixture
def spoken(monkeypatch):
    """spoken("de"): what is told on the terminal is in this language."""
    return lambda code: monkeypatch.setattr(terminal, "_language", code)


def run(code, *words):
    """Exit code and output of a command whose language the environment names."""
    done = CliRunner().invoke(main, [*map(str, words)], env={"RINKSIDE_LANGUAGE": code})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_a_lost_camera_is_told_in_the_language_of_the_terminal(spoken, capsys, tmp_path):
    spoken("de")
    camera = AnnouncedCamera(open_camera(f"v4l2:{tmp_path}/video7", None), complain)
    with pytest.raises(CameraLost, match="not found; plug it in"):
        camera.read()
    assert capsys.readouterr().err == (
        f"rinkside: Kamera verloren (Kamera {tmp_path}/video7 nicht gefunden; einstecken);"
        " neuer Versuch\n"
    )


def test_a_driver_s_own_words_stay_as_they_are(spoken, capsys):
    spoken("es")
    camera = AnnouncedCamera(live(Scripted(OSError("no such control"))), complain)
    with pytest.raises(CameraLost):
        camera.read()
    errors = capsys.readouterr().err
    assert "cámara perdida (test camera: OSError: no such control)" in errors


def test_the_list_of_devices_says_what_is_wrong_in_the_language_that_is_set(tmp_path):
    (tmp_path / "rinkside.toml").write_text(
        '[hardware]\nlamps = { kind = "wled", device = "/dev/not-there", leds = 60 }\n'
    )
    code, message = run("es", "hardware", "list", "--settings", tmp_path / "rinkside.toml")
    assert code == 1
    assert (
        "lámparas: hardware.lamps.device: se espera un puerto serie de esta máquina, se indica"
        " '/dev/not-there', que no existe ("
    ) in message


@pytest.mark.parametrize(
    ("code", "usage", "unknown"),
    [
        ("de", "Aufruf: main rules", "Die Option '--nope' gibt es nicht. Hilfe: main rules --help"),
        ("es", "Uso: main rules", "La opción '--nope' no existe. Ayuda: main rules --help"),
        ("en", "Usage: main rules", "No such option '--nope'. See main rules --help"),
    ],
)
def test_help_and_what_is_wrong_with_a_command_line_are_in_the_language_that_is_set(
    code, usage, unknown
):
    assert run(code, "rules", "--help")[1].startswith(usage)
    assert run(code, "rules", "--nope") == (2, f"rinkside: {unknown}\n")


def test_the_language_of_a_command_line_counts_for_its_own_help():
    assert run("es", "--language", "de", "--help")[1].startswith("Aufruf: main")


def test_a_command_ends_with_its_line_in_the_language_that_is_set(tmp_path):
    missing = tmp_path / "table.json"
    words = ("play", "--table", missing, "--camera", "simulated:7")
    assert run("de", *words) == (
        2,
        f"rinkside: {missing}: erwartet wird eine JSON-Datei, aber das ist nicht zu lesen (No such"
        " file or directory)\n",
    )
    assert run("es", *words)[1].startswith(f"rinkside: {missing}: se espera un archivo JSON, pero")
    assert run("en", *words)[1] == (
        f"rinkside: {missing}: expected a JSON file, but it cannot be read (No such file or"
        " directory)\n"
    )


@pytest.mark.parametrize(
    ("words", "german"),
    [
        (("rules", "chess"), "erwartet wird ein Spiel ("),
        (("log", "show", "--log", "nowhere"), "nowhere: erwartet wird ein Protokoll, aber es gibt"),
        (
            ("print", "charuco", "--out", "sheet.png"),
            "sheet.png: erwartet wird ein Name, der auf .pdf endet",
        ),
        (
            ("calibrate", "lens", "--from", "nowhere", "--out", "lens.json"),
            "--from: erwartet wird ein Ordner mit Fotos, angegeben ist nowhere",
        ),
    ],
)
def test_a_mistake_of_each_command_is_told_in_the_language_that_is_set(words, german):
    code, error = run("de", *words)
    assert code == 2
    assert error.startswith(f"rinkside: {german}")


def test_a_value_that_is_wrong_in_a_file_is_told_in_the_language_that_is_set(tmp_path):
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE | {"format": 7, "board": {"kind": "go"}}))
    _, error = run("es", "measure", "photo.jpg", "--table", path)
    assert error == (
        "rinkside: table.json: format: se espera 'rinkside-table/1', se indica 7; quizá lo escribió"
        " un Rinkside más nuevo\n"
    )
    path.write_text(json.dumps({name: TABLE[name] for name in TABLE if name != "game"}))
    _, error = run("de", "measure", "photo.jpg", "--table", path)
    assert error == "rinkside: table.json: game: erwartet wird ein Wert, gefunden wurde nichts\n"
