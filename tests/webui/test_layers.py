"""A ruling as a headline and a line below it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from referee.presentation.headlines import chip_player, layers
from referee.presentation.shown_games import headline
from table.messages import as_message, msg, sentences, split_first


def test_the_first_sentence_of_a_message_is_taken_apart_however_deep_it_is():
    hit = msg("{player} hits {player2}: {n} pieces left.", player="blue", player2="red", n=2)
    turn = msg("{player} rolls for movement.", player="red")
    first, rest = split_first(sentences(sentences(hit, turn), turn))
    assert str(first) == "Blue hits red: 2 pieces left."
    assert str(rest) == "Red rolls for movement. Red rolls for movement."
    assert split_first(hit) == (hit, "")
    assert split_first(sentences()) == ("", "")
    assert split_first(as_message("It lies 3.4 mm away. Red throws.")) == (
        "It lies 3.4 mm away.",
        "Red throws.",
    )


@pytest.mark.parametrize(
    ("code", "document", "said"),
    [
        ("boule.throw", {"leading": "red", "end": None}, "Red leads"),
        (
            "boule.throw",
            {"leading": "red", "end": {"kind": "won", "winner": "blue", "points": 3}},
            "Blue +3",
        ),
        ("boule.throw", {"leading": None, "end": {"kind": "tied"}}, None),
        ("boule.target", {"leading": None, "end": None}, None),
    ],
)
def test_in_ice_boule_it_says_who_leads_or_who_scored(code, document, said):
    short = headline("ice_boule", "blue", code, document)
    assert (short and str(sentences(short))) == said


@pytest.mark.parametrize(
    ("threw", "leads", "shown"),
    [("red", "blue", "blue"), ("red", "red", "red"), ("red", "", "red")],
)
def test_the_chip_before_a_headline_is_of_the_player_that_it_names(threw, leads, shown):
    verdict = SimpleNamespace(
        kind="ruled",
        verdict="accepted",
        player=threw,
        code="boule.throw",
        evidence={},
        message=msg("{player}'s piece lies there.", player=threw),
    )
    view = SimpleNamespace(
        game="ice_boule", players=("red", "blue"), state={"leading": leads or None, "end": None}
    )
    assert chip_player(verdict, view) == shown


def test_in_icebreaker_it_says_how_many_of_the_icebergs_that_win():
    state = {"scores": {"red": 5, "black": 3}, "majority": 28}
    assert str(sentences(headline("icebreaker", "red", "icebreaker.move", state))) == "Red: 5 of 28"
    assert headline("icebreaker", None, "icebreaker.start", state) is None
    assert headline("zamboni_wars", "red", "zamboni.hit", {}) is None


def test_in_ice_storm_a_piece_that_is_taken_is_a_point():
    assert str(sentences(headline("ice_storm", "blue", "storm.attack", {}))) == "Blue +1"
    assert headline("ice_storm", "blue", "storm.throw", {}) is None


def test_what_was_undone_is_below_a_short_headline():
    said = msg("{who} undid this: {text}", who="players", text="Blue leads.")
    verdict = SimpleNamespace(kind="undone", verdict="by hand", evidence={}, message=said)
    assert layers(verdict, SimpleNamespace()) == ("Undone", "Players undid this: Blue leads.")
