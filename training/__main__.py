"""`python -m training FOLDER`: draw practice sheets, train the networks, install their weights."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import Pool
from pathlib import Path

import click
from torch import nn

from table.files import write_whole
from training.boards import board_sheets
from training.close import board_pieces, free_pieces
from training.export import export
from training.rivals import board_places
from training.rolls import lessons
from training.sheets import sheets
from training.train import (
    DATA,
    RATE,
    load_pieces,
    load_places,
    load_rolls,
    load_sheets,
    train_close_look,
    train_dice,
    train_finder,
    train_second_look,
    train_verification,
)
from training.weights import mixed
from vision.dice import classifier
from vision.networks import keypoints, pose_refiner

DRAWN = {
    "free": sheets,
    "board": board_sheets,
    "pieces-free": free_pieces,
    "pieces-board": board_pieces,
    "rivals": board_places,
}
ROLLED = {"rolls": lessons}
Making = Mapping[str, Callable[[int], Iterable[object]]]
"""What is learned from a table of a seed, by name."""


def draw(job: tuple[Path, int]) -> None:
    """Write the sheets, pieces and rivals of free tables and of boards, unless they exist."""
    _write(*job, DRAWN)


def trace(job: tuple[Path, int]) -> None:
    """Write what is learned from path-traced tables, unless it is there."""
    from training.traced_tables import traced_board, traced_free  # here, as only this needs Mitsuba

    _write(*job, {"traced-free": traced_free, "traced-board": traced_board})


def roll(job: tuple[Path, int]) -> None:
    """Write the rolls of dice, unless they are there."""
    _write(*job, ROLLED)


def _write(folder: Path, seed: int, making: Making) -> None:
    for name, made in making.items():
        path = folder / f"{name}-{seed}.pkl"
        if not path.exists():
            beside = path.with_suffix(".part")
            beside.write_bytes(pickle.dumps(list(made(seed))))
            beside.rename(path)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--tables",
    default=600,
    show_default=True,
    help="Tables to draw: free ones, and as many boards; 12 sheets each.",
)
@click.option(
    "--traced",
    default=150,
    show_default=True,
    help="Tables to trace: free ones, and as many boards; 4 pictures each.",
)
@click.option("--minutes", default=60.0, show_default=True, help="How long to teach each network.")
@click.option(
    "--rate",
    default=RATE,
    show_default=True,
    help="How fast they learn at most; a third is enough to go on from good weights.",
)
@click.option(
    "--only",
    type=click.Choice(["finder", "second-look", "close-look", "verification", "dice"]),
    help="Teach one of the five.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="Of what was learned, how much is mixed into what is installed.",
)
def main(
    folder: Path,
    tables: int,
    traced: int,
    minutes: float,
    rate: float,
    only: str | None,
    share: float,
) -> None:
    """Teach the networks on practice sheets drawn into FOLDER, and install them.

    Training goes on from weights that are in FOLDER, or else from the installed ones. The second
    look is taught on what the installed finder finds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    of_pieces = [] if only == "dice" else [(draw, tables), (trace, traced)]
    of_dice = [(roll, tables)] if only in (None, "dice") else []
    for making, count in (*of_pieces, *of_dice):
        with Pool() as pool:
            for _ in pool.imap_unordered(making, [(folder, seed) for seed in range(count)]):
                pass
    batch = {"image": {0: "n"}, "answer": {0: "n"}}

    def install(
        net: nn.Module, example: tuple[int, ...], free_sides: dict[str, dict[int, str]], name: str
    ) -> None:
        learned = folder / name
        export(net, example, free_sides, learned)
        write_whole(
            DATA / name,
            (
                learned.read_bytes()
                if share == 1
                else mixed(DATA / name, learned, share).SerializeToString()
            ),
        )

    if only in (None, "finder"):
        finder = train_finder(load_sheets(folder), minutes, folder / "finder.pt", rate)
        install(
            finder,
            (1, 3, 256, 256),
            {"image": {2: "h", 3: "w"}, "answer": {2: "h", 3: "w"}},
            "finder.onnx",
        )
    if only in (None, "second-look"):
        second = train_second_look(load_sheets(folder), minutes, folder / "second_look.pt", rate)
        install(second, (1, 3, keypoints.CROP_PX, keypoints.CROP_PX), batch, "second_look.onnx")
    if only in (None, "close-look"):
        close = train_close_look(load_pieces(folder), minutes, folder / "close_look.pt", rate)
        install(close, (1, 5, pose_refiner.CROP_PX, pose_refiner.CROP_PX), batch, "close_look.onnx")
    if only in (None, "verification"):
        verification = train_verification(
            load_pieces(folder), load_places(folder), minutes, folder / "verification.pt", rate
        )
        install(
            verification,
            (1, 5, pose_refiner.CROP_PX, pose_refiner.CROP_PX),
            batch,
            "verification.onnx",
        )
    if only in (None, "dice"):
        dice = train_dice(load_rolls(folder), minutes, folder / "dice.pt", rate)
        install(
            dice,
            (1, classifier.CHANNELS, classifier.CROP_PX, classifier.CROP_PX),
            batch,
            "dice.onnx",
        )


if __name__ == "__main__":
    main()
