"""Computer players of every game that has one, by the suite that packages run too."""

from conformance.computer_player import *  # noqa: F403
