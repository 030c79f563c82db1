"""Back up log, table, lens, codes and settings to one file, and restore them."""
