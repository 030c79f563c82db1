"""What is too close to call: asked where something hangs on it, answered by people, and not asked
again.
"""

from dataclasses import replace

import numpy as np
import pytest

from engines.errors import AmbiguousMove, InvalidNotation
from engines.ice_boule import State, hear, judge, judge_answer, judge_stop, parse_move, play
from engines.verdict import Accepted, Ambiguous, Choice


def test_who_leads_too_close_to_call(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 19.9, 90))
    assert isinstance(asked, Ambiguous)
    assert (asked.code, asked.rests_on, asked.player) == (
        "boule.too_close",
        "ruling ice_boule.2",
        "yellow",
    )
    assert (
        asked.message
        == "Too close to call: yellow 19.9 ± 0.5 mm, blue 20.0 ± 0.5 mm. Measure with a calliper or"
        " decide together."
    )
    assert asked.evidence["call"]["too_close"]
    assert asked.choices == (
        Choice("Yellow is nearest", ("throw yellow large 19.90: yellow 19.90 < blue 20.00",)),
        Choice("Blue is nearest", ("throw yellow large 19.95: blue 19.95 < yellow 19.95",)),
        Choice(
            "Yellow and blue are equally near",
            ("throw yellow large 19.95: yellow 19.95 = blue 19.95",),
        ),
    )
    decided = game.answer(asked, "blue is nearest")
    assert decided.message == "Blue is nearest. Decided by the players."
    assert game.document["leading"] == "blue"
    # The two lie still: nobody is asked again, and the next throw counts against what was decided.
    verdict = game.add(tables.beside("yellow", 50.0, 180))
    assert verdict.moves == ("throw yellow large 50.00: blue 19.95 < yellow 19.95 < yellow 50.00",)
    assert game.document["leading"] == "blue"
    # Without the table before, nobody knows that they lie still.
    game.before = None
    assert isinstance(game.add(tables.beside("yellow", 60.0, 270)), Ambiguous)


def test_a_decision_falls_when_the_target_or_a_piece_moves(tables, game, new_game):
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), "Blue is nearest")
    target, blue, yellow = game.pieces
    moved = game.see(
        tables.target(x_mm=0.0, y_mm=1.5), blue, yellow, tables.beside("yellow", 60.0, 180)
    )
    assert "yellow 18.40 < blue" in moved.moves[0], "the target came nearer to yellow"
    game = new_game()
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), "Blue is nearest")
    moved = game.see(
        target, blue, tables.beside("yellow", 15.0, 90), tables.beside("yellow", 60.0, 180)
    )
    assert "yellow 15.00 < blue 19.95" in moved.moves[0]


def test_equal_pieces_stay_equal(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 20.1, 90)), "Blue and yellow are equally near")
    assert game.document["leading"] == "blue", "an equal distance does not take the lead"
    asked = game.add(tables.beside("yellow", 20.2, 180))
    assert isinstance(asked, Ambiguous)
    assert [choice.label for choice in asked.choices] == [
        "Yellow is nearest",
        "Blue and yellow are equally near",
    ]
    game.answer(asked, "Blue and yellow are equally near")
    assert game.document["pieces"] == "blue 20.05 = yellow 20.05 < yellow 20.20"
    verdict = game.add(tables.beside("yellow", 90.0, 270))
    assert verdict.message.endswith(
        "Blue still leads, at 20.1 mm (an equal distance does not take the lead). Yellow throws"
        " again."
    )


def test_three_level_at_the_lead(tables, new_game):
    game = new_game(["blue", "yellow", "red"])
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 10.0, 90))
    asked = game.see(
        *game.pieces[:2], tables.beside("yellow", 20.1, 90), tables.beside("red", 20.2, 180)
    )
    assert [choice.label for choice in asked.choices] == [
        "Blue is nearest",
        "Yellow is nearest",
        "Red is nearest",
        "Blue and yellow are equally near",
        "Blue and red are equally near",
        "Yellow and red are equally near",
        "Blue, yellow and red are equally near",
    ]
    assert asked.choices[5].moves == (
        "throw red large 20.10: yellow 20.10 = red 20.10 < blue 20.10",
    )
    game.answer(asked, "Blue and red are equally near")
    assert (game.document["leading"], game.document["next"]) == (None, "red")
    verdict = game.add(tables.beside("red", 90.0, 270))
    assert "Blue and red are level, and nobody leads." in verdict.message


