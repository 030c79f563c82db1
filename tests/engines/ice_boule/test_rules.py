"""The rules of Ice Boule: what its data files and the suite for all games do not say."""

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import GAMES
from engines.errors import IllegalMove, InvalidNotation
from engines.ice_boule import State, legal_moves, outcome, parse_move, play, start, violation
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Line, Sizes, Stop, Target, Throw, Void
from engines.ice_boule.state import RULINGS
from table.errors import InputError
from table.pieces import COLOURS

repeatable = settings(derandomize=True, max_examples=60, deadline=None)


GOOD_STATE = (
    "players blue yellow; scores 3 0; starter blue; line -; target green; sizes large -; thrown 2"
    " 1; last yellow 27.34; leading blue; pieces blue 12.05 < yellow 27.34; end -; rulings"
    " sizes=shown repeat=same equal=keep stop=may."
)


@pytest.mark.parametrize(
    ("players", "rulings", "expected"),
    [
        ((), {}, "players: expected 1 to 10, got 0"),
        (COLOURS[:11], {}, "players: expected 1 to 10, got 11"),
        (("blue", "blue"), {}, "players: expected each colour once, got 'blue' 2 times"),
        (("blue", "anna"), {}, "players: expected colours"),
        (
            ("blue",),
            {"tie": "same"},
            (
                "rulings: expected one of the names"
                f" {', '.join(ruling.name for ruling in RULINGS)}, got 'tie'"
            ),
        ),
        (("blue",), {"stop": "yes"}, "rulings.stop: expected may or never, got 'yes'"),
    ],
)
def test_a_game_that_cannot_start(players, rulings, expected):
    with pytest.raises(InputError, match=re.escape(expected)):
        start(players, rulings)


def test_ten_players_throw_in_turn():
    state = play(start(COLOURS[:10], {}), Target("pink"))
    pieces = []
    for count, colour in enumerate(COLOURS[:10]):
        assert state.next == colour
        pieces.insert(0, Lie(colour, 100 - count))
        state = play(
            state, Throw(colour, "large", pieces[0], Layout(tuple(pieces), ("<",) * count))
        )
    assert state.leading == COLOURS[9]
    assert state.next == COLOURS[0]


def test_legal_moves_in_words():
    state = start(["blue", "yellow"], {"sizes": "declared"})
    assert (
        str(legal_moves(state))
        == "line X,Y X,Y | target COLOUR, thrown by blue, a colour other than blue, yellow"
    )
    assert len(legal_moves(state)) == len(COLOURS) - 2
    state = play(state, Target("green"))
    assert str(legal_moves(state)) == "sizes blue=SIZE yellow=SIZE | void"
    assert list(map(str, legal_moves(state))) == [
        *(f"sizes blue={s} yellow={s}" for s in ("small", "medium", "large")),
        "void",
    ]
    state = play(state, parse_move("sizes blue=large yellow=small"))
    assert (
        str(legal_moves(state))
        == "throw blue large DISTANCE: PIECES | throw blue out: PIECES | void"
    )
    assert list(map(str, legal_moves(state))) == [
        "throw blue large on: blue on",
        "throw blue large touching: blue touching",
        "throw blue large 50.00: blue 50.00",
        "throw blue out: nothing",
        "void",
    ]
    assert "void" not in legal_moves(state), "text is no move until it is parsed"


def test_legal_throws_take_every_place_among_the_pieces():
    state = State.parse(GOOD_STATE)
    assert [
        move.distance
        for move in legal_moves(state)
        if isinstance(move, Throw) and move.size == "large"
    ] == ["on", "touching", "6.03", "19.70", "77.34", "12.05"]


def test_a_finished_game_allows_nothing():
    state = State.parse(
        GOOD_STATE.replace("target green", "target -")
        .replace("end -", "end won blue 1")
        .replace("scores 3 0", "scores 13 0")
    )
    assert str(legal_moves(state)) == "nothing: the game is over"
    assert not legal_moves(state)
    assert str(outcome(state)) == "blue won with 13 points to yellow's 0"


