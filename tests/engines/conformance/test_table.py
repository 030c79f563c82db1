"""Every game at the table, by the suite that packages with games of their own run too."""

from conformance.table import *  # noqa: F403
