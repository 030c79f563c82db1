"""Types of plain data, as in JSON and TOML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, object] | None"
)
"""A value that JSON can say, to be written. What a mapping has is not checked: typed dictionaries
are mappings to objects.
"""

JsonObject: TypeAlias = dict[str, Any]
"""An object of JSON or TOML whose keys are not typed.

Data in a log are one: they are kept and read as they are, whatever version of the program or of a
game wrote them. Decoding them as a current type would drop unknown keys or fail. Code that reads a
key has to allow for its absence. Unchecked data of a file are one too, as are documents made for
people and other programs.
"""

Evidence: TypeAlias = Mapping[str, JsonValue]
"""What a verdict rests on, by name: lengths in mm, sigma is one standard deviation. Keys differ
between verdicts. In the log it is a `JsonObject`.
"""
