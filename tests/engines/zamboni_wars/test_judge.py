"""Refereed games of Zamboni Wars: every legal move, hit and miss accepted, every planted wrong
called for what it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import zamboni_wars as game
from engines.verdict import Accepted, Ambiguous, CannotSee, Noted, OutOfSync, Refused, Waiting
from engines.zamboni_wars.board import FACINGS, Space
from engines.zamboni_wars.moves import Drive
from table.boards import Coasters, Hex
from table.errors import InputError


def wrong_drive(evening, table):
    legal = set(game.legal_moves(evening.state))
    drive = evening.chance.choice(
        [
            Drive(space, facing)
            for space in evening.free()
            for facing in FACINGS
            if Drive(space, facing) not in legal
        ]
    )
    table.nests[evening.state.to_move] = (
        *table.place(drive.space, drive.facing, mm=4, deg=5),
        evening.state.mover.layers,
    )
    reached = any(end.space == drive.space for end in legal)
    return (Refused, "zamboni.move", (str(drive) if reached else str(drive.space),))


def others_drive(evening, table):
    space, facing = evening.chance.choice(evening.free()), evening.chance.choice(FACINGS)
    table.drive(evening.chance.choice(evening.others()), space, facing)
    return (Refused, "zamboni.move", (f"{space} {facing}",))


def two_driven(evening, table):
    for player, space in zip(
        evening.chance.sample(list(evening.state.remaining_zambonis), 2),
        evening.chance.sample(evening.free(), 2),
        strict=True,
    ):
        table.drive(player, space, evening.chance.choice(FACINGS))
    return (OutOfSync, "zamboni.out_of_sync", None)


def stripped(evening, table):
    """A layer is taken off a nest that nobody hit."""
    target = evening.state.phase.target if evening.phase == "hit" else None
    hurt = [
        player
        for player, nest in evening.state.remaining_zambonis.items()
        if nest.layers > 1 and player != target
    ]
    if not hurt:
        return None
    player = evening.chance.choice(hurt)
    table.strip(player)
    return (Refused, "zamboni.hit", (f"take {player}",))


def stripped_twice(evening, table):
    """A hit takes two layers."""
    if (
        evening.phase != "hit"
        or evening.state.remaining_zambonis[evening.state.phase.target].layers < 3
    ):
        return None
    table.strip(evening.state.phase.target, 2)
    return (Refused, "zamboni.hit", (f"take {evening.state.phase.target}",))


def armoured(evening, table):
    """A larger piece is put over a nest."""
    hurt = [player for player, nest in evening.state.remaining_zambonis.items() if nest.layers < 3]
    if not hurt:
        return None
    player = evening.chance.choice(hurt)
    at, heading_deg, layers = table.nests[player]
    table.nests[player] = (at, heading_deg, layers + 1)
    return (OutOfSync, "zamboni.out_of_sync", None)


def exchanged(evening, table):
    """A nest is exchanged for one of a colour that nobody plays."""
    player = evening.chance.choice(list(table.nests))
    table.spare.append(("orange", table.nests.pop(player)))
    return (OutOfSync, "zamboni.out_of_sync", None)


def lifted(evening, table):
    player = evening.chance.choice(list(table.nests))
    if (
        evening.phase in ("hit", "fire")
        and evening.state.phase.target == player
        and evening.state.remaining_zambonis[player].layers == 1
    ):
        return None
    del table.nests[player]
    return (Waiting, "zamboni.move", None)


def relaid(evening, table):
    """A nest that lost a layer is laid down looking another way."""
    if (
        evening.phase != "hit"
        or evening.state.remaining_zambonis[evening.state.phase.target].layers < 2
    ):
        return None
    target = evening.state.phase.target
    nest = evening.state.remaining_zambonis[target]
    table.strip(target)
    facing = FACINGS[FACINGS.index(nest.facing) - evening.chance.randint(1, 7)]
    table.nests[target] = (*table.place(nest.space, facing, mm=2, deg=4), nest.layers - 1)
    return (Waiting, "zamboni.hit", None)


PLANTED = {
    "roll": [stripped, armoured, two_driven, exchanged, lifted],
    "move": [wrong_drive, others_drive, two_driven, stripped, armoured, exchanged, lifted],
    "hit": [stripped, stripped_twice, relaid, exchanged, lifted],
    "fire": [stripped, armoured, two_driven],
}


def spoil(evening, plant):
    """Something goes wrong, is called for what it is, and is put right, which is no move."""
    spoilt = evening.table.copy()
    if (expected := plant(evening, spoilt)) is None:
        return 0
    kind, code, tried = expected
    verdict = evening.judge(spoilt)
    assert (type(verdict), verdict.code) == (kind, code), (
        plant.__name__,
        str(evening.state),
        verdict,
    )
    assert tried is None or verdict.tried == tried, (plant.__name__, str(evening.state), verdict)
    back = evening.judge()
    assert (type(back), back.message) == (Waiting, game.state_document(evening.state)["turn"]), (
        plant.__name__,
        str(evening.state),
        back,
    )
    return 1


def out_of_turn(evening):
    """Somebody rolls whose turn it is not, and may not even when others do not fire."""
    for player in set(evening.others()) - (
        {evening.state.follower} if evening.phase in ("fire", "hit") else set()
    ):
        refused = evening.roll(player)
        assert (type(refused), refused.evidence["violation"]) == (Refused, "zamboni.turn")


def turn_of(evening):
    """One turn, with what goes wrong in it, and every verdict on it."""
    chance = evening.chance
    if evening.phase == "roll":
        spoil(evening, chance.choice(PLANTED["roll"]))
        out_of_turn(evening)
        assert isinstance(evening.count(evening.roll()), Noted)
    spoil(evening, chance.choice(PLANTED["move"]))
    who = evening.state.to_move
    drive, verdict = evening.drive()
    assert isinstance(verdict, Accepted | Ambiguous), (str(evening.state), str(drive), verdict)
    if isinstance(verdict, Ambiguous):
        verdict = game.judge_answer(
            verdict,
            next(choice.label for choice in verdict.choices if choice.moves == (str(drive),)),
        )
    assert (verdict.code, verdict.player, verdict.moves) == ("zamboni.move", who, (str(drive),))
    evening.count(verdict)
    if evening.phase == "fire":
        spoil(evening, chance.choice(PLANTED["fire"]))
        shoot(evening, who)


def shoot(evening, who):
    target, layers = (
        evening.state.phase.target,
        evening.state.remaining_zambonis[evening.state.phase.target].layers,
    )
    if evening.chance.random() < 0.1:
        held = evening.count(evening.roll(evening.state.follower))
        assert (type(held), held.moves[0]) == (Noted, "hold")
        return
    verdict = evening.count(evening.roll())
    pips = int(verdict.moves[-1].split()[1]) if verdict.moves[-1].startswith("die") else 6
    if pips < {3: 5, 2: 4, 1: 1}[layers]:
        assert (type(verdict), verdict.code) == (Accepted, "zamboni.miss")
        return
    assert (type(verdict), verdict.code) == (Noted, "zamboni.shot")
    assert isinstance(evening.judge(), Waiting), "the piece is to be taken off"
    spoil(evening, evening.chance.choice(PLANTED["hit"]))
    evening.table.strip(target)
    hit = evening.count(evening.judge())
    assert (type(hit), hit.code, hit.player, hit.moves) == (
        Accepted,
        "zamboni.hit",
        who,
        (f"take {target}",),
    )
    assert layers == 1 or evening.state.remaining_zambonis[target].layers == layers - 1


@pytest.mark.parametrize(
    ("seed", "players"),
    [
        (0, "yellow red blue"),
        (1, "yellow blue"),
        (2, "yellow red blue green"),
        (3, "red blue green"),
    ],
)
def test_games_with_everything_that_goes_wrong(begin, seed, players):
    evening = begin(seed, players)
    started = game.judge(evening.state, evening.table.seen(), None, evening.table.BOARD)
    assert (type(started), started.code, started.moves) == (Accepted, "zamboni.start", ())
    for _ in range(18):
        if game.outcome(evening.state) is None:
            turn_of(evening)
    if game.outcome(evening.state):
        assert isinstance(evening.judge(), Waiting)


def test_the_set_up_is_accepted_once_it_is_right(begin):
    evening = begin(1)
    unset = evening.table.copy()
    unset.drive("red", Space.parse("f5"), "S")
    del unset.nests["blue"]
    waiting = game.judge(evening.state, unset.seen(), None, unset.BOARD)
    assert isinstance(waiting, Waiting)
    assert (
        waiting.message
        == "Set up the board: Red's Zamboni is on f5, facing S, but belongs on f6, facing S."
        " Blue's Zamboni is missing."
    )


def test_a_zamboni_moved_before_its_roll_is_judged_once_that_is_known(begin):
    evening = begin(2)
    evening.table.drive("yellow", Space.parse("c6"), "E")
    waiting = evening.judge()
    assert (type(waiting), waiting.player) == (Waiting, "yellow")
    evening.count(game.hear(evening.state, {"player": "yellow", "die": 2}))
    assert evening.judge().moves == ("c6 E",)


def test_the_last_piece_is_shot_without_a_die_and_taken_off(at):
    evening = at("zambonis c6 E 3, f6 S 1, f1 W 3; to_move yellow; phase fire red")
    assert evening.judge().message == "Yellow may fire at red, or not."
    where = evening.table.BOARD.cell_mm * np.array([5.5, 5.5])
    printed = replace(evening.table.seen(), unread_mm=(where,))
    evening.table.strip("red")
    unread = replace(evening.table.seen(), unread_mm=(where,))
    assert isinstance(
        game.judge(evening.state, unread, evening.before, evening.table.BOARD), Waiting
    ), "something is there that was not read"
    assert game.judge(evening.state, unread, printed, evening.table.BOARD).code == "zamboni.hit", (
        "it was there before"
    )
    hit = evening.count(evening.judge())
    assert (hit.code, hit.moves, hit.message) == (
        "zamboni.hit",
        ("fire red", "take red"),
        "Yellow hits red: its Zamboni is destroyed. Blue rolls for movement.",
    )


def test_a_piece_is_off_when_the_next_player_rolls(at):
    """The camera may be blind to a nest for a while: the game goes on, and the next look tells
    whether it was true.
    """
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
    hit = evening.count(game.hear(evening.state, {"player": "red", "die": 4}))
    assert (type(hit), hit.code, hit.player, hit.moves) == (
        Accepted,
        "zamboni.hit",
        "yellow",
        ("take red", "roll 4"),
    )
    assert isinstance(evening.judge(), OutOfSync), "the large piece still lies there"


@pytest.mark.parametrize(
    ("line", "roller", "code", "moves"),
    [
        (
            "zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase fire yellow",
            "red",
            "zamboni.shot",
            ("fire yellow", "die 5"),
        ),
        (
            "zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase shot yellow",
            "red",
            "zamboni.shot",
            ("die 5",),
        ),
        (
            "zambonis e5 E 1, e2 N 3, f1 W 3; to_move red; phase hit yellow",
            "blue",
            "zamboni.hit",
            ("take yellow", "roll 5"),
        ),
        (
            "zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase fire yellow",
            "blue",
            "zamboni.roll",
            ("hold", "roll 5"),
        ),
    ],
)
def test_a_roll_tells_what_happened_before_it(at, line, roller, code, moves):
    evening = at(line)
    verdict = game.hear(evening.state, {"player": roller, "die": 5})
    assert (verdict.code, verdict.moves) == (code, moves)


@pytest.mark.parametrize(
    ("yellow", "roller", "moves"),
    [("c6", "blue", ("e2 N", "roll 5")), ("e5", "blue", ("e2 N", "hold", "roll 5"))],
)
def test_a_zamboni_may_end_where_it_began_which_nothing_on_the_table_shows(
    at, yellow, roller, moves
):
    evening = at(f"zambonis {yellow} E 3, e2 N 3, f1 W 3; to_move red; phase move 4")
    asked = game.hear(evening.state, {"player": roller, "die": 5})
    assert isinstance(asked, Ambiguous)
    assert [choice.moves for choice in asked.choices] == [moves, ()]


def test_the_piece_that_was_taken_does_not_stay_on_the_board(at):
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase hit red")
    evening.table.strip("red")
    evening.table.spare.append(("red", (*evening.table.place(Space.parse("b2"), "N"), 3)))
    assert evening.judge().message == "Take the large red piece on b2 off the board."


def test_two_readings_that_are_both_legal_are_asked_about(at):
    """Halfway between N and NE, and both can be reached (ruling zamboni_wars.1)."""
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 1")
    middle, _ = evening.table.place(Space.parse("c6"), "N", mm=2)
    evening.table.nests["yellow"] = (middle, 67.5, 3)
    asked = evening.judge()
    assert {choice.moves for choice in asked.choices} == {("c6 N",), ("c6 NE",)}
    evening.table.nests["yellow"] = (middle, 67.5 - 40, 3)
    asked = evening.judge()
    assert {choice.moves for choice in asked.choices} == {("c6 NE",), ()}, "or it has not moved yet"


def test_of_two_readings_the_legal_one_is_taken(at):
    """A millimetre over the edge of c6, where no roll of 2 leads, looking E."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    cell_mm = evening.table.BOARD.cell_mm
    evening.table.nests["yellow"] = (np.array([3.0 * cell_mm + 1, 5.5 * cell_mm]), 0.0, 3)
    assert evening.judge().moves == ("c6 E",)
    evening.table.nests["yellow"] = (np.array([3.0 * cell_mm + 5, 5.5 * cell_mm]), 0.0, 3)
    refused = evening.judge()
    assert (type(refused), refused.tried, refused.evidence["violation"]) == (
        Refused,
        ("d6",),
        "zamboni.move.far",
    )
    assert refused.message.endswith("Put back yellow's large nest on a6, facing E.")


