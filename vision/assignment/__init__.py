"""Joint interpretation of all pieces: colours, nesting, and the game's inventory."""
