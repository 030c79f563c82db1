"""Parts of other packages, found by entry points, with their packages and their failures.

A part that cannot be loaded is reported in one line and left out. It affects no other part, and
nothing replaces it.
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
"""Name of this package."""
LOAD_S, CALL_S = 30.0, 10.0
"""Time limits of loading a part of another package, and of a call."""
MOST_SHOWN, MOST_NAME = 300, 60
"""Most characters quoted of a foreign error, and of a name."""
NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Form of a part's name."""
MOST_FAILURES = 100
"""Most different failures of a part that are logged."""

T = TypeVar("T")
Result = TypeVar("Result")


class Hung(Exception):  # noqa: N818 - what happened to it
    """A part of another package did not answer in time. Its thread may still run."""


def within(seconds: float, answer: Callable[[], T]) -> T:
    """Call a function of another package in a thread; re-raises its exceptions.

    SystemExit and KeyboardInterrupt become RuntimeError. Raises Hung after the time limit; the
    thread cannot be ended.
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
        del error  # breaks the reference cycle between the error and this frame


def short_error(error: BaseException) -> str:
    """Describe an error of another package in one short line: its type and its text."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return printable(" ".join(text[: 2 * MOST_SHOWN].split()))[:MOST_SHOWN]


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of a group, with its package and version.

    Both are empty if the package's metadata lack them.
    """

    group: str
    name: str
    package: str
    version: str
    entry: metadata.EntryPoint

    @property
    def own(self) -> bool:
        """True for a part of Rinkside itself."""
        return self.package == OWN

    @property
    def source(self) -> str:
        """Package and version, for people."""
        return f"{self.package} {self.version}".strip()

    def load(self, checked: Callable[[Any, Plugin], T]) -> T:
        """Load the object and return it as `checked` does.

        Raises what loading or `checked` raise, and Hung; ValueError for an invalid name.
        """
        if self.own:
            return checked(self.entry.load(), self)
        if len(self.name) > MOST_NAME or not NAME.fullmatch(self.name):
            raise ValueError(f"expected a name such as 'my_game', got {self.name[:MOST_NAME]!r}")
        return within(LOAD_S, lambda: checked(self.entry.load(), self))


@dataclass(frozen=True, slots=True)
class Broken:
    """A part that cannot be used, with the reason in one line."""

    plugin: Plugin
    why: str

    def line(self, what: str) -> str:
        """Sentence for people: the game 'heap' of heap-game 1.0 cannot be used: ..."""
        name = self.plugin.name[:MOST_NAME]
        return printable(f"{what} {name!r} of {self.plugin.source} cannot be used: {self.why}")


@dataclass(frozen=True, slots=True)
class Found(Generic[Result]):
    """Parts of one group by name, this project's first; their plugins, and the broken ones."""

    parts: dict[str, Result]
    plugins: dict[str, Plugin]
    broken: tuple[Broken, ...]

    def unusable(self, name: object) -> Broken | None:
        """The broken part of this name, if there is one."""
        return next((one for one in self.broken if one.plugin.name == name), None)

    def logged(self, what: str) -> Found[Result]:
        """Log each broken part as `what`; returns itself."""
        for broken in self.broken:
            log_line(broken.line(what))
        return self

    def opened(
        self, name: str, call: Callable[[Result], T], methods: Iterable[str], lacks: str
    ) -> T:
        """Return `call` of a part, within LOAD_S; raises InputError.

        `lacks` begins the error for a result without all of the `methods`.
        """

        def made() -> T:
            part = call(self.parts[name])
            if missing := [method for method in methods if not hasattr(part, method)]:
                raise ValueError(f"{lacks} {', '.join(missing)}")
            return part

        return Guard(self.plugins[name], lambda: LOAD_S).answer("open", made, (InputError,))


def no_entry_points() -> Iterable[metadata.EntryPoint]:
    """Return nothing: for groups without parts of this project."""
    return ()


class MadeFor(Protocol):
    """A part that states its interface version."""

    @property
    def interface(self) -> int:
        """Version of the interface."""


Versioned = TypeVar("Versioned", bound=MadeFor)


def find_versioned(
    group: str, kind: type[Versioned], interface: int, what: str
) -> Found[Versioned]:
    """Find the parts of a group that have this type and interface version.

    `what` names them in errors. This project has no parts in such a group.
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
    """Load every part of a group. A failure does not affect the others.

    `checked` returns the loaded object as it is to be used, or raises.
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
    """Log a line; without a handler it goes to stderr."""
    logging.getLogger(OWN).warning("rinkside: %s", text)


def log_broken(what: str, name: str, package: str, error: BaseException) -> None:
    """Log that a part of a package cannot be used; without a handler it goes to stderr."""
    log_line(printable(f"{what} {name!r} of {package} cannot be used: {short_error(error)}"))


def announced(group: str, own: Callable[[], Iterable[metadata.EntryPoint]]) -> Iterator[Plugin]:
    """Yield the entry points of a group with their packages, this project's first, each once.

    `own` are used if this project announces none: in a checkout that is not installed, or after an
    old installation.
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
    """Yield the entry points of all readable packages; a broken one would hide all others."""
    for package in metadata.distributions():
        try:
            yield from package.entry_points.select(group=group)
        except Exception as error:
            name = str(package.metadata["Name"] or "a package without a name")[:MOST_NAME]
            log_line(printable(f"the entry points of {name} cannot be read: {short_error(error)}"))


def _metadata_text(entry: metadata.EntryPoint, what: str) -> str:
    """A field of a package's metadata; empty if it is missing."""
    try:
        return str(getattr(entry.dist, what, None) or "")
    except Exception:  # the metadata are missing or damaged
        return ""


class Failed(InputError):  # noqa: N818 - what happened
    """A part of another package failed: its name, its package, where, and why, in one line."""


class Guard:
    """Calls a part of another package; converts its exceptions, and disables it if it hangs."""

    def __init__(self, plugin: Plugin, call_s: Callable[[], float]) -> None:
        """`call_s` returns the time limit of a call."""
        self._plugin, self._call_s = plugin, call_s
        self._off: Failed | None = None
        self._reported: set[str] = set()

    def answer(
        self, what: str, answer: Callable[[], T], meant: tuple[type[Exception], ...] = ()
    ) -> T:
        """Return a call's result; raises Failed for all exceptions but those in `meant`."""
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
        """Return the error of a failure; equal ones are logged once."""
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
