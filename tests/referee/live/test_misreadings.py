"""Whatever the eyes say, the referee goes on; and eyes that never err leave nothing that is not
ruled on as what it was.
"""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import msgspec
import pytest

from benchmarks.games.misreading import FAULTS_AT_ONCE
from referee.sessions.events import VerdictReached
from referee.sessions.session import Session
from simulation.players.driver import Players as Seated
from simulation.tables import board_players
from tests.support.misread_games import misread_game

pytestmark = pytest.mark.slow

FRAMES = 300


def refereed(game, seed, folder, frames=FRAMES, faults=FAULTS_AT_ONCE):
    """The players of a simulated game after so many pictures, its records, and its state as it is,
    and as the log has it.
    """
    with misread_game(game, seed, folder / "log.sqlite", frames, faults) as played:
        played.referee.run()
        records, state = played.session.records(), played.session.ledger.state
        played.session.close()
        with closing(Session.reopen(played.log, 1)) as again:
            return played.players, records, state, again.ledger.state


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("game", ["ice_boule", *board_players()])
def test_no_table_that_is_read_badly_ends_a_game(game, seed, tmp_path):
    _, records, state, again = refereed(game, seed, tmp_path)
    assert len({type(record.event) for record in records}) > 2, (
        "some of it was ruled on, asked or put right"
    )
    assert state == again


@pytest.mark.parametrize("game", board_players())
def test_what_is_read_as_it_is_is_ruled_on_as_what_it_was(game, tmp_path):
    players, _, _, _ = refereed(game, 4, tmp_path, 2 * FRAMES, faults=(0,))
    typed = [done for done in players.done if done.act.typed is not None]
    others = [done for done in players.done if done.act.typed is None]
    assert len(others) > 15
    leaning = [done for done in others if done.act.name == "leaning throw that knocks"]
    assert {done.verdict for done in others if done not in leaning} == {"right"}
    assert {done.verdict for done in leaning} <= {"right", "asked"}, (
        "two pieces of one colour moved: people say which was thrown"
    )
    assert {done.verdict for done in typed} <= {"right", "asked"}, (
        "these eyes do not read dice: people type what they show"
    )
    assert not all(done.act.lawful for done in players.done), "cheats were called"


def test_a_right_move_is_right_whatever_was_asked_before_it_was_made_out(monkeypatch, tmp_path):
    append = Session.append

    def answered(session, event, *more, **known):
        asked = isinstance(event, VerdictReached) and event.verdict == "accepted" and event.moves
        return append(
            session,
            msgspec.structs.replace(event, code="asked.before") if asked else event,
            *more,
            **known,
        )

    monkeypatch.setattr(Session, "append", answered)
    players, records, _, _ = refereed("icebreaker", 4, tmp_path, faults=(0,))
    assert any(
        isinstance(record.event, VerdictReached) and record.event.code == "asked.before"
        for record in records
    )
    assert {done.verdict for done in players.done if done.act.moves} == {"right"}


def test_a_die_is_taken_out_of_its_corner_before_it_is_rolled(monkeypatch, tmp_path):
    scenes, scene_at = [], Seated.scene_at

    def watched(players, at_ms):
        scenes.append(scene_at(players, at_ms))
        return scenes[-1]

    monkeypatch.setattr(Seated, "scene_at", watched)
    refereed("zamboni_wars", 4, tmp_path, faults=(0,))
    dice = [scene.dice for scene in scenes]
    assert len({one for lying in dice for one in lying}) > 2
    assert not any(before and after and before != after for before, after in pairwise(dice)), (
        "it lies elsewhere at once"
    )
