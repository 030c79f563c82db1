"""Train the network for a given time.

Scenes are made on the device, and photographed anew each time they are used.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.eyes.losses import loss
from training.eyes.model import EyesNet
from training.eyes.scenes import SIDE_PX, Rendered, random_scenes, render
from training.eyes.targets import all_parts, each_part, make_example, turn_example

FORMAT = "rinkside-eyes/1"
CHECKPOINT, OPTIMISER, CURVE = "eyes.pt", "optimiser.pt", "curve.jsonl"
TRAINING_SEEDS, VALIDATION_SEEDS = 1_000_000, 9_000_000_000
"""First seeds of the training scenes, and of the validation scenes."""
WARM_UP = 100
"""Number of steps until the full learning rate."""
LEAST_RATE = 0.02
"""Final learning rate, as a share of the full one."""
SAY_S, SAVE_S = 20.0, 60.0
MOST_STEP = 5.0
"""Norm at which gradients are clipped."""
EMA = 0.999


@dataclass(frozen=True)
class Plan:
    """Amounts of one training run.

    `made`: scenes made together; `batch`: pictures in a step; `kept`: scenes in the pool; `shows`:
    number of uses of each; `first`: scenes before the first step.
    """

    made: int
    batch: int
    kept: int
    shows: float
    first: int
    side: int = SIDE_PX

    @classmethod
    def of(cls, device: torch.device) -> Plan:
        """A plan for a card with 40 GB or more, or for one processor core."""
        if device.type == "cuda":
            return cls(made=128, batch=64, kept=12_000, shows=10.0, first=512)
        return cls(made=1, batch=12, kept=1_500, shows=14.0, first=24, side=128)


class Pool:
    """Rendered scenes on the device; the newest replace the oldest."""

    def __init__(self, kept: int) -> None:
        self.kept, self.count, self.next = kept, 0, 0
        self.parts: list[Tensor] = []
        self.like: Rendered | None = None

    def put(self, scenes: Rendered) -> None:
        """Add scenes, with light as half floats."""
        parts = [_small(part) for part in all_parts(scenes)]
        if self.like is None:
            self.like = scenes
            self.parts = [
                torch.empty(self.kept, *part.shape[1:], dtype=part.dtype, device=part.device)
                for part in parts
            ]
        numbers = (self.next + torch.arange(len(parts[0]))) % self.kept
        for stored, part in zip(self.parts, parts, strict=True):
            stored[numbers.to(part.device)] = part
        self.next = (self.next + len(numbers)) % self.kept
        self.count = min(self.kept, self.count + len(numbers))

    def some(self, count: int, generator: torch.Generator) -> Rendered:
        """`count` random scenes."""
        assert self.like is not None
        numbers = torch.randint(self.count, (count,), generator=generator).to(self.parts[0].device)
        parts = iter(self.parts)
        some: Rendered = each_part(self.like, lambda like: next(parts)[numbers].to(like.dtype))
        return some


def _small(part: Tensor) -> Tensor:
    return (
        part.clamp(-6e4, 6e4).half()
        if part.dtype == torch.float32 and part.dim() == 4 and part.shape[-1] > 8
        else part
    )


@dataclass
class State:
    """Contents of a checkpoint, and derived values."""

    net: EyesNet
    ema: EyesNet
    optimiser: torch.optim.Optimizer
    step: int = 0
    made: int = 0
    seconds: float = 0.0
    sums: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def new(cls, device: torch.device, rate: float) -> State:
        torch.manual_seed(1)
        net = EyesNet().to(device, memory_format=torch.channels_last)
        optimiser = torch.optim.AdamW(
            net.parameters(), lr=rate, weight_decay=0.02, betas=(0.9, 0.99)
        )
        return cls(net, copy.deepcopy(net).eval().requires_grad_(False), optimiser)

    @classmethod
    def of(cls, folder: Path, device: torch.device, rate: float) -> State:
        """The folder's checkpoint, or a new network."""
        state = cls.new(device, rate)
        if (folder / CHECKPOINT).exists():
            state.load(folder, device)
        return state

    def save(self, folder: Path) -> None:
        """Write two files, each small enough for transfer from a rented card."""
        weights = {"format": FORMAT, "net": self.net.state_dict(), "ema": self.ema.state_dict()}
        counts = {"step": self.step, "made": self.made, "seconds": self.seconds}
        for name, stored in (
            (CHECKPOINT, weights | counts),
            (OPTIMISER, self.optimiser.state_dict()),
        ):
            beside = folder / f"{name}.part"
            torch.save(stored, beside)
            beside.replace(folder / name)

    def load(self, folder: Path, device: torch.device) -> None:
        """Continue from a checkpoint; without the optimiser's file the optimiser starts anew.

        Raises ValueError for a file that is no such checkpoint.
        """
        stored = torch.load(folder / CHECKPOINT, map_location=device, weights_only=True)
        if stored.get("format") != FORMAT:
            raise ValueError(f"{folder / CHECKPOINT}: expected a checkpoint of {FORMAT}")
        self.net.load_state_dict(stored["net"])
        self.ema.load_state_dict(stored["ema"])
        self.step, self.made, self.seconds = stored["step"], stored["made"], stored["seconds"]
        if (folder / OPTIMISER).exists():
            own = torch.load(folder / OPTIMISER, map_location=device, weights_only=True)
            self.optimiser.load_state_dict(own)


