"""A person at the virtual table of `rinkside demo`, with a mouse in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import playwright.sync_api

from engines import GAMES
from simulation.tables import demo_table, lessons_table
from table.cells import cell_middle_mm

PROGRAM = [sys.executable, "-c", "from cli.main import run; run()"]
WAIT_MS = 120_000
"""Timeout, generous for a slow machine."""
TRIES = 3
"""Number of attempts to grip a piece that others move."""
SAME_PX = 20
"""Distance below which a piece counts as in place."""
GRIP_MS = 2_000
"""Longest wait for a gripped piece to follow."""
PIECES = """() => [...document.querySelectorAll('#lying [data-name], #reserve [data-name]')].map(
  ({dataset}) => ({name: dataset.name, may: dataset.may?.split(' '), lies: !('reserve' in dataset),
                   x: Number(dataset.x), y: -Number(dataset.y)}))"""
IN_WINDOW = """([x, y]) => {
  const svg = document.getElementById('virtual');
  svg.scrollIntoView({block: 'center', behavior: 'instant'});
  const at = new DOMPoint(x, -y).matrixTransform(svg.getScreenCTM());
  return [at.x, at.y];
}"""
VISIBLE = """(name) => {
  const piece = document.querySelector(`#lying [data-name="${CSS.escape(name)}"]`);
  if (!piece) return null;
  document.getElementById('virtual').scrollIntoView({block: 'center', behavior: 'instant'});
  const box = piece.getBoundingClientRect(), points = [];
  for (let i = 1; i < 20; i++) for (let k = 1; k < 20; k++) points.push([i / 20, k / 20]);
  points.sort(([a, b], [c, d]) => Math.hypot(a - .5, b - .5) - Math.hypot(c - .5, d - .5));
  for (const [i, k] of points) {
    const [x, y] = [box.x + i * box.width, box.y + k * box.height];
    if (document.elementFromPoint(x, y)?.closest('[data-name]') === piece) return [x, y];
  }
  return null;
}"""
"""Where a piece is seen, and not what lies over it; as near to its middle as can be."""
COMMAND = """(body) => fetch('/api/v1/command', {
  method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}
}).then((answer) => answer.text())"""


class VirtualHand:
    """Plays the game of a seed by dragging and tapping, and reads what the panel says.

    Without a seed it is at the table of the game's lessons.
    """

    def __init__(self, page: playwright.sync_api.Page, game: str, seed: int | None) -> None:
        table = lessons_table(game) if seed is None else demo_table(game, seed)
        self.page, self.setup = page, table.setup
        page.set_default_timeout(WAIT_MS)

    # ---- what is there

    def view(self) -> dict[str, Any]:
        """The state of the session, as programs read it."""
        return self.page.evaluate("() => fetch('/api/v1/state').then((answer) => answer.json())")

    def state(self) -> Any:
        """The engine's state, as far as it is public."""
        view = self.view()
        return GAMES[view["game"]].State.parse(view["state"]["state"])

    def lesson_state(self) -> str:
        """State of the lesson on the page: `laying`, `open`, `other` or `done`."""
        names = self.page.locator("#lesson").get_attribute("class") or ""
        return names.partition("is-")[2]

    def pieces(self, lies: bool = True) -> dict[str, dict[str, Any]]:
        """What lies on the table by name, or what is beside it."""
        return {one["name"]: one for one in self.page.evaluate(PIECES) if one["lies"] == lies}

    def until_seen(
        self, true: Callable[[dict[str, dict[str, Any]]], Any]
    ) -> dict[str, dict[str, Any]]:
        """What lies on the table once this is true of it; fails if it never is."""
        for _ in range(WAIT_MS // 200):
            if true(pieces := self.pieces()):
                return pieces
            self.page.wait_for_timeout(200)
        raise AssertionError(f"the table never came so; now {pieces}")

    def spare(self, colour: str) -> str | None:
        """A piece of a colour that is not on the table."""
        beside = (name for name in self.pieces(lies=False) if name.startswith(f"{colour} "))
        return next(beside, None)

    def cell(self, name: str) -> tuple[float, float]:
        """The middle of a cell, mm."""
        middle = cell_middle_mm(self.setup.board, name)
        assert middle is not None, name
        return middle

    def until(self, true: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The view once this is true of it; fails if it never is."""
        for _ in range(WAIT_MS // 200):
            if true(view := self.view()):
                return view
            self.page.wait_for_timeout(200)
        last = view["verdicts"][0]["said"] if view["verdicts"] else ""
        state = view["state"]["state"]
        raise AssertionError(f"it never came so; now {view['phase']}, {state}; {last}")

    def idle(self) -> bool:
        """True if no simulated player is at the table."""
        return self.page.locator("#virtual-controls.is-busy").count() == 0

    def until_idle(self) -> None:
        """Wait until no simulated player is at the table; fails if one never goes."""
        for _ in range(WAIT_MS // 200):
            if self.idle():
                return
            self.page.wait_for_timeout(200)
        raise AssertionError("a simulated player never leaves the table")

    def refusal(self) -> str:
        """The page's message on a refused act; empty for none."""
        said = self.page.locator("#virtual-said:not([hidden])")
        return (said.text_content() or "") if said.count() else ""

    # ---- what is done

    def screen(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """A place of the table in the window."""
        point = self.page.evaluate(IN_WINDOW, [x_mm, y_mm])
        return point[0], point[1]

    def _grip(self, name: str) -> tuple[float, float]:
        """Where a piece on the table or beside it is taken, in the window."""
        if point := self.page.evaluate(VISIBLE, name):
            return point[0], point[1]
        if piece := self.pieces().get(name):
            return self.screen(piece["x"], piece["y"])
        box = self.page.locator(f'#reserve [data-name="{name}"]').bounding_box()
        assert box is not None, name
        return box["x"] + 18, box["y"] + box["height"] / 2

    def _middle(self, name: str, grip: tuple[float, float]) -> tuple[float, float]:
        """Where the middle of a piece is in the window; one beside the table hangs at the grip."""
        piece = self.pieces().get(name)
        return self.screen(piece["x"], piece["y"]) if piece else grip

    def drag(self, name: str, x_mm: float, y_mm: float, notches: int = 0) -> bool:
        """Drag a piece to a place, and turn it by notches of the wheel on the way.

        False where it lies there already: what was undone has not been laid back yet. It is dragged
        again where a simulated player was at the table.
        """
        for _ in range(TRIES):
            dropped = self._drag(name, x_mm, y_mm, notches)
            if dropped is not None:
                return dropped
            self.until_idle()
        raise AssertionError(f"{name} cannot be put there: {self.refusal()}")

    def _drag(self, name: str, x_mm: float, y_mm: float, notches: int) -> bool | None:
        """As `drag`, once; None where the table refuses it."""
        self.leave()
        there, mouse = self.screen(x_mm, y_mm), self.page.mouse
        for _ in range(TRIES):
            start = self._grip(name)
            way = np.subtract(there, self._middle(name, start))
            if name in self.pieces() and np.hypot(*way) < SAME_PX:
                return False
            mouse.move(*start)
            mouse.down()
            mouse.move(*np.add(start, way / 2), steps=4)
            with suppress(playwright.sync_api.TimeoutError):
                self.page.wait_for_selector(".virtual.is-dragging", timeout=GRIP_MS)
                break
            mouse.up()  # it was moved meanwhile
            self.leave()
        for _ in range(abs(notches)):
            mouse.wheel(0, -100 if notches > 0 else 100)
        mouse.move(*np.add(start, way), steps=4)
        with self.page.expect_response(
            lambda answer: (
                answer.url.endswith("/virtual")
                and re.search(r'"do":"(drop|take)"', answer.request.post_data or "") is not None
            )
        ) as answered:
            mouse.up()
        self.looked()
        return True if answered.value.ok else None

    def tap(self, name: str, do: str, times: int = 1, turn: str = "") -> None:
        """Tap a piece, and then a button of its menu.

        Nothing is done with a piece that a simulated player took away meanwhile. Fails where the
        table refuses it again and again.
        """
        turned = f'[data-turn="{turn}"]' if turn else ""
        for _ in range(times):
            for _ in range(TRIES):
                self._choose(name)
                if self._pressed(f'#piece-menu [data-do="{do}"]{turned}'):
                    break
                self.until_idle()
                if name not in self.pieces():
                    return
            else:
                raise AssertionError(f"{do} {name} is refused: {self.refusal()}")

    def _choose(self, name: str) -> None:
        """Open the menu of a piece."""
        chosen = self.page.locator(f'#lying .is-chosen[data-name="{name}"]')
        for _ in range(TRIES):
            if chosen.count():
                break
            self.leave()
            self.page.mouse.click(*self._grip(name))
            with suppress(playwright.sync_api.TimeoutError):
                chosen.wait_for(state="attached", timeout=GRIP_MS)
        assert chosen.count(), f"{name} cannot be reached"

    def clear(self) -> None:
        """Gather all pieces."""
        self.press("#clear")
        self.until_seen(lambda pieces: not pieces)

    def leave(self) -> None:
        """Close the menu of a piece: its handle may lie over another one."""
        chosen = self.page.locator("#lying .is-chosen")
        if chosen.count():
            chosen.press("Enter")

    def press(self, selector: str) -> None:
        """Press a button of the page, and wait until the server has heard.

        It is pressed again where a simulated player was at the table.
        """
        for _ in range(TRIES):
            if self._pressed(selector):
                return
            self.until_idle()
        raise AssertionError(f"{selector} is refused: {self.refusal()}")

    def _pressed(self, selector: str) -> bool:
        """Press a button once: whether the server did what it asks for."""
        with self.page.expect_response(lambda answer: answer.request.method == "POST") as answered:
            self.page.click(selector)
        self.looked()
        return answered.value.ok

    def undo(self) -> None:
        """Undo the last ruling, and wait until that is on record and the table is drawn again."""
        before = self.view()["seq"]
        self.page.click("#undo")
        self.until(
            lambda view: any(
                row["kind"] == "undone" and row["seq"] > before for row in view["verdicts"]
            )
        )
        self.looked()

    def looked(self) -> None:
        """Wait until the page has drawn the table once more: when it asks again, it has."""
        for _ in range(2):
            with self.page.expect_response(
                lambda answer: answer.url.endswith("/virtual") and answer.request.method == "GET"
            ):
                pass

    def command(self, **document: Any) -> None:
        """Tell the referee something, as the buttons of the panel do."""
        answer = self.page.evaluate(COMMAND, document)
        assert "error" not in answer, answer


@contextmanager
def virtual_hand(
    chromium: playwright.sync_api.Browser, game: str, seed: int | None = None, locale: str = "en"
) -> Iterator[VirtualHand]:
    """The host's browser at the demo of a game, without a seed at its lessons.

    Both end with the context.
    """
    which = ["--lessons"] if seed is None else ["--seed", str(seed)]
    with subprocess.Popen(
        [*PROGRAM, "demo", "--game", game, *which, "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            link = [process.stdout.readline() for _ in range(3)][-1].split()[-1]
            context = chromium.new_context(viewport={"width": 1280, "height": 1000}, locale=locale)
            page = context.new_page()
            page.goto(link)
            page.wait_for_selector("#virtual-controls button")
            yield VirtualHand(page, game, seed)
            context.close()
        finally:
            process.terminate()
