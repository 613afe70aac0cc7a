"""Text that a substitution only passes on: `"$(cat <<'EOF' … EOF)"`, as models write the message of a commit."""

import re

from harness.permissions.shell.syntax import SimpleCommand

_DOCUMENT = re.compile(
    r"cat[ \t]*<<(-?)[ \t]*(?=(['\"\\])?)(?:(['\"])([^\n'\"]+)\3|\\?([\w.-]+))[ \t]*\n(.*\n)??\t*(?:\4|\5)", re.DOTALL
)
"""`cat` with nothing but a here-document."""


def printed(commands: tuple[SimpleCommand, ...], written: str) -> str | None:
    """What the commands of a substitution print, without line breaks at the end; None where that is not certain.

    `written`: the whole text between the brackets.
    """
    if len(commands) != 1 or not all(word.known for word in commands[0].words):
        return None
    [simple] = commands
    texts = [word.text for word in simple.words]
    document = _DOCUMENT.fullmatch(written)
    if texts == ["cat"] and document and not (simple.redirects or simple.assignments):
        stripped, quote, body = document[1], document[2], document[6]
        if not quote and re.search(r"[$`\\]", body or ""):
            return None
        return re.sub(r"(?m)^\t+" if stripped else r"(?!)", "", body or "").rstrip("\n")
    if simple.text != written.strip() or simple.assignments or re.search("[<>]", written):
        return None
    match texts:
        case ["echo", *words] if words and not words[0].startswith("-"):
            text = " ".join(words)
        case ["printf", "%s" | "%s\\n", text]:
            return text.rstrip("\n")
        case ["printf", text] if not text.startswith("-") and "%" not in text:
            pass
        case _:
            return None
    return None if "\\" in text else text.rstrip("\n")  # shells differ in what a backslash means
