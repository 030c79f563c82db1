"""What no camera sees of Zamboni Wars: a move that ends where it began, and what is said before its
end is seen.
"""

from __future__ import annotations

import json

import pytest

from engines import zamboni_wars as game
from engines.verdict import Accepted, OutOfSync, Refused, Waiting
from engines.zamboni_wars.board import Space
from referee.live.recorded_inputs import read_inputs

BACK = "zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase move 4"


def test_a_move_that_ends_where_it_began_is_said(at):
    evening = at(BACK)
    assert isinstance(evening.judge(), Waiting)
    labels = {row["label"]: row["said"] for row in game.state_document(evening.state)["may_say"]}
    verdict = evening.count(game.hear(evening.state, labels["red ends the move where it began"]))
    assert (type(verdict), verdict.code, verdict.moves) == (Accepted, "zamboni.move", ("e2 N",))
    assert verdict.message == "Red ends the move where it began. Red may fire at yellow, or not."
    assert isinstance(evening.judge(), Waiting)


def test_dice_that_were_told_early_count_with_it(at):
    evening = at(BACK)
    evening.count(game.hear(evening.state, {"player": "red", "die": 5}))
    message = game.hear(evening.state, {"player": "red", "stays": True}).message
    assert (
        message
        == "Red ends the move where it began. Red's die shows 5. Red hit yellow: take the large"
        " yellow piece off the board."
    )


def test_it_is_refused_to_others_and_where_no_way_comes_back(at):
    for line, player, violation in (
        (BACK, "yellow", "zamboni.turn"),
        (BACK.replace("move 4", "move 2"), "red", "zamboni.move.turns"),
    ):
        refused = game.hear(at(line).state, {"player": player, "stays": True})
        assert (type(refused), refused.code, refused.evidence["violation"]) == (
            Refused,
            "zamboni.move",
            violation,
        )


def test_who_drives_next_is_told_that_the_move_before_may_be_said(at):
    evening = at(BACK)
    evening.table.drive("blue", Space.parse("d1"), "W")
    refused = evening.judge()
    assert (type(refused), refused.evidence["violation"]) == (Refused, "zamboni.move.player")
    assert "If red ended the move where it began, say so." in refused.message


@pytest.mark.parametrize("message", [{"fire": "yellow"}, {"hold": True}])
def test_who_fires_before_the_end_of_the_move_is_seen_breaks_no_rule(at, message):
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4")
    verdict = game.hear(evening.state, {"player": "red"} | message)
    assert isinstance(verdict, Waiting)
    assert verdict.message.startswith(
        "The camera has not seen red's move yet. Say this again when it has."
    )
    assert isinstance(game.hear(evening.state, {"player": "blue"} | message), Refused)


def test_where_the_laser_must_be_fired_nobody_is_offered_to_hold(at):
    evening = at("zambonis c6 SE 3, d3 S 2, c4 S 2; to_move yellow; phase roll")
    state = str(evening.state).replace("phase roll", "phase move 1")
    assert "fire=may" in state
    aimed = game.play(
        game.State.parse(state),
        next(move for move in game.legal_moves(game.State.parse(state)) if str(move) == "c6 S"),
    )
    for ruling, held in (("may", True), ("must", False)):
        rows = game.state_document(
            game.State.parse(str(aimed).replace("fire=may", f"fire={ruling}"))
        )["may_say"]
        assert any(row["said"].get("hold") for row in rows) is held
        assert any(row["said"].get("fire") for row in rows)


