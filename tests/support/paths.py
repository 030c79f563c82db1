"""Paths of the checkout, and of optional files beside it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
"""Printed rules, facts and pictures with ground truth; tests that need them are skipped without."""
