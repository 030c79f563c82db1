"""Run the small networks that come with Rinkside with ONNX Runtime; for training see `training`."""

from __future__ import annotations

import logging
import os
from functools import cache
from importlib import import_module, resources
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

Pictures = NDArray[np.float32]
"""(n, c, h, w) in 0..1."""
AT_ONCE = 8
"""Batch size. Larger batches need more memory and are no faster."""


def run_network(name: str, seen: Pictures) -> NDArray[np.float32]:
    """Run one of the networks on images (n, c, h, w).

    Its input and output are documented where it is used.
    """
    network = _network(name)
    answers = [
        network.run(None, {"image": seen[k : k + AT_ONCE]})[0] for k in range(0, len(seen), AT_ONCE)
    ]
    return np.concatenate(answers)


def as_pictures(images: NDArray[np.uint8]) -> Pictures:
    """Images (n, h, w, c) as network input."""
    return np.divide(images.transpose(0, 3, 1, 2), 255, dtype=np.float32, order="C")


@cache
def _network(name: str) -> Any:
    weights = resources.files("vision").joinpath(f"data/{name}.onnx").read_bytes()
    logger.debug("loading the network %s, %d bytes", name, len(weights))
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = cv2.getNumThreads()
    # Threads that spin while they wait take as much of a Pi's processor as working ones.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena would keep the peak memory of all pictures.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    return runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


@cache
def _runtime() -> Any:
    """Import ONNX Runtime with its stderr hidden.

    It warns of every unknown graphics card, such as a Raspberry Pi's, and no setting prevents that.
    """
    shown = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        return import_module("onnxruntime")
    finally:
        os.dup2(shown, 2)
        os.close(shown)
