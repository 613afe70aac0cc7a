"""Whether a command line waits, asks for a status, only reads, or works.

Whoever repeats a line that waits or asks is waiting for something, and does not go round in a loop. The tables name
what people poll with; a program that is not here works.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

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
_STATUS = names(
    "status show view list ls get describe logs ps inspect events top checks is-active is-failed images history wait "
    "watch stats output"
)
"""Words behind a program that only ask."""
_BY_WORD = names(
    "kubectl oc docker podman systemctl service aws gcloud az helm fly flyctl heroku vercel netlify terraform "
    "supervisorctl pm2 argocd nomad consul circleci buildkite-agent rclone tmux"
)
"""Programs that ask with one of these words, and work with others."""
_ACTS = names(
    "create delete rm run rerun apply set edit patch scale restart start stop kill exec cancel up down push pull build "
    "merge close reopen comment install upgrade uninstall rollback drain cordon uncordon taint label annotate replace "
    "deploy destroy import add remove update enable disable undo pause resume send-keys cp sync move"
)


def _words(simple: SimpleCommand) -> list[str]:
    return [word.text for word in simple.words[1:]]


def _asks_by_word(words: list[str]) -> bool:
    """The first word for an action only asks."""
    for word in words:
        if word in _STATUS or word.startswith(("describe-", "get-", "list-")):
            return True
        if word in _ACTS:
            return False
    return False


def _asks(simple: SimpleCommand) -> bool:
    return _asks_by_word(_words(simple))


def _asks_github(simple: SimpleCommand) -> bool:
    """The first word is a thing, such as run or pr; gh api asks unless it is given something to send."""
    words = _words(simple)
    if words[:1] == ["api"]:
        return not any(word[:2] in ("-f", "-F", "-X") or word in ("--input", "--method") for word in words)
    return _asks_by_word(words[1:] if words[:1] and words[0] not in _STATUS else words)


def _fetches(simple: SimpleCommand) -> bool:
    words = _words(simple)
    for number, word in enumerate(words):
        long = re.fullmatch(r"--(request|method|data\S*|form\S*|json|upload-file|post-\S*|body-\S*)(?:=(.*))?", word)
        short = re.fullmatch(r"-[a-zA-Z]*?([XdFT])(.*)", word) if _name(simple) == "curl" else None
        if (long and long[1] in ("request", "method")) or (short and short[1] == "X"):
            value = (long[2] if long else short[2] if short else "") or "".join(words[number + 1 : number + 2])
            if value.upper() not in ("GET", "HEAD"):
                return False
        elif long or short or word in ("POST", "PUT", "PATCH", "DELETE"):
            return False
    return True


def _follows(simple: SimpleCommand) -> bool:
    return any(word in ("-f", "-F", "--follow") or word.startswith("--follow=") for word in _words(simple))


_CHECKS: Mapping[str, Callable[[SimpleCommand], bool]] = MappingProxyType(
    {
        **dict.fromkeys(_BY_WORD, _asks),
        **dict.fromkeys(("gh", "glab"), _asks_github),
        **dict.fromkeys(("curl", "wget", "http", "https", "xh"), _fetches),
        "tail": _follows,
    }
)


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


def _name(simple: SimpleCommand) -> str:
    return base_name(simple.program) if simple.program else ""


def _kind(simple: SimpleCommand) -> CallKind:
    name = _name(simple)
    if name in WAITS:
        return CallKind.WAITS
    targets = {redirect.target.text for redirect in simple.redirects if redirect.writes}
    if targets - {"/dev/null", "1", "2"} or not name:
        return CallKind.WORKS
    if name in ASKS or ((check := _CHECKS.get(name)) is not None and check(simple)):
        return CallKind.ASKS
    return CallKind.LOOKS if looks(simple) else CallKind.WORKS
