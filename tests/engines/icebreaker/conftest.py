"""Tables of Icebreaker, for all its tests."""

import pytest

from engines import icebreaker as game
from tests.support.icebreaker import tables
from tests.support.sentences import saying_all_by_templates

__all__ = ["tables"]


@pytest.fixture(autouse=True)
def every_sentence_has_a_template(monkeypatch):
    """Whatever is judged or heard in a test."""
    saying_all_by_templates(game, monkeypatch)
