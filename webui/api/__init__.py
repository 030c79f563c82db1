"""The HTTP API and the stream of events."""
