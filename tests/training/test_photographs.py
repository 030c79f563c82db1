"""Networks are compared on photographs with known truth, piece by piece."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch: pip install '.[training]'")
pytest.importorskip("onnx", reason="training needs ONNX: pip install '.[training]'")

from click.testing import CliRunner  # noqa: E402

from simulation.generate.cases import write_case  # noqa: E402
from table.errors import InputError  # noqa: E402
from table.solids import POSES  # noqa: E402
from training import photographs  # noqa: E402
from training.labelled_views import VIEW_PX, LabelledView  # noqa: E402
from training.train import DATA  # noqa: E402


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases") / "storm-1"
    write_case(folder, "storm", 7)
    return folder


@pytest.fixture(scope="module")
def views(case: Path) -> list[LabelledView]:
    return photographs.labelled_photograph(case)


def test_views_cover_the_table_and_name_every_piece(case: Path, views: list[LabelledView]) -> None:
    pieces = json.loads((case / "truth.json").read_text(encoding="utf-8"))["pieces"]
    assert all(view.image.shape == (VIEW_PX, VIEW_PX, 3) for view in views)
    assert sum(len(view.pose) for view in views) >= len(pieces)
    labelled = {POSES[pose] for view in views for pose in view.pose}
    assert labelled == {piece["pose"] for piece in pieces}


def test_the_installed_networks_find_what_is_labelled(views: list[LabelledView]) -> None:
    """A label in a wrong place would be a piece that the detector misses."""
    detector = photographs.load_network("detector", DATA / "detector.onnx")
    keypoints = photographs.load_network("keypoints", DATA / "keypoints.onnx")
    assert photographs.detector_losses(detector, views)["low"] < 0.15
    losses = photographs.keypoint_losses(keypoints, views)
    assert losses["pose_errors"] < 0.15
    assert losses["off"] < 3.0


def test_labels_beside_the_pieces_cost_more(views: list[LabelledView]) -> None:
    detector = photographs.load_network("detector", DATA / "detector.onnx")
    turned = [
        LabelledView(
            np.ascontiguousarray(view.image[::-1]),
            view.vertices,
            view.pose,
            view.colour,
            view.base,
            view.discs,
            view.masks,
        )
        for view in views
    ]
    right, wrong = (photographs.detector_losses(detector, one) for one in (views, turned))
    assert wrong["missed"] > 3 * right["missed"]


def test_weights_and_folders_that_cannot_be_used_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected weights \(\.pt or \.onnx\), got "):
        photographs.load_network("keypoints", tmp_path / "weights.bin")
    result = CliRunner().invoke(photographs.main, [str(tmp_path)])
    assert result.exit_code == 2
    assert "expected folders with */truth.json" in result.stderr


def test_the_command_compares_weights_with_the_installed_ones(case: Path) -> None:
    weights = DATA / "keypoints.onnx"
    result = CliRunner().invoke(photographs.main, [str(case.parent), "--weights", str(weights)])
    assert result.exit_code == 0, result.output
    heading, installed, same = result.stdout.splitlines()
    assert heading.split()[:2] == ["weights", "pieces"]
    assert installed.split() == ["installed", *same.split()[1:]]
