"""Hypothesis for the whole house: the same examples every time, and no deadlines, as a slow machine
is no mistake.

`pytest --hypothesis-profile=explore` looks for new examples, many more of them.
"""

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("house")
