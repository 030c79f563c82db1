"""Lamps, dice, buttons, buzzer and callipers behind small ports: a table that answers without a
screen.
"""
