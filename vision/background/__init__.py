"""The empty table: its reference picture, shadows and what is left over."""
