"""Parts of other packages, found by entry points: who brings them, and what is wrong with them.

A part that cannot be loaded is named in one line and left out. It stops no other part, and nothing
else takes its place.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, Protocol, TypeVar

from table.errors import InputError
from table.messages import msg, sentences
from table.text import printable

OWN = "rinkside"
"""The name of this package."""
LOAD_S, CALL_S = 30.0, 10.0
"""Longest time in which a part of another package is loaded, and in which one answers."""
MOST_SHOWN, MOST_NAME = 300, 60
"""Greatest number of characters that are quoted of somebody else's error, and of a name."""
NAME = re.compile(r"[a-z][a-z0-9_]*")
"""What the name of a part looks like."""
MOST_FAILURES = 100
"""Greatest number of different failures of a part that are logged."""

T = TypeVar("T")
Result = TypeVar("Result")


class Hung(Exception):  # noqa: N818 - what happened to it
    """A part of another package has not answered in time. It may go on in a thread of its own."""


def within(seconds: float, answer: Callable[[], T]) -> T:
    """What a function of another package returns; all that it raises is raised here.

    SystemExit and KeyboardInterrupt are raised as RuntimeError, since they are not its to raise.
    Raises Hung where it takes longer; nothing can end its thread then.
    """
    came: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            came.put((answer(), None))
        except BaseException as error:
            came.put((None, error))

    Thread(target=work, name="a part of another package", daemon=True).start()
    try:
        value, error = came.get(timeout=seconds)
    except Empty:
        raise Hung(f"no answer within {seconds:g} s") from None
    if error is None:
        return value  # type: ignore[return-value]  # there is one where there is no error
    try:
        if isinstance(error, Exception):
            raise error
        raise RuntimeError(f"it raised {short_error(error)}") from error
    finally:
        del error  # or it would keep this frame alive, and the frame it


def short_error(error: BaseException) -> str:
    """An error of another package in one short line: its type and its text."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return printable(" ".join(text[: 2 * MOST_SHOWN].split()))[:MOST_SHOWN]


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of a group, and the package and version that it is of.

    Those are empty where its files do not say them; `value` is where it is: `package.module:NAME`.
    """

    group: str
    name: str
    package: str
    version: str
    entry: metadata.EntryPoint

    @property
    def own(self) -> bool:
        """True if it is a part of Rinkside itself."""
        return self.package == OWN

    @property
    def source(self) -> str:
        """The package with its version, as people are told it."""
        return f"{self.package} {self.version}".strip()

    def load(self, checked: Callable[[Any, Plugin], T]) -> T:
        """What stands there, as `checked` returns it.

        Raises whatever loading or `checked` raise, and Hung; ValueError for a name that is none.
        """
        if self.own:
            return checked(self.entry.load(), self)
        if len(self.name) > MOST_NAME or not NAME.fullmatch(self.name):
            raise ValueError(f"expected a name such as 'my_game', got {self.name[:MOST_NAME]!r}")
        return within(LOAD_S, lambda: checked(self.entry.load(), self))


@dataclass(frozen=True, slots=True)
class Broken:
    """A part that cannot be used, and why in one line."""

    plugin: Plugin
    why: str

    def line(self, what: str) -> str:
        """The sentence for people: the game 'heap' of heap-game 1.0 cannot be used: ..."""
        name = self.plugin.name[:MOST_NAME]
        return printable(f"{what} {name!r} of {self.plugin.source} cannot be used: {self.why}")


@dataclass(frozen=True, slots=True)
class Found(Generic[Result]):
    """The parts of one group by name, this project's first, who brings each, and what is broken."""

    parts: dict[str, Result]
    plugins: dict[str, Plugin]
    broken: tuple[Broken, ...]

    def unusable(self, name: object) -> Broken | None:
        """The part of this name that cannot be used, if there is one."""
        return next((one for one in self.broken if one.plugin.name == name), None)

    def logged(self, what: str) -> Found[Result]:
        """The same, after each broken part was logged as `what`."""
        for broken in self.broken:
            log_line(broken.line(what))
        return self

    def opened(
        self, name: str, call: Callable[[Result], T], methods: Iterable[str], lacks: str
    ) -> T:
        """What `call` makes of a part, in bounded time; raises InputError.

        `lacks` begins the complaint about one without all of the `methods`.
        """

        def made() -> T:
            part = call(self.parts[name])
            if missing := [method for method in methods if not hasattr(part, method)]:
                raise ValueError(f"{lacks} {', '.join(missing)}")
            return part

        return Guard(self.plugins[name], lambda: LOAD_S).answer("open", made, (InputError,))


def no_entry_points() -> Iterable[metadata.EntryPoint]:
    """Those of a group in which this project has no parts of its own."""
    return ()


class MadeFor(Protocol):
    """A part that says which version of its interface it was made for."""

    @property
    def interface(self) -> int:
        """The version."""


Versioned = TypeVar("Versioned", bound=MadeFor)


