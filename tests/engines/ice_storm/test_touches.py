"""Squares touched: by hand, against polygons that are clipped, and honest about what is too close
to call.
"""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import InvalidNotation
from engines.ice_storm.place import Reading, readings
from engines.ice_storm.squares import SIDE, Square
from engines.ice_storm.touches import check_setup, touches
from table.boards import Chessboard, Open
from table.errors import InputError
from table.observation import SeenPiece
from table.pieces import load_piece_set
from table.solids import Solid, lying, signed_area, upright
from tests.support.paths import SHARED

CASES = SHARED / "bench" / "cases"
LOONEY = load_piece_set("looney")
EXACT = np.eye(3) * 1e-16


@pytest.mark.parametrize(
    ("where", "kind", "expected"),
    [
        # Lying, 26.4 mm long and 14.3 mm wide at the base; (x, y) is the middle of the base edge,
        # the tip along the heading.
        ((62, 125, 0), {}, "b3"),
        ((75, 135, 90), {}, "b3-b4>b4"),
        ((75, 165, -90), {}, "b3-b4>b3"),
        ((140, 75, 180), {}, "c2"),
        ((94, 144, 45), {}, "b3-b4-c3-c4>c4"),
        ((85, 145, 45), {}, "b3-b4-c4>c4"),
        ((125, 125, 30), {"pose": "upright"}, "c3^"),
        ((102, 125, 0), {"pose": "upright"}, "b3-c3^"),
        ((100, 150, 45), {"pose": "upright"}, "b3-b4-c3-c4^"),
        ((92.2, 125, 0), {"pose": "upright"}, "b3^"),
        # 0.3 mm from the line, or beyond it: within 1.96 standard deviations of 0.2 mm (and the
        # heading's).
        ((92.6, 125, 0), {"pose": "upright"}, "b3-c3?^"),
        ((93.0, 125, 0), {"pose": "upright"}, "b3-c3?^"),
        ((73.4, 125, 0), {}, "b3-c3?>c3?/b3"),
        ((73.8, 125, 0), {}, "b3-c3?>c3?/b3"),
        ((74.5, 125, 0), {}, "b3-c3>c3"),
        ((72.8, 125, 0), {}, "b3"),
        # The tip on a line that a base corner crosses: the edge between them may reach c4 while the
        # tip is in c3.
        ((76.2, 150, -1), {}, "b3-b4-c3-c4?>c3/c4"),
        ((73.6, 150, 0), {}, "b3-b4-c3?-c4?>b3/b4/c3/c4"),
        ((60, 150, 0), {}, "b3-b4>b3/b4"),
        # Off the board, partly off, and too close to call.
        ((-30, 100, 90), {}, None),
        ((5, 100, 90), {}, None),
        ((7.3, 110, 90), {}, "a3-off?"),
        ((8.0, 110, 90), {}, "a3"),
        ((380, 20, 0), {}, None),
        ((373.7, 20, 0), {}, "h1-off?"),
        # The raised base edge overhangs the contact: 14.3 mm wide, 3.9 mm nearer to the tip.
        ((101, 110, 90), {}, "b3-c3>c3"),
        # Leaning: where it rests is not known, unless all of it is over one square.
        ((125, 120, 0), {"pose": "leaning"}, "c3"),
        ((145, 125, 0), {"pose": "leaning"}, "c3?-d3?>d3"),
        ((390, 125, 0), {"pose": "leaning"}, "h3?-off?"),
        ((440, 125, 0), {"pose": "leaning"}, None),
    ],
)
def test_place(piece, board, where, kind, expected):
    found = touches(piece(*where, **kind), board).place
    assert (found and str(found)) == expected


@pytest.mark.parametrize(
    ("x_mm", "pose", "expected"),
    [
        (100 - 9.921875, "upright", "b3-c3?^"),
        (9.921875, "upright", "a3-off?^"),
        (100 - LOONEY["medium"].slant_mm, "lying", "b3-c3?>c3?/b3"),
    ],
)
def test_no_measurement_tells_on_which_side_of_a_line_a_point_on_it_is(
    piece, board, x_mm, pose, expected
):
    """Not even one without any error."""
    seen = piece(x_mm, 125.0, 0.0, size="medium", pose=pose, covariance=np.zeros((3, 3)))
    assert str(touches(seen, board).place) == expected


def test_contact_or_overhang(piece, board):
    """The side on the board runs 0.5 mm below the line; the raised base edge is about 1 mm wider
    there.
    """
    size = LOONEY["small"]
    half_angle = np.arctan(size.base_mm / 2 / size.slant_mm)
    seen = piece(
        115.0,
        149.5 - size.base_mm / 2 * np.cos(half_angle),
        np.degrees(half_angle),
        covariance=EXACT,
    )
    assert str(touches(seen, board).place) == "c3"
    assert str(touches(seen, board, "overhang").place) == "c3-c4>c3"


