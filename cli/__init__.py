"""The command line, one file a command; it puts all parts together."""
