"""Photographs of a folder, decoded on access, so that only one is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from table.table_config import Orientation
from vision.cameras.frame import Image
from vision.cameras.image_files import read_pixels


class Photographs(Mapping[str, Image]):
    """Photographs by name, R-G-B (h, w, 3), in the order given.

    Each is read anew on every access, and raises InputError as `read_pixels` does.
    """

    def __init__(self, paths: Sequence[Path], orientation: Orientation = "sensor") -> None:
        self._orientation: Orientation = orientation
        self._paths = {path.name: path for path in paths}

    def __getitem__(self, name: str) -> Image:
        return read_pixels(self._paths[name], self._orientation)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class ImageSubset(Sequence[Image]):
    """Some images of a mapping, in the order of `names`, fetched on access."""

    def __init__(self, frames: Mapping[str, Image], names: Sequence[str]) -> None:
        self._frames, self._names = frames, tuple(names)

    @overload
    def __getitem__(self, index: int) -> Image: ...
    @overload
    def __getitem__(self, index: slice) -> ImageSubset: ...
    def __getitem__(self, index: int | slice) -> Image | ImageSubset:
        if isinstance(index, slice):
            return ImageSubset(self._frames, self._names[index])
        return self._frames[self._names[index]]

    def __len__(self) -> int:
        return len(self._names)
