"""How easy a text is to read: Flesch's reading ease, and the words of each sentence.

Reading ease is 206.835 - 1.015 (words per sentence) - 84.6 (syllables per word); source: R. Flesch,
"A new readability yardstick", 1948. Syllables are counted by groups of vowels.
`python -m tools.readability` writes it, for every page of the guide, into docs/STYLE.md.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
STYLE = tomllib.loads((ROOT / "docs" / "style.toml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "STYLE.md"
BEGIN = "<!-- `python -m tools.readability` writes what follows -->"
END = "<!-- until here -->"
MEASURED = re.compile(r"<!-- (\w+): `python -m benchmarks.*?<!-- \1 end -->", re.DOTALL)
"""Text on a page that was written by a benchmark."""
SILENT = re.compile(r"(?:[^laeiouy]es|[^dt]ed|[^laeiouy]e)$")
"""Ending with a silent e: `makes`, `moved`, `game`; not `table`, `needed`."""


def prose(markdown: str) -> str:
    """The sentences of a page: no code, tables, pictures, headings or addresses.

    A list item without a final full stop gets one.
    """
    text = re.sub(r"^(```|~~~).*?^\1", "\n", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"<[^>]+>", "", text)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)
    kept = (
        " ".join(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", one).split())
        for one in paragraphs
        if not re.match(r"\s*(?:#|\|)", one)
    )
    return " ".join(one if re.search(r"[.!?:]\W*$", one) else f"{one}." for one in kept if one)


def sentences(text: str) -> list[str]:
    """The sentences of a text; a colon before a list also ends one."""
    return [one for one in re.split(r"(?<=[.!?])[\"')*]*\s+|:\s+(?=[A-Z])", text) if words(one)]


def words(text: str) -> list[str]:
    """The words of a text; a placeholder counts as one."""
    text = re.sub(r"%\(\w+\)s|\{\w+\}", "x", re.sub(r"<[^>]+>", "", text))
    return re.findall(r"[^\W_][\w'’.-]*", text)


def syllables(word: str) -> int:
    """Approximate number of syllables of an English word; at least one."""
    letters = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", letters))
    return max(1, groups - bool(SILENT.search(letters) and groups > 1))


def reading_ease(text: str) -> float:
    """Flesch's reading ease of a text: 60 is plain English, 100 very easy."""
    each = words(text)
    return (
        206.835
        - 1.015 * len(each) / len(sentences(text))
        - 84.6 * sum(map(syllables, each)) / len(each)
    )


def written_by_people(page: str) -> str:
    """A page without the parts written by benchmarks."""
    return MEASURED.sub("", page)


def page(before: str) -> str:
    """docs/STYLE.md, updated with the reading ease of every page of the guide."""
    head, _, rest = before.partition(BEGIN)
    rows = "".join(
        f"| {_link(name)} | {_ease(name):.0f} | {_longest(name)} |\n" for name in STYLE["guide"]
    )
    table = f"| page | reading ease | words of the longest sentence |\n|---|---|---|\n{rows}"
    return f"{head}{BEGIN}\n\n{table}\n{END}{rest.partition(END)[2]}"


def _text(name: str) -> str:
    return prose(written_by_people((ROOT / name).read_text(encoding="utf-8")))


def _ease(name: str) -> float:
    return reading_ease(_text(name))


def _longest(name: str) -> int:
    return max(len(words(one)) for one in sentences(_text(name)))


def _link(name: str) -> str:
    """A link if the site has the page; the site has only those of docs/."""
    return f"[{name}]({name.removeprefix('docs/')})" if name.startswith("docs/") else name


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
