"""The pages of the panel, one file a page."""
