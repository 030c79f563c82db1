"""The judge of Ice Boule on tables made by hand: whole ends, and everything that may go wrong on a table."""

from dataclasses import replace

import pytest

from engines.errors import AmbiguousMove, InvalidNotation
from engines.ice_boule import State, judge, judge_answer, judge_stop, measurement, parse_move, play, start, state_document
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Refused, Waiting


class Game:
    """A game that follows what the judge accepts, as the referee does."""

    def __init__(self, tables, players=("blue", "yellow"), moves=(), **rulings):
        self.tables, self.state, self.before, self.pieces = tables, start(players, rulings), None, []
        for move in moves:
            self.move(move)

    def move(self, *moves):
        """Play moves in notation."""
        for text in moves:
            self.state = play(self.state, parse_move(text))

    def see(self, *pieces, off=(), hand=False):
        """Judge a table; what is accepted is played, and the table remembered."""
        seen = self.tables.seen(*pieces, off=off, hand=hand)
        verdict = judge(self.state, seen, self.before)
        self.asked = seen
        if isinstance(verdict, Accepted):
            self.move(*verdict.moves)
            self.before, self.pieces = seen, list(pieces)
        return verdict

    def add(self, *pieces):
        """Judge the last accepted table with more pieces."""
        return self.see(*self.pieces, *pieces)

    def answer(self, verdict, answer):
        """People decide a question."""
        decided = judge_answer(verdict, answer)
        self.move(*decided.moves)
        self.before, self.pieces = self.asked, list(self.asked.pieces)
        return decided

    @property
    def document(self):
        return state_document(self.state)


@pytest.fixture
def game(tables):
    """An end of blue and yellow that has begun: the target stands."""
    game = Game(tables)
    game.see(tables.target())
    return game


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


def test_a_whole_end(tables):
    game = Game(tables)
    assert isinstance(game.see(), Waiting)
    target = game.see(tables.target())
    assert (target.code, target.moves, target.rests_on) == ("boule.target", ("target green",), "Before each end")
    assert target.said == "The green target stands. Blue throws next."
    assert game.document["next"] == "blue"
    for player, gap_mm, bearing_deg, leading, following, points in THROWS:
        assert game.state.next == player
        verdict = game.add(tables.beside(player, gap_mm, bearing_deg))
        assert isinstance(verdict, Accepted), verdict
        assert (verdict.code, verdict.player) == ("boule.throw", player)
        assert verdict.evidence["gap_mm"] == pytest.approx(gap_mm, abs=0.01)
        assert verdict.evidence["sigma_mm"] > 0.1
        document = game.document
        assert (document["leading"], document["next"], document["points_if_over"]) == (leading, following, points)
        assert document["gap_mm"] == pytest.approx(gap_mm)
        again = game.add()
        assert isinstance(again, Waiting)
    assert document["end"] == {"kind": "won", "winner": "yellow", "points": 2}
    assert verdict.rests_on == "Distances and Scoring"
    assert verdict.said == (
        "Yellow's piece lies 38.7 ± 0.5 mm from the target. Yellow still leads, at 12.1 mm. "
        "The end is over: yellow scores 2 points. Yellow throws the target next."
    )


def test_between_ends(tables):
    """The old pieces and the old target do not begin the next end."""
    state = "players blue yellow; scores 2 0; starter blue; line -; target -; sizes large -; thrown 2 4; last blue 20.00; leading blue; "
    state += "pieces blue 20.00 < blue 30.00; end won blue 2; rulings sizes=shown repeat=same equal=keep stop=may."
    game = Game(tables)
    game.state = State.parse(state)
    lying = [tables.target(), tables.beside("blue", 20.0), tables.beside("blue", 30.0, 90)]
    game.before = tables.seen(*lying)
    assert game.see(*lying).said == "Clear the table; then blue throws the target."
    assert game.see(lying[0]).said == "The green piece is the last end's target; blue throws the next one."
    assert game.see().said == "Blue chooses the starting line and throws the target."
    assert game.see(tables.piece("green", 80, 20)).said == "Stand the green target upright where it lies."
    assert game.see(tables.target(), tables.target("red", 90)).said == "Leave one target on the table."
    unsure = game.see(tables.target("red", 90, colour_probability=0.8))
    assert isinstance(unsure, Ambiguous)
    assert unsure.choices == (Choice("A red target stands upright", ("target red",)), Choice("Not yet", ()))
    assert isinstance(game.see(tables.piece("green", 80, 20, pose_probability=0.8)), Ambiguous)
    assert game.see(tables.target("red", 90)).moves == ("target red",)
    assert measurement(State.parse(state), game.before) == {}
    assert measurement(game.state, tables.seen(tables.target("red"), lying[1]))["call"]["leading"] == "blue"