def test_nobody_is_refused_anything_because_of_a_doubtful_reading(at):
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [table.read(player, *table.nests[player]) for player in ("red", "blue")]
    far = (*table.place(Space.parse("e3"), "N"), 3)
    for doubt in (
        {"pose_probability": 0.9},
        {"colour_probability": 0.9},
        {"size_probability": 0.9},
    ):
        seen = replace(table.seen(), pieces=(*others, table.read("yellow", *far, **doubt)))
        verdict = game.judge(evening.state, seen, evening.before, table.BOARD)
        assert (type(verdict), verdict.code) == (CannotSee, "zamboni.doubt")
        near = replace(
            seen,
            pieces=(
                *others,
                table.read("yellow", *table.place(Space.parse("c6"), "E"), 3, **doubt),
            ),
        )
        assert game.judge(evening.state, near, evening.before, table.BOARD).moves == ("c6 E",), (
            "the rules help"
        )


def test_a_nest_that_nobody_had_a_reason_to_touch_is_taken_to_lie_as_it_lay(at):
    """It is read badly where it lay: the others play on, and what is kept is how it was read when
    it was read well.
    """
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table, before = evening.table, evening.table.seen()
    where, heading_deg, _ = table.nests["red"]
    badly = table.read(
        "red", where + np.array([4.0, 0.0]), heading_deg + 60.0, 2, size_probability=0.7
    )

    def seen(*yellow):
        return replace(
            table.seen(),
            pieces=(badly, table.read("blue", *table.nests["blue"]), table.read("yellow", *yellow)),
        )

    assert isinstance(
        game.judge(evening.state, seen(*table.nests["yellow"]), before, table.BOARD), Waiting
    )
    driven = game.judge(
        evening.state, seen(*table.place(Space.parse("c6"), "E"), 3), before, table.BOARD
    )
    assert driven.moves == ("c6 E",)
    (kept,) = (piece for piece in driven.table.pieces if piece.colour == "red")
    assert kept.size == "large"
    firing = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move red; phase move 2")
    badly = firing.table.read("red", *firing.table.nests["red"][:2], 2, size_probability=0.7)
    others = [
        firing.table.read(player, *firing.table.nests[player]) for player in ("yellow", "blue")
    ]
    turned = replace(
        firing.table.seen(), pieces=(replace(badly, heading_deg=badly.heading_deg + 60.0), *others)
    )
    assert isinstance(
        game.judge(firing.state, turned, firing.table.seen(), firing.table.BOARD), CannotSee
    ), "who drives may have turned it"


