"""Camera sources, one module per kind."""
