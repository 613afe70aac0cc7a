"""What the practice model says of what it can do: made from the table, so that it is true."""

from harness.practice.improviser import phrases as say
from harness.practice.improviser.language import Language
from harness.practice.improviser.table import INTENTS


def help_text(language: Language) -> str:
    """The whole list, an example for each."""
    lines = [f"- {intent.example.in_(language)}" for intent in INTENTS]
    return "\n".join((say.HELP.in_(language), "", *lines, "", say.HELP_JOINED.in_(language)))


def refusal(language: Language) -> str:
    """Why nothing was done, and a few examples of what can be."""
    lines = [f"- {intent.example.in_(language)}" for intent in INTENTS if intent.suggested]
    return "\n".join((say.NOT_UNDERSTOOD.in_(language), "", *lines, "", say.SAY_HELP.in_(language)))
