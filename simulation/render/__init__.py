"""Pictures of made-up tables, ray by ray."""
