"""What does not come through the lens, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from table.errors import InputError
from table.files import convert, shown

T = TypeVar("T", bound=msgspec.Struct)


def read_heard(said: Mapping[str, Any], *forms: type[T]) -> T:
    """What was said as the form that has its keys; raises InputError where none has, or a value is
    not what it should be.
    """
    for form in forms:
        if set(form.__struct_fields__) == set(said):
            return convert(dict(said), form, "input")
    known = " or ".join(", ".join(form.__struct_fields__) for form in forms)
    raise InputError(f"input: expected the keys {known}, got {shown(dict(said))}")
