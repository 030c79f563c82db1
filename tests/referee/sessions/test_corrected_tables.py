"""People's corrections of pieces hold in every reading, those that are repeated too."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.sessions.corrected_tables import PieceCorrections, table_before
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.misreadings import Kind, Misread
from tests.support.setups import setup_of

RED, BLUE = (Kind(colour, "medium", "lying") for colour in ("red", "blue"))
SETUP = setup_of()


def ledger_of(*misread, colours=None, rulings=(1,)):
    return SimpleNamespace(
        misread=misread,
        colours_misread=colours or {},
        rulings=rulings,
        observed_records=iter(rulings),
    )


@pytest.fixture
def corrected():
    """It is read as red at (50, 50), and is blue."""
    return Misread(read=RED, x_mm=50.0, y_mm=50.0, true=BLUE)


def colours(table):
    return [piece.colour for piece in table.pieces]


def test_a_correction_holds_until_it_is_taken_back(seen, red, corrected):
    corrections, table = PieceCorrections(), seen(0, red)
    assert corrections.on(table, ledger_of(), SETUP) is table
    assert not corrections.has_corrections
    ledger = ledger_of(corrected)
    for _ in range(2):
        assert colours(corrections.on(table, ledger, SETUP)) == ["blue"]
        assert corrections.has_corrections
        assert [one.true for one in corrections.there] == [BLUE]
    assert colours(corrections.on(table, ledger_of(), SETUP)) == ["red"]
    assert (corrections.there, corrections.lost) == ((), ())


def test_what_is_read_again_is_corrected_again_and_what_is_repeated_is_the_same(
    seen, piece, red, corrected
):
    corrections, ledger = PieceCorrections(), ledger_of(corrected)
    first = seen(0, red)
    pieces = corrections.on(first, ledger, SETUP).pieces
    again = corrections.on(replace(first, at_ms=250), ledger, SETUP)
    assert (again.pieces, again.at_ms) == (pieces, 250)
    assert again.pieces is pieces
    moved = corrections.on(seen(500, piece("red", 300, 50)), ledger, SETUP)
    assert colours(moved) == ["red"]
    assert corrections.lost == (corrected,)
    assert colours(corrections.on(first, ledger, SETUP)) == ["blue"]


def test_a_new_correction_counts_for_the_reading_that_is_there(seen, red, corrected):
    corrections, table = PieceCorrections(), seen(0, red)
    green = replace_true(corrected, "green")
    assert colours(corrections.on(table, ledger_of(corrected), SETUP)) == ["blue"]
    assert colours(corrections.on(table, ledger_of(green), SETUP)) == ["green"]
    assert colours(corrections.on(table, ledger_of(colours={"red": "pink"}), SETUP)) == ["pink"]


def replace_true(misread, colour):
    return Misread(
        read=misread.read,
        x_mm=misread.x_mm,
        y_mm=misread.y_mm,
        true=Kind(colour, "medium", "lying"),
    )


def test_the_table_before_is_as_people_corrected_it(seen, red, corrected):
    ruled_on = JudgedTables()
    assert table_before(ruled_on, ledger_of(corrected), SETUP) is None
    table = seen(0, red)
    ruled_on.keep(1, table)
    assert colours(table_before(ruled_on, ledger_of(corrected), SETUP)) == ["blue"]
    assert table_before(ruled_on, ledger_of(), SETUP) is table