def test_numbers_with_their_uncertainty(piece, board):
    found = touches(piece(92.5, 125, 0, pose="upright"), board).squares
    assert [str(touch) for touch in found] == [
        "b3: 14.6 ± 0.4 mm, touched",
        "c3: -0.4 ± 0.4 mm, too close",
    ]


def slow_area(outline, low, high):
    """Area that a polygon, (n, 2), has inside a rectangle: clipped at one side after the other
    (Sutherland and Hodgman).
    """
    for axis in (0, 1):
        for sign, limit in ((1, low[axis]), (-1, -high[axis])):
            kept = []
            for a, b in pairwise([*outline, outline[0]] if len(outline) else []):
                inside_a, inside_b = sign * a[axis] >= limit, sign * b[axis] >= limit
                if inside_a:
                    kept.append(a)
                if inside_a != inside_b:
                    share = (limit - sign * a[axis]) / (sign * (b[axis] - a[axis]))
                    kept.append(a + share * (b - a))
            outline = kept
    return signed_area(np.array(outline)) if len(outline) > 2 else 0.0


def slow_reading(outline, tip, board):
    """What a piece touches by areas; the least area or depth that decides it comes with it, in
    mm.
    """
    origin, side = np.array(board.origin_mm), board.square_mm
    areas = {}
    for file in range(-2, SIDE + 2):
        for rank in range(-2, SIDE + 2):
            low = origin + side * np.array([file, rank])
            areas[Square(file, rank)] = slow_area(outline, low, low + side)
    found = {square: area for square, area in areas.items() if area > 1e-9}
    at = Square(*np.floor((tip - origin) / side).astype(int)) if tip is not None else None
    return Reading(frozenset(found), at)


poses = st.tuples(st.floats(-30, 430), st.floats(-30, 430), st.floats(0, 360))


@settings(max_examples=150)
@given(
    poses,
    st.sampled_from(["lying", "upright"]),
    st.sampled_from(["small", "medium", "large"]),
    st.sampled_from(["contact", "overhang"]),
)
def test_against_clipped_polygons(piece, pose_at, pose, size, touching):
    """With next to no uncertainty the squares are those in which the outline has an area."""
    board = Chessboard(square_mm=48.5, origin_mm=(3.0, -4.0))
    seen = piece(*pose_at, size=size, pose=pose, covariance=EXACT)
    found = touches(seen, board, touching)
    outline = seen.solid.plan_mm() if touching == "overhang" else seen.contact_mm
    truth = slow_reading(outline, None if pose == "upright" else seen.tip_mm, board)
    on_board = all(0 <= square.file < SIDE and 0 <= square.rank < SIDE for square in truth.squares)
    assert found.on_board in (on_board, None)
    if found.on_board:
        assert truth in readings(found.place)
        calls = {touch.call for touch in found.squares}
        assert calls == {"touched"} or min(abs(touch.overlap_mm) for touch in found.squares) < 1e-6


def test_honest_about_doubt(piece, board):
    """Pieces close to lines: what is called clear is wrong about as seldom as 95 % says, and not
    everything is called doubtful.
    """
    rng = np.random.default_rng(5)
    touched, sure, held, tables = [], [], [], 400
    for _ in range(tables):
        factor = np.tril(rng.normal(size=(3, 3))) * [[0.3], [0.3], [0.6]]
        covariance = factor @ factor.T + np.diag([1e-4, 1e-4, 1e-4])
        true = np.array([*rng.uniform(60, 340, 2), rng.uniform(0, 360)])
        kind = rng.choice(["lying", "upright"])
        read = true + rng.multivariate_normal(np.zeros(3), covariance)
        place = touches(piece(*read, pose=kind, covariance=covariance), board).place
        exact = piece(*true, pose=kind)
        truth = slow_reading(exact.contact_mm, None if kind == "upright" else exact.tip_mm, board)
        held.append(truth in readings(place))
        touched += [square in truth.squares for square in place.clear]
        sure.append(not place.in_doubt)
    assert np.mean(held) >= 0.97, "most pieces are far from any line"
    assert np.mean(touched) >= 0.98
    assert 0.7 <= np.mean(sure) <= 0.97


