"""The judge of Ice Boule on tables made by hand: whole ends, sentences, refusals, knocked
pieces.
"""

from dataclasses import replace

import pytest

from engines.ice_boule import State, measurement
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Refused, Waiting

THROWS = [
    # who, mm, bearing: then leading, next, points if over (the filmed end of the benchmark)
    ("blue", 57.52, 0, "blue", "yellow", 1),
    ("yellow", 127.61, 0, "blue", "yellow", 1),
    ("yellow", 27.34, 90, "yellow", "blue", 1),
    ("blue", 54.98, 180, "yellow", "blue", 1),
    ("blue", 29.37, 180, "yellow", "blue", 1),
    ("blue", 62.34, 270, "yellow", "yellow", 1),
    ("yellow", 12.05, 270, "yellow", "yellow", 2),
    ("yellow", 38.66, 90, "yellow", None, 2),
]


def test_a_whole_end(tables, new_game):
    game = new_game()
    assert isinstance(game.see(), Waiting)
    target = game.see(tables.target())
    assert (target.code, target.moves, target.rests_on) == (
        "boule.target",
        ("target green",),
        "Before each end",
    )
    assert target.message == "The green target is upright. Blue throws next."
    assert game.document["next"] == "blue"
    for player, gap_mm, bearing_deg, leading, following, points in THROWS:
        assert game.state.next == player
        verdict = game.add(tables.beside(player, gap_mm, bearing_deg))
        assert isinstance(verdict, Accepted), verdict
        assert (verdict.code, verdict.player) == ("boule.throw", player)
        assert verdict.evidence["gap_mm"] == pytest.approx(gap_mm, abs=0.01)
        assert verdict.evidence["sigma_mm"] > 0.1
        document = game.document
        assert (document["leading"], document["next"], document["points_if_over"]) == (
            leading,
            following,
            points,
        )
        assert document["gap_mm"] == pytest.approx(gap_mm)
        again = game.add()
        assert isinstance(again, Waiting)
    assert document["end"] == {"kind": "won", "winner": "yellow", "points": 2}
    assert verdict.rests_on == "Distances and Scoring"
    assert (
        verdict.message
        == "Yellow's piece lies 38.7 ± 0.5 mm from the target. Yellow still leads, at 12.1 mm. "
        "The end is over: yellow scores 2 points. Yellow throws the target next."
    )


@pytest.mark.parametrize("gap_mm", [98.251, 98.249, 57.349, 57.3451])
def test_a_distance_is_said_once_as_it_is_recorded(tables, new_game, gap_mm):
    game = new_game()
    game.see(tables.target())
    message = game.add(tables.beside("blue", gap_mm)).message
    assert f"lies {game.document['gap_mm']:.1f} ±" in message
    assert f"leads, at {game.document['gap_mm']:.1f} mm" in message


def test_between_ends(tables, new_game):
    """The old pieces and the old target do not begin the next end."""
    state = (
        "players blue yellow; scores 2 0; starter blue; line -; target -; sizes large -; thrown 2"
        " 4; last blue 20.00; leading blue; "
    )
    state += (
        "pieces blue 20.00 < blue 30.00; end won blue 2; rulings sizes=shown repeat=same equal=keep"
        " stop=may."
    )
    game = new_game()
    game.state = State.parse(state)
    lying = [tables.target(), tables.beside("blue", 20.0), tables.beside("blue", 30.0, 90)]
    game.before = tables.seen(*lying)
    assert game.see(*lying).message == "Clear the table; then blue throws the target."
    assert (
        game.see(lying[0]).message
        == "The green piece is the last end's target; blue throws the next one."
    )
    assert game.see().message == "Blue chooses the starting line and throws the target."
    assert (
        game.see(tables.piece("green", 80, 20)).message
        == "Stand the green target upright where it lies."
    )
    two = game.see(tables.target(), tables.target("red", 90))
    assert two.message == f"Leave one target on the table. {two.differences[0]}"
    assert two.differences[0].startswith("A red piece lies at ("), "the green one lay there"
    unsure = game.see(tables.target("red", 90, colour_probability=0.8))
    assert isinstance(unsure, Ambiguous)
    assert unsure.choices == (
        Choice("A red target stands upright", ("target red",)),
        Choice("Not yet", ()),
    )
    assert isinstance(game.see(tables.piece("green", 80, 20, pose_probability=0.8)), Ambiguous)
    assert game.see(tables.target("red", 90)).moves == ("target red",)
    assert measurement(State.parse(state), game.before) == {}
    assert (
        measurement(game.state, tables.seen(tables.target("red"), lying[1]))["call"]["leading"]
        == "blue"
    )


def test_nothing_to_judge(game):
    assert game.see(*game.pieces, hand=True).message == "A hand is over the board."
    waiting = game.add()
    assert (waiting.code, waiting.message, waiting.player) == (
        "boule.throw",
        "Blue throws next.",
        "blue",
    )
    game.state = replace(game.state, scores=(13, 2), target=None, end=None)
    assert game.add().message == "The game is over: blue won with 13 points to yellow's 2."


def test_a_last_throw_that_wins(tables, new_game):
    game = new_game(["blue"])
    game.see(tables.target())
    game.state = replace(game.state, scores=(12,), thrown=(3,), sizes=("large",), last=None)
    verdict = game.add(tables.beside("blue", 20.0))
    assert verdict.message.endswith(
        "The end is over: blue scores 1 point. The game is over: blue won with 13 points."
    )


