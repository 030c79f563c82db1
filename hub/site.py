"""Export a club or an event as static HTML pages, for any web server or a USB stick.

No page needs a script or links outside the folder, so the export also works from file://. It
contains the hub's public data in one language, without erased names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from flask import Flask, g, render_template

from hub.event_files import event_csv, event_document, shown, trf_of
from hub.event_standings import TIE_BREAKS
from hub.events import Event, Events
from hub.evidence import Evidences
from hub.game_texts import club_text, event_text
from hub.names import name_key
from hub.pages.standings import standings_csv
from hub.people import SOMEBODY
from hub.played import PlayedGames
from hub.players import ClubFigures, player_document, player_line, players_csv
from hub.standings import HubGame, Results

MOST_NAME = 40
"""Maximum length of a player's name within a file name, in characters."""
STYLE = ("panel.css", "hub.css", "mark.svg")
"""Static files copied into the export."""
INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class Club:
    """Contents of a site: a club, the current state of its events, and its games.

    With `whole` the site includes the club's standings; otherwise it shows one event only.
    """

    id: int
    name: str
    events: Sequence[Event]
    games: Sequence[HubGame]
    whole: bool = True

    @property
    def players(self) -> list[str]:
        """Names of all players with a page, sorted."""
        found: dict[str, str] = {}
        if self.whole:
            for game in self.games:
                found |= {name_key(name): name for name in game.result.names.values()}
        for event in self.events:
            found |= {name_key(one.name): one.name for one in event.players}
        nobody = ("", SOMEBODY)
        return [name for key, name in sorted(found.items()) if key not in nobody]


class SiteLinks:
    """Links between the pages of an exported folder."""

    def __init__(self, club: Club) -> None:
        self._players = dict(_files_of_players(club.players))
        self._index = 0 if club.whole else club.events[0].id

    def player(self, name: str) -> str:
        """The file of a player; empty for a player outside this export."""
        return self._players.get(name_key(name), "")

    def event(self, event_id: int) -> str:
        """The file of an event."""
        return INDEX if event_id == self._index else f"event-{event_id}.html"

    def match(self, event_id: int, match_id: int) -> str:
        """The file of a match."""
        return f"event-{event_id}-match-{match_id}.html"


def _files_of_players(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The file of each player, by `name_key`; a number is added to names that collide."""
    taken: set[str] = set()
    for name in names:
        ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = "-".join(re.findall("[a-z0-9]+", ascii_))[:MOST_NAME] or "player"
        number, file = 1, f"player-{stem}.html"
        while file in taken:
            number += 1
            file = f"player-{stem}-{number}.html"
        taken.add(file)
        yield name_key(name), file


class Site:
    """Renders sites of clubs and events with the templates of the hub's application."""

    def __init__(
        self,
        app: Flask,
        results: Results,
        events: Events,
        evidences: Evidences,
        played: PlayedGames,
    ) -> None:
        self._app, self._results, self._events = app, results, events
        self._evidences, self._played = evidences, played

    def files(
        self,
        club_id: int,
        name: str,
        language: str,
        now_ms: int,
        event_id: int | None = None,
        simulated: bool = False,
    ) -> dict[str, bytes]:
        """Render all files of the site of the club called `name`, by file name.

        With `event_id` the site shows that event alone; raises Refusal if the club does not have
        it. Standings count simulated games only with `simulated`.
        """
        club = self._club(club_id, name, event_id)
        links = SiteLinks(club)
        files: dict[str, bytes] = {}
        with self._app.test_request_context("/"):
            g.language = language
            for file in STYLE:
                with Path(str(self._app.static_folder), file).open("rb") as opened:
                    files[file] = opened.read()
            page = partial(
                render_template,
                club=name,
                top=name if club.whole else club.events[0].name,
                links=links,
                tie_breaks=TIE_BREAKS,
                written_ms=now_ms,
            )
            figures = ClubFigures(club.games, now_ms, self._played, simulated)
            pages = _club_pages(page, club, figures, links)
            for event in club.events:
                pages |= _event_pages(page, event, self._evidences, links)
                files |= _event_files(event, name, self._played)
        if club.whole:
            files |= _club_files(club, figures, self._played)
        return files | {called: text.encode() for called, text in pages.items()}

    def _club(self, club_id: int, name: str, event_id: int | None) -> Club:
        listed = self._events.listed(club_id)
        numbers = [one.id for one in listed] if event_id is None else [event_id]
        read = [self._events.event(club_id, number) for number in numbers]
        return Club(club_id, name, read, self._results.games(club_id), event_id is None)


def _club_pages(
    page: partial[str], club: Club, figures: ClubFigures, links: SiteLinks
) -> dict[str, str]:
    """The pages of a club, of its games, and of its players."""
    pages = {}
    if club.whole:
        games = [one.game for one in figures.games]
        pages[INDEX] = page(
            "hub/site_club.html", events=club.events, rows=figures.standings, games=games
        )
        for one in figures.games:
            pages[f"standings-{one.game}.html"] = page(
                "hub/site_standings.html", game=one.game, rows=one.standings, rated=one.ratings
            )
    for name in club.players:
        pages[links.player(name)] = page(
            "hub/site_player.html", page=figures.page(name, club.events)
        )
    return pages


def _event_pages(
    page: partial[str], event: Event, evidences: Evidences, links: SiteLinks
) -> dict[str, str]:
    """The page of an event, and those of its matches."""
    files = [(kind.upper(), f"event-{event.id}.{kind}") for kind in ("csv", "json", "txt")]
    if event.format != "free":
        files.append(("TRF", f"event-{event.id}.trf"))
    pages = {links.event(event.id): page("hub/site_event.html", shown=shown(event), files=files)}
    for one in event.matches:
        pages[links.match(event.id, one.match.id)] = page(
            "hub/site_match.html", event=event, one=one, evidence=evidences.of(event.club_id, one)
        )
    return pages


def _club_files(club: Club, figures: ClubFigures, played: PlayedGames) -> Mapping[str, bytes]:
    """Machine-readable files of a club."""
    pages = [figures.page(name, ()) for name in club.players]
    lines = (player_line(page.name, one) for page in pages for one in page.games)
    return {
        "standings.csv": standings_csv(figures.standings),
        "players.csv": players_csv(lines),
        "players.json": msgspec.json.encode([player_document(page) for page in pages]),
        "games.txt": club_text(club.events, figures.played, played).encode(),
    }


def _event_files(event: Event, club: str, played: PlayedGames) -> Mapping[str, bytes]:
    """Machine-readable files of an event."""
    files = {
        f"event-{event.id}.csv": event_csv(event),
        f"event-{event.id}.json": msgspec.json.encode(event_document(event, club)),
        f"event-{event.id}.txt": event_text(event, played).encode(),
    }
    if event.format != "free":
        files[f"event-{event.id}.trf"] = trf_of(event).encode()
    return files
