"""What may be done and what was done, on the drawing and over the picture."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from engines.board_marks import Mark
from engines.icebreaker.board import board as icebreaker_board
from engines.icebreaker.board import label
from referee.presentation.lens_view import camera_projection
from referee.presentation.shown_games import on_board
from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from table.cells import cells_mm
from webui.svg.marks import draw_marks
from webui.svg.names import names_of
from webui.svg.overlay import draw_over

BOARD = Chessboard(square_mm=50, origin_mm=(100, 0))
KINDS = ["goal", "path", "way", "ray", "aim", "take", "here"]


def mark(kind, *cells, **changed):
    return {"kind": kind, "cells": list(cells), "sure": True, "looks": []} | changed


def made(document):
    return msgspec.convert(document, Mark)


def numbers(path):
    return np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", path), float)


@pytest.mark.parametrize("size", [4, 5, 8])
def test_cells_of_a_hexagon_are_called_as_the_game_calls_them(size):
    cells = cells_mm(Hex(size=size, cell_mm=30))
    assert set(cells) == {label(cell) for row in icebreaker_board(size).rows for cell in row}
    middle = {name: corners.mean(axis=0) for name, corners in cells.items()}
    assert np.allclose(middle[label((size - 1) * 17)], 0), "the middle one lies on the origin"
    assert middle["A1"][1] < middle["A2"][1]


@pytest.mark.parametrize(
    ("board", "count"), [(BOARD, 64), (Coasters(cell_mm=34), 36), (Tiles(cell_mm=51), 25)]
)
def test_cells_of_square_boards_begin_at_the_near_left(board, count):
    cells = cells_mm(board)
    assert len(cells) == count
    assert np.allclose(cells["a1"].min(axis=0), board.origin_mm)
    assert np.allclose(cells["b1"] - cells["a1"], [[np.ptp(cells["a1"][:, 0]), 0]] * 4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_mark_lies_on_its_cells(kind):
    (drawn,) = draw_marks(BOARD, [made(mark(kind, "b2", "c3"))])
    points = numbers(drawn.path)
    assert drawn.kind == kind
    assert len(points) >= 2
    assert (points >= (145, -155)).all()
    assert (points <= (255, -45)).all()


def test_a_line_of_fire_goes_through_the_middles_of_its_squares():
    (drawn,) = draw_marks(BOARD, [made(mark("ray", "b2", "b3", "b4", sure=False))])
    assert not drawn.sure
    assert numbers(drawn.path)[:3].tolist() == [[175, -75], [175, -125], [175, -184]]


def test_cells_that_the_board_has_not_are_not_drawn():
    assert draw_marks(BOARD, [made(mark("here", "E15"))]) == ()
    assert draw_marks(Open(outline_mm=((0, 0), (9, 0), (9, 9))), [made(mark("here", "a1"))]) == ()


def test_the_ways_to_look_are_ticks_about_a_space():
    (drawn,) = draw_marks(BOARD, [made(mark("goal", "a1", looks=["N", "SE"]))])
    ticks = [numbers(line) for line in drawn.path.split("M")[1:] if not line.rstrip().endswith("Z")]
    ways = [end - start for start, end in ticks]
    assert ways[0] @ (1, 0) == pytest.approx(0, abs=0.1)
    assert ways[0][1] < 0, "north is up"
    assert ways[1][0] == pytest.approx(ways[1][1], abs=0.1)


def test_options_and_the_verdict_are_on_the_page(client, session, live, storm_table):
    live.setup = storm_table
    session.shown["options"] = [
        {
            "who": "blue",
            "said": "blue1, north on b4-b8, hits yellow2",
            "marks": [mark("ray", "b4", "b5", "b8")],
        }
    ]
    session.shown["trace"] = [mark("take", "c3")]
    for page in (client.get("/").text, client.get("/?view=photo").text):
        assert "blue1, north on b4-b8, hits yellow2" in page
        assert page.count('class="stroke k-ray"') == page.count('class="stroke k-take"') == 1
        assert 'class="trace"' in page
    session.shown["verdicts"][0]["verdict"] = "refused"
    assert 'class="trace is-refused"' in client.get("/").text


def test_the_rule_is_a_tap_away_in_words(client, session, question):
    page = client.get("/").text
    assert re.search(
        r"<summary>The rule: Play; house rule ice_boule.1</summary><dl.*?<dt>Play</dt>"
        r"<dd>Throw until you lead.</dd>",
        page,
        re.DOTALL,
    )
    session.shown |= {"question": question, "phase": "asking"}
    assert "Too close to call is for people." in client.get("/").text


def test_a_table_out_of_step_is_told_piece_by_piece(client, session):
    differences = ["red2 is not on the board.", "blue1 lies on b4 now."]
    message = " ".join(("The table does not match the record. Fix the table.", *differences))
    session.shown["verdicts"][0] |= {
        "verdict": "out_of_sync",
        "said": message,
        "evidence": {"differences": differences},
    }
    page = client.get("/").text
    assert [*re.findall(r"<li>([^<]+)</li>", page)][:2] == differences
    assert "The table does not match the record. Fix the table.</p>" in page, (
        "the list is not said twice"
    )


def test_over_the_picture_everything_is_where_the_camera_sees_it(live):
    setup, seen = live.setup, live.latest.observation
    over = draw_over(setup, seen)
    assert len(over.pieces) == len(seen.pieces)
    sheet = camera_projection(setup, seen.camera)
    assert np.allclose(
        numbers(over.ground), sheet(np.column_stack([setup.outline_mm(), np.zeros(4)])), atol=0.01
    )
    for drawn, piece in zip(over.pieces, seen.pieces, strict=True):
        outline = np.array([pair.split(",") for pair in drawn.outline.split()], float)
        corners = sheet(piece.solid.vertices_mm)
        assert np.allclose(outline.min(axis=0), corners.min(axis=0), atol=0.1)
        assert np.allclose(outline.max(axis=0), corners.max(axis=0), atol=0.1)
        ring = numbers(drawn.ellipse)
        assert np.linalg.norm(ring.mean(axis=0) - sheet(np.array([[*piece.base_mm, 0.0]]))[0]) < 0.1
        assert all(np.linalg.norm(b - a) < 2 for a, b in pairwise(ring))


def test_without_a_picture_that_was_read_there_is_the_plan(client, live):
    live.become(observation=None)
    assert 'class="plan photo"' not in client.get("/?view=photo").text


def test_pieces_have_the_names_of_the_record_where_there_is_no_doubt(storm_table):
    board = storm_table.board
    pieces = [
        SimpleNamespace(colour=colour, vertices_mm=[[x, y, 0]] * 5)
        for colour, x, y in (("red", 130, 50), ("red", 400, 400), ("blue", 130, 50))
    ]
    two = {"pieces": {"red3": "a1", "red4": "a1-a2>a2"}}
    state = {"pieces": {"red3": "a1-b1>b1", "blue1": "h8", "red4": "e6?"}}
    assert names_of(board, on_board("ice_storm", state).pieces, pieces) == {0: "3"}
    assert names_of(board, on_board("ice_storm", two).pieces, pieces) == {}
    tiles = Tiles(cell_mm=100, origin_mm=(100, 0))
    pond = {
        "board": {"a1": {"tile": "S4", "pyramids": ["ES", "AA"], "weight": 4}},
        "left": {"red": ["ES"], "blue": ["AA"]},
    }
    assert names_of(tiles, on_board("icefloe", pond).pieces, pieces) == {0: "E", 2: "A"}
    assert on_board("ice_boule", {"pieces": "blue 57.52"}).pieces == ()


def test_a_board_of_coasters_has_their_colours_and_its_cover_dice(client, session, live):
    layout = (("red", "blue"), ("green", "yellow"))
    live.setup = msgspec.structs.replace(live.setup, board=Coasters(cell_mm=34, layout=layout))
    session.shown["game"] = "zamboni_wars"
    session.shown["state"]["dice"] = ["b2", "e5"]
    page = client.get("/").text
    assert page.count("is-tinted c-red") == page.count("is-tinted c-yellow") == 9
    assert page.count('class="cover-die"') == 2


def test_what_would_hide_the_pieces_is_drawn_when_it_is_picked(client, session, live, storm_table):
    live.setup = storm_table
    every = [f"{file}{rank}" for file in "abcdefgh" for rank in range(1, 6)]
    session.shown["options"] = [
        {"who": "blue", "said": "anywhere", "marks": [mark("goal", *every)]}
    ]
    for page in (client.get("/").text, client.get("/?view=photo").text):
        assert 'class="options is-crowded"' in page
        assert "Tap one to see it on the board." in page
    session.shown["options"][0]["marks"] = [mark("goal", *every[:9])]
    assert "is-crowded" not in client.get("/").text