def end_with(tables, new_game, gaps):
    """Blue leads and yellow has one throw left, with which the end is over; blue's other pieces lie
    at `gaps`.
    """
    game = new_game()
    game.see(tables.target())
    pieces = [
        tables.beside("blue", gap, bearing)
        for gap, bearing in zip(gaps, (0, 90, 180, 270), strict=False)
    ]
    layout = " < ".join(f"blue {gap:.2f}" for gap in gaps)
    last = "last yellow out; leading blue; "
    game.state = State.parse(
        "players blue yellow; scores 0 0; starter blue; line -; target green; sizes large large;"
        f" thrown 4 3; {last}pieces {layout}; end -; rulings sizes=shown repeat=same equal=keep"
        " stop=may."
    )
    game.pieces = [*game.pieces, *pieces]
    game.before = tables.seen(*game.pieces)
    return game


def test_the_score_too_close_to_call(tables, new_game):
    game = end_with(tables, new_game, [10.0, 20.0, 30.0])
    asked = game.add(tables.beside("yellow", 20.1, 270))
    assert (
        asked.message
        == "Too close to call: blue 20.0 ± 0.5 mm, yellow 20.1 ± 0.5 mm. Measure with a calliper or"
        " decide together."
    )
    assert asked.choices == (
        Choice(
            "Blue is nearest, and scores 1 point",
            ("throw yellow large 20.05: blue 10.00 < yellow 20.05 < blue 20.05 < blue 30.00",),
        ),
        Choice(
            "Blue is nearest, and scores 2 points",
            ("throw yellow large 20.10: blue 10.00 < blue 20.00 < yellow 20.10 < blue 30.00",),
        ),
    )
    assert judge_answer(asked, {"blue 2": 20.04, "yellow": 20.02}).moves == asked.choices[0].moves
    assert judge_answer(asked, {"blue 2": 20.02, "yellow": 20.04}).moves == asked.choices[1].moves
    assert judge_answer(asked, {"blue 2": 20.02, "yellow": 20.02}).moves == asked.choices[0].moves
    with pytest.raises(
        AmbiguousMove,
        match=("'blue 10 mm, yellow 20 mm': This fits 'Blue is nearest, and scores 1 point' and"),
    ):
        judge_answer(asked, {"blue": 10.0, "yellow": 20.0})
    game.answer(asked, "Blue is nearest, and scores 2 points")
    assert game.document["end"]["points"] == 2


def test_lead_and_score_too_close_to_call_at_once(tables, new_game):
    game = end_with(tables, new_game, [20.0, 20.2])
    asked = game.add(tables.beside("yellow", 20.1, 270))
    assert [choice.label for choice in asked.choices] == [
        "Blue is nearest, and scores 1 point",
        "Blue is nearest, and scores 2 points",
        "Yellow is nearest, and scores 1 point",
        "Blue and yellow are equally near",
    ]
    for choice in asked.choices:
        play(game.state, parse_move(choice.moves[0]))


def test_calliper_on_the_lead(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 19.9, 90))
    assert (
        judge_answer(asked, {"blue": 19.91, "yellow": 19.95}, "red's umpire").message
        == "Blue is nearest. Decided by red's umpire, measured with a calliper (blue 19.91 mm,"
        " yellow 19.95 mm)."
    )
    assert judge_answer(asked, {"blue": 20.0, "yellow": 20.0}).moves == asked.choices[2].moves
    for answer, expected in [
        ("red is nearest", "expected one of 'Yellow is nearest'"),
        ({"blue": 1.0, "red": 2.0}, "expected a piece such as 'blue' or 'blue 2'"),
        ({"blue 2": 1.0}, "expected a piece such as 'blue' or 'blue 2'"),
    ]:
        with pytest.raises(InvalidNotation, match=expected):
            judge_answer(asked, answer)


def test_calliper_where_it_cannot_answer(tables, game, new_game):
    """Pieces that are missing are no question of distance; doubts further out do not matter."""
    game.add(tables.beside("blue", 20.0))
    asked = game.see(*game.pieces[1:])
    with pytest.raises(InvalidNotation, match="fits none of them"):
        judge_answer(asked, {"blue": 20.0})
    game = new_game()
    game.see(tables.target())
    game.add(tables.beside("blue", 60.0))
    game.add(tables.beside("yellow", 20.0, 90))
    game.add(tables.beside("blue", 60.1, 180))
    asked = game.add(tables.beside("blue", 20.1, 270))
    assert (
        judge_answer(asked, {"blue": 19.9, "yellow": 20.0, "blue 2": 60.0, "blue 3": 61.0}).moves
        == asked.choices[1].moves
    )


