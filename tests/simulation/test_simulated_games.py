"""Games on simulated boards: what hands lay down could lie there, and what they do is refereed as
what it was.
"""

from __future__ import annotations

import dataclasses
from itertools import combinations, islice

import msgspec
import numpy as np
import pytest

from benchmarks.games.playing import STUCK, Game, RefereedAct, is_needed, play
from benchmarks.harness import Provenance
from benchmarks.harness.pages import BY_HAND, Results, render_page
from benchmarks.suite.games import BENCHMARK, Options
from engines import GAMES
from referee.sessions.events import Answered, Choice, QuestionAsked
from simulation.players.acts import Act, act_verdict
from simulation.players.ice_storm import StormPlay
from simulation.render.renderer import Renderer
from simulation.render.scene import ScenePiece
from simulation.tables import board_players, game_table
from table.clearance import clearance
from table.errors import InputError

pytestmark = pytest.mark.slow

ACTS = 45


def evening(game, seed):
    """A game of `ACTS` acts by the rules alone: state, table and, if there is one, a mistake,
    before every act, with the act.
    """
    rng = np.random.default_rng([seed, 6])
    table = game_table(game, seed, 320)
    play = board_players()[game].play(table.setup, rng)
    state, bodies = GAMES[game].set_up(table.setup.game.colours, {}, table.setup.board), {}
    act = play.begin(state)
    for _ in range(ACTS):
        act = act or play.turn(state, bodies)
        yield state, bodies, act
        for move in act.moves:
            state = play.engine.play(state, play.engine.parse_move(move))
        bodies, act = act.bodies, None
        if play.engine.outcome(state) is not None:
            return
        if wrong := play.mistake(state, bodies):
            yield state, bodies, wrong


@pytest.mark.parametrize("game", board_players())
def test_pieces_never_share_space(game):
    for _, before, act in evening(game, 2):
        fresh = [
            body
            for body in act.bodies.values()
            if isinstance(body, ScenePiece) and not any(body is old for old in before.values())
        ]
        pieces = [body for body in act.bodies.values() if isinstance(body, ScenePiece)]
        for a, b in combinations(pieces, 2):
            if any(a is new or b is new for new in fresh):
                assert clearance(a.solid, b.solid).mm > 0, act


@pytest.mark.parametrize("game", board_players())
def test_what_is_lawful_follows_the_rules_and_what_is_not_breaks_them(game):
    planted = set()
    for state, before, act in evening(game, 3):
        if act.lawful:
            for move in act.moves:
                played = GAMES[game].parse_move(move)
                assert GAMES[game].violation(state, played) is None, act.name
                state = GAMES[game].play(state, played)
        else:
            planted.add(act.name)
            assert act.heard or {name: id(body) for name, body in act.bodies.items()} != {
                name: id(body) for name, body in before.items()
            }
    assert len(planted) >= 4


@pytest.mark.parametrize("game", board_players())
def test_the_same_seed_plays_the_same_game(game):
    def story(seed):
        return [(act.name, act.moves, act.heard) for _, _, act in islice(evening(game, seed), 12)]

    assert story(4) == story(4) != story(5)


def test_a_game_that_nobody_plays_here_is_refused():
    with pytest.raises(InputError, match="demo: game: expected ice_storm"):
        game_table("halma", 1)


@pytest.mark.parametrize("game", board_players())
def test_a_stretch_of_every_game_is_refereed_as_it_was(game):
    """From the drawn picture to the log; the long figures are in docs/GAMES.md."""
    played = play(game, seed=0, acts=3, width_px=1024, mistakes=1.0)
    typed_in = {
        deed for deed in played.deeds if deed.verdict == "asked" and deed.name in ("roll", "shot")
    }
    assert {deed.verdict for deed in played.deeds if deed not in typed_in} == {"right"}, (
        played.deeds
    )
    assert played.scores == played.recorded
    assert any(not deed.lawful for deed in played.deeds)


def test_a_piece_of_another_size_is_named_from_the_drawn_picture(monkeypatch):
    """Ruling ice_storm.13, on a table that has pieces of two sizes."""

    def of_two_sizes(*args):
        table = game_table(*args)
        (size,) = table.setup.game.sizes
        sizes = (size, "small" if size != "small" else "medium")
        setup = msgspec.structs.replace(
            table.setup, game=msgspec.structs.replace(table.setup.game, sizes=sizes)
        )
        return dataclasses.replace(table, setup=setup)

    monkeypatch.setattr("benchmarks.games.playing.game_table", of_two_sizes)
    monkeypatch.setattr(
        StormPlay,
        "mistake",
        lambda play, state, bodies: (
            play.throw_another_size(state, bodies) if 0 < state.thrown < 5 else None
        ),
    )
    played = play("ice_storm", seed=1, acts=4, width_px=1640, mistakes=1.0)
    assert not played.failed
    assert [deed.verdict for deed in played.deeds if deed.name == "piece of another size"][:1] == [
        "right"
    ]
    assert {deed.verdict for deed in played.deeds} <= {"right", "asked"}, played.deeds
    assert played.scores == played.recorded


