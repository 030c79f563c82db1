"""`rinkside calibrate recheck` and `restore`: what was moved since, and the last good file brought
back.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration.table.bundle_adjustment import place_points, square
from cli.main import main
from table.table_config import parse_table, save_table

pytestmark = pytest.mark.slow

CARDS = [(100.0, 720.0, 0.0), (1000.0, 720.0, 0.05), (1000.0, 100.0, 0.0), (100.0, 100.0, -0.05)]


def calibrate(*words: object) -> Result:
    return CliRunner().invoke(main, ["calibrate", *map(str, words)])


@pytest.fixture(scope="module")
def folder(photographs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """table.json, and photographs: as it was, with card 2 moved, from another place, and with two
    cards covered.
    """
    folder = tmp_path_factory.mktemp("recheck")
    markers = [
        {"id": card, "corners_mm": place_points(np.array(place), square(60.0)).tolist()}
        for card, place in enumerate(CARDS)
    ]
    document = {
        "format": "rinkside-table/1",
        "camera": msgspec.to_builtins(photographs.LENS),
        "fiducials": {"markers": markers},
        "board": {"kind": "open", "outline_mm": [[150, 150], [950, 150], [950, 650], [150, 650]]},
        "game": {
            "name": "ice_boule",
            "colours": ["red", "blue"],
            "sizes": ["medium"],
            "target": "green",
        },
    }
    save_table(parse_table(document), folder / "table.json")
    rng = np.random.default_rng(41)
    turn, shift = photographs.pose_above_table(rng)
    moved = [*CARDS[:2], (CARDS[2][0] + 3.0, CARDS[2][1] + 3.0, 0.0), CARDS[3]]
    for name, scene, pose in (
        ("good", photographs.cards_on_a_table(CARDS), (turn, shift)),
        ("card", photographs.cards_on_a_table(moved), (turn, shift)),
        ("camera", photographs.cards_on_a_table(CARDS), (turn, shift + np.array([6.0, 0.0, 0.0]))),
        ("one", photographs.cards_on_a_table(CARDS[:1], ids=(0,)), (turn, shift)),
    ):
        photographs.save(
            photographs.photograph(pose, rng, printed=lambda scene=scene: scene),
            folder / f"{name}.png",
        )
    return folder


def test_what_has_moved_is_told_in_one_line(folder: Path) -> None:
    table = folder / "table.json"
    good = calibrate("recheck", folder / "good.png", "--table", table)
    assert (good.exit_code, good.stdout) == (
        0,
        "The corner cards and the board are where table.json says.\n",
    )
    card = calibrate(
        "recheck", folder / "card.png", "--table", table, "--before", folder / "good.png"
    )
    assert card.exit_code == 1
    assert card.stdout.startswith("corner card 2 is 4.")
    assert card.stdout.count("\n") == 1
    camera = calibrate(
        "recheck", folder / "camera.png", "--table", table, "--before", folder / "good.png"
    )
    assert camera.exit_code == 1
    assert camera.stdout.startswith(("the camera has moved 5.", "the camera has moved 6."))
    assert calibrate("recheck", folder / "camera.png", "--table", table).exit_code == 0
    assert (
        "only one marker is in view"
        in calibrate("recheck", folder / "one.png", "--table", table).stdout
    )


def test_the_last_good_table_is_brought_back_and_nothing_is_lost(
    folder: Path, tmp_path: Path
) -> None:
    good, path, kept = (
        (folder / "table.json").read_text(),
        tmp_path / "table.json",
        tmp_path / "table.json.bak",
    )
    kept.write_text(good)
    path.write_text("spoilt")
    message = calibrate("restore", path)
    assert message.exit_code == 0, message.output
    assert (path.read_text(), kept.read_text()) == (good, "spoilt")
    again = calibrate("restore", path)
    assert again.exit_code == 2
    assert "table.json.bak: expected JSON" in again.stderr
    assert path.read_text() == good
    kept.write_text(json.dumps({"format": "rinkside-lens/1"}))
    assert "table.json.bak: camera: expected a value, got none" in calibrate("restore", path).stderr
    kept.unlink()
    assert (
        "table.json.bak: expected a JSON file, but it cannot be read"
        in calibrate("restore", path).stderr
    )
    assert sorted(tmp_path.iterdir()) == [path]
