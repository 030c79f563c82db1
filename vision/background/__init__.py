"""The empty table as reference: changes, shadows and leftovers."""
