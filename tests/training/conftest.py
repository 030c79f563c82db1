"""Training's tests share the processor with all others."""

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
