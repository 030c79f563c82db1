"""Buttons: what every kind of them must do.

The fixture `buttons` gives buttons that were just opened, and a function `contact(down)` that
presses the one called `die`, and lets it go; None where nobody does that.
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
