"""Images for people: photographs annotated with what was read."""
