"""The command line, one file per command; the composition root of the program."""
