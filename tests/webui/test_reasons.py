"""Why a camera or a device does not work, on pages in another language."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from hardware.backends.microcontroller import BAUD
from hardware.backends.serial_port import open_port
from hardware.lamp_thread import loss_reason
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from simulation.camera import open_camera as simulated
from table.errors import InputError
from table.messages import phrase
from tests.support import pegs
from tests.support.setups import setup_of
from vision.cameras.base import open_camera
from webui import create_app

GERMAN, SPANISH = {"Accept-Language": "de"}, {"Accept-Language": "es"}


@pytest.fixture
def begun(tmp_path):
    """begun(camera): a session of Pegs that this camera sees, read back from its log."""
    opened = []

    def begin(camera):
        with Log(tmp_path / "rinkside.log") as log:
            started = SessionStarted(game="pegs", players=("red", "blue"), camera=camera.name)
            Session.begin(log, started, games={"pegs": pegs}).close()
        again = Log(tmp_path / "rinkside.log")
        opened.extend((again, Session.reopen(again, 1, games={"pegs": pegs})))
        return opened[-1]

    yield begin
    for one in reversed(opened):
        one.close()


def test_a_camera_that_is_missing_is_told_on_the_panel_in_the_language_of_the_page(
    begun, tmp_path, as_host
):
    camera = open_camera(f"v4l2:{tmp_path}/video7", None)
    session, stopping, pages = begun(camera), threading.Event(), []

    def pause(_seconds):
        pages.extend(client.get("/", headers=wanted).text for wanted in (GERMAN, SPANISH, {}))
        stopping.set()

    referee = Referee(camera, setup_of(), lambda *_: None, session, pause=pause, stopping=stopping)
    client = as_host(create_app(session, referee))
    referee.run()
    german, spanish, english = pages
    assert (
        f"Kamera verloren (Kamera {tmp_path}/video7 nicht gefunden; einstecken). Das Spiel"
        " wartet; neuer Versuch in 0,5 s."
    ) in german
    assert f"Cámara perdida (cámara {tmp_path}/video7 no encontrada; enchufarla)." in spanish
    assert (
        f"Camera lost (camera {tmp_path}/video7 not found; plug it in). The game is waiting;"
        " trying again in 0.5 s."
    ) in english
    assert "Kamera: Kamera video7." in german, "its name, as the log kept it"
    assert "Camera: camera video7." in english


def test_the_simulated_camera_has_a_name_in_every_language(begun, live, as_host):
    session = begun(simulated("7", live.setup))
    client = as_host(create_app(session, live))
    assert ": simulierte Kamera" in client.get("/", headers=GERMAN).text
    assert ": cámara simulada" in client.get("/", headers=SPANISH).text
    assert ": simulated camera" in client.get("/").text
    assert client.get("/api/v1/state").get_json()["camera"] == "simulated camera"


def test_a_name_with_a_number_is_kept_as_it_was_made(begun, live, as_host):
    session = begun(SimpleNamespace(name=phrase("simulated table {n}", n=12)))
    page = as_host(create_app(session, live)).get("/", headers=GERMAN).text
    assert ": simulierter Tisch 12" in page


def test_why_a_device_does_not_work_is_told_on_the_host_s_page(session, live, as_host):
    with pytest.raises(InputError) as lost:
        open_port("/dev/not-there", BAUD, "hardware.board")
    devices = {"lamps": loss_reason(lost.value), "buttons": "", "buzzer": "", "voice": ""}
    host = as_host(create_app(session, live, devices=lambda: devices))
    german = host.get("/host", headers=GERMAN).text
    assert "hardware.board: erwartet wird ein serieller Anschluss dieser Maschine" in german
    assert "<dt>Knöpfe</dt>" in german
    assert "<dt>Summer</dt>" in german
    assert '<span lang="en">' not in german
    assert "se espera un puerto serie de esta máquina" in host.get("/host", headers=SPANISH).text
    assert str(lost.value).startswith("hardware.board: expected a serial port of this machine, got")
