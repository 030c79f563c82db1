"""Conformance tests for any installed game: a pytest plugin.

`pytest --pyargs conformance --rinkside-game NAME` tests one game; see docs/CONFORMANCE.md.
"""

VERSION = 1
"""Version of the suites; incremented when they require more."""
