"""Text from outside: what is no Unicode is refused in one line, and nothing in a text steers a
terminal.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.errors import InputError
from table.text import check_unicode, printable

LONE = "\ud83d"


@pytest.mark.parametrize(
    "value",
    [
        LONE,
        f"a{LONE}b",
        ["fine", [LONE]],
        {"a": {"b": LONE}},
        {LONE: 1},
        ({"a": [{LONE: None}]},),
        json.loads('{"reason": "\\udc00"}'),
    ],
)
def test_text_that_no_encoding_can_write_is_refused_wherever_it_is(value):
    with pytest.raises(InputError, match=r"^command: expected valid Unicode text, got '") as error:
        check_unicode(value, "command")
    assert str(error.value).encode().isascii()


def test_a_long_text_is_quoted_in_short_around_its_fault():
    with pytest.raises(InputError) as error:
        check_unicode("x" * 10_000 + LONE + "y" * 10_000, "here")
    assert r"\ud83d" in str(error.value)
    assert len(str(error.value)) < 120


def test_a_document_nested_deeper_than_python_recurses_is_walked():
    value: list[object] = [LONE]
    for _ in range(5000):
        value = [value]
    with pytest.raises(InputError):
        check_unicode(value, "here")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_json_can_say_in_utf_8_passes(value):
    check_unicode(value, "here")


@given(st.text(st.characters()))
def test_a_terminal_gets_no_control_characters_and_no_surrogates(text):
    harmless = printable(text)
    assert len(harmless) == len(text)
    assert not any(
        ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 or 0xD800 <= ord(letter) < 0xE000
        for letter in harmless
    )
    harmless.encode()


@pytest.mark.parametrize(
    ("text", "line", "lines"),
    [
        ("\x1b[31mred\x1b[0m", " [31mred [0m", " [31mred [0m"),
        ("\x9b2Jgone", " 2Jgone", " 2Jgone"),
        ("two\nlines\tand\r\x00", "two lines and  ", "two\nlines\tand  "),
        ("\u202eturned", " turned", " turned"),
        ("Zoë 👩\u200d🚀 ✓", "Zoë 👩\u200d🚀 ✓", "Zoë 👩\u200d🚀 ✓"),
    ],
)
def test_what_steers_becomes_a_space_and_the_rest_stays(text, line, lines):
    assert printable(text) == line
    assert printable(text, keep_lines=True) == lines
