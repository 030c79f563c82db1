"""What programs that watch Rinkside are told: is it well, and how much it does."""

from __future__ import annotations

import builtins
import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from referee.live.game_setup import SettingUp
from referee.sessions.event_store import Log
from referee.sessions.events import VerdictReached
from referee.sessions.status import LiveState, Seen
from referee.statistics.history import HistoryCache
from tests.support.home_standins import StandInHome, StandInSetUp
from tests.support.panel_standins import STORM, FakeLive, FakeSession, FakeTable, keep_sessions
from vision.cameras.frame import Frame
from webui import create_app, create_first_set_up_app, create_home_app, create_set_up_app
from webui.interfaces import HomeNow
from webui.pages.health import GameMetrics
from webui.security.codes import Codes
from webui.security.permissions import Access

parser = pytest.importorskip("prometheus_client.openmetrics.parser")

OPEN_METRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


@pytest.fixture
def session():
    return FakeSession()


@pytest.fixture
def live():
    return FakeLive()


@pytest.fixture
def devices():
    return {}


@pytest.fixture
def browser(session, live, devices):
    return create_app(session, live, devices=lambda: devices).test_client()


def samples(browser):
    """Every sample by name and labels, as a strict reader of OpenMetrics reads them."""
    answer = browser.get("/metrics", headers=OPEN_METRICS)
    assert answer.status_code == 200, answer.text
    assert answer.content_type.startswith("application/openmetrics-text; version=1.0.0")
    families = list(parser.text_string_to_metric_families(answer.text))
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_game_is_well_while_the_referee_can_work(browser, live):
    answer = browser.get("/healthz")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert answer.text == "ok: Waiting for the next throw or move.\n"
    live.become(status="cannot see", message="Marker 2 is covered.")
    assert browser.get("/healthz").status_code == 200, "people may just lean over the table"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"status": "camera lost", "message": "No camera.\x1b[2J"}, "not well: No camera. [2J\n"),
        ({"status": "stopped", "message": "The disk is full."}, "not well: The disk is full.\n"),
        ({"error": "It failed."}, "not well: It failed.\n"),
    ],
)
def test_a_game_that_cannot_go_on_is_not_well(browser, live, changed, says):
    live.become(**changed)
    answer = browser.get("/healthz")
    assert (answer.status_code, answer.text) == (503, says)


def test_anybody_may_read_both_and_send_nothing(browser):
    for path in ("/healthz", "/metrics"):
        assert browser.get(path).status_code == 200
        assert browser.post(path).status_code in (403, 405)
        assert browser.get(path, headers={"Host": "elsewhere.example"}).status_code == 421


def test_what_a_game_does_is_counted(browser, session, live, devices):
    live.seen = Seen(1200, 1100, 0.0)
    devices |= {"lamps": "", "mqtt": "the connection is lost"}
    before = samples(browser)
    assert before["rinkside_game_running",] == 1
    assert before["rinkside_pictures_total",] == 1200
    assert before["rinkside_readings_total",] == 1100
    assert before["rinkside_last_picture_age_seconds",] > 0
    assert before["rinkside_camera_trouble",] == 0
    assert before["rinkside_questions_open",] == 0
    assert before["rinkside_verdicts_total", ("kind", "accepted")] == len(session.kept)
    assert before["rinkside_device_up", ("part", "lamps")] == 1
    assert before["rinkside_device_up", ("part", "mqtt")] == 0
    assert before["process_resident_memory_bytes",] > 0
    live.become(status="cannot see")
    refused = VerdictReached(verdict="refused", code="boule.throw", message="No.", player="blue")
    session.kept.append(replace_event(session.kept[-1], refused))
    after = samples(browser)
    assert after["rinkside_camera_trouble",] == 1
    assert after["rinkside_verdicts_total", ("kind", "accepted")] == len(session.kept) - 1
    assert after["rinkside_verdicts_total", ("kind", "refused")] == 1


def replace_event(record, event):
    return type(record)(seq=record.seq + 1, session=1, at_ms=0, event=event, frame=False)


