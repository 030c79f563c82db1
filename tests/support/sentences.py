"""What of a sentence cannot be said in another language."""

from table.messages import Listing, Message, Plain, Template


def without_template(*message):
    """The English texts in sentences that nobody knows the templates of."""
    found = []
    parts = [one.content if isinstance(one, Message) else Plain(one) for one in message]
    while parts:
        match parts.pop():
            case Plain(text) if text:
                found.append(text)
            case Template(_, fields):
                parts += fields.values()
            case Listing(items, _):
                parts += items
    return found


def untemplated(verdict):
    """Those of a verdict: of its sentences, its answers, and what it asks."""
    asks = getattr(verdict, "asks", None)
    return [
        *without_template(verdict.message, *getattr(verdict, "differences", ())),
        *without_template(*(choice.label for choice in getattr(verdict, "choices", ()))),
        *(untemplated(asks) if asks else ()),
    ]


def saying_all_by_templates(game, monkeypatch):
    """Let a test fail where the game judges or hears something, and says any of it without a
    template.
    """

    def checked(ruling):
        def ruled(*arguments):
            verdict = ruling(*arguments)
            assert untemplated(verdict) == []
            return verdict

        return ruled

    for name in ("judge", "hear"):
        monkeypatch.setattr(game, name, checked(getattr(game, name)))
