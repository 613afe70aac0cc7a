"""Programs that show the state of the machine, and the few harmless forms of interpreters, package managers and forges.

A form looks only where nothing in the current folder can make the program run or load something, and where it shows
no secrets. That leaves out more than one would think, `--version` included: `cargo` and `rustc` obey rust-
toolchain.toml, `yarn` and `pnpm` .yarnrc and package.json, `pytest` loads conftest.py, `poetry` plugins, `go` a
toolchain, `mvn` options of Java. `npm ls` keeps a log in the folder that .npmrc names. With `python -m` the current
folder comes first where modules are searched for. `docker inspect`, `kubectl describe` and `gh --jq env` show
variables and secrets.

Whether a program is the one it should be, and not a file of the workspace, is not decided here.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import READ, TEXT, ParsedCommand, Program, WordUse
from harness.permissions.programs.text import ABOUT
from harness.permissions.shell.syntax import Word
from harness.permissions.variables import showable

_TEXTS = (TEXT,)


def _forms(*forms: str) -> Program:
    """A program that looks where all its words, one blank between two, are one of these regular expressions."""

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        text = " ".join(word.text if word.known and " " not in word.text else "\0" for word in words)
        fits = any(re.fullmatch(form, text) for form in forms)
        return ParsedCommand(program, operands=words) if fits else None

    return Program(operands=(), parser=read)


def _lists(form: str) -> Program:
    """A program that shows the names in one archive: words of the form, and the archive."""

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        plain = len(words) == 2 and words[0].known and words[1].known and not re.search(r"^-|[:*?\[\\]", words[1].text)
        if not plain or not re.fullmatch(form, words[0].text):
            return None
        # unzip looks for a.zip where there is no a.
        archives = (words[1], Word(f"{words[1].text}.zip"))
        return ParsedCommand(program, operands=words, uses=tuple(WordUse(READ, word) for word in archives))

    return Program(operands=(), parser=read)


def _prints_plain_variables(parsed: ParsedCommand) -> bool:
    named = all(word.known and word.text.isupper() and showable(word.text) for word in parsed.operands)
    return bool(parsed.operands) and named


def _shows_a_date(parsed: ParsedCommand) -> bool:
    """A word without a + in front sets the clock."""
    return all(word.known and word.text.startswith("+") for word in parsed.operands)


_COLUMNS = (
    r"(?:pid|ppid|pgid|user|uid|tty|stat|comm|cmd|args|command|%?p?cpu|%?p?mem|rss|vsz|e?time|lstart|start|nice|pri)"
)
_PS = _forms(
    # Without the e of BSD, which shows the variables of other programs.
    r"(?:aux?w*|-[AadfFjlwLTy]+|-e[fFljHwLTy]*|ax[wjlf]*|)(?: --forest| --no-headers)?",
    r"-p [0-9]+(?:,[0-9]+)*",
    rf"-(?:e|A|p [0-9,]+ -)?o {_COLUMNS}=?(?:,{_COLUMNS}=?)*(?: --sort=-?{_COLUMNS})?(?: --no-headers)?",
    rf"aux --sort=-?{_COLUMNS}",
)
_NAME = r"\w[\w.+-]*"
_GH_LIST = (
    r"(?: (?:--limit|-L) [0-9]+| (?:--state|-s) [a-z]+| (?:--author|-A|--label|-l|--branch|-b) [\w@.-]+"
    r"| --json [\w,]+)*"
)
_GH = _forms(
    "--version|version|auth status|(?:pr|issue) status",
    rf"(?:pr|issue|run|release) list{_GH_LIST}",
    r"(?:pr|issue|run|release) view(?: [\w.#][\w.#-]*)?(?: --comments| -c| --log| --log-failed| --json [\w,]+)*",
    r"pr (?:diff|checks)(?: [\w.#][\w.#-]*)?(?: --name-only)?",
)
"""Names and numbers only: an address, or HOST/OWNER/REPO, selects the server."""
_DOCKER = _forms(
    r"-v|--version|version|info",
    r"(?:ps|images|image ls|container ls|volume ls|network ls)(?: -[aqln]+| --all| --quiet| --no-trunc)*",
)
_PIP = _forms(
    r"-V|--version|list(?: -[elv]+| --(?:user|local|editable|not-required))*",
    rf"show(?: -f)?(?: {_NAME})+",
)
_VERSION: Mapping[str, str] = {
    **dict.fromkeys(("python", "python2", "python3", "perl", "ruby", "npm", "tsc"), "--version|-[Vv]"),
    **dict.fromkeys(("ruff", "uv", "mypy", "make", "gmake", "node"), "--version|-[Vv]"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++", "bash", "cmake", "ctest", "ninja"), "--version"),
    **dict.fromkeys(("java", "javac"), "--?version"),
}
PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("whoami", "logname", "arch", "users"), Program(ABOUT, operands=())),
        "nproc": Program("--all" + ABOUT, operands=()),
        "uptime": Program("ps --pretty --since" + ABOUT, operands=()),
        "uname": Program("asnrvmpio --all --kernel-name --nodename --kernel-release --machine" + ABOUT, operands=()),
        "hostname": Program("fiIs --fqdn --short" + ABOUT, operands=()),
        "id": Program("gGnur --group --groups --name --real --user" + ABOUT, operands=_TEXTS),
        "groups": Program(ABOUT, operands=_TEXTS),
        "date": Program(
            "uRn --utc --rfc-email" + ABOUT,
            "d --date --rfc-3339",
            "I --iso-8601",
            operands=_TEXTS,
            most=1,
            check=_shows_a_date,
        ),
        "printenv": Program(operands=_TEXTS, check=_prints_plain_variables),
        "ps": _PS,
        "pgrep": Program("lafcnoxi", "uP", operands=_TEXTS),
        "pidof": Program("s", operands=_TEXTS),
        "whereis": Program("bms", operands=_TEXTS),
        "free": Program("bkmghtw --human --total --mega --giga", operands=()),
        "lscpu": Program(operands=()),
        "lsblk": Program("afmp", operands=()),
        "docker": _DOCKER,
        "gh": _GH,
        **dict.fromkeys(("pip", "pip3"), _PIP),
        **dict.fromkeys(("tar", "gtar", "bsdtar"), _lists("-?(?:t[vzjJ]*f|[vzjJ]+t[vzjJ]*f)")),
        "unzip": _lists("-l|-v|-Z1"),
        **{name: _forms(form) for name, form in _VERSION.items()},
    }
)
