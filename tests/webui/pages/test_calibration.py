"""The pages of a calibration at work: what they show, what people tell there, and what is
refused.
"""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from calibration.lens.guidance import begin
from calibration.lens.synthetic_views import random_lens, random_pose, simulated_view
from calibration.lens.target import Charuco, DetectedCorners, NotFound
from calibration.progress import CornersGuide, LensGuide
from vision.cameras.frame import Frame
from vision.cameras.image_files import decode_image
from webui import create_corners_app, create_lens_app

CARDS_PX = np.array(
    [
        [[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]]
        for x, y in ((20, 20), (580, 20), (580, 420), (20, 420))
    ],
    float,
)
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def lens():
    return LensGuide()


@pytest.fixture
def lens_page(lens, as_host):
    return as_host(create_lens_app(lens))


@pytest.fixture
def corners():
    return CornersGuide(np.full((480, 640, 3), 120, np.uint8), CARDS_PX)


@pytest.fixture
def corners_page(corners, as_host):
    return as_host(create_corners_app(corners))


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def test_before_the_first_picture_the_page_waits(lens_page):
    assert "Waiting for the first picture" in text_of(lens_page.get("/"))
    assert lens_page.get("/api/v1/camera.jpg").status_code == 404
    assert lens_page.get("/api/v1/lens").get_json()["stage"] == "waiting"


def test_the_lens_page_shows_the_guidance_that_the_terminal_has(lens, lens_page):
    rng = np.random.default_rng(3)
    true = random_lens(rng)
    view = simulated_view("", true, random_pose(true, rng), 0.1, rng)
    found = DetectedCorners(view.target_mm, view.pixels, 1.0)
    frame = Frame(7, 0, np.full((true.height, true.width, 3), 90, np.uint8))
    guidance = begin(Charuco(), (true.width, true.height))
    for at_ms in (0, 1000):
        guidance = guidance.after(found, at_ms)
        lens.show(frame, found, guidance)
    taken = lens_page.get("/")
    assert guidance.next_place.description in taken.text
    assert all(lacking in taken.text for lacking in guidance.lacking)
    assert "view-01 taken" in taken.text
    assert "1, at least 12" in taken.text
    assert "Not taken recently" not in re.sub(
        r"<section[^>]*hidden>.*?</section>", "", taken.text, flags=re.DOTALL
    )
    drawn = decode_image(lens_page.get("/api/v1/camera.jpg").data, "picture")
    assert drawn.shape[1] <= 1280
    assert np.ptp(drawn.reshape(-1, 3), axis=0).min() > 50

    guidance = guidance.after(found, 2000)
    lens.show(frame, found, guidance)
    lens.show(frame, NotFound("blurred", ""), guidance.after(NotFound("blurred", ""), 2500))
    state = lens_page.get("/api/v1/lens").get_json()
    assert guidance.doing == "refused"
    assert state["refused"] == [guidance.message]
    assert guidance.message in lens_page.get("/").text
    assert (state["doing"], state["taken"], state["frame_seq"]) == ("looking", 1, 7)


