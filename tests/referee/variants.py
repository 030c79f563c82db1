"""Games that are like another one but for what they say otherwise."""

from __future__ import annotations


class Variant:
    """The game itself; who inherits from it changes what it says."""

    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        return getattr(self.game, name)
