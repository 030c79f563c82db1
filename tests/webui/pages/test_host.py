"""The host's page: how players join, who sits where, what is connected, what is known of the
table.
"""

from __future__ import annotations

import re

import pytest

from webui import create_app
from webui.pages.host import qr

OWN = {"Sec-Fetch-Site": "same-origin"}


def test_players_join_by_the_code_and_where_others_find_the_panel_by_a_qr_code(
    app, client, session, live, as_host
):
    page = client.get("/host").text
    assert app.extensions["access"].codes.now.table in page
    assert "--host 0.0.0.0" in page
    assert "<svg" not in page
    for reached, base in (
        (None, "http://192.168.1.7:8000"),
        ("http://raspberrypi:8000", "http://192.168.1.7:8000"),
        ("http://rink.local:8000", "http://192.168.1.7:8000"),
        ("http://10.42.0.1:8000", "http://10.42.0.1:8000"),
    ):
        shared = create_app(session, live, address=lambda: "http://192.168.1.7:8000")
        code = shared.extensions["access"].codes.now.table
        page = as_host(shared).get("/host").text if reached is None else host_at(shared, reached)
        assert f"<strong>{base}/join</strong>" in page
        assert qr(f"{base}/join#{code}") in page


def host_at(app, base):
    """The host's page as a program sees it that reaches the panel by this address."""
    return (
        app.test_client()
        .get(
            "/host",
            base_url=base,
            headers={"Authorization": f"Bearer {app.extensions['access'].codes.now.host}"},
        )
        .text
    )


def test_a_qr_code_is_drawn_without_styles_of_its_own():
    drawn = str(qr("http://192.168.1.7:8000/join#ABC-DEF"))
    assert drawn.startswith("<svg")
    assert "style" not in drawn
    assert re.search(r'viewBox="0 0 \d+ \d+"', drawn)


def test_seats_are_shown_with_who_holds_them(app, client, as_player):
    as_player(app, "blue")
    page = client.get("/host").text
    assert page.index("by phone") < page.index("Free the seat") < page.index("Play here")


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        ({}, "No lamps"),
        ({"lamps": "", "dice": "no answer on /dev/ttyACM0"}, "no answer on /dev/ttyACM0"),
    ],
)
def test_devices_are_listed_with_what_is_wrong(session, live, as_host, devices, message):
    page = as_host(create_app(session, live, devices=lambda: devices)).get("/host").text
    assert message in page
    assert ("<dt>lamps</dt><dd>works</dd>" in page) == bool(devices)


def test_the_table_is_told_with_what_has_moved_and_what_is_known_of_it(client, live):
    page = client.get("/host").text
    assert "<dd>open ground, 668 × 472 mm</dd>" in page
    assert "nothing has moved" in page
    live.become(moved=("corner card 2 is 4.1 mm from where it was",))
    assert "corner card 2 is 4.1 mm from where it was" in client.get("/host").text


def test_an_unknown_code_is_not_renewed(client):
    assert client.post("/host/code", data={"which": "root"}, headers=OWN).status_code == 400
