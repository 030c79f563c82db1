"""Contract tests of dice. The fixture `dice` gives newly opened ones."""

import pytest


def test_dice_show_values_of_a_die_and_nothing_else(dice):
    assert 1 <= dice.count <= 2
    for value in (*range(1, 7), None):
        dice.show((value,) * dice.count)
    for wrong in ((0,) * dice.count, (7,) * dice.count, (1,) * (dice.count + 1), ()):
        with pytest.raises(ValueError, match="expected"):
            dice.show(wrong)
    assert dice.error == ""
    dice.show((6,) * dice.count)
    dice.close()
