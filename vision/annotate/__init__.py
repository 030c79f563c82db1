"""Pictures for people: photographs with what was read drawn on them."""
