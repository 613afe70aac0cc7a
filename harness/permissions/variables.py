"""Variables of the shell: which may be set, and which may be shown, by a command that runs unasked."""

import re

from harness.base.secrets import secret_name
from harness.permissions.name_sets import names
from harness.permissions.shell.syntax import Assignment

SETTABLE = names(
    "LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI DEBIAN_FRONTEND "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 NODE_ENV RUST_BACKTRACE "
    "RUST_LOG DEBUG VERBOSE"
)
"""Variables that change how a program speaks, and nothing that it runs."""
_SHOWABLE = SETTABLE | names(
    "HOME PWD OLDPWD USER LOGNAME UID EUID GROUPS PPID SHELL SHLVL HOSTNAME HOSTTYPE OSTYPE MACHTYPE PATH MANPATH "
    "TMPDIR EDITOR PAGER VISUAL DISPLAY RANDOM SECONDS LINENO BASH BASH_VERSION BASHPID VIRTUAL_ENV CONDA_PREFIX "
    "CONDA_DEFAULT_ENV PYTHONPATH GOPATH GOROOT JAVA_HOME NODE_PATH NVM_DIR CARGO_HOME RUSTUP_HOME IFS OPTIND "
    "XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR COLORTERM PIPESTATUS FUNCNAME REPLY EPOCHSECONDS"
)
"""Variables that hold no secret."""
_PLAIN_VALUE = re.compile(r"[\w@:,+=-]*(?:[./][\w@:,+=-]+)*")
"""A value that is no way to a file of the folder: no .. and no / in front."""


def harmless_assignment(assignment: Assignment) -> bool:
    """It changes no program: a known variable with a plain value, or one in small letters that no program asks for."""
    name, value = assignment.name, assignment.value
    if name in SETTABLE or name.startswith("LC_"):
        return value.known and _PLAIN_VALUE.fullmatch(value.text) is not None
    return name.islower() and not name.endswith(("proxy", "path"))


def showable(name: str) -> bool:
    """What the variable holds may be shown: a known one, a parameter ($1, $?), or a name in small letters.

    Environments hold tokens under any name, so unknown variables are not shown.
    """
    if name in _SHOWABLE or name.startswith("LC_") or not name[:1].isalpha():
        return True
    return name.islower() and not secret_name(name)
