"""What a command line obeys besides its words: the variables that it inherits.

A permission decision reads a line, so everything else that could change what the line does is taken from it here.
Three degrees:

- `as_read` is for every line. It drops the variables that change what the words of a line mean to the shell and to the
  programs that search and list (`CDPATH`, `BASHOPTS`, `RIPGREP_CONFIG_PATH`), and lets git print plain names.
- `held` is for lines that run without a question because the sandbox holds them to the workspace. It also drops what
  the shell and git obey (`BASH_ENV`, `GIT_DIR`) and relative folders of `PATH`, and keeps what builds and tests need.
- `unasked` is for lines that run without a question because they only read. It keeps the variables named here and no
  others, so `GCONV_PATH`, `TAR_OPTIONS` or an exported function changes nothing. `PATH` loses the
  folders that the workspace controls.

Variables with secrets are the business of the sandbox itself (`harness.sandbox.sandbox`).
The files that such lines obey are looked at before the decision: those of git by `git_safety`, those of search programs
by `harness.engine.permissions.disk_lookup`.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from harness.processes.git_safety import numbered, safe_environment
from harness.processes.search_path import is_inside, outside_folders


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEANINGS = _names(
    "BASHOPTS SHELLOPTS BASH_COMPAT POSIXLY_CORRECT POSIX_ME_HARDER CDPATH GLOBIGNORE GLOBSORT EXECIGNORE IFS PS4 "
    "PWD OLDPWD RIPGREP_CONFIG_PATH GREP_OPTIONS GREP_COLOR GREP_COLORS FD_OPTIONS QUOTING_STYLE TAR_OPTIONS "
    "LESSOPEN LESSCLOSE"
)
"""What changes the meaning of words: how the shell expands them and where `cd` leads (`PWD` is its idea of where it is,
by the names of links), and the options that programs read from elsewhere (bash(1), grep(1), ripgrep's GUIDE.md)."""
SETTABLE = _names(
    "LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI DEBIAN_FRONTEND PYTHONUNBUFFERED "
    "PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 NODE_ENV RUST_BACKTRACE RUST_LOG DEBUG VERBOSE"
)
"""Variables that change how a program speaks, and nothing that it runs."""
PLAIN = SETTABLE | _names(
    "PATH HOME USER LOGNAME SHELL SHLVL HOSTNAME COLORTERM TMPDIR PAGER EDITOR VISUAL DISPLAY VIRTUAL_ENV "
    "CONDA_PREFIX CONDA_DEFAULT_ENV GOPATH GOROOT JAVA_HOME NVM_DIR CARGO_HOME RUSTUP_HOME"
)
"""Variables that hold no secret, and name nothing that a line which only looks runs or obeys."""
_WORDS = re.compile(
    r"LC_[A-Z]+|(https?|ftp|all|no)_proxy|(HTTPS?|FTP|ALL|NO)_PROXY|(GH|GITHUB)_(ENTERPRISE_)?TOKEN|GH_(HOST|REPO)"
    r"|DOCKER_(HOST|CONTEXT|TLS_VERIFY)|HELM_NAMESPACE|AWS_((DEFAULT_)?(PROFILE|REGION)|ACCESS_KEY_ID"
    r"|SECRET_ACCESS_KEY|SESSION_TOKEN)|GIT_CONFIG_(COUNT|NOSYSTEM|(KEY|VALUE)_\d+)|(PY|RB|NOD)ENV_VERSION"
)
"""What `gh`, `docker` and `kubectl` need to reach their servers, and git to accept a folder of another owner."""
_FILES = re.compile(
    r"XDG_(CONFIG|DATA|CACHE)_HOME|XDG_RUNTIME_DIR|KUBECONFIG|DOCKER_(CONFIG|CERT_PATH)|GH_CONFIG_DIR|CLOUDSDK_CONFIG"
    r"|AWS_(CONFIG|SHARED_CREDENTIALS)_FILE|GOOGLE_APPLICATION_CREDENTIALS|AZURE_CONFIG_DIR|SSL_CERT_(FILE|DIR)"
    r"|GIT_CONFIG_(GLOBAL|SYSTEM)|(PY|RB|NOD)ENV_ROOT|ASDF_(DATA_)?DIR|VOLTA_HOME|LOCALE_ARCHIVE|LD_PRELOAD"
    r"|(LD|DYLD|DYLD_FALLBACK)_LIBRARY_PATH"
)
"""Files of settings and of code: kept unless the workspace controls them."""
_OBEYED = re.compile(
    r"GIT_(?!(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$|CONFIG_(COUNT|NOSYSTEM|GLOBAL|SYSTEM|(KEY|VALUE)_\d+)$)\w+"
    r"|BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*",
    re.DOTALL,
)
"""What leads git to another repository or program, and what the shell runs before the line or in the place of a
command."""


def as_read(environ: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """The variables for any command line in `workspace`: it means what a decision read in it."""
    begins = {name for name in ("BASH_ENV", "ENV") if is_inside(environ.get(name, "/"), workspace)}
    kept = {name: value for name, value in environ.items() if name not in _MEANINGS | begins}
    return {**kept, **numbered(kept)}


def held(environ: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """The variables for a line that the sandbox holds to `workspace`; programs of the workspace stay on the `PATH`."""
    kept = {name: value for name, value in as_read(environ, workspace).items() if not _OBEYED.fullmatch(name)}
    folders = kept.get("PATH", os.defpath).split(os.pathsep)
    return {**kept, "PATH": os.pathsep.join(filter(os.path.isabs, folders)) or os.defpath}


def unasked(environ: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """The variables for a line that runs without a question in `workspace`."""
    kept = {name: value for name, value in environ.items() if _is_kept(name, value, workspace)}
    path = os.pathsep.join(outside_folders(environ, workspace))
    return {**kept, **safe_environment(kept), "PATH": path}


def _is_kept(name: str, value: str, workspace: Path) -> bool:
    if _FILES.fullmatch(name):
        return not any(is_inside(part, workspace) for part in re.split(r"[:\s]", value))
    return name in PLAIN or _WORDS.fullmatch(name) is not None
