"""How the finder of `vision.finder` is taught: `python -m vision.training FOLDER`.  Needs PyTorch; nothing else here does."""
