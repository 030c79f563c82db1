"""The network that sees all that lies on the table: its scenes, training and evaluation."""
