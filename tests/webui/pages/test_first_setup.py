"""The page on which a table is set up from nothing: each step, for hosts only, and what is wrong is
said there.
"""

from __future__ import annotations

import pytest

from calibration.first_setup import BoardChoice
from calibration.sheets.catalogue import PAPER_NAMES
from table.errors import InputError
from table.printed_boards import printed_tables
from tests.support.home_standins import StandInSetUp
from webui.pages.first_setup import create_first_set_up_app
from webui.security.codes import Codes
from webui.security.permissions import Access

OWN = {"Sec-Fetch-Site": "same-origin"}
PAGE = OWN | {"Accept": "text/html"}
MAT = BoardChoice("mat", 100.0, ("red", "blue"), "green")


@pytest.fixture
def first():
    return StandInSetUp()


@pytest.fixture
def ended():
    """What was done at the end."""
    return []


@pytest.fixture
def host(first, ended):
    access = Access(Codes())

    def save():
        if first.now.step != "check":
            raise InputError("the table is not measured yet: measure it first")
        if "full" in ended:
            raise InputError("table.json: No space left on device")
        ended.append("saved")

    app = create_first_set_up_app(first, save, ended.append, access)
    browser = app.test_client()
    browser.post("/join", data={"code": access.codes.now.host}, headers=OWN)
    return browser


def test_each_camera_has_its_picture_and_a_button(host, first):
    page = host.get("/").text
    assert "Webcam &lt;9&gt;" in page
    assert 'data-live="/cameras/0.jpg"' in page
    assert host.get("/cameras/0.jpg").data == b"\xff\xd8 v4l2:0"
    assert host.get("/cameras/7.jpg", headers=PAGE).status_code == 404
    assert host.post("/camera", data={"spec": "v4l2:0"}, headers=OWN).location == "/"
    first.become(cameras=())
    assert "No camera was found" in host.get("/").text
    assert first.asked == [("camera", "v4l2:0")]


def test_every_game_that_has_a_board_can_be_chosen_and_its_board_opened(host, first):
    first.become(step="game", camera="v4l2:0")
    page = host.get("/").text
    for sheet in printed_tables():
        assert f'name="sheet" value="{sheet}"' in page
        first.become(step="print", board=BoardChoice(sheet))
        shown = host.get("/").text
        for paper in PAPER_NAMES:
            assert f'href="/print/{sheet}-{paper}.pdf"' in shown
    assert host.get("/print/mat-A4.pdf").data.startswith(b"%PDF")
    assert host.get("/print/mat-A0.pdf", headers=PAGE).status_code == 404


@pytest.mark.parametrize(
    ("language", "paper"), [("en-US,en", "Letter"), ("de-DE", "A4"), ("", "A4")]
)
def test_the_paper_that_is_usual_there_comes_first(host, first, language, paper):
    first.become(step="print", board=MAT)
    page = host.get("/", headers={"Accept-Language": language}).text
    assert page.index(f"mat-{paper}.pdf") == min(
        page.index(f"mat-{one}.pdf") for one in PAPER_NAMES
    )


def test_what_was_printed_is_told_with_its_bar_and_colours(host, first):
    first.become(step="print", board=MAT)
    form = {
        "sheet": "mat",
        "bar_mm": " 99,6 ",
        "colour 1": "blue",
        "colour 2": "",
        "colour 3": "red",
    }
    host.post("/printed", data=form | {"target": "green"}, headers=OWN)
    assert first.asked == [("printed", BoardChoice("mat", 99.6, ("blue", "red"), "green"))]


@pytest.mark.parametrize("bar", ["", "long", "1e9", "-5", "99.6 mm", "1" * 400])
def test_a_bar_that_is_no_length_is_refused(host, first, bar):
    first.become(step="print", board=MAT)
    answer = host.post("/printed", data={"sheet": "mat", "bar_mm": bar}, headers=PAGE)
    assert answer.status_code == 409
    assert "expected a length in mm, such as 99.6" in answer.text
    assert first.asked == []


def test_the_board_is_measured_once_enough_is_seen(host, first):
    first.become(step="lay", board=MAT, seen=(0,), guidance="Not seen yet: the marker near left.")
    page = host.get("/").text
    assert "1 of 4 markers" in page
    assert 'class="primary large" disabled>' in page
    first.become(seen=(0, 1, 2, 3), good=True, refusal="the picture is blurred")
    page = host.get("/").text
    assert 'class="primary large" >' in page
    assert "the picture is blurred" in page
    host.post("/measure", headers=OWN)
    host.post("/back", data={"step": "print"}, headers=OWN)
    assert first.asked == [("measure",), ("back", "print")]


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("/camera", {"spec": "bad"}, 409),
        ("/sheet", {"sheet": "bad"}, 409),
        ("/back", {"step": "end"}, 400),
        ("/save", {"then": "play"}, 409),
    ],
)
def test_what_will_not_do_is_said(host, first, ended, path, form, status):
    answer = host.post(path, data=form, headers=PAGE)
    assert answer.status_code == status
    assert (first.asked, ended) == ([], [])


@pytest.mark.parametrize("then", ["play", "home"])
def test_a_measured_table_is_saved_before_the_set_up_ends(host, first, ended, then):
    first.become(step="check", board=MAT, outcome=("Gaps are accurate to ± 0.7 mm here.",))
    assert "± 0.7 mm here" in host.get("/").text
    answer = host.post("/save", data={"then": then}, headers=OWN)
    assert "The table is saved" in answer.text
    answer.close()
    assert ended == ["saved", then]


def test_a_table_that_cannot_be_saved_is_not_lost(host, first, ended):
    ended.append("full")
    first.become(step="check", board=MAT)
    answer = host.post("/save", data={"then": "play"}, headers=PAGE)
    assert answer.status_code == 409
    assert "No space left on device" in answer.text
    assert ended == ["full"]
    assert "orange line" in host.get("/").text


def test_who_watches_sees_no_picture_and_changes_nothing(host, first, ended):
    first.become(step="lay", camera="v4l2:0", board=MAT)
    watcher = host.application.test_client()
    assert "The host is setting up the table" in watcher.get("/").text
    for path in ("/camera.jpg", "/cameras/0.jpg", "/checked.jpg", "/print/mat-A4.pdf"):
        assert watcher.get(path).status_code == 403
    for path in ("/camera", "/sheet", "/printed", "/measure", "/back", "/save"):
        assert watcher.post(path, headers=OWN).status_code == 403
    assert (first.asked, ended) == ([], [])