def find_versioned(
    group: str, kind: type[Versioned], interface: int, what: str
) -> Found[Versioned]:
    """The parts of a group that are of a kind, and made for this version of its interface.

    `what` they are, for complaints. This project has none of its own in such a group.
    """

    def checked(part: Any, _plugin: Plugin) -> Versioned:
        if not isinstance(part, kind):
            raise ValueError(f"expected a {kind.__name__}, got {type(part).__name__}")
        if part.interface != interface:
            made_for = f"{part.interface!r:.20}"
            raise ValueError(
                f"it is made for interface {made_for} of {what}, this one is {interface}"
            )
        return part

    return find(group, no_entry_points, checked)


def find(
    group: str,
    own: Callable[[], Iterable[metadata.EntryPoint]],
    checked: Callable[[Any, Plugin], Result],
) -> Found[Result]:
    """Load every part of a group. One that cannot be loaded does not stop the others.

    `checked` returns what was loaded as it is to be used, or raises.
    """
    parts: dict[str, Result] = {}
    plugins: dict[str, Plugin] = {}
    broken: list[Broken] = []
    for plugin in announced(group, own):
        try:
            if plugin.name in parts:
                raise ValueError(f"{plugins[plugin.name].source} has this name already")
            parts[plugin.name] = plugin.load(checked)
            plugins[plugin.name] = plugin
        except (Exception, SystemExit) as error:
            broken.append(Broken(plugin, short_error(error)))
    return Found(parts, plugins, tuple(broken))


def log_line(text: str) -> None:
    """Tell on stderr, or in the log of the program, what cannot be used."""
    logging.getLogger(OWN).warning("rinkside: %s", text)


def log_broken(what: str, name: str, package: str, error: BaseException) -> None:
    """Log that a part of a package cannot be used; without a handler it goes to stderr."""
    log_line(printable(f"{what} {name!r} of {package} cannot be used: {short_error(error)}"))


def announced(group: str, own: Callable[[], Iterable[metadata.EntryPoint]]) -> Iterator[Plugin]:
    """Entry points of a group with their packages, this project's first, each once.

    `own` are this project's where it announces none: it is run from a checkout that is not
    installed, or was installed before there were any.
    """
    entries = {
        (_metadata_text(entry, "name"), entry.name, entry.value): entry
        for entry in _entry_points(group)
    }
    if not any(package == OWN for package, _, _ in entries):
        yield from (Plugin(group, entry.name, OWN, "", entry) for entry in own())
    keys = sorted(entries, key=lambda key: (key[0] != OWN, *key))
    for key in keys:
        entry = entries[key]
        yield Plugin(group, entry.name, key[0], _metadata_text(entry, "version"), entry)


def _entry_points(group: str) -> Iterable[metadata.EntryPoint]:
    try:
        return metadata.entry_points(group=group)
    except Exception:
        return _readable_entry_points(group)


def _readable_entry_points(group: str) -> Iterator[metadata.EntryPoint]:
    """Those of every package whose file can be read; a broken one would hide all others."""
    for package in metadata.distributions():
        try:
            yield from package.entry_points.select(group=group)
        except Exception as error:
            name = str(package.metadata["Name"] or "a package without a name")[:MOST_NAME]
            log_line(printable(f"the entry points of {name} cannot be read: {short_error(error)}"))


def _metadata_text(entry: metadata.EntryPoint, what: str) -> str:
    """What a package's files say of it; empty where they do not."""
    try:
        return str(getattr(entry.dist, what, None) or "")
    except Exception:  # its files are gone, or garbled
        return ""


class Failed(InputError):  # noqa: N818 - what happened
    """A part of another package failed: its name, its package, where, and why, in one line."""


class Guard:
    """Calls a part of another package; names what it raises, and switches it off if it hangs."""

    def __init__(self, plugin: Plugin, call_s: Callable[[], float]) -> None:
        """`call_s` says the longest time of an answer."""
        self._plugin, self._call_s = plugin, call_s
        self._off: Failed | None = None
        self._reported: set[str] = set()

    def answer(
        self, what: str, answer: Callable[[], T], meant: tuple[type[Exception], ...] = ()
    ) -> T:
        """What it answers; raises Failed for all that is not `meant` to be raised."""
        if self._off is not None:
            raise Failed(self._off.message)
        try:
            return within(self._call_s(), answer)
        except meant:
            raise
        except Hung as error:
            switched_off = msg("It is switched off until Rinkside starts again.")
            self._off = Failed(sentences(self.failed(what, error).message, switched_off))
            log_line(str(self._off))
            raise self._off from error
        except Exception as error:
            raise self.failed(what, error) from error

    def failed(self, what: str, error: Exception) -> Failed:
        """The error that it failed in something; it is logged, the same one once."""
        failed = Failed(
            msg(
                "The part {raw} of the package {raw2} failed in {raw3}: {raw4}.",
                raw=self._plugin.name,
                raw2=self._plugin.source,
                raw3=what,
                raw4=str(error) if isinstance(error, Hung) else short_error(error),
            )
        )
        if str(failed) not in self._reported and len(self._reported) < MOST_FAILURES:
            self._reported.add(str(failed))
            log_line(str(failed))
        return failed