def test_tied_and_void_ends_in_words(tables, new_game):
    game = end_with(tables, new_game, [20.0])
    game.answer(game.add(tables.beside("yellow", 20.1, 180)), "Blue and yellow are equally near")
    assert game.document["end"]["kind"] == "tied"
    game = end_with(tables, new_game, [20.0])
    game.state = replace(game.state, thrown=(4, 0))
    for gap_mm, bearing in ((20.1, 90), (90.0, 180), (100.0, 270)):
        verdict = game.add(tables.beside("yellow", gap_mm, bearing))
        if isinstance(verdict, Ambiguous):
            game.answer(verdict, "Blue and yellow are equally near")
    verdict = game.add(tables.beside("yellow", 110.0, 270, 15))
    assert verdict.message.endswith(
        "The end is tied at the leading distance. It is played again, and nobody scores."
        " Blue throws the target next."
    )


def test_stopping():
    base = (
        "players blue yellow; scores 0 0; starter blue; line -; target green; sizes large large;"
        " thrown 2 4; last blue 8.10; leading blue; "
    )
    rulings = "end -; rulings sizes=shown repeat=same equal=keep stop=may."
    state = State.parse(f"{base}pieces blue 3.00 < yellow 8.00 < blue 8.10; {rulings}")
    stop = judge_stop(state, "blue")
    assert (stop.code, stop.moves, stop.rests_on) == (
        "boule.stop",
        ("stop blue",),
        "ruling ice_boule.7; Distances and Scoring",
    )
    assert (
        stop.message
        == "Blue stops throwing. The end is over: blue scores 1 point. Blue throws the target next."
    )
    assert judge_stop(state, "yellow").code == "boule.stop.turn"
    asked = judge_stop(
        State.parse(f"{base}pieces blue 3.00 < yellow 8.00 ~ blue 8.10; {rulings}"), "blue"
    )
    assert [choice.moves for choice in asked.choices] == [
        ("stop blue: blue 3.00 < yellow 8.00 < blue 8.10",),
        ("stop blue: blue 3.00 < blue 8.05 < yellow 8.05",),
    ]
    assert judge_answer(asked, {"blue 2": 8.0, "yellow": 8.1}).moves == asked.choices[1].moves


def test_a_throw_that_left_the_play_area_is_heard():
    base = (
        "players blue yellow; scores 0 0; starter blue; line -; target green; sizes large large;"
        " thrown {} 4; last blue 8.10; leading blue; "
    )
    rulings = "end -; rulings sizes=shown repeat=same equal=keep stop=may."
    state = State.parse(f"{base.format(2)}pieces blue 3.00 < yellow 8.00 ~ blue 8.10; {rulings}")
    out = hear(state, {"player": "blue", "out": True})
    assert (out.code, out.moves, out.rests_on) == (
        "boule.throw",
        ("throw blue out: blue 3.00 < yellow 8.00 ~ blue 8.10",),
        "Play",
    )
    assert out.message.startswith(
        "Blue's piece left the play area; it counts as thrown. Blue still leads, at 3.0 mm."
    )
    assert hear(state, {"player": "yellow", "out": True}).code == "boule.throw.spent"
    last = State.parse(f"{base.format(3)}pieces blue 3.00 < yellow 8.00 ~ blue 8.10; {rulings}")
    asked = hear(last, {"player": "blue", "out": True})
    assert [choice.moves for choice in asked.choices] == [
        ("throw blue out: blue 3.00 < yellow 8.00 < blue 8.10",),
        ("throw blue out: blue 3.00 < blue 8.05 < yellow 8.05",),
    ]
    assert (
        play(
            last, parse_move(judge_answer(asked, {"blue 2": 8.0, "yellow": 8.1}).moves[0])
        ).end.points
        == 2
    )


