"""Train the networks."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, update_bn

from training import (
    detector_examples,
    dice_examples,
    keypoint_examples,
    refiner_examples,
    verifier_examples,
)
from training.installed import restore
from training.labelled_views import LabelledView
from training.network import DetectorNet, DiceNet, KeypointNet, PoseRefinerNet, PoseVerifierNet
from vision.networks.keypoints import UNCLEAR
from vision.networks.pose_verifier import ODDS

DATA = Path(__file__).parents[1] / "vision" / "data"
RATE = 2e-3
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
VIEWS, CROPS, DICE = 16, 128, 256
"""Batch sizes: views for the detector, crops for keypoints and refiner, dice."""
RUNS, BATCHES = 2, 60
"""Number of training runs of the keypoint network, each from the end of the one before. Number of
batches on which normalisation is measured again afterwards. The mean of the weights does better on
pictures unlike the views than the last weights (Izmailov et al., Averaging weights leads to wider
optima and better generalization, UAI 2018).
"""
MOVED, PLACES, BADLY_SEEN, ODDS_SHARE = 40, 16, 4.0, 4.0
"""The verifier's batch: number of pieces with a small pose error; number of places with several
hypotheses; relative frequency of blurred places. Weight of places in the loss.
"""
WARM_UP, SAY = 100, 100
"""Number of steps until the full learning rate, and between reports, at which the weights are
saved.
"""

Batch = Callable[[], tuple[Tensor, ...]]
"""Makes one batch: images (n, 3, h, w) in 0..1, and further arguments of the loss."""
Loss = Callable[..., tuple[Tensor, dict[str, float]]]


def load_views(folder: Path) -> list[LabelledView]:
    """All views in a folder."""
    return [
        *_load(folder, "free"),
        *_load(folder, "board"),
        *_load(folder, "rooms"),
        *(view for one in _load(folder, "traced") for view in one.views),
    ]


def load_pieces(folder: Path) -> list[refiner_examples.PieceView]:
    """All pieces in a folder, for the refiner."""
    return [
        *_load(folder, "pieces"),
        *(piece for one in _load(folder, "traced") for piece in one.pieces),
    ]


def load_places(folder: Path) -> list[verifier_examples.AmbiguousPlace]:
    """All places in a folder that have several hypotheses."""
    return [
        *_load(folder, "places"),
        *(place for one in _load(folder, "traced") for place in one.places),
    ]


def load_rolls(folder: Path) -> list[dice_examples.DiceExamples]:
    """All examples for the dice classifier in a folder, table by table."""
    return _load(folder, "rolls")


def _load(folder: Path, name: str) -> list[Any]:
    return [
        one
        for path in sorted(folder.glob(f"{name}-*.pkl"))
        for one in pickle.loads(path.read_bytes())
    ]


def train_detector(
    views: list[LabelledView], minutes: float, weights: Path, rate: float = RATE
) -> DetectorNet:
    """Train the detector on views.

    It continues from `weights` if there are any, else from the installed ones, and writes them.
    """
    rng = np.random.default_rng(1)

    def one_batch() -> tuple[Tensor, ...]:
        chosen = [
            detector_examples.example(views[int(k)], rng)
            for k in rng.integers(len(views), size=VIEWS)
        ]
        images, answers, weight = (
            torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True)
        )
        return detector_examples.augmented(_on_device(images), rng), answers, weight

    net = DetectorNet()
    _train(net, one_batch, detector_examples.loss, minutes, weights, rate)
    return net.eval()


def train_keypoints(
    views: list[LabelledView], minutes: float, weights: Path, rate: float = RATE
) -> KeypointNet:
    """Train the keypoint network on the installed detector's detections on views.

    Weights as for the detector.
    """
    rng = np.random.default_rng(2)
    known = [look for view in views for look in keypoint_examples.crop_places(view)]

    def one_batch() -> tuple[Tensor, ...]:
        chosen = [
            keypoint_examples.crop(known[int(k)], rng) for k in rng.integers(len(known), size=CROPS)
        ]
        images, answers = (torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True))
        return detector_examples.augmented(_on_device(images), rng), answers

    net = KeypointNet()
    mean = AveragedModel(net, device=DEVICE)
    for _ in range(RUNS):
        _train(net, one_batch, keypoint_examples.loss, minutes / RUNS, weights, rate)
        mean.update_parameters(net)
    update_bn((one_batch()[0] for _ in range(BATCHES)), mean)
    net.load_state_dict(mean.module.state_dict())
    torch.save(net.state_dict(), weights)
    return net.eval()


def train_pose_refiner(
    pieces: list[refiner_examples.PieceView], minutes: float, weights: Path, rate: float = RATE
) -> PoseRefinerNet:
    """Train the pose refiner on pieces; weights as for the detector."""
    rng = np.random.default_rng(3)
    augment = refiner_examples.Augmentation(rng)

    def one_batch() -> tuple[Tensor, ...]:
        chosen = [
            refiner_examples.example(pieces[int(k)], rng)
            for k in rng.integers(len(pieces), size=CROPS)
        ]
        seen, off = (torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True))
        return augment(_on_device(seen)), off

    net = PoseRefinerNet()
    _train(net, one_batch, refiner_examples.loss, minutes, weights, rate)
    return net.eval()


def train_pose_verifier(
    pieces: list[refiner_examples.PieceView],
    places: list[verifier_examples.AmbiguousPlace],
    minutes: float,
    weights: Path,
    rate: float = RATE,
) -> PoseVerifierNet:
    """Train the pose verifier on hypotheses about places, and on pose errors of pieces.

    Without the latter it would memorize the places. Weights as for the detector.
    """
    rng = np.random.default_rng(3)
    augment = refiner_examples.Augmentation(rng)
    often = np.array([BADLY_SEEN if place.blur > UNCLEAR else 1.0 for place in places])
    often /= often.sum()

    def one_batch() -> tuple[Tensor, ...]:
        chosen = [
            refiner_examples.example(pieces[int(k)], rng)
            for k in rng.integers(len(pieces), size=MOVED)
        ]
        of_places = [
            verifier_examples.example(places[int(k)], rng)
            for k in rng.choice(len(places), PLACES, p=often)
        ]
        seen = torch.from_numpy(
            np.concatenate([*(one for one, _ in of_places), np.stack([one for one, _ in chosen])])
        )
        off, right = (
            np.stack([one for _, one in chosen]),
            np.concatenate([one for _, one in of_places]),
        )
        place = np.repeat(np.arange(PLACES), [len(one) for _, one in of_places])
        return augment(_on_device(seen)), *map(torch.from_numpy, (off, right, place))

    def loss(
        output: Tensor, off: Tensor, right: Tensor, place: Tensor
    ) -> tuple[Tensor, dict[str, float]]:
        odds = verifier_examples.loss(output[: len(right), ODDS], right, place)
        apart, parts = refiner_examples.loss(output[len(right) :], off)
        return ODDS_SHARE * odds + apart, parts | {"odds": -float(odds.detach())}

    net = PoseVerifierNet()
    _train(net, one_batch, loss, minutes, weights, rate)
    return net.eval()


def train_dice(
    known: list[dice_examples.DiceExamples], minutes: float, weights: Path, rate: float = RATE
) -> DiceNet:
    """Train the dice classifier on rolls; weights as for the detector."""
    rng = np.random.default_rng(4)
    augment = refiner_examples.Augmentation(rng)
    seen, pips = (torch.from_numpy(np.concatenate(part)) for part in zip(*known, strict=True))

    def one_batch() -> tuple[Tensor, ...]:
        chosen = torch.from_numpy(rng.integers(len(seen), size=DICE))
        return augment(dice_examples.from_all_sides(_on_device(seen[chosen]))), pips[chosen]

    net = DiceNet()
    _train(net, one_batch, dice_examples.loss, minutes, weights, rate)
    return net.eval()


def _on_device(images: Tensor) -> Tensor:
    """Images of bytes as floats in 0..1, on the training device."""
    return images.to(DEVICE).float() / 255


def _train(
    net: nn.Module, one_batch: Batch, loss: Loss, minutes: float, weights: Path, rate: float
) -> None:
    torch.manual_seed(1)
    if weights.exists():
        net.load_state_dict(torch.load(weights, map_location=DEVICE))
    else:
        restore(net, DATA / f"{weights.stem}.onnx", one_batch()[0].cpu())
    net.to(DEVICE, memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    begun, step = time.monotonic(), 0
    sums: dict[str, float] = {}
    beside = ThreadPoolExecutor(1)  # the next batch is made during the present step
    coming = beside.submit(one_batch)
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = (
                rate * min(1.0, step / WARM_UP + 0.02) * (0.5 + 0.5 * np.cos(np.pi * done) + 0.005)
            )
        images, *targets = coming.result()
        coming = beside.submit(one_batch)
        with torch.autocast(DEVICE.type, torch.bfloat16):
            output = net.train()(images.contiguous(memory_format=torch.channels_last))
        total, parts = loss(output.float(), *(one.to(DEVICE) for one in targets))
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        sums = {name: 0.98 * sums.get(name, value) + 0.02 * value for name, value in parts.items()}
        step += 1
        if step % SAY == 0:
            losses = ", ".join(f"{name} {value:.3f}" for name, value in sums.items())
            print(f"{100 * done:5.1f} % of {minutes:g} min, step {step}: {losses}", flush=True)
            torch.save(net.state_dict(), weights)
    beside.shutdown()
    torch.save(net.state_dict(), weights)
