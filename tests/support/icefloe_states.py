"""States of IceFloe in words."""

from __future__ import annotations

RULINGS = "rulings done=stands stay=may corners=may breach=to_come muted_coins=may"


BOARD = "a1=A4+AS a2=A2+BS a3=Mn+AC b1=A5+AM+CM b2=A3+AA c2=Ma+FA"


def line(phase="move", mover="red", board=BOARD, tile="-", value="-", votes="- - - -", extra=1):
    return (
        f"players red yellow black blue; round {extra}; phase {phase}; mover {mover}; scores 0 0 0"
        f" 0; coins a2 a2 a2 a2; muted -; value {value}; votes {votes}; laid 0 0 0 0; done -; tile"
        f" {tile}; sunk -; winners -; board {board}; {RULINGS}."
    )
