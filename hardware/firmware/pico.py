"""A Raspberry Pi Pico as lamps, dice, buttons and buzzer for Rinkside.

MicroPython: save it on the board as main.py.  Lines of JSON over USB; docs/HARDWARE.md describes
them, and has the pins in a table.  Lamps are common-cathode RGB LEDs, 330 ohm in the red lead and
100 ohm in the others; dice are seven LEDs each, 470 ohm in each lead; buttons go to ground; the
buzzer is an active one.
"""

# ruff: noqa: B905 - MicroPython's zip has no `strict`
import json
import select
import sys
import time

from machine import PWM, Pin

LAMPS = (
    (2, 3, 4),
    (5, 6, 7),
    (8, 9, 10),
)  # red, green, blue of every player in turn order, the verdict last
DICE = (
    (11, 12, 13, 14, 15, 16, 17),
)  # top left, middle left, bottom left, centre, top right, middle right, bottom right
BUTTONS = {"die": 18, "rule": 19, "appeal": 20, "next": 21}
BUZZER = 22
PIPS = ("0000000", "0001000", "1000001", "1001001", "1010101", "1011101", "1110111")
LONGEST = 1000  # bytes of a line; what is longer is cut off, and does nothing
LONGEST_MS = 10000  # of a sound or a silence


class Board:
    """All that is connected to the board."""

    def __init__(self, say):
        self.say = say
        self.lamps = [[PWM(Pin(pin)) for pin in lamp] for lamp in LAMPS]
        for lamp in self.lamps:
            for pin in lamp:
                pin.freq(1000)
        self.dice = [[Pin(pin, Pin.OUT) for pin in die] for die in DICE]
        self.buttons = {name: Pin(pin, Pin.IN, Pin.PULL_UP) for name, pin in BUTTONS.items()}
        self.down = dict.fromkeys(self.buttons, False)
        self.buzzer = Pin(BUZZER, Pin.OUT)
        self.beeps = []
        self.beep_ends = None  # when the sound or silence of now is over; None: nothing beeps
        self.hello()

    def hello(self):
        """Say what is here; whoever listens then sends all that is to be shown."""
        known = {
            "lamps": len(self.lamps),
            "dice": len(self.dice),
            "buttons": sorted(self.buttons),
            "buzzer": True,
        }
        self.tell(dict(known, hello="rinkside-board/1"))

    def tell(self, document):
        self.say(json.dumps(document) + "\n")

    def hear(self, line):
        """Obey a line of bytes; one that is broken, or not understood, does nothing."""
        try:
            message = json.loads(line.decode())
            if "hello" in message:
                self.hello()
            for lamp, rgb in zip(self.lamps, message.get("lamps", ())):
                for pin, part in zip(lamp, rgb):
                    pin.duty_u16(part * 257)
            for die, face in zip(self.dice, message.get("dice", ())):
                for pin, lit in zip(die, PIPS[face]):
                    pin.value(int(lit))
            if "beeps" in message:
                self.beeps, self.beep_ends = (
                    [(int(on), min(int(hold_ms), LONGEST_MS)) for on, hold_ms in message["beeps"]],
                    time.ticks_ms(),
                )
        except (ValueError, TypeError, AttributeError, IndexError, OverflowError):
            pass

    def step(self):
        """Tell of buttons that changed, and beep.  The clock wraps: only use its differences."""
        for name, pin in self.buttons.items():
            down = pin.value() == 0
            if down != self.down[name]:
                self.down[name] = down
                self.tell({"button": name, "down": down})
        if self.beep_ends is not None and time.ticks_diff(time.ticks_ms(), self.beep_ends) >= 0:
            on, hold_ms = self.beeps.pop(0) if self.beeps else (0, None)
            self.buzzer.value(on)
            self.beep_ends = None if hold_ms is None else time.ticks_add(self.beep_ends, hold_ms)


def main():
    """Serve for ever."""
    board = Board(sys.stdout.write)
    waiting = select.poll()
    waiting.register(sys.stdin, select.POLLIN)
    line = b""
    while True:
        while waiting.poll(1):
            letter = sys.stdin.buffer.read(1)
            if letter == b"\n":
                board.hear(line)
                line = b""
            elif len(line) < LONGEST:
                line += letter
        board.step()


if __name__ == "__main__":
    main()
