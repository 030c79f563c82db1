"""The page of tuned constants (docs/tuning.md) and the code say the same; `make tuning` writes it.

A value that changes without its measurement fails here, and so does a measurement in a docstring.
"""

from __future__ import annotations

import re

import pytest

from tools.tuning import KINDS, PAGE, ROOMS, constants, not_tuned, page, rows, unit_of

ROWS = rows()
NOT_TUNED = not_tuned()
EVERYWHERE = (*ROOMS, "simulation", "webui", "hub", "cli")
KNOWN = {constant.name: constant for room in EVERYWHERE for constant in constants(room)}
COUNTED = (
    r"(pieces|pictures|images|photographs|tables|markers|games|readings|targets|places|shadows)"
)
MEASUREMENT = re.compile(
    rf"\b(of|on) (\d{{1,3}}(,\d{{3}})+\b|\d+ (\w+ )?{COUNTED}\b)"
    r"|\b(chosen|fitted|measured|tried|median) (on|to|of) (\w+ )?(pieces|pictures|images|tables)\b"
    r"|\bset by judgement",
    re.IGNORECASE,
)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make tuning`"


def test_every_row_is_a_constant_with_the_value_that_the_code_has() -> None:
    assert {row.name: row.value for row in ROWS} == {
        row.name: KNOWN[row.name].value if row.name in KNOWN else "not in the code" for row in ROWS
    }


@pytest.mark.parametrize("room", ROOMS)
def test_every_numeric_constant_is_sorted_once(room: str) -> None:
    """A new one is tuned, with how it was chosen, or stands under `not_tuned` with its kind."""
    named = [row.name for row in ROWS] + [name for names in NOT_TUNED.values() for name in names]
    assert sorted(name for name in named if name.partition(".")[0] == room) == sorted(
        constant.name for constant in constants(room)
    ), "docs/tuning.toml has other constants than the code"


def test_every_kind_is_explained() -> None:
    assert NOT_TUNED.keys() == KINDS.keys()


def test_a_row_says_what_the_number_counts_and_how_it_was_chosen() -> None:
    assert [row.name for row in ROWS if not unit_of(row)] == []
    said = [row.chosen for row in ROWS if row.chosen not in ("", "not recorded")]
    assert [text for text in said if not text.endswith(".") or "  " in text] == []
    assert [row.name for row in ROWS if not re.fullmatch("[0-9a-f]{7}|", row.commit)] == []


def test_the_code_says_what_each_tuned_constant_means() -> None:
    assert [row.name for row in ROWS if not KNOWN[row.name].doc] == []


def test_docstrings_of_constants_hold_no_measurement() -> None:
    assert [one.name for one in KNOWN.values() if MEASUREMENT.search(one.doc)] == []


@pytest.mark.parametrize(
    "before",
    [
        "Uncertainty, in bases: of 2,078 pieces one in six exceeds it.",
        "JPEG quality of images. Of 36 readings 1 was read otherwise at 92, none at 95.",
        "Penalty, in nats. Chosen on 1,267 pieces on 120 rendered tables: 1,241 right.",
        "Weight of the odds.  Fitted to rendered tables that the networks were not trained on.",
        "Standard deviation of one edge profile. Median of rendered tables.",
    ],
)
def test_a_measurement_in_a_docstring_is_seen(before: str) -> None:
    assert MEASUREMENT.search(before)
