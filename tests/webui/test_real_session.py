"""The panel over a real session on a real log: what is shown is what is on disk."""

from __future__ import annotations

import json
import re

import pytest

from referee.sessions.event_store import Log
from referee.sessions.events import Choice, QuestionAsked, SessionStarted, VerdictReached
from referee.sessions.session import Session
from tests.support import pegs
from webui import create_app
from webui.interfaces import LivePort, SessionPort


@pytest.fixture
def real(tmp_path, live):
    """A session of Pegs (tests/support/pegs.py) in which red and blue have each put one down."""
    with Log(tmp_path / "rinkside.log") as log:
        started = SessionStarted(
            game="pegs", players=("red", "blue"), camera="folder frames", names={"red": "Anna <A>"}
        )
        session = Session.begin(log, started, games={"pegs": pegs})
        session.tick(1250)
        for colour in ("red", "blue"):
            message = f"{colour} put one down."
            session.append(
                VerdictReached(
                    verdict="accepted",
                    code="pegs.put",
                    message=message,
                    player=colour,
                    moves=(colour,),
                ),
                live.picture,
            )
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
    assert state["seq"] == real.view().seq == 3
    assert client.get("/api/v1/frame/3.jpg").data == real.frame(3)


def test_undo_on_the_page_is_on_disk_and_back_on_the_page(client, real):
    assert send(client, command="undo", seen="3", decided_by="Ann").status_code == 303
    assert client.get("/api/v1/state").get_json()["scores"] == {"red": 1, "blue": 0}
    assert client.get("/api/v1/records?after=3").get_json()["records"][0]["fact"] == "undone"
    page = client.get("/").text
    assert "Ann undid this: blue put one down." in page
    assert page.count('class="is-void"') == 1
    assert send(client, command="undo", seen="3").status_code == 409
    assert real.view().seq == 4


def test_a_question_is_asked_answered_and_closed(client, real):
    choices = (Choice(label="it counts", moves=("red",)), Choice(label="it does not"))
    real.append(
        QuestionAsked(
            code="pegs.leans",
            message="Does the leaning piece count?",
            choices=choices,
            rests_on="Pegs",
        )
    )
    page = client.get("/").text
    assert "Does the leaning piece count?" in page
    assert re.findall(r'name="label" value="([^"]+)"', page) == ["it counts", "it does not"]
    assert send(client, command="answer", question="4", label="perhaps").status_code == 409
    assert send(client, command="answer", question="4", label="it counts").status_code == 303
    assert client.get("/api/v1/state").get_json()["scores"] == {"red": 2, "blue": 1}
    assert send(client, command="answer", question="4", label="it counts").status_code == 409


MISREAD = [
    {
        "read": {"colour": "red", "size": "small", "pose": "lying"},
        "x_mm": 1.0,
        "y_mm": 2.0,
        "true": None,
        "turned_deg": 0.0,
    }
]


def test_one_tap_says_that_a_piece_is_misread(client, real):
    label = "Nothing happened: no red piece is on e1"
    choices = (
        Choice(label=label, confirms_record=True),
        Choice(label="None of these: fix the table"),
    )
    evidence = {"misread": {label: MISREAD, choices[1].label: []}, "likeliest": True}
    real.append(
        QuestionAsked(
            code="pegs.wait",
            message="A red piece lies on e1.",
            choices=choices,
            evidence=evidence,
            withdrawn_if_table_changes=True,
        )
    )
    assert re.findall(r'name="label" value="([^"]+)"', client.get("/").text) == [
        label,
        "None of these: fix the table",
    ]
    assert send(client, command="answer", question="4", label=label).status_code == 303
    assert [(one.read.colour, one.true) for one in real.ledger.misread] == [("red", None)]
    assert "likeliest" not in client.get("/").text
    assert send(client, command="undo", seen="5").status_code == 303
    assert real.ledger.misread == ()


def test_a_table_that_nobody_waits_for_is_on_record_and_no_ruling(client, real):
    real.append(
        VerdictReached(
            verdict="waiting",
            code="pegs.wait",
            message="A green piece lies there.",
            evidence={"differences": ["A green piece lies there."]},
        )
    )
    page = client.get("/").text
    assert page.index("blue put one down.") < page.index("A green piece lies there."), (
        "it stands below, among what was said before"
    )
    newest, *_ = client.get("/api/v1/state").get_json()["verdicts"]
    assert (newest["verdict"], newest["call"], newest["sound"]) == ("waiting", "", "")


def test_pieces_that_people_put_right_count_without_moves(client, real):
    real.append(
        VerdictReached(verdict="waiting", code="pegs.wait", message="A red piece lies there.")
    )
    standing = len(real.ledger.standing)
    assert (
        send(
            client, command="correct", record="4", moves="", misread=json.dumps(MISREAD)
        ).status_code
        == 303
    )
    assert len(real.ledger.standing) == standing + 1
    assert [one.read.colour for one in real.ledger.misread] == ["red"]
    assert send(client, command="correct", record="4", moves="", misread="[{}]").status_code == 400


def test_a_correction_that_is_not_legal_is_refused_in_words(client, real):
    answer = send(client, command="correct", record="3", moves="red")
    assert answer.status_code == 409
    assert "not be legal" in answer.text
    assert real.view().seq == 3
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
    assert real.view().seq == 3
