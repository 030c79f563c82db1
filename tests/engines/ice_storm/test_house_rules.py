"""Ice Storm by house rules: every value of every option, in the engine, at the judge and through
the whole referee.
"""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import ice_storm as game
from engines.ice_storm.fire import captures, lines, shots
from engines.ice_storm.moves import Pass
from engines.ice_storm.place import Piece, Place, readings
from engines.rule_texts import words
from engines.verdict import Accepted, Refused
from referee.sessions.commands import Hear
from tests.support.ice_storm_boards import boards, knocking

PLAYERS = ("green", "black", "red")
AT_RANDOM = st.fixed_dictionaries(
    {ruling.name: st.sampled_from(ruling.values) for ruling in game.RULINGS}
)
FIRING = (
    "players green black red; round 1; totals 0 0 0; stacks 0 0 0; thrown 15; turn green; "
    "pieces green1 b1-b2>b2, black1 b4, red1 b6, red2 h1; rulings {}."
)
"""Green fires north on black1 and, past it, red1; the centre pieces fire wherever they may."""


def state(rulings, pieces=None):
    text = FIRING.format(rulings)
    return game.State.parse(
        text
        if pieces is None
        else text.replace(text.partition("pieces ")[2].partition(";")[0], pieces)
    )


def test_every_ruling_is_listed_with_its_sentence():
    """So it stands on the set-up page, in `rinkside rules ice_storm` and in the log."""
    cited = {ruling.cites for ruling in game.RULINGS}
    assert {clause for clause in words("ice_storm") if clause.startswith("ruling ")} <= cited


def test_a_state_that_names_no_options_has_the_usual_ones():
    old = (
        "rulings touching=contact fire=over knocked=thrower leaning=again starter=left attack=must"
    )
    assert dict(state(old.removeprefix("rulings ")).rulings) == {
        ruling.name: ruling.values[0] for ruling in game.RULINGS
    }


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(AT_RANDOM, st.integers(0, 2**32), st.integers(3, 5))
def test_whole_games_by_any_house_rules_come_to_their_end(rulings, seed, seats):
    chance, starters, moves = Random(seed), [], 0
    now = game.start(("green", "black", "red", "yellow", "white")[:seats], rulings)
    while not game.outcome(now):
        move = knocking(now, chance) if now.next else chance.choice(list(game.legal_moves(now)))
        starters += [now.next] if now.thrown == 0 or now.round_over else []
        after, moves = game.play(now, move), moves + 1
        assert game.State.parse(str(after)) == after
        assert game.parse_move(str(move)) == move
        assert moves < 600, "nobody passes for ever"
        now = after
    order = [
        now.players[0],
        *(now.players[1:] if rulings["starter"] == "left" else reversed(now.players[1:])),
    ]
    assert starters == order, "every player starts one round"


def hits_first(pieces, world, shooter, target):
    """By brute force: does a piece reach another, with nothing on the squares before?"""
    others = [world[k].squares for k, piece in enumerate(pieces) if piece not in (shooter, target)]
    lies, aims = world[pieces.index(target)], lines(world[pieces.index(shooter)])
    for line in aims:
        for square in line.squares:
            if square in lies.squares:
                return True
            if any(square in squares for squares in others):
                break
    return False


@settings(max_examples=60, deadline=None)
@given(boards())
def test_lines_that_end_at_the_first_piece_against_all_that_may_be_so(pieces):
    worlds = list(product(*(readings(piece.place) for piece in pieces)))
    found, aimed = captures(pieces, "red", True), shots(pieces, "red", True)
    own = [piece for piece in pieces if piece.colour == "red"]
    for target in (piece for piece in pieces if piece.colour != "red"):
        hits = [
            any(hits_first(pieces, world, shooter, target) for shooter in own) for world in worlds
        ]
        assert (target in found) == any(hits)
        assert all(hits) or not found.get(target, False)
        if len(worlds) == 1:
            assert found.get(target, False) == hits[0]
        at_target = [shot for shot in aimed if shot.target == target.name]
        assert bool(at_target) == any(hits)
        assert all(hits) or not any(shot.certain for shot in at_target)
        assert all(
            cause.strip() and not cause.endswith("touches ")
            for shot in at_target
            for cause in shot.hangs_on
        )


def test_a_line_ends_at_the_first_piece_or_goes_over_it():
    assert [shot.target for shot in game.shots(state("fire=over"))] == ["black1", "red1"]
    assert [str(shot) for shot in game.shots(state("fire=first"))] == [
        "green1 north on b2-b4: black1"
    ]
    both = "green1 b1-b2>b2, black1 b4-c4>c4, red1 b4-b5>b5"
    assert [shot.target for shot in game.shots(state("fire=first", both))] == ["black1", "red1"], (
        "both lie on the first square"
    )


