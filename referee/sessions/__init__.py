"""Sessions: events, the store they are kept in, the state they add up to, and the commands."""
