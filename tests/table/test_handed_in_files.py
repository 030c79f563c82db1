"""Files that people hand in are small, whole, harmless text, or refused in one short line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.lens.file import load_lens
from hardware.settings import load_settings
from referee.live.recorded_inputs import read_inputs
from table.errors import InputError
from table.files import (
    MOST_TEXT_BYTES,
    MOST_TOML_BYTES,
    check_output,
    parse_json,
    parse_toml,
    read_bytes,
    write_whole,
)
from table.pieces import load_piece_set
from table.table_config import load_table
from table.text import check_unicode, printable
from webui.security.codes import Codes

READERS: dict[str, Callable[[Path], object]] = {
    "table.json": load_table,
    "lens.json": load_lens,
    "pieces.toml": lambda path: load_piece_set(path.name, path.parent),
    "rinkside.toml": load_settings,
    "inputs.jsonl": read_inputs,
    "access.json": Codes,
}
"""Every text file that a command reads, and what reads it."""
MOST_SAID = 400
"""Characters of a message beside the path."""


def refused(read: Callable[[Path], object], path: Path) -> str:
    """What is said of a file; one line, short, without signs that do not print."""
    with pytest.raises(InputError) as error:
        read(path)
    message = str(error.value)
    assert message.isprintable()
    assert len(message) <= len(str(path)) + MOST_SAID
    return message


@pytest.fixture(params=READERS)
def handed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[Path], object], Path]:
    return READERS[request.param], tmp_path / request.param


def test_a_file_of_a_gigabyte_is_refused_unread(
    handed: tuple[Callable[[Path], object], Path],
) -> None:
    read, path = handed
    path.touch()
    os.truncate(path, 1 << 30)  # takes no room on the disk
    assert re.search(r", at most [\w.]+ \w+, got a larger file", refused(read, path))


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """What /proc and the like say of a size is no promise."""
    path = tmp_path / "table.json"
    path.write_bytes(b" " * 11)
    with pytest.raises(InputError, match=r"at most .*, got a larger file"):
        read_bytes(path, "a file", 10)
    assert read_bytes(path, "a file", 11) == b" " * 11


def test_what_is_no_file_is_named_and_nothing_waits_for_it(
    handed: tuple[Callable[[Path], object], Path],
) -> None:
    read, path = handed
    path.mkdir()
    assert refused(read, path).endswith("got a folder")
    path.rmdir()
    os.mkfifo(path)
    assert refused(read, path).endswith("got a pipe")
    path.unlink()
    path.symlink_to("/dev/zero")
    mode = Path("/dev/zero").stat().st_mode
    assert refused(read, path).endswith("got a device")
    assert Path("/dev/zero").stat().st_mode == mode
    path.unlink()
    path.symlink_to(path)
    if path.name != "access.json":  # is made anew where there is none
        assert "Too many levels of symbolic links" in refused(read, path)


HALF = {
    "table.json": b'{"format": "rinkside-table/1", "game": {"name": "\\ud800"}}',
    "lens.json": b'{"format": "rinkside-lens/1", "\\ud800": 1}',
    "pieces.toml": b'name = "\xed\xa0\x80"',
    "rinkside.toml": b'[hardware]\nboard = "\xed\xa0\x80"',
    "inputs.jsonl": b'{"t_ms": 7000, "player": "red", "vote_value": "\\ud800"}',
    "access.json": (
        b'{"format": "rinkside-access/1", "key": "ab", "host": "AAAA-BBB", "table": "AAA-BBB",'
        b' "seats": "\\ud800"}'
    ),
}


def test_half_a_character_is_refused_where_it_comes_in(
    handed: tuple[Callable[[Path], object], Path],
) -> None:
    read, path = handed
    path.write_bytes(HALF[path.name])
    message = refused(read, path)
    assert "expected valid Unicode text, got " in message or "it is not text" in message


LONG = "{" * 5000
LONG_KEYS = {
    "table.json": json.dumps({"format": "rinkside-table/1", LONG: {LONG: 1}}),
    "lens.json": json.dumps({"format": "rinkside-lens/1", LONG: 1}),
    "pieces.toml": (
        f'name = "looney"\nsizes = {{small = {{base_mm = 14, height_mm = 25, "{LONG}" = 1}}}}'
    ),
    "rinkside.toml": (
        '[hardware]\nlamps = {kind = "wled-presets", device = "/dev/ttyUSB0", presets ='
        f' {{"{LONG}" = 1}}}}'
    ),
    "inputs.jsonl": json.dumps([LONG]),
    "access.json": json.dumps({LONG: 1}),
}


def test_a_message_quotes_little_of_a_file(handed: tuple[Callable[[Path], object], Path]) -> None:
    read, path = handed
    path.write_text(LONG_KEYS[path.name])
    refused(read, path)


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_names_and_values_of_a_table_are_quoted_shortly(size: int, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    good = json.loads(Path(__file__).with_name("table.json").read_text())
    for put in (
        good | {"game": good["game"] | {"pieces": "p" * 100 * size}},
        good | {"game": good["game"] | {"colours": ["c" * 100 * size]}},
        good | {"game": good["game"] | {"sizes": ["s" * 100 * size]}},
        good | {"board": {"kind": "k" * 100 * size}},
        good | {"fiducials": good["fiducials"] | {"dictionary": "d" * 100 * size}},
        good | {"format": "f" * 100 * size},
    ):
        path.write_text(json.dumps(put))
        refused(load_table, path)


@pytest.mark.parametrize(
    "text", ["[" * 33 + "]" * 33, '{"a":' * 33 + "1" + "}" * 33, "[" * 100_000, '{"a":' * 100_000]
)
def test_json_has_32_lists_or_objects_inside_each_other_at_most(text: str) -> None:
    assert parse_json("[" * 32 + "]" * 32, "it") is not None
    with pytest.raises(InputError, match="nested lists or objects"):
        parse_json(text, "it")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1e999]", r"\[0\]: expected a finite number, got inf"),
        ('{"a": [0, NaN]}', r"a\[1\]: expected a finite number, got nan"),
        ('{"a": -Infinity}', "a: expected a finite number, got -inf"),
        (
            '{"a": 9007199254740993}',
            "a: expected a number up to 9007199254740992, got one with 54 bits",
        ),
        ("1" * 5000, "expected JSON: Exceeds the limit"),
    ],
)
def test_numbers_of_json_are_bounded(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_json(text, "it")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = " + "[" * 33 + "]" * 33, "at most 32 levels of nested lists or objects"),
        ("a = " + "[" * 100_000, "expected TOML"),
        ("a = " + "{a = " * 100_000, "expected TOML"),
        (
            "a = 0x" + "f" * 5000,
            "expected a number up to 9007199254740992, got one with 20000 bits",
        ),
        ("a = " + "1" * 5000, "expected TOML: Exceeds the limit"),
        ("a = inf", "a: expected a finite number, got inf"),
        (".".join("a" * 100_000) + " = 1", "expected TOML: a key has at most 15 parts"),
        (
            "[" + " . ".join(["'a'", '"\\""', "b"] * 30_000) + "]",
            "expected TOML: a key has at most 15 parts",
        ),
        ("x = {" + ".".join("a" * 16) + " = 1}", "expected TOML: a key has at most 15 parts"),
    ],
)
def test_toml_is_bounded_in_depth_numbers_and_parts_of_keys(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_toml(text, "it")


def test_a_key_of_fifteen_parts_is_none_too_many() -> None:
    document = parse_toml(".".join("a" * 15) + ' = "a.a.a.a.a.a.a.a.a.a.a.a.a"', "it")
    assert list(document) == ["a"]


@pytest.mark.parametrize("sign", ['"\\', "'", '"', "a", '["', ".", "\\"])
def test_looking_for_long_keys_takes_no_time_by_the_square(sign: str) -> None:
    """A file of the greatest size that would keep a careless pattern busy for hours; nothing here
    measures it, it would just never end.
    """
    text = (sign * MOST_TOML_BYTES)[:MOST_TOML_BYTES]
    with pytest.raises(InputError, match="expected TOML"):
        parse_toml(text, "it")


@given(
    st.recursive(
        st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        st.lists,
    )
)
def test_harmless_json_comes_through_as_it_is(document: object) -> None:
    assert parse_json(json.dumps(document), "it") == document


def test_a_million_values_are_read() -> None:
    """As many as a file of the greatest size can hold: what is counted for messages must not fill
    the memory.
    """
    text = "[" + "0," * (MOST_TEXT_BYTES // 2 - 2) + "0]"
    assert len(parse_json(text, "it")) == MOST_TEXT_BYTES // 2 - 1


def test_lines_end_where_json_lines_do(tmp_path: Path) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_text(
        '{"t_ms": 1, "said": "a\u2028b\u0085c"}\r\n\n{"t_ms": 2}\n', encoding="utf-8", newline=""
    )
    assert [heard.at_ms for heard in read_inputs(path)] == [1, 2]


def test_a_thousand_markers_with_one_id_are_refused_at_once(tmp_path: Path) -> None:
    good = json.loads(Path(__file__).with_name("table.json").read_text())
    marker = good["fiducials"]["markers"][0]
    path = tmp_path / "table.json"
    for count, says in (
        (1000, "markers[1].id: expected a unique id"),
        (1001, "markers: expected a list of 1000 or less"),
    ):
        path.write_text(json.dumps(good | {"fiducials": {"markers": [marker] * count}}))
        assert says in refused(load_table, path)


@pytest.mark.parametrize(
    "name", ["a\0b.toml", "\ud800.toml", "x" * 250 + ".toml", "../" * 80 + ".toml"]
)
def test_a_name_that_no_file_can_have_is_refused(name: str, tmp_path: Path) -> None:
    refused(lambda path: load_piece_set(name, path), tmp_path)


# --- text ---


@pytest.mark.parametrize(
    "value", ["\ud800", ["a", "\udfff"], {"\udc80": 1}, {"a": {"b": ["\ud83d"]}}]
)
def test_half_characters_are_found_wherever_they_are(value: object) -> None:
    with pytest.raises(InputError, match=r"^here: expected valid Unicode text, got "):
        check_unicode(value, "here")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whole_text_is_valid(text: str) -> None:
    check_unicode({text: [text]}, "here")


@given(st.text())
def test_nothing_printable_moves_a_cursor(text: str) -> None:
    unsafe = {
        *map(chr, range(32)),
        *map(chr, range(0x7F, 0xA0)),
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029",
    }
    assert not unsafe & set(printable(text))
    printable(text).encode()


def test_names_of_people_stay_as_they_are() -> None:
    names = "Zoë O’Neill, Łukasz, 李小龍, محمد, 👩‍👧"
    assert printable(names) == names


# --- writing ---


def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "out.json"
    os.mkfifo(pipe)
    for door in (lambda: write_whole(pipe, b"x"), lambda: check_output(pipe)):
        with pytest.raises(InputError, match="expected the name of a file to write, got a pipe"):
            door()
    assert pipe.is_fifo()


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    photo, other, link = (tmp_path / name for name in ("photo.png", "other.png", "link.png"))
    photo.touch()
    link.symlink_to(photo)
    os.link(photo, tmp_path / "hard.png")
    check_output(other, photo, None)
    for out in (photo, link, tmp_path / "hard.png", tmp_path / "." / "photo.png"):
        with pytest.raises(
            InputError, match=r"expected an output file other than .*photo\.png, which is an input"
        ):
            check_output(out, None, photo)
    for nowhere in (tmp_path, tmp_path / "none" / "out.png"):
        with pytest.raises(InputError, match="expected the name of a file in an existing folder"):
            check_output(nowhere)


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "table.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".png")
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"


def test_a_pipe_with_a_writer_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)  # a writer that waits for no reader
    try:
        message = refused(load_table, path)
    finally:
        os.close(held)
    assert message.endswith("got a pipe")
