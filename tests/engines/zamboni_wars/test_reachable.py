"""Where a Zamboni can get to, and whom it can shoot: against every sequence of points played one by
one.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.zamboni_wars import State, legal_moves, parse_move, play, reachable, violation
from engines.zamboni_wars.board import FACINGS, SPACES
from engines.zamboni_wars.driving import breach, movement_rules
from engines.zamboni_wars.moves import Drive

options = st.tuples(st.integers(0, 2**32), st.booleans(), st.booleans())


def spent(slow, roll):
    """The ends that the rules leave open: with all points, or with as many as any sequence can
    spend.
    """
    return next(ends for points in range(roll, 0, -1) if (ends := slow.ends(points)))


def named(slow, ends):
    """Ends as moves are written."""
    names = {(space.file, space.row): str(space) for space in SPACES}
    pushed = {
        end: "" if end[2] == slow.dice else " dice " + " ".join(names[die] for die in end[2])
        for end in ends
    }
    return {f"{names[space]} {facing}{pushed[space, facing, dice]}" for space, facing, dice in ends}


@given(options, st.integers(1, 6))
def test_every_end_and_no_other(table, option, roll):
    slow = table(*option)
    state = State.parse(slow.state("roll"))
    assert set(map(str, reachable(state, roll))) == named(slow, spent(slow, roll))


@given(options, st.integers(1, 6))
def test_where_points_may_be_left_every_end_with_fewer_counts_too(table, option, roll):
    slow = table(*option)
    state = State.parse(slow.state("roll").replace("rulings ", "rulings points=may "))
    ends = {(slow.space, slow.facing, slow.dice)}.union(
        *(slow.ends(points) for points in range(1, roll + 1))
    )
    assert set(map(str, reachable(state, roll))) == named(slow, ends)
    moving = State.parse(slow.state(f"move {roll}").replace("rulings ", "rulings points=may "))
    assert violation(moving, Drive(state.mover.space, state.mover.facing)) is None


@given(options, st.integers(1, 6))
def test_every_way_leads_where_it_says(table, option, roll):
    slow = table(*option)
    state = State.parse(slow.state("roll"))
    most = next(points for points in range(roll, 0, -1) if slow.ends(points))
    for end, way in reachable(state, roll).items():
        assert len(way) == most
        space, facing, dice, turned = slow.space, slow.facing, slow.dice, False
        for done in way:
            turns = isinstance(done, str)
            assert not (turns and turned)
            steps = not turns and abs(done[0] - space[0]) + abs(done[1] - space[1]) == 1
            space, facing, dice = slow.act(space, facing, dice, "go" if steps else done)
            turned = turns
            assert turns or space == done
        assert (space, facing) == (end.space, end.facing)
        assert dice == (end.dice or slow.dice)


@given(
    options,
    st.integers(1, 6),
    st.sampled_from(SPACES),
    st.sampled_from(FACINGS),
    st.lists(st.sampled_from(SPACES), max_size=2, unique=True),
)
def test_violation_agrees_whatever_is_tried(table, option, roll, space, facing, dice):
    """Whatever end is tried: refused with a reason exactly where it is none of the legal moves."""
    state = State.parse(table(*option).state(f"move {roll}"))
    move = Drive(space, facing, tuple(sorted(dice)))
    wrong = violation(state, move)
    assert (wrong is None) == (move in list(legal_moves(state))) == (move in legal_moves(state))
    assert parse_move(str(move)) == move


@pytest.mark.slow
@given(options, st.integers(1, 6))
def test_every_refusal_points_at_what_is_allowed(table, option, roll):
    """The end that a refusal offers is legal, or the facings that it lists are those of that
    space.
    """
    state = State.parse(table(*option).state(f"move {roll}"))
    ends = list(legal_moves(state))
    for space in SPACES[::7]:
        for facing in FACINGS[::3]:
            wrong = violation(state, Drive(space, facing))
            if wrong and "The nearest allowed end is" in wrong.message:
                end = wrong.message.partition("The nearest allowed end is ")[2].rstrip(".")
                place, _, dice = end.replace(", facing", "").partition(", with the cover dice on ")
                on = " ".join(["", "dice", *re.findall(r"[a-f][1-6]", dice)]) if dice else ""
                offered = parse_move(place + on)
                assert offered in ends
                assert offered.facing == facing or (offered.space, facing) not in [
                    (end.space, end.facing) for end in ends
                ]
                assert space not in [end.space for end in ends]
            elif wrong and "it may face" in wrong.message:
                listed = (
                    wrong.message.partition("it may face ")[2]
                    .rstrip(".")
                    .replace(" or ", ", ")
                    .split(", ")
                )
                assert set(listed) == {end.facing for end in ends if end.space == space}
            elif wrong:
                offered = wrong.message.partition("Allowed: ")[2].split("'")[1::2]
                assert {parse_move(text) for text in offered} == {
                    end for end in ends if (end.space, end.facing) == (space, facing)
                }


@given(options, st.integers(1, 6))
def test_whom_the_laser_can_hit(table, option, roll):
    """After every move: the target is the one that the printed words leave."""
    slow = table(*option)
    state = State.parse(slow.state(f"move {roll}"))
    for move in list(legal_moves(state))[::3]:
        after = play(state, move)
        slow.space, slow.facing, slow.dice = move.space, move.facing, tuple(map(tuple, after.dice))
        target = slow.target()
        if target is None:
            assert (str(after.phase), after.to_move) == (
                "roll",
                (slow.players * 2)[slow.players.index(slow.to_move) + 1],
            )
        else:
            assert (str(after.phase), after.to_move) == (
                f"fire {state.others[target]}",
                state.to_move,
            )


BOARD = "board yellow=SE red=SW green=NE blue=NW; rulings warp=off cover=off fire=may."


@pytest.mark.parametrize(("corner", "one", "other"), [("a6", "b6", "a5"), ("f1", "e1", "f2")])
@pytest.mark.parametrize("roll", range(1, 7))
def test_shut_in_it_turns_and_no_more(corner, one, other, roll):
    """Ruling zamboni_wars.4: where not all points can be spent, as many as possible are."""
    state = State.parse(
        f"players yellow red blue; zambonis {corner} S 3, {one} S 3, {other} S 3; to_move yellow;"
        f" phase roll; dice -; {BOARD}"
    )
    ends = reachable(state, roll)
    assert {str(end) for end in ends} == {
        f"{corner} {facing}" for facing in FACINGS if facing != "S"
    }
    assert {len(way) for way in ends.values()} == {1}


@pytest.mark.parametrize("roll", [3, 4, 5, 6])
def test_a_one_way_street_into_a_dead_end(roll):
    """From a5 only a4 is free, where no arrow leads back: turn, step, turn, and that is all,
    whatever was rolled.
    """
    state = State.parse(
        "players yellow red blue green; zambonis a5 E 3, a6 S 3, b4 S 3, a3 N 1; to_move yellow;"
        f" phase roll; dice -; {BOARD}"
    )
    ways = {str(end): " ".join(map(str, way)) for end, way in reachable(state, roll).items()}
    assert ways == {f"a4 {facing}": f"S a4 {facing}" for facing in FACINGS if facing != "S"}
    assert violation(
        State.parse(str(state).replace("phase roll", f"phase move {roll}")), parse_move("a4 S")
    )


def test_a_way_that_breaks_no_rule_has_no_breach():
    state = State.parse(
        "players yellow blue; zambonis a6 E 3, f1 W 3; to_move yellow; phase move 2; dice -;"
        f" {BOARD}"
    )
    with pytest.raises(ValueError, match="expected a way that breaks a rule, got b6 c6"):
        breach(state, reachable(state, 2)[parse_move("c6 E")], movement_rules(state))