def test_nothing_to_judge(game):
    assert game.see(*game.pieces, hand=True).said == "A hand is over the table."
    waiting = game.add()
    assert (waiting.code, waiting.said, waiting.player) == ("boule.throw", "Blue throws next.", "blue")
    game.state = replace(game.state, scores=(13, 2), target=None, end=None)
    assert game.add().said == "The game is over: blue won with 13 points to yellow's 2."


def test_a_last_throw_that_wins(tables):
    game = Game(tables, ["blue"])
    game.see(tables.target())
    game.state = replace(game.state, scores=(12,), thrown=(3,), sizes=("large",), last=None)
    verdict = game.add(tables.beside("blue", 20.0))
    assert verdict.said.endswith("The end is over: blue scores 1 point. The game is over: blue won with 13 points.")


@pytest.mark.parametrize(
    ("throws", "said"),
    [
        ([("blue", 20.0)], "Blue's piece lies 20.0 ± 0.5 mm from the target. Blue leads, at 20.0 mm. Yellow throws next."),
        ([("blue", 20.0), ("yellow", 30.0)], "Yellow's piece lies 30.0 ± 0.5 mm from the target. Blue still leads, at 20.0 mm. Yellow throws again."),
        ([("blue", -0.1)], "Blue's piece touches the target, as far as can be seen (± 0.5 mm). Blue leads, touching it. Yellow throws next."),
    ],
)
def test_sentences(tables, game, throws, said):
    for place, (player, gap_mm) in enumerate(throws):
        verdict = game.add(tables.beside(player, gap_mm, 90 * place))
    assert verdict.said == said


def test_a_piece_on_the_target(tables, game):
    verdict = game.add(tables.on("blue", game.pieces[0], 0))
    assert verdict.moves == ("throw blue large on: blue on",)
    assert verdict.said == "Blue's piece stands on the target. Blue leads, on the target. Yellow throws next."
    assert game.document["points_if_over"] == 2
    assert game.add(tables.beside("yellow", 0.0)).moves == ("throw yellow large touching: blue on < yellow touching",)


def test_refusals(tables, game):
    wrong = game.add(tables.beside("yellow", 20.0))
    assert isinstance(wrong, Refused)
    assert (wrong.code, wrong.player, wrong.tried) == ("boule.throw.turn", "yellow", ("throw yellow large 20.00: yellow 20.00",))
    assert wrong.said == "It is not yellow's throw. Blue throws next."
    game.add(tables.beside("blue", 20.0))
    assert game.add(tables.beside("yellow", 30.0, 90, size="small")).code == "boule.throw"
    size = game.add(tables.beside("yellow", 40.0, 180))
    assert (size.code, size.said) == ("boule.throw.size", "Yellow throws small pieces in this end, and this one is large.")
    stranger = game.add(tables.beside("red", 40.0, 180))
    assert (stranger.code, stranger.said) == ("boule.throw.colour", "A red piece lies in play, and nobody plays red. Take it away.")
    second = game.add(tables.target("green", 90, 90))
    assert isinstance(second, CannotSee), "which one is the target?"


def test_sizes_declared(tables):
    game = Game(tables, sizes="declared")
    game.see(tables.target())
    assert game.add(tables.beside("blue", 20.0)).code == "boule.throw.sizes"


