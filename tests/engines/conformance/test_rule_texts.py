"""The texts of every game, by the suite that packages with games of their own run too."""

from conformance.texts import *  # noqa: F403
from engines.rule_texts import explain


def test_several_rulings_are_told_one_by_one():
    assert [
        name for name, _ in explain("ice_storm", "Attack; rulings ice_storm.3 to ice_storm.5")
    ] == ["Attack", "ruling ice_storm.3", "ruling ice_storm.4", "ruling ice_storm.5"]
    assert len(explain("ice_boule", "rulings ice_boule.3 and ice_boule.7")) == 2
    assert explain("ice_boule", "") == ()


def test_what_nobody_has_words_for_is_named_without_any():
    assert explain("ice_boule", "Playing; Goal")[0] == ("Playing", "")
    assert explain("pegs", "Pegs") == (("Pegs", ""),)
