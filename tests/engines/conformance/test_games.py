"""The rules of every game, by the suite that packages with games of their own run too."""

from conformance.rules import *  # noqa: F403