def test_a_size_that_was_misread_before_already_is_held_against_nobody(at):
    """Only what changed since the last ruling can have been done by a hand."""
    evening = at("zambonis a6 E 3, f6 S 3, f1 W 3; to_move yellow; phase move 2")
    table = evening.table
    others = [
        table.read("red", *table.nests["red"][:2], 2),
        table.read("blue", *table.nests["blue"]),
    ]
    before = replace(table.seen(), pieces=(table.read("yellow", *table.nests["yellow"]), *others))
    driven = replace(
        before, pieces=(table.read("yellow", *table.place(Space.parse("c6"), "E"), 3), *others)
    )
    assert game.judge(evening.state, driven, before, table.BOARD).moves == ("c6 E",)
    assert isinstance(game.judge(evening.state, before, before, table.BOARD), Waiting)
    assert game.judge(evening.state, before, evening.before, table.BOARD).tried == ("take red",)


def test_nothing_is_ruled_under_a_hand_or_on_a_nest_that_stands(begin):
    evening = begin(3)
    assert isinstance(
        game.judge(
            evening.state, evening.table.seen(hand=True), evening.before, evening.table.BOARD
        ),
        Waiting,
    )
    for probability, kind in ((1.0, Waiting), (0.9, CannotSee)):
        seen = evening.table.seen()
        standing = replace(seen.pieces[0], pose="upright", pose_probability=probability)
        verdict = game.judge(
            evening.state,
            replace(seen, pieces=(standing, *seen.pieces[1:])),
            evening.before,
            evening.table.BOARD,
        )
        assert isinstance(verdict, kind)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"player": "red", "die": 7}, "6 or less"),
        ({"player": "pink", "die": 5}, "expected yellow, red, blue, got 'pink'"),
        ({"vote": 5}, "player, die or player, fire or player, hold"),
        ({"player": "red", "hold": False}, "hold"),
    ],
)
def test_what_cannot_be_understood(begin, message, expected):
    with pytest.raises(InputError, match=expected):
        game.hear(begin(5).state, message)


