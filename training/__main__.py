"""`python -m training FOLDER`: draw labelled views, train the networks, install their weights."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import click
import torch
from torch import nn

from table.files import write_whole
from training.boards import board_views
from training.dice_examples import examples
from training.export import export
from training.labelled_views import views
from training.refiner_examples import board_pieces, free_pieces
from training.room_views import room_views
from training.train import (
    DATA,
    RATE,
    load_pieces,
    load_places,
    load_rolls,
    load_views,
    train_detector,
    train_dice,
    train_keypoints,
    train_pose_refiner,
    train_pose_verifier,
)
from training.verifier_examples import board_places
from training.weights import mix_weights
from vision.dice import classifier
from vision.networks import keypoints, pose_refiner

DRAWN = {
    "free": views,
    "board": board_views,
    "pieces-free": free_pieces,
    "pieces-board": board_pieces,
    "places": board_places,
}
ROOMS = {"rooms": room_views}
ROLLED = {"rolls": examples}
Making = Mapping[str, Callable[[int], Iterable[object]]]
"""Functions that make the examples of one table from its seed, by name."""


def draw(job: tuple[Path, int]) -> None:
    """Write the views, pieces and places of free tables and of boards, unless they exist."""
    _write(*job, DRAWN)


def trace(job: tuple[Path, int]) -> None:
    """Write the examples of path-traced tables, unless they exist."""
    from training.traced_tables import traced_board, traced_free  # only this needs Mitsuba

    _write(*job, {"traced-free": traced_free, "traced-board": traced_board})


def draw_rooms(job: tuple[Path, int]) -> None:
    """Write the views of ray-traced rooms, unless they exist."""
    torch.set_num_threads(1)
    _write(*job, ROOMS)


def roll(job: tuple[Path, int]) -> None:
    """Write the rolls of dice, unless they exist."""
    _write(*job, ROLLED)


def _write(folder: Path, seed: int, making: Making) -> None:
    for name, made in making.items():
        path = folder / f"{name}-{seed}.pkl"
        if not path.exists():
            beside = path.with_suffix(".part")
            beside.write_bytes(pickle.dumps(list(made(seed))))
            beside.rename(path)


class Network(NamedTuple):
    """Training of a network from (folder, minutes, weights, rate), and its installation."""

    file: str
    train: Callable[[Path, float, Path, float], nn.Module]
    example: tuple[int, ...]
    """Shape of an input."""
    free_sides: dict[str, dict[int, str]] = {"image": {0: "n"}, "answer": {0: "n"}}  # noqa: RUF012
    """Axes of variable length."""


_AROUND_A_POSE = (1, 5, pose_refiner.CROP_PX, pose_refiner.CROP_PX)
NETWORKS = {
    "detector": Network(
        "detector",
        lambda folder, *how: train_detector(load_views(folder), *how),
        (1, 3, 256, 256),
        {"image": {2: "h", 3: "w"}, "answer": {2: "h", 3: "w"}},
    ),
    "keypoints": Network(
        "keypoints",
        lambda folder, *how: train_keypoints(load_views(folder), *how),
        (1, 3, keypoints.CROP_PX, keypoints.CROP_PX),
    ),
    "refiner": Network(
        "pose_refiner",
        lambda folder, *how: train_pose_refiner(load_pieces(folder), *how),
        _AROUND_A_POSE,
    ),
    "verifier": Network(
        "pose_verifier",
        lambda folder, *how: train_pose_verifier(load_pieces(folder), load_places(folder), *how),
        _AROUND_A_POSE,
    ),
    "dice": Network(
        "dice",
        lambda folder, *how: train_dice(load_rolls(folder), *how),
        (1, classifier.CHANNELS, classifier.CROP_PX, classifier.CROP_PX),
    ),
}
"""Networks by the values of `--only`, in the order of their training."""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--tables",
    default=600,
    show_default=True,
    help="Tables to draw: free ones, and as many boards; 12 views each.",
)
@click.option(
    "--traced",
    default=150,
    show_default=True,
    help="Tables to trace: free ones, and as many boards; 4 pictures each.",
)
@click.option(
    "--rooms",
    default=600,
    show_default=True,
    help="Views of ray-traced rooms: four scenes each, photographed three times.",
)
@click.option("--minutes", default=60.0, show_default=True, help="How long to train each network.")
@click.option(
    "--rate",
    default=RATE,
    show_default=True,
    help="Largest learning rate; a third is enough to continue from good weights.",
)
@click.option("--only", type=click.Choice([*NETWORKS]), help="Train one of the five.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="Share of the new weights in the mixture with the installed ones.",
)
def main(
    folder: Path,
    tables: int,
    traced: int,
    rooms: int,
    minutes: float,
    rate: float,
    only: str | None,
    share: float,
) -> None:
    """Train the networks on labelled views drawn into FOLDER, and install them.

    Training continues from weights that are in FOLDER, or else from the installed ones. The
    keypoint network is trained on what the installed detector finds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    of_pieces = [] if only == "dice" else [(draw, tables), (trace, traced), (draw_rooms, rooms)]
    of_dice = [(roll, tables)] if only in (None, "dice") else []
    for making, count in (*of_pieces, *of_dice):
        with Pool() as pool:
            for _ in pool.imap_unordered(making, [(folder, seed) for seed in range(count)]):
                pass

    def install(net: nn.Module, network: Network) -> None:
        learned, installed = (where / f"{network.file}.onnx" for where in (folder, DATA))
        export(net, network.example, network.free_sides, learned)
        mixture = (
            learned.read_bytes()
            if share == 1
            else mix_weights(installed, learned, share).SerializeToString()
        )
        write_whole(installed, mixture)

    for name, network in NETWORKS.items():
        if only in (None, name):
            net = network.train(folder, minutes, folder / f"{network.file}.pt", rate)
            install(net, network)


if __name__ == "__main__":
    main()
