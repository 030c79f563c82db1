"""Types of plain data: what JSON and TOML can say, written by us or read from somewhere."""

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
"""An object of JSON or TOML whose keys no type says.

What a log keeps is one: whatever version of the program or of a game wrote it, it is kept and read
as it is. It is never decoded as a type of today's, which would drop the keys that the type does not
have, or refuse them; who reads a key of it allows for its absence. So is what was read from a file
and is not checked yet, and a document that is made in one place for people and other programs.
"""

Evidence: TypeAlias = Mapping[str, JsonValue]
"""What a verdict rests on, by name: lengths in mm, sigma is one standard deviation. Its keys differ
from verdict to verdict. What the log has of it is a `JsonObject`.
"""
