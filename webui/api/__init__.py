"""The HTTP API and the event stream."""