def test_a_piece_that_may_lie_in_the_way_is_asked_about():
    doubtful = state("fire=first", "green1 b1-b2>b2, black1 b4?-c4>c4, red1 b6-b7>b6, red2 h1")
    shot = next(shot for shot in game.shots(doubtful) if shot.target == "red1")
    assert shot.hangs_on == ("black1 is in the way",)
    wrong = game.violation(doubtful, game.parse_move("capture red1"))
    assert (wrong.code, "depends on whether black1 is in the way" in wrong.message) == (
        "storm.too_close",
        True,
    )
    settled = game.play(doubtful, game.parse_move("settle black1 c4"))
    assert game.violation(settled, game.parse_move("capture red1")) is None


def lying(lie):
    """The pieces of FIRING on a table of 50 mm squares."""
    return {
        "green1": lie("green", 75, 40, 90.0),
        "black1": lie("black", 75, 165),
        "red1": lie("red", 75, 265),
        "red2": lie("red", 375, 15),
    }


@pytest.mark.parametrize(("fire", "verdict"), [("over", Accepted), ("first", Refused)])
def test_the_judge_lets_a_shot_pass_over_a_piece_or_not(table, lie, play, fire, verdict):
    table.pieces = lying(lie)
    before = table.seen()
    del table.pieces["red1"]
    ruled = play(state(f"fire={fire}"), before)
    assert isinstance(ruled, verdict)
    assert "rulings ice_storm.3 to ice_storm.5" in ruled.rests_on


@pytest.mark.parametrize(
    ("knocked", "message"),
    [("thrower", "red scores it at once"), ("nobody", "it scores for nobody")],
)
def test_the_judge_says_whose_a_piece_is_that_was_knocked_off(table, lie, play, knocked, message):
    table.pieces = {"green1": lie("green", 175, 60), "black1": lie("black", 320, 320)}
    line = (
        "players green black red; round 1; totals 0 0 0; stacks 0 0 0; thrown 2; turn -; pieces"
        f" green1 d2, black1 g7; rulings knocked={knocked}."
    )
    before = table.seen()
    del table.pieces["green1"]
    table.beside = [lie("green", 175, -60)]
    table.pieces["red1"] = lie("red", 75, 320)
    ruled = play(line, before)
    assert (
        ruled.message
        == f"Red's piece lies within b7. It knocked green1 off the board; {message}. Green"
        " throws next."
    )
    after = game.play(game.State.parse(line), game.parse_move(*ruled.moves))
    assert sum(after.stacks) == (knocked == "thrower")


def test_who_may_pass_has_a_button_and_says_so_or_is_told_the_ruling():
    may, must = state("attack=may"), state("attack=must")
    message = {"player": "green", "passes": True}
    assert {"label": "Green does not fire", "said": message} in game.state_document(may)["may_say"]
    assert all("passes" not in one["said"] for one in game.state_document(must)["may_say"])
    accepted = game.hear(may, message)
    assert (accepted.moves, accepted.message, accepted.rests_on) == (
        ("pass green",),
        "Green does not fire. Black fires next, or passes.",
        "Attack; ruling ice_storm.10",
    )
    refused = game.hear(must, message)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.rests_on) == ("storm.pass", "Attack; ruling ice_storm.10")
    assert game.hear(may, message | {"player": "red"}).code == "storm.pass.turn"
    assert [choice.moves for choice in game.alternatives(may, ("capture black1",))] == [
        ("capture red1",),
        ("pass green",),
    ]


def test_all_who_may_fire_pass_and_the_round_is_over():
    now = state("attack=may")
    for player in ("green", "black", "red"):
        assert now.attacker == player
        now = game.play(now, Pass(player))
    assert now.round_over
    assert now.next == "black"


def test_the_whole_referee_hears_a_pass(film, table, monkeypatch, lie):
    monkeypatch.setattr(game, "set_up", lambda *_: state("attack=may"))
    table.pieces = lying(lie)
    film = film("ice_storm", PLAYERS, table.board, attack="may")
    film.show(table.seen())
    film.say(player="green", passes=True)
    film.show(table.seen())
    del table.pieces["red1"]
    film.show(table.seen())
    assert film.referee() == [
        ("accepted", "storm.pass", "green", ("pass green",)),
        ("accepted", "storm.attack", "black", ("capture red1",)),
    ]
    film.session.command(Hear(heard={"player": "red", "passes": True}))
    assert film.session.ledger.state.passed == ("red",)


def test_a_doubtful_place_is_read_the_same_by_both_kinds_of_fire():
    alone = (Piece("red", 1, Place.parse("b3-b4?>b3")), Piece("cyan", 1, Place.parse("b1")))
    assert dict(captures(alone, "red", True)) == dict(captures(alone, "red"))
    assert np.all([shot.certain for shot in shots(alone, "red", True)])
