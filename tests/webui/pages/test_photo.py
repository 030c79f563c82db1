"""The page that measures photographs, with the reader that `rinkside measure --serve` gives it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from flask.testing import FlaskClient

from cli.photo import sample_photo
from cli.photo_page import photo_reader
from table.errors import InputError
from vision.cameras import photographs
from webui import create_photo_app
from webui.interfaces import InPhoto, MeasuredPhoto
from webui.pages.photo import MOST_AT_ONCE, MOST_FILE_BYTES, MOST_KEPT
from webui.server import listen, serving

pytestmark = pytest.mark.slow

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return create_photo_app(photo_reader(), sample_photo).test_client()


def token(client: FlaskClient) -> str:
    return str(client.application.config["FORM_TOKEN"])


def post(
    client: FlaskClient, *files: tuple[bytes, str], path: str = "/measure", **form: Any
) -> Any:
    photos = [(io.BytesIO(data), name) for data, name in files]
    form |= {"token": token(client)} | ({"photo": photos} if photos else {})
    return client.post(path, data=form, headers=HTML, content_type="multipart/form-data")


def address(page: str) -> str:
    """Of the newest photograph on a page, without its ending."""
    found = re.search(r"/measure/[\w-]+(?=\.jpg)", page)
    assert found is not None
    return found.group()


def test_several_photographs_are_measured_and_what_is_none_is_refused(client: FlaskClient) -> None:
    answer = post(client, (sample_photo(), "table.jpg"), (b"hello", "notes.txt"))
    assert answer.status_code == 200
    page = answer.text
    assert "Red leads and would score 1 point" in page
    assert page.count('class="place"') == 8
    assert "notes.txt: expected a picture (JPEG or PNG)" in page
    assert "read from the photo" in page
    drawn = client.get(f"{address(page)}.jpg")
    picture = cv2.imdecode(np.frombuffer(drawn.data, np.uint8), cv2.IMREAD_COLOR)
    assert drawn.mimetype == "image/jpeg"
    assert picture is not None
    assert max(picture.shape) >= 1600
    kept = client.get(f"{address(page)}.jpg?download=1")
    assert kept.headers["Content-Disposition"] == 'attachment; filename="gaps.jpg"'


def test_it_is_measured_again_with_other_colours(client: FlaskClient) -> None:
    page = post(client, sample="1").text
    again = post(client, path=address(page), target="yellow", colour=["red", "blue"]).text
    assert "Red leads and would score 1 point" in again
    assert "read from the photo. If" not in again
    wrong = post(client, path=address(page), target="blue", colour=["red", "yellow"]).text
    assert "4 blue pieces lie" in wrong
    assert address(page) in again


def test_the_mat_can_be_printed(client: FlaskClient) -> None:
    assert client.get("/measure/mat-A4.pdf").data.startswith(b"%PDF")
    assert client.get("/measure/mat-B7.pdf").status_code == 404


def test_what_makes_no_sense_is_refused(client: FlaskClient) -> None:
    assert post(client).status_code == 400
    assert post(client, *[(b"x", "a.jpg")] * (MOST_AT_ONCE + 1)).status_code == 400
    assert post(client, (b"x", "a.jpg"), target="mauve").status_code == 400
    assert post(client, path="/measure/unknown").status_code == 404
    assert client.get("/measure/unknown.jpg").status_code == 404
    assert client.post("/measure", data={"sample": "1"}, headers=HTML).status_code == 403


def test_names_of_files_cannot_write_markup(client: FlaskClient) -> None:
    page = post(client, (b"hello", "<script>alert(1)</script>\x1b.jpg")).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


class Counting:
    """A reader that measures nothing and counts."""

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, data: bytes, name: str, named: InPhoto) -> MeasuredPhoto:
        self.read += 1
        if not data:
            raise InputError(f"{name}: an empty file")
        return MeasuredPhoto("Red leads.", (), data, named, False)


def test_only_the_newest_photographs_are_kept() -> None:
    client = create_photo_app(Counting(), bytes).test_client()
    pages = [post(client, (b"%d" % n, "a.jpg")).text for n in range(MOST_KEPT + 1)]
    addresses = [f"{address(page)}.jpg" for page in pages]
    assert len(set(addresses)) == MOST_KEPT + 1
    assert [client.get(one).status_code for one in addresses] == [404, *[200] * MOST_KEPT]
    assert client.get(addresses[-1]).data == b"%d" % MOST_KEPT


def test_large_photographs_pass_and_too_large_requests_do_not() -> None:
    """Through the real server, whose other pages take no such bodies."""
    reader = Counting()
    app = create_photo_app(reader, bytes)
    with listen(port=0) as listening, serving(app, listening):
        port = listening.getsockname()[1]

        def sent(path: str, megabytes: int, body: bool) -> int:
            head = b'--x\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n\r\n'
            whole = head + bytes(megabytes << 20) + b"\r\n--x--\r\n"
            with closing(HTTPConnection("127.0.0.1", port)) as connection:
                connection.putrequest("POST", path)
                connection.putheader("Content-Type", "multipart/form-data; boundary=x")
                connection.putheader("Content-Length", str(len(whole)))
                connection.putheader("Origin", f"http://127.0.0.1:{port}")
                connection.endheaders(whole if body else None)
                return connection.getresponse().status

        assert sent("/measure", 8, body=True) == 200
        assert sent("/measure", 65, body=False) == 413
        assert sent("/language", 8, body=False) == 413
    assert reader.read == 1


def test_the_limit_is_that_of_what_reads_photographs() -> None:
    assert MOST_FILE_BYTES == photographs.MOST_BYTES


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def test_a_phone_sends_a_photograph_and_sees_the_gaps(page: Any, tmp_path: Path) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    photo, notes = tmp_path / "photo.jpg", tmp_path / "notes.txt"
    photo.write_bytes(sample_photo())
    notes.write_text("hello")
    app = create_photo_app(photo_reader(), sample_photo)
    with listen(port=0) as listening, serving(app, listening):
        page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Take a photo", exact=True).click()
        chooser.value.set_files(photo)
        page.wait_for_selector(".measured .ranking")
        assert "Red leads" in page.inner_text(".measured .said")
        assert page.locator(".measured img").evaluate("image => image.decode().then(() => true)")
        page.set_input_files("#photo-file", [notes, photo])
        page.wait_for_function("() => document.querySelectorAll('.measured').length === 3")
        assert page.locator(".measured .warned").count() == 1
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert Axe().run(page).response["violations"] == []
        page.locator(".measured button", has_text="Measure again").first.click()
        page.wait_for_function("() => document.getElementById('upload').hidden")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints == []
