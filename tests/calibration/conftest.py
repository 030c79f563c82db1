"""The photographs that calibration is tested by."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def photographs():
    """tests/calibration/photographs.py."""
    spec = importlib.util.spec_from_file_location("photographs", Path(__file__).with_name("photographs.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
