"""The page and its forms, as a browser gets them."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from referee.sessions.commands import Answer, Correct, Declare, NextGame, Pause, Resume, Undo
from referee.sessions.event_store import LogFailed
from table.errors import InputError

STATUSES = [
    "waiting",
    "hand over the board",
    "settling",
    "ruling",
    "asking",
    "out of sync",
    "paused",
    "cannot see",
    "camera lost",
    "stopped",
    "ended",
]


def token(client):
    return re.search(r'name="token" value="([^"]+)"', client.get("/").text)[1]


def send(client, **form):
    return client.post("/command", data={"token": token(client)} | form)


def test_the_page_says_whose_throw_it_is_the_score_the_verdict_and_its_rule(client):
    page = client.get("/").text
    assert re.search(r"<span>Blue</span>\s*<span class=\"verb\">throws", page)
    assert re.findall(r'class="points">(\d+)', page) == ["3", "5"]
    assert "Yellow&#39;s piece lies 21.6 ± 0.3 mm from the target." in page
    assert "Play; house rule ice_boule.1" in page
    assert 'src="/api/v1/frame/16.jpg"' in page


def test_ranking_has_every_gap_with_its_95_percent_interval(client, session):
    page = client.get("/").text
    shown = re.findall(r'<td class="number">([^<]+)</td>', page)
    assert shown == [f"{round(row['gap_mm'], 2):.1f} ± 0.3" for row in session.shown["ranking"]]
    assert len(shown) == 7


def test_a_cleared_table_has_no_ranking(client, live):
    """The ruling's pieces are gone: a list of their gaps beside an empty board is of nothing."""
    live.become(observation=replace(live.latest.observation, pieces=()))
    page = client.get("/").text
    assert '<td class="number">' not in page
    assert "No thrown piece measured in this end yet." in page


def test_without_a_camera_its_error_is_said_once_and_no_picture_is_broken(client, session, live):
    session.shown["verdicts"] = []
    error = "Camera lost (it was closed). The game is waiting; trying again in 2 s."
    live.become(status="camera lost", message=error, frame_seq=-1, observation=None)
    page = client.get("/").text
    assert page.count(error) == 1
    assert "Ready" not in page
    assert re.search(r'<img id="camera"[^>]*\bhidden\b', page)
    assert re.search(r'id="no-picture"\s*>No picture from the camera yet\.', page)


def test_a_picture_that_has_come_is_shown(client):
    page = client.get("/").text
    assert re.search(r'<img id="camera"[^>]*src="/api/v1/camera\.jpg\?frame=88"', page)
    assert re.search(r'id="no-picture" hidden', page)


def test_while_paused_the_page_asks_nobody_for_anything(client, session, live):
    """Whatever the referee said last: here, what the newest ruling says already."""
    session.shown |= {"phase": "paused"}
    session.shown["state"]["turn"] = "Still to vote: red."
    live.become(message=session.view().verdicts[0].message)
    page = client.get("/").text
    assert '<p class="whose">Paused</p>' in page
    assert "The host can resume.</span></p>" in page
    assert "Still to vote: red." not in page


def test_touching_and_standing_on_the_target_are_said_in_words(client, session):
    session.shown["ranking"][0] |= {"gap_mm": 0.0, "on_target": True, "points_mm": None}
    session.shown["ranking"][1] |= {"gap_mm": 0.0, "touching": True}
    page = client.get("/").text
    assert re.findall(r'<td class="number">([^<]+)</td>', page)[:2] == ["on the target", "touching"]


def test_a_game_that_measures_less_is_shown_with_less(client, session):
    session.shown["ranking"] = [{"place": 1, "colour": "red", "gap_mm": 10.0}]
    assert re.findall(r'<td class="number">([^<]+)</td>', client.get("/").text) == ["10.0"]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_shown_in_words(client, live, status):
    live.become(status=status, message=f"About {status}.")
    page = client.get("/").text
    assert f"</span>{status.capitalize()}</p>" in page
    assert f"About {status}." in page


def test_a_simulated_table_says_so_and_a_real_one_does_not(client, session):
    assert "Simulated table" in client.get("/").text
    session.shown |= {"simulated": False}
    assert "imulated" not in client.get("/").text.replace("simulated:boule", "")


def test_before_the_first_picture_the_empty_table_is_drawn(client, session, live):
    session.shown |= {
        "observation": None,
        "ranking": [],
        "verdicts": [],
        "state": {
            "next": None,
            "scores": {},
            "turn": "",
            "rulings": {},
            "state": "",
            "outcome": None,
        },
        "scores": {},
        "next": None,
    }
    live.become(observation=None, message="Waiting for the first picture.")
    page = client.get("/").text
    assert 'class="ground"' in page
    assert 'class="piece' not in page
    assert "No pieces detected yet." in page
    assert "Waiting for the first picture." in page


