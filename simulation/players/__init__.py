"""Players, one file a game, and their hands."""
