"""What the hub makes of public records is what the table's own log says."""

from __future__ import annotations

import msgspec
import pytest

from engines import GAMES
from hub.sessions import fold
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import public_document, read_public_document
from referee.statistics.results import games_of
from tests.support.hubs import play


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("game", GAMES)
def test_results_are_those_of_the_tables_own_log(tmp_path, game, seed):
    with Log(tmp_path / "log.sqlite") as log:
        play(log, game, seed, 60)
    with LogReader(tmp_path / "log.sqlite") as log:
        expected = games_of(log, 1, GAMES)
        records = [
            read_public_document(
                msgspec.json.decode(msgspec.json.encode(public_document(record))), "test"
            )
            for record in log.records(1)
        ]
    found = fold(records)
    assert found.ended
    assert [
        (one.game, one.number, one.names, one.over, one.winners, one.simulated)
        for one in found.games
    ] == [
        (one.game, one.number, one.names, one.over, one.winners, one.simulated) for one in expected
    ]
    assert [dict(one.scores) for one in found.games] == [dict(one.scores) for one in expected]
    assert [set(one.players) for one in found.games] == [set(one.players) for one in expected]