def test_knocked_pieces_and_the_target(tables, game):
    """Everything is measured where it lies after the throw (rulings ice_boule.4 and .7)."""
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target = tables.target(x_mm=15.0)
    verdict = game.see(target, tables.beside("blue", 60.0), game.pieces[2], tables.beside("yellow", 50.0, 180))
    assert isinstance(verdict, Accepted)
    assert verdict.evidence["moved"] == [0, 1]
    assert verdict.said.startswith("The target was moved and is measured where it lies. Yellow's piece lies 65.0 ")
    assert verdict.rests_on == "Play; ruling ice_boule.4"
    lying = tables.piece("green", 15.0, 0.0, 180.0)
    verdict = game.see(lying, *game.pieces[1:], tables.beside("blue", 70.0, 270))
    assert isinstance(verdict, Accepted)
    assert verdict.said.startswith("The target was moved")


def test_which_piece_is_new_without_the_table_before(tables, game):
    """By distances: the state knows what lay there."""
    game.add(tables.beside("blue", 20.0))
    game.before = None
    verdict = game.see(tables.target(), tables.beside("yellow", 50.0, 90), tables.beside("blue", 20.1))
    assert verdict.moves == ("throw yellow large 50.00: blue 20.10 < yellow 50.00",)
    game.before = None
    verdict = game.see(tables.target(), tables.beside("yellow", 15.0, 180), tables.beside("yellow", 50.2, 90), tables.beside("blue", 20.2))
    assert verdict.moves == ("throw yellow large 15.00: yellow 15.00 < blue 20.20 < yellow 50.20",)
    assert verdict.evidence["moved"] == []


def test_a_table_that_is_not_the_one_before_is_not_used(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.before = tables.seen(tables.target())
    assert game.add(tables.beside("yellow", 30.0, 90)).moves == ("throw yellow large 30.00: blue 20.00 < yellow 30.00",)


def test_who_leads_too_close_to_call(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 19.9, 90))
    assert isinstance(asked, Ambiguous)
    assert (asked.code, asked.rests_on, asked.player) == ("boule.too_close", "ruling ice_boule.2", "yellow")
    assert asked.said == "Too close to call: yellow 19.9 ± 0.5 mm, blue 20.0 ± 0.5 mm. Measure with a calliper or decide together."
    assert asked.evidence["call"]["too_close"]
    assert asked.choices == (
        Choice("Yellow is nearest", ("throw yellow large 19.90: yellow 19.90 < blue 20.00",)),
        Choice("Blue is nearest", ("throw yellow large 19.95: blue 19.95 < yellow 19.95",)),
        Choice("Yellow and blue are equally near", ("throw yellow large 19.95: yellow 19.95 = blue 19.95",)),
    )
    decided = game.answer(asked, "blue is nearest")
    assert decided.said == "Blue is nearest: the players decided."
    assert game.document["leading"] == "blue"
    # The two lie still: nobody is asked again, and the next throw counts against what was decided.
    verdict = game.add(tables.beside("yellow", 50.0, 180))
    assert verdict.moves == ("throw yellow large 50.00: blue 19.95 < yellow 19.95 < yellow 50.00",)
    assert game.document["leading"] == "blue"
    # Without the table before, nobody knows that they lie still.
    game.before = None
    assert isinstance(game.add(tables.beside("yellow", 60.0, 270)), Ambiguous)


def test_a_decision_falls_when_the_target_or_a_piece_moves(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), "Blue is nearest")
    target, blue, yellow = game.pieces
    moved = game.see(tables.target(x_mm=0.0, y_mm=1.5), blue, yellow, tables.beside("yellow", 60.0, 180))
    assert "yellow 18.40 < blue" in moved.moves[0], "the target came nearer to yellow"
    game = Game(tables)
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 19.9, 90)), "Blue is nearest")
    moved = game.see(target, blue, tables.beside("yellow", 15.0, 90), tables.beside("yellow", 60.0, 180))
    assert "yellow 15.00 < blue 19.95" in moved.moves[0]


