"""Lamps, buttons, callipers, voices and microcontrollers, one file a kind."""
