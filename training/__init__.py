"""Training of the networks: `python -m training FOLDER`.

Needs PyTorch, and `traced*` needs Mitsuba; nothing else in the project does.
"""