def test_equal_pieces_stay_equal(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.answer(game.add(tables.beside("yellow", 20.1, 90)), "Blue and yellow are equally near")
    assert game.document["leading"] == "blue", "an equal distance does not take the lead"
    asked = game.add(tables.beside("yellow", 20.2, 180))
    assert isinstance(asked, Ambiguous)
    assert [choice.label for choice in asked.choices] == ["Yellow is nearest", "Blue and yellow are equally near"]
    game.answer(asked, "Blue and yellow are equally near")
    assert game.document["pieces"] == "blue 20.05 = yellow 20.05 < yellow 20.20"
    verdict = game.add(tables.beside("yellow", 90.0, 270))
    assert verdict.said.endswith("Blue still leads, at 20.1 mm (an equal distance does not take the lead). Yellow throws again.")


def test_three_level_at_the_lead(tables):
    game = Game(tables, ["blue", "yellow", "red"])
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 10.0, 90))
    asked = game.see(*game.pieces[:2], tables.beside("yellow", 20.1, 90), tables.beside("red", 20.2, 180))
    assert [choice.label for choice in asked.choices] == [
        "Blue is nearest",
        "Yellow is nearest",
        "Red is nearest",
        "Blue and yellow are equally near",
        "Blue and red are equally near",
        "Yellow and red are equally near",
        "Blue, yellow and red are equally near",
    ]
    assert asked.choices[5].moves == ("throw red large 20.10: yellow 20.10 = red 20.10 < blue 20.10",)
    game.answer(asked, "Blue and red are equally near")
    assert (game.document["leading"], game.document["next"]) == (None, "red")
    verdict = game.add(tables.beside("red", 90.0, 270))
    assert "Blue and red are level, and nobody leads." in verdict.said


def end_with(tables, gaps):
    """Blue leads and yellow has one throw left, with which the end is over; blue's other pieces lie at `gaps`."""
    game = Game(tables)
    game.see(tables.target())
    pieces = [tables.beside("blue", gap, bearing) for gap, bearing in zip(gaps, (0, 90, 180, 270), strict=False)]
    layout = " < ".join(f"blue {gap:.2f}" for gap in gaps)
    last = "last yellow out; leading blue; "
    game.state = State.parse(
        f"players blue yellow; scores 0 0; starter blue; line -; target green; sizes large large; thrown 4 3; {last}"
        f"pieces {layout}; end -; rulings sizes=shown repeat=same equal=keep stop=may."
    )
    game.pieces = [*game.pieces, *pieces]
    game.before = tables.seen(*game.pieces)
    return game


def test_the_score_too_close_to_call(tables):
    game = end_with(tables, [10.0, 20.0, 30.0])
    asked = game.add(tables.beside("yellow", 20.1, 270))
    assert asked.said == "Too close to call: blue 20.0 ± 0.5 mm, yellow 20.1 ± 0.5 mm. Measure with a calliper or decide together."
    assert asked.choices == (
        Choice("Blue is nearest, and scores 1 point", ("throw yellow large 20.05: blue 10.00 < yellow 20.05 < blue 20.05 < blue 30.00",)),
        Choice("Blue is nearest, and scores 2 points", ("throw yellow large 20.10: blue 10.00 < blue 20.00 < yellow 20.10 < blue 30.00",)),
    )
    assert judge_answer(asked, {"blue 2": 20.04, "yellow": 20.02}).moves == asked.choices[0].moves
    assert judge_answer(asked, {"blue 2": 20.02, "yellow": 20.04}).moves == asked.choices[1].moves
    assert judge_answer(asked, {"blue 2": 20.02, "yellow": 20.02}).moves == asked.choices[0].moves
    with pytest.raises(AmbiguousMove, match="blue 10 mm, yellow 20 mm agrees with 'Blue is nearest, and scores 1 point' and"):
        judge_answer(asked, {"blue": 10.0, "yellow": 20.0})
    game.answer(asked, "Blue is nearest, and scores 2 points")
    assert game.document["end"]["points"] == 2


