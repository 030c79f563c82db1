"""All pieces of a table together: colours, nesting, and what the game has."""
