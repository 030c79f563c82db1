"""Teaching the network on practice sheets."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import numpy as np
import torch

from vision.training.lessons import lesson, loss, tinted
from vision.training.network import FinderNet
from vision.training.sheets import Sheet

BATCH = 16
RATE = 2e-3
WARM_UP, LOOK_AGAIN, SAVE = 100, 100, 500
"""Rounds until the full rate; between looks for new sheets; between savings of the weights."""


def train(folder: Path, minutes: float, start: Path | None = None) -> FinderNet:
    """A network taught for so long on the sheets in a folder, in which new ones may still be coming in.

    Its weights are written to `net.pt` there, now and then and at the end; `start` are weights to go on from.
    """
    rng = np.random.default_rng(1)
    torch.manual_seed(1)
    net = FinderNet()
    if start is not None:
        net.load_state_dict(torch.load(start))
    net = net.to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=1e-4)
    known: dict[Path, list[Sheet]] = {}
    begun, round_ = time.monotonic(), 0
    sums: dict[str, float] = {}
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        if round_ % LOOK_AGAIN == 0:
            known |= {path: pickle.loads(path.read_bytes()) for path in sorted(folder.glob("*.pkl")) if path not in known}
            sheets = [sheet for path in known for sheet in known[path]]
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, round_ / WARM_UP + 0.02) * (0.5 + 0.5 * np.cos(np.pi * done) + 0.005)
        chosen = [lesson(sheets[int(k)], rng) for k in rng.integers(len(sheets), size=BATCH)]
        images, answers, weights = (torch.from_numpy(np.stack(part)) for part in zip(*chosen, strict=True))
        shown = tinted(images.float() / 255, rng).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            said = net.train()(shown)
        total, parts = loss(said.float(), answers, weights)
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        sums = {name: 0.98 * sums.get(name, value) + 0.02 * value for name, value in parts.items()}
        round_ += 1
        if round_ % LOOK_AGAIN == 0:
            said_so_far = ", ".join(f"{name} {value:.3f}" for name, value in sums.items())
            print(f"{100 * done:5.1f} % of {minutes:g} min, round {round_}, {len(sheets)} sheets: {said_so_far}", flush=True)
        if round_ % SAVE == 0:
            torch.save(net.state_dict(), folder / "net.pt")
    torch.save(net.state_dict(), folder / "net.pt")
    return net


def export(net: FinderNet, path: Path) -> None:
    """Write a network as ONNX, for pictures of any size."""
    sides = {"image": {2: "h", 3: "w"}, "answer": {2: "h", 3: "w"}}
    names = {"input_names": ["image"], "output_names": ["answer"], "dynamic_axes": sides}
    beside = path.with_suffix(".part")
    torch.onnx.export(net.eval(), (torch.zeros(1, 3, 256, 256),), str(beside), opset_version=13, dynamo=False, **names)
    beside.rename(path)
