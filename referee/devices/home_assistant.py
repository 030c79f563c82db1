"""Discovery document by which Home Assistant finds a table at the broker.

Source: home-assistant.io/integrations/mqtt ("Device discovery payload"), since Home Assistant
2024.11, and the pages of its components sensor, binary_sensor, event and button. The tests check
the document against these rules (tests/referee/devices/home_assistant.json).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import get_args

from hardware.mqtt_settings import COMMANDS, MqttSettings
from referee.devices.table_state import TableState
from referee.presentation.session_view import Phase, Ruling
from table.json_data import JsonObject
from table.languages import Language, translation
from table.messages import Message, phrase

SEATS = 6
"""Most players whose scores are sensors."""
LONGEST = 255
"""Longest state, in characters, that Home Assistant keeps (`MAX_LENGTH_STATE_STATE`)."""
BUTTONS: dict[str, tuple[Message, str]] = {
    "rule": (phrase("Rule now"), "mdi:gavel"),
    "appeal": (phrase("Undo the last ruling"), "mdi:undo"),
    "pause": (phrase("Pause"), "mdi:pause"),
    "resume": (phrase("Resume"), "mdi:play"),
    "next": (phrase("Next"), "mdi:skip-next"),
}
"""Names and icons of the buttons."""


def birth_topic(settings: MqttSettings) -> str:
    """Topic on which Home Assistant announces its start."""
    return f"{settings.discovery}/status"


def discovery_topic(settings: MqttSettings) -> str:
    """Topic of the discovery document."""
    return f"{settings.discovery}/device/rinkside_{settings.table}/config"


def discovery(settings: MqttSettings, state: TableState, language: Language) -> JsonObject:
    """Return the document from which Home Assistant creates a device for the table.

    It names the players of this game, so that it is sent again for others. A component with only a
    platform removes an earlier one.
    """
    version = metadata.version("rinkside")
    identifier = f"rinkside_{settings.table}"
    name = "Rinkside" if settings.table == "table" else f"Rinkside {settings.table}"
    components: JsonObject = {}
    for key, component in _components(settings, state, language):
        more = {"unique_id": f"{identifier}_{key}"} if len(component) > 1 else {}
        components[key] = component | more
    return {
        "device": {
            "identifiers": [identifier],
            "name": name,
            "manufacturer": "Rinkside",
            "sw_version": version,
        },
        "origin": {"name": "Rinkside", "sw_version": version},
        "availability_topic": settings.topic("status"),
        "components": components,
    }


def _components(
    settings: MqttSettings, state: TableState, language: Language
) -> Iterator[tuple[str, JsonObject]]:
    topic = settings.topic("state")

    def shown(platform: str, name: str, value: str, icon: str, **more: object) -> JsonObject:
        return {
            "platform": platform,
            "name": translation(name, language),
            "state_topic": topic,
            "value_template": f"{{{{ {value} }}}}",
            "icon": icon,
            **more,
        }

    def with_attributes(of: str) -> JsonObject:
        return {
            "json_attributes_topic": topic,
            "json_attributes_template": f"{{{{ value_json.{of} | tojson }}}}",
        }

    turn = "value_json.turn or 'None'"  # Home Assistant shows `None` as unknown
    yield "turn", shown("sensor", phrase("Whose turn"), turn, "mdi:account-arrow-right")
    headline = f"value_json.ruling.headline[:{LONGEST}] or 'None'"
    yield (
        "ruling",
        shown("sensor", phrase("Last ruling"), headline, "mdi:gavel", **with_attributes("ruling")),
    )
    yield (
        "phase",
        shown(
            "sensor",
            phrase("State of the game"),
            "value_json.phase",
            "mdi:state-machine",
            device_class="enum",
            options=[*get_args(Phase)],
        ),
    )
    for seat in range(SEATS):
        if seat >= len(state.scores):
            yield f"score_{seat + 1}", {"platform": "sensor"}
            continue
        value = f"value_json.scores[{seat}].points"
        name = phrase("Points of {text}", text=state.scores[seat].name)
        yield f"score_{seat + 1}", shown("sensor", name, value, "mdi:counter")
    for key, name, icon, more in (
        ("question", phrase("Question open"), "mdi:help-circle", {}),
        ("trouble", phrase("Trouble with the camera"), "mdi:camera-off", _DIAGNOSTIC),
    ):
        value = f"'ON' if value_json.{key} else 'OFF'"
        text = {
            "json_attributes_topic": topic,
            "json_attributes_template": f"{{{{ {{'text': value_json.{key}}} | tojson }}}}",
        }
        yield key, shown("binary_sensor", name, value, icon, **more, **text)
    yield "verdict", _event(settings, language)
    for command in COMMANDS:
        yield command, _button(settings, command, language)


_DIAGNOSTIC = {"device_class": "problem", "entity_category": "diagnostic"}


def _event(settings: MqttSettings, language: Language) -> JsonObject:
    return {
        "platform": "event",
        "name": translation(phrase("Ruling"), language),
        "state_topic": settings.topic("verdict"),
        "event_types": [*get_args(Ruling)],
        "icon": "mdi:gavel",
    }


def _button(settings: MqttSettings, command: str, language: Language) -> JsonObject:
    if command not in settings.commands:
        return {"platform": "button"}
    name, icon = BUTTONS[command]
    return {
        "platform": "button",
        "name": translation(name, language),
        "command_topic": settings.topic("command"),
        "payload_press": command,
        "icon": icon,
    }
