"""A game that is set up on a page: it begins once, and the page is given time to say so."""

import threading

import pytest

from referee.live.game_setup import LOOKS, Choice, SettingUp
from referee.sessions.events import SessionStarted
from table.errors import InputError

CHOICE = Choice("icebreaker", ("red", "black"))
PATIENCE_S, SHOWN_S, SOON_S = 20, 60.0, 0.2


@pytest.fixture
def setting():
    return SettingUp(lambda choice: SessionStarted(game=choice.game, players=choice.players))


def test_the_page_that_waits_is_shown_that_the_game_has_begun_before_it_goes(setting):
    begun = threading.Event()
    waits = threading.Thread(target=lambda: (setting.wait(SHOWN_S), begun.set()))
    for _ in range(2 * LOOKS):
        assert not setting.look(), "looks before the beginning do not count"
    waits.start()
    setting.begin(CHOICE)
    assert not begun.wait(SOON_S)
    for _ in range(LOOKS):
        assert setting.look()
    waits.join(PATIENCE_S)
    assert begun.is_set()


def test_a_game_begins_once(setting):
    setting.begin(CHOICE)
    with pytest.raises(InputError, match="already been started"):
        setting.begin(CHOICE)


def test_a_choice_that_cannot_be_played_begins_nothing(setting):
    with pytest.raises(InputError):
        setting.begin(Choice("icebreaker", ("red",)))
    assert not setting.look()
