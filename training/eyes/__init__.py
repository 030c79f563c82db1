"""A network that detects all objects on the table: its scenes, training and evaluation."""
