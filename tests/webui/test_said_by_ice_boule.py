"""What Ice Boule says reaches people in their language, whole: rulings, questions, buttons."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from engines.ice_boule import judge_answer, shown_state, violation
from engines.ice_boule.facts import FACTS
from engines.ice_boule.moves import parse_move
from engines.verdict import Ambiguous
from referee.presentation.headlines import headline_sentence
from table.messages import Message, msg, sentences
from tests.support.ice_boule import Game, Tables
from webui.i18n import LANGUAGES, translated

CODES = sorted(set(LANGUAGES) - {"en"})
ENGLISH = re.compile(
    r"\b(?:the|and|is|are|it|of|piece|pieces|target|throws?|lies|leads|play)\b", re.I
)
"""Words that no German or Spanish sentence has."""
UNSURE = {"colour_probability": 0.6}


def game(*pieces, players=("blue", "yellow"), **rulings):
    """A game in which the target stands and these pieces were thrown, a table for each."""
    played = Game(players, **rulings)
    played.see()
    played.see(Tables.target())
    for piece in pieces:
        played.add(piece)
    return played


NEAR, FAR = Tables.beside("blue", 20.0), Tables.beside("yellow", 60.0, 90)
TABLES = {
    "nothing yet": lambda: Game().see(),
    "pieces before the target": lambda: Game().see(Tables.beside("blue", 20), Tables.target()),
    "a player's colour as the target": lambda: Game().see(Tables.target("blue")),
    "two targets": lambda: Game().see(Tables.target(), Tables.target("red", 200)),
    "a target that lies": lambda: Game().see(Tables.piece("green", 0, 0)),
    "a target, perhaps": lambda: Game().see(Tables.target(**UNSURE)),
    "a throw": lambda: game().add(NEAR),
    "a throw that touches": lambda: game().add(Tables.beside("blue", 0.0)),
    "a throw on the target": lambda: game().add(Tables.on("blue", Tables.target(), 0)),
    "a target that is hidden": lambda: game(NEAR).add(
        Tables.on("yellow", Tables.target(), 0, pose_probability=0.8)
    ),
    "a second throw": lambda: game(NEAR).add(FAR),
    "out of turn": lambda: game(NEAR).add(Tables.beside("blue", 40, 180)),
    "another size": lambda: game(NEAR, FAR).add(Tables.beside("yellow", 80, 180, size="small")),
    "a size that is unsure": lambda: game().add(replace(NEAR, size_probability=0.5)),
    "a stranger": lambda: game().add(Tables.beside("red", 20)),
    "a colour that is unsure": lambda: game(NEAR).add(Tables.beside("red", 60, 90, **UNSURE)),
    "two at once": lambda: game().add(NEAR, FAR),
    "three at once": lambda: game().add(NEAR, FAR, Tables.beside("blue", 80, 180)),
    "a piece gone": lambda: game(NEAR, FAR).see(Tables.target(), FAR),
    "a piece gone and one new": lambda: game(NEAR, FAR).see(
        Tables.target(), FAR, Tables.beside("yellow", 30, 270)
    ),
    "pieces moved": lambda: game(NEAR, FAR).see(
        Tables.target(), Tables.beside("blue", 30, 180), Tables.beside("yellow", 90, 90)
    ),
    "no target to be seen": lambda: game(NEAR).see(NEAR, FAR),
    "the target outside": lambda: game(NEAR).see(NEAR, off=[Tables.target("green", 900)]),
    "too close": lambda: game(NEAR).add(Tables.beside("yellow", 20.05, 90)),
}


def message(verdict):
    """Everything that people are told by a verdict, and by what it asks."""
    yield verdict.message
    yield from getattr(verdict, "differences", ())
    yield from (
        choice.label
        for choice in getattr(verdict, "choices", ())
        if not choice.label.startswith("None of these: fix the table")
    )
    if getattr(verdict, "asks", None):
        yield from message(verdict.asks)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("code", CODES)
def test_everything_that_a_verdict_says_is_said_in_every_language(table, code):
    texts = [*message(TABLES[table]())]
    assert [text for text in texts if not isinstance(text, Message)] == []
    assert [text for text in texts if ENGLISH.search(translated(text, code))] == []


@pytest.mark.parametrize(
    ("table", "german", "spanish"),
    [
        (
            "a second throw",
            "Die Pyramide von Gelb liegt 60,0 ± 0,5 mm vom Ziel. Blau führt weiter mit 20,0 mm."
            " Gelb wirft noch einmal.",
            "La pirámide de amarillo queda a 60,0 ± 0,5 mm de la diana. Azul sigue primero, a 20,0"
            " mm. Amarillo lanza otra vez.",
        ),
        (
            "a stranger",
            "Eine rote Pyramide ist im Spiel, aber niemand spielt Rot. Nehmt sie weg.",
            "Hay en juego una pirámide roja, pero nadie juega con rojo. Hay que retirarla.",
        ),
    ],
)
def test_rulings_in_german_and_spanish(table, german, spanish):
    ruling = TABLES[table]().message
    assert [translated(ruling, code) for code in CODES] == [german, spanish]


def test_a_calliper_is_told_in_every_language():
    played = game(NEAR)
    asked = played.add(Tables.beside("yellow", 20.05, 90))
    assert isinstance(asked, Ambiguous)
    decided = judge_answer(asked, {"blue": 20.4, "yellow": 20.2}, "Anna").message
    assert decided == (
        "Yellow is nearest. Decided by Anna, measured with a calliper (blue 20.4 mm, yellow"
        " 20.2 mm)."
    )
    assert [translated(decided, code) for code in CODES] == [
        "Gelb ist am nächsten. So entschieden von: Anna, mit dem Messschieber gemessen (Blau"
        " 20,4 mm, Gelb 20,2 mm).",
        "Amarillo es quien está más cerca. Decisión de: Anna, medido con un calibre (azul 20,4 mm,"
        " amarillo 20,2 mm).",
    ]


def test_pieces_in_the_notation_of_the_game_are_named_in_every_language():
    played = Game()
    played.move("target green", "throw blue large 20: blue 20")
    tried = parse_move("throw yellow large 20.1: blue 20 ~ yellow 20.1")
    wrong = violation(played.state, tried).message
    assert wrong == (
        "The lead is too close to call: blue 20.00 ~ yellow 20.10. The players measure or decide."
    )
    assert translated(wrong, "de") == (
        "Die Führung ist zu knapp: Blau 20,00 ~ Gelb 20,10. Die Spieler messen oder entscheiden."
    )


@pytest.mark.parametrize("code", CODES)
def test_what_a_ruler_and_buttons_say_is_said_in_every_language(code):
    measuring = FACTS.table.measuring
    close = [Tables.beside("yellow", 20.05, 90), Tables.beside("yellow", 20.1, 180)]
    tables = [
        [Tables.target()],
        [Tables.target(), NEAR],
        [Tables.target(), NEAR, *close],
        [Tables.target(), NEAR, Tables.beside("blue", 60), FAR],
        [Tables.target(), replace(NEAR, **UNSURE)],
    ]
    texts = [
        measuring.sentence(measuring.measure(Tables.seen(*pieces), "green")) for pieces in tables
    ]
    state = game(NEAR).state
    document = shown_state(state)
    texts += [document["turn"], *(one["label"] for one in document["may_say"])]
    texts += [one.label for one in FACTS.presentation.declarations(document)]
    assert len(texts) > 8
    assert [text for text in texts if not isinstance(text, Message)] == []
    assert [text for text in texts if ENGLISH.search(translated(text, code))] == []


def test_a_page_that_lists_differences_says_the_rest_in_its_language():
    away = msg("A {colour} piece lies at ({mm}, {mm2}) mm.", colour="red", mm="90", mm2="0")
    row = SimpleNamespace(
        message=sentences(msg("Leave one target on the table."), away),
        evidence={"differences": [str(away)]},
    )
    assert translated(headline_sentence(row), "de") == "Lasst nur ein Ziel auf dem Tisch."