def test_a_touch_is_doubted_where_the_truth_would_be(piece, board):
    """A tip at a line: the share of truths beyond it is what the doubt says, at both ends of the
    doubtful range.
    """
    rng = np.random.default_rng(6)
    slant = LOONEY["small"].slant_mm
    for past_mm, call in (
        (0.45, "touched"),
        (0.35, "too close"),
        (-0.35, "too close"),
        (-0.45, None),
    ):
        seen = piece(100 - slant + past_mm, 125, 0.0, covariance=np.diag([0.2**2, 0.2**2, 0.5**2]))
        found = {str(touch.square): touch.call for touch in touches(seen, board).squares}
        assert found.get("c3") == call
        beyond = np.mean(rng.normal(past_mm, 0.2, 4000) > 0)
        assert (min(beyond, 1 - beyond) < 0.025) == (call != "too close")


@pytest.mark.parametrize("path", sorted(CASES.glob("storm-*")), ids=lambda path: path.name)
def test_truths_of_the_benchmark(path):
    """Every piece on the benchmark's tables can be told as a place; skipped where the benchmark is
    not.
    """
    table, truth = (json.loads((path / name).read_text()) for name in ("table.json", "truth.json"))
    board = Chessboard(
        **{key: table["board"][key] for key in ("square_mm", "files", "ranks")},
        origin_mm=tuple(table["board"]["origin_mm"]),
    )
    size = LOONEY[table["game"]["sizes"][0]]
    check_setup(board, size)
    for at in truth["pieces"]:
        solid = Solid(np.array(at["vertices_mm"]))
        seen = SeenPiece(
            at["colour"],
            at["size"],
            at["pose"],
            np.array(at["base_mm"]),
            at["heading_deg"] or 0.0,
            solid,
            EXACT,
        )
        found = touches(seen, board)
        if at["pose"] != "leaning" and found.on_board:
            outline = np.array(at["footprint_mm"])
            outline = outline if signed_area(outline) > 0 else outline[::-1]
            assert slow_reading(
                outline, None if at["pose"] == "upright" else np.array(at["tip_mm"]), board
            ) in readings(found.place)


@pytest.mark.parametrize(
    ("board", "size", "expected"),
    [
        (
            Chessboard(square_mm=20.0),
            "small",
            (
                "expected more than 27.3 mm, the length of a small piece (house rule ice_storm.6),"
                " got 20.0 mm"
            ),
        ),
        (
            Chessboard(square_mm=float(np.hypot(LOONEY["large"].slant_mm, 12.7))),
            "large",
            "expected more than 47.9 mm",
        ),
        (Chessboard(square_mm=44.45), "large", "expected more than 47.9 mm"),
        (
            Chessboard(square_mm=50.0, files=10),
            "small",
            "Ice Storm needs a chessboard of 8 x 8 squares; this is a chessboard of 10",
        ),
        (Open(outline_mm=((0, 0), (9, 0), (0, 9))), "small", "this is open ground"),
    ],
)
def test_a_table_that_is_not_fit(board, size, expected):
    with pytest.raises(InputError) as raised:
        check_setup(board, LOONEY[size])
    assert expected in str(raised.value)


def test_a_table_that_is_fit():
    for size, square_mm in (("small", 27.4), ("medium", 44.45), ("large", 48.0)):
        check_setup(Chessboard(square_mm=square_mm), LOONEY[size])


@settings(max_examples=60)
@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 360), st.sampled_from([lying, upright]))
def test_a_fit_piece_touches_no_more_than_four_squares(x_mm, y_mm, heading_deg, pose):
    """Ruling ice_storm.6: on squares just longer than the piece there is always a place for it."""
    solid = pose(LOONEY["large"], 150 + x_mm, 150 + y_mm, heading_deg)
    kind = "lying" if pose is lying else "upright"
    seen = SeenPiece(
        "red",
        "large",
        kind,
        np.array([150 + x_mm, 150 + y_mm]),
        heading_deg,
        solid,
        np.diag([0.2, 0.2, 1.0]),
    )
    assert touches(seen, Chessboard(square_mm=48.0)).place is not None


def test_a_piece_too_large_for_the_squares(piece):
    with pytest.raises(InvalidNotation, match="share a corner"):
        _ = touches(piece(19, 105, 0, size="large"), Chessboard(square_mm=20.0)).place


def test_three_in_a_row_cannot_be(piece):
    """A piece just shorter than a square, its heading unsure: it may reach over a line at one end,
    but not at both.
    """
    size = LOONEY["large"]
    side_deg = np.degrees(np.arctan(size.base_mm / 2 / size.slant_mm))
    seen = piece(
        168.0, 99.38, 93 + side_deg, size="large", covariance=np.diag([1e-6, 1e-6, 1.5**2])
    )
    found = touches(seen, Chessboard(square_mm=48.0))
    assert [(str(touch.square), touch.call) for touch in found.squares] == [
        ("d2", "touched"),
        ("d3", "touched"),
        ("d4", "too close"),
    ]
    assert str(found.place) == "d2-d3>d3"
