"""What no camera sees of Ice Boule, said on the panel and on phones, through the HTTP API to the
end of an end.
"""

from __future__ import annotations

import pytest

from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from webui import create_app


@pytest.fixture
def real(tmp_path):
    """A session of blue and yellow, who say their sizes before play."""
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(
            log,
            SessionStarted(
                game="ice_boule", players=("blue", "yellow"), rulings={"sizes": "declared"}
            ),
        )
        yield session
        session.close()


class Panel:
    """A host and two players at their browsers."""

    def __init__(self, session, live, as_host, as_player):
        app = create_app(session, live)
        self.session = session
        self.browsers = {
            "host": as_host(app),
            **{seat: as_player(app, seat) for seat in ("blue", "yellow")},
        }

    def says(self, who, **heard):
        """Sends what a button says; the status of the answer."""
        return self.sends(who, command="hear", said=heard)

    def sends(self, who, **command):
        answer = self.browsers[who].post("/api/v1/command", json=command)
        return answer.status_code

    def throws(self, move):
        """What a camera would see."""
        assert self.sends("host", command="declare", moves=[move]) < 300

    def buttons(self, who):
        """What the page of somebody offers to say."""
        page = self.browsers[who].get("/" if who == "host" else "/play").text
        return {label for label in LABELS if label in page}

    @property
    def state(self):
        return self.browsers["host"].get("/api/v1/state").get_json()["state"]


LABELS = (
    "Blue has marked the starting line",
    *(
        f"{player} throws {size} pieces"
        for player in ("Blue", "Yellow")
        for size in ("small", "medium", "large")
    ),
    "throw left the play area",
    "The target left the play area",
    "stops throwing",
)


@pytest.fixture
def panel(real, live, as_host, as_player):
    return Panel(real, live, as_host, as_player)


def test_an_end_with_declared_sizes_is_played_from_panel_and_phones(panel):
    assert panel.buttons("blue") == panel.buttons("host") == {"Blue has marked the starting line"}
    assert panel.buttons("yellow") == set()
    assert panel.says("yellow", player="yellow", line=True) == 409
    assert panel.says("blue", player="blue", line=True) < 300
    panel.throws("target green")
    assert panel.state["turn"] == "Every player declares a size. Still to declare: blue and yellow."
    assert panel.buttons("yellow") == {
        *(f"Yellow throws {size} pieces" for size in ("small", "medium", "large")),
        "The target left the play area",
    }
    assert panel.says("yellow", player="blue", size="small") == 403
    assert panel.says("yellow", player="yellow", size="small") < 300
    assert panel.says("host", player="blue", size="medium") < 300
    assert panel.state["sizes"] == {"blue": "medium", "yellow": "small"}
    panel.throws("throw blue medium 20: blue 20")
    for _ in range(4):
        assert "throw left the play area" in panel.buttons("yellow")
        assert panel.says("yellow", player="yellow", out=True) < 300
    assert panel.buttons("blue") == {
        "throw left the play area",
        "stops throwing",
        "The target left the play area",
    }
    assert panel.says("blue", player="blue", stop=True) < 300
    assert panel.state["end"] == {"kind": "won", "winner": "blue", "points": 1}


def test_any_player_may_say_that_the_target_left(panel):
    panel.throws("target green")
    assert panel.says("yellow", player="blue", void=True) < 300
    assert panel.state["end"]["kind"] == "void"
    assert panel.says("host", player="green", void=True) == 409
    assert panel.says("host", player="blue", size="a large one") == 409


def test_the_host_s_page_offers_once_what_players_may_say_too(panel):
    panel.throws("target green")
    panel.says("blue", player="blue", size="small")
    panel.says("yellow", player="yellow", size="small")
    assert (
        panel.browsers["host"].get("/").text.count(">The target left the play area</button>") == 1
    )


def test_a_size_that_was_heard_wrongly_is_corrected(panel):
    panel.throws("target green")
    panel.says("blue", player="blue", size="small")
    record = panel.session.seq
    offered = panel.browsers["host"].get(f"/api/v1/alternatives/{record}").get_json()
    assert [choice["moves"] for choice in offered["choices"]] == [
        ["size blue medium"],
        ["size blue large"],
        [],
    ], "or it was not said"
    assert panel.sends("host", command="correct", record=record, moves=["size blue large"]) < 300
    assert panel.state["sizes"]["blue"] == "large"


def test_a_stop_that_was_heard_wrongly_was_a_throw(panel):
    for move in (
        "target green",
        "sizes blue=large yellow=large",
        "throw blue large 20: blue 20",
        *["throw yellow out: blue 20"] * 4,
    ):
        panel.throws(move)
    panel.says("blue", player="blue", stop=True)
    offered = panel.browsers["host"].get(f"/api/v1/alternatives/{panel.session.seq}").get_json()
    assert ["throw blue out: blue 20.00"] in [choice["moves"] for choice in offered["choices"]]


def test_a_target_in_a_player_s_colour_is_refused_with_its_reason(panel):
    answer = panel.browsers["host"].post(
        "/api/v1/command", json={"command": "declare", "moves": ["target blue"]}
    )
    assert answer.status_code == 409
    assert (
        "because a player has that colour. Any colour except blue and yellow is allowed."
        in answer.get_json()["error"]["said"]
    )


def test_only_sizes_that_are_in_play_are_offered_and_only_until_they_are_said(
    log_of_two_sizes, live, as_host, as_player
):
    panel = Panel(log_of_two_sizes, live, as_host, as_player)
    panel.throws("target green")
    for who in ("blue", "host"):
        assert {label for label in panel.buttons(who) if label.startswith("Blue throws")} == {
            "Blue throws small pieces",
            "Blue throws large pieces",
        }
    assert panel.says("blue", player="blue", size="small") < 300
    assert [one["said"] for one in panel.state["may_say"] if "size" in one["said"]] == [
        {"player": "yellow", "size": "small"},
        {"player": "yellow", "size": "large"},
    ]
    record = panel.session.seq
    offered = panel.browsers["host"].get(f"/api/v1/alternatives/{record}").get_json()
    assert not [choice for choice in offered["choices"] if "medium" in choice["label"]]


@pytest.fixture
def log_of_two_sizes(tmp_path):
    """As `real`, on a table without medium pieces."""
    table = {
        "game": {
            "name": "ice_boule",
            "colours": ["blue", "yellow"],
            "sizes": ["small", "large"],
            "target": "green",
        }
    }
    started = SessionStarted(
        game="ice_boule", players=("blue", "yellow"), rulings={"sizes": "declared"}, table=table
    )
    with Log(tmp_path / "two.sqlite") as log:
        session = Session.begin(log, started)
        yield session
        session.close()
