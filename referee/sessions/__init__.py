"""A session: its events, the store they are kept in, the state they add up to, and the commands
that make them.
"""
