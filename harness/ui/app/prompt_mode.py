"""What the text of a prompt is meant as. An input method's full-width signs count like the narrow ones."""

from collections.abc import Mapping
from typing import Literal

PromptMode = Literal["prompt", "shell", "command"]

SIGNS: Mapping[PromptMode, str] = {"prompt": "▸", "shell": "!", "command": "/"}
"""What stands before the text."""

SLASHES = ("/", "／")


def mode_of(text: str) -> PromptMode:
    """Shell behind `!`, command behind one `/` unless a path begins there, else a prompt."""
    if text.startswith(("!", "！")):
        return "shell"
    if not text.startswith(SLASHES) or text[1:].startswith(SLASHES):
        return "prompt"
    word = text.split(maxsplit=1)[0]
    return "prompt" if "/" in word[1:] else "command"


def submitted(text: str) -> str:
    """A text as the program takes it: signs at its beginning and spaces in a command made narrow, the end trimmed."""
    match mode_of(text):
        case "shell":
            text = "!" + text[1:]
        case "command":
            text = "/" + text[1:].replace("\u3000", " ")
        case "prompt" if text.startswith(SLASHES) and text[1:].startswith(SLASHES):
            text = "//" + text[2:]
    return text.rstrip()
