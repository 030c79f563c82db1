"""Contract tests of buttons.

The fixture `buttons` gives newly opened buttons, and a function `contact(down)` that presses and
releases the one called `die`; None if that is not possible.
"""

import queue


def test_buttons_tell_of_presses_and_of_nothing_else(buttons):
    buttons, contact = buttons
    heard = queue.Queue()
    buttons.listen(heard.put)
    assert buttons.error == ""
    if contact:
        contact(True)
        down = heard.get(timeout=20)
        contact(False)
        after = heard.get(timeout=20)
        assert (down.button, down.kind, after.button, after.at_ms) == (
            "die",
            "down",
            "die",
            down.at_ms,
        )
        assert after.kind in ("short", "long"), "a machine that stands still makes a press long"
    buttons.close()
    assert heard.empty()
