"""What people who appeal are offered: neighbours of what was ruled, each of them legal."""

from __future__ import annotations

from engines import ice_boule, ice_storm, icebreaker, icefloe, zamboni_wars

STORM = (
    "players green black red; round 1; totals 0 0 0; stacks 0 0 0; thrown 2; turn -; pieces green1"
    " d2, black1 g7; rulings touching=contact fire=over knocked=thrower leaning=again low=again"
    " starter=left attack=must tie=shared."
)


def moves(offered):
    return [choice.moves[-1] for choice in offered]


def test_the_other_order_of_two_gaps():
    state = ice_boule.start(("blue", "yellow"), {})
    for move in ("target green", "throw blue large 20.00: blue 20.00"):
        state = ice_boule.play(state, ice_boule.parse_move(move))
    offered = ice_boule.alternatives(
        state, ("throw yellow large 21.00: blue 20.00 < yellow 21.00",)
    )
    assert moves(offered) == [
        "throw yellow large 20.50: yellow 20.50 < blue 20.50",
        "throw yellow large 20.50: blue 20.50 = yellow 20.50",
        "throw yellow large on: yellow on < blue 20.00",
        "throw yellow large touching: yellow touching < blue 20.00",
        "throw yellow out: blue 20.00",
        "throw yellow small 21.00: blue 20.00 < yellow 21.00",
        "throw yellow medium 21.00: blue 20.00 < yellow 21.00",
        "void",
    ]
    assert [choice.label for choice in offered[:2]] == [
        "Yellow's piece at 21.0 mm is nearer than blue's piece at 20.0 mm",
        "Blue's piece at 20.0 mm and yellow's piece at 21.0 mm are equally near",
    ]


def test_the_square_beside_and_what_was_knocked_off():
    state = ice_storm.State.parse(STORM)
    offered = moves(ice_storm.alternatives(state, ("throw red c4-c5>c5",)))
    assert offered[0] == "throw red c4-c5>c4", "the tip in the other square"
    assert {
        "throw red c4",
        "throw red c5",
        "throw red c4-c5-d5>c5",
        "throw red off",
        "throw red c4-c5>c5: green1 off",
    } <= set(offered)
    assert (
        moves(ice_storm.alternatives(state, ("throw red off: green1 off",)))[0] == "throw red off"
    )


def test_the_other_facing_and_the_next_space():
    state = zamboni_wars.start(("red", "green"), {})
    state = zamboni_wars.play(state, zamboni_wars.parse_move("roll 4"))
    ruled = next(iter(zamboni_wars.legal_moves(state)))
    offered = [
        zamboni_wars.parse_move(text)
        for text in moves(zamboni_wars.alternatives(state, (str(ruled),)))
    ]
    here = [move for move in offered if move.space == ruled.space]
    assert offered[: len(here)] == here
    assert all(
        max(abs(move.space.file - ruled.space.file), abs(move.space.row - ruled.space.row)) <= 1
        for move in offered
    )
    assert moves(
        zamboni_wars.alternatives(zamboni_wars.start(("red", "green"), {}), ("roll 5",))
    ) == [f"roll {pips}" for pips in (4, 6, 3, 2, 1)]


def test_the_cell_beside_and_the_other_ship():
    state = icebreaker.start(("red", "black"), {})
    assert moves(icebreaker.alternatives(state, ("A1-B2",))) == ["A1-B1", "A1-A2"]
    assert "A1-B2" in moves(icebreaker.alternatives(state, ("A1-C3",))), (
        "it was refused, and people saw something else"
    )


def test_the_tile_beside_and_what_went_before_stays():
    rulings = "rulings done=stands stay=may corners=may breach=to_come muted_coins=may"
    head = (
        "players red yellow black blue; round 1; phase move; mover red; scores 0 0 0 0; coins a2 a2"
        " a2 a2; muted -; value -; votes - - - -"
    )
    board = "a1=A4+AS a2=A2+BS a3=Mn+AC b1=A5+AM b2=A3+AA c2=Ma+FA"
    state = icefloe.State.parse(
        f"{head}; laid 0 0 0 0; done -; tile -; sunk -; winners -; board {board}; {rulings}."
    )
    assert set(moves(icefloe.alternatives(state, ("AS:a1-b1",)))) == {
        "AS:a1-a2",
        "AS:a1-b2",
        "AS:a1-c2",
        "AS:a1-a1",
    }
    two = icefloe.alternatives(state, ("AS:a1-b1", "AC:a3-a2"))
    assert all(choice.moves[0] == "AS:a1-b1" for choice in two)
    assert "AC:a3-b2" in moves(two)