def test_throws_of_ice_boule_are_refereed_as_they_lie():
    played = play("ice_boule", seed=1, acts=3)
    assert [(deed.name, deed.verdict) for deed in played.deeds] == [
        ("target", "right"),
        ("throw", "right"),
        ("throw", "right"),
    ]
    assert not played.failed


def test_a_game_is_played_before_whatever_takes_pictures():
    stood = []

    def before(setup, camera):
        stood.append(setup.camera.width)
        return Renderer(setup, camera)

    played = play("icebreaker", seed=0, acts=1, width_px=1024, before=before)
    assert stood == [1024, 1024], "of the empty table, and of the game"
    assert played == msgspec.structs.replace(
        play("icebreaker", seed=0, acts=1, width_px=1024), took_s=played.took_s
    )


def page(played, before):
    """docs/GAMES.md of such games."""
    summary = BENCHMARK.summarise(Options(), [(None, one) for one in played])
    return render_page(BENCHMARK, Results(Provenance(), Options(), summary), before)


def test_nearly_all_is_not_said_to_be_all():
    good, bad = (
        RefereedAct("move", True, ("a1-a2",), "right", ("Fine.",)),
        RefereedAct("move", True, ("a1-a2",), "asked", ("Was it?",)),
    )
    assert "| 3000 | 2999 (99.97%) | 1 |" in page(
        [Game("icefloe", 1, 1640, (*[good] * 2999, bad), (1,), (1,), True)], ""
    )


def test_the_page_tells_what_was_played_and_what_went_otherwise():
    good, bad = (
        RefereedAct("move", True, ("a1-a2",), "right", ("Fine.",)),
        RefereedAct("stolen ice", False, (), "nothing", (), "Show it better."),
    )
    played = [
        Game("icebreaker", 7, 1640, (good, bad, *[bad] * (STUCK - 1)), (1,), (2,)),
        Game("icefloe", 1, 1640, (good,), (1,), (1,), True),
    ]
    begin, end = BY_HAND
    written = page(played, f"As it was {begin}\n\nSeen: {{bad}} light.\n\n{end} then.")
    assert "Games are played to their end: 1 of 2 came to it." in written
    assert "| icebreaker | 1 | 0 | 1 | 1 | 1 (100.0%) | 0 | 0 | 0 | 0 | 0 |" in written
    assert "| icebreaker | stolen ice | 4 | 0 (0.0%) | 0 | 0 | 4 | 0 |" in written
    assert (
        "- icebreaker 7: stolen ice: no ruling. Said: nothing on record; on the panel: Show it"
        " better."
    ) in written
    assert "The second happened 4 times; in 4 of them the panel said what keeps" in written
    assert "because the answer matters: 100.00% (icebreaker), 100.00% (icefloe)." in written
    assert "was ruled on as expected: 20.00% of 5 (icebreaker), 100.00% of 1 (icefloe)." in written
    assert f"{begin}\n\nSeen: {{bad}} light.\n\n{end}" in written
    assert "As it was" not in written


def test_a_question_is_needed_where_two_answers_differ_in_what_follows():
    game = GAMES["ice_boule"]
    state = game.start(("red", "blue"), {})
    for move in (
        "target green",
        "throw red large 5: red 5",
        "throw blue large 5: red 5 = blue 5",
        *["throw blue out: red 5 = blue 5"] * 3,
    ):
        state = game.play(state, game.parse_move(move))

    def asked(*layouts):
        choices = tuple(
            Choice(label=layout, moves=(f"throw red large 5.00: {layout}",)) for layout in layouts
        )
        return QuestionAsked(
            code="boule.too_close", message="", choices=choices, state=game.state_document(state)
        )

    assert not is_needed(
        "ice_boule", asked("red 5.00 < red 5.00 = blue 5.00", "red 5.00 = blue 5.00 < red 5.00")
    ), "red leads and throws, either way"
    assert is_needed(
        "ice_boule", asked("red 5.00 = blue 5.00 < red 5.00", "blue 5.00 < red 5.00 < red 5.00")
    )
    assert is_needed(
        "icebreaker",
        QuestionAsked(code="ice.move", message="", choices=(), state={"state": "a secret"}),
    ), "nobody knows"


@pytest.mark.parametrize(
    ("answered", "verdict"),
    [
        ("throw blue d5: black2 f4-f5-g4-g5^", "asked"),
        ("throw blue d5: black2 f4?-f5?-g4?-g5?^", "not seen"),
        ("throw blue d5: black2 f4?-f5?^", "wrong"),
        ("throw blue d5: black2 off", "wrong"),
        ("void blue: black2 d5?-f4?-f5?-g4?-g5?^", "wrong"),
    ],
)
def test_an_answer_that_leaves_the_true_squares_open_is_not_wrong(answered, verdict):
    truth = "throw blue d5: black2 f4-f5-g4-g5^"
    act = Act("throw", {}, "accepted", moves=(truth,))
    asked = QuestionAsked(
        code="storm.vanished", message="", choices=(Choice(label="", moves=(answered,)),)
    )
    answer = Answered(question=1, label="", how="order", decided_by="a", moves=(answered,))
    assert act_verdict(act, (asked, answer), stands=answered == truth) == verdict
