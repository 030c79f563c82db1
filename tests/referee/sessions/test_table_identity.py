"""A session goes on at the table that it was played on, and at no other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from referee.sessions.event_store import Log
from referee.sessions.events import Reopened, SessionStarted, TableChecked, decode
from referee.sessions.session import Session
from referee.sessions.start import opening, reopened
from table.errors import InputError
from table.messages import as_message
from table.table_config import parse_table, table_document
from tests.support.pictures import TABLE

BEGUN = datetime(2026, 11, 27, tzinfo=UTC)
CHESS = {"kind": "chessboard", "square_mm": 45.0, "origin_mm": [0, 0]}
HEX = {"kind": "hex", "size": 5, "cell_mm": 40.0}
TILES = {"kind": "tiles", "cell_mm": 52.0}
COASTERS = {"kind": "coasters", "cell_mm": 40.0, "layout": [["A", "B"], ["C", "D"]]}
OPEN = TABLE["board"]


def setup_of(board=OPEN, camera=(), game=(), fiducials=()):
    return parse_table(
        TABLE
        | {
            "board": board,
            "camera": TABLE["camera"] | dict(camera),
            "game": TABLE["game"] | dict(game),
        }
        | {"fiducials": TABLE["fiducials"] | dict(fiducials)}
    )


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        yield log


def begun(log, setup, game="ice_boule", players=("red", "blue")):
    return Session.begin(log, opening(game, players, {}, setup, "folder frames", BEGUN)).id


def go_on(log, number, setup, **consent):
    return reopened(log, number, setup, "folder frames", BEGUN, **consent)


def words_of(error):
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("board", "other", "message"),
    [
        (CHESS, HEX, r"the board of that session \(chessboard\), got hex"),
        (OPEN, CHESS, r"the board of that session \(open\), got chessboard"),
        (CHESS, CHESS | {"square_mm": 50.0}, r"board.square_mm 45\), got 50"),
        (CHESS, CHESS | {"files": 10}, r"board.files 8\), got 10"),
        (HEX, HEX | {"size": 6}, r"board.size 5\), got 6"),
        (HEX, HEX | {"orientation": "flat"}, r"board.orientation pointy\), got flat"),
        (TILES, TILES | {"tile_mm": 60.0}, r"board.tile_mm 50.8\), got 60"),
        (
            COASTERS,
            COASTERS | {"layout": [["B", "A"], ["C", "D"]]},
            r"board.layout A, B, C, D\), got B, A, C, D",
        ),
        (
            OPEN,
            {"kind": "open", "outline_mm": [[0, 0], [400, 0], [400, 200], [0, 200]]},
            r"the ground of that session \(0\.06 m²\), got 0\.08 m²",
        ),
    ],
)
def test_another_board_is_refused_in_one_line_and_nothing_is_written(log, board, other, message):
    number = begun(log, setup_of(board))
    for consent in (False, True):
        with pytest.raises(InputError, match=rf"^--resume {number}: expected .*{message}") as error:
            go_on(log, number, setup_of(other), new_lens=consent)
        words_of(error)
    assert len(log.records(number)) == 1


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ({"pieces": "piecepack", "sizes": ["A"]}, r"piece set .*\(looney\), got piecepack"),
        ({"sizes": ["large", "small"]}, r"sizes in play .*\(large\), got large, small"),
        ({"target": "yellow"}, r"target .*\(green\), got yellow"),
    ],
)
def test_other_pieces_are_refused(log, game, message):
    number = begun(log, setup_of())
    with pytest.raises(InputError, match=rf"^--resume {number}: expected the {message}"):
        go_on(log, number, setup_of(game=game), new_lens=True)


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        (
            {"matrix": [[97, 0, 48], [0, 97, 40], [0, 0, 1]]},
            "96 x 80 px, focal length 90.0 px before, 96 x 80 px, focal length 97.0 px now",
        ),
        (
            {"width": 128, "height": 100},
            "96 x 80 px, focal length 90.0 px before, 128 x 100 px, focal length 90.0 px now",
        ),
        (
            {"distortion": [0.1, 0, 0, 0, 0]},
            "96 x 80 px, focal length 90.0 px, but a different centre or distortion",
        ),
        (
            {"matrix": [[90, 0, 50], [0, 90, 40], [0, 0, 1]]},
            "96 x 80 px, focal length 90.0 px, but a different centre or distortion",
        ),
    ],
)
def test_another_lens_needs_consent_which_the_log_keeps(log, camera, message):
    number, other = begun(log, setup_of()), setup_of(camera=camera)
    with pytest.raises(InputError, match=r"to continue anyway: --new-lens$") as error:
        go_on(log, number, other)
    assert f"got a different one ({message})" in words_of(error)
    session = go_on(log, number, other, new_lens=True)
    assert (
        session.records()[-1].event.message
        == f"The game continued with a different lens: {message}."
    )
    again = go_on(log, number, other)
    assert again.records()[-1].event.message == "", "that lens is known by now"


def test_a_board_measured_anew_and_cards_laid_anew_are_the_same_table(log):
    number = begun(log, setup_of(CHESS))
    moved = [{"id": 0, "corners_mm": [[5, 45], [45, 45], [45, 5], [5, 5]]}]
    session = go_on(
        log,
        number,
        setup_of(CHESS | {"square_mm": 45.2, "origin_mm": [3, 4]}, fiducials={"markers": moved}),
    )
    assert session.records()[-1].event.message == ""
    number = begun(log, setup_of())
    assert go_on(
        log, number, setup_of(OPEN | {"outline_mm": [[10, 5], [315, 0], [312, 202], [8, 200]]})
    )


def test_a_lens_that_is_better_known_is_the_same_lens(log):
    number = begun(log, setup_of(camera={"first_estimate": True}))
    assert go_on(log, number, setup_of(camera={"focus_dpt": 2.0}))


def test_the_table_that_it_was_read_by_last_counts(log):
    number = begun(log, setup_of())
    session = Session.reopen(log, number)
    other = setup_of(camera={"matrix": [[97, 0, 48], [0, 97, 40], [0, 0, 1]]})
    session.append(TableChecked(message="measured anew", table=table_document(other)))
    session.append(TableChecked(message="a card was moved"))
    assert go_on(log, number, other)


def test_a_session_that_tells_no_table_goes_on_as_before(log):
    number = log.append(SessionStarted(game="ice_boule", players=("red", "blue")), 0).session
    assert go_on(log, number, setup_of())


def test_a_session_whose_table_cannot_be_read_is_refused_in_one_line(log):
    started = SessionStarted(
        game="ice_boule", players=("red", "blue"), table={"board": OPEN, "camera": 1}
    )
    with pytest.raises(
        InputError, match="expected a session with its table, but the recorded table cannot be read"
    ) as error:
        go_on(log, log.append(started, 0).session, setup_of())
    words_of(error)


def test_logs_of_before_are_read():
    old = decode(
        '{"schema":8,"fact":"reopened","camera":"v4l2'
        ' 0","reopened_utc":"2026-11-21T14:00:00+00:00","table":{},"version":"0.1.0"}',
        "a log",
    )
    assert old == Reopened(
        camera=as_message("v4l2 0"),
        reopened_utc="2026-11-21T14:00:00+00:00",
        version="0.1.0",
        message=as_message(""),
    )


def ground(width_mm):
    outline = [[0, 0], [width_mm, 0], [width_mm, 200.0], [0, 200.0]]
    return {"kind": "open", "outline_mm": outline}


@pytest.mark.parametrize(
    ("board", "other", "same"),
    [
        (CHESS, CHESS | {"square_mm": 45.5}, True),
        (CHESS, CHESS | {"square_mm": 44.5}, True),
        (CHESS, CHESS | {"square_mm": 45.6}, False),
        (CHESS, CHESS | {"square_mm": 44.4}, False),
        (CHESS | {"square_mm": 100.0}, CHESS | {"square_mm": 101.0}, True),
        (CHESS | {"square_mm": 100.0}, CHESS | {"square_mm": 101.1}, False),
        (CHESS, CHESS | {"origin_mm": [70, 3]}, True),
        (ground(400.0), ground(440.0), True),
        (ground(400.0), ground(361.0), True),
        (ground(400.0), ground(441.0), False),
        (ground(400.0), ground(359.0), False),
    ],
)
def test_a_board_that_is_measured_again_or_laid_elsewhere_is_the_same_board(
    log, board, other, same
):
    """Lengths differ by 0.5 mm or 1 %, open ground by a tenth of its area."""
    number = begun(log, setup_of(board))
    if same:
        assert go_on(log, number, setup_of(other)).id == number
    else:
        with pytest.raises(InputError, match="of that session"):
            go_on(log, number, setup_of(other))
