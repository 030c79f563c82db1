"""How the networks are taught: `python -m training FOLDER`.  Needs PyTorch, and `traced*` Mitsuba;
nothing else does.
"""
