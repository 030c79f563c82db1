"""Where pictures come from, one file a kind of source."""
