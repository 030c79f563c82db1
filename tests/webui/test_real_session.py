"""The panel over a real session on a real log: what is shown is what is on disk."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from referee.events import Asked, Choice, Ruled, SessionStarted
from referee.log import Log
from referee.session import Session
from webui import create_app
from webui.ports import LivePort, SessionPort


@pytest.fixture
def real(tmp_path, live):
    """A session of Pegs (tests/referee/pegs.py) in which red and blue have each put one down."""
    spec = importlib.util.spec_from_file_location("pegs", Path(__file__).parents[1] / "referee" / "pegs.py")
    pegs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pegs)
    with Log(tmp_path / "rinkside.log") as log:
        started = SessionStarted(game="pegs", players=("red", "blue"), camera="folder frames", names={"red": "Anna <A>"})
        session = Session.begin(log, started, games={"pegs": pegs})
        session.tick(1250)
        for colour in ("red", "blue"):
            said = f"{colour} put one down."
            session.append(Ruled(verdict="accepted", code="pegs.put", said=said, player=colour, moves=(colour,)), live.picture)
        yield session
        session.close()


@pytest.fixture
def client(real, live, as_host):
    ports: tuple[SessionPort, LivePort] = (real, live)
    return as_host(create_app(*ports))


def send(client, **form):
    return client.post("/command", data=form, headers={"Sec-Fetch-Site": "same-origin"})


def test_the_page_and_the_state_are_the_session_s(client, real):
    page = client.get("/").text
    assert "blue put one down." in page
    assert 'src="/api/v1/frame/3.jpg"' in page
    assert "Anna &lt;A&gt; (red)" in page
    state = client.get("/api/v1/state").get_json()
    assert state["scores"] == {"red": 1, "blue": 1}
    assert state["seq"] == real.view()["seq"] == 3
    assert client.get("/api/v1/frame/3.jpg").data == real.frame(3)


def test_undo_on_the_page_is_on_disk_and_back_on_the_page(client, real):
    assert send(client, command="undo", seen="3", decided_by="Ann").status_code == 303
    assert client.get("/api/v1/state").get_json()["scores"] == {"red": 1, "blue": 0}
    assert client.get("/api/v1/records?after=3").get_json()["records"][0]["fact"] == "undone"
    page = client.get("/").text
    assert "Ann took back record 3." in page
    assert page.count('class="is-void"') == 1
    assert send(client, command="undo", seen="3").status_code == 409
    assert real.view()["seq"] == 4


def test_a_question_is_asked_answered_and_closed(client, real):
    choices = (Choice(label="it counts", moves=("red",)), Choice(label="it does not"))
    real.append(Asked(code="pegs.leans", said="Does the leaning piece count?", choices=choices, rests_on="Pegs"))
    page = client.get("/").text
    assert "Does the leaning piece count?" in page
    assert re.findall(r'name="label" value="([^"]+)"', page) == ["it counts", "it does not"]
    assert send(client, command="answer", question="4", label="perhaps").status_code == 409
    assert send(client, command="answer", question="4", label="it counts").status_code == 303
    assert client.get("/api/v1/state").get_json()["scores"] == {"red": 2, "blue": 1}
    assert send(client, command="answer", question="4", label="it counts").status_code == 409


def test_a_correction_that_is_not_legal_is_refused_in_words(client, real):
    answer = send(client, command="correct", record="3", moves="red")
    assert answer.status_code == 409
    assert "not legal" in answer.text
    assert real.view()["seq"] == 3
    assert send(client, command="correct", record="3", moves="").status_code == 303


def test_the_stream_ends_with_the_session_and_numbers_are_the_log_s(client, real):
    real.close()
    with client.get("/api/v1/stream?after=1") as answer:
        assert answer.text.startswith("event: hello")
    assert "id:" not in answer.text


def test_the_stream_catches_up_from_the_log(client, real):
    with client.get("/api/v1/stream", headers={"Last-Event-ID": "1"}) as answer:
        stream = answer.iter_encoded()
        heard = [next(stream).decode() for _ in range(3)]
    assert [text.split("\n")[0] for text in heard] == ["event: hello", "id: 2", "id: 3"]
    assert real.view()["seq"] == 3
