"""Words that the shell evaluates, so their content may run: built-ins, subscripts, variables that are obeyed."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from harness.permissions.shell.syntax import Assignment, Word, WordKind

_OBEYED = re.compile(
    r"GIT_(SSH(_COMMAND)?|EXTERNAL_DIFF|PROXY_COMMAND|CONFIG\w*|EXEC_PATH)|\w*(EDITOR|PAGER|VISUAL|BROWSER|ASKPASS)"
    r"|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|BASH_FUNC_.*",
    re.DOTALL,
)
"""Variables that hold a command."""
_HIDDEN = re.compile(r"\$[({\[]|`")
"""The commands that run once the text is evaluated: PS4 and BASH_ENV are, and a subscript in the name of a variable."""


def hides_a_command(assignment: Assignment) -> bool:
    """It holds a command that something may run."""
    name, value = assignment.name, assignment.value
    if _OBEYED.fullmatch(name):
        return not (value.known and value.text in ("", "cat", "true", ":"))
    return value.known and _HIDDEN.search(value.text) is not None


def _subscript(words: Sequence[Word]) -> bool:
    """One of the words may be an element of a list, whose index bash evaluates."""
    return any(word.kind is WordKind.UNKNOWN or "[" in word.text for word in words)


def _tests(words: Sequence[Word]) -> bool:
    """A test of a variable, or one that may turn out to be."""
    return (any(word.text == "-v" for word in words) and _subscript(words)) or _writes_a_subscript(words)


def _formats(words: Sequence[Word]) -> bool:
    """printf -v, or what may turn out to be."""
    return (bool(words) and words[0].text.startswith("-v") and _subscript(words[:2])) or _writes_a_subscript(words[1:2])


def _writes_a_subscript(words: Sequence[Word]) -> bool:
    return any(word.known and "[" in word.text and _HIDDEN.search(word.text) for word in words)


def _declares(words: Sequence[Word]) -> bool:
    """A declaration that evaluates: a subscript, a name made up, or an attribute that makes a value an expression."""
    return any(
        (word.known and re.match(r"[-+]", word.text) is not None and not re.fullmatch(r"[-+][xrgplufF]+|--", word.text))
        or (not word.text.startswith(("-", "+")) and not re.match(r"[A-Za-z_]\w*(\+?=|$)", word.text))
        or hides_a_command(Assignment(word.text.partition("=")[0], Word(word.text.partition("=")[2], word.kind)))
        for word in words
    )


def _maps(words: Sequence[Word]) -> bool:
    return _subscript(words) or any(re.match(r"-\w*C", word.text) for word in words)


EVALUATING: Mapping[str, Callable[[Sequence[Word]], bool]] = MappingProxyType(
    {
        **dict.fromkeys(("read", "unset", "getopts"), _subscript),
        "wait": lambda words: _subscript([word for word in words if word.text != "$!"]),
        **dict.fromkeys(("mapfile", "readarray"), _maps),
        **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declares),
        **dict.fromkeys(("test", "["), _tests),
        "printf": _formats,
        **dict.fromkeys(("let", "complete", "compgen", "compopt", "bind", "enable"), bool),
        "alias": lambda words: any("=" in word.text or not word.known for word in words),
        "hash": lambda words: any(not word.known or re.match(r"-\w*p", word.text) for word in words),
        "jobs": lambda words: any(not word.known or re.match(r"-\w*x", word.text) for word in words),
        "fc": bool,
    }
)
"""Built-ins that run or evaluate some of their words, and whether these words are such."""
