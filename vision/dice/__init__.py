"""Reading of dice."""
