"""`python -m training.photographs CASES`: compare networks on photographs with known truth.

Whole tables hardly tell two networks apart: 80 of them have a dozen mistakes, but 804 pieces. So
the losses of training are computed here, piece by piece, on photographs that are no training data.
Views overlap, so a piece counts once in each view that shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import torch
from torch import Tensor, nn

from table.errors import InputError
from table.observation import Camera
from table.pieces import COLOURS
from table.solids import POSES
from table.table_config import load_table
from training import detector_examples, keypoint_examples
from training.installed import restore
from training.labelled_views import VIEW_PX, LabelledView, cut_view, outline_mask, padded
from training.network import DetectorNet, KeypointNet
from training.train import DATA
from vision.cameras.image_files import read_image
from vision.geometry.piece_pose import project_to_table
from vision.geometry.rectified_view import Photo
from vision.networks.detector import view_of
from vision.networks.keypoints import COLOUR, CROP_PX, POSE

STEP_PX = 160
"""Distance between views cut from one photograph; they overlap."""
LOW = 0.15
"""Detections of a lower probability are likely to be lost."""
AT_ONCE = 64
"""Images that a network is shown together."""

Losses = dict[str, float]


def labelled_photograph(case: Path) -> list[LabelledView]:
    """Views cut from a photograph, labelled by its truth.

    `case` is a folder with `table.json`, `image.jpg` and `truth.json`, as the benchmarks have them.
    Counters, tiles and arms are not labelled. The camera's pose is the true one.
    """
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    setup, pose = load_table(case / "table.json"), truth["camera_pose"]
    rotation, eye_mm = np.array(pose["R"]), np.array(pose["eye_mm"])
    seen = tuple(marker.id for marker in setup.fiducials.markers)
    camera = Camera(rotation, -rotation @ eye_mm, np.zeros((6, 6)), 0.0, seen)
    view = view_of(Photo(read_image(case / "image.jpg", setup).image, camera, setup))
    pieces = truth["pieces"]
    corners_mm = [np.array(piece["vertices_mm"]) for piece in pieces]
    corners = np.array(
        [view.pixels(project_to_table(points, eye_mm)) for points in corners_mm]
    ).reshape(-1, 5, 2)
    whole = LabelledView(
        view.code,
        corners,
        np.array([POSES.index(piece["pose"]) for piece in pieces], np.int64),
        np.array([COLOURS.index(piece["colour"]) for piece in pieces], np.int64),
        np.array([np.linalg.norm(points[1] - points[0]) for points in corners_mm]) / view.step_mm,
        np.zeros((0, 3)),
        np.stack(
            [
                outline_mask(view.code.shape[:2], corners, np.zeros((0, 3))),
                np.zeros(view.code.shape[:2], np.uint8),
            ]
        ),
    )
    whole = padded(whole)
    tops, lefts = (_offsets(size) for size in whole.image.shape[:2])
    return [cut_view(whole, top, left) for top in tops for left in lefts]


def _offsets(size: int) -> list[int]:
    return sorted({min(offset, size - VIEW_PX) for offset in range(0, size, STEP_PX)})


def detector_losses(net: nn.Module, views: list[LabelledView]) -> Losses:
    """The detector's losses on views: those of its heat maps for pieces, not for counters.

    `low` is the share of pieces whose detection has a probability below LOW.
    """
    rng = np.random.default_rng(5)
    examples = [detector_examples.example(view, rng) for view in views]
    images, answers, weights = (
        torch.from_numpy(np.stack(part)) for part in zip(*examples, strict=True)
    )
    output = _run(net, images)
    _, losses = detector_examples.loss(output, answers, weights)
    logits, target = output[:, : len(POSES)], answers[:, : len(POSES)]
    missed, invented = detector_examples.heatmap_losses(logits, target)
    top = target > 0.999
    named = {name: losses[name] for name in ("offset", "axis", "turn", "size", "colour")}
    return {
        "pieces": float(top.sum()),
        "missed": float(missed),
        "invented": float(invented),
        "low": float((logits.sigmoid()[top] < LOW).float().mean()),
        **named,
    }


def keypoint_losses(net: nn.Module, views: list[LabelledView]) -> Losses:
    """The keypoint network's losses on crops where the installed detector finds something."""
    rng = np.random.default_rng(5)
    crops = [
        keypoint_examples.crop(place, rng)
        for view in views
        for place in keypoint_examples.crop_places(view)
    ]
    images, answers = (torch.from_numpy(np.stack(part)) for part in zip(*crops, strict=True))
    output = _run(net, images)
    _, losses = keypoint_examples.loss(output, answers)
    are = answers[:, 0] > 0.5
    poses, colours = output[are][:, POSE], output[are][:, COLOUR]
    return {
        "pieces": float(are.sum()),
        **losses,
        "pose_errors": float((poses.argmax(1) != answers[are][:, 1].long()).float().mean()),
        "colour_errors": float((colours.argmax(1) != answers[are][:, 2].long()).float().mean()),
    }


def _run(net: nn.Module, images: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.cat([net(some.float() / 255) for some in images.split(AT_ONCE)])


def load_network(name: str, weights: Path) -> nn.Module:
    """A network by its file's name, with weights of a checkpoint (`.pt`) or of an ONNX file.

    Raises InputError if the file is neither.
    """
    net, image = _NETWORKS[name][0]()
    if weights.suffix == ".pt":
        net.load_state_dict(torch.load(weights, map_location="cpu"))
    elif weights.suffix == ".onnx":
        restore(net, weights, image)
    else:
        raise InputError(f"training: expected weights (.pt or .onnx), got {weights}")
    return net.eval()


_NETWORKS: dict[str, tuple[Callable[[], tuple[nn.Module, Tensor]], Callable[..., Losses]]] = {
    "detector": (lambda: (DetectorNet(), torch.zeros(1, 3, VIEW_PX, VIEW_PX)), detector_losses),
    "keypoints": (lambda: (KeypointNet(), torch.zeros(1, 3, CROP_PX, CROP_PX)), keypoint_losses),
}


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--network", type=click.Choice([*_NETWORKS]), default="keypoints", show_default=True)
@click.option(
    "--weights",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Weights to compare with the installed ones; may be given several times.",
)
def main(folders: tuple[Path, ...], network: str, weights: tuple[Path, ...]) -> None:
    """Compare weights of a network on the photographs with truth in FOLDERS."""
    cases = [case.parent for folder in folders for case in sorted(folder.glob("*/truth.json"))]
    if not cases:
        raise click.UsageError(
            f"expected folders with */truth.json, got {' '.join(map(str, folders))}"
        )
    views = [view for case in cases for view in labelled_photograph(case)]
    losses = _NETWORKS[network][1]
    installed = DATA / f"{network}.onnx"
    rows = [
        (
            "installed" if path is installed else str(path),
            losses(load_network(network, path), views),
        )
        for path in (installed, *weights)
    ]
    names, width = [*rows[0][1]], max(len(label) for label, _ in rows)
    click.echo(" ".join(["weights".ljust(width), *(name.rjust(13) for name in names)]))
    for label, row in rows:
        figures = (f"{row[one]:.0f}" if one == "pieces" else f"{row[one]:.4f}" for one in names)
        click.echo(" ".join([label.ljust(width), *(figure.rjust(13) for figure in figures)]))


if __name__ == "__main__":
    main()