def test_text_is_no_move():
    with pytest.raises(AssertionError, match="unreachable"):
        violation(State.parse(GOOD_STATE), "void")


def test_the_registry_offers_the_game():
    assert GAMES["ice_boule"].NAME == "ice_boule"


def test_every_ruling_is_an_option_or_listed_with_its_only_value():
    cited = [ruling.cites for ruling in GAMES["ice_boule"].RULINGS]
    assert [cite for cite in cited if cite.startswith("ruling ")] == [
        f"ruling ice_boule.{number}" for number in range(1, 11)
    ]
    defaults = dict(State.parse(GOOD_STATE).rulings)
    assert defaults == {ruling.name: ruling.values[0] for ruling in RULINGS}, (
        "a state of an older log has the defaults"
    )
    assert len({ruling.description for ruling in RULINGS}) == len(RULINGS)


def test_a_throw_is_one_thing_or_the_other():
    with pytest.raises(InvalidNotation, match="expected a size for a piece in play"):
        Throw("blue", None, Lie("blue", 5.0), Layout((Lie("blue", 5.0),)))
    with pytest.raises(InvalidNotation, match="expected no gap for a piece on the target"):
        Lie("blue", 5.0, on_target=True)
    with pytest.raises(InvalidNotation, match="between each two of 1 pieces"):
        Layout((Lie("blue", 5.0),), ("<",))


colours = st.sampled_from(COLOURS[:5])
gaps_mm = st.integers(0, 400).map(lambda steps: steps / 20)


@st.composite
def layouts(draw, among=colours):
    """Any layout that can be written."""
    pieces = draw(st.lists(st.tuples(gaps_mm, among), max_size=9))
    lies = [Lie(colour, gap_mm) for gap_mm, colour in sorted(pieces, key=lambda piece: piece[0])]
    if lies and draw(st.booleans()):
        lies[0] = Lie(lies[0].colour, 0.0, on_target=True)
    relations = tuple(
        draw(st.sampled_from("<~=" if a.rank == b.rank else "<~")) for a, b in pairwise(lies)
    )
    return Layout(tuple(lies), relations)


@st.composite
def any_moves(draw, players=colours):
    """Any move that can be written, legal or not."""
    player, layout, size = draw(players), draw(layouts()), draw(st.sampled_from(["small", "large"]))
    own = layout.of(player)
    throw = (
        Throw(player, size, draw(st.sampled_from(own)), layout)
        if own
        else Throw(player, None, None, layout)
    )
    points = st.tuples(*[st.integers(-9000, 9000).map(lambda tenths: tenths / 10)] * 2)
    others = [
        Target(player),
        Stop(player),
        Stop(player, layout),
        Void(),
        Line(draw(points), draw(points)),
        Sizes(((player, size),)),
    ]
    return draw(st.sampled_from([throw, throw, *others]))


@repeatable
@given(any_moves())
def test_moves_print_and_parse(move):
    assert parse_move(str(move)) == move
    assert parse_move(f"  {str(move).replace(' ', '  ')} ") == move


def slow_points(layout, colour):
    """Points by the printed words: pieces nearer than the best piece of any opponent, counted one
    by one.
    """
    rivals = [(lie.rank, k) for k, lie in enumerate(layout.lies) if lie.colour != colour]
    total = 0
    for k, lie in enumerate(layout.lies):
        beaten = [
            r
            for r in rivals
            if r[1] < k or (r[1] > k and "=" * (r[1] - k) == "".join(layout.relations[k : r[1]]))
        ]
        if lie.colour == colour and not beaten:
            total += 2 if lie.on_target else 1
    return total


@repeatable
@given(layouts(), colours)
def test_points_by_the_words_of_the_rule(layout, colour):
    assert layout.points(colour) == slow_points(layout, colour)


def throws_from(state, data):
    """A throw after which anything may lie anywhere, as after a knock."""
    player = state.next
    lying = [lie.colour for lie in state.layout.lies if data.draw(st.booleans())] + [player]
    layout = data.draw(layouts(among=st.sampled_from(lying)))
    own = layout.of(player)
    size = state.size(player) or "medium"
    return Throw(player, size, own[-1], layout) if own else Throw(player, None, None, layout)


