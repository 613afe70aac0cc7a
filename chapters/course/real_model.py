"""A chapter with a real model: the same demo and prompts, without the sentences about the scripted replies."""

from dataclasses import replace
from types import MappingProxyType

from chapters.course.lesson import Lesson, LessonError
from harness.model.endpoint import Platform
from harness.settings import Settings

CONNECTION = ("model", "api_key", "auth_token", "key_header", "anthropic_version", "headers", "prices")
"""Settings of the user that the demo takes over."""
ANTHROPIC = "https://api.anthropic.com"


def with_model(lesson: Lesson, settings: Settings) -> Lesson:
    """The chapter with the model, the key and the server of the settings, and without steps.

    Raises LessonError for a chapter whose loop is written by hand, for another platform, and without a key.
    """
    if lesson.from_wire:
        raise LessonError(f"{lesson.id} has its model written into demo.py; --model is for the chapters from s03 on.")
    if settings.endpoint is not Platform.ANTHROPIC:
        raise LessonError(f"--model needs endpoint = anthropic, not {settings.endpoint.value}.")
    if settings.api_key is None and settings.auth_token is None:
        raise LessonError("--model needs a key; set ANTHROPIC_API_KEY.")
    connection = {name: getattr(settings, name) for name in CONNECTION}
    connection["base_url"] = settings.base_url or ANTHROPIC
    return replace(lesson, steps=(), connection=MappingProxyType(connection))
