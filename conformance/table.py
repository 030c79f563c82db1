"""End-to-end tests with simulated players: judge, log, panel, lamps and statistics.

The players also make mistakes and cheat. Tables are read without error and without pictures, so
vision is not tested.
"""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pytest

from engines import GAMES
from hardware.testing.fakes import FakeLamps
from referee.live.referee import Referee
from referee.presentation.lamp_cues import cue_of_record
from referee.presentation.shown_games import title
from referee.sessions.event_store import Log
from referee.sessions.events import InputRecorded, QuestionAsked, VerdictReached
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.statistics.throws import hits
from simulation.tables import demo_table, installed_players
from simulation.true_reading import TrueEyes
from table.boards import within
from table.game_words import TRANSLATIONS
from table.games import package_text
from table.languages import CODES
from webui import create_app

ACTS, FRAMES = 25, 600
"""Maximum number of rulings, and of frames, of an evening."""
STARTED = datetime(2026, 5, 1, 18, tzinfo=UTC)


@dataclass
class Evening:
    """Observations collected during a game."""

    session: Session
    referee: Referee
    players: object
    lamps: FakeLamps
    log: Log
    pages: dict[str, list[str]] = field(default_factory=dict, repr=False)


class Watched(TrueEyes):
    """Eyes that end after some rulings; also watches lamps and panel."""

    evening: Evening

    def read(self):
        """The next frame, after checking the results of the last one."""
        frame, evening = super().read(), self.evening
        seen, board = evening.session.ledger.seq, self.setup.board
        for record in evening.session.records(self.shown):
            evening.lamps.show(cue_of_record(evening.session.ledger, record, board))
        if seen != self.shown:
            self.shown = seen
            client = create_app(evening.session, evening.referee).test_client()
            for code in CODES:
                page = client.get("/", headers={"Accept-Language": code})
                assert page.status_code == 200
                evening.pages.setdefault(code, []).append(page.text)
        return None if len(rulings(evening)) >= ACTS else frame

    shown = 0


def rulings(evening):
    """Records of rulings, questions and announcements."""
    kinds = VerdictReached | InputRecorded | QuestionAsked
    return [one.event for one in evening.session.records() if isinstance(one.event, kinds)]


@pytest.fixture(scope="module")
def evening(name, tmp_path_factory):
    """A game of simulated players, played once per game."""
    if name not in installed_players():
        pytest.skip("nobody plays it in a simulation: no entry point of the group rinkside.players")
    table = demo_table(name, 1)
    setup = table.setup
    started = opening(
        name, setup.game.colours, table.rulings, setup, "simulated", STARTED, simulated=True
    )
    path = tmp_path_factory.mktemp(name) / "log.sqlite"
    with Log(path) as log, closing(Session.begin(log, started)) as session:
        players = table.seated(session, setup)
        eyes = Watched(players.scene_at, setup, table.place, FRAMES)
        referee = Referee(eyes, setup, eyes, session)
        eyes.evening = Evening(session, referee, players, FakeLamps(), log)
        referee.run()
        yield eyes.evening


def test_what_simulated_players_do_is_ruled_as_it_was(evening):
    ledger = evening.session.ledger
    over = ledger.engine.outcome(ledger.state) is not None
    assert len(rulings(evening)) >= ACTS or over, f"the game came to a stop: {ledger.state}"
    if not (done := getattr(evening.players, "done", ())):
        pytest.skip("its players are not those of simulation.players.driver")
    counts = Counter((one.act.name, one.act.lawful, one.verdict) for one in done)
    wrong = [key for key in counts if key[2] not in ("right", "asked", "not seen")]
    assert not wrong, counts
    assert any(lawful for _, lawful, _ in counts)


def test_the_log_leads_to_the_same_state(evening, name):
    ledger = evening.session.ledger
    with closing(Session.reopen(evening.log, evening.session.id)) as again:
        assert again.ledger.state == ledger.state
    assert GAMES[name].State.parse(str(ledger.state)) == ledger.state


def test_every_ruling_has_its_clause_and_is_written_in_plain_sentences(evening):
    for event in rulings(evening):
        message = getattr(event, "message", "")
        if isinstance(event, VerdictReached):
            assert message
            assert message[0].isupper() or not message[0].isalpha()
            assert message.endswith((".", "?", "!", ":")), message
        if isinstance(event, VerdictReached) and event.verdict == "refused":
            assert event.rests_on


def test_the_panel_shows_it(evening, name):
    assert evening.pages.keys() == {*CODES}
    for page in evening.pages["en"]:
        assert title(name) in page
    if not package_text(GAMES[name], TRANSLATIONS):
        return
    for code in CODES[1:]:
        for page in evening.pages[code]:
            assert '<span lang="en">' not in page, "a sentence without a translation"


def test_lamps_show_every_moment_and_point_at_the_board(evening):
    cues, setup = evening.lamps.cues, evening.referee.setup
    assert {"turn", "accepted"} <= {cue.signal for cue in cues}
    outline = setup.board.outline()
    for cue in cues:
        assert {*cue.of} <= {*cue.players}
        for mark in cue.marks:
            assert all(within(outline, np.array(point)) for point in mark.points_mm)


def test_what_is_counted_can_be_counted(evening):
    session = evening.session
    players = {*session.ledger.players}
    assert {one.player for one in hits(session.ledger, session.records())} <= players