def test_a_camera_that_is_lost_leaves_the_table_of_the_last_ruling(client, live):
    live.become(observation=None, status="camera lost", message="Camera lost (no cable).")
    page = client.get("/").text
    assert page.count('class="piece') == 9
    assert "is-stale" in page


@pytest.mark.parametrize("path", ["/", "/play"])
def test_what_is_wrong_with_the_program_is_told_until_it_has_ruled_again(client, live, path):
    def notices():
        return re.findall(r'<p class="notice" role="alert">([^<]+)</p>', client.get(path).text)

    full = (
        "The log cannot be written (the disk is full: make room). The game is waiting and"
        " continues as soon as possible."
    )
    failed = (
        "The referee failed (KeyError) and restarted from the log. Check that the table"
        " matches the record."
    )
    assert notices() == []
    live.become(status="stopped", message=full)
    assert notices() == [full]
    live.become(status="settling", message="The pieces are coming to rest.", error=failed)
    assert notices() == [failed]
    live.become(status="waiting", error="")
    assert notices() == []


def test_an_open_question_is_asked_with_all_its_choices(client, session, question):
    session.shown |= {"question": question, "phase": "asking"}
    page = client.get("/").text
    assert "Blue at 20.4\u00a0mm and yellow at 20.3\u00a0mm are too close to call" in page
    assert re.findall(r'<button class="primary" name="label" value="([^"]+)"', page) == [
        "blue is nearer",
        "yellow is nearer",
        "equal",
    ]
    assert 'name="question" value="17"' in page


def test_the_answer_that_a_button_points_at_is_marked(client, spectator, session, live, question):
    session.shown |= {"question": question, "phase": "asking"}
    sentence = "The button selects answer 2 of 3: Yellow is nearer. Press rule to confirm."
    live.point_at(17, "yellow is nearer")
    [marked] = re.findall(
        r'<button[^>]*id="choice-[^>]*aria-current=true>(.*?)</button>', client.get("/").text
    )
    assert marked == 'Yellow is nearer <span class="press">press rule</span>'
    for page in (client.get("/").text, spectator.get("/").text):
        assert re.search(r'class="pointed"[^>]*>(.*?)</p>', page)[1] == sentence
    for elsewhere in ((17, ""), (16, "yellow is nearer")):
        live.point_at(*elsewhere)
        page = client.get("/").text
        assert "The button selects" not in page
        assert "aria-current=true>Yellow" not in page


def test_words_from_outside_are_escaped_everywhere(client, session, live, question):
    evil = "<script>alert(1)</script>\"'><b>"
    session.shown["verdicts"][0] |= {
        "said": evil,
        "rests_on": evil,
        "moves": [evil],
        "evidence": {evil: evil},
    }
    session.shown["verdicts"][0] |= {"decided_by": evil, "code": evil, "player": evil}
    session.shown |= {
        "players": [evil],
        "next": evil,
        "camera": evil,
        "outcome": evil,
        "rulings": {evil: evil},
        "game": evil,
    }
    session.shown["question"] = question | {
        "said": evil,
        "rests_on": evil,
        "choices": [{"label": evil, "moves": []}],
    }
    session.shown["ranking"][0] |= {"colour": evil, "size": evil}
    live.become(message=evil, status="cannot see")
    page = client.get("/").text
    assert evil not in page
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_an_answer_by_order_reaches_the_session(client, session):
    answer = send(
        client,
        command="answer",
        question="17",
        label="blue is nearer",
        decided_by=" Ann ",
        **{"reading blue, place 1": ""},
    )
    assert answer.status_code == 303
    assert session.commands == [Answer(question=17, label="blue is nearer", decided_by="Ann")]


def test_an_answer_by_calliper_keeps_the_readings(client, session):
    readings = {"reading blue": "+0020,35", "reading yellow 2": "20.4 mm"}
    for label in ("blue is nearer", "by the readings"):
        send(client, command="answer", question="17", label=label, **readings)
    kept = {"how": "calliper", "readings_mm": {"blue": 20.35, "yellow 2": 20.4}}
    assert session.commands == [
        Answer(question=17, label="blue is nearer", **kept),
        Answer(question=17, **kept),
    ]


