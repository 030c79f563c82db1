"""One small, valid file of each format that commands read, from a drawn table.

`benchmarks.attacks.hostile_files` changes them.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from referee.sessions.archive import export_session
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import (
    Answered,
    Appealed,
    Choice,
    Corrected,
    QuestionAsked,
    SessionEnded,
    SessionStarted,
    VerdictReached,
)
from simulation.generate.cases import resized
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.files import write_whole
from table.solids import lying, upright
from table.table_config import Setup, save_table
from vision.cameras.frame import Image, swapped
from vision.cameras.image_files import encode_jpeg
from webui.security.codes import Codes

WIDTH_PX = 800
FRAMES_MS = (0, 250, 500)
STARTED = "2026-11-27T10:00:00+00:00"
SETTINGS = """[hardware]
pins = "mock"
lamps = {kind = "gpio", players = [[5, 6, 13], 19], verdict = 26}
dice = {kind = "fake"}
buttons = {kind = "gpio", rule = 17}
voice = {kind = "espeak-ng", words_a_minute = 150}
"""
HEARD = (
    {"t_ms": 100, "player": "red", "out": True},
    {"t_ms": 300, "player": "blue", "stop": True},
    {"t_ms": 400, "player": "red", "out": True},
)


def make_good_files(folder: Path) -> None:
    """Write all of them into `folder`.

    `empty.jpg`, `own.json` and `frames` are only read together with others.
    """
    setup = resized(demo_setup(), WIDTH_PX)
    renderer = Renderer(setup, demo_place())
    image = renderer.picture(Scene(demo_stage(1), _pieces(setup)), np.random.default_rng(1))
    write_whole(folder / "photo.jpg", encode_jpeg(image, 90))
    write_whole(
        folder / "empty.jpg",
        encode_jpeg(renderer.picture(Scene(demo_stage(1)), np.random.default_rng(2)), 90),
    )
    cv2.imwrite(str(folder / "photo.png"), swapped(image))
    save_table(setup, folder / "table.json")
    (folder / "frames").mkdir()
    for at_ms in FRAMES_MS:
        shutil.copy(folder / "photo.jpg", folder / "frames" / f"{at_ms:06d}.jpg")
    _films(folder, image)
    table = json.loads((folder / "table.json").read_text())
    _documents(folder, table)
    _log(folder, table, (folder / "photo.jpg").read_bytes())


def _pieces(setup: Setup) -> tuple[ScenePiece, ...]:
    (large,) = setup.sizes
    solids = (upright(large, 300, 225, 20), lying(large, 200, 150, 70), lying(large, 430, 300, 200))
    return tuple(
        ScenePiece(solid, colour)
        for solid, colour in zip(solids, ("yellow", "red", "blue"), strict=True)
    )


def _films(folder: Path, image: Image) -> None:
    size = (image.shape[1], image.shape[0])
    for suffix, code in (("avi", "MJPG"), ("mp4", "mp4v"), ("mkv", "MJPG")):
        film = cv2.VideoWriter(
            str(folder / f"film.{suffix}"), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*code), 4.0, size
        )
        for _ in FRAMES_MS:
            film.write(swapped(image))
        film.release()


def _documents(folder: Path, table: dict[str, Any]) -> None:
    (folder / "board.json").write_text(
        json.dumps({"fiducials": table["fiducials"], "board": table["board"]})
    )
    (folder / "own.json").write_text(
        json.dumps(table | {"game": table["game"] | {"pieces": "pieces.toml"}})
    )
    sizes = {"small": 14.3, "medium": 19.8, "large": 25.4}
    rows = [
        f"[sizes.{name}]\nbase_mm = {base_mm}\nheight_mm = {1.77 * base_mm:.2f}\n"
        for name, base_mm in sizes.items()
    ]
    (folder / "pieces.toml").write_text('name = "own"\nwall_mm = 1.5\n' + "".join(rows))
    view = {
        "name": "1.jpg",
        "corners": 60,
        "rms_px": 0.2,
        "worst_px": 0.9,
        "tilt_deg": 30.0,
        "away_mm": 400.0,
    }
    lens = {
        "format": "rinkside-lens/1",
        "camera": table["camera"],
        "model": "brown",
        "sigma": {"fx": 1.0},
        "rms_px": 0.3,
    }
    lens |= {
        "held_out_px": {"brown": 0.5},
        "coverage": 0.9,
        "target": "charuco",
        "square_mm": 20.0,
        "views": [view],
        "left_out": [],
    }
    (folder / "lens.json").write_text(json.dumps(lens))
    (folder / "rinkside.toml").write_text(SETTINGS)
    (folder / "inputs.jsonl").write_text("".join(json.dumps(message) + "\n" for message in HEARD))
    Codes(folder / "access.json")


def _log(folder: Path, table: dict[str, Any], jpeg: bytes) -> None:
    """A log of one session with every kind of fact that people take part in.

    Also the session as an export.
    """
    with Log(folder / "log.sqlite") as log:
        started = SessionStarted(
            game="ice_boule",
            players=("red", "blue"),
            started_utc=STARTED,
            names={"red": "Anna"},
            table=table,
        )
        first = log.append(started, 0).session
        target = VerdictReached(
            verdict="accepted",
            code="boule.target",
            message="the target lies",
            rests_on="Play",
            player="red",
            moves=("target yellow",),
        )
        log.append(target, 250, first, jpeg)
        ways = tuple(f"throw red large {gap}: red {gap}" for gap in ("57.52", "60.10"))
        choices = tuple(Choice(label=way, moves=(way,)) for way in ways)
        asked = log.append(
            QuestionAsked(
                code="boule.too_close",
                message="Where is it?",
                choices=choices,
                rests_on="ruling ice_boule.2",
            ),
            500,
            first,
            jpeg,
        )
        log.append(
            Answered(
                question=asked.seq, label=ways[0], how="order", decided_by="all", moves=(ways[0],)
            ),
            900,
            first,
        )
        log.append(Appealed(appeals=2, player="blue", reason="it was touched"), 950, first)
        log.append(
            Corrected(
                corrects=2,
                moves=("target yellow",),
                decided_by="blue",
                message="it lies as it lies",
            ),
            960,
            first,
        )
        log.append(SessionEnded(reason="home"), 1000, first)
    with LogReader(folder / "log.sqlite") as reader:
        export_session(reader, 1, folder / "session.zip")
    for beside in ("log.sqlite-wal", "log.sqlite-shm", "log.sqlite.lock"):
        (folder / beside).unlink(missing_ok=True)


if __name__ == "__main__":
    make_good_files(Path(sys.argv[1]))