def test_lead_and_score_too_close_to_call_at_once(tables):
    game = end_with(tables, [20.0, 20.2])
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
    assert judge_answer(asked, {"blue": 19.91, "yellow": 19.95}, "red's umpire").said == (
        "Blue is nearest: red's umpire measured blue 19.91 mm, yellow 19.95 mm."
    )
    assert judge_answer(asked, {"blue": 20.0, "yellow": 20.0}).moves == asked.choices[2].moves
    for answer, expected in [
        ("red is nearest", "expected one of 'Yellow is nearest'"),
        ({"blue": 1.0, "red": 2.0}, "expected a piece such as 'blue' or 'blue 2'"),
        ({"blue 2": 1.0}, "expected a piece such as 'blue' or 'blue 2'"),
    ]:
        with pytest.raises(InvalidNotation, match=expected):
            judge_answer(asked, answer)


def test_stopping():
    base = "players blue yellow; scores 0 0; starter blue; line -; target green; sizes large large; thrown 2 4; last blue 8.10; leading blue; "
    rulings = "end -; rulings sizes=shown repeat=same equal=keep stop=may."
    state = State.parse(f"{base}pieces blue 3.00 < yellow 8.00 < blue 8.10; {rulings}")
    stop = judge_stop(state, "blue")
    assert (stop.code, stop.moves, stop.rests_on) == ("boule.stop", ("stop blue",), "ruling ice_boule.7; Distances and Scoring")
    assert stop.said == "Blue throws no more. The end is over: blue scores 1 point. Blue throws the target next."
    assert judge_stop(state, "yellow").code == "boule.stop.turn"
    asked = judge_stop(State.parse(f"{base}pieces blue 3.00 < yellow 8.00 ~ blue 8.10; {rulings}"), "blue")
    assert [choice.moves for choice in asked.choices] == [
        ("stop blue: blue 3.00 < yellow 8.00 < blue 8.10",),
        ("stop blue: blue 3.00 < blue 8.05 < yellow 8.05",),
    ]
    assert judge_answer(asked, {"blue 2": 8.0, "yellow": 8.1}).moves == asked.choices[1].moves


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
    assert game.document["pieces"] == "blue 5.00 < yellow 10.00 < blue 20.00 ~ yellow 20.05 ~ blue 20.10"


def test_the_target_leaves_the_play_area(tables, game):
    game.add(tables.beside("blue", 20.0))
    pieces = game.pieces[1:]
    asked = game.see(*pieces, tables.beside("yellow", 9.0, 90))
    assert asked.choices == (Choice("It left the play area: the end is void", ("void",)), Choice("It is still in play, or is put back", ()))
    void = game.see(*pieces, off=[tables.target(x_mm=900.0)])
    assert (void.code, void.moves, void.rests_on) == ("boule.void", ("void",), "ruling ice_boule.4")
    assert void.said == "The green target left the play area. The end is void and is repeated without a score. Blue throws the target next."
    assert game.document["starter"] == "blue"


def test_reserves_outside_are_not_in_play(tables, game):
    """Nor is a spare green piece that lay there before."""
    reserves = [tables.piece(colour, 900.0, 50.0 * k) for k, colour in enumerate(["blue", "yellow", "green"])]
    verdict = game.see(game.pieces[0], tables.beside("blue", 20.0), off=reserves)
    assert verdict.moves == ("throw blue large 20.00: blue 20.00",)
    assert isinstance(game.see(*game.pieces[1:], off=reserves), Ambiguous)
    game.before = None
    assert isinstance(game.see(*game.pieces[1:], off=reserves), Ambiguous)


