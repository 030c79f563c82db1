"""How the networks are taught: `python -m vision.training FOLDER`.  Needs PyTorch, and `traced*` Mitsuba; nothing else does."""
