"""The kinds of values a setting can have, each with the words that say what fits."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf

from harness.hooks import Hook
from harness.secret import Secret


@dataclass(frozen=True, slots=True)
class Fits:
    """What fits a setting, to end the sentences "give …" and "max_turns: …"."""

    words: str


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


def _names(value: object) -> object:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError("not a list of names")
    return tuple(dict.fromkeys(name.strip() for name in value if name.strip()))


def _places(value: object) -> object:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value


def rules_in(value: object) -> tuple[str, ...]:
    """The rules in a list, or in a text with commas or line breaks between them. Raises ValueError."""
    if isinstance(value, str):
        value = re.split(r",(?![^(]*\))|\n", value)  # a comma inside of brackets belongs to the rule
    if not isinstance(value, list | tuple) or not all(isinstance(rule, str) for rule in value):
        raise ValueError("not a list of rules")
    return tuple(dict.fromkeys(rule.strip() for rule in value if rule.strip()))


Count = Annotated[int, BeforeValidator(_number), Field(ge=1), Fits("a whole number of at least 1")]
CountOrNone = Annotated[int, BeforeValidator(_number), Field(ge=0), Fits("a whole number of at least 0")]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False), Fits("seconds, above 0")]
SecondsOrNone = Annotated[float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False), Fits("seconds, 0 or more")]
Share = Annotated[float, BeforeValidator(_number), Field(ge=0, le=1), Fits("a number from 0 to 1")]
Dollars = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False), Fits("US dollars, above 0")]
Switch = Annotated[bool, Fits("true or false")]
Text = Annotated[str, Field(min_length=1), Fits("a text")]
SecretText = Annotated[Secret, Fits("a text")]
Place = Annotated[Path, Fits("a path")]
ModelNames = Annotated[tuple[str, ...], BeforeValidator(_names), Field(max_length=3), Fits("up to three model names")]
Places = Annotated[tuple[Path, ...], BeforeValidator(_places), Fits("a list of folders")]
Hooks = Annotated[tuple[InstanceOf[Hook], ...], Fits("tables [[hooks]] with event and command; in a variable as JSON")]
Rules = Annotated[tuple[str, ...], BeforeValidator(rules_in), Fits('a list of rules, such as ["bash(npm run *)"]')]
CascadeProbes = Annotated[Literal["canary", "confirm"], Fits('"canary" or "confirm"')]
Call = Annotated[Literal["bell", "osc9", "off"], Fits('"bell", "osc9" or "off"')]
PermissionMode = Annotated[Literal["ask", "edits", "yolo", "deny"], Fits('"ask", "edits", "yolo" or "deny"')]


def words_for(kind: Any) -> str:
    """What fits a type of this module, or an optional one."""
    parts = [*getattr(kind, "__metadata__", ()), *getattr(kind, "__args__", ())]
    for part in parts:
        if isinstance(part, Fits):
            return part.words
        if words := words_for(part):
            return words
    return ""
