"""`python -m training.eyes FOLDER`: train the network, export it to ONNX and evaluate it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import click

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # before PyTorch

import torch

from training.eyes.evaluate import evaluate_groups, validation
from training.eyes.trainer import Plan, State, train

RATE = 2e-3
LEFT_S = {"cuda": 35.0, "cpu": 60.0}
"""Time reserved for the evaluation and the export."""
NETWORK, FIGURES = "eyes.onnx", "evaluation.json"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--minutes",
    default=9.0,
    show_default=True,
    help="How long all of it may take; 0: evaluate and write what is there.",
)
@click.option("--device", default="cuda" if torch.cuda.is_available() else "cpu", show_default=True)
@click.option("--rate", default=RATE, show_default=True, help="How fast it learns at most.")
@click.option("--threads", default=0, help="Processor threads; 0 leaves it to PyTorch.")
@click.option(
    "--validation", "validated", default=0, help="Scenes to evaluate on; 0: 256 on a card, 64 else."
)
@click.option(
    "--shows", default=0.0, help="How often each scene is shown; 0 leaves it to the device."
)
def main(
    folder: Path,
    minutes: float,
    device: str,
    rate: float,
    threads: int,
    validated: int,
    shows: float,
) -> None:
    """Train the network for some minutes on scenes that are made on the device.

    Training goes on from the checkpoint in FOLDER if there is one. The checkpoint, the curve, the
    network as ONNX and its evaluation are written there.
    """
    begun = time.monotonic()
    where = torch.device(device)
    if threads:
        torch.set_num_threads(threads)
    if where.type == "cuda":
        torch.backends.cudnn.benchmark = True
    groups = validation(folder, validated or (256 if where.type == "cuda" else 64), where)
    plan = Plan.of(where)
    if shows:
        plan = Plan(plan.made, plan.batch, plan.kept, shows, plan.first, plan.side)
    left = 60 * minutes - (time.monotonic() - begun) - LEFT_S[where.type]
    if minutes > 0:
        state = train(folder, max(1.0, left), where, rate, plan)
    else:
        state = State.of(folder, where, rate)
    figures = {
        "step": state.step,
        "scenes": state.made,
        "seconds": round(state.seconds, 1),
        "device": str(where),
    }
    figures |= evaluate_groups(state.ema, groups, where)
    (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures["all"], indent=1), flush=True)
    try:
        from training.eyes.export import export
    except ImportError as missing:  # may be missing on a rented card; only the checkpoint is needed
        print(f"not written as ONNX, as {missing.name} is not installed")
    else:
        export(state.ema, folder / NETWORK)


if __name__ == "__main__":
    main()
