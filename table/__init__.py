"""Shared value types: pieces, solids, boards, observations and the table configuration.

No pixels, no rules, no I/O but load and save. Table frame: mm, x right, y away from the players, z
up, z = 0 where pieces stand. Headings: degrees counter-clockwise from +x.
"""
