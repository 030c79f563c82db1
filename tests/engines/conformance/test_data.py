"""The data of every game's tests, by the suite that packages with games of their own run too."""

from conformance.notation import *  # noqa: F403
