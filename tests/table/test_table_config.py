"""table.json: what is good is read and written back the same; every mistake is one line that names
file, place, expected and got.
"""

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from table.errors import InputError
from table.pieces import COLOURS, Pyramid, load_piece_set
from table.table_config import (
    Counters,
    Fiducials,
    Game,
    LearnedColour,
    Lens,
    Marker,
    Setup,
    load_table,
    parse_table,
    save_table,
)

HERE = Path(__file__).parent
GOOD = (HERE / "table.json").read_text()
BENCH = HERE.parents[2] / "shared" / "bench"
TABLES = sorted(BENCH.glob("*/*/table.json"))
MISTAKES = tomllib.loads((HERE / "mistakes.toml").read_text())["mistakes"]
SET_MISTAKES = tomllib.loads((HERE / "set_mistakes.toml").read_text())["mistakes"]


def message(error: pytest.ExceptionInfo[InputError]) -> str:
    """The message; whatever it is about, it is one line."""
    assert str(error.value).isprintable()
    return str(error.value)


def with_mistake(at: str, put: str | None) -> Any:
    document = json.loads(GOOD)
    *path, last = [
        int(index) if index else key for key, index in re.findall(r"([a-z_]+)|\[(\d+)\]", at)
    ]
    node = document
    for step in path:
        node = node[step]
    if put is None:
        del node[last]
    else:
        node[last] = json.loads(put)
    return document


@pytest.mark.parametrize(
    "row", MISTAKES, ids=lambda row: f"{row['at']} {row.get('put', 'missing')[:40]}"
)
def test_a_mistake_is_told_in_one_line(row: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(with_mistake(row["at"], row.get("put"))))
    with pytest.raises(InputError) as error:
        load_table(path)
    assert message(error) == f"table.json: {row['says']}"


NO_TABLES = {
    "empty": (b"", "expected JSON: Expecting value: line 1 column 1 (char 0)"),
    "cut off": (GOOD[:300].encode(), "expected JSON: "),
    "a comma too many": (b'{"format": "rinkside-table/1",}', "expected JSON: "),
    "a photograph": (
        b"\xff\xd8\xff\xe0\x00\x10JFIF",
        "expected a JSON file, but it cannot be read (it is not text)",
    ),
    "nested lists": (b"[" * 100_000, "expected JSON, got endlessly nested lists or objects"),
    "nested objects": (b'{"a":' * 100_000, "expected JSON, got endlessly nested lists or objects"),
    "an endless number": (b'{"format": ' + b"1" * 5000 + b"}", "expected JSON: "),
}


