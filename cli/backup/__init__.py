"""One file with everything: the log, table, lens, codes and settings; and back from it."""
