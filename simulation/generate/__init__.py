"""Made-up tables: what lies where."""