@pytest.mark.parametrize(("content", "says"), NO_TABLES.values(), ids=NO_TABLES)
def test_a_file_that_is_no_json(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        load_table(path)
    assert message(error).startswith(f"{path}: {says}")


@pytest.mark.parametrize("content", ["[]", "null", "3", '"x"'])
def test_json_that_is_no_table(content: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        load_table(path)
    assert message(error) == f"table.json: document: expected an object, got {content}"


@pytest.mark.parametrize("depth", [400, 900, 3000])
def test_depth_that_json_can_still_read_is_no_crash(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(GOOD[:-2] + ', "deep": ' + "[" * depth + "]" * depth + "}")
    with pytest.raises(InputError):
        load_table(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.json", ", but it cannot be read (No such file or directory)"),
        (".", ", got a folder"),
    ],
)
def test_a_path_that_cannot_be_read(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load_table(tmp_path / name)
    assert message(error) == f"{tmp_path / name}: expected a JSON file{reason}"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_other_document_is_an_input_error(raw: Any) -> None:
    with pytest.raises(InputError) as error:
        parse_table(raw)
    assert message(error).startswith("table.json: ")


places = st.sampled_from(
    [row["at"] for row in MISTAKES if not row["at"].endswith(("origin", "colors"))]
)
values = leaves | st.lists(st.integers()) | st.just({"kind": "open"})


@given(places, values)
def test_anything_at_any_place_is_read_or_is_an_input_error(at: str, value: Any) -> None:
    try:
        message = str(parse_table(with_mistake(at, json.dumps(value))).board)
    except InputError as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) < 500


def test_a_table_is_read_as_written() -> None:
    setup = parse_table(json.loads(GOOD))
    assert setup.camera.matrix[0] == (1640.5, 0, 815.75)
    assert setup.board == Chessboard(square_mm=50.0)
    assert [marker.id for marker in setup.fiducials.markers] == [0, 1, 2]
    assert setup.colours == ("green", "black", "red")
    assert [str(size) for size in setup.sizes] == ["small", "large"]
    assert setup.outline_mm().tolist() == [[0, 0], [400, 0], [400, 400], [0, 400]]


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_table(path) == parse_table(json.loads(GOOD))


@pytest.mark.skipif(
    not TABLES, reason="the benchmark (../shared/bench) is not beside this checkout"
)
def test_tables_of_the_benchmark_are_good() -> None:
    for path in TABLES:
        assert load_table(path).game.colours, path


lengths = st.floats(20, 400)
coordinates = st.floats(-1000, 1000)
points = st.tuples(coordinates, coordinates)


@st.composite
def markers(draw: st.DrawFn) -> tuple[Marker, ...]:
    """Squares on a wide grid, each turned as it likes."""
    found = []
    for index, number in enumerate(
        draw(st.lists(st.integers(0, 249), min_size=1, max_size=8, unique=True))
    ):
        turn_deg, radius_mm = draw(st.floats(0, 360)), draw(lengths)
        turns = [math.radians(turn_deg + quarter) for quarter in (135, 45, -45, -135)]
        corners = tuple(
            (900 * index + radius_mm * math.cos(turn), radius_mm * math.sin(turn)) for turn in turns
        )
        found.append(Marker(id=number, corners_mm=corners))  # type: ignore[arg-type]  # mypy cannot count the four
    return tuple(found)


boards = st.one_of(
    st.builds(
        Chessboard,
        square_mm=st.floats(5, 200),
        files=st.integers(1, 26),
        ranks=st.integers(1, 99),
        origin_mm=points,
    ),
    st.builds(
        lambda x, y, w: Open(outline_mm=((x, y), (x + w, y), (x + w, y + 70), (x, y + 60))),
        coordinates,
        coordinates,
        lengths,
    ),
    st.builds(
        Hex,
        size=st.integers(2, 12),
        cell_mm=lengths,
        orientation=st.sampled_from(["pointy", "flat"]),
        origin_mm=points,
    ),
    st.builds(
        Coasters,
        cell_mm=lengths,
        gap_mm=st.floats(0, 100),
        layout=st.just((("yellow", "red"), ("green", "blue"))),
    ),
    st.builds(Tiles, cell_mm=lengths, rows=st.integers(1, 100), cols=st.integers(1, 100)),
)


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    width, height = draw(st.integers(64, 20000)), draw(st.integers(64, 20000))
    focal = st.floats(1, 1e5)
    matrix = ((draw(focal), 0.0, width / 2), (0.0, draw(focal), height / 2), (0.0, 0.0, 1.0))
    distortion = tuple(draw(st.lists(st.floats(-1, 1), min_size=5, max_size=5)))
    *colours, target = draw(
        st.lists(st.sampled_from(COLOURS), min_size=2, max_size=10, unique=True)
    )
    pieces = load_piece_set(draw(st.sampled_from(["looney", "piecepack"])))
    sizes = tuple(
        draw(
            st.lists(st.sampled_from([size.name for size in pieces.sizes]), min_size=1, unique=True)
        )
    )
    light = st.tuples(*3 * [st.floats(1e-6, 4)])
    learned = draw(
        st.lists(
            st.builds(LearnedColour, colour=st.sampled_from(COLOURS), light=light),
            unique_by=lambda one: one.colour,
        )
    )
    counters = draw(
        st.none()
        | st.builds(Counters, colour=st.sampled_from(COLOURS), diameter_mm=st.floats(3, 100))
    )
    return Setup(
        camera=Lens(width=width, height=height, matrix=matrix, distortion=distortion),
        fiducials=Fiducials(
            markers=draw(markers()), dictionary="DICT_5X5_250", z_mm=draw(st.floats(-100, 100))
        ),
        board=draw(boards),
        game=Game(
            name=draw(st.text(min_size=1, max_size=40)),
            colours=tuple(colours),
            sizes=sizes,
            pieces=pieces.name,
            target=draw(st.sampled_from([None, target])),
            counters=counters,
        ),
        pieces=pieces,
        learned_colours=tuple(learned),
    )


def test_doubts_about_lens_and_fiducials_are_kept(tmp_path: Path) -> None:
    setup = parse_table(json.loads(GOOD))
    places = 3 * len(setup.fiducials.markers)
    rows = tuple(tuple(0.01 if i == k else 0.002 for i in range(places)) for k in range(places))
    camera = msgspec.structs.replace(
        setup.camera, covariance=((9.0, 8.9), (8.9, 9.0)), first_estimate=True
    )
    doubtful = msgspec.structs.replace(
        setup, camera=camera, fiducials=msgspec.structs.replace(setup.fiducials, covariance=rows)
    )
    save_table(doubtful, tmp_path / "table.json")
    assert load_table(tmp_path / "table.json") == doubtful
    save_table(setup, tmp_path / "table.json")
    assert "covariance" not in (tmp_path / "table.json").read_text()


@given(setups())
def test_what_is_saved_is_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, setup: Setup
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.json"
    save_table(setup, path)
    assert load_table(path) == setup


def test_a_table_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    setup = parse_table(json.loads(GOOD))
    squares = {
        math.nan: "board.square_mm: expected a finite number, got nan",
        3.0: "board.square_mm: expected 5 mm or more, got 3.0",
    }
    for square_mm, says in squares.items():
        broken = msgspec.structs.replace(setup, board=Chessboard(square_mm=square_mm))
        with pytest.raises(InputError) as error:
            save_table(broken, tmp_path / "table.json")
        assert message(error) == f"table.json: {says}"
    assert not list(tmp_path.iterdir())


OWN_SET = (
    "name = 'tiny'\nwall_mm = 0\n[sizes.dot]\nbase_mm = 10\nheight_mm = 20\n[sizes.speck]\nbase_mm"
    " = 5.5\nheight_mm = 9\n"
)


def test_a_piece_set_of_ones_own_lies_beside_the_table(tmp_path: Path) -> None:
    document = with_mistake("game.pieces", '"tiny.toml"') | {}
    document["game"]["sizes"] = ["speck", "dot"]
    (tmp_path / "table.json").write_text(json.dumps(document))
    (tmp_path / "tiny.toml").write_text(OWN_SET)
    setup = load_table(tmp_path / "table.json")
    assert [(size.name, size.base_mm, size.wall_mm) for size in setup.pieces.sizes] == [
        ("speck", 5.5, 0),
        ("dot", 10, 0),
    ]
    save_table(setup, tmp_path / "again.json")
    assert load_table(tmp_path / "again.json") == setup


@pytest.mark.parametrize("row", SET_MISTAKES, ids=lambda row: row["says"][:50])
def test_a_mistake_in_a_piece_set_is_told_in_one_line(row: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(row["text"])
    with pytest.raises(InputError) as error:
        load_piece_set("tiny.toml", tmp_path)
    assert message(error) == f"tiny.toml: {row['says']}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file or directory"), (b"\x89PNG", "it is not text")],
    ids=["missing", "a picture"],
)
def test_a_piece_set_that_cannot_be_read(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "tiny.toml").write_bytes(content)
    (tmp_path / "table.json").write_text(json.dumps(with_mistake("game.pieces", '"tiny.toml"')))
    with pytest.raises(InputError) as error:
        load_table(tmp_path / "table.json")
    assert (
        message(error)
        == f"table.json: game.pieces: {tmp_path / 'tiny.toml'}: expected a file of pyramid sizes,"
        f" but it cannot be read ({reason})"
    )


@given(st.sampled_from(COLOURS), st.sampled_from(["small", "medium", "large", "A", "F"]))
def test_a_pyramid_prints_and_parses(colour: str, size: str) -> None:
    assert str(Pyramid.parse(f"{colour} {size}")) == f"{colour} {size}"


@pytest.mark.parametrize("text", ["", "red", "mauve small", "small red"])
def test_what_is_no_pyramid(text: str) -> None:
    with pytest.raises(
        InputError, match=r"expected a colour and a size such as 'red medium', got "
    ):
        Pyramid.parse(text)
