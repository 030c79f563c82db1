"""A real PostgreSQL for tests, which skip without one."""

from __future__ import annotations

import pytest

from tools.postgres import NoPostgres, Postgres


def started() -> Postgres:
    """A server as a context manager; skips, with the reason, if there is none."""
    try:
        return Postgres()
    except NoPostgres as missing:
        pytest.skip(str(missing))