def test_a_missing_piece(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, _, yellow = game.pieces
    missing = game.see(target, yellow)
    assert isinstance(missing, CannotSee)
    assert missing.said == "Missing in play: blue. If it is hidden, show it; if it was taken away, put it back."
    outside = tables.piece("blue", 900.0, 0.0)
    asked = game.see(target, yellow, off=[outside])
    assert asked.said == "Out of play: blue. Was it knocked out by yellow's throw?"
    assert asked.choices[0] == Choice("Yellow's throw left the play area", ("throw yellow out: yellow 30.00",))
    assert asked.choices[1].moves == ()
    thrown = tables.beside("yellow", 40.0, 180)
    asked = game.see(target, yellow, thrown)
    assert (asked.code, asked.choices[0]) == (
        "boule.vanished",
        Choice("A large piece; knocked out of play: blue", ("throw yellow large 40.00: yellow 30.00 < yellow 40.00",)),
    )
    knocked = game.see(target, yellow, thrown, off=[outside])
    assert knocked.moves == ("throw yellow large 40.00: yellow 30.00 < yellow 40.00",)
    game.before = None
    game.state = play(start(["blue", "yellow"], {}), parse_move("target green"))
    game.move("throw blue large 20: blue 20")
    assert isinstance(game.see(target, thrown, off=[outside]), Ambiguous), "what lay outside before is not known"


def test_a_missing_piece_and_a_doubt_are_one_question(tables):
    game = Game(tables, ["blue", "yellow", "red"])
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 10.0, 90))
    asked = game.see(game.pieces[0], game.pieces[2], tables.beside("red", 10.1, 180))
    assert [choice.label for choice in asked.choices] == [
        "A large piece; knocked out of play: blue; yellow is nearest",
        "A large piece; knocked out of play: blue; red is nearest",
        "A large piece; knocked out of play: blue; yellow and red are equally near",
        "Still in play but hidden, or moved by hand: put it right",
    ]


