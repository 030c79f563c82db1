"""Lamps, dice, buttons, buzzer and callipers behind small interfaces.

A table answers without a screen.
"""
