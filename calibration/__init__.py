"""What vision needs: the lens, the table, the colours; and how good they are."""