def test_pieces_moved_by_hand(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, blue, yellow = game.pieces
    assert isinstance(game.see(target, tables.beside("blue", 22.0), yellow), Waiting), "less than pictures may be wrong by"
    asked = game.see(target, tables.beside("blue", 26.0), yellow)
    assert asked.said == "1 piece moved, and no new one lies in play. What happened?"
    assert [choice.moves for choice in asked.choices] == [("throw yellow out: blue 26.00 < yellow 30.00",), ()]
    asked = game.see(target, blue, tables.beside("yellow", 25.0, 180))
    assert [choice.moves for choice in asked.choices] == [
        ("throw yellow out: blue 20.00 < yellow 25.00",),
        ("throw yellow large 25.00: blue 20.00 < yellow 25.00",),
        (),
    ]
    assert asked.choices[1].label == "Yellow threw the piece that lies 25.0 ± 0.5 mm from the target, and another yellow one left play"
    out = game.answer(asked, asked.choices[0].label)
    assert out.moves == ("throw yellow out: blue 20.00 < yellow 25.00",)
    near = game.see(target, tables.beside("blue", 26.0), tables.beside("yellow", 25.9, 180))
    assert near.choices[0].label == "Yellow's throw left the play area; yellow is nearest"
    assert len(near.choices) == 4


def test_all_readings_forbidden(tables):
    """A missing piece cannot be explained by a throw that the rules forbid."""
    game = Game(tables)
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    target = game.pieces[0]
    verdict = game.see(target, tables.beside("yellow", 30.0, 90), tables.beside("blue", 60.0, 180), tables.beside("blue", 40.0, 270))
    assert isinstance(verdict, Refused)
    verdict = Game(tables, sizes="declared")
    verdict.see(tables.target())
    assert verdict.add(tables.beside("blue", 20.0, size_probability=0.5)).code == "boule.throw.sizes"


def test_unsure_size(tables, game):
    asked = game.add(tables.beside("blue", 20.0, size_probability=0.7))
    assert asked.code == "boule.size"
    labels = [choice.label for choice in asked.choices]
    assert labels == ["A large piece", "A small piece", "A medium piece", "The piece was not thrown: take it back"]
    game.answer(asked, "A medium piece")
    assert game.document["sizes"]["blue"] == "medium"
    assert isinstance(game.add(tables.beside("yellow", 9.0, 90)), Ambiguous), "a medium piece might be that near"
    game.add(tables.beside("yellow", 0.5, 90))
    verdict = game.add(tables.beside("blue", 30.0, 180, size_probability=0.7))
    assert verdict.moves == ("throw blue medium 30.00: yellow 0.50 < blue 20.00 < blue 30.00",), "blue can have thrown no other size"


def test_unsure_colour_of_the_new_piece(tables, game):
    verdict = game.add(tables.beside("blue", 20.0, colour_probability=0.7))
    assert isinstance(verdict, Accepted), "only blue can have thrown"
    asked = game.add(tables.beside("blue", 30.0, 90, colour_probability=0.7))
    assert asked.said == "Is the new piece yellow or blue? It is yellow's throw."
    assert asked.choices == (
        Choice("It is yellow; a large piece", ("throw yellow large 30.00: blue 20.00 < yellow 30.00",)),
        Choice("It is blue: take it back", ()),
    )


def test_unsure_colours_of_pieces_that_lie_still(tables, game):
    """They were ruled on before: a name that changes with the light is not believed."""
    game.add(tables.beside("blue", 20.0))
    target, blue = game.pieces
    wavering = replace(blue, colour="yellow", colour_probability=0.6)
    assert isinstance(game.see(target, wavering), Waiting)
    verdict = game.see(target, wavering, tables.beside("yellow", 30.0, 90))
    assert verdict.moves == ("throw yellow large 30.00: blue 20.00 < yellow 30.00",)


def test_two_unsure_colours_may_have_been_taken_for_each_other(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.see(
        game.pieces[0],
        tables.beside("blue", 24.0, colour_probability=0.7),
        tables.beside("yellow", 10.0, 90, colour_probability=0.7),
    )
    assert asked.code == "boule.doubt"
    assert asked.choices[0] == Choice("As it was read: a large piece", ("throw yellow large 10.00: yellow 10.00 < blue 24.00",))


def test_an_unsure_colour_that_no_throw_explains(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, blue, _ = game.pieces
    verdict = game.see(target, blue, tables.beside("blue", 40.0, 180, colour_probability=0.7))
    assert isinstance(verdict, CannotSee)
    assert (verdict.code, verdict.said) == ("boule.colour", "Is the new piece yellow or blue? It is yellow's throw.")


def test_an_unsure_stranger_may_be_the_new_piece(tables, game):
    asked = game.add(tables.beside("red", 40.0, 180, colour_probability=0.6))
    assert asked.choices == (
        Choice("It is blue; a large piece", ("throw blue large 40.00: blue 40.00",)),
        Choice("It is red: take it back", ()),
    )


def test_two_new_pieces(tables, game):
    """Thrown one after the other too fast: the rules may know the order, and people confirm it."""
    asked = game.add(tables.beside("blue", 20.0), tables.beside("yellow", 30.0, 90))
    assert asked.choices == (
        Choice(
            "First the blue piece that lies 20.0 ± 0.5 mm from the target, then the yellow piece that lies 30.0 ± 0.5 mm from the target",
            ("throw blue large 20.00: blue 20.00", "throw yellow large 30.00: blue 20.00 < yellow 30.00"),
        ),
        Choice("Both at once: take them back", ()),
    )
    both = game.add(tables.beside("blue", 20.0), tables.beside("blue", 30.0, 90))
    assert (both.code, both.said) == ("boule.throw.two", "2 new pieces lie in play (blue, blue), and one is thrown at a time. Take them back.")
    close = game.add(tables.beside("blue", 20.0), tables.beside("yellow", 20.1, 90))
    assert isinstance(close, Refused)
    three = game.add(tables.beside("blue", 20.0), tables.beside("yellow", 30.0, 90), tables.beside("yellow", 40.0, 180))
    assert isinstance(three, Refused)


def test_nobody_leads(tables, game):
    """A throw that leaves nothing in play."""
    game.add(tables.beside("blue", 20.0))
    asked = game.see(game.pieces[0], off=[tables.piece("blue", 900.0, 0.0)])
    assert asked.choices[0].moves == ("throw yellow out: nothing",)
    game.answer(asked, asked.choices[0].label)
    assert (game.document["leading"], game.document["next"]) == (None, "yellow")


def test_an_unsure_stack(tables, game):
    """Whether a piece stands on the target is worth a point: people say."""
    asked = game.add(tables.on("blue", game.pieces[0], 0, pose_probability=0.6))
    assert isinstance(asked, Ambiguous)
    assert asked.choices[0].moves == ("throw blue large on: blue on",)
    assert asked.choices[1].moves == ("throw blue large touching: blue touching",)
