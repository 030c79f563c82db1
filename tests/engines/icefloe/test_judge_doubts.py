"""What the judge of IceFloe asks, waits for and takes for granted where a picture cannot decide;
and what it hears.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import icefloe as game
from engines.verdict import Accepted, Ambiguous, CannotSee, Noted, OutOfSync, Refused, Waiting
from table.boards import Chessboard, Tiles
from table.errors import InputError
from table.pieces import load_piece_set
from table.solids import lying
from tests.support.icefloe_states import BOARD, line

PLAYERS = ("red", "yellow", "black", "blue")


def on(table, name, place, off_mm, tables, **changes):
    """A pyramid exactly there."""
    table.stood[name] = replace(tables.Stood(name, place, off_mm, name[0]), **changes)


def test_a_pyramid_between_two_tiles_is_asked_about(pond, tables):
    state, table = pond(line())
    before = table.seen()
    on(table, "AS", "b1", (-25.5, 20.0), tables)
    asked = game.judge(state, table.seen(), before, table.board)
    assert {choice.moves for choice in asked.choices} == {("AS:a1-b1",), ()}, (
        "it may have been pushed to the edge of its tile"
    )
    state, table = pond(line(board="a2=A2+BS a3=Mn+AC b1=A5+AM b2=A3+AA b3=Cn+AS c2=Ma+FA"))
    before = table.seen()
    on(table, "BS", "b2", (5.0, 25.4), tables)
    asked = game.judge(state, table.seen(), before, table.board)
    assert isinstance(asked, Ambiguous)
    assert asked.code == "icefloe.too_close"
    assert {choice.moves for choice in asked.choices} == {("BS:a2-b2",), ("BS:a2-b3",), ()}
    there = game.judge_answer(asked, "Red moved pyramid B of suns from a2 to b3")
    assert there.moves == ("BS:a2-b3",)


def test_nothing_was_moved_on_a_pond_that_looks_as_it_did_when_it_was_ruled_on(pond, tables):
    """However badly it is read: people were asked about that then."""
    state, table = pond(line())
    before = table.seen()
    on(table, "AS", "b1", (-25.5, 20.0), tables)
    seen = table.seen()
    assert isinstance(game.judge(state, seen, before, table.board), Ambiguous)
    assert isinstance(game.judge(state, seen, seen, table.board), Waiting)
    for other in (
        replace(seen, pieces=seen.pieces[:-1]),
        replace(seen, tiles=seen.tiles | {"a2": False}),
    ):
        assert isinstance(game.judge(state, seen, other, table.board), Ambiguous), (
            "the table was another one"
        )


def test_only_a_legal_move_explains_an_unsure_size(pond, tables):
    """A red pyramid came to b2, and its size is not sure: only that of a1 is missing."""
    state, table = pond(line())
    before = table.seen()
    table.put("AS", "b2")
    on(table, "AS", "b2", table.stood["AS"].off_mm, tables, read_as="B", size_probability=0.9)
    verdict = game.judge(state, table.seen(), before, table.board)
    assert verdict.moves == ("AS:a1-b2",)


@pytest.mark.parametrize(("colour_probability", "kind"), [(1.0, OutOfSync), (0.7, Waiting)])
def test_nobody_is_held_to_what_may_be_print_beside_a_pyramid(pond, colour_probability, kind):
    """Where all pyramids of a size are known to be elsewhere or gone: a sure one is another
    set's.
    """
    state, table = pond(line())
    before, seen = table.seen(), table.seen()
    first = seen.pieces[0]
    print_ = replace(
        first,
        colour="blue",
        size="D",
        base_mm=first.base_mm + np.array([0.0, 14.0]),
        colour_probability=colour_probability,
    )
    verdict = game.judge(state, replace(seen, pieces=(*seen.pieces, print_)), before, table.board)
    assert isinstance(verdict, kind), verdict


def test_a_misread_pyramid_is_known_by_where_it_stood(pond):
    """The picture takes AC for a lying B; that is what it takes it for as long as it stands
    there.
    """
    state, table = pond(line())
    fallen = table.fallen("AC")
    del table.stood["AC"]
    before = table.seen(fallen)
    assert isinstance(game.judge(state, before, None, table.board), Waiting)
    table.put("BS", "b1")
    assert game.judge(state, table.seen(fallen), before, table.board).moves == ("BS:a2-b1",)


def test_a_ghost_is_nobody(pond, tables):
    """Something that is hardly there comes into the picture, stays and goes."""
    state, table = pond(line())
    before = table.seen()
    ghost = replace(
        tables.Stood("DC", "b1", (18.0, 18.0), "D").piece(np.zeros(2)), pose_probability=0.6
    )
    assert isinstance(game.judge(state, table.seen(ghost), before, table.board), Waiting)
    table.put("AS", "b2")
    assert game.judge(state, table.seen(ghost), before, table.board).moves == ("AS:a1-b2",)
    sure = replace(ghost, pose_probability=1.0)
    assert isinstance(game.judge(state, table.seen(sure), before, table.board), OutOfSync)


def test_a_ghost_between_pyramids_is_none_of_them(pond, tables):
    """It is read so roughly that it might be anywhere on the tile; a legal move for it does not
    stand against what is surely read.
    """
    state, table = pond(line())
    rough = {
        "pose_probability": 0.6,
        "size_probability": 0.3,
        "covariance": np.diag([40.0, 40.0, 900.0]),
    }
    on(table, "AM", "b1", (-15.0, -15.0), tables)
    on(table, "CM", "b1", (-15.0, 15.0), tables)
    ghost = replace(tables.Stood("BS", "b1", (0.0, 0.0), "C").piece(np.zeros(2)), **rough)
    before = table.seen(ghost)
    table.put("BS", "c3")
    refused = game.judge(state, table.seen(ghost), before, table.board)
    assert (type(refused), refused.tried) == (Refused, ("BS:a2-c3",))
    assert game.judge(state, table.seen(ghost), table.seen(), table.board).tried == ("BS:a2-c3",)


def test_a_print_that_comes_into_sight_where_a_pyramid_stood_is_not_that_pyramid(pond):
    """The letter of a tile is taken for a piece now and then; the pyramid is surely elsewhere."""
    state, table = pond(line())
    before = table.seen()
    print_ = replace(
        table.stood["BS"].piece(np.array([6.0, 4.0])),
        size="C",
        pose_probability=0.14,
        size_probability=0.3,
        covariance=np.diag([9.0, 9.0, 400.0]),
    )
    table.put("BS", "c3")
    refused = game.judge(state, table.seen(print_), before, table.board)
    assert (type(refused), refused.tried) == (Refused, ("BS:a2-c3",))


def test_what_could_not_be_read_may_be_what_is_missing(pond):
    state, table = pond(line())
    before = table.seen()
    at = table.stood.pop("FA").piece(np.zeros(2)).base_mm
    gone = game.judge(state, table.seen(), before, table.board)
    assert (gone.code, gone.differences) == (
        "icefloe.out_of_sync",
        ("Pyramid F of arms cannot be seen on c2.",),
    )
    unread = table.seen(unread_mm=(at,))
    hidden = game.judge(state, unread, before, table.board)
    assert (type(hidden), hidden.message) == (
        CannotSee,
        "Rinkside cannot read what is at (112, 92) mm. Show it more clearly.",
    )
    assert isinstance(
        game.judge(state, unread, replace(before, unread_mm=(at + 3,)), table.board), OutOfSync
    ), "it was there all the time"
    assert isinstance(game.judge(state, table.seen(tiles=None), before, table.board), CannotSee)


def test_a_move_of_which_only_something_unread_is_seen_is_asked_about(pond):
    state, table = pond(line())
    before = table.seen()
    del table.stood["BS"]
    somewhere = np.array([51.3 + 25.0, 25.0])
    asked = game.judge(state, table.seen(unread_mm=(somewhere,)), before, table.board)
    assert (type(asked), asked.withdrawn_if_table_changes) == (Ambiguous, True)
    assert (
        asked.message
        == "Pyramid B of suns is no longer on a2, and the camera cannot find it elsewhere."
        " Was it moved to b1?"
    )
    assert [asked.choices[0].moves, asked.choices[-1].moves] == [("BS:a2-b1",), ()]
    assert ("BS:a2-b2",) in [choice.moves for choice in asked.choices], (
        "it may have gone where nothing of it is seen"
    )
    table.put("BS", "b2")
    assert game.judge(state, table.seen(unread_mm=(somewhere,)), before, table.board).moves == (
        "BS:a2-b2",
    )


def test_a_tile_under_something_unread_is_not_taken_for_gone(pond):
    """BS came beside AM: the two cannot be read, and they cover the tile."""
    state, table = pond(line(board="a2=A2+BS a3=Mn+AC b1=A5+AM b2=A3+AA b3=Cn+AS c2=Ma+FA"))
    before = table.seen()
    del table.stood["BS"], table.stood["AM"]
    tiles = {**before.tiles, "b1": False}
    places = tuple(np.array([51.3 + x_mm, 25.0]) for x_mm in (15.0, 35.0))
    unclear = game.judge(state, table.seen(unread_mm=places, tiles=tiles), before, table.board)
    assert isinstance(unclear, CannotSee), "nothing is to be put right"
    assert ("BS:a2-b1",) in [choice.moves for choice in unclear.asks.choices]


def test_a_pyramid_that_was_not_read_for_a_while(pond):
    """Where it stood something lies that cannot be read; then it is read again, and not for
    sure.
    """
    state, table = pond(line())
    fallen = replace(table.fallen("AC"), pose_probability=0.4)
    del table.stood["AC"]
    before = table.seen(unread_mm=(fallen.base_mm + 4,))
    assert isinstance(game.judge(state, table.seen(fallen), before, table.board), Waiting)
    table.put("BS", "b1")
    assert game.judge(state, table.seen(fallen), before, table.board).moves == ("BS:a2-b1",)


def test_a_pyramid_that_is_read_badly_beside_something_unread_is_no_ghost(pond):
    """Its shadow was told as something unread when the last move was ruled on."""
    state, table = pond(line())
    at = table.stood["FA"].piece(np.zeros(2)).base_mm
    shadow = at + np.array([4.0, 5.0])

    def unsure(seen):
        near = [np.hypot(*(piece.base_mm - at)) < 5 for piece in seen.pieces]
        return replace(
            seen,
            pieces=tuple(
                replace(one, pose_probability=0.7) if is_fa else one
                for one, is_fa in zip(seen.pieces, near, strict=True)
            ),
        )

    before = unsure(table.seen(unread_mm=(shadow,)))
    table.put("BS", "b1")
    assert game.judge(state, unsure(table.seen()), before, table.board).moves == ("BS:a2-b1",)


def test_a_pyramid_that_is_read_to_lie_now_beside_something_unread_is_no_ghost(pond):
    """It stands on a print of its own colour, part of which was told as something unread when the
    last move was ruled on.
    """
    state, table = pond(line())
    fallen = replace(table.fallen("AC"), size_probability=0.3)
    before = table.seen(unread_mm=(fallen.base_mm + 1,))
    del table.stood["AC"]
    table.put("BS", "b1")
    assert game.judge(state, table.seen(fallen), before, table.board).moves == ("BS:a2-b1",)


def test_a_tile_that_sinks_goes_with_all_that_stands_on_it(pond):
    state, table = pond(line(mover="blue"))
    before = table.seen()
    table.put("FA", "b1")
    half = game.judge(state, table.seen(), before, table.board)
    assert (half.code, half.message) == (
        "icefloe.sinking",
        "Pyramid F of arms is too heavy for the 5 of arms on b1: take the 5 of arms off"
        " with everything on it.",
    )
    table.sink("b1")
    sunk = game.judge(state, table.seen(), before, table.board)
    assert sunk.moves == ("FA:c2-b1",)
    assert sunk.message.startswith(
        "Blue moved pyramid F of arms from c2 to b1, and the 5 of arms sinks (more than 5)."
    )


def test_an_illegal_move_that_sinks_a_tile_is_called(pond):
    state, table = pond(
        line(mover="blue", board="a1=A4+AS a2=A2+BS a3=Mn+AC b1=A5+AM+CM b2=A3+AA e5=M3+FA")
    )
    before = table.seen()
    del table.stood["FA"]
    table.sink("b1")
    refused = game.judge(state, table.seen(), before, table.board)
    assert (refused.code, refused.tried, refused.evidence["violation"]) == (
        "icefloe.move",
        ("FA:e5-b1",),
        "icefloe.move.reach",
    )


def test_a_move_at_another_time_is_called(pond):
    state, table = pond(line("vote", "-"))
    before = table.seen()
    assert game.judge(state, table.seen(), before, table.board).message.startswith(
        "Vote on the value of the tile to remove: null, ace, 2, 3, 4 or 5. Still to vote: red,"
    )
    table.put("AS", "b2")
    refused = game.judge(state, table.seen(), before, table.board)
    assert (refused.code, refused.player, refused.tried) == ("icefloe.move", "red", ("AS:a1-b2",))
    assert refused.evidence["violation"] == "icefloe.move.time"


def test_two_pyramids_that_look_alike_before_the_game(tables):
    state = game.set_up(PLAYERS, {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(3), state)
    for name, place in zip(state.placing_order, sorted(table.tiles), strict=True):
        on(table, name, place, (0.0, 0.0), tables)
    everything = game.judge(state, table.seen(), None, table.board)
    assert everything.code == "icefloe.start"
    fallen = replace(table.fallen("AC"), size="A", pose_probability=0.4)
    here = table.stood.pop("AC")
    assert game.judge(state, table.seen(fallen), None, table.board).moves == everything.moves, (
        "it makes the set whole"
    )
    table.stood["AC"] = here
    on(table, "ES", table.stood["ES"].place, (0.0, 0.0), tables, read_as="F", size_probability=0.6)
    on(table, "FS", table.stood["FS"].place, (0.0, 0.0), tables, size_probability=0.6)
    asked = game.judge(state, table.seen(), None, table.board)
    assert isinstance(asked, Ambiguous)
    assert [len(choice.moves) for choice in asked.choices] == [24, 24, 0]
    assert asked.choices[0].moves == everything.moves or asked.choices[1].moves == everything.moves
    on(table, "EC", table.stood["EC"].place, (0.0, 0.0), tables, read_as="F", size_probability=0.6)
    on(table, "FC", table.stood["FC"].place, (0.0, 0.0), tables, size_probability=0.6)
    assert isinstance(game.judge(state, table.seen(), None, table.board), CannotSee)


def placed(tables, count):
    """A pond on which so many pyramids were placed, each in the middle of a tile."""
    state = game.set_up(PLAYERS, {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(3), state)
    order = zip(state.placing_order, sorted(table.tiles), strict=True)
    for name, place in list(order)[:count]:
        on(table, name, place, (0.0, 0.0), tables)
        state = game.play(state, game.parse_move(f"{name}:{place}"))
    return state, table


def lying_at(table, name, off_mm):
    """How a pyramid is read that surely fell over, its base so far from the middle of its tile."""
    stood = table.stood.pop(name)
    piece = replace(stood, off_mm=off_mm).piece(np.zeros(2))
    solid = lying(load_piece_set("piecepack")[name[0]], *piece.base_mm, 0.0)
    return replace(piece, pose="lying", solid=solid, heading_deg=0.0)


def test_a_pyramid_that_fell_over_while_it_was_placed_is_stood_up_first(tables):
    state, table = placed(tables, 0)
    on(table, "AS", "b2", (0.0, 0.0), tables)
    upright = table.copy()
    fallen = game.judge(state, table.seen(lying_at(table, "AS", (14.0, 0.0))), None, table.board)
    assert (type(fallen), fallen.code) == (Waiting, "icefloe.fallen")
    assert fallen.message.startswith(
        "Pyramid A of suns has fallen over: stand it upright where it belongs."
    )
    assert game.judge(state, upright.seen(), None, table.board).moves == ("AS:b2",)


def test_what_fell_over_and_was_not_touched_since_lies_as_it_was_ruled(tables):
    """Also where it reaches over the edge of its tile, and where two of a suit look alike."""
    state, table = placed(tables, 6)
    first, second = (name for name in state.board.pyramids if name[1] == "S")
    where = table.stood[first].place
    fallen = [lying_at(table, first, (20.0, 0.0)), lying_at(table, second, (-10.0, 0.0))]
    before = table.seen(*fallen)
    assert [floe.place for floe in state.board.floes if first in floe.pyramids] == [where]
    name, place = state.placing_order[6], sorted(table.tiles)[6]
    on(table, name, place, (0.0, 0.0), tables)
    assert game.judge(state, table.seen(*fallen), before, table.board).moves == (f"{name}:{place}",)


def test_what_is_wrong_before_the_game(tables):
    state = game.set_up(PLAYERS, {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(3), state)

    def judge():
        return game.judge(state, table.seen(), None, table.board)

    assert judge().message == "Red places pyramid A of suns next, on a tile without a pyramid."
    table.tiles.discard("a1")
    table.tiles.add("c3")
    assert judge().message == "Missing: the 4 of arms on a1. No tile belongs on c3."
    table.tiles = table.tiles - {"c3"} | {"a1"}
    table.put("AC", "b2")
    early = judge()
    assert isinstance(early, Refused)
    assert (early.code, early.player, early.tried) == ("icefloe.place.order", "yellow", ("AC:b2",))
    table.put("AS", "b2")
    taken = judge()
    assert isinstance(taken, Waiting)
    assert taken.message.startswith(
        "Pyramid A of crowns cannot be placed on b2, because pyramid A of suns stands there."
    )
    table.put("AS", "c2")
    assert judge().moves == ("AS:c2", "AC:b2")
    table.put("FM", "d4")
    assert (
        judge().message
        == "Not seen on the board: pyramid A of moons. Placed too early: pyramid F of"
        " moons. Red places pyramid A of suns next, on a tile without"
        " a pyramid."
    )


def test_a_tile_that_was_misread_before_is_held_against_nobody(pond):
    """There are no more than 24 tiles: what looks like one more is the table, before the game and
    in it.
    """
    state, table = pond(line())
    before = table.seen()
    table.tiles.add("c3")
    verdict = game.judge(state, table.seen(), before, table.board)
    assert (type(verdict), verdict.message.partition(". ")[2]) == (
        Waiting,
        "There seems to be a tile on c3, where none belongs. If so, take it off.",
    )
    again = game.judge(state, table.seen(), table.seen(), table.board)
    assert (type(again), again.message) == (Waiting, verdict.message.partition(". ")[0] + ".")
    table.tiles.discard("a3")
    untouched = game.judge(state, table.seen(), before, table.board)
    assert isinstance(untouched, Waiting), (
        "nobody takes a tile away from under a pyramid that does not move"
    )
    table.put("AC", "a3")
    assert isinstance(game.judge(state, table.seen(), before, table.board), OutOfSync)
    assert isinstance(game.judge(state, table.seen(), table.seen(), table.board), Waiting)


def test_what_looks_like_a_25th_tile_does_not_keep_a_game_from_its_start(tables):
    state = game.set_up(PLAYERS, {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(3), state)
    table.tiles.add("c3")
    table.put("AS", "b2")
    verdict = game.judge(state, table.seen(), None, table.board)
    assert (type(verdict), verdict.moves) == (Accepted, ("AS:b2",))


def test_a_whole_set_with_a_wrong_pyramid_in_it_is_told_piece_by_piece(tables):
    """As many as there are, and none is missing by number: nobody is told that nobody is
    missing.
    """
    state = game.set_up(PLAYERS, {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(3), state)
    for name, place in zip(state.placing_order, sorted(table.tiles), strict=True):
        on(table, name, place, (0.0, 0.0), tables)
    place = table.stood["AC"].place
    on(table, "AC", place, (0.0, 0.0), tables, read_as="B")
    message = game.judge(state, table.seen(), None, table.board).message
    assert (
        message == f"The camera reads a yellow B on {place}, but only pyramid A of crowns is left"
        " to stand there. Red places"
        " pyramid A of suns next, on a tile without a pyramid."
    )


def test_votes_set_before_the_last_move_are_shown_with_it(pond):
    state, table = pond(line(mover="blue"))
    before = table.seen()
    for player, vote in zip(PLAYERS, "4n24", strict=True):
        heard = game.hear(state, {"player": player, "vote_value": vote})
        assert (type(heard), heard.secret) == (Noted, True)
        assert heard.message.startswith(
            f"{player.capitalize()} has voted. It counts once the last move is made. Blue moves"
        )
        state = game.play(state, game.parse_move(*heard.moves))
    table.put("AA", "b1")
    moved = game.judge(state, table.seen(), before, table.board)
    assert (type(moved), moved.moves) == (Accepted, ("AA:b2-b1",))
    shown = (
        "All votes are shown: red for 4, yellow for null, black for 2 and blue for 4. Coins may be"
        " laid"
    )
    assert moved.message.startswith(f"Blue moved pyramid A of arms from b2 to b1. {shown}")


def test_votes_are_secret_until_all_have_voted():
    state = game.State.parse(line("vote", "-"))
    for player, vote in zip(PLAYERS, "4n24", strict=True):
        heard = game.hear(state, {"player": player, "vote_value": vote})
        assert isinstance(heard, Noted)
        assert heard.secret
        state = game.play(state, game.parse_move(*heard.moves))
        if player != "blue":
            assert heard.message == f"{player.capitalize()} has voted."
            again = game.hear(state, {"player": player, "vote_value": "5"})
            assert (again.code, again.tried) == ("icefloe.vote.twice", ())
    assert heard.message.startswith(
        "Blue has voted. All votes are shown: red for 4, yellow for null, black for 2 and blue"
        " for 4."
    )
    late = game.hear(state, {"player": "red", "vote_value": "5"})
    assert (late.code, late.tried) == ("icefloe.vote.time", ())
    assert late.message.startswith("Players vote after the movement.")


def test_a_tie_is_the_torch_bearers():
    state = game.State.parse(line("coins", "-", votes="4 2 4 2"))
    assert isinstance(game.hear(state, {"player": "red", "coin": 1, "to": "yellow"}), Noted)
    spent = game.hear(
        game.play(state, game.parse_move("coin red a to yellow")),
        {"player": "red", "coin": 1, "to": "red"},
    )
    assert (spent.code, spent.player) == ("icefloe.coin.spent", "red")
    for player in PLAYERS:
        done = game.hear(state, {"player": player, "done": True})
        assert (done.code, isinstance(done, Noted)) == ("icefloe.done", True)
        state = game.play(state, game.parse_move(*done.moves))
    assert state.phase == "decide"
    assert game.hear(state, {"player": "blue", "decides": "4"}).code == "icefloe.decide.player"
    decided = game.hear(state, {"player": "red", "decides": "4"})
    assert (decided.code, decided.moves) == ("icefloe.vote.value", ("decide red 4",))
    assert decided.message.startswith("Red, the torch bearer, decides for 4 (4 2 and 2 2).")


def test_what_else_is_heard():
    scoring = game.State.parse(line("score", "red", extra=5))
    scored = game.hear(scoring, {"player": "red", "score": "A5"})
    assert (scored.code, scored.message.split(". ")[0]) == (
        "icefloe.score",
        "Red chooses the 5 of arms to score: black 4",
    )
    round_over = game.State.parse(line("torch", "-"))
    torch = game.hear(round_over, {"player": "yellow", "torch": True})
    assert (torch.code, torch.moves) == ("icefloe.round", ("torch yellow",))
    assert game.hear(round_over, {"player": "red", "extra_tile": None}).moves == ("torch yellow",)
    penalty = game.hear(game.State.parse(line("vote", "-")), {"player": "blue", "penalty": True})
    assert (penalty.code, penalty.moves) == ("icefloe.penalty", ("penalty blue",))
    extra = game.State.parse(line("extra", "-", board=f"{BOARD} d4=M4 e5=M3"))
    assert game.hear(extra, {"player": "blue", "extra_tile": None}).code == "icefloe.removed_empty"
    assert isinstance(game.hear(extra, {"player": "red", "extra_tile": "M4"}), Waiting)
    assert game.hear(extra, {"player": "red", "extra_tile": None}).moves == (
        "remove none",
        "torch yellow",
    )
    tied = line("name", "-").replace("scores 0 0 0 0", "scores 9 9 3 3")
    named = game.hear(game.State.parse(tied), {"player": "red", "decides": "yellow"})
    assert (named.code, isinstance(named, Accepted)) == ("icefloe.winner", True)
    assert "yellow won with 9 points" in named.message
    for message in (
        {"player": "red", "die": 5},
        {"player": "red", "vote_value": 4},
        {"player": "red", "score": "X4"},
        {},
    ):
        with pytest.raises(InputError):
            game.hear(scoring, message)


def test_a_move_that_ends_where_it_began_is_heard():
    state = game.State.parse(line())
    may = {
        one["label"]: one["said"]
        for one in game.state_document(state)["may_say"]
        if not one.get("aside")
    }
    assert list(may) == ["pyramid A of suns comes back to a1", "pyramid B of suns comes back to a2"]
    stays = game.hear(state, may["pyramid A of suns comes back to a1"])
    assert (stays.code, stays.moves) == ("icefloe.move", ("AS:a1-a1",))
    assert (
        stays.message
        == "Red moved pyramid A of suns and came back to a1. Yellow moves a pyramid or"
        " slides a tile next."
    )
    assert game.hear(state, {"player": "yellow", "stays": "AC"}).code == "icefloe.move"


def test_a_board_that_will_not_do():
    with pytest.raises(InputError, match="5 x 5 places"):
        game.set_up(PLAYERS, {}, Tiles(cell_mm=51.0, rows=4))
    with pytest.raises(InputError, match="this is a chessboard"):
        game.set_up(PLAYERS, {}, Chessboard(square_mm=50.0))
    assert game.set_up(PLAYERS, {}, None) == game.start(PLAYERS, {})


def test_a_pyramid_that_is_read_only_roughly_where_it_stood_still_stands_there(pond):
    """Its neighbours are within what it may be off, and none of them is taken to have been swapped
    for it.
    """
    state, table = pond(line())
    before = table.seen()
    stood = table.stood["CM"]
    rough = replace(
        stood.piece(np.array([1.0, -1.5])), covariance=np.diag([17.0**2, 16.0**2, 78.0**2])
    )
    table.put("BS", "c3")
    del table.stood["CM"]
    refused = game.judge(state, table.seen(rough), before, table.board)
    assert (type(refused), refused.tried) == (Refused, ("BS:a2-c3",))