def test_a_doubtful_second_place_waits_until_it_counts(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 10.0, 90))
    verdict = game.add(tables.beside("blue", 20.1, 180))
    assert isinstance(verdict, Accepted)
    game.state = replace(game.state, thrown=(3, 1))
    verdict = game.add(tables.beside("blue", 5.0, 270))
    assert isinstance(verdict, Accepted)
    verdict = game.add(tables.beside("yellow", 20.05, 0, 15))
    assert isinstance(verdict, Accepted)
    assert (
        game.document["pieces"]
        == "blue 5.00 < yellow 10.00 < blue 20.00 ~ yellow 20.05 ~ blue 20.10"
    )


def test_what_was_said_to_be_equal_may_still_lead(tables, game):
    """A third piece comes as near: that it leads alone is not the only answer."""
    game.add(tables.beside("blue", 0.2))
    game.answer(game.add(tables.beside("yellow", 0.3, 90)), "Blue and yellow are equally near")
    asked = game.add(tables.beside("yellow", 0.1, 180))
    assert isinstance(asked, Ambiguous)
    assert {choice.label for choice in asked.choices} == {
        "Yellow is nearest",
        "Blue and yellow are equally near",
    }
    game.answer(asked, "Blue and yellow are equally near")
    assert game.state.layout.leaders == {"blue", "yellow"}


def test_what_makes_it_too_close_is_said(tables, game):
    """Far apart by the numbers, and still not sure: the picture leaves open how one of them
    lies.
    """
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 30.0, 90, pose_probability=0.95))
    assert isinstance(asked, Ambiguous)
    assert asked.message.startswith(
        "Too close to call: blue 20.0 ± 0.5 mm, yellow 30.0 ± 0.5 mm if it is lying (95% sure). "
    )


def test_a_piece_behind_one_that_people_said_is_farther_may_be_nearer_all_the_same(tables, game):
    """Blue's first was said to be farther than yellow's; blue's second is read hardly farther
    still, and nobody has measured it.
    """
    game.add(tables.beside("blue", 20.2))
    asked = game.add(tables.beside("yellow", 20.0, 90))
    game.answer(asked, "Yellow is nearest")
    asked = game.add(tables.beside("blue", 20.3, 180))
    assert asked.code == "boule.too_close"
    assert [choice.label for choice in asked.choices] == [
        "Yellow is nearest",
        "Blue is nearest",
        "Yellow and blue are equally near",
    ]
    decided = game.answer(asked, "Blue is nearest")
    assert decided.moves == ("throw blue large 20.15: blue 20.15 < yellow 20.15 < blue 20.20",)


def test_a_nudge_that_is_seen_of_no_piece_alone_ends_what_was_decided(tables, game):
    """They were said to be equally near; the next throw pushed one 1.8 mm away, which is less than
    each reading may be off.
    """
    game.add(tables.beside("blue", 20.0, sigma_mm=0.4))
    game.answer(
        game.add(tables.beside("yellow", 20.1, 90, sigma_mm=0.4)),
        "Blue and yellow are equally near",
    )
    target, blue, _ = game.pieces
    nudged = tables.beside("yellow", 18.3, 90, sigma_mm=0.4)
    verdict = game.see(target, blue, nudged, tables.beside("yellow", 60.0, 180, sigma_mm=0.4))
    choices = verdict.choices if isinstance(verdict, Ambiguous) else ()
    leads = [
        play(game.state, parse_move(choice.moves[0])).leading for choice in choices if choice.moves
    ]
    assert "yellow" in (leads or [game.document["leading"]])


def test_a_second_piece_of_the_leader_that_is_too_close_is_not_counted_unasked(tables, game):
    """Yellow leads, as people said; yellow's next lies by the picture nearer still, and may well
    lie behind blue's.
    """
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), "Yellow is nearest")
    game.state = replace(game.state, thrown=(4, 2))
    verdict = game.add(tables.beside("yellow", 19.8, 180))
    assert isinstance(verdict, Accepted), "yellow leads, either way"
    assert game.state.layout.points_in_doubt("yellow")
    asked = hear(game.state, {"player": "yellow", "stop": True})
    assert [choice.label for choice in asked.choices] == [
        "Yellow is nearest, and scores 1 point",
        "Yellow is nearest, and scores 2 points",
    ]