def test_firing_may_be_said(at):
    evening = at("zambonis c6 E 3, f6 S 3, f1 W 3; to_move yellow; phase fire red")
    refused = game.hear(evening.state, {"player": "yellow", "fire": "blue"})
    assert (type(refused), refused.evidence["violation"]) == (Refused, "zamboni.fire.line")
    evening.count(game.hear(evening.state, {"player": "yellow", "fire": "red"}))
    assert game.hear(evening.state, {"player": "yellow", "die": 2}).code == "zamboni.miss"


def test_the_table_says_how_the_coasters_lie():
    board = Coasters(cell_mm=33.9, layout=(("red", "blue"), ("yellow", "green")))
    assert (
        str(game.set_up(["red", "green"], {}, board).board) == "red=SE blue=SW yellow=NE green=NW"
    )
    assert game.set_up(["yellow", "blue"], {}, None) == game.start(["yellow", "blue"], {})
    assert game.set_up(["yellow", "blue"], {}, Coasters(cell_mm=33.9)) == game.start(
        ["yellow", "blue"], {}
    )
    for other in (Hex(size=5, cell_mm=30), Coasters(cell_mm=33.9, rows=5)):
        with pytest.raises(
            InputError, match="Zamboni Wars needs the four coasters of 3 by 3 spaces"
        ):
            game.set_up(["yellow", "blue"], {}, other)
