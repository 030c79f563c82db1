"""The pages of games that are really played and refereed: none of what a game leads to is too much
for a page.
"""

from __future__ import annotations

import pytest

from engines import GAMES
from referee.statistics.history import HistoryCache
from tests.support.misread_games import misread_game
from webui import create_app

pytestmark = pytest.mark.slow

FRAMES = 200
WHILE_PLAYING = ("/", "/play", "/host", "/host/fix", "/api/v1/state", "/api/v1/observation")
AFTERWARDS = ("/sessions", "/sessions/1", "/sessions/1/statistics", "/statistics?simulated=1")
LANGUAGES = ("en", "de", "es")
NOTHING_THERE = {"/host/fix": {404, 409}, "/api/v1/observation": {404}}
"""Before the first table: what a page or program is told instead."""


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_page_opens_after_every_record_of_a_game(game, tmp_path, as_host):
    opened, wrong = set(), []

    def look(path):
        language = LANGUAGES[len(opened) % len(LANGUAGES)]
        answer = client.get(path, headers={"Accept-Language": language})
        if answer.status_code not in {200} | NOTHING_THERE.get(path, set()):
            wrong.append((path, played.session.ledger.seq, answer.status_code))

    def glance():
        if (seq := played.session.ledger.seq) not in opened:
            opened.add(seq)
            for path in WHILE_PLAYING:
                look(path)

    log = tmp_path / "log.sqlite"
    with misread_game(game, 1, log, FRAMES) as played:
        app = create_app(played.session, played.referee, histories=HistoryCache(log))
        client, played.glance = as_host(app), glance
        played.referee.run()
        for record in played.session.records():
            look(f"/sessions/1?at={record.seq}")
        for path in AFTERWARDS:
            look(path)
        kinds = {type(record.event).__name__ for record in played.session.records()}
    assert wrong == []
    assert len(opened) > 15
    assert kinds > {"SessionStarted", "VerdictReached", "QuestionAsked"}
