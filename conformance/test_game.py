"""All suites, for `pytest --pyargs conformance`."""

from conformance.computer_player import *  # noqa: F403
from conformance.facts import *  # noqa: F403
from conformance.marks import *  # noqa: F403
from conformance.notation import *  # noqa: F403
from conformance.rules import *  # noqa: F403
from conformance.table import *  # noqa: F403
from conformance.texts import *  # noqa: F403
