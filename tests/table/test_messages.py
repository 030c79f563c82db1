"""Sentences as data: English, any other language, the log."""

from __future__ import annotations

import copy
import json
import pickle

import msgspec
import pytest

from table.errors import InputError, error_summary
from table.languages import translated
from table.messages import (
    NOTHING,
    NUMBER,
    Message,
    any_of,
    as_message,
    in_a_row,
    msg,
    phrase,
    phrases,
    sentences,
    written,
)
from vision.cameras.base import CameraLost

GERMAN = {
    ("", "{player} throws next."): "{player:who} wirft als Nächstes.",
    ("who", "green"): "Grün",
    ("", "green"): "grün",
    ("", "red"): "rot",
    ("", "and"): "und",
    ("", "It moved {pieces} by {mm} mm."): "{pieces} wurde um {mm} mm bewegt.",
    ("", "{who} undid record {n}."): "{who} nahm Eintrag {n} zurück.",
}


def german(message):
    def say(english, form):
        return english.replace(".", ",") if form == NUMBER else GERMAN[form, english]

    return written(message.content, say)


def again(message):
    return Message.restored(json.loads(json.dumps(msgspec.to_builtins(message.content))))


SAID = [
    (
        msg("{player} throws next.", player="green"),
        "Green throws next.",
        "Grün wirft als Nächstes.",
    ),
    (
        sentences(
            msg("It moved {pieces} by {mm} mm.", pieces=["red1", "green2"], mm="3.2 ± 0.4"),
            msg("{player} throws next.", player="green"),
        ),
        "It moved red1 and green2 by 3.2 ± 0.4 mm. Green throws next.",
        "rot 1 und grün 2 wurde um 3,2 ± 0,4 mm bewegt. Grün wirft als Nächstes.",
    ),
]


@pytest.mark.parametrize(("message", "english", "in_german"), SAID)
def test_a_message_is_an_english_sentence_and_can_be_written_in_another_language(
    message, english, in_german
):
    assert message == english
    assert german(message) == in_german


@pytest.mark.parametrize("message", [each[0] for each in SAID])
def test_a_message_is_the_same_after_the_log_and_after_another_process(message):
    for other in (again(message), pickle.loads(pickle.dumps(message))):
        assert (other, other.content) == (message, message.content)


def test_a_phrase_keeps_its_small_letter_after_another_process():
    won = phrase("{players} won with {n} points", players=["red"], n=3)
    for other in (pickle.loads(pickle.dumps(won)), copy.deepcopy(won)):
        assert other == won == "red won with 3 points"


def test_the_name_of_a_person_is_never_translated():
    message = msg("{who} undid record {n}.", who="green", n=3)
    assert german(message) == "green nahm Eintrag 3 zurück."


def test_a_sentence_that_an_old_log_keeps_is_read_as_it_is():
    assert Message.restored("Blue throws next.") == as_message("Blue throws next.")


@pytest.mark.parametrize("document", [3, None, {"type": "poem"}, {"type": "message"}, ["red"]])
def test_what_is_no_message_is_refused(document):
    with pytest.raises(msgspec.ValidationError):
        Message.restored(document)


def test_parts_are_joined_and_empty_ones_left_out():
    moved = msg("it moved {pieces}", pieces=["red1"])
    assert phrases("", moved, "so it was") == "it moved red1; so it was"
    assert sentences("", NOTHING, moved) == moved
    assert msg("Is it {colours}?", colours=any_of(["red", "blue", "green"], "colour")) == (
        "Is it red, blue or green?"
    )
    assert msg("Is it {colours}?", colours=any_of([], "colour")) == "Is it nobody?"


def test_what_prints_as_a_message_is_one_in_a_field():
    class Outcome:
        def __str__(self):
            return phrase("{player} throws next.", player="green")

    message = msg("Over: {text}", text=Outcome())
    assert message == "Over: green throws next."
    assert message.content == msg("Over: {text}", text=str(Outcome())).content
    assert not isinstance(message.content.fields["text"], str)


def test_a_field_without_a_value_is_a_mistake():
    with pytest.raises(KeyError):
        msg("{player} throws next.", playr="red")


def test_things_in_a_row_have_the_same_between_all_of_them():
    message = msg(
        "It moved {pieces} by {mm} mm.", pieces=in_a_row(["red", "green"], "colour"), mm="3"
    )
    assert message == "It moved red, green by 3 mm."
    assert german(message) == "rot, grün wurde um 3 mm bewegt."
    spaced = msg("expected {text}", text=in_a_row(["red", "green"], "colour", " "))
    assert spaced == "expected red green"


def test_an_error_keeps_its_message_and_shows_no_character_that_does_not_print():
    error = InputError(msg("camera {path} not found; plug it in", path="video\n0\x1b[2J"))
    assert str(error) == "camera video 0 [2J not found; plug it in"
    assert error.message == str(error)
    assert translated(error.message, "de") == "Kamera video 0 [2J nicht gefunden; einstecken"
    outer = InputError(msg("{spec}: {text}", spec="v4l2:0", text=error.message))
    assert str(outer) == f"v4l2:0: {error}"
    assert (
        translated(outer.message, "de") == "v4l2:0: Kamera video 0 [2J nicht gefunden; einstecken"
    )
    assert isinstance(outer, ValueError)


def test_what_went_wrong_unexpectedly_is_named_with_its_kind():
    lost = CameraLost(msg("it sends no more pictures"))
    assert error_summary(lost) == "CameraLost: it sends no more pictures"
    assert translated(error_summary(lost), "de") == "CameraLost: sie sendet keine Bilder mehr"
    assert error_summary(KeyError()) == "KeyError"
    assert error_summary(OSError("no\tdevice")) == "OSError: no device"
