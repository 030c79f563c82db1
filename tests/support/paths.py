"""Where the checkout is, and what may lie beside it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
"""Printed rules, facts and pictures with known truth; tests that need them are skipped without."""
