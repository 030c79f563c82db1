"""The virtual table: whatever people do with the pieces, none is lost and no two share space."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import GAMES
from referee.sessions.commands import Declare, Hear, Undo
from referee.sessions.events import InputRecorded, Undone, VerdictReached
from simulation.players.laying import is_over, middle_mm, names_of_stack, overlap, stands, without
from simulation.render.scene import ScenePiece
from table.cells import cell_middle_mm
from table.clearance import clearance
from table.errors import InputError
from tests.support.virtual_tables import (
    FRAME_MS,
    SET_UP_MS,
    laid_out,
    laid_out_in_session,
    table_of,
)

ACTS = ("drop", "drop", "drop", "stand", "lie", "turn", "stack", "take", "roll", "put back")
SHARES = st.floats(0, 1)


def everything(virtual):
    now = virtual.look()
    return len(now.bodies) + len(now.reserve)


def nested(one, other):
    """Whether one piece is a shell over the other."""
    both = isinstance(one, ScenePiece) and isinstance(other, ScenePiece)
    return both and (is_over(one, other) or is_over(other, one))


@pytest.mark.parametrize("game", sorted(GAMES))
@settings(max_examples=10, deadline=None)
@given(
    touches=st.lists(
        st.tuples(st.sampled_from(ACTS), st.integers(0, 500), SHARES, SHARES, st.floats(-360, 360)),
        max_size=8,
    )
)
def test_no_two_pieces_share_space_and_none_is_lost(game, touches):
    virtual, players, _ = laid_out(game)
    count, untouched = everything(virtual), dict(players.bodies)
    for at_ms, (what, number, across, away, turn_deg) in enumerate(touches, 1):
        now = virtual.look()
        names = [body.name for body in (*now.bodies, *now.reserve)]
        x, y = virtual.low_mm + (virtual.high_mm - virtual.low_mm) * (across, away)
        with suppress(InputError):
            virtual.act(what, names[number % len(names)], float(x), float(y), turn_deg)
        virtual.scene_at(SET_UP_MS + FRAME_MS * at_ms)
        assert everything(virtual) == count
    lying = players.bodies
    for name in [name for name, body in lying.items() if untouched.get(name) is not body]:
        one = lying[name]
        for other in without(lying, name).values():
            assert nested(one, other) or not overlap(one, other)
            if isinstance(one, ScenePiece) and isinstance(other, ScenePiece):
                assert nested(one, other) or clearance(one.solid, other.solid).mm > 0


def test_a_piece_comes_to_lie_where_it_is_dropped_or_beside_what_is_there():
    virtual, players, _ = laid_out("icebreaker")
    ships = [name for name in players.bodies if name.startswith("ship")]
    virtual.act("take", "ice E5")
    virtual.act("drop", ships[0], 5.0, 3.0, 30.0)
    assert middle_mm(players.bodies[ships[0]]) == pytest.approx((5.0, 3.0), abs=12)
    x, y = middle_mm(players.bodies[ships[0]])
    virtual.act("drop", ships[1], float(x), float(y))
    assert np.hypot(*(middle_mm(players.bodies[ships[1]]) - (x, y))) > 5


def test_whoever_puts_a_ship_on_an_iceberg_takes_that():
    virtual, players, _ = laid_out("icebreaker")
    ice = middle_mm(players.bodies["ice E5"])
    ship = next(name for name in players.bodies if name.startswith("ship"))
    virtual.act("drop", ship, *map(float, ice))
    assert "ice E5" not in players.bodies
    assert "ice E5" in [body.name for body in virtual.look().reserve]
    assert middle_mm(players.bodies[ship]) == pytest.approx(ice)


def test_a_tile_slides_with_what_stands_on_it():
    virtual, players, _ = laid_out("icefloe")
    pyramid = next(name for name in players.bodies if name.startswith("pyramid"))
    under = next(
        name
        for name, body in players.bodies.items()
        if name.startswith("tile") and pyramid in names_of_stack(players.bodies, name)
    )
    tile, stood = middle_mm(players.bodies[under]), middle_mm(players.bodies[pyramid])
    virtual.act("drop", under, 0.0, 0.0)  # the middle place is empty
    step = middle_mm(players.bodies[under]) - tile
    assert np.hypot(*step) > 20
    assert middle_mm(players.bodies[pyramid]) - stood == pytest.approx(step)


def test_a_piece_is_thrown_from_the_hand_and_stacked_on_the_target():
    virtual, players, _ = laid_out("ice_boule")
    for name in ("yellow in hand 1", "red in hand 1"):
        virtual.act("drop", name, 300.0, 200.0)
        assert name in players.bodies
    if not stands(players.bodies["yellow in hand 1"]):
        virtual.act("stand", "yellow in hand 1")
    virtual.act("stack", "red in hand 1")
    assert is_over(players.bodies["red in hand 1"], players.bodies["yellow in hand 1"])
    virtual.act("drop", "yellow in hand 1", 200.0, 100.0)
    assert is_over(players.bodies["red in hand 1"], players.bodies["yellow in hand 1"])


def test_the_outermost_piece_is_taken_off_a_nest():
    virtual, players, setup = laid_out("zamboni_wars")
    nest = players.bodies[setup.game.colours[1]]
    virtual.act("take", setup.game.colours[1])
    assert players.bodies[setup.game.colours[1]].solid.base_mm < nest.solid.base_mm


@pytest.mark.parametrize(
    ("touch", "said"),
    [
        (("fly", "ship A1"), "expected one of hold"),
        (("drop", "ship Z9"), "expected a piece that is there"),
        (("drop", "ship A1", float("nan")), "expected a place within"),
        (("drop", "ship A1", 1e9, 0.0), "expected a place within"),
        (("roll", "ship A1"), "expected the die"),
        (("stack", "ship A1"), "nothing that this can stand on"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(touch, said):
    virtual, players, _ = laid_out("icebreaker")
    before = players.bodies
    with pytest.raises(InputError, match=said) as refused:
        virtual.act(*touch)
    assert "\n" not in refused.value.message
    assert players.bodies is before


def test_everything_is_put_back_as_the_referee_recorded_it():
    virtual, players, _ = laid_out("icebreaker")
    before = players.bodies
    virtual.act("drop", "ship A1", 0.0, 0.0)
    virtual.act("take", "ice E5")
    virtual.act("put back")
    assert players.bodies == before


def test_an_undo_right_after_a_quick_hand_is_laid_back():
    """Nobody has waited until the simulated players saw the act that is undone."""
    virtual, players, session = laid_out_in_session("icebreaker")
    rules, before, state = GAMES["icebreaker"], players.bodies, session.ledger.state
    move = next(iter(rules.legal_moves(state)))
    start, _, end = str(move).partition("-")
    session.ledger.paused = False
    virtual.act(
        "drop", f"ship {start}", *cell_middle_mm(table_of("icebreaker", 3).setup.board, end)
    )
    assert players.bodies != before
    accepted = VerdictReached(verdict="accepted", code="icebreaker.move", message="moved")
    session.come_to(rules.play(state, move), accepted)
    session.come_to(state, Undone(undoes=2, decided_by="players"))
    assert players.busy
    for at_ms in range(SET_UP_MS, SET_UP_MS + 8_000, FRAME_MS):
        virtual.scene_at(at_ms)
    assert players.bodies == before
    assert not players.busy


def test_what_is_put_back_is_the_newest_record_which_the_players_have_yet_to_follow():
    """A quick person does something wrong right after an act that was ruled on."""
    virtual, players, session = laid_out_in_session("icebreaker")
    rules, state = GAMES["icebreaker"], session.ledger.state
    start, _, end = str(next(iter(rules.legal_moves(state)))).partition("-")
    session.ledger.paused = False
    board = table_of("icebreaker", 3).setup.board
    virtual.act("drop", f"ship {start}", *cell_middle_mm(board, end))
    virtual.scene_at(SET_UP_MS + FRAME_MS)
    ruled = {id(body) for body in players.bodies.values()}
    accepted = VerdictReached(
        verdict="accepted", code="icebreaker.move", message="moved", observation={}
    )
    session.come_to(rules.play(state, rules.parse_move(f"{start}-{end}")), accepted)
    for what in ("take", "put back"):
        virtual.act(what, "ice E5" if what == "take" else "")
    assert {id(body) for body in players.bodies.values()} == ruled


def test_pieces_that_lie_wrongly_are_not_recorded_by_something_that_is_said():
    virtual, players, session = laid_out_in_session("zamboni_wars")
    (person,) = players.people
    before, state = players.bodies, session.ledger.state
    session.ledger.paused = False
    virtual.act("drop", person, *map(float, (virtual.low_mm + virtual.high_mm) / 2))
    virtual.scene_at(SET_UP_MS + FRAME_MS)
    move = next(iter(GAMES["zamboni_wars"].legal_moves(state)))
    said = InputRecorded(code="zamboni.roll", message="rolled", moves=(str(move),))
    session.come_to(GAMES["zamboni_wars"].play(state, move), said)
    for at_ms in range(SET_UP_MS + 2 * FRAME_MS, SET_UP_MS + 6_000, FRAME_MS):
        virtual.scene_at(at_ms)
    assert players.bodies[person] is before[person], "a simulated player has put it back"


@pytest.mark.parametrize("game", sorted(GAMES))
def test_players_who_fail_go_on_and_the_camera_sees_the_table_all_the_while(game):
    virtual, _, session = laid_out_in_session(game)
    fails = [True] * 3
    look = session.view if game == "ice_boule" else None
    ledger = session.ledger

    class Failing:
        """A session whose state cannot be read."""

        def __getattr__(self, name):
            if fails and name in ("paused", "phase"):
                fails.pop()
                raise ValueError("a mistake in a simulated player")
            return getattr(look() if look else ledger, name)

    session.ledger, session.view = Failing(), Failing
    for at_ms in range(SET_UP_MS, SET_UP_MS + 12_000, FRAME_MS):
        assert virtual.scene_at(at_ms).stage is not None
    assert not fails


def test_who_acts_in_vain_again_and_again_declares_it():
    """The referee never rules, as where the table differs from the record in another way."""
    virtual, _, session = laid_out_in_session("icebreaker")
    rules, state, said = GAMES["icebreaker"], session.ledger.state, []
    session.ledger.paused, session.command = False, said.append
    accepted = VerdictReached(
        verdict="accepted", code="icebreaker.move", message="moved", observation={}
    )
    session.come_to(rules.play(state, next(iter(rules.legal_moves(state)))), accepted)
    for at_ms in range(SET_UP_MS, SET_UP_MS + 150_000, FRAME_MS):
        virtual.scene_at(at_ms)
    assert [one for one in said if isinstance(one, Declare)]


def test_a_target_thrown_while_simulated_players_look_at_the_end_stays():
    """They look before they clear the table; by then a person may have begun the next end."""
    virtual, players, session = laid_out_in_session("ice_boule")
    (person,) = players.people
    for one in (f"{person} in hand 1", f"{person} in hand 2", "blue in hand 1"):
        virtual.act("drop", one, 300.0, 300.0)
    state = {"state": "the end is over", "starter": person}
    shown = SimpleNamespace(
        phase="playing", question=None, state=state, seq=2, next=None, game_number=1
    )
    session.view = lambda: shown
    at_ms = SET_UP_MS
    while not virtual.look().busy and len(players.bodies) == 3 and at_ms < SET_UP_MS + 4_000:
        virtual.scene_at(at_ms := at_ms + FRAME_MS)
    virtual.act("clear")
    virtual.act("drop", f"{players.setup.game.target} in hand 1", 300.0, 300.0)
    (thrown,) = players.bodies
    for later_ms in range(at_ms, at_ms + 12_000, FRAME_MS):
        virtual.scene_at(later_ms)
    assert thrown in players.bodies


def test_nobody_reaches_for_the_table_while_a_simulated_player_lays_it_back():
    """What a person did meanwhile would be undone by the hand that is on its way."""
    virtual, players, session = laid_out_in_session("icebreaker")
    first, second = players.state.players
    virtual.sit(second)
    virtual.sit(first, here=False)
    session.ledger.paused = False
    players.bodies = without(players.bodies, "ice E5")
    laid_back = False
    for at_ms in range(SET_UP_MS, SET_UP_MS + 12_000, FRAME_MS):
        scene = virtual.scene_at(at_ms)
        if scene.limbs and "ice E5" not in players.bodies:
            laid_back = True
            assert virtual.look().busy
    assert laid_back


def test_a_simulated_player_takes_the_torch_from_a_person():
    """It is the next bearer who acts, and who says so."""
    virtual, players, session = laid_out_in_session("icefloe")
    said = []
    session.command = said.append
    state = replace(session.ledger.state, phase="torch", mover=None)
    bearer, taker = state.torch, state.after(state.torch)
    assert bearer in players.people
    session.ledger.paused = False
    session.come_to(
        state, VerdictReached(verdict="accepted", code="icefloe.score", message="scored")
    )
    for at_ms in range(SET_UP_MS, SET_UP_MS + 8_000, FRAME_MS):
        virtual.scene_at(at_ms)
    assert {"player": taker, "torch": True} in [getattr(one, "heard", None) for one in said]


def test_what_a_person_says_at_the_same_time_as_a_simulated_player_stands():
    """Both vote; the simulated player must not take the person's vote back."""
    engine = GAMES["icefloe"]
    virtual, players, session = laid_out_in_session("icefloe")
    person = next(iter(players.people))
    said = []

    def vote(player):
        state = session.ledger.state
        move = next(
            one for one in engine.legal_moves(state) if getattr(one, "player", "") == player
        )
        event = InputRecorded(code="icefloe.vote", message="voted", moves=(str(move),))
        session.come_to(engine.play(state, move), event)

    def hear(command):
        said.append(command)
        if isinstance(command, Hear) and person in session.ledger.state.missing_voters:
            vote(command.heard["player"])
            vote(person)

    session.command = hear
    state = replace(
        session.ledger.state, phase="vote", mover=None, votes=(None,) * len(players.state.players)
    )
    session.ledger.paused = False
    session.come_to(state, VerdictReached(verdict="accepted", code="icefloe.move", message="moved"))
    for at_ms in range(SET_UP_MS, SET_UP_MS + 20_000, FRAME_MS):
        virtual.scene_at(at_ms)
    assert said
    assert not [one for one in said if isinstance(one, Undo)]
    assert person not in session.ledger.state.missing_voters


def test_nobody_touches_the_table_before_taking_a_seat():
    virtual, *_ = laid_out("icebreaker")
    virtual.sit("red", here=False)
    with pytest.raises(InputError, match="Take a seat"):
        virtual.act("take", "ice E5")
    with pytest.raises(InputError, match="expected a player"):
        virtual.sit("mauve")


def test_a_hand_is_seen_over_what_is_held_until_the_page_is_gone():
    virtual, players, _ = laid_out("icebreaker")
    virtual.act("hold", "ship A1", 0.0, 0.0)
    scene = virtual.scene_at(SET_UP_MS + 100)
    assert scene.limbs
    assert players.bodies["ship A1"] not in scene.pieces
    assert virtual.scene_at(SET_UP_MS + 4000).limbs
    assert not virtual.scene_at(SET_UP_MS + 60_000).limbs
    assert players.bodies["ship A1"] in virtual.scene_at(SET_UP_MS + 60_300).pieces