def test_people_end_it_and_see_what_came_of_it(lens, lens_page):
    assert not lens.ended
    assert "Stop without calibrating" in lens_page.get("/").text
    assert lens_page.post("/end", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert not lens.ended
    assert lens_page.post("/end", headers=OWN).status_code == 303
    assert lens.ended
    assert "Calculating the lens" in lens_page.get("/").text
    seen = threading.Thread(target=lens.wait_until_seen, args=(60,))
    lens.finish(["14 views: RMS 0.1 px.", "lens.json: written."])
    seen.start()
    page = lens_page.get("/")
    seen.join(timeout=30)
    assert not seen.is_alive()
    assert "data-ended" in page.text
    assert "lens.json: written." in page.text


def test_why_there_is_no_lens_is_said_on_the_page_too(lens, lens_page):
    lens.fail("a camera: expected 12 views, got <3>")
    assert "a camera: expected 12 views, got &lt;3&gt;" in lens_page.get("/").text
    lens.end()
    assert lens_page.get("/api/v1/lens").get_json()["stage"] == "failed"


def test_nobody_is_waited_for_where_nobody_looks(lens):
    lens.finish(["done"])
    lens.wait_until_seen(3600)


def put(client, *places, headers=OWN):
    names = ("far left", "far right", "near right", "near left")
    return client.post("/corners", data=dict(zip(names, places, strict=True)), headers=headers)


def test_handles_begin_at_the_cards_inner_corners_and_all_is_labelled(corners_page):
    page = corners_page.get("/").text
    assert re.findall(r'class="handle".*?translate\(([^)]+)\)', page) == [
        "60.0 60.0",
        "580.0 60.0",
        "580.0 420.0",
        "60.0 420.0",
    ]
    assert page.count('tabindex="0" role="button" aria-label=') == 4
    for index in range(4):
        assert f'<label class="field" for="corner-{index}">' in page
    assert decode_image(corners_page.get("/api/v1/camera.jpg").data, "photograph").shape == (
        480,
        640,
        3,
    )


def test_what_looks_right_is_what_the_calibration_waits_for_and_it_can_ask_again(
    corners, corners_page
):
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(corners.corners()))
    waiting.start()
    assert put(corners_page, "60,60", "581.5, 61", "579,419", "60.25, 420").status_code == 303
    waiting.join(timeout=30)
    np.testing.assert_array_equal(answers[0], [[60, 60], [581.5, 61], [579, 419], [60.25, 420]])
    assert corners_page.get("/api/v1/corners").get_json()["stage"] == "calculating"
    assert put(corners_page, "60,60", "580,60", "580,420", "60,420").status_code == 409
    corners.refuse("the board's lines are not seen there")
    page = corners_page.get("/").text
    assert "Those corners did not work: the board&#39;s lines are not seen there" in page
    assert "translate(581.5 61.0)" in page
    assert put(corners_page, "60,60", "580,60", "580,420", "60,420").status_code == 303
    np.testing.assert_array_equal(corners.corners()[1], [580, 60])
    corners.finish(["table.json: written."])
    assert "table.json: written." in corners_page.get("/").text


@pytest.mark.parametrize(
    "place", ["", "60", "60;60", "a,b", "nan,1", "1e5,2", "-3,60", "60,480", "641,60", "9999999,1"]
)
def test_a_corner_that_is_none_is_refused_in_words(corners, corners_page, place):
    answer = put(corners_page, "60,60", "580,60", "580,420", place)
    assert answer.status_code in (400, 409)
    assert "nothing was done" in text_of(answer)
    assert corners.look() == replace(corners.look(), stage="at work", refusal="")


def test_corners_from_another_site_are_refused(corners_page):
    assert (
        put(
            corners_page,
            "60,60",
            "580,60",
            "580,420",
            "60,420",
            headers={"Origin": "http://elsewhere.example"},
        ).status_code
        == 403
    )


@pytest.mark.parametrize(
    "app",
    [
        create_lens_app(LensGuide()),
        create_corners_app(CornersGuide(np.zeros((48, 64, 3), np.uint8), CARDS_PX)),
    ],
)
def test_they_carry_what_every_page_carries(app):
    answer = app.test_client().get("/")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert app.test_client().get("/", headers={"Host": "elsewhere.example"}).status_code == 421


@pytest.mark.parametrize(
    "paths",
    [("/", "/api/v1/lens", "/api/v1/camera.jpg"), ("/", "/api/v1/corners", "/api/v1/camera.jpg")],
)
def test_calibrations_are_for_who_has_the_code_that_the_terminal_shows(lens, corners, paths):
    app = create_lens_app(lens) if "/api/v1/lens" in paths else create_corners_app(corners)
    visitor = app.test_client()
    assert [visitor.get(path).status_code for path in paths] == [403, 403, 403]
    assert [visitor.post(path, headers=OWN).status_code for path in ("/end", "/corners")].count(
        403
    ) == 1
    assert not lens.ended
    assert 'href="/join"' in visitor.get("/", headers={"Accept": "text/html"}).text
