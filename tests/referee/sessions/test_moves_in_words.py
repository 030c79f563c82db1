"""Whatever people correct or declare, they read no notation."""

from __future__ import annotations

from random import Random

import pytest

from engines import GAMES
from referee.sessions.moves_in_words import moves_in_words
from simulation.tables import demo_table


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_move_of_a_game_has_words(game):
    """Random games, with each move that may be played said, legal and not in notation."""
    engine = GAMES[game]
    for seed in range(4):
        chance, table = Random(seed), demo_table(game, seed)
        state = engine.set_up(table.setup.game.colours, table.rulings, table.setup.board)
        for _ in range(40):
            moves = list(engine.legal_moves(state))
            if not moves or engine.outcome(state):
                break
            kinds = {type(move): move for move in chance.sample(moves, len(moves))}
            for move in kinds.values():
                said = str(moves_in_words(engine, state, [str(move)]))
                assert said != str(move)
                assert not said.startswith(str(move))
                assert "_" not in said
            state = engine.play(state, chance.choice(moves))


def test_several_moves_are_one_sentence_and_notation_stays_where_no_game_has_words():
    engine = GAMES["zamboni_wars"]
    state = engine.State.parse(
        "players yellow red blue; zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase fire red;"
        " dice -; board yellow=SE red=SW green=NE blue=NW; rulings warp=off cover=off fire=may."
    )
    said = str(moves_in_words(engine, state, ["fire red", "die 5"]))
    assert said == "Yellow fired at red. The die showed 5."
    assert moves_in_words(engine, state, ["fire blue"]) == "fire blue."
