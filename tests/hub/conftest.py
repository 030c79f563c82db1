"""A hub's database of both kinds, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.store import Store
from tests.support.hubs import Club
from tests.support.postgres import started
from tools.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with started() as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'hub.sqlite'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, sqlite_url: str) -> str:
    """Of each kind; modules for which the kind does not matter have one of their own."""
    if request.param == "sqlite":
        return sqlite_url
    return request.getfixturevalue("postgres").new_url()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    made = Store(url)
    made.upgrade()
    yield made
    made.close()


@pytest.fixture
def club(store: Store) -> Club:
    return Club(store)
