"""Contract tests of cameras. The fixture `camera` gives a newly opened one."""

from itertools import islice

import numpy as np
import pytest

FRAMES = 3
"""Number of frames to check; a recording may have fewer."""


def test_a_camera_gives_pictures_in_order(camera):
    frames = list(islice(iter(camera.read, None), FRAMES))
    assert frames
    assert [frame.seq for frame in frames] == [*range(len(frames))]
    assert [frame.at_ms for frame in frames] == sorted(frame.at_ms for frame in frames)
    for frame in frames:
        assert frame.image.dtype == np.uint8
        assert frame.image.ndim == 3
        assert frame.image.shape[2] == 3
        assert frame.image.shape == frames[0].image.shape


def test_a_camera_has_a_name_and_says_whether_it_is_simulated(camera):
    assert camera.name.strip()
    assert camera.simulated in (True, False)


def test_a_camera_is_closed_twice_and_read_no_more(camera):
    camera.close()
    camera.close()
    with pytest.raises(ValueError, match="closed"):
        camera.read()
