"""Measuring: gaps, their uncertainty against simulation, and what is too close to call."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engines.ice_boule.measure import (
    clearly_nearer,
    difference_sigma_mm,
    measure,
    measurement_document,
)
from engines.verdict import CannotSee
from table.clearance import clearance
from table.observation import SeenPiece
from table.pieces import load_piece_set
from table.solids import Solid, lying, upright
from tests.support.paths import SHARED

CASES = SHARED / "bench" / "cases"
LOONEY = load_piece_set("looney")


@pytest.mark.parametrize("bearing_deg", [0, 90, 180, 270])
@pytest.mark.parametrize("gap_mm", [0.5, 12.05, 300.0])
def test_gap_and_its_sigma_beside_a_flat_side(tables, bearing_deg, gap_mm):
    """Straight away from a side only the piece's and the target's error along that line count, and
    the turn of an edge.
    """
    seen = tables.seen(
        tables.target(sigma_mm=0.3, sigma_deg=0.0),
        tables.beside("blue", gap_mm, bearing_deg, sigma_mm=0.4, sigma_deg=0.0),
    )
    (gap,) = measure(seen, "green").gaps
    assert gap.mm == pytest.approx(gap_mm, abs=1e-9)
    assert gap.sigma_mm == pytest.approx(0.5)
    assert not gap.touching
    assert not gap.on_target
    assert np.linalg.norm(gap.points_mm[0] - gap.points_mm[1]) == pytest.approx(gap_mm)


def shaken(piece, rng):
    """The same piece where it might be by its own covariance."""
    x, y, heading = rng.multivariate_normal([*piece.base_mm, piece.heading_deg], piece.covariance)
    return {"lying": lying, "upright": upright}[piece.pose](LOONEY[piece.size], x, y, heading)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_sigmas_are_those_of_shaken_pieces(tables, seed):
    """Against 800 draws of all three poses, covariances correlated and of different sizes: gaps and
    their difference.
    """
    rng = np.random.default_rng(seed)
    target = tables.target(heading_deg=rng.uniform(0, 90))
    pieces = [target]
    for bearing in rng.uniform(0, 360, 2):
        turn = np.radians(bearing)
        x, y = rng.uniform(35, 90) * np.array([np.cos(turn), np.sin(turn)])
        pieces.append(
            tables.piece(
                "blue",
                x,
                y,
                rng.uniform(0, 360),
                rng.choice(["small", "large"]),
                rng.choice(["lying", "upright"]),
            )
        )
    for index, piece in enumerate(pieces):
        root = rng.normal(size=(3, 3)) * [[0.05], [0.05], [0.1]]
        pieces[index] = replace(piece, covariance=root @ root.T)
    measured = measure(tables.seen(*pieces), "green")
    a, b = sorted(measured.gaps, key=lambda gap: gap.index)
    draws = []
    for _ in range(800):
        targets, one, other = (shaken(piece, rng) for piece in pieces)
        draws.append([clearance(one, targets).mm, clearance(other, targets).mm])
    draws = np.array(draws)
    assert a.sigma_mm == pytest.approx(draws[:, 0].std(), rel=0.12)
    assert b.sigma_mm == pytest.approx(draws[:, 1].std(), rel=0.12)
    assert difference_sigma_mm(a, b, measured.target) == pytest.approx(
        (draws[:, 0] - draws[:, 1]).std(), rel=0.12
    )


def test_the_targets_error_is_common_to_both_gaps(tables):
    """On one side it cancels, on opposite sides it counts twice."""
    target = tables.target(sigma_mm=1.0, sigma_deg=0.0)
    still = {"sigma_mm": 0.0, "sigma_deg": 0.0}
    same = measure(
        tables.seen(
            target,
            tables.beside("blue", 10.0, **still),
            tables.beside("red", 10.5, along_mm=5, **still),
        ),
        "green",
    )
    assert difference_sigma_mm(*same.gaps, same.target) == pytest.approx(0.0, abs=1e-9)
    assert not same.too_close
    opposite = measure(
        tables.seen(
            target, tables.beside("blue", 10.0, **still), tables.beside("red", 10.5, 180, **still)
        ),
        "green",
    )
    assert difference_sigma_mm(*opposite.gaps, opposite.target) == pytest.approx(2.0)
    assert opposite.too_close


@pytest.mark.parametrize("gap_mm", [0.0, -0.2, -5.0])
def test_touching_and_overlapping_pieces_keep_an_uncertainty(tables, gap_mm):
    seen = tables.seen(
        tables.target(sigma_mm=0.3, sigma_deg=0.0),
        tables.beside("blue", gap_mm, sigma_mm=0.4, sigma_deg=0.0),
    )
    (gap,) = measure(seen, "green").gaps
    assert gap.mm == 0
    assert gap.touching
    assert gap.sigma_mm == pytest.approx(0.5, rel=0.01)
    assert np.array_equal(*gap.points_mm)


def test_a_piece_on_the_target(tables):
    target = tables.target()
    seen = tables.seen(tables.beside("red", 0.0), target, tables.on("blue", target, 1))
    measured = measure(seen, "green")
    assert [gap.piece.colour for gap in measured.gaps] == ["blue", "red"]
    assert measured.gaps[0].on_target
    assert not measured.gaps[0].touching
    assert measured.gaps[0].mm == 0
    assert (measured.leading, measured.points, measured.too_close) == ("blue", 2, False)
    elsewhere = replace(seen.pieces[2], on=0)
    assert not measure(tables.seen(seen.pieces[0], target, elsewhere), "green").gaps[0].on_target


@pytest.mark.parametrize(
    ("pieces", "leading", "points", "pairs"),
    [
        ([], None, 0, []),
        ([("blue", 10), ("blue", 10.01)], "blue", 2, []),
        ([("blue", 10), ("red", 20), ("blue", 30)], "blue", 1, []),
        ([("blue", 10), ("blue", 15), ("red", 20), ("blue", 30)], "blue", 2, []),
        ([("blue", 10), ("red", 10.2)], "blue", 1, [(0, 1)]),
        ([("blue", 10), ("red", 10.6)], "blue", 1, []),
        ([("blue", 10), ("blue", 19.9), ("red", 20)], "blue", 2, [(1, 2)]),
        ([("blue", 10), ("red", 20), ("blue", 20.1), ("blue", 30)], "blue", 1, [(1, 2)]),
        ([("blue", 10), ("red", 20), ("red", 20.1), ("white", 20.1)], "blue", 1, []),
        ([("blue", 10), ("red", 20), ("white", 21), ("blue", 21.1)], "blue", 1, []),
        ([("blue", 10), ("red", 10.1), ("white", 10.2)], "blue", 1, [(0, 1), (0, 2)]),
        ([("blue", 0), ("red", 0)], "blue", 1, [(0, 1)]),
    ],
)
def test_calls(tables, pieces, leading, points, pairs):
    """Errors of 0.14 mm a piece along its side, none of the target: differences under 0.4 mm are
    too close.
    """
    target = tables.target(sigma_mm=0.0, sigma_deg=0.0)
    sides = zip(pieces, [0, 90, 180, 270], strict=False)
    lie = [
        tables.beside(colour, gap_mm, bearing, sigma_mm=0.14, sigma_deg=0.0)
        for (colour, gap_mm), bearing in sides
    ]
    measured = measure(tables.seen(target, *lie), "green")
    assert (measured.leading, measured.points, list(measured.pairs), measured.too_close) == (
        leading,
        points,
        pairs,
        bool(pairs),
    )


def test_a_sure_second_piece_can_lead_for_a_doubtful_first(tables):
    """Who is nearest is in doubt between pieces of one colour only; but the first piece's own point
    is.
    """
    seen = tables.seen(
        tables.target(sigma_mm=0.0),
        tables.beside("blue", 10.0, sigma_mm=5.0),
        tables.beside("blue", 11.0, 90, sigma_mm=0.05, sigma_deg=0.0),
        tables.beside("red", 12.0, 180, sigma_mm=0.05, sigma_deg=0.0),
    )
    measured = measure(seen, "green")
    assert measured.pairs == ((0, 2),)
    assert measured.nearer(1, 2)
    assert not measured.nearer(0, 2)
    assert not measured.nearer(2, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"colour_probability": 0.9},
            "may be red, which would change the result (blue is 90% sure)",
        ),
        ({"pose_probability": 0.9}, None),
        ({"size_probability": 0.9}, None),
    ],
)
def test_unsure_readings_of_a_leading_piece(tables, changes, message):
    """Another pose may be as far off as the piece is long, another size half a base edge."""
    seen = tables.seen(
        tables.target(), tables.beside("blue", 10.0, **changes), tables.beside("red", 20.0, 180)
    )
    measured = measure(seen, "green")
    assert measured.too_close
    assert bool(measured.doubts) == bool(message)
    assert message is None or message in measured.doubts[0]
    far = measure(
        tables.seen(
            tables.target(), tables.beside("blue", 10.0, **changes), tables.beside("red", 90.0, 180)
        ),
        "green",
    )
    assert far.too_close == bool(message)


def test_unsure_colours_that_change_nothing(tables):
    """The third piece counts for nobody, whatever its colour; alone, another colour would end the
    count.
    """
    third = tables.beside("blue", 90.0, 90, colour_probability=0.5)
    assert not measure(
        tables.seen(
            tables.target(), tables.beside("blue", 10.0), tables.beside("red", 20.0, 180), third
        ),
        "green",
    ).too_close
    alone = measure(tables.seen(tables.target(), tables.beside("blue", 10.0), third), "green")
    assert "may be another colour" in alone.doubts[0]


def test_unsure_target_and_unsure_stack(tables):
    measured = measure(
        tables.seen(tables.target(colour_probability=0.7), tables.beside("blue", 10.0)), "green"
    )
    assert measured.doubts == ("The piece taken for the target may not be green (70% sure).",)
    target = tables.target()
    measured = measure(
        tables.seen(
            target, tables.on("blue", target, 0, pose_probability=0.7), tables.beside("red", 0.0)
        ),
        "green",
    )
    assert "may not be standing on the target" in measured.doubts[0]
    assert measured.pairs == ((0, 1),)
    two = [tables.on(colour, target, 0) for colour in ("blue", "red")]
    measured = measure(tables.seen(target, *two), "green")
    assert measured.too_close, "only one piece fits there"
    assert not clearly_nearer(*measured.gaps, measured.target)


def test_no_target_or_too_many(tables):
    blue = tables.beside("blue", 10.0)
    none = measure(tables.seen(blue), "green")
    assert isinstance(none, CannotSee)
    assert (
        none.message
        == "The green target cannot be identified: no green piece was seen in the play area."
    )
    assert measurement_document(none)["call"] == {
        "leading": None,
        "points": 0,
        "too_close": True,
        "pairs": [],
        "doubts": [none.message],
    }
    two = measure(tables.seen(tables.target(), tables.target(x_mm=90.0)), "green")
    assert (
        two.message == "The green target cannot be identified: 2 green pieces lie in the play area."
    )
    sure = measure(
        tables.seen(tables.target(colour_probability=0.5, x_mm=90.0), tables.target()), "green"
    )
    assert sure.target.base_mm[0] == 0


def test_the_document(tables):
    seen = tables.seen(
        tables.beside("red", 20.0), tables.target(), tables.beside("blue", 12.34567, 90)
    )
    document = measurement_document(measure(seen, "green"))
    first = document["gaps"][0]
    expected = {
        "piece": 2,
        "colour": "blue",
        "size": "large",
        "base_mm": [0.0, 25.046],
        "gap_mm": 12.346,
        "on_target": False,
        "touching": False,
    }
    assert {key: first[key] for key in expected} == expected
    assert document["call"] == {
        "leading": "blue",
        "points": 1,
        "too_close": False,
        "pairs": [],
        "doubts": [],
    }
    assert json.loads(json.dumps(document)) == document


@pytest.mark.skipif(not CASES.is_dir(), reason="the benchmark is not beside this repository")
def test_true_pieces_give_the_benchmarks_gaps_and_calls(tables):
    """Solids as they truly lay: every gap and call as an independent program computed them, which
    was exact to 0.01 mm.
    """
    cases = sorted(CASES.glob("boule-*"))
    assert cases
    for case in cases:
        truth, target = (
            json.loads((case / "truth.json").read_text()),
            json.loads((case / "table.json").read_text())["game"]["target"],
        )
        index = next(k for k, piece in enumerate(truth["pieces"]) if piece["colour"] == target)
        pieces = []
        for piece in truth["pieces"]:
            true = [
                gap["gap_mm"]
                for gap in truth["gaps"]
                if gap["base_mm"] == piece["base_mm"] and gap["colour"] == piece["colour"]
            ]
            solid, base_mm = Solid(np.array(piece["vertices_mm"])), np.array(piece["base_mm"])
            seen = SeenPiece(
                piece["colour"],
                piece["size"],
                piece["pose"],
                base_mm,
                piece["heading_deg"],
                solid,
                np.eye(3) * 1e-12,
            )
            pieces.append(replace(seen, on=index if true and true[0] < 0 else None))
        measured = measure(tables.seen(*pieces), target)
        expected = sorted(truth["gaps"], key=lambda gap: gap["gap_mm"])
        assert [gap.piece.colour for gap in measured.gaps] == [gap["colour"] for gap in expected]
        assert [gap.mm for gap in measured.gaps] == pytest.approx(
            [max(gap["gap_mm"], 0.0) for gap in expected], abs=0.02
        )
        assert not measured.too_close
        assert measured.leading == expected[0]["colour"]


def test_something_unread_on_the_table_leaves_the_call_open(tables):
    table = tables.seen(
        tables.target(), tables.beside("blue", 12.0), tables.beside("yellow", 60.0, 90)
    )
    assert not measure(table, "green").too_close
    blind = measure(replace(table, unread_mm=(np.array([320.4, 210.0]),)), "green")
    assert blind.too_close
    assert blind.doubts == ("Rinkside cannot read what is at (320, 210) mm.",)


def leaning(tables, gap_mm, **other):
    """A blue piece that leans, read `gap_mm` from the target, which is not well known."""
    return replace(tables.beside("blue", gap_mm, sigma_mm=3.0), pose="leaning", **other)


@pytest.mark.parametrize("read_mm", [0.0, 0.4, 3.5])
def test_what_leans_on_the_target_touches_it(tables, read_mm):
    found = measure(
        tables.seen(tables.target(), leaning(tables, read_mm), tables.beside("yellow", 2.0, 180)),
        "green",
    )
    gap, other = found.gaps
    assert (gap.piece.colour, gap.mm, gap.touching) == ("blue", 0.0, True)
    assert gap.sigma_mm < 0.2
    assert found.nearer(0, 1)
    assert not found.too_close
    assert other.mm == pytest.approx(2.0)


def test_what_may_lean_on_something_else_is_measured_as_it_was_read(tables):
    piece = leaning(tables, 1.0)
    beside = replace(
        tables.beside("yellow", 0.0),
        solid=Solid(piece.solid.vertices_mm + np.array([0.0, 0.0, 3.0])),
    )
    gaps = measure(tables.seen(tables.target(), piece, beside), "green").gaps
    (gap,) = (gap for gap in gaps if gap.piece is piece)
    assert gap.mm == pytest.approx(1.0)
    assert gap.sigma_mm > 2.5
    (far,) = measure(tables.seen(tables.target(), leaning(tables, 6.0)), "green").gaps
    assert far.mm == pytest.approx(6.0)


def test_what_may_not_lean_may_not_touch(tables):
    found = measure(
        tables.seen(
            tables.target(),
            leaning(tables, 1.0, pose_probability=0.8),
            tables.beside("yellow", 2.0, 180),
        ),
        "green",
    )
    assert found.too_close