def rate_at(share: float, steps: int, rate: float) -> float:
    """Learning rate: a short warm-up over steps, then a cosine over the time.

    `share` 0..1 is that of the time, `steps` counts those of this run.
    """
    fall = LEAST_RATE + (1 - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(1.0, share)))
    return rate * fall * min(1.0, (steps + 1) / WARM_UP)


def make_scenes(seed: int, count: int, device: torch.device, side: int) -> Rendered:
    """`count` rendered scenes."""
    with torch.no_grad():
        return render(random_scenes(seed, count, device, side), seed, side)


def one_step(
    state: State, pool: Pool, plan: Plan, generator: torch.Generator, device: torch.device
) -> dict[str, Tensor]:
    """Train on one batch; returns the parts of the loss."""
    with torch.no_grad():
        seed = int(torch.randint(2**40, (1,), generator=generator))
        example = turn_example(make_example(pool.some(plan.batch, generator), seed), seed % 8)
    half = torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")
    with half:
        fine = state.net.features(example.picture.contiguous(memory_format=torch.channels_last))
    output = state.net.head(fine.float())  # half floats are too coarse for coordinates
    whole, parts = loss(output, example)
    state.optimiser.zero_grad(set_to_none=True)
    whole.backward()
    length = torch.nn.utils.clip_grad_norm_(state.net.parameters(), MOST_STEP)
    if bool(length.isfinite()):  # skip a step with a non-finite gradient
        state.optimiser.step()
        _update_average(state)
    state.step += 1
    return parts | {"whole": whole.detach()}


def _update_average(state: State) -> None:
    """Update the exponential average of the weights."""
    share = min(EMA, (1 + state.step) / (10 + state.step))
    own, their = list(state.ema.state_dict().values()), list(state.net.state_dict().values())
    floats = [(a, b) for a, b in zip(own, their, strict=True) if a.is_floating_point()]
    with torch.no_grad():
        torch._foreach_lerp_([a for a, _ in floats], [b for _, b in floats], 1 - share)


def train(
    folder: Path,
    seconds: float,
    device: torch.device,
    rate: float,
    plan: Plan | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> State:
    """Train for this many more seconds, from the folder's checkpoint if there is one.

    Writes the checkpoint and the curve there.
    """
    plan = plan or Plan.of(device)
    folder.mkdir(parents=True, exist_ok=True)
    state = State.of(folder, device, rate)
    state.net.train()
    pool, generator = Pool(plan.kept), torch.Generator().manual_seed(state.step * 2 + 1)
    begun, before, first_step = clock(), state.seconds, state.step
    output = saved = begun
    at_once, shows = state.made, 0.0
    while (share := (clock() - begun) / max(seconds, 1e-9)) < 1 or state.step == first_step:
        new = state.made - at_once
        if new < plan.first or shows > new * plan.shows:
            try:
                made = make_scenes(TRAINING_SEEDS + state.made, plan.made, device, plan.side)
            except torch.OutOfMemoryError:
                plan = replace(plan, made=max(1, plan.made // 2))
                torch.cuda.empty_cache()
                continue
            pool.put(made)
            state.made += plan.made
        else:
            for group in state.optimiser.param_groups:
                group["lr"] = rate_at(share, state.step - first_step, rate)
            parts = one_step(state, pool, plan, generator, device)
            state.sums = {
                name: value.lerp(state.sums.get(name, value), 0.98) for name, value in parts.items()
            }
            shows += plan.batch
        state.seconds = before + clock() - begun
        if clock() - output > SAY_S and state.sums:
            output = clock()
            _report(folder, state, (output - begun) / 60, (first_step, at_once))
        if clock() - saved > SAVE_S:
            saved = clock()
            state.save(folder)
    if state.sums:
        _report(folder, state, (clock() - begun) / 60, (first_step, at_once))
    state.save(folder)
    return state


def _report(folder: Path, state: State, minutes: float, before: tuple[int, int]) -> None:
    """Add a row to the curve.

    `minutes` are those of this run so far; `before` are the steps and scenes before it.
    """
    row: dict[str, Any] = {"seconds": round(state.seconds, 1), "step": state.step}
    row["scenes"] = state.made
    for name, value, first in (("steps", state.step, before[0]), ("scenes", state.made, before[1])):
        row[f"{name}_a_minute"] = round((value - first) / max(minutes, 1e-3), 1)
    row |= {name: round(float(value), 4) for name, value in state.sums.items()}
    with (folder / CURVE).open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)
