"""What the caller says: short, sayable, and always whose turn it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.presentation.announcements import LONGEST, announcement, sound

SAID = [
    (
        (
            "Yellow's piece lies 21.6 ± 0.3 mm from the target. Yellow leads, at 21.6 mm. Blue"
            " throws next."
        ),
        (
            "Yellow's piece lies 21.6 millimetres from the target. Yellow leads, at 21.6"
            " millimetres. Blue throws next."
        ),
    ),
    (
        (
            "Yellow takes cyan2 (on b4 and c4, with its tip in b4): yellow1 fires southwest on"
            " d6-a3. Cyan has no shot. Yellow fires next."
        ),
        "Yellow takes cyan 2. Cyan has no shot. Yellow fires next.",
    ),
    (
        "Blue hits red: its Zamboni is destroyed. The game is over: blue won.",
        "Blue hits red: its Zamboni is destroyed. The game is over: blue won.",
    ),
    ("Red looks north; yellow1 is not on b4-b8, and so it is not hit.", "Red looks north."),
    (
        "Is the new piece red or orange? It is red's throw.",
        "Is the new piece red or orange? It is red's throw.",
    ),
    (
        (
            "Blue's piece appears to touch the target (± 1.0 mm). Blue leads,"
            " touching the target. Red throws next."
        ),
        (
            "Blue's piece appears to touch the target. Blue leads, touching the target. Red"
            " throws next."
        ),
    ),
    ("Blue throws.", "Blue throws."),
]


@pytest.mark.parametrize(("message", "words"), SAID)
def test_a_ruling_is_called(message, words):
    assert announcement("ruled", message) == words


def test_of_what_was_heard_only_that_is_called():
    assert (
        announcement("noted", "Blue's die shows 3. Blue moves and spends 3 points.")
        == "Blue's die shows 3."
    )


@pytest.mark.parametrize("kind", ["corrected", "undone", "declared"])
def test_what_people_put_right_is_called_without_what_it_was(kind):
    assert "Yellow" not in announcement(kind, "players corrected record 7: Yellow leads instead.")


@given(st.text(max_size=400))
def test_a_call_is_short_whatever_is_said(message):
    assert "±" not in announcement("ruled", "Red lies 3.0 ± 0.4 mm off.")
    assert len(announcement("ruled", message)) <= max(len(message) + 20, 2 * LONGEST)


@pytest.mark.parametrize(
    ("verdict", "code", "state", "expected"),
    [
        ("accepted", "boule.throw", {}, "turn"),
        ("accepted", "storm.attack", {"outcome": None}, "hit"),
        ("accepted", "zamboni.hit", {}, "hit"),
        ("accepted", "icefloe.move", {"sunk": "Ma"}, "sink"),
        ("accepted", "icefloe.removed", {"sunk": None}, "sink"),
        ("accepted", "storm.attack", {"outcome": "red won"}, "over"),
        ("refused", "storm.attack", {"outcome": None}, "refused"),
        ("ambiguous", "boule.too_close", {}, "ask"),
        ("out_of_sync", "icefloe.out_of_sync", {}, "doubt"),
        ("noted", "zamboni.roll", {}, ""),
        ("by hand", "", {}, ""),
    ],
)
def test_every_kind_has_its_sound(verdict, code, state, expected):
    game = {"boule": "ice_boule", "storm": "ice_storm", "zamboni": "zamboni_wars"}.get(
        kind := code.partition(".")[0], kind
    )
    assert sound(game, verdict, code, state) == expected