def test_which_of_two_pieces_alike_was_said_to_be_equal_nobody_knows(tables, game):
    """Red and a blue piece touch, and so does another blue one; when one of the blue ones is
    knocked away, the other may be either.
    """
    game.add(tables.beside("blue", 0.0))
    game.answer(game.add(tables.beside("yellow", 0.0, 90)), "Blue and yellow are equally near")
    game.answer(game.add(tables.beside("yellow", 0.0, 180)), "Blue and yellow are equally near")
    target, blue, first, second = game.pieces
    for away, stays in ((first, second), (second, first)):
        knocked = tables.beside("yellow", 40.0, 90 if away is first else 180)
        verdict = judge(
            game.state,
            tables.seen(target, blue, stays, knocked, tables.beside("yellow", 60.0, 270)),
            game.before,
        )
        assert isinstance(verdict, Ambiguous)
        assert "Blue and yellow are equally near" in {choice.label for choice in verdict.choices}


def nudged(tables, game, gap_mm, throws):
    """Yellow's piece at 90 degrees is read at another distance, and whoever is next throws one far
    off.
    """
    target, blue, _, *rest = game.pieces
    far = tables.beside(game.state.next, 80.0 + 30 * throws, 270 if throws % 2 else 180)
    return game.see(target, blue, tables.beside("yellow", gap_mm, 90), *rest, far)


@pytest.mark.parametrize(
    "answer", ["Blue is nearest", "Yellow is nearest", "Yellow and blue are equally near"]
)
@pytest.mark.parametrize("nudge_mm", [-0.9, -0.4, 0.4, 0.9])
def test_an_answer_stays_in_force_where_a_piece_moved_by_less_than_pictures_differ(
    tables, game, answer, nudge_mm
):
    """A piece that is nudged by less than a millimetre is none that was seen to move: nobody is
    asked anew.
    """
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), answer)
    message = str(game.state.layout)
    verdict = nudged(tables, game, 19.9 + nudge_mm, 0)
    assert isinstance(verdict, Accepted)
    assert str(game.state.layout).startswith(f"{message} < ")


@pytest.mark.parametrize("answer", ["Blue is nearest", "Yellow and blue are equally near"])
@pytest.mark.parametrize("nudges_mm", [(0.6, 0.6, 0.6), (0.4, 0.4, 0.4, 0.4, 0.4), (0.9, 0.9)])
def test_small_nudges_that_add_up_to_more_than_the_doubt_end_an_answer(
    tables, game, answer, nudges_mm
):
    """Each is too small to be seen; together they brought yellow clearly nearer, whatever was said
    of the two before.
    """
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), answer)
    gap_mm = 19.9
    for throws, nudge_mm in enumerate(nudges_mm):
        gap_mm -= nudge_mm
        assert isinstance(nudged(tables, game, gap_mm, throws), Accepted)
    assert str(game.state.layout).startswith(f"yellow {gap_mm:.2f} < blue ")


@pytest.mark.parametrize("sigma_mm", [0.1, 0.4, 1.0])
def test_what_people_said_is_not_asked_again_nor_forgotten_because_pictures_differ(
    tables, new_game, sigma_mm
):
    """Whatever they said of whatever was too close, and however far that is from what was read."""
    chance = np.random.default_rng(7)
    for _ in range(40):
        game = new_game()
        game.see(tables.target(sigma_mm=sigma_mm))
        game.add(tables.beside("blue", 20.0, sigma_mm=sigma_mm))
        gap_mm = 20.0 - float(chance.uniform(0, 5 * sigma_mm))
        asked = game.add(tables.beside("yellow", gap_mm, 90, sigma_mm=sigma_mm))
        if not isinstance(asked, Ambiguous):
            continue
        game.answer(asked, chance.choice([choice.label for choice in asked.choices]))
        message = str(game.state.layout)
        for throws in range(2):
            target, _, _, *rest = game.pieces
            read_mm = np.array([20.0, gap_mm]) + chance.uniform(-0.4, 0.4, 2)
            blue, yellow = (
                tables.beside(*piece, sigma_mm=sigma_mm)
                for piece in (("blue", read_mm[0]), ("yellow", read_mm[1], 90))
            )
            far = tables.beside(
                game.state.next, 80.0 + 30 * throws, 270 if throws % 2 else 180, sigma_mm=sigma_mm
            )
            assert isinstance(game.see(target, blue, yellow, *rest, far), Accepted)
            assert str(game.state.layout).startswith(f"{message} < ")
