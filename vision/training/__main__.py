"""`python -m vision.training FOLDER`: draw practice sheets, teach the network on them, and write its weights for the finder."""

from __future__ import annotations

import pickle
from multiprocessing import Pool
from pathlib import Path

import click

from vision.training.boards import board_sheets
from vision.training.sheets import sheets
from vision.training.train import export, train


def draw(job: tuple[Path, int]) -> None:
    """Write the sheets of a free table and of a board, unless they are there."""
    folder, seed = job
    for name, made in (("free", sheets), ("board", board_sheets)):
        path = folder / f"{name}-{seed}.pkl"
        if not path.exists():
            beside = path.with_suffix(".part")
            beside.write_bytes(pickle.dumps(list(made(seed))))
            beside.rename(path)


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--tables", default=600, show_default=True, help="Tables to draw: free ones, and as many boards; 12 sheets each.")
@click.option("--minutes", default=90.0, show_default=True, help="How long to teach.")
@click.option("--start", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Weights (net.pt) to go on from.")
def main(folder: Path, tables: int, minutes: float, start: Path | None) -> None:
    """Teach the finder and write vision/data/finder.onnx."""
    folder.mkdir(parents=True, exist_ok=True)
    with Pool() as pool:
        for _ in pool.imap_unordered(draw, [(folder, seed) for seed in range(tables)]):
            pass
    export(train(folder, minutes, start), Path(__file__).parents[1] / "data" / "finder.onnx")


if __name__ == "__main__":
    main()
