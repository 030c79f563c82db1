"""Teaching the networks on practice sheets."""

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

from training import close, lessons, looks, rivals, rolls
from training.installed import restore
from training.network import CloseLookNet, DiceNet, FinderNet, SecondLookNet, VerificationNet
from training.sheets import Sheet
from vision.networks.keypoints import UNCLEAR
from vision.networks.pose_verifier import ODDS

DATA = Path(__file__).parents[1] / "vision" / "data"
RATE = 2e-3
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SHEETS, CROPS, DICE = 16, 128, 256
"""Lessons of a round: sheets for the finder, crops for the looks; those of dice cost little."""
TEACHINGS, BATCHES = 2, 60
"""The second look is taught so often, each time from where it was; the mean of the weights meets
pictures that are unlike the sheets better than the last alone, once its normalisation has been
measured again on so many rounds.  (Izmailov et al., Averaging weights leads to wider optima and
better generalization, UAI 2018)
"""
MOVED, PLACES, BADLY_SEEN, ODDS_SHARE = 40, 16, 4.0, 4.0
"""Lessons of a round of the verification: pieces a little off, and places that may be taken for
several, those seen badly so much more often; and the share of the latter in what it is taught by.
"""
WARM_UP, SAY = 100, 100
"""Rounds until the full rate; between reports, with the weights written."""

Round = Callable[[], tuple[Tensor, ...]]
"""Makes what one round is taught: images (n, 3, h, w) in 0..1, and what the loss takes beside the
network's answer.
"""
Loss = Callable[..., tuple[Tensor, dict[str, float]]]


def load_sheets(folder: Path) -> list[Sheet]:
    """All sheets in a folder."""
    return [
        *_load(folder, "free"),
        *_load(folder, "board"),
        *(sheet for one in _load(folder, "traced") for sheet in one.sheets),
    ]


def load_pieces(folder: Path) -> list[close.Near]:
    """All pieces in a folder that are looked at closely."""
    return [
        *_load(folder, "pieces"),
        *(piece for one in _load(folder, "traced") for piece in one.pieces),
    ]


def load_places(folder: Path) -> list[rivals.Place]:
    """All places in a folder that may be taken for several."""
    return [
        *_load(folder, "rivals"),
        *(place for one in _load(folder, "traced") for place in one.rivals),
    ]


def load_rolls(folder: Path) -> list[rolls.Lessons]:
    """All places in a folder that may be taken for dice, table by table."""
    return _load(folder, "rolls")


def _load(folder: Path, name: str) -> list[Any]:
    return [
        one
        for path in sorted(folder.glob(f"{name}-*.pkl"))
        for one in pickle.loads(path.read_bytes())
    ]


def train_finder(
    sheets: list[Sheet], minutes: float, weights: Path, rate: float = RATE
) -> FinderNet:
    """Train the finder on sheets.

    It goes on from `weights` if there are any, else from the installed ones, and writes them there.
    """
    rng = np.random.default_rng(1)

    def one_round() -> tuple[Tensor, ...]:
        chosen = [
            lessons.lesson(sheets[int(k)], rng) for k in rng.integers(len(sheets), size=SHEETS)
        ]
        images, answers, weight = (
            torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True)
        )
        return lessons.tinted(_on_device(images), rng), answers, weight

    net = FinderNet()
    _teach(net, one_round, lessons.loss, minutes, weights, rate)
    return net.eval()


def train_second_look(
    sheets: list[Sheet], minutes: float, weights: Path, rate: float = RATE
) -> SecondLookNet:
    """Train the second look on what the installed finder finds on sheets.

    Weights as for the finder.
    """
    rng = np.random.default_rng(2)
    known = [look for sheet in sheets for look in looks.looks(sheet)]

    def one_round() -> tuple[Tensor, ...]:
        chosen = [looks.crop(known[int(k)], rng) for k in rng.integers(len(known), size=CROPS)]
        images, answers = (torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True))
        return lessons.tinted(_on_device(images), rng), answers

    net = SecondLookNet()
    mean = AveragedModel(net, device=DEVICE)
    for _ in range(TEACHINGS):
        _teach(net, one_round, looks.loss, minutes / TEACHINGS, weights, rate)
        mean.update_parameters(net)
    update_bn((one_round()[0] for _ in range(BATCHES)), mean)
    net.load_state_dict(mean.module.state_dict())
    torch.save(net.state_dict(), weights)
    return net.eval()


