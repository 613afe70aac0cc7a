"""Which commands of a line may assign a variable, so that the variables of its loops are not known."""

import re

from harness.permissions.name_sets import names
from harness.permissions.shell.syntax import SimpleCommand, Word, WordKind

_VARIABLE_OF_A_LOOP = re.compile(r"[a-z][a-z0-9_]*|[A-Z]")
_OF_BASH = frozenset({"histchars", "auto_resume"})
_ASSIGNING = names(
    "read mapfile readarray export declare local typeset readonly getopts let unset eval source . command "
    "builtin exec trap enable wait coproc bind complete compgen compopt fc alias unalias hash jobs shopt "
    "vared read_line chdir pushd popd shift suspend logout history caller disown float integer nameref "
    "print"
)
"""Built-ins of one shell or another that assign a variable, or may make something assign one."""


def assigns(simple: SimpleCommand) -> bool:
    """It may assign a variable of any name."""
    if not simple.words:
        return False
    words = simple.words
    return (
        simple.program is None
        or simple.program in _ASSIGNING
        or (simple.program == "printf" and not _prints(words[1:]))
        or (simple.program == "set" and not all(re.fullmatch(r"[-+][eux]*o?|pipefail", one.text) for one in words[1:]))
        or (simple.program in ("test", "[") and not _tests(words[1:]))
    )


def _prints(words: tuple[Word, ...]) -> bool:
    """A printf with neither -v nor %n, which assign a variable."""
    return bool(words) and words[0].known and re.match(r"-|(?s:.*)%[^A-Za-z%]*[hlLjzqt]*n", words[0].text) is None


def _tests(words: tuple[Word, ...]) -> bool:
    """A test without -v, which computes a subscript: no word may turn out to be one."""
    return all(
        word.text not in ("-v", "-R") and not word.split and (word.kind is not WordKind.GLOB or word.single)
        for word in words
    ) and (all(word.kind is not WordKind.UNKNOWN for word in words) or not any("[" in word.text for word in words))


def only_looped(names: set[str], found: tuple[SimpleCommand, ...]) -> frozenset[str]:
    """The names of these that nothing but a `for` assigns."""
    assigned = {one.name for simple in found for one in simple.assignments if not simple.text.startswith("for ")}
    if "IFS" in assigned or "IFS" in names:
        return frozenset()
    return frozenset(name for name in names - assigned if _VARIABLE_OF_A_LOOP.fullmatch(name) and name not in _OF_BASH)
