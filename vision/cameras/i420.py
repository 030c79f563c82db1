"""Raw video of `rpicam-vid --codec yuv420 --metadata -`: I420 frames with metadata between them.

rpicam-vid writes each frame's buffer as the camera's hardware filled it, and after it a JSON object
of what the camera reports for that frame (rpicam-apps: encoder/null_encoder.cpp,
output/output.cpp).  Rows are padded to a multiple of 64 bytes on a Raspberry Pi 4 and of 128 on a
Raspberry Pi 5, chroma rows to half of that, and no option says to how many.  The first object shows
where the first frame ends, and so how long rows are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import cv2
import numpy as np

from table.errors import InputError
from table.messages import msg
from vision.cameras.base import CameraLost
from vision.cameras.frame import Image

ROOM = 1 << 16
"""Largest size of a frame's metadata, in bytes; about 1,200 are usual."""
MOST_PADDING_PX = 256
"""Padding of a row, in px, from which the row belongs to a larger picture."""
FIRST = b'{\n    "'
"""Start of the first object. Later ones have a comma before them."""
HEAD = re.compile(rb'(,\n)?\{\n(?=    ")')
ENTRY = re.compile(r'^    "(\w+)": "?(.*?)"?,?$')
LONGEST_HEAD = len(b',\n{\n    "')

LUMA = 219 / 255, 16.0
CHROMA = 224 / 255, 128 * (1 - 224 / 255)
"""Factor and offset from the full range (as JPEG; libcamera's sYCC), which rpicam-vid writes, to
the narrow range of ITU-R BT.601, which OpenCV expects of I420.
"""


class RawVideo:
    """Frames of a stream, one after the other."""

    def __init__(self, read: Callable[[memoryview], int], width: int, height: int) -> None:
        """`read` waits for bytes, writes some of them into its argument and returns how many.

        It raises CameraLost if no more bytes come.
        """
        self._read, self._width, self._height = read, width, height
        most = (width + MOST_PADDING_PX) * height * 3 // 2 + ROOM
        self._buffer = bytearray(most)
        self._begin, self._end = 0, 0
        self._length = 0
        self._after_object = False
        self._converter = Converter()

    def next(self) -> tuple[Image, Mapping[str, str]]:
        """The next frame, R-G-B, and what the camera reports, by libcamera's names.

        Raises CameraLost if there is none or the stream is out of step, and InputError if frames
        have another size.
        """
        self._move_to_front()
        if not self._length:
            self._length = self._frame_bytes()
        self._fill(self._length + LONGEST_HEAD)
        head = HEAD.match(self._buffer, self._length)
        if head is None:
            raise CameraLost(msg("its pictures are misaligned"))
        reported, self._begin = self._object(head.end())
        self._after_object = True
        planes = np.frombuffer(self._buffer, np.uint8, self._length)
        rows = planes.reshape(self._height * 3 // 2, -1)
        return self._converter.rgb(rows, self._width), reported

    def _move_to_front(self) -> None:
        """Move bytes of the next frame that were already read to the front of the buffer.

        The brace that ends an object comes with the next frame: rpicam-vid does not flush it.
        """
        if self._after_object:
            self._fill(self._begin + 1)
            if self._buffer[self._begin] != ord("}"):
                raise CameraLost(msg("its pictures are misaligned"))
            self._begin += 1
        rest = self._end - self._begin
        self._buffer[:rest] = self._buffer[self._begin : self._end]
        self._begin, self._end = 0, rest

    def _frame_bytes(self) -> int:
        """Bytes of a frame: the position of the first object."""
        searched = 0
        while (at := self._buffer.find(FIRST, searched, self._end)) < 0:
            searched = max(0, self._end - len(FIRST) + 1)
            if self._end == len(self._buffer):
                raise self._other_size(self._end)
            self._more()
        stride, rest = divmod(2 * at, 3 * self._height)
        if rest or stride % 2 or not self._width <= stride < self._width + MOST_PADDING_PX:
            raise self._other_size(at)
        return at

    def _other_size(self, count: int) -> InputError:
        return InputError(
            msg(
                "expected pictures of {width} x {height} px, got {n} bytes a picture; choose a size"
                " that the camera has",
                width=self._width,
                height=self._height,
                n=count,
            )
        )

    def _object(self, at: int) -> tuple[dict[str, str], int]:
        """The entries of an object, and where the brace after them is.

        Not by a JSON parser: rpicam-vid writes some values as JSON does not.
        """
        reported, begin = {}, at
        while True:
            while (line_end := self._buffer.find(b"\n", at, self._end)) < 0:
                if self._end - begin > ROOM // 2:
                    raise CameraLost(msg("its pictures are misaligned"))
                self._more()
            line = self._buffer[at:line_end].decode(errors="replace")
            if entry := ENTRY.match(line):
                reported[entry[1]] = entry[2]
            at = line_end + 1
            if not line.endswith(","):
                return reported, at

    def _fill(self, count: int) -> None:
        while self._end < count:
            self._more()

    def _more(self) -> None:
        with memoryview(self._buffer) as whole, whole[self._end :] as free:
            self._end += self._read(free)


class Converter:
    """Convert I420 to images. The buffer is reused: fresh memory costs more than the conversion."""

    def __init__(self) -> None:
        self._padded = np.empty((0, 0, 3), np.uint8)

    def rgb(self, rows: Image, width: int) -> Image:
        """The image (h, width, 3) of full-range I420, (3 h / 2, stride), whose rows may be padded.

        Overwrites `rows`.  Values are at most 3 levels off: OpenCV converts the narrow range only.
        """
        height, stride = len(rows) * 2 // 3, rows.shape[1]
        for part, (factor, offset) in ((rows[:height], LUMA), (rows[height:], CHROMA)):
            cv2.convertScaleAbs(part, part, factor, offset)
        if stride == width:
            return np.asarray(cv2.cvtColor(rows, cv2.COLOR_YUV2RGB_I420), np.uint8)
        if self._padded.shape[:2] != (height, stride):
            self._padded = np.empty((height, stride, 3), np.uint8)
        cv2.cvtColor(rows, cv2.COLOR_YUV2RGB_I420, dst=self._padded)
        return np.ascontiguousarray(self._padded[:, :width])