def test_the_age_of_a_picture_is_that_of_the_last(session):
    now_s = [10.0]
    live = LiveState(clock=lambda: now_s[0])
    assert live.seen == Seen()
    picture = FakeLive().latest.observation
    live.see(Frame(0, 0, blank()), None)
    now_s[0] = 12.5
    live.see(Frame(1, 40, blank()), picture)
    assert live.seen == Seen(2, 1, 12.5)
    now_s[0] = 20.0
    metrics = GameMetrics(session, Watched(live), dict, None, clock=lambda: now_s[0])
    (age,) = [one for one in metrics.collect() if one.name.endswith("_age_seconds")]
    assert age.samples[0].value == 7.5


def blank():
    return np.zeros((4, 4, 3), np.uint8)


class Watched:
    def __init__(self, live):
        self.latest, self.seen = live.latest, live.seen


def test_a_real_session_and_its_log(tmp_path):
    with Log(tmp_path / "log") as log:
        _, storm, _ = keep_sessions(log, FakeLive())
        histories = HistoryCache(tmp_path / "log")
        browser = create_app(storm, FakeLive(), histories=histories).test_client()
        found = samples(browser)
        assert found["rinkside_verdicts_total", ("kind", "accepted")] == len(STORM)
        size = sum(path.stat().st_size for path in tmp_path.glob("log*") if "shm" not in path.name)
        assert found["rinkside_event_store_bytes",] == pytest.approx(size, rel=0.01)


def test_no_label_and_no_help_names_a_player(browser, session):
    session.shown["names"] = {"blue": "Anna", "yellow": "Ben"}
    text = browser.get("/metrics").text
    assert "Anna" not in text
    assert "yellow" not in text
    assert {*re.findall(r"[{,](\w+)=", text)} <= {"kind", "part", "version"}


def test_names_and_units_are_as_prometheus_wants_them(browser, live):
    """Source: prometheus.io, "Metric and label naming"."""
    live.seen = Seen(1, 1, 0.0)
    text = browser.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    helped = set(re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE))
    assert set(kinds) == helped
    for name, kind in kinds.items():
        assert re.fullmatch(r"(?:rinkside|process)_[a-z_]+", name)
        assert (kind == "counter") == name.endswith("_total")
        assert not re.search(r"_(?:ms|milliseconds|kb|mb|minutes|percent)$", name)


def test_many_may_ask_at_once_and_nothing_is_counted_twice(session, live):
    metrics = GameMetrics(session, live, dict, None)
    asking = [threading.Thread(target=lambda: list(metrics.collect())) for _ in range(8)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    (verdicts,) = [one for one in metrics.collect() if one.name == "rinkside_verdicts"]
    assert sum(sample.value for sample in verdicts.samples) == len(session.kept)


def test_the_home_page_answers_while_no_game_runs():
    home = StandInHome()
    browser = create_home_app(home, Access(Codes())).test_client()
    assert browser.get("/healthz").text == "ok: The home page is open; no game is running.\n"
    assert samples(browser)["rinkside_game_running",] == 0
    home.now = HomeNow(starting="play")
    assert browser.get("/healthz").text == "ok: A game is starting.\n"
    home.now = replace(home.now, over=True)
    assert browser.get("/healthz").status_code == 503


def test_it_is_well_while_a_game_or_a_table_is_set_up(live):
    game = create_set_up_app(SettingUp(lambda choice: choice), FakeTable(live), Access(Codes()))
    table = create_first_set_up_app(StandInSetUp(), bool, print, Access(Codes()))
    for app, what in ((game, "game"), (table, "table")):
        browser = app.test_client()
        assert browser.get("/healthz").text == f"ok: The {what} is being set up on its page.\n"
        assert samples(browser)["rinkside_game_running",] == 0


def test_without_prometheus_client_one_line_says_what_to_do(browser, monkeypatch):
    real = builtins.__import__

    def not_there(name, *words, **named):
        if name.startswith("prometheus_client"):
            raise ImportError(name)
        return real(name, *words, **named)

    monkeypatch.setattr(builtins, "__import__", not_there)
    answer = browser.get("/metrics")
    assert answer.status_code == 404
    assert "pip install 'rinkside[metrics]'" in answer.json["error"]["said"]
    assert browser.get("/healthz").status_code == 200
