"""What no camera sees of Zamboni Wars: a move that ends where it began, and what is said before its end is seen."""

from __future__ import annotations

import json

import pytest

from engines import zamboni_wars as game
from engines.verdict import Accepted, Refused, Waiting
from engines.zamboni_wars.board import Space
from referee.inputs import read_inputs

BACK = "zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase move 4"


def test_a_move_that_ends_where_it_began_is_said(at):
    evening = at(BACK)
    assert isinstance(evening.judge(), Waiting)
    labels = {row["label"]: row["said"] for row in game.state_document(evening.state)["may_say"]}
    verdict = evening.count(game.hear(evening.state, labels["red ends where the move began"]))
    assert (type(verdict), verdict.code, verdict.moves) == (Accepted, "zamboni.move", ("e2 N",))
    assert verdict.said == "Red ends where the move began. Red may fire at yellow or hold fire."
    assert isinstance(evening.judge(), Waiting)


def test_dice_that_were_told_early_count_with_it(at):
    evening = at(BACK)
    evening.count(game.hear(evening.state, {"player": "red", "die": 5}))
    said = game.hear(evening.state, {"player": "red", "stays": True}).said
    assert said == "Red ends where the move began. Red's die shows 5. Red hit yellow: take the large yellow piece off the board."


def test_it_is_refused_to_others_and_where_no_way_comes_back(at):
    for line, player, violation in ((BACK, "yellow", "zamboni.turn"), (BACK.replace("move 4", "move 2"), "red", "zamboni.move.turns")):
        refused = game.hear(at(line).state, {"player": player, "stays": True})
        assert (type(refused), refused.code, refused.evidence["violation"]) == (Refused, "zamboni.move", violation)


def test_who_drives_next_is_told_that_the_move_before_may_be_said(at):
    evening = at(BACK)
    evening.table.drive("blue", Space.parse("d1"), "W")
    refused = evening.judge()
    assert (type(refused), refused.evidence["violation"]) == (Refused, "zamboni.move.player")
    assert "If red ended where the move began, say so." in refused.said


@pytest.mark.parametrize("said", [{"fire": "yellow"}, {"hold": True}])
def test_who_fires_before_the_end_of_the_move_is_seen_breaks_no_rule(at, said):
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4")
    verdict = game.hear(evening.state, {"player": "red"} | said)
    assert isinstance(verdict, Waiting)
    assert verdict.said.startswith("Red's move is not seen yet: say that once more when it is.")
    assert isinstance(game.hear(evening.state, {"player": "blue"} | said), Refused)


def test_where_the_laser_must_be_fired_nobody_is_offered_to_hold(at):
    evening = at("zambonis c6 SE 3, d3 S 2, c4 S 2; to_move yellow; phase roll")
    state = str(evening.state).replace("phase roll", "phase move 1")
    assert "fire=may" in state
    aimed = game.play(game.State.parse(state), next(move for move in game.legal_moves(game.State.parse(state)) if str(move) == "c6 S"))
    for ruling, held in (("may", True), ("must", False)):
        rows = game.state_document(game.State.parse(str(aimed).replace("fire=may", f"fire={ruling}")))["may_say"]
        assert any(row["said"].get("hold") for row in rows) is held
        assert any(row["said"].get("fire") for row in rows)


def test_a_recorded_game_says_it_in_a_line(film, at, tmp_path, real_table):
    """Through the whole referee, from inputs.jsonl."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase roll")
    film = film("zamboni_wars", ("yellow", "red", "blue"), real_table.BOARD)
    film.show(evening.table.seen())
    path = tmp_path / "inputs.jsonl"
    lines = [{"player": "yellow", "die": 3}, {"player": "yellow", "stays": True}]
    path.write_text("".join(json.dumps({"t_ms": 2000 + k} | said) + "\n" for k, said in enumerate(lines)))
    film.inputs = list(read_inputs(path))
    for _ in range(2):
        film.show(evening.table.seen())
    assert [line[:3] for line in film.referee()] == [("accepted", "zamboni.start", None), ("refused", "zamboni.move", "yellow")]
