"""`rinkside-observation/1`: every field that the format names, in JSON that anybody can read."""

import json
from dataclasses import replace

import numpy as np
import pytest

from table.messages import msg
from table.observation import (
    Camera,
    Observation,
    SeenCounter,
    SeenPiece,
    Unusable,
    observation_document,
)
from table.observation_document import to_document
from table.pieces import load_piece_set
from table.solids import leaning, lying, on_top, upright

MEDIUM = load_piece_set("looney")["medium"]
COVARIANCE = np.array([[0.0412345678, 0.001, 0.0], [0.001, 0.0298765432, 0.0], [0.0, 0.0, 0.25]])
CAMERA = Camera(
    np.diag([1.0, -1.0, -1.0]), np.array([-100.0, 200.0, 900.0]), np.eye(6), 0.12345, (0, 2, 3)
)

STANDS = SeenPiece(
    "red",
    "medium",
    "upright",
    np.array([10.0, 20.0]),
    30.0,
    upright(MEDIUM, 10, 20, 30),
    COVARIANCE,
    0.99,
    0.98,
    1.0,
)
LIES = SeenPiece(
    "blue", "medium", "lying", np.array([50.0, 60.0]), -90.0, lying(MEDIUM, 50, 60, -90), COVARIANCE
)
ON_TOP = SeenPiece(
    "red",
    "medium",
    "upright",
    np.array([10.0, 20.0]),
    30.0,
    on_top(MEDIUM, STANDS.solid, 30),
    COVARIANCE,
    on=0,
)
LEANS = SeenPiece(
    "blue",
    "medium",
    "leaning",
    np.array([0.0, 0.0]),
    0.0,
    leaning(MEDIUM, np.eye(3), np.array([0.0, 0.0, 9.0])),
    COVARIANCE,
)
SEEN = Observation(
    frame_seq=7,
    at_ms=1000,
    camera=CAMERA,
    pieces=(STANDS, LIES, ON_TOP),
    off_board=(LEANS,),
    counters=(SeenCounter("white", 1.00049, 2.0, 0.1),),
    notes=("fiducial 1 is covered",),
)


def test_the_document_names_everything_that_the_format_promises() -> None:
    document = json.loads(json.dumps(observation_document(SEEN), allow_nan=False))
    assert document["format"] == "rinkside-observation/1"
    assert document["counters"] == [
        {"colour": "white", "x_mm": 1.0, "y_mm": 2.0, "sigma_mm": 0.1, "sure": True}
    ]
    assert document["camera"] == {
        "eye_mm": [100.0, 200.0, 900.0],
        "reprojection_px": 0.123,
        "fiducials_seen": [0, 2, 3],
    }
    assert document["hand"] is False
    assert document["notes"] == ["fiducial 1 is covered"]
    assert len(document["pieces"]) == 3
    assert len(document["off_board"]) == 1


def test_a_piece_that_stands() -> None:
    piece = observation_document(SEEN)["pieces"][0]
    assert (piece["colour"], piece["size"], piece["pose"]) == ("red", "medium", "upright")
    assert piece["base_mm"] == piece["tip_mm"] == [10.0, 20.0]
    assert piece["heading_deg"] == 30.0
    assert len(piece["footprint_mm"]) == 4
    assert np.mean(piece["footprint_mm"], axis=0) == pytest.approx([10, 20], abs=1e-3)
    assert piece["base_cov_mm2"] == [[0.04123, 0.001], [0.001, 0.02988]]
    assert piece["heading_sigma_deg"] == 0.5
    assert piece["probability"] == {"colour": 0.99, "size": 0.98, "pose": 1.0}
    assert "on" not in piece


def test_a_piece_that_lies() -> None:
    piece = observation_document(SEEN)["pieces"][1]
    assert piece["heading_deg"] == 270.0
    assert piece["base_mm"] == [50.0, 60.0]
    assert piece["tip_mm"] == pytest.approx([50.0, 60.0 - MEDIUM.slant_mm], abs=1e-3)
    assert len(piece["footprint_mm"]) == 3


def test_a_piece_on_another_says_on_which() -> None:
    piece = observation_document(SEEN)["pieces"][2]
    assert piece["on"] == 0
    assert len(piece["footprint_mm"]) == 4


def test_a_piece_that_leans_is_outlined_from_above() -> None:
    assert len(LEANS.contact_mm) == 4
    assert LEANS.contact_mm.tolist() == LEANS.solid.plan_mm().tolist()


def test_lengths_are_to_the_micron() -> None:
    shifted = SeenPiece(
        "red",
        "medium",
        "lying",
        np.array([1 / 3, 2 / 3]),
        1 / 7,
        lying(MEDIUM, 1 / 3, 2 / 3, 1 / 7),
        COVARIANCE,
    )
    piece = observation_document(Observation(1, 0, CAMERA, (shifted,)))["pieces"][0]
    assert piece["base_mm"] == [0.333, 0.667]
    assert piece["heading_deg"] == 0.143


@pytest.mark.parametrize(
    ("heading_deg", "shown_deg"), [(359.99996, 0.0), (-0.25, 359.75), (720.5, 0.5)]
)
def test_headings_are_from_0_to_below_360(heading_deg: float, shown_deg: float) -> None:
    turned = SeenPiece(
        "red",
        "medium",
        "lying",
        np.zeros(2),
        heading_deg,
        lying(MEDIUM, 0, 0, heading_deg),
        COVARIANCE,
    )
    assert (
        observation_document(Observation(1, 0, CAMERA, (turned,)))["pieces"][0]["heading_deg"]
        == shown_deg
    )


def test_a_usable_frame_is_true_and_an_unusable_one_is_not() -> None:
    assert Observation(1, 0, CAMERA)
    assert not Unusable(1, 0, "no marker is in view")


def test_pieces_say_what_and_where_they_are() -> None:
    assert str(STANDS) == "red medium, upright, at (10.0, 20.0) mm"


def test_notes_are_plain_text_in_a_document() -> None:
    """A page converts the document strictly: a `Message` in it would be no text."""
    noted = replace(SEEN, notes=(msg("Lens not calibrated yet."),))
    (note,) = observation_document(noted)["notes"]
    assert type(note) is str
    assert to_document(noted).notes == ("Lens not calibrated yet.",)
