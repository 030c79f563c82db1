"""JPEGs one after the other in a pipe."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.pictures import jpeg
from vision.cameras.jpeg import JpegStream


@given(
    pieces=st.lists(st.integers(1, 700), min_size=1, max_size=40),
    junk=st.binary(max_size=40),
    cut=st.integers(1, 600),
)
def test_pictures_come_whole_out_of_any_stream(pieces, junk, cut):
    """Cut anywhere, with what is no picture and half a picture between them."""
    whole = jpeg()
    junk = junk.replace(b"\xff", b"")
    data, stream, out = junk + whole + whole[:-cut] + whole + junk + whole, JpegStream(), []
    at = 0
    for length in pieces * (len(data) // sum(pieces) + 1):
        stream.feed(data[at : at + length])
        at += length
        while (found := stream.next()) is not None:
            out.append(found)
    assert out == [whole] * 3
