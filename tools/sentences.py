"""Extract translatable texts outside of templates, for `make words`.

Babel calls these functions (see [tool.babel] in pyproject.toml).
"""

from conformance.sentences import CONTEXT, clauses, code, words

__all__ = ["CONTEXT", "clauses", "code", "words"]
