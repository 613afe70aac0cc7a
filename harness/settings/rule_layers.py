"""Rules about permissions of all layers together: none takes away what another one forbids."""

from collections.abc import Iterable

from harness.base.errors import SettingsError
from harness.settings.sources import Given, Source
from harness.settings.value_types import rules_in

ADDED_UP = ("permissions_allow", "permissions_ask", "permissions_deny")


def every_rule(sources: Iterable[Source]) -> dict[str, Given]:
    """The settings that hold rules, each with those of all layers. Raises SettingsError."""
    sources = tuple(sources)
    added = {}
    for name in ADDED_UP:
        layers = [source.given[name] for source in sources if name in source.given]
        if layers:
            rules = tuple(dict.fromkeys(rule for layer in layers for rule in _read(layer)))
            added[name] = Given(rules, layers[0].layer, ", ".join(layer.origin for layer in layers), layers[0].base)
    return added


def _read(given: Given) -> tuple[str, ...]:
    try:
        return rules_in(given.value)
    except ValueError as error:
        words = 'a list of rules, such as ["bash(npm run *)"]'
        raise SettingsError(f"Cannot use {given.origin} = {given.value!r}; give {words}.") from error