def train_close_look(
    pieces: list[close.Near], minutes: float, weights: Path, rate: float = RATE
) -> CloseLookNet:
    """The close look taught on pieces; weights as for the finder."""
    rng = np.random.default_rng(3)
    tint = close.Tint(rng)

    def one_round() -> tuple[Tensor, ...]:
        chosen = [close.lesson(pieces[int(k)], rng) for k in rng.integers(len(pieces), size=CROPS)]
        seen, off = (torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True))
        return tint(_on_device(seen)), off

    net = CloseLookNet()
    _teach(net, one_round, close.loss, minutes, weights, rate)
    return net.eval()


def train_verification(
    pieces: list[close.Near],
    places: list[rivals.Place],
    minutes: float,
    weights: Path,
    rate: float = RATE,
) -> VerificationNet:
    """Train the pose verifier on what places may be taken for, and on how far pieces are off.

    Without the latter it learns the places by heart. Weights as for the finder.
    """
    rng = np.random.default_rng(3)
    tint = close.Tint(rng)
    often = np.array([BADLY_SEEN if place.blur > UNCLEAR else 1.0 for place in places])
    often /= often.sum()

    def one_round() -> tuple[Tensor, ...]:
        chosen = [close.lesson(pieces[int(k)], rng) for k in rng.integers(len(pieces), size=MOVED)]
        asked = [
            rivals.lesson(places[int(k)], rng) for k in rng.choice(len(places), PLACES, p=often)
        ]
        seen = torch.from_numpy(
            np.concatenate([*(one for one, _ in asked), np.stack([one for one, _ in chosen])])
        )
        off, right = np.stack([one for _, one in chosen]), np.concatenate([one for _, one in asked])
        place = np.repeat(np.arange(PLACES), [len(one) for _, one in asked])
        return tint(_on_device(seen)), *map(torch.from_numpy, (off, right, place))

    def loss(
        said: Tensor, off: Tensor, right: Tensor, place: Tensor
    ) -> tuple[Tensor, dict[str, float]]:
        odds = rivals.loss(said[: len(right), ODDS], right, place)
        apart, parts = close.loss(said[len(right) :], off)
        return ODDS_SHARE * odds + apart, parts | {"odds": -float(odds.detach())}

    net = VerificationNet()
    _teach(net, one_round, loss, minutes, weights, rate)
    return net.eval()


def train_dice(
    known: list[rolls.Lessons], minutes: float, weights: Path, rate: float = RATE
) -> DiceNet:
    """The look at dice taught on rolls; weights as for the finder."""
    rng = np.random.default_rng(4)
    tint = close.Tint(rng)
    seen, pips = (torch.from_numpy(np.concatenate(part)) for part in zip(*known, strict=True))

    def one_round() -> tuple[Tensor, ...]:
        chosen = torch.from_numpy(rng.integers(len(seen), size=DICE))
        return tint(rolls.from_all_sides(_on_device(seen[chosen]))), pips[chosen]

    net = DiceNet()
    _teach(net, one_round, rolls.loss, minutes, weights, rate)
    return net.eval()


def _on_device(images: Tensor) -> Tensor:
    """Of bytes, in 0..1, where the network learns."""
    return images.to(DEVICE).float() / 255


def _teach(
    net: nn.Module, one_round: Round, loss: Loss, minutes: float, weights: Path, rate: float
) -> None:
    torch.manual_seed(1)
    if weights.exists():
        net.load_state_dict(torch.load(weights, map_location=DEVICE))
    else:
        restore(net, DATA / f"{weights.stem}.onnx", one_round()[0].cpu())
    net.to(DEVICE, memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    begun, round_ = time.monotonic(), 0
    sums: dict[str, float] = {}
    beside = ThreadPoolExecutor(1)  # the next round is made while the network learns from this one
    coming = beside.submit(one_round)
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = (
                rate
                * min(1.0, round_ / WARM_UP + 0.02)
                * (0.5 + 0.5 * np.cos(np.pi * done) + 0.005)
            )
        images, *asked = coming.result()
        coming = beside.submit(one_round)
        with torch.autocast(DEVICE.type, torch.bfloat16):
            said = net.train()(images.contiguous(memory_format=torch.channels_last))
        total, parts = loss(said.float(), *(one.to(DEVICE) for one in asked))
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        sums = {name: 0.98 * sums.get(name, value) + 0.02 * value for name, value in parts.items()}
        round_ += 1
        if round_ % SAY == 0:
            said_so_far = ", ".join(f"{name} {value:.3f}" for name, value in sums.items())
            print(
                f"{100 * done:5.1f} % of {minutes:g} min, round {round_}: {said_so_far}", flush=True
            )
            torch.save(net.state_dict(), weights)
    beside.shutdown()
    torch.save(net.state_dict(), weights)
