"""Whether a command line waits, asks for a status, only reads, or works.

Repeating a line that waits or asks is waiting, not a loop. The tables name the programs that people poll with; all
others work.
"""

import re
from functools import lru_cache

from harness.permissions.name_sets import names
from harness.permissions.programs import looks
from harness.permissions.shell.resolution import base_name, resolved_commands
from harness.permissions.shell.syntax import SimpleCommand, Unreadable
from harness.policies.loops.observations import CallKind

WAITS = names("sleep usleep wait watch inotifywait fswatch")
"""Programs that do nothing but wait."""
ASKS = names(
    "ps pgrep pidof lsof fuser ss netstat ping ping6 nc ncat dig host nslookup journalctl nvidia-smi squeue sacct "
    "qstat bjobs test ["
)
"""Programs that report a status, whatever their arguments."""
_BY_WORD = names(
    "kubectl oc docker podman systemctl service aws gcloud az helm fly flyctl heroku vercel netlify terraform "
    "supervisorctl pm2 argocd nomad consul circleci buildkite-agent rclone tmux gh glab"
)
"""Programs that ask if a word of `_STATUS` comes before one of `_ACTS`, and work otherwise."""
_STATUS = names(
    "status show view list ls get describe logs ps inspect events top checks is-active is-failed images history wait "
    "watch stats output"
)
_ACTS = names(
    "create delete rm run rerun apply set edit patch scale restart start stop kill exec cancel up down push pull build "
    "merge close reopen comment install upgrade uninstall rollback drain cordon uncordon taint label annotate replace "
    "deploy destroy import add remove update enable disable undo pause resume send-keys cp sync move"
)
_CHECKS = names(
    "pytest py.test unittest doctest tox nox mypy pyright pylint flake8 ruff eslint tsc jest vitest mocha rspec "
    "phpunit ctest shellcheck"
)
"""Programs that test or check."""
_TASKS = names("cargo go npm pnpm yarn bun make just task mvn gradle gradlew dotnet mix rake bundle")
"""Programs that do so if the first word is one of `_CHECKING`."""
_CHECKING = names("test tests check lint clippy vet verify typecheck t")
_CLIENTS = names("curl wget http https xh")
_SENDS = re.compile(r"--(?:data|form|post-|body-)\S*|--(?:json|upload-file)(?:=.*)?|POST|PUT|PATCH|DELETE")
_SENDS_SHORT = re.compile(r"-[a-zA-Z]*?[dFT].*")
_METHOD = re.compile(r"--(?:request|method)(?:=(.*))?")
_METHOD_SHORT = re.compile(r"-[a-zA-WYZ]*X(.*)")


@lru_cache(maxsize=256)
def kind_of(line: str) -> CallKind:
    """What repeating this line means. A line that cannot be read works."""
    try:
        commands = [run.simple for run in resolved_commands(line) if not run.transparent or _name(run.simple) in WAITS]
    except Unreadable:
        return CallKind.WORKS
    kinds = {_kind(simple) for simple in commands if simple.words}
    if CallKind.WORKS in kinds:
        return CallKind.WAITS if CallKind.WAITS in kinds else CallKind.WORKS
    if kinds & {CallKind.WAITS, CallKind.ASKS}:
        return CallKind.ASKS
    return CallKind.LOOKS if kinds else CallKind.WORKS


@lru_cache(maxsize=256)
def changes_nothing(line: str) -> bool:
    """Whether a line only waits, asks, looks or runs checks such as tests. They may write caches, no more."""
    if kind_of(line) is not CallKind.WORKS:
        return True
    try:
        commands = [run.simple for run in resolved_commands(line) if not run.transparent]
    except Unreadable:
        return False
    works = (one for one in commands if one.words and _name(one) != "cd" and _kind(one) is CallKind.WORKS)
    return all(map(_checks, works))


def _checks(simple: SimpleCommand) -> bool:
    words = [_name(simple), *(word.text for word in simple.words[1:])]
    if any(redirect.writes and redirect.target.text not in ("/dev/null", "1", "2") for redirect in simple.redirects):
        return False
    if words[0].startswith("python") and words[1:2] == ["-m"]:
        words = words[2:]
    if words[:1] and words[0] in _CHECKS:
        return "--fix" not in words and words[1:2] != ["format"]
    targets = [word for word in words[1:] if not word.startswith("-") and word != "run"]
    targets = targets if words[:1] == ["make"] else targets[:1]
    return bool(targets) and words[0] in _TASKS and _CHECKING.issuperset(targets)


def _name(simple: SimpleCommand) -> str:
    return base_name(simple.program) if simple.program else ""


def _kind(simple: SimpleCommand) -> CallKind:
    name = _name(simple)
    if name in WAITS:
        return CallKind.WAITS
    targets = {redirect.target.text for redirect in simple.redirects if redirect.writes}
    if targets - {"/dev/null", "1", "2"} or not name:
        return CallKind.WORKS
    if _asks(name, [word.text for word in simple.words[1:]]):
        return CallKind.ASKS
    return CallKind.LOOKS if looks(simple) else CallKind.WORKS


def _asks(name: str, words: list[str]) -> bool:
    if name in ("gh", "glab"):  # the first word is a thing, such as run or pr
        if words[:1] == ["api"]:
            return not any(word[:2] in ("-f", "-F", "-X") or word in ("--input", "--method") for word in words)
        words = words[1:] if words[:1] and words[0] not in _STATUS else words
    if name in _BY_WORD:
        decisive = (
            word for word in words if word in _STATUS | _ACTS or word.startswith(("describe-", "get-", "list-"))
        )
        return next(decisive, "delete") not in _ACTS
    if name in _CLIENTS:
        return not _sends(name, words)
    follows = name == "tail" and any(word in ("-f", "-F") or word.startswith("--follow") for word in words)
    return follows or name in ASKS


def _sends(name: str, words: list[str]) -> bool:
    """Whether a client of HTTP does more than fetch."""
    for number, word in enumerate(words):
        found = _METHOD.fullmatch(word) or (_METHOD_SHORT.fullmatch(word) if name == "curl" else None)
        if found and (found[1] or "".join(words[number + 1 : number + 2])).upper() not in ("GET", "HEAD"):
            return True
        if not found and (_SENDS.fullmatch(word) or (name == "curl" and _SENDS_SHORT.fullmatch(word))):
            return True
    return False