@pytest.mark.slow
@settings(repeatable, max_examples=25)
@given(
    st.integers(0),
    st.integers(1, 5),
    st.tuples(*(st.sampled_from(ruling.values) for ruling in RULINGS)),
)
def test_whole_games(seed, seats, values):
    """Random games: printing, folding, agreement of `violation` with `legal_moves`, points and
    pieces conserved, an end.
    """
    rulings = {ruling.name: value for ruling, value in zip(RULINGS, values, strict=True)}
    state = start(COLOURS[:seats], rulings)
    log, dice = [], Random(seed)
    while not outcome(state):
        assert len(log) < 2000, "no winner"
        examples = list(legal_moves(state))
        assert len(log) > 20 or len(examples) == len(legal_moves(state)) > 0
        assert all(violation(state, move) is None for move in examples)
        move = dice.choice([move for move in examples if not isinstance(move, Void)] or examples)
        before = str(state)
        after = play(state, move)
        assert str(state) == before
        assert State.parse(str(after)) == after
        scored = (
            {} if after.target or state.target is None else {after.end.winner: after.end.points}
        )
        for player, points, had in zip(state.players, after.scores, state.scores, strict=True):
            assert points - had == scored.get(player, 0) <= 5
        if isinstance(move, Throw):
            assert sum(after.thrown) == sum(state.thrown) + 1
            assert all(
                len(after.layout.of(p)) <= n
                for p, n in zip(after.players, after.thrown, strict=True)
            )
        log.append(str(move))
        state = after
    assert max(state.scores) >= 13
    assert list(legal_moves(state)) == []
    again = start(COLOURS[:seats], rulings)
    for text in log:
        again = play(again, parse_move(text))
    assert again == state


@pytest.mark.slow
@repeatable
@given(st.data(), st.integers(1, 4))
def test_violation_and_legal_moves_agree(data, seats):
    """Whatever is tried, `in` and `violation` say the same, and `play` obeys; knocks included."""
    state = start(COLOURS[:seats], {})
    for _ in range(14):
        move = data.draw(
            st.just(throws_from(state, data))
            if state.next and data.draw(st.integers(0, 3))
            else any_moves()
        )
        wrong = violation(state, move)
        assert (move in legal_moves(state)) == (wrong is None)
        if wrong:
            with pytest.raises(IllegalMove):
                play(state, move)
            move = data.draw(st.sampled_from(list(legal_moves(state))))
        state = play(state, move)
        assert State.parse(str(state)) == state
        assert not state.layout.lead_in_doubt
        assert (
            state.end is None
            or state.end.winner is None
            or not state.layout.points_in_doubt(state.end.winner)
        )


def test_the_farthest_distance_is_still_a_distance():
    assert Lie("blue", 100_000.0).gap_mm == 100_000.0
    with pytest.raises(InvalidNotation, match="0 to 100000 mm"):
        Lie("blue", 100_000.1)


def test_two_pieces_of_one_colour_too_close_to_tell_apart_leave_no_doubt():
    own, other = Lie("blue", 5.0), Lie("yellow", 40.0)
    sure = Layout((own, Lie("blue", 5.3), other), ("~", "<"))
    assert not sure.lead_in_doubt
    assert not sure.points_in_doubt("blue")
    assert Layout((own, Lie("yellow", 5.3)), ("~",)).lead_in_doubt


def test_a_throw_that_lies_as_near_as_another_piece_is_offered_behind_it():
    state = start(("blue", "yellow"), {})
    for text in ("target green", "throw blue small touching: blue touching"):
        state = play(state, parse_move(text))
    offered = [str(move) for move in legal_moves(state) if "yellow small touching" in str(move)]
    assert offered == [
        "throw yellow small touching: blue touching < yellow touching",
        "throw yellow small touching: blue touching = yellow touching",
    ]