def test_a_calliper_is_asked_for_the_pieces_that_are_too_close(client, session, question):
    session.shown |= {"question": question, "phase": "asking"}
    assert re.findall(r'name="reading ([^"]+)"', client.get("/").text) == [
        "yellow",
        "blue",
        "yellow 2",
        "blue 2",
    ]
    session.shown["observation"]["call"] = {"pairs": [[1, 2], [1, 4]]}
    assert re.findall(r'name="reading ([^"]+)"', client.get("/").text) == [
        "blue",
        "yellow 2",
        "yellow 3",
    ]


def test_what_cannot_be_seen_is_declared(client, session):
    assert 'name="moves" value="void"' in client.get("/").text
    send(client, command="declare", moves="void")
    assert session.commands == [Declare(moves=("void",))]


def test_undo_correct_pause_and_next_game_reach_the_session(client, session):
    assert (
        send(client, command="undo", seen=str(session.kept[-1].seq), decided_by="Bo").status_code
        == 303
    )
    send(
        client,
        command="correct",
        record="14",
        moves="target green; line 0,80 600,80",
        reason="the colours were read wrong",
    )
    send(client, command="correct", record="14", moves="")
    send(client, command="pause")
    send(client, command="next_game", players="blue, red")
    assert session.commands == [
        Undo(decided_by="Bo"),
        Correct(
            record=14,
            moves=("target green", "line 0,80 600,80"),
            reason="the colours were read wrong",
        ),
        Correct(record=14, moves=()),
        Pause(),
        NextGame(players=("blue", "red")),
    ]


def test_rule_now_has_the_table_judged_afresh(client, session):
    """As the button of that name does: look away, and look again at once; after a pause, look
    again.
    """
    assert 'name="command" value="rule"' in client.get("/").text
    assert send(client, command="rule").status_code == 303
    session.shown["phase"] = "paused"
    assert 'value="rule"' not in client.get("/").text
    assert send(client, command="rule").status_code == 303
    assert session.commands == [Pause(), Resume(), Resume()]


def test_rule_now_is_no_answer_to_a_question(client, session, question):
    session.shown |= {"question": question, "phase": "asking"}
    assert 'id="rule" accesskey="r" name="command" value="rule" disabled' in client.get("/").text


def test_undo_from_a_page_that_is_behind_is_refused(client, session):
    answer = send(client, command="undo", seen="15")
    assert answer.status_code == 409
    assert "Something has happened since this page was loaded; check it" in answer.text
    assert session.commands == []


@pytest.mark.parametrize(
    ("form", "status", "message"),
    [
        ({"command": "shout"}, 400, "command"),
        ({}, 400, "command"),
        ({"command": "answer", "question": "x", "label": "blue"}, 400, "question"),
        ({"command": "answer", "question": "9" * 40, "label": "blue"}, 400, "question"),
        (
            {"command": "answer", "question": "17", "label": "blue", "reading blue": "about 12"},
            400,
            "calliper",
        ),
        (
            {"command": "answer", "question": "17", "label": "blue", "reading blue": "nan"},
            400,
            "calliper",
        ),
        ({"command": "correct", "record": "14"}, 400, "moves"),
        ({"command": "pause", "surprise": "1"}, 400, "surprise"),
    ],
)
def test_a_form_that_makes_no_sense_changes_nothing_and_says_why(
    client, session, form, status, message
):
    answer = send(client, **form)
    assert answer.status_code == status
    notice = re.search(r'class="notice" role="alert">([^<]+)<', answer.text)[1]
    assert message in notice
    assert session.commands == []


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (InputError("undo: nothing has been ruled yet"), 409),
        (LogFailed("rinkside.log: the disk is full"), 507),
    ],
)
def test_what_cannot_be_done_is_said_on_the_page(client, session, failure, status):
    session.refuse = failure
    answer = send(client, command="undo")
    assert answer.status_code == status
    assert f'role="alert">{failure}<' in answer.text


def test_the_drawing_is_to_scale(client, live):
    """Corners of the drawn pieces are the solids' own, y turned; the ground is the table's
    outline.
    """
    page = client.get("/").text
    assert 'class="ground" points="0,0 668,0 668,-472 0,-472"' in page
    drawn = [
        np.array([pair.split(",") for pair in points.split()], float)
        for points in re.findall(r'class="body" points="([^"]+)"', page)
    ]
    for piece in live.latest.observation.pieces:
        plan = piece.solid.plan_mm() * (1, -1)
        assert any(
            len(outline) == len(plan) and np.allclose(outline, plan, atol=0.006)
            for outline in drawn
        ), str(piece)


