"""Pixels in, millimetres out: `observe(frame, setup) -> Observation | Unusable`."""