@pytest.mark.parametrize(
    ("throws", "message"),
    [
        (
            [("blue", 20.0)],
            (
                "Blue's piece lies 20.0 ± 0.5 mm from the target. Blue leads, at 20.0 mm. Yellow"
                " throws next."
            ),
        ),
        (
            [("blue", 20.0), ("yellow", 30.0)],
            (
                "Yellow's piece lies 30.0 ± 0.5 mm from the target. Blue still leads, at 20.0 mm."
                " Yellow throws again."
            ),
        ),
        (
            [("blue", -0.1)],
            (
                "Blue's piece appears to touch the target (± 0.5 mm). Blue leads,"
                " touching the target. Yellow throws next."
            ),
        ),
    ],
)
def test_sentences(tables, game, throws, message):
    for place, (player, gap_mm) in enumerate(throws):
        verdict = game.add(tables.beside(player, gap_mm, 90 * place))
    assert verdict.message == message


def test_a_piece_on_the_target(tables, game):
    verdict = game.add(tables.on("blue", game.pieces[0], 0))
    assert verdict.moves == ("throw blue large on: blue on",)
    assert (
        verdict.message
        == "Blue's piece stands on the target. Blue leads, on the target. Yellow throws next."
    )
    assert game.document["points_if_over"] == 2
    assert game.add(tables.beside("yellow", 0.0)).moves == (
        "throw yellow large touching: blue on < yellow touching",
    )


def test_refusals(tables, game):
    wrong = game.add(tables.beside("yellow", 20.0))
    assert isinstance(wrong, Refused)
    assert (wrong.code, wrong.player, wrong.tried) == (
        "boule.throw.turn",
        "yellow",
        ("throw yellow large 20.00: yellow 20.00",),
    )
    assert wrong.message == "Yellow threw out of turn. Blue throws next."
    game.add(tables.beside("blue", 20.0))
    assert game.add(tables.beside("yellow", 30.0, 90, size="small")).code == "boule.throw"
    size = game.add(tables.beside("yellow", 40.0, 180))
    assert (size.code, size.message) == (
        "boule.throw.size",
        "Yellow threw a large piece, but must throw small ones in this end.",
    )
    stranger = game.add(tables.beside("red", 40.0, 180))
    assert (stranger.code, stranger.message) == (
        "boule.throw.colour",
        "There is a red piece in play, but nobody plays red. Take it away.",
    )
    second = game.add(tables.target("green", 90, 90))
    assert isinstance(second, CannotSee), "which one is the target?"


def test_sizes_declared(tables, new_game):
    game = new_game(sizes="declared")
    game.see(tables.target())
    assert game.add(tables.beside("blue", 20.0)).code == "boule.throw.sizes"


def test_knocked_pieces_and_the_target(tables, game):
    """Everything is measured where it lies after the throw (rulings ice_boule.4 and .7)."""
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target = tables.target(x_mm=15.0)
    verdict = game.see(
        target, tables.beside("blue", 60.0), game.pieces[2], tables.beside("yellow", 50.0, 180)
    )
    assert isinstance(verdict, Accepted)
    assert verdict.evidence["moved"] == [0, 1]
    assert verdict.message.startswith(
        "The target was moved and is measured where it lies. Yellow's piece lies 65.0 "
    )
    assert verdict.rests_on == "Play; ruling ice_boule.4"
    lying = tables.piece("green", 15.0, 0.0, 180.0)
    verdict = game.see(lying, *game.pieces[1:], tables.beside("blue", 70.0, 270))
    assert isinstance(verdict, Accepted)
    assert verdict.message.startswith("The target was moved")


def test_which_piece_is_new_without_the_table_before(tables, game):
    """By distances: the state knows what lay there."""
    game.add(tables.beside("blue", 20.0))
    game.before = None
    verdict = game.see(
        tables.target(), tables.beside("yellow", 50.0, 90), tables.beside("blue", 20.1)
    )
    assert verdict.moves == ("throw yellow large 50.00: blue 20.10 < yellow 50.00",)
    game.before = None
    verdict = game.see(
        tables.target(),
        tables.beside("yellow", 15.0, 180),
        tables.beside("yellow", 50.2, 90),
        tables.beside("blue", 20.2),
    )
    assert verdict.moves == ("throw yellow large 15.00: yellow 15.00 < blue 20.20 < yellow 50.20",)
    assert verdict.evidence["moved"] == []


def test_a_table_that_is_not_the_one_before_is_not_used(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.before = tables.seen(tables.target())
    assert game.add(tables.beside("yellow", 30.0, 90)).moves == (
        "throw yellow large 30.00: blue 20.00 < yellow 30.00",
    )


@pytest.mark.parametrize("pose", ["upright", "lying"])
def test_a_target_in_a_player_s_colour_is_not_taken_and_the_reason_is_told(tables, new_game, pose):
    """It is no refusal: a lone piece may be the Centrifuge of a Catapult that is being built."""
    game = new_game()
    verdict = game.see(tables.piece("yellow", 0.0, 0.0, pose=pose))
    assert isinstance(verdict, Waiting)
    assert (verdict.code, verdict.rests_on, verdict.player) == (
        "boule.target.colour",
        "Before each end",
        "blue",
    )
    assert verdict.message.startswith(
        "The target cannot be yellow, because a player has that colour. Any colour except blue and"
        " yellow is allowed. "
    )
    assert game.see(tables.target("green")).moves == ("target green",)


def test_pieces_left_from_the_last_end_are_no_target(tables, game):
    """Neither where they lie, nor where somebody who clears the table has moved one: nobody is
    accused.
    """
    game.add(tables.piece("blue", 60.0, 0.0, pose="upright"))
    game.move("void")
    left = game.see(game.pieces[1])
    assert (left.code, left.message) == (
        "boule.target",
        "Clear the table; then blue throws the target.",
    )
    moved = game.see(tables.piece("blue", 120.0, 0.0, pose="upright"))
    assert isinstance(moved, Waiting)
    assert moved.message.endswith("Clear the table; then blue throws the target.")
