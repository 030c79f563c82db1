"""Games played again at the hub: those that these rules cannot read are left out, others stay."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import select, update

from engines import GAMES
from hub.app import create_hub_app
from hub.played import PlayedGames
from hub.store import RECORDS
from referee.sessions.game_text import replay
from tests.support.evenings import Evening
from tests.support.hubs import play


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


@pytest.mark.parametrize("game", GAMES)
def test_games_of_public_records_are_played_again(club, tmp_path, game):
    evening = Evening(club, tmp_path)
    play(evening.log(), game, 5, 80)
    evening.send()
    played = PlayedGames(club.store)
    games = evening.results.games(club.actor.club_id)
    assert games
    for one in games:
        again = played.of(one)
        assert again.practice.played.scores == one.result.scores
        assert dict(replay(again.text, GAMES, "game").scores) == dict(one.result.scores)
        assert played.of(one) is again


def test_a_session_that_grows_is_played_again(club, tmp_path):
    evening = Evening(club, tmp_path)
    session = evening.began("Anna", "Ben")
    evening.send()
    played, hall = PlayedGames(club.store), club.actor.club_id
    (before,) = evening.results.games(hall)
    assert played.of(before).text.shares == ()
    session.close()
    evening.play("Anna", "Ben", lost="Ben")
    found = [played.of(one).text.shares for one in evening.results.games(hall)]
    assert found == [(), (1.0, 0.0)]


@pytest.mark.parametrize(
    "change", [{"moves": ["a move of tomorrow"]}, {"schema": 99}, {"fact": "danced"}, {"moves": 7}]
)
def test_a_session_that_cannot_be_played_again_is_left_out_and_counts_all_the_same(
    club, tmp_path, change
):
    evening = Evening(club, tmp_path)
    play(evening.log(), "icebreaker", 3, 20)
    evening.play("Anna", "Ben", lost="Ben")
    with club.store.writing() as db:
        first = db.execute(
            select(RECORDS).where(RECORDS.c.seq == RECORDS.c.session + 1).order_by(RECORDS.c.seq)
        ).first()
        document = msgspec.json.decode(first.document) | change
        mine = (RECORDS.c.log_id == first.log_id, RECORDS.c.seq == first.seq)
        changed = msgspec.json.encode(document).decode()
        db.execute(update(RECORDS).where(*mine).values(document=changed))
    played = PlayedGames(club.store)
    games = evening.results.games(club.actor.club_id)
    assert {played.of(one) is None for one in games if one.session == first.session} == {True}
    assert [played.of(one).text.moves for one in games if one.session != first.session]
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    hall = f"/halls/{club.actor.club_id}"
    assert app.test_client().get(f"{hall}/player?name=Anna&all").status_code == 200