def test_a_recorded_game_says_it_in_a_line(film, at, tmp_path, real_table):
    """Through the whole referee, from inputs.jsonl."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase roll")
    film = film("zamboni_wars", ("yellow", "red", "blue"), real_table.BOARD)
    film.show(evening.table.seen())
    path = tmp_path / "inputs.jsonl"
    lines = [{"player": "yellow", "die": 3}, {"player": "yellow", "stays": True}]
    path.write_text(
        "".join(json.dumps({"t_ms": 2000 + k} | message) + "\n" for k, message in enumerate(lines))
    )
    film.inputs = list(read_inputs(path))
    for _ in range(2):
        film.show(evening.table.seen())
    assert [line[:3] for line in film.referee()] == [
        ("accepted", "zamboni.start", None),
        ("refused", "zamboni.move", "yellow"),
    ]


def test_a_drive_and_a_hit_in_one_go_wait_for_the_die_that_was_not_told(at):
    """Nobody is told to put back what was lawful."""
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 2; to_move red; phase move 4")
    evening.table.drive("red", Space.parse("d3"), "S")
    evening.table.strip("blue")
    waits = evening.judge()
    assert (type(waits), waits.player, waits.message) == (
        Waiting,
        "red",
        "Red's die was not announced: say what it showed.",
    )
    evening.count(game.hear(evening.state, {"player": "red", "die": 6}))
    assert evening.judge().moves == ("d3 S", "take blue")


def test_a_hit_and_the_next_drive_in_one_go_wait_for_the_roll(at):
    line = "zambonis {}, d3 S 2, {}; to_move red; phase hit {}"
    evening = at(line.format("d1 NE 2", "f1 W 3", "yellow"))
    evening.table.strip(player="yellow")
    evening.table.drive("blue", Space.parse("e1"), "N")
    waits = evening.judge()
    assert (type(waits), waits.player, waits.message) == (
        Waiting,
        "blue",
        "Blue's die was not announced: say what it showed.",
    )
    heard = evening.count(game.hear(evening.state, {"player": "blue", "die": 2}))
    assert heard.moves == ("take yellow", "roll 2")
    assert evening.judge().moves == ("e1 N",)
    evening = at(line.format("c6 SE 3", "d1 NE 2", "blue"))
    evening.table.strip("blue")
    evening.table.drive("blue", Space.parse("c1"), "W")
    assert (
        evening.judge().message
        == "Lay blue's Zamboni on d1 again, facing NE. If blue has driven since, say what the"
        " die showed."
    )
    evening.count(game.hear(evening.state, {"player": "blue", "die": 2}))
    assert evening.judge().moves == ("c1 W",)


def test_a_last_layer_that_went_with_the_drive_is_asked_about(at):
    """It is hit without a die; or the camera does not see it."""
    evening = at("zambonis c6 SE 3, f3 S 2, d1 NE 1; to_move red; phase move 4")
    evening.table.drive("red", Space.parse("d3"), "S")
    evening.table.strip("blue")
    verdict = evening.judge()
    choices = {choice.label: choice.moves for choice in verdict.asks.choices}
    both = "Red's Zamboni ended on d3, facing S; then the small blue piece was taken off the board"
    assert choices[both] == ("d3 S", "fire blue", "take blue")
    assert choices["Red's Zamboni ended on d3, facing S"] == ("d3 S",)


@pytest.mark.parametrize("phase", ["fire blue", "shot blue"])
def test_a_layer_that_went_before_the_die_was_told_is_refused_with_the_way_on(at, phase):
    evening = at(f"zambonis c6 SE 3, d3 S 2, d1 NE 2; to_move red; phase {phase}")
    evening.table.strip("blue")
    refused = evening.judge()
    assert (type(refused), refused.code) == (Refused, "zamboni.hit")
    assert "If red hit it, say what the die showed." in refused.message
    evening.count(game.hear(evening.state, {"player": "red", "die": 5}))
    assert evening.judge().moves == ("take blue",)


def test_who_drives_after_a_shot_whose_die_was_not_told_is_refused_with_the_way_on(at):
    evening = at("zambonis c6 SE 3, d3 S 2, d1 NE 2; to_move red; phase shot blue")
    evening.table.drive("blue", Space.parse("c1"), "W")
    refused = evening.judge()
    assert "If red missed, say what the die showed." in refused.message
    evening.count(game.hear(evening.state, {"player": "red", "die": 1}))
    assert (
        evening.judge().message
        == "Blue's Zamboni was moved, but no roll is known: say what the die showed."
    )


def test_two_drives_before_the_table_was_seen_at_rest_name_the_die_that_was_not_told(at):
    evening = at("zambonis c6 SE 3, d3 S 2, d1 NE 1; to_move blue; phase move 2")
    evening.table.drive("blue", Space.parse("c1"), "W")
    evening.table.drive("yellow", Space.parse("a6"), "SE")
    verdict = evening.judge()
    assert isinstance(verdict, OutOfSync)
    assert verdict.message.endswith("If yellow has driven since, say what the die showed.")
    evening.count(game.hear(evening.state, {"player": "yellow", "die": 4}, True))
    assert evening.judge().moves == ("c1 W", "a6 SE")
