"""Variables of the shell: which may be set, and which may be shown, by a command that runs unasked."""

import re

from harness.base.secrets import secret_name
from harness.permissions.name_sets import names
from harness.permissions.shell.syntax import Assignment
from harness.processes.inherited import PLAIN, SETTABLE

_SHOWABLE = PLAIN | names(
    "PWD OLDPWD UID EUID GROUPS PPID HOSTTYPE OSTYPE MACHTYPE RANDOM SECONDS LINENO BASH BASH_VERSION BASHPID IFS "
    "OPTIND PIPESTATUS FUNCNAME REPLY EPOCHSECONDS XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR"
)
"""Variables that hold no secret."""
_PLAIN_VALUE = re.compile(r"[\w@:,+=-]*(?:[./][\w@:,+=-]+)*")
"""A value that is no way to a file of the folder: no .. and no / in front."""


_ASKED_FOR = re.compile(r"(npm|pnpm|yarn|pip|cargo|bundle|uv|no)_.*|.*(proxy|path)")
"""Variables in small letters that programs ask for."""


def harmless_assignment(assignment: Assignment, *, alone: bool = False) -> bool:
    """It changes no program: a known variable with a plain value.

    `alone`: no command follows, or it is the variable of a loop. Then only the shell sees it, and a name in small
    letters is harmless as well, unless a program asks for it: the shell passes on what it has inherited.
    """
    name, value = assignment.name, assignment.value
    if name in SETTABLE or re.fullmatch("LC_[A-Z]+", name):
        return value.known and _PLAIN_VALUE.fullmatch(value.text) is not None
    return alone and name.islower() and _ASKED_FOR.fullmatch(name) is None


_LIBRARIES = names("PYTHONPATH PERL5LIB RUBYLIB NODE_PATH")
_FOLDER = r"(?:\$PWD/|\$\{PWD\}/)?(?!\.\.)[\w.][\w.-]*(?:/(?!\.\.)[\w.-]+)*/?|\$PWD|"
_FOLDERS = re.compile(rf"(?:{_FOLDER})(?::(?:{_FOLDER}))*")


def harmless_library(assignment: Assignment) -> bool:
    """It only adds folders below the current one to those where a language looks for modules (`PYTHONPATH=src`)."""
    name, text = assignment.name, assignment.value.text
    if name not in _LIBRARIES:
        return False
    return _FOLDERS.fullmatch(re.sub(rf"\${name}(?!\w)|\$\{{{name}(:-)?\}}", "", text)) is not None


def harmless_program(assignment: Assignment) -> bool:
    """It names a pager or an editor that does nothing, or a limit: it makes no other code run."""
    known = assignment.value.known
    if re.fullmatch(r"(GIT_)?(PAGER|EDITOR|SEQUENCE_EDITOR)|VISUAL", assignment.name):
        return known and assignment.value.text in ("cat", "true", ":", "")
    return (
        known
        and assignment.name == "NODE_OPTIONS"
        and bool(re.fullmatch(r"--max-old-space-size=\d+", assignment.value.text))
    )


def showable(name: str) -> bool:
    """What the variable holds may be shown: a known one, a parameter ($1, $?), or a name in small letters.

    Environments hold tokens under any name, so unknown variables are not shown.
    """
    if name in _SHOWABLE or name.startswith("LC_") or re.fullmatch(r"\W|\d+|_", name):
        return True
    return name.islower() and not secret_name(name)
