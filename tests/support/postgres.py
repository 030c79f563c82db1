"""A real PostgreSQL for tests, which skip without one."""

from __future__ import annotations

import pytest

from tools.postgres import NoPostgres, Postgres


def started() -> Postgres:
    """A server that is to be entered; skips, with the reason, where there is none."""
    try:
        return Postgres()
    except NoPostgres as missing:
        pytest.skip(str(missing))
