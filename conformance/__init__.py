"""What every game must do, as tests that run on any installed game: a plugin of pytest.

`pytest --pyargs conformance --rinkside-game NAME` tests one game; see docs/CONFORMANCE.md.
"""

VERSION = 1
"""Version of the suites; one that asks for more than the last has another number."""