def test_gap_lines_join_the_nearest_points(client, session):
    lines = re.findall(
        r'<line class="gap[^>]* x1="([^"]+)" y1="([^"]+)" x2="([^"]+)" y2="([^"]+)"',
        client.get("/").text,
    )
    assert len(lines) == 7
    for line, row in zip(lines, session.shown["ranking"], strict=True):
        x1, y1, x2, y2 = map(float, line)
        level_mm = math.dist(row["points_mm"][0][:2], row["points_mm"][1][:2])
        assert math.isclose(math.hypot(x2 - x1, y2 - y1), level_mm, abs_tol=0.03)


def test_a_piece_that_has_been_moved_since_it_was_measured_has_no_gap_line(client, session):
    session.shown["ranking"][0]["base_mm"][0] += 30
    assert client.get("/").text.count('<line class="gap') == 6


def test_the_close_up_shows_less_ground_in_the_same_shape(client):
    def box(url):
        return [
            float(v)
            for v in re.search(r'class="plan" viewBox="([^"]+)"', client.get(url).text)[1].split()
        ]

    whole, near = box("/"), box("/?view=near")
    assert near[2] < whole[2] / 2
    assert whole[0] < near[0] < near[0] + near[2] < whole[0] + whole[2]


def test_a_chessboard_has_its_squares_and_names(client, live, storm_table):
    live.setup = storm_table
    page = client.get("/").text
    assert page.count('class="dark-cell"') == page.count('class="light-cell"') == 32
    assert '<rect class="dark-cell" x="100" y="-75.0" width="55.0"' in page.replace(
        'x="100.0"', 'x="100"'
    )
    assert [
        name for name in re.findall(r'class="cell-name"[^>]*>([^<]+)<', page) if name.isalpha()
    ] == list("abcdefgh")


def test_what_has_moved_is_said_with_a_tap_to_measure_the_table_anew(client, live):
    same = {"Sec-Fetch-Site": "same-origin"}
    assert 'id="redo"' not in client.get("/").text
    live.become(moved=("Card 2 is 4.1 mm from where it was.", "No rulings."), held=True)
    page = client.get("/").text
    assert "Card 2 is 4.1 mm from where it was. No rulings." in page
    assert (
        client.post(
            "/table", data={"wish": "redo"}, headers={"Sec-Fetch-Site": "cross-site"}
        ).status_code
        == 403
    )
    assert client.post("/table", data={"wish": "ride"}, headers=same).status_code == 400
    assert live.wishes == []
    for button, wish in re.findall(
        r'<button id="(redo|play-on)" name="wish" value="([^"]+)"', page
    ):
        assert client.post("/table", data={"wish": wish}, headers=same).status_code == 303, button
    assert live.wishes == ["redo", "play on"]
    live.become(moved=("The camera has moved 3.2 mm.",), held=False)
    assert 'id="play-on"' not in client.get("/").text


def test_gaps_in_the_evidence_of_a_verdict_are_on_the_page(client, session):
    """They are plain data, as the log has them."""
    gaps = [
        {"colour": "blue", "size": "large", "gap_mm": 12.5, "sigma_mm": 0.3},
        {"colour": "red", "size": "large", "gap_mm": 0.0, "sigma_mm": 0.0, "on_target": True},
    ]
    session.shown["verdicts"][0]["evidence"] = {"gaps": gaps}
    page = client.get("/")
    assert page.status_code == 200
    assert "12.5" in page.text
    assert "on the target" in page.text


def test_only_house_rules_that_are_changed_are_named(client, session):
    session.shown["rulings"] = {"stop": "may", "equal": "keep"}
    assert "House rules: the defaults." in client.get("/").text
    session.shown["rulings"] = {"stop": "never", "equal": "keep"}
    page = client.get("/").text
    rule = "may the leader stop throwing when nobody else has pieces left"
    assert f"House rules: {rule} – <b>never</b>." in page


def test_a_line_leads_from_every_label_to_its_piece(client):
    page = client.get("/").text
    lines = re.findall(
        r'<line class="leader[^"]*" x1="(\S+)" y1="(\S+)" x2="(\S+)" y2="(\S+)"/>', page
    )
    assert len(lines) == page.count('class="plate"')
    assert all(math.dist(map(float, line[:2]), map(float, line[2:])) < 120 for line in lines)


def test_a_long_reason_is_set_smaller_so_that_what_is_below_stays(client, session):
    said = session.shown["verdicts"][0]["said"]
    assert "is-long" not in client.get("/").text
    for length, letters in ((200, "is-long"), (300, "is-longer")):
        session.shown["verdicts"][0]["said"] = (said * 10)[:length]
        assert f'class="said why {letters}"' in client.get("/").text
