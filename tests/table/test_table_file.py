"""The fields of `table.json` are listed once, and one class writes the file of a table in use."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec import inspect

from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.table_config import Setup, TableFields, load_table, parse_table, table_document
from table.table_file import TableFile, replace_table

ROOT = Path(__file__).parents[2]
SECTION = re.search(
    r"^## table\.json$(.*?)^## ",
    (ROOT / "docs" / "FORMATS.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)[1]
ROWS = dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", SECTION, re.MULTILINE))


def names(kind: inspect.Type, before: str = "") -> set[str]:
    """Dotted names of all fields of a type, with those of the types inside it."""
    match kind:
        case inspect.StructType(fields=fields, tag_field=tag):
            found = {f"{before}{tag}"} if tag else set()
            for field in fields:
                found |= {f"{before}{field.encode_name}"}
                found |= names(field.type, f"{before}{field.encode_name}.")
            return found
        case inspect.UnionType(types=types):
            return set().union(*(names(one, before) for one in types))
        case inspect.VarTupleType(item_type=item):
            return names(item, before)
        case inspect.TupleType(item_types=items):
            return set().union(*(names(one, before) for one in items))
    return set()


FIELDS = names(inspect.type_info(TableFields))


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_field_is_told_in_formats_md(field):
    """In a row of its own, or by name in the row of a field beside it or of what both are part
    of.
    """
    holder, _, name = field.rpartition(".")
    near = [text for row, text in ROWS.items() if row == holder or row.rpartition(".")[0] == holder]
    assert field in ROWS or any(f"`{name}`" in text for text in near)


def test_every_row_of_formats_md_is_a_field():
    assert set(ROWS) <= FIELDS


def test_a_table_is_its_fields_and_its_piece_sizes():
    assert set(Setup.__struct_fields__) == {*TableFields.__struct_fields__, "pieces"}


def test_what_is_written_is_read_back():
    setup = demo_setup()
    document = table_document(setup)
    assert parse_table(document) == setup
    assert set(document) - {"format"} <= set(TableFields.__struct_fields__)


def test_a_table_that_is_replaced_is_kept_beside_the_new_one(tmp_path):
    before, after = demo_setup(), msgspec.structs.replace(demo_setup(), cover_dice=None)
    after = msgspec.structs.replace(after, game=msgspec.structs.replace(after.game, target=None))
    path = tmp_path / "table.json"
    assert replace_table(before, path) is None
    file = TableFile(path, before)
    file.replace(after)
    assert file.setup is after
    assert load_table(path) == after
    assert load_table(tmp_path / "table.json.bak") == before


def test_a_table_that_cannot_be_written_leaves_all_as_it_was(tmp_path):
    before = demo_setup()
    file = TableFile(tmp_path / "table.json", before)
    file.replace(before)
    wrong = msgspec.structs.replace(before, game=msgspec.structs.replace(before.game, sizes=("x",)))
    with pytest.raises(InputError, match=r"game\.sizes"):
        file.replace(wrong)
    assert file.setup is before
    assert load_table(tmp_path / "table.json") == before


def test_only_the_table_file_writes_while_a_table_is_prepared_or_played_on():
    """Commands write tables that they make; nothing else in the product does."""
    rooms = ("calibration", "engines", "hardware", "referee", "vision", "webui")
    writers = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"\b(?:save_table|replace_table)\b", path.read_text(encoding="utf-8"))
    }
    assert writers == set()
